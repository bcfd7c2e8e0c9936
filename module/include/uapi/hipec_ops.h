/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * THE command table of hipec. Codes are ABI: append, never renumber.
 *
 * A command is one 32-bit word, `op a b c`, the operator in the most
 * significant byte. Everything that knows commands expands this table: the
 * enum, the verifier (by operand kind, never by command), the dispatch, the
 * disassembler and assembler, ampc's builtins and the command reference in
 * docs/policy/commands.md. The selectors, slots, events and kinds that commands refer
 * to are tables here as well, for the same reason.
 *
 * To add a command: one row at the end of HIPEC_COMMANDS_CALLED, one function
 * hipec_op_<fn>() under module/vm/, one test/vm/cases/<fn>.hpt.
 *
 * Source: hipec-1997, Table I (commands 0x00 to 0x13), Figure 3 (codes in use).
 */
#ifndef _UAPI_HIPEC_OPS_H
#define _UAPI_HIPEC_OPS_H

/*
 * Operand kinds: what a byte of a command may hold. TYPES are the types of a
 * slot that it may name, none where it is not the number of a slot; FLAGS say
 * what the slot has to be beside that.
 *
 *  KIND       TYPES                      FLAGS            TEXT OF A WRONG ONE
 */
#define HIPEC_T(type) (1u << HIPEC_TYPE_##type)
#define HIPEC_KINDF_WRITE 0x1	/* one that the policy may write */
#define HIPEC_KINDF_LINKS 0x2	/* one that links pages: not _free_queue */

#define HIPEC_OPERAND_KINDS(X)                                               \
	X(NONE,      0,                            0, "zero")                \
	X(INT,       HIPEC_T(INT),                 0, "an integer")          \
	X(INT_W,     HIPEC_T(INT),                 HIPEC_KINDF_WRITE,        \
	  "an integer that can be written")                                  \
	X(INT_OPT,   HIPEC_T(INT),                 0,                        \
	  "an integer, or zero where the selector takes one side")           \
	X(PAGE,      HIPEC_T(PAGE),                0, "a page")              \
	X(PAGE_W,    HIPEC_T(PAGE),                HIPEC_KINDF_WRITE,        \
	  "a page that can be written")                                      \
	X(QUEUE,     HIPEC_T(QUEUE) | HIPEC_T(QUEUE_REF), 0, "a queue")      \
	X(QUEUE_OUT, HIPEC_T(QUEUE) | HIPEC_T(QUEUE_REF), HIPEC_KINDF_LINKS, \
	  "a queue other than _free_queue")                                  \
	X(QUEUE_REF, HIPEC_T(QUEUE_REF),           0, "a queue variable")    \
	X(INTS,      HIPEC_T(INTS),                0, "an integer array")    \
	X(INTS_W,    HIPEC_T(INTS),                HIPEC_KINDF_WRITE,        \
	  "an integer array that can be written")                            \
	X(SKETCH,    HIPEC_T(INTS),                HIPEC_KINDF_WRITE,        \
	  "an integer array of 2 elements or more that can be written")      \
	X(QUEUES,    HIPEC_T(QUEUES),              0, "a queue array")       \
	X(FIELD,     HIPEC_T(FIELD),               0, "a page field")        \
	X(END,       0, 0, "HEAD or TAIL")                                   \
	X(ARITH,     0, 0, "an arithmetic selector")                         \
	X(COMP,      0, 0, "a comparison selector")                          \
	X(LOGIC,     0, 0, "a logic selector")                               \
	X(BIT,       0, 0, "REFERENCE or MODIFIED")                          \
	X(ACTION,    0, 0, "SET or RESET")                                   \
	X(COND,      0, 0, "a jump condition")                               \
	X(TARGET,    0, 0, "the number of a command of this event")          \
	X(TARGET_LO, 0, 0, "the low byte of a command number")               \
	X(EVENT,     0, 0, "an event of this policy")

/*
 * Flags of a command.
 * TEST: sets the condition that Jump reads.
 * HOST: asks the owner of the frames through struct hipec_host_ops.
 * STOP: nothing runs after it; an event may end here.
 * JUMP: may continue at its TARGET.
 */
#define HIPEC_OPF_TEST 0x1
#define HIPEC_OPF_HOST 0x2
#define HIPEC_OPF_STOP 0x4
#define HIPEC_OPF_JUMP 0x8

