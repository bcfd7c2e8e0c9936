/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The ABI of /dev/hipec and of compiled policies (.hpo).
 *
 * One open of /dev/hipec is one container: HIPEC_IOC_LOAD gives it a policy
 * and a budget of pages. With HIPEC_LOAD_IN_PLACE these are pages of the page
 * cache: HIPEC_IOC_TAKE attaches files, directories or what a cgroup opens
 * (hipec_cache.h), whoever reads or maps them. Without it they are frames of
 * its own: HIPEC_IOC_ATTACH gives a region of a file, a descriptor to mmap.
 * The container ends with its last descriptor or mapping; with HIPEC_LOAD_KEEP
 * it lives on until HIPEC_IOC_RELEASE ends it.
 *
 * Rules: every struct starts with `size`, which the caller sets to its own
 * sizeof; a shorter one reads as if zeroes followed, a longer one is accepted
 * if what the kernel does not know is zero (else E2BIG). Flags that the kernel
 * does not know are EINVAL, commands that it does not know ENOTTY. No padding,
 * same layout for 32-bit callers. Pages are 4096 bytes.
 */
#ifndef _UAPI_HIPEC_H
#define _UAPI_HIPEC_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define HIPEC_ABI_VERSION 1

/*
 * Compiled policy: header, operands, events, commands, lines, strings, in this
 * order and without gaps; little endian.
 *
 * Operand i of the section describes slot i; the first two are _free_queue and
 * _free_count. An event's commands are words[first] .. words[first + nr - 1];
 * words[first] is HIPEC_EVENT_MAGIC, so commands count from 1 as in Figure 3.
 * Events follow one another without gaps and fill the words.
 * Lines, when there are any, are one __u32 for each word: its .hp line, or 0.
 * Names are offsets into the strings, which end with a zero byte; they and the
 * policy's name are printable ASCII. docs/policy/ampc.md has all this at length.
 */
#define HIPEC_IMAGE_MAGIC 0x43504948u /* "HIPC" */
#define HIPEC_IMAGE_VERSION 3
#define HIPEC_EVENT_MAGIC 0x48495045u /* Figure 3's MAGIC */
#define HIPEC_NAME_MAX 32 /* bytes of a policy's name, with its zero */
#define HIPEC_HASH_SIZE 32 /* bytes of a SHA-256 */

struct hipec_image {
	__u32 magic;
	__u16 version;
	__u16 header_size;	/* bytes of this struct */
	__u32 image_size;	/* bytes of the whole image */
	__u32 flags;		/* none yet */
	__u32 nr_operands;	/* 2 .. HIPEC_SLOT_SYSTEM */
	__u32 nr_events;	/* 1 .. HIPEC_NR_EVENTS */
	__u32 nr_words;		/* words of all events, magics included */
	__u32 nr_lines;		/* nr_words, or 0 without a line table */
	__u32 strings_size;	/* bytes */
	__u32 ghosts;		/* it may remember, in percent of its frames; 0 .. HIPEC_MAX_GHOSTS */
	__u32 timer_ms;		/* between two Timer events; 0 exactly without one */
	__u32 needs;		/* HIPEC_NEED_*, at least what the policy uses */
	char name[HIPEC_NAME_MAX];
	__u8 source_hash[HIPEC_HASH_SIZE]; /* SHA-256 of the .hp text; zeroes: there is none */
};

/* Flags of an operand: name, bit, the word in all text, and what it is then. */
#define HIPEC_OPERAND_FLAGS(X)                                               \
	X(PARAM,   0x1, "param", "an integer that the application may set")    \
	X(CONST,   0x2, "const", "an integer or a page that the policy may not write") \
	X(SHARED,  0x4, "shared", "an integer array that the application writes") \
	X(COUNTER, 0x8, "counter", "an integer that `hipec status` shows")

enum hipec_operand_flag {
#define HIPEC_X(name, bit, word, meaning) HIPEC_OPERAND_##name = bit,
	HIPEC_OPERAND_FLAGS(HIPEC_X)
#undef HIPEC_X
};

