// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run one event of a verified policy.
 *
 * Commands are not counted one by one: `origin` is moved at each jump, so that
 * the way from there to the next command is always what has been run. Fuel and
 * time are looked at where loops and recursion are: at jumps backward and at
 * calls; and time behind the commands that are called, in long events (decode.h).
 * So an event runs at most HIPEC_MAX_WORDS commands more than its fuel.
 */
#include "decode.h"
#include "end.h"
#include "ops_loop.h"

/*
 * Where an event stands: its command, and what has been run up to it. One
 * pointer and no more: GCC makes a dispatch for each command only where that
 * takes few instructions.
 */
struct place {
	const struct hipec_insn *pc;
	const struct hipec_insn *base;	/* word 0 of the event */
	uintptr_t origin;		/* pc, less what was run before it */
	uintptr_t limit;		/* to look at fuel and time; in bytes of code */
	u32 depth;			/* calls below it */
};

static __always_inline u64 nr_run(const struct place *at)
{
	return ((uintptr_t)(at->pc + 1) - at->origin) / sizeof(*at->pc);
}

/* Skip @bytes of code, or repeat them. */
static __always_inline void skip_code(struct place *at, s32 bytes)
{
	at->pc = (const void *)at->pc + bytes;
	at->origin += (s64)bytes;
}

static __always_inline void go_to_command(struct place *at, const struct hipec_insn *pc)
{
	at->origin += (uintptr_t)pc - (uintptr_t)at->pc;
	at->pc = pc;
}

/* Set the next look. Fuel is so small that bytes of code do not overflow. */
static __always_inline u64 set_limit(const struct hipec_vm *vm, u64 run)
{
	return hipec_next_look(vm, run) * sizeof(struct hipec_insn);
}

static __always_inline u32 check_limit(struct hipec_vm *vm, struct place *at)
{
	u32 kind;

	if (likely((uintptr_t)at->pc - at->origin < at->limit))
		return 0;
	kind = hipec_probe(vm, nr_run(at));
	at->limit = set_limit(vm, nr_run(at));
	return kind;
}

/*
 * Time alone, behind a command that may have taken some. Fuel is for what repeats: looked at
 * here too, it would end events elsewhere than a simulation's.
 */
static __always_inline u32 check_time(struct hipec_vm *vm, struct place *at)
{
	if (likely((uintptr_t)(at->pc + 1) - at->origin < at->limit))
		return 0;
	at->limit = set_limit(vm, nr_run(at));
	return vm->host->overtime && vm->host->overtime(vm) ? HIPEC_EXIT_OVERTIME : 0;
}

/*
 * Before each command. Who watches a simulation has this file built once more,
 * in user space, with HIPEC_VM_STEP and hipec_vm_run() under another name.
 */
static __always_inline void report_step(struct hipec_vm *vm, const struct place *at)
{
#ifdef HIPEC_VM_STEP
	hipec_vm_step(vm, at->pc, at->base, at->depth);
#else
	(void)vm;
	(void)at;
#endif
}

/* A test and the jump forward behind it, taken if the outcome is @want. */
static __always_inline void comp_jump(struct hipec_vm *vm, struct place *at,
				      u8 selector, bool want)
{
	bool holds = hipec_comp(vm, at->pc++, selector);

	vm->condition = holds;
	report_step(vm, at);
	if (holds == want)
		skip_code(at, at->pc->jump);
}

static __always_inline void enter_event(const struct hipec_vm *vm, struct place *at,
					u32 event)
{
	at->base = vm->code + hipec_event_first(vm->policy, event);
	go_to_command(at, at->base);
}

static __always_inline u32 call_event(struct hipec_vm *vm, struct place *at, u32 event)
{
	vm->frame[at->depth].pc = at->pc;
	vm->frame[at->depth].base = at->base;
	at->depth++;
	enter_event(vm, at, event);
	return check_limit(vm, at);
}

static __always_inline void leave_event(struct hipec_vm *vm, struct place *at)
{
	at->depth--;
	at->base = vm->frame[at->depth].base;
	go_to_command(at, vm->frame[at->depth].pc);
}

/* @pc is the last command: a guard ends the event before the next. */
static int end_event(struct hipec_vm *vm, u32 kind, const struct hipec_insn *pc)
{
	return hipec_end_event(vm, kind, pc + hipec_is_guard(kind) - vm->code);
}

/*
 * The label of the next command. Each command ends with a jump to it of its own:
 * the CPU then predicts it by the command. If all went to one place that looks
 * the label up, GCC would leave it at that.
 */
static __always_inline const void *next_label(struct hipec_vm *vm, struct place *at,
					      const void *const *label)
{
	at->pc++;
	report_step(vm, at);
	return label[at->pc->run];
}

/**
 * hipec_vm_run() - run an event to its end
 * @vm:    machine whose policy has not ended
 * @event: number of an event that the policy has
 *
 * Slots that the host owns (_free_count, system integers) and the count of
 * _free_queue are set by the caller before. The condition starts false.
 *
 * Context: serialised by the host; host operations may sleep if the caller may.
 * Return: 0; -ECANCELED if the policy has ended, with vm->exit set; -ETIMEDOUT
 *         if the host found the event over its time, with vm->late set: the
 *         policy goes on.
 * Source: hipec-1997, "Caching strategy representation" and "Infinite strategy
 *         interpretation".
 */