/*
 * NAME      C name of the code, HIPEC_OP_<NAME>
 * fn        handler hipec_op_<fn>(), test file test/vm/cases/<fn>.hpt
 * word      the paper's spelling, which is the builtin's name in .hp source
 * code      operator byte
 * A B C     operand kinds of the three low bytes
 * syntax    text form; $a $b $c are operands, $t the 16-bit target in b c
 * meaning   one line for the reference
 */
/* What the interpreter's loop holds inline: run.c. */
#define HIPEC_COMMANDS_LOOP(X)                                                \
	X(RETURN, return, "Return", 0x00, NONE, NONE, NONE,                   \
	  HIPEC_OPF_STOP, "return",                                           \
	  "End the event.")                                                   \
	X(ARITH, arith, "Arith", 0x01, INT_W, INT_OPT, ARITH,                 \
	  0, "arith $a, $b, $c",                                              \
	  "$a becomes $a $c $b; `inc` and `dec` take no $b, `set` copies $b.") \
	X(COMP, comp, "Comp", 0x02, INT, INT, COMP,                           \
	  HIPEC_OPF_TEST, "comp $a, $b, $c",                                  \
	  "The condition becomes $a $c $b.")                                  \
	X(LOGIC, logic, "Logic", 0x03, INT_W, INT_OPT, LOGIC,                 \
	  HIPEC_OPF_TEST, "logic $a, $b, $c",                                 \
	  "$a becomes the truth value $a $c $b, 0 or 1, and the condition with it; `not` takes no $b.") \
	X(EMPTYQ, emptyq, "EmptyQ", 0x04, QUEUE, NONE, NONE,                  \
	  HIPEC_OPF_TEST, "emptyq $a",                                        \
	  "The condition tells whether queue $a is empty.")                   \
	X(INQ, inq, "InQ", 0x05, PAGE, QUEUE, NONE,                           \
	  HIPEC_OPF_TEST, "inq $a, $b",                                       \
	  "The condition tells whether page $a is on queue $b; false for no page.") \
	X(JUMP, jump, "Jump", 0x06, COND, TARGET, TARGET_LO,                  \
	  HIPEC_OPF_JUMP, "jump $a, $t",                                      \
	  "Continue at command $t: `always`, `if` the condition holds, or `ifnot`.") \
	X(CALL, call, "Call", 0x13, EVENT, NONE, NONE,                        \
	  0, "call $a",                                                       \
	  "Run event $a of this policy, then go on.")