/*
 * What `value` is, by type:
 *   int       the value at load
 *   ints      number of elements, all zero at load
 *   queues    number of queues
 *   queueref  slot of the queue array whose first queue it stands for at load
 *   others    0
 *
 * A param may have a range, low < high with `value` inside: nothing else may be
 * set then. Both 0: it may be any integer. Of all others both are 0.
 */
struct hipec_image_operand {
	__u8 type;		/* HIPEC_TYPE_* */
	__u8 flags;		/* HIPEC_OPERAND_* */
	__u16 key;		/* of a queue or queue array: slot of the field that orders it, or 0 */
	__u32 name;		/* offset into the strings */
	__s64 value;
	__s64 low;		/* of a param: the least value, or 0 */
	__s64 high;		/* the greatest */
};

struct hipec_image_event {
	__u32 number;		/* HIPEC_EVENT_*, or HIPEC_EVENT_USER and up */
	__u32 name;		/* offset into the strings */
	__u32 first;		/* first word */
	__u32 nr;		/* words, the magic included */
};

#define HIPEC_MAX_WORDS 65536
#define HIPEC_MAX_STRINGS 65536
#define HIPEC_MAX_CALL_DEPTH 8
#define HIPEC_MAX_ELEMENTS (1u << 20) /* of all integer arrays together */
#define HIPEC_MAX_QUEUES 4096 /* with those of arrays, and three of the machine's own */
#define HIPEC_MAX_FIELDS 8
#define HIPEC_MAX_GHOSTS 1000 /* percent */
#define HIPEC_MIN_TIMER 10 /* ms */
#define HIPEC_MAX_IMAGE (1u << 20) /* bytes; no image within the limits is longer */

/*
 * Why an image is refused. The text is completed by the place.
 */
#define HIPEC_VERIFY_KINDS(X)                                                \
	X(OK,           "no error")                                          \
	X(SHORT,        "the image is cut short")                            \
	X(MAGIC,        "this is no compiled policy")                        \
	X(VERSION,      "the image is of another version") \
	X(HEADER,       "a header field is out of its range")                \
	X(SECTION,      "the sections do not fill the image exactly")        \
	X(STRING,       "a name lies outside the strings, does not end or is not printable ASCII") \
	X(OPERAND_DECL, "an operand is declared with a type, flag, key, value or range that does not exist") \
	X(TOO_MUCH,     "the declarations ask for more queues, elements or fields than there may be") \
	X(EVENT_DECL,   "an event is declared twice, with an unknown number or not behind the one before it") \
	X(EVENT_MISSING, "a policy needs PageFault and Replace")             \
	X(TIMER,        "a Timer event needs a period of 10 ms or more, and a period a Timer event") \
	X(NEEDS,        "the policy uses what its header does not say that it needs") \
	X(EVENT_MAGIC,  "an event does not start with its magic word")       \
	X(OPCODE,       "there is no such command")                          \
	X(OPERAND,      "the operand does not exist or is of another type")  \
	X(TARGET,       "the jump leaves its event")                         \
	X(FALL,         "the event falls off its end")                       \
	X(CALL_CYCLE,   "the calls form a cycle")                            \
	X(CALL_DEPTH,   "the calls nest too deep")

/*
 * Why a policy ended, banded by who caused it: 0x10 the caller, 0x20 the
 * policy, 0x30 a guard, 0x40 revocation, 0x50 the kernel. Who comes first has
 * ended it: later reasons are not recorded.
 */
