/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The record of a container: what HIPEC_IOC_RECORD's descriptor gives to read.
 *
 * First the container as it is when recording begins: struct hipec_record_head,
 * the image's bytes (none: the built-in replacement), and the machine's tables,
 * little endian, without gaps. Then entries, each a byte that says which, and its
 * numbers, 7 bits in a byte, the lowest first, the last byte without bit 7.
 * docs/user/operations.md has all this at length.
 */
#ifndef _UAPI_HIPEC_RECORD_H
#define _UAPI_HIPEC_RECORD_H

#include <linux/types.h>

#define HIPEC_RECORD_MAGIC 0x52504948u /* "HIPR" */
#define HIPEC_RECORD_VERSION 1

struct hipec_record_head {
	__u32 magic;
	__u32 version;
	__u32 head_size;	/* bytes of this struct */
	__u32 image_size;	/* bytes */
	__u64 id;		/* of the container */
	__u64 fuel;
	__u64 random;		/* state of Random */
	__u32 nr_frames;	/* as loaded */
	__u32 nr_pages;		/* entries of the page table, but for entry 0 */
	__u32 nr_queues;
	__u32 nr_elements;	/* of integer arrays that are not shared */
	__u32 nr_fields;	/* of each page */
	__u32 ordered;		/* 1: there are keys */
	__u32 unused;		/* first unused entry */
	__u32 exit_kind;	/* HIPEC_EXIT_*, if the policy has ended before */
	__u32 timed;		/* 1: the host looks at the time */
	__u32 reserved;
	char comm[16];		/* of the task that loaded it */
	/*
	 * The tables: __s64 of each of 256 slots; struct hipec_page, 20 bytes, of entries 0 to nr_pages;
	 * struct hipec_queue, 20 bytes, of each queue; __s64 of each element; of
	 * entries 0 to nr_pages nr_fields __s64 each, and a key if ordered is 1.
	 */
};

/*
 * Entries: name, code, numbers behind it, its word, meaning. @h is a page's entry
 * in the table, @pgno its number. What is signed is folded: 0, -1, 1, -2 ...
 *
 * Those of the policy's host, between RUN and END, are what the policy asked, with
 * the answer; GIVE_UP, REQUEST, PREFETCH and TAKE have theirs in an ANSWER, behind
 * what happens to the page table on the way.
 */
#define HIPEC_RECORD_ENTRIES(X)                                              \
	X(LOST,      0x01, 1, "lost", "so many entries did not fit: there is a hole here") \
	X(REGION,    0x02, 3, "region", "first page, pages and bytes of its file's name, which follows") \
	X(TOUCH,     0x03, 2, "touch", "pgno was touched; bit 0: written to, bit 1: it was resident; or, bit 2, the referenced bit of h was found set and is reset") \
	X(ADD,       0x10, 2, "add", "pgno gets a frame, and entry h; 0: there is none") \
	X(SHOW,      0x11, 1, "show", "h is live")                           \
	X(HIDE,      0x12, 1, "hide", "h was given up, and its frame is not free yet") \
	X(DEL,       0x13, 1, "del", "the frame of h is gone")               \
	X(FORGET,    0x14, 1, "forget", "the policy remembers h no more")    \
	X(FORGET_GONE, 0x15, 0, "forget_gone", "nor what it let go in the last event") \
	X(FORGET_RANGE, 0x16, 2, "forget_range", "nor ghosts from a pgno on, so many") \
	X(PASS,      0x17, 1, "pass", "the host passes h over: it goes to the tail of its queue") \
	X(EXIT,      0x18, 1, "exit", "the policy ends, HIPEC_EXIT_*")       \
	X(ABANDON,   0x19, 0, "abandon", "and its queues are emptied")       \
	X(SET_PARAM, 0x1a, 2, "set_param", "the application sets a slot; to this, folded") \
	X(RUN,       0x20, 2, "run", "an event begins: its number; bits of the inputs that have changed, each of which follows as a folded difference") \
	X(END,       0x21, 3, "end", "0, 1 if it was given up, 2 if it has ended the policy; HIPEC_EXIT_*; commands run") \
	X(SHARED,    0x22, 1, "shared", "an element of a shared array that is read, folded") \
	X(FIFO2,     0x23, 0, "fifo2", "the built-in replacement looks for a page") \
	X(ANSWER,    0x24, 1, "answer", "to the last question that has none") \
	X(GIVE_UP,   0x30, 2, "give_up", "h; 1 if its frame stays with the container") \
	X(FLUSH,     0x31, 2, "flush", "h; 1 if it was dirty")               \
	X(REF,       0x32, 2, "ref", "h; 1 if it was referenced")            \
	X(MOD,       0x33, 2, "mod", "h; 1 if it is dirty")                  \
	X(SET_REF,   0x34, 2, "set_ref", "h; 1 to set, 0 to reset the bit")  \
	X(SET_MOD,   0x35, 2, "set_mod", "h; 1 if it may be written to")     \
	X(MAP,       0x36, 2, "map", "h; 1 if it is mapped")                 \
	X(UNMAP,     0x37, 2, "unmap", "h; 1 if it was mapped")              \
	X(REQUEST,   0x38, 1, "request", "frames")                           \
	X(PREFETCH,  0x39, 2, "prefetch", "pgno; pages")                     \
	X(OVERTIME,  0x3a, 1, "overtime", "1 if the event is over its time") \
	X(TAKE,      0x3b, 1, "take", "the built-in replacement takes h")

enum hipec_record_entry {
#define HIPEC_X(name, code, nr, word, meaning) HIPEC_RECORD_##name = code,
	HIPEC_RECORD_ENTRIES(HIPEC_X)
#undef HIPEC_X
};

/* Of TOUCH. */
#define HIPEC_TOUCH_WRITE 0x1
#define HIPEC_TOUCH_RESIDENT 0x2
#define HIPEC_TOUCH_HARVESTED 0x4

/*
 * Inputs of RUN, by bit: slot _free_count; the count of _free_queue; from bit 2 on
 * the system slots.
 */
#define HIPEC_RECORD_INPUTS 18

#define HIPEC_RECORD_MAX_NAME 255	/* bytes of a file's name; its end */
#define HIPEC_RECORD_MAX_ENTRY 288	/* bytes */

#endif /* _UAPI_HIPEC_RECORD_H */