/* What it calls: ops_page.c, ops_more.c. Extensions start at 0x20. */
#define HIPEC_COMMANDS_CALLED(X)                                              \
	X(DEQUEUE, dequeue, "DeQueue", 0x07, PAGE_W, QUEUE_OUT, END,          \
	  HIPEC_OPF_TEST, "dequeue $a, $b, $c",                               \
	  "Take the page at the $c of queue $b into $a; an empty queue gives no page and a false condition. A page without a frame that is not put on a queue again is forgotten when the event ends.") \
	X(ENQUEUE, enqueue, "EnQueue", 0x08, PAGE, QUEUE, END,                \
	  HIPEC_OPF_TEST | HIPEC_OPF_HOST, "enqueue $a, $b, $c",              \
	  "Put page $a at the $c of queue $b, taking it off the queue it was on; on an ordered queue, among those of an equal key. A page that has given up its frame stays on the queue as a ghost; when there are as many ghosts as there may be, the condition is false. On _free_queue the page gives up its frame, or is forgotten if it has none; the condition is false, and the page stays, when it cannot go.") \
	X(REQUEST, request, "Request", 0x09, INT, INT_W, NONE,                \
	  HIPEC_OPF_TEST | HIPEC_OPF_HOST, "request $a, $b",                  \
	  "Ask for $a more frames; $b is the number granted, the condition tells whether all were.") \
	X(RELEASE, release, "Release", 0x0a, PAGE, NONE, NONE,                \
	  HIPEC_OPF_TEST | HIPEC_OPF_HOST, "release $a",                      \
	  "Give page $a up and its frame back to the system; the condition is false, and the page stays, when it cannot go. A page without a frame is forgotten.") \
	X(FLUSH, flush, "Flush", 0x0b, PAGE, NONE, NONE,                      \
	  HIPEC_OPF_TEST | HIPEC_OPF_HOST, "flush $a",                        \
	  "Start to write page $a back if it was modified, without waiting; the condition tells whether there was something to write.") \
	X(SET, set, "Set", 0x0c, PAGE, BIT, ACTION,                           \
	  HIPEC_OPF_TEST | HIPEC_OPF_HOST, "set $a, $b, $c",                  \
	  "Set or reset a bit of page $a. A modified page stays modified: its write would be lost, so the condition is false.") \
	X(REF, ref, "Ref", 0x0d, PAGE, NONE, NONE,                            \
	  HIPEC_OPF_TEST | HIPEC_OPF_HOST, "ref $a",                          \
	  "The condition tells whether page $a was referenced since the bit was reset.") \
	X(MOD, mod, "Mod", 0x0e, PAGE, NONE, NONE,                            \
	  HIPEC_OPF_TEST | HIPEC_OPF_HOST, "mod $a",                          \
	  "The condition tells whether page $a was modified since it was last written back.") \
	X(FINDVA, findva, "FindVA", 0x0f, INT_W, PAGE, NONE,                  \
	  0, "findva $a, $b",                                                 \
	  "$a becomes the address of page $b in the container.")              \
	X(FINDPA, findpa, "FindPA", 0x10, PAGE_W, INT, NONE,                  \
	  HIPEC_OPF_TEST, "findpa $a, $b",                                    \
	  "$a becomes the page at address $b, resident, a ghost, or one that gave up its frame in this event; none and a false condition if there is none.") \
	X(MAP, map, "Map", 0x11, PAGE, NONE, NONE,                            \
	  HIPEC_OPF_TEST | HIPEC_OPF_HOST, "map $a",                          \
	  "Map page $a at its address ahead of a touch; a false condition means that the next touch is a soft fault.") \
	X(UNMAP, unmap, "UnMap", 0x12, PAGE, NONE, NONE,                      \
	  HIPEC_OPF_TEST | HIPEC_OPF_HOST, "unmap $a",                        \
	  "Take the mappings of page $a away, keeping its frame: the next touch is a soft fault.") \
	X(LOAD, load, "Load", 0x20, INT_W, INTS, INT,                         \
	  0, "load $a, $b, $c",                                               \
	  "$a becomes element $c of array $b.")                               \
	X(STORE, store, "Store", 0x21, INTS_W, INT, INT,                      \
	  0, "store $a, $b, $c",                                              \
	  "Element $b of array $a becomes $c.")                               \
	X(SELECT, select, "Select", 0x22, QUEUE_REF, QUEUES, INT,             \
	  0, "select $a, $b, $c",                                             \
	  "$a stands for queue $c of array $b from here on.")                 \
	X(LENGTH, length, "Length", 0x23, INT_W, QUEUE, NONE,                 \
	  0, "length $a, $b",                                                 \
	  "$a becomes the number of pages on queue $b; of _free_queue, the number of free frames.") \
	X(PEEK, peek, "Peek", 0x24, PAGE_W, QUEUE_OUT, END,                   \
	  HIPEC_OPF_TEST, "peek $a, $b, $c",                                  \
	  "$a becomes the page at the $c of queue $b, which stays there; an empty queue gives no page and a false condition.") \
	X(NEXT, next, "Next", 0x25, PAGE_W, PAGE, END,                        \
	  HIPEC_OPF_TEST, "next $a, $b, $c",                                  \
	  "$a becomes the page beside page $b on its queue, towards the $c; none and a false condition at the end, or if $b is on no queue of the policy.") \
	X(GET, get, "Get", 0x26, INT_W, PAGE, FIELD,                          \
	  0, "get $a, $b, $c",                                                \
	  "$a becomes field $c of page $b. A page's fields are zero when it is first brought in, and last as long as it is resident or a ghost.") \
	X(PUT, put, "Put", 0x27, PAGE, FIELD, INT,                            \
	  0, "put $a, $b, $c",                                                \
	  "Field $b of page $a becomes $c. On a queue that the field orders, the page moves when it is next put there.") \
	X(RESIDENT, resident, "Resident", 0x28, PAGE, NONE, NONE,             \
	  HIPEC_OPF_TEST, "resident $a",                                      \
	  "The condition tells whether page $a holds a frame; false for a ghost and for no page.") \
	X(COPY, copy, "Copy", 0x29, PAGE_W, PAGE, NONE,                       \
	  0, "copy $a, $b",                                                   \
	  "$a becomes page $b, or none if $b is none.")                       \
	X(SAME, same, "Same", 0x2a, PAGE, PAGE, NONE,                         \
	  HIPEC_OPF_TEST, "same $a, $b",                                      \
	  "The condition tells whether $a and $b are the same page, or both none.") \
	X(PAGEAT, pageat, "PageAt", 0x2b, PAGE_W, INT, NONE,                  \
	  HIPEC_OPF_TEST, "pageat $a, $b",                                    \
	  "$a becomes the resident page in entry $b of the page table, counted from 0; none and a false condition if the entry holds none.") \
	X(RANDOM, random, "Random", 0x2c, INT_W, INT, NONE,                   \
	  0, "random $a, $b",                                                 \
	  "$a becomes a pseudo-random integer from 0 to $b - 1. The seed is given at load.") \
	X(PREFETCH, prefetch, "Prefetch", 0x2d, INT, INT, INT_W,              \
	  HIPEC_OPF_TEST | HIPEC_OPF_HOST, "prefetch $a, $b, $c",             \
	  "Begin to read $b pages from address $a on, 32 at most, without waiting, into frames that are free; pages that hold a frame are passed over. $c is the number begun, the condition tells whether there was any. PageFault tells of each page when it is used first.") \
	X(SKETCHADD, sketchadd, "SketchAdd", 0x2e, SKETCH, INT, INT,          \
	  0, "sketchadd $a, $b, $c",                                          \
	  "Count a use of $b in $a, a sketch of how often each integer was used: element 0 is its own, the others hold 16 counters each, up to 15. Of four counters of $b, shared with others, each is raised; in any $c uses all counters of the sketch are halved once, those of 64 elements at most with each use.") \
	X(SKETCHGET, sketchget, "SketchGet", 0x2f, INT_W, SKETCH, INT,        \
	  0, "sketchget $a, $b, $c",                                          \
	  "$a becomes how often $c was used lately by sketch $b, the least of its four counters.")