#define HIPEC_EXIT_KINDS(X)                                                  \
	X(NONE,        0x00, "the policy runs")                              \
	X(CLOSED,      0x10, "the container was closed")                     \
	X(BY_HAND,     0x11, "it was revoked by hand")                       \
	X(NO_PAGE,     0x20, "a command was given no page")                  \
	X(STALE_PAGE,  0x21, "a command was given a page that is gone")      \
	X(DIV_ZERO,    0x22, "division by zero")                             \
	X(OVERFLOW,    0x23, "integer overflow in a division")               \
	X(INDEX,       0x24, "an index outside its array, or an empty range") \
	X(FUEL,        0x30, "an event ran more commands than it may")       \
	X(OVERTIME,    0x31, "an event ran over its time and was given up")  \
	X(NO_VICTIM,   0x40, "Replace put no page on _free_queue too many times in a row") \
	X(LATE,        0x41, "events ran over their time too many times in a row") \
	X(WORSE,       0x42, "FIFO with a second chance would have had far fewer faults, window after window") \
	X(BROKEN,      0x50, "the module found its own tables wrong")

/*
 * How a policy ended, or which event was given up. A descriptor of /dev/hipec
 * polls readable once its policy has ended, for any reason but CLOSED.
 */
#define HIPEC_MESSAGE_MAX 160

struct hipec_exit {
	__u32 kind;		/* HIPEC_EXIT_* */
	__u32 event;		/* number */
	__u32 command;		/* in the event, counted from 1 */
	__u32 line;		/* of the .hp source, 0 if not known */
	__u32 word;		/* the command itself */
	__u32 operand;		/* 0 none, 1 to 3: a, b, c */
	char message[HIPEC_MESSAGE_MAX]; /* the same in words; ends with a zero */
};

/*
 * Counters of a container, all monotonic from its load unless the last column
 * says `now`. Pages are 4096 bytes; reads and writes are of the backing file.
 * HIPEC_GAP is the place of one that there is no more: it is 0, and no list has it.
 */
#define HIPEC_COUNTERS(X)                                                    \
	X(faults,       "faults on pages that held no frame")                \
	X(soft_faults,  "faults on pages that held a frame")                 \
	X(pages_in,     "pages brought in; each ran PageFault")              \
	X(evictions,    "pages that gave up their frame")                    \
	X(read_pages,   "pages read")                                        \
	X(read_ios,     "reads, of one or more pages each")                  \
	X(read_errors,  "reads that failed")                                 \
	X(written_pages, "pages written")                                    \
	X(write_ios,    "writes, of one or more pages each")                 \
	X(write_errors, "pages whose write failed")                          \
	X(commands,     "commands run")                                      \
	X(events,       "events run")                                        \
	X(refused,      "pages that the policy gave up and that could not go") \
	X(helped,       "victims taken by the built-in FIFO because Replace gave none") \
	X(forgotten,    "victims that the policy had on no queue, taken before it was asked") \
	X(late,         "events given up because they ran over their time") \
	X(given,        "frames that went back to the pool or the system")   \
	X(moved,        "pages that went to the pool though its manager had chosen another") \
	X(recovered,    "of these, faults that took the page back which had stayed instead") \
	X(windows,      "windows in which the policy was held against the default") \
	X(bad_windows,  "of these, windows with too many faults")            \
	X(judged_faults, "pages brought in, in all these windows")           \
	X(default_faults, "of FIFO with a second chance, in all these windows, by a sample") \
	X(ahead_faults, "of the faults, those whose page had been read ahead") \
	X(ahead_pages,  "pages read ahead, behind a sequence of misses or for Prefetch") \
	X(ahead_dropped, "of these, pages that nobody had touched when their frames were taken back") \
	X(default_least, "now, least that FIFO with a second chance brought in there, 19 times of 20") \
	X(default_most, "now, most that it did, likewise; 0 if it is not known") \
	X(hits,         "pages in place that a read(), a write() or the fault of a map found again") \
	X(open_before,  "open files in place that were open before they were attached") \
	HIPEC_GAP(reserved)                                                  \
	X(outgrown,     "now, files in place that are larger than their page numbers: the kernel reclaims their pages as well") \
	X(surrendered,  "times that files in place were left to the kernel's reclaim for a while, as memory was short")