int hipec_vm_run(struct hipec_vm *vm, u32 event)
{
	static const void *const label[NR_RUN_CODES] __annotate_jump_table = {
		[RUN_RETURN] = &&run_return,
		[RUN_CALL] = &&run_call,
		[RUN_EMPTYQ] = &&run_emptyq,
		[RUN_INQ] = &&run_inq,
#define X(name, ...) [RUN_JUMP_##name] = &&run_jump_##name,    \
		[RUN_BACK_##name] = &&run_back_##name,
		HIPEC_CONDS(X)
#undef X
#define X(name, ...) [RUN_ARITH_##name] = &&run_arith_##name,
		HIPEC_ARITHS(X)
#undef X
#define X(name, ...) [RUN_LOGIC_##name] = &&run_logic_##name,
		HIPEC_LOGICS(X)
#undef X
#define X(name, ...)                                            \
		[RUN_COMP_##name] = &&run_comp_##name,          \
		[RUN_COMP_IF_##name] = &&run_comp_if_##name,    \
		[RUN_COMP_IFNOT_##name] = &&run_comp_ifnot_##name,
		HIPEC_COMPS(X)
#undef X
#define X(name, ...) [RUN_CALLED_##name] = &&run_called_##name, \
		[RUN_TIMED_##name] = &&run_timed_##name,
		HIPEC_COMMANDS_CALLED(X)
#undef X
	};
	struct place at = { .limit = set_limit(vm, 0) };
	u32 kind = 0;

	vm->condition = false;
	enter_event(vm, &at, event);
	at.origin = (uintptr_t)(at.pc + 1);
	goto *next_label(vm, &at, label);

run_return:
	if (!at.depth)
		goto out;
	leave_event(vm, &at);
	goto *next_label(vm, &at, label);
run_call:
	kind = call_event(vm, &at, at.pc->a);
	if (unlikely(kind))
		goto out;
	goto *next_label(vm, &at, label);
run_emptyq:
	vm->condition = hipec_emptyq(vm, at.pc);
	goto *next_label(vm, &at, label);
run_inq:
	vm->condition = hipec_inq(vm, at.pc);
	goto *next_label(vm, &at, label);
run_jump_IF:
	if (!vm->condition)
		goto *next_label(vm, &at, label);
	goto run_jump_ALWAYS;
run_jump_IFNOT:
	if (vm->condition)
		goto *next_label(vm, &at, label);
run_jump_ALWAYS:
	skip_code(&at, at.pc->jump);
	goto *next_label(vm, &at, label);
run_back_IF:
	if (!vm->condition)
		goto *next_label(vm, &at, label);
	goto run_back_ALWAYS;
run_back_IFNOT:
	if (vm->condition)
		goto *next_label(vm, &at, label);
run_back_ALWAYS:
	skip_code(&at, at.pc->jump);
	kind = check_limit(vm, &at);
	if (unlikely(kind))
		goto out;
	goto *next_label(vm, &at, label);
#define X(name, code, ...)                                      \
run_arith_##name:                                               \
	kind = hipec_arith(vm, at.pc, code);                    \
	if (unlikely(kind))                                     \
		goto out;                                       \
	goto *next_label(vm, &at, label);
	HIPEC_ARITHS(X)
#undef X
#define X(name, code, ...)                                      \
run_logic_##name:                                               \
	vm->condition = hipec_logic(vm, at.pc, code);           \
	goto *next_label(vm, &at, label);
	HIPEC_LOGICS(X)
#undef X
#define X(name, code, ...)                                      \
run_comp_##name:                                                \
	vm->condition = hipec_comp(vm, at.pc, code);            \
	goto *next_label(vm, &at, label);                             \
run_comp_if_##name:                                             \
	comp_jump(vm, &at, code, true);                         \
	goto *next_label(vm, &at, label);                             \
run_comp_ifnot_##name:                                          \
	comp_jump(vm, &at, code, false);                        \
	goto *next_label(vm, &at, label);
	HIPEC_COMPS(X)
#undef X
#define X(name, fn, ...)                                        \
run_called_##name:                                              \
	kind = hipec_op_##fn(vm, *at.pc);                       \
	if (unlikely(kind))                                     \
		goto out;                                       \
	goto *next_label(vm, &at, label);
	HIPEC_COMMANDS_CALLED(X)
#undef X
#define X(name, fn, ...)                                        \
run_timed_##name:                                               \
	kind = hipec_op_##fn(vm, *at.pc);                       \
	goto timed;
	HIPEC_COMMANDS_CALLED(X)
#undef X
timed:
	if (!kind)
		kind = check_time(vm, &at);
	if (unlikely(kind))
		goto out;
	goto *next_label(vm, &at, label);
out:
	vm->nr_commands += nr_run(&at);
	vm->nr_events++;
	if (vm->queue[HIPEC_QUEUE_EVICTED].count)
		hipec_page_forget_evicted(vm);
	return likely(!kind) ? 0 : end_event(vm, kind, at.pc);
}
