/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * THE command table of hipec. Codes are ABI: append, never renumber.
 *
 * A command is one 32-bit word, `op a b c`, the operator in the most
 * significant byte. Everything that knows commands expands this table: the
 * enum, the verifier (by operand kind, never by command), the dispatch, the
 * disassembler and assembler, ampc's builtins and the command reference in
 * docs/commands.md. The selectors, slots, events and kinds that commands refer
 * to are tables here as well, for the same reason.
 *
 * To add a command: one row here, one function hipec_op_<fn>() under
 * module/vm/, one test/vm/<fn>.hpt.
 *
 * Source: hipec-1997, Table I (commands 0x00 to 0x13), Figure 3 (codes in use).
 */
#ifndef _UAPI_HIPEC_OPS_H
#define _UAPI_HIPEC_OPS_H

/*
 * Operand kinds: what a byte of a command may hold.
 *
 *            KIND      TEXT OF A WRONG OPERAND
 */
#define HIPEC_OPERAND_KINDS(X)                                               \
	X(NONE,     "zero")                                                  \
	X(INT,      "an integer")                                            \
	X(INT_W,    "an integer that can be written")                        \
	X(INT_OPT,  "an integer, or zero where the selector takes one side") \
	X(PAGE,     "a page")                                                \
	X(PAGE_W,   "a page that can be written")                            \
	X(QUEUE,    "a queue")                                               \
	X(QUEUE_OUT, "a queue other than _free_queue")                       \
	X(END,      "HEAD or TAIL")                                          \
	X(ARITH,    "an arithmetic selector")                                \
	X(COMP,     "a comparison selector")                                 \
	X(LOGIC,    "a logic selector")                                      \
	X(BIT,      "REFERENCE or MODIFIED")                                 \
	X(ACTION,   "SET or RESET")                                          \
	X(COND,     "a jump condition")                                      \
	X(TARGET,   "the number of a command of this event")                 \
	X(TARGET_LO, "the low byte of a command number")                     \
	X(EVENT,    "an event of this policy")

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
 * fn        handler hipec_op_<fn>(), test file test/vm/<fn>.hpt
 * word      the paper's spelling, which is the builtin's name in .hp source
 * code      operator byte
 * A B C     operand kinds of the three low bytes
 * syntax    text form; $a $b $c are operands, $t the 16-bit target in b c
 * meaning   one line for the reference
 */
#define HIPEC_COMMANDS(X)                                                     \
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
	X(DEQUEUE, dequeue, "DeQueue", 0x07, PAGE_W, QUEUE_OUT, END,          \
	  HIPEC_OPF_TEST, "dequeue $a, $b, $c",                               \
	  "Take the page at the $c of queue $b into $a; an empty queue gives no page and a false condition.") \
	X(ENQUEUE, enqueue, "EnQueue", 0x08, PAGE, QUEUE, END,                \
	  HIPEC_OPF_TEST | HIPEC_OPF_HOST, "enqueue $a, $b, $c",              \
	  "Put page $a at the $c of queue $b, taking it off the queue it was on. On _free_queue the page gives up its frame; the condition is false, and the page stays, when it cannot go.") \
	X(REQUEST, request, "Request", 0x09, INT, INT_W, NONE,                \
	  HIPEC_OPF_TEST | HIPEC_OPF_HOST, "request $a, $b",                  \
	  "Ask for $a more frames; $b is the number granted, the condition tells whether all were.") \
	X(RELEASE, release, "Release", 0x0a, PAGE, NONE, NONE,                \
	  HIPEC_OPF_TEST | HIPEC_OPF_HOST, "release $a",                      \
	  "Give page $a up and its frame back to the system; the condition is false, and the page stays, when it cannot go.") \
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
	  "$a becomes the resident page at address $b; none and a false condition if there is none.") \
	X(MAP, map, "Map", 0x11, PAGE, NONE, NONE,                            \
	  HIPEC_OPF_TEST | HIPEC_OPF_HOST, "map $a",                          \
	  "Map page $a at its address ahead of a touch; a false condition means that the next touch is a soft fault.") \
	X(UNMAP, unmap, "UnMap", 0x12, PAGE, NONE, NONE,                      \
	  HIPEC_OPF_TEST | HIPEC_OPF_HOST, "unmap $a",                        \
	  "Take the mappings of page $a away, keeping its frame: the next touch is a soft fault.") \
	X(CALL, call, "Call", 0x13, EVENT, NONE, NONE,                        \
	  0, "call $a",                                                       \
	  "Run event $a of this policy, then go on.")

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
	X(MOD, 8, "mod", 0)

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

/* Operand types, as Figure 3 numbers them. */
#define HIPEC_TYPES(X)                                                       \
	X(INT, 1, "int")                                                     \
	X(QUEUE, 2, "queue")                                                 \
	X(PAGE, 3, "page")

/*
 * Events that the kernel or the simulator calls. Init, PageFault and Replace
 * are the paper's event[0] to event[2]. A policy's own events, reached by
 * Call, are numbered from HIPEC_EVENT_USER.
 */
#define HIPEC_EVENTS(X)                                                      \
	X(INIT, 0, "Init", "once, when the policy is loaded")                \
	X(PAGEFAULT, 1, "PageFault", "for each page brought in, after it was read") \
	X(REPLACE, 2, "Replace", "when a frame is wanted and none is free")

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
	  "address of the page that faulted, in bytes from the container's start") \
	X(FAULT_KIND, 0xf1, "FaultKind",                                     \
	  "1 when the access that faulted was a write, else 0")              \
	X(FRAME_BUDGET, 0xf2, "FrameBudget",                                 \
	  "frames of the container, in pages")                               \
	X(RESIDENT_COUNT, 0xf3, "ResidentCount",                             \
	  "pages of the container that hold a frame")

#endif /* _UAPI_HIPEC_OPS_H */