struct hipec_counters {
#define HIPEC_X(name, help) __u64 name;
#define HIPEC_GAP(name) __u64 name;
	HIPEC_COUNTERS(HIPEC_X)
#undef HIPEC_GAP
#undef HIPEC_X
};
#define HIPEC_GAP(name)

/* HIPEC_IOC_QUERY: the module as a whole. */
struct hipec_query {
	__u32 size;
	__u32 flags;		/* in: 0 */
	__u32 abi_version;	/* HIPEC_ABI_VERSION */
	__u32 image_version;	/* newest image that loads */
	__u64 features;		/* HIPEC_FEATURE_* */
	__u64 containers;	/* now */
	__u64 frames;		/* pages held by all containers now */
	__u64 pool_frames;	/* of these, by containers that share, but for what is leaving */
	__u64 pool_max;		/* pages that they may hold */
	__u64 quota;		/* pages of these that one user's may hold */
};

#define HIPEC_FEATURE_PRIVILEGED 0x1
#define HIPEC_FEATURE_POOL 0x2
#define HIPEC_FEATURE_BUILTIN 0x4	/* HIPEC_IOC_LOAD needs no image */
#define HIPEC_FEATURE_RECORD 0x8	/* there is HIPEC_IOC_RECORD */
#define HIPEC_FEATURE_SET_PARAM 0x10	/* there is HIPEC_IOC_SET_PARAM */
#define HIPEC_FEATURE_HINT 0x20		/* regions know HIPEC_IOC_HINT */
#define HIPEC_FEATURE_SAMPLE 0x40	/* there is HIPEC_IOC_SAMPLE; Context is not 0 */
#define HIPEC_FEATURE_SWAP 0x80		/* there are HIPEC_IOC_SWAP, _REVOKE and _WHY */
#define HIPEC_FEATURE_LOG 0x400		/* there is HIPEC_IOC_LOG */
#define HIPEC_FEATURE_IN_PLACE 0x800	/* there are HIPEC_IOC_TAKE and _RELEASE */
#define HIPEC_FEATURE_LEAGUE 0x2000	/* there are HIPEC_IOC_JOIN and _STANDING */
/* 0x1000 is reserved: it was in use. */

/*
 * HIPEC_IOC_LOAD: policy and frames for this container, once. They are reserved,
 * locked memory of the caller; or, with HIPEC_LOAD_SHARE, the container holds up
 * to that many of the pool's, as there are, and gives them up when others need
 * them more. Without an image, address and size 0, the built-in FIFO with a second
 * chance is in charge; its status calls the policy "builtin".
 *
 * With HIPEC_LOAD_IN_PLACE it has no frames of its own: HIPEC_IOC_TAKE (hipec_cache.h) gives it
 * files, and its policy decides which of their pages leave the page cache. `frames` is then
 * how many may be there, locked memory of the caller as well. ENOSPC: all such
 * containers together would hold more than `cache_percent`, a parameter of the module,
 * of the machine's memory. With HIPEC_LOAD_SHARE too, these pages are some of the pool's
 * frames, and of nobody's locked memory. With HIPEC_LOAD_KEEP too it lives on without a descriptor,
 * until HIPEC_IOC_RELEASE ends it; the module cannot be unloaded before. With
 * HIPEC_LOAD_CONTRACT the policy is revoked if it breaks the contract, as one that
 * shares is.
 */
struct hipec_load {
	__u32 size;
	__u32 flags;		/* in: HIPEC_LOAD_* or 0 */
	__u64 image;		/* in: address of the image, or 0 */
	__u32 image_size;	/* in: bytes; 0 if there is none */
	__u32 cluster;		/* in: most pages of one read, 1 to HIPEC_MAX_CLUSTER; 0: default */
	__u64 frames;		/* in: pages for the container, 1 or more */
	__u64 log;		/* in: address of a text buffer, or 0 */
	__u32 log_size;		/* in: bytes; the text is cut to fit and ends with zero */
	__u32 error_kind;	/* out: HIPEC_VERIFY_* */
	__u32 error_event;	/* out: event number */
	__u32 error_command;	/* out: counted from 1; 0: the event as a whole */
	__u32 error_operand;	/* out: 1 to 3, 0 the command as a whole */
	__u32 reserved;
	__u64 seed;		/* in: of Random; 0: always the same */
};