#define HIPEC_COMMANDS(X) HIPEC_COMMANDS_LOOP(X) HIPEC_COMMANDS_CALLED(X)

/* Number of rows of Table I; a static_assert in optable.c guards it. */
#define HIPEC_NR_COMMANDS_1997 20

/* Selectors. The word is the name in assembler text and, upper case, in .hp. */
#define HIPEC_ENDS(X)                                                        \
	X(HEAD, 1, "head")                                                   \
	X(TAIL, 2, "tail")

/* Figure 3 prints Set(page, REFERENCE, RESET) as `0c 09 02 01`. */
#define HIPEC_BITS(X)                                                        \
	X(MODIFIED, 1, "modified")                                           \
	X(REFERENCE, 2, "reference")

#define HIPEC_ACTIONS(X)                                                     \
	X(RESET, 1, "reset")                                                 \
	X(SET, 2, "set")

/* The last column: 1 when the selector takes no second operand. */
#define HIPEC_ARITHS(X)                                                      \
	X(ADD, 1, "add", 0)                                                  \
	X(SUB, 2, "sub", 0)                                                  \
	X(MUL, 3, "mul", 0)                                                  \
	X(DIV, 4, "div", 0)                                                  \
	X(INC, 5, "inc", 1)                                                  \
	X(DEC, 6, "dec", 1)                                                  \
	X(SET, 7, "set", 0)                                                  \
	X(MOD, 8, "mod", 0)                                                  \
	X(AND, 9, "and", 0)                                                  \
	X(OR, 10, "or", 0)                                                   \
	X(XOR, 11, "xor", 0)                                                 \
	X(SHL, 12, "shl", 0)                                                 \
	X(SHR, 13, "shr", 0)

/* Figure 3 has 2 for `<` and 4 in use. */
#define HIPEC_COMPS(X)                                                       \
	X(GT, 1, "gt")                                                       \
	X(LT, 2, "lt")                                                       \
	X(GE, 3, "ge")                                                       \
	X(LE, 4, "le")                                                       \
	X(EQ, 5, "eq")                                                       \
	X(NE, 6, "ne")

#define HIPEC_LOGICS(X)                                                      \
	X(AND, 1, "and", 0)                                                  \
	X(OR, 2, "or", 0)                                                    \
	X(XOR, 3, "xor", 0)                                                  \
	X(NOT, 4, "not", 1)

#define HIPEC_CONDS(X)                                                       \
	X(ALWAYS, 0, "always")                                               \
	X(IF, 1, "if")                                                       \
	X(IFNOT, 2, "ifnot")

