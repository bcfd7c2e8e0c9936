/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a policy in C (userlib/image/emitc.c) is compiled with: the words that it is
 * written in, and the VM core's commands, which the compiler then has before it.
 *
 * The functions of module/vm are this file's own: `static` comes first. They are the
 * interpreter's, and work on its machine.
 */
#ifndef HIPEC_NATIVE_POLICY_H
#define HIPEC_NATIVE_POLICY_H

#include "vm/port.h"
#include "vm/optable.h"

struct hipec_vm;
struct hipec_insn;

#define X(name, fn, ...) \
	static inline u32 hipec_op_##fn(struct hipec_vm *vm, struct hipec_insn i);
HIPEC_COMMANDS_CALLED(X)
#undef X
static inline u32 hipec_page_find(const struct hipec_vm *vm, u32 pgno);
static inline u32 hipec_page_find_named(const struct hipec_vm *vm, u32 pgno);
static inline s64 hipec_tracer_read(struct hipec_vm *vm, u8 slot, s64 *element);
static u32 hipec_order_add(struct hipec_vm *vm, u32 q, u32 h, enum hipec_end end);
static void hipec_order_del(struct hipec_vm *vm, u32 h);
static void hipec_order_move(struct hipec_vm *vm, u32 q, u32 h, enum hipec_end end);

#include "vm/bucket.h"
#include "vm/end.h"
#include "vm/ops_loop.h"
#include "vm/order.c"
#include "vm/ops_page.c"
#include "vm/ops_more.c"

static inline u32 hipec_page_find(const struct hipec_vm *vm, u32 pgno)
{
	return hipec_bucket_find(vm, pgno, HIPEC_PAGE_FRAME);
}

static inline u32 hipec_page_find_named(const struct hipec_vm *vm, u32 pgno)
{
	return hipec_bucket_find_named(vm, pgno);
}

/* Where somebody listens there is no native code. */
static inline s64 hipec_tracer_read(struct hipec_vm *vm, u8 slot, s64 *element)
{
	(void)vm;
	(void)slot;
	return READ_ONCE(*element);
}

/* For who loads it, who may be older or younger. */
const unsigned int hipec_machine_size = sizeof(struct hipec_vm);

/* Where an event stands. */
struct native {
	u64 run;	/* commands, up to the last count */
	u64 look;	/* look at fuel and time when more were run than these */
	u32 word;	/* the command to blame, where the event does not end well */
};

/* Look at fuel and time; @word is what would be next. */
static noinline __attribute__((cold)) u32 native_look(struct hipec_vm *vm, struct native *n,
						      u32 word)
{
	u32 kind = hipec_probe(vm, n->run);

	n->look = hipec_next_look(vm, n->run);
	n->word = word;
	return kind;
}

static __always_inline bool is_named(const struct hipec_vm *vm, u32 h)
{
	return vm->page[h].flags & HIPEC_PAGE_NAMED;
}

static __always_inline bool is_on(const struct hipec_vm *vm, u32 h, u32 q)
{
	return is_named(vm, h) && vm->page[h].queue == q;
}

#define EVENT(name) static u32 name(struct hipec_vm *vm, struct native *n)
#define S(number) vm->slot[number]
#define INSN(a_, b_, c_) ((struct hipec_insn){ .a = a_, .b = b_, .c = c_ })
#define COUNT(nr) (n->run += (nr))
#define TEST(value) (vm->condition = (value))
#define GO(to) goto w##to

#define LOOK(to) do {						\
	if (unlikely(n->run > n->look)) {			\
		u32 kind_ = native_look(vm, n, to);		\
		if (kind_)					\
			return kind_;				\
	}							\
} while (0)

#define GO_BACK(to) do {					\
	LOOK(to);						\
	goto w##to;						\
} while (0)

#define CALL(event, to) do {					\
	u32 kind_;						\
	LOOK(to);						\
	kind_ = event(vm, n);					\
	if (unlikely(kind_))					\
		return kind_;					\
} while (0)

/* The event ends at @at, with @nr commands that were not counted, if @kind says why. */
#define END_IF(kind, at, nr) do {				\
	u32 kind_ = (kind);					\
	if (unlikely(kind_)) {					\
		n->word = at;					\
		COUNT(nr);					\
		return kind_;					\
	}							\
} while (0)

#define DIVIDE(to, by, remainder, at, nr) \
	END_IF(hipec_divide(vm, &S(to), by, remainder), at, nr)

#define ARITH_add(to, b) (S(to) = (u64)S(to) + (u64)(b))
#define ARITH_sub(to, b) (S(to) = (u64)S(to) - (u64)(b))
#define ARITH_mul(to, b) (S(to) = (u64)S(to) * (u64)(b))
#define ARITH_inc(to, b) (S(to) = (u64)S(to) + 1)
#define ARITH_dec(to, b) (S(to) = (u64)S(to) - 1)
#define ARITH_set(to, b) (S(to) = (b))
#define ARITH_and(to, b) (S(to) &= (b))
#define ARITH_or(to, b) (S(to) |= (b))
#define ARITH_xor(to, b) (S(to) ^= (b))
#define ARITH_shl(to, b) (S(to) = (u64)S(to) << ((b) & 63))
#define ARITH_shr(to, b) (S(to) >>= (b) & 63)

#define LOGIC_and(to, b) TEST(S(to) = S(to) && (b))
#define LOGIC_or(to, b) TEST(S(to) = S(to) || (b))
#define LOGIC_xor(to, b) TEST(S(to) = !S(to) != !(b))
#define LOGIC_not(to, b) TEST(S(to) = !S(to))

/*
 * The function that the host calls: hipec_vm_run(), but for hipec_page_forget_evicted(),
 * which the host then calls.
 */
#define ENTRY(name)						\
	int name(struct hipec_vm *vm, u32 event);		\
	int name(struct hipec_vm *vm, u32 event)

#define ENTER()							\
	struct native at = { .look = hipec_next_look(vm, 0) }, *n = &at; \
	u32 kind = HIPEC_EXIT_BROKEN;				\
	vm->condition = false

#define RUN(name, nr)						\
	if (event == (nr)) {					\
		kind = name(vm, n);				\
		goto out;					\
	}

#define LEAVE()							\
out:								\
	vm->nr_commands += at.run;				\
	vm->nr_events++;					\
	return kind ? hipec_end_event(vm, kind, at.word) : 0

#endif /* HIPEC_NATIVE_POLICY_H */