#define HIPEC_LOAD_SHARE 0x1
#define HIPEC_LOAD_IN_PLACE 0x2
#define HIPEC_LOAD_KEEP 0x4	/* only with IN_PLACE */
#define HIPEC_LOAD_CONTRACT 0x8	/* likewise */
/* 0x10 and 0x20 are reserved: they were in use. */

#define HIPEC_MAX_CLUSTER 32
#define HIPEC_DEFAULT_CLUSTER 32

/*
 * HIPEC_IOC_ATTACH: bind a range of a backing file, get a region to mmap.
 */
struct hipec_attach {
	__u32 size;
	__u32 flags;		/* in: HIPEC_ATTACH_WRITE or 0 */
	__s32 fd;		/* in: backing file or block device */
	__s32 region_fd;	/* out: close-on-exec */
	__u64 offset;		/* in: bytes, a multiple of 4096 */
	__u64 length;		/* in: bytes; 0: to the end of the file */
	__u64 address;		/* out: where the region starts in the container, bytes */
};

#define HIPEC_ATTACH_WRITE 0x1

/*
 * HIPEC_IOC_STATUS: this container; HIPEC_IOC_NEXT: the one with the least id
 * above `id` that the caller may see (its own, or all with CAP_SYS_ADMIN).
 */
struct hipec_status {
	__u32 size;
	__u32 flags;		/* in: 0 */
	__u64 id;
	__s32 pid;		/* that loaded it, in the caller's pid namespace; 0: not visible */
	__u32 uid;		/* that loaded it, in the caller's user namespace */
	char comm[16];		/* of the task that loaded it */
	char policy[HIPEC_NAME_MAX];
	__u64 frames;		/* budget or, if it shares, held now; pages */
	__u64 free_frames;	/* now, pages */
	__u64 resident;		/* now, pages */
	__u64 dirty;		/* now, pages */
	__u64 ghosts;		/* now, pages that the policy remembers */
	__u64 limit;		/* most frames, as loaded, pages */
	__u32 shares;		/* 1: frames of the pool; 0: its own */
	__u32 in_place;		/* 1: pages of the page cache, and no frames */
	__u32 cluster;		/* pages */
	__u32 regions;		/* now; in place, files */
	struct hipec_exit exit;
	struct hipec_exit late;	/* of the last event that was given up */
	struct hipec_counters counters;
};

/*
 * HIPEC_IOC_LOG: the end of a policy or of a container: the first of those behind
 * `seq` that the caller may see (its own, or all with CAP_SYS_ADMIN). A policy that
 * was taken away has one record then, and one more when its container is closed.
 * The last `log_records`, a parameter of the module, of all users are kept. ENOENT:
 * there is no more; EINVAL: a flag.
 */
struct hipec_log {
	__u32 size;
	__u32 flags;		/* in: 0 */
	__u64 seq;		/* in: 0, or that of the last one; out: 1, 2, and so on */
	__u64 time;		/* out: CLOCK_REALTIME, ns */
	__u64 lived;		/* out: since the load, ns */
	__u32 closed;		/* out: 1: the container is gone; 0: its policy alone */
	__u32 reserved;
	struct hipec_status status; /* out: at that moment; exit says why */
};

/*
 * HIPEC_IOC_OPERAND: an operand of this container, or of container `id` if the
 * caller may see it.
 */