/* Operand types; Figure 3 numbers the first three. */
#define HIPEC_TYPES(X)                                                       \
	X(INT, 1, "int")                                                     \
	X(QUEUE, 2, "queue")                                                 \
	X(PAGE, 3, "page")                                                   \
	X(INTS, 4, "ints")                                                   \
	X(QUEUES, 5, "queues")                                               \
	X(QUEUE_REF, 6, "queueref")                                          \
	X(FIELD, 7, "field")

/*
 * Events that the kernel or the simulator calls. Init, PageFault and Replace
 * are the paper's event[0] to event[2]. A policy's own events, reached by
 * Call, are numbered from HIPEC_EVENT_USER. The fourth column is 1 where every
 * policy has to have the event.
 */
#define HIPEC_EVENTS(X)                                                      \
	X(INIT, 0, "Init", 0, "once, when the policy is loaded")             \
	X(PAGEFAULT, 1, "PageFault", 1, "for each page brought in, after it was read") \
	X(REPLACE, 2, "Replace", 1, "when a frame is wanted and none is free") \
	X(ACCESS, 3, "Access", 0, "for a page that was used while it was resident; of mapped pages, when that is found out") \
	X(REMOVE, 4, "Remove", 0, "for a page that left for a reason other than this policy") \
	X(TIMER, 5, "Timer", 0, "every so many milliseconds, as the policy declares") \
	X(ADOPT, 6, "Adopt", 0, "for each resident page of the policy before, when this one takes its place")

#define HIPEC_EVENT_USER 16
#define HIPEC_NR_EVENTS 64

/*
 * Fixed operand slots. Slot 0 and 1 are the paper's. The system integers from
 * HIPEC_SLOT_SYSTEM up are read-only to the policy and set by the host before
 * an event.
 */
#define HIPEC_SLOT_FREE_QUEUE 0x00
#define HIPEC_SLOT_FREE_COUNT 0x01
#define HIPEC_SLOT_POLICY 0x02
#define HIPEC_SLOT_SYSTEM 0xf0
#define HIPEC_NR_SLOTS 256

#define HIPEC_SYSTEM_SLOTS(X)                                                \
	X(FAULTED_ADDRESS, 0xf0, "FaultedAddress",                           \
	  "address of the page that the event is about, in bytes from the container's start") \
	X(FAULT_KIND, 0xf1, "FaultKind",                                     \
	  "1 when the access was a write, else 0")                           \
	X(FRAME_BUDGET, 0xf2, "FrameBudget",                                 \
	  "frames of the container, in pages; 1 at least")                    \
	X(RESIDENT_COUNT, 0xf3, "ResidentCount",                             \
	  "pages of the container that hold a frame")                        \
	X(TIME, 0xf4, "Time",                                                \
	  "nanoseconds since the policy was loaded")                         \
	X(HINT, 0xf5, "Hint",                                                \
	  "the application's hint about the page, 0 if it gave none")        \
	X(CONTEXT, 0xf6, "Context",                                          \
	  "program context of the access, 0 if it is not known")             \
	X(PAGE_ENTRIES, 0xf7, "PageEntries",                                 \
	  "entries of the page table: frames at load, and ghosts")

/*
 * What a policy asks of its host that not every host has: bits of an image's
 * `needs`. A policy needs what it uses: one of the system SLOTS, one of the
 * host's EVENTS, or an operand with one of the FLAGS.
 *
 *  NEED      BIT  WORD  SLOTS  EVENTS  FLAGS  MEANING
 */
#define HIPEC_S(slot) (1u << (HIPEC_SLOT_##slot - HIPEC_SLOT_SYSTEM))
#define HIPEC_E(event) (1u << HIPEC_EVENT_##event)

#define HIPEC_NEEDS(X)                                                       \
	X(CONTEXT, 0x1, "context", HIPEC_S(CONTEXT), 0, 0,                   \
	  "the program context of an access")                                \
	X(HINT, 0x2, "hint", HIPEC_S(HINT), 0, 0,                            \
	  "the application's hints about pages")                             \
	X(ACCESS, 0x4, "access", 0, HIPEC_E(ACCESS), 0,                      \
	  "every use of a resident page; mapped pages give only some")       \
	X(TIME, 0x8, "time", HIPEC_S(TIME), HIPEC_E(TIMER), 0,               \
	  "a clock; a trace without times has none")                         \
	X(SHARED, 0x10, "shared", 0, 0, HIPEC_OPERAND_SHARED,                \
	  "an application that writes the shared arrays")

#endif /* _UAPI_HIPEC_OPS_H */