struct hipec_operand {
	__u32 size;
	__u32 flags;		/* in: 0 */
	__u64 id;		/* in: 0: this container */
	__u32 slot;		/* in: 0 .. HIPEC_SLOT_SYSTEM - 1 */
	__u32 type;		/* out: HIPEC_TYPE_* */
	__u32 operand_flags;	/* out: HIPEC_OPERAND_* */
	__u32 nr;		/* out: pages on a queue, elements of an array */
	__s64 value;		/* out: now, of an integer, else 0 */
	__u64 offset;		/* out: where mmap() of /dev/hipec has a shared array */
	char name[HIPEC_NAME_MAX]; /* out: cut to fit; ends with a zero */
	__s64 low;		/* out: least value of a param with a range, else 0 */
	__s64 high;		/* out: greatest */
};

/*
 * HIPEC_IOC_SET_PARAM: a `param` of this container's policy, or of container `id`'s
 * if the caller may see it. Events that begin from then on read it. EINVAL: a flag,
 * `reserved`; ESRCH: no such container; ENODATA: no policy is loaded; ENOENT: no
 * such slot; EPERM: it is no `param`; EACCES: it is a `const param`, settable
 * before the load only; ERANGE: the value is outside its range.
 */
struct hipec_set_param {
	__u32 size;
	__u32 flags;		/* in: 0 */
	__u64 id;		/* in: 0: this container */
	__u32 slot;		/* in: as in HIPEC_IOC_OPERAND */
	__u32 reserved;		/* in: 0 */
	__s64 value;		/* in */
};

/*
 * HIPEC_IOC_HINT, of a region's descriptor: pages [offset, offset + length) have the
 * hint from now on, until they get another; the policy reads it in Hint. What hints
 * mean is between the program and its policy; those with a name are the ones of the
 * paper on write hints. EINVAL: a flag, `reserved`, a hint above HIPEC_HINT_MAX, an
 * offset or length inside a page; ERANGE: past the region's end; ENOMEM; EINTR.
 */
struct hipec_hint {
	__u32 size;
	__u32 flags;		/* in: 0 */
	__u64 offset;		/* in: bytes from the region's start */
	__u64 length;		/* in: bytes; 0: to the region's end */
	__u32 hint;		/* in: HIPEC_HINT_*, or any other up to HIPEC_HINT_MAX */
	__u32 reserved;		/* in: 0 */
};

#define HIPEC_HINT_NONE 0
#define HIPEC_HINT_SYNCH 1	/* the program's own cache gives the page up now */
#define HIPEC_HINT_REPLACE 2	/* it will soon give the page up */
#define HIPEC_HINT_RECOV 3	/* it keeps the page: written for a short recovery */
#define HIPEC_HINT_MAX 255

/*
 * HIPEC_IOC_RECORD: what happens in this container, or in container `id` if the
 * caller may see it, from now on. One reader at a time. The descriptor, which polls,
 * gives the bytes that uapi/hipec_record.h describes, and ends with the container.
 * What does not fit into the ring is dropped, and the record says how much. A record is of
 * one policy: where another takes its place, read() returns 0 once, and then the bytes of
 * the next record. That is the end if the one before has not been read up to there by the
 * time of the next swap, or if memory is short.
 */
struct hipec_record {
	__u32 size;
	__u32 flags;		/* in: 0 */
	__u64 id;		/* in: 0: this container */
	__u32 ring;		/* in: bytes, a power of two; 0: default */
	__s32 record_fd;	/* out: close-on-exec */
};

#define HIPEC_RECORD_MIN_RING (1u << 12)
#define HIPEC_RECORD_DEFAULT_RING (1u << 20)
#define HIPEC_RECORD_MAX_RING (1u << 24)

/*
 * HIPEC_IOC_SAMPLE: accesses to pages of this container, or of container `id` if the
 * caller may see it, with their program contexts, from now on: of those pages whose
 * hash is less than the threshold. One reader at a time, beside one of records. The
 * descriptor, which polls, gives the entries of uapi/hipec_sample.h, and ends with
 * the container. What does not fit into the ring is dropped and counted. EINVAL: a
 * flag, the threshold, the ring; ESRCH, ENODATA, EBUSY as with records.
 */
struct hipec_sample {
	__u32 size;
	__u32 flags;		/* in: 0 */
	__u64 id;		/* in: 0: this container */
	__u64 threshold;	/* in: 0 to 2^32, which samples every page */
	__u32 ring;		/* in: bytes, as of a record; 0: default */
	__s32 sample_fd;	/* out: close-on-exec */
};

/*
 * HIPEC_IOC_SWAP: another policy for this container, or for container `id` if the
 * caller may see it, which keeps its frames and what they hold. Init of the new one
 * runs, then its Adopt for each page that is resident; then it takes the place of
 * the one before, or of the built-in replacement. Without an image, the built-in one
 * does. If anything fails, the one before goes on, and nothing is lost.
 *
 * EINVAL: a flag, the image, for which log and error fields are as in
 * HIPEC_IOC_LOAD; ECANCELED: Init or Adopt ended it, the log says how; EAGAIN: the
 * container shares, and the image was revoked lately; ENODATA: nothing is loaded;
 * EBUSY: another swap is under way; ESRCH, ENOMEM; EINTR on a fatal signal.
 */
struct hipec_swap {
	__u32 size;
	__u32 flags;		/* in: 0 */
	__u64 id;		/* in: 0: this container */
	__u64 image;		/* in: address of the image, or 0 */
	__u32 image_size;	/* in: bytes; 0 if there is none */
	__u32 log_size;		/* in: bytes, as in HIPEC_IOC_LOAD */
	__u64 log;		/* in: address of a text buffer, or 0 */
	__u64 seed;		/* in: of Random; 0: always the same */
	__u64 adopted;		/* out: pages that the policy was given */
	__u32 error_kind;	/* out: HIPEC_VERIFY_* */
	__u32 error_event;	/* out: event number */
	__u32 error_command;	/* out: counted from 1; 0: the event as a whole */
	__u32 error_operand;	/* out: 1 to 3, 0 the command as a whole */
};

/*
 * HIPEC_IOC_REVOKE: end the policy of this container, or of container `id` if the
 * caller may see it. Its frames stay, and the built-in replacement is in charge.
 * EINVAL: a flag; ESRCH; ENODATA: there is no policy; EALREADY: it has ended.
 */
struct hipec_revoke {
	__u32 size;
	__u32 flags;		/* in: 0 */
	__u64 id;		/* in: 0: this container */
};

/* What a page may be: name, bit, its word, meaning. */
#define HIPEC_WHY_STATES(X)                                                  \
	X(RESIDENT,   0x0001, "resident", "it holds a frame that the policy may use") \
	X(DIRTY,      0x0002, "dirty", "it was written to, and its file was not yet") \
	X(REFERENCED, 0x0004, "referenced", "it was touched since its bit was reset") \
	X(MAPPED,     0x0008, "mapped", "a touch of it is no fault where it is mapped") \
	X(PINNED,     0x0010, "pinned", "somebody holds it: it cannot go now")       \
	X(WRITING,    0x0020, "being written", "to its file, just now")             \
	X(FAILED,     0x0040, "not writable", "its last write failed: others go first") \
	X(READING,    0x0080, "being read", "its frame is being filled")            \
	X(AHEAD,      0x0100, "read ahead", "nobody has touched it, and no policy knows of it") \
	X(LEAVING,    0x0200, "leaving", "it was given up, and is written before its frame is free") \
	X(GHOST,      0x0400, "remembered", "the policy gave it up and remembers it") \
	X(INSTEAD,    0x0800, "given up instead", "the policy gave it up, in the place of another page that the pool's manager had chosen") \
	X(BEHIND,     0x1000, "behind the end", "its file ends before it: a touch is SIGBUS")

enum hipec_why_state {
#define HIPEC_X(name, bit, word, meaning) HIPEC_WHY_##name = bit,
	HIPEC_WHY_STATES(HIPEC_X)
#undef HIPEC_X
};

/* On what queue it is. */
enum hipec_why_queue {
	HIPEC_WHY_ON_NONE,
	HIPEC_WHY_ON_FALLBACK,	/* of a policy: on none of its own, so it goes first */
	HIPEC_WHY_ON_POLICY,	/* that of slot `slot` */
	HIPEC_WHY_ON_BUILTIN,	/* the inactive one of the built-in replacement */
};

#define HIPEC_WHY_PATH 256

/*
 * HIPEC_IOC_WHY: where a page of this container stands, or of container `id`'s if
 * the caller may see it. EINVAL: a flag; ESRCH; ENODATA: nothing is loaded; ENXIO:
 * no region or file has the page; EBADF: no such descriptor.
 */
struct hipec_why {
	__u32 size;
	__u32 flags;		/* in: HIPEC_WHY_BY_FILE or 0 */
	__u64 id;		/* in: 0: this container */
	__u64 offset;		/* in: bytes from the container's start, or into the file */
	__s32 fd;		/* in: with HIPEC_WHY_BY_FILE, of the file */
	__u32 state;		/* out: HIPEC_WHY_* */
	__u64 address;		/* out: of the page, bytes from the container's start */
	__u64 file_offset;	/* out: bytes */
	__u64 start;		/* out: of its region, bytes from the container's start */
	__u64 length;		/* out: of its region, bytes */
	__u64 instead;		/* out: address of the page that stayed, if it was given up instead */
	__u32 on;		/* out: enum hipec_why_queue */
	__u32 slot;		/* out: of the queue, or of its array */
	__u32 index;		/* out: in the array */
	__u32 place;		/* out: 0 at the queue's head */
	__u32 nr;		/* out: pages on the queue */
	__u32 reserved;
	char queue[HIPEC_NAME_MAX]; /* out: name of the slot, cut to fit; ends with a zero */
	char file[HIPEC_WHY_PATH]; /* out: the end of its path; ends with a zero */
};

#define HIPEC_WHY_BY_FILE 0x1

/*
 * A shared array is mapped, MAP_SHARED, from the descriptor that loaded its
 * policy, at its slot's offset: __s64 elements, which the policy reads at once.
 * When the policy is swapped, an array of the same name and length stays the same
 * memory, however it is mapped; what nobody declares any more is read by nobody.
 */
#define HIPEC_SHARED_SHIFT 23
#define HIPEC_SHARED_OFFSET(slot) ((__u64)(slot) << HIPEC_SHARED_SHIFT)

#define HIPEC_IOC_QUERY  _IOWR('h', 0x80, struct hipec_query)
#define HIPEC_IOC_LOAD   _IOWR('h', 0x81, struct hipec_load)
#define HIPEC_IOC_ATTACH _IOWR('h', 0x82, struct hipec_attach)
#define HIPEC_IOC_STATUS _IOWR('h', 0x83, struct hipec_status)
#define HIPEC_IOC_NEXT   _IOWR('h', 0x84, struct hipec_status)
#define HIPEC_IOC_OPERAND _IOWR('h', 0x85, struct hipec_operand)
#define HIPEC_IOC_RECORD _IOWR('h', 0x86, struct hipec_record)
#define HIPEC_IOC_SET_PARAM _IOWR('h', 0x87, struct hipec_set_param)
#define HIPEC_IOC_HINT _IOWR('h', 0x88, struct hipec_hint)
#define HIPEC_IOC_SAMPLE _IOWR('h', 0x89, struct hipec_sample)
#define HIPEC_IOC_SWAP _IOWR('h', 0x8a, struct hipec_swap)
#define HIPEC_IOC_REVOKE _IOWR('h', 0x8b, struct hipec_revoke)
#define HIPEC_IOC_WHY _IOWR('h', 0x8c, struct hipec_why)
#define HIPEC_IOC_LOG _IOWR('h', 0x8d, struct hipec_log)

#endif /* _UAPI_HIPEC_H */
