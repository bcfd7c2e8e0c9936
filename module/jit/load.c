// SPDX-License-Identifier: GPL-2.0-only
/*
 * Native code in the kernel: a policy's instructions become a struct bpf_prog, which the
 * kernel's JIT compiles. Nobody but this module runs it: no verifier of BPF has seen it
 * (ours has seen the policy), it is in no table, and it is called like a function, with
 * or without RCU, by whoever holds the lock of its machine's container.
 *
 * Interface:
 * hipec_jit_start(), _stop()
 */
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/ktime.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>

#include "load.h"

enum jit_mode { JIT_OFF, JIT_AUTO, JIT_ON };

static const char *const mode_name[] = {
	[JIT_OFF] = "off", [JIT_AUTO] = "auto", [JIT_ON] = "on",
};

static enum jit_mode mode = JIT_OFF;

static int set_mode(const char *text, const struct kernel_param *kp)
{
	int m = sysfs_match_string(mode_name, text);

	if (m < 0)
		return m;
	WRITE_ONCE(mode, m);
	return 0;
}

static int get_mode(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%s\n", mode_name[READ_ONCE(mode)]);
}

static const struct kernel_param_ops mode_ops = { .set = set_mode, .get = get_mode };
module_param_cb(jit, &mode_ops, NULL, 0644);
MODULE_PARM_DESC(jit, "off: policies loaded from now on are interpreted; auto: they run in native code, if the kernel's JIT of BPF makes some and it is not too large; on: however large");

/*
 * Whether there is to be native code, and for how large a policy. The administrator's off
 * holds for all who could not change it. @wish: of HIPEC_LOAD_JIT; 0: none.
 * Return: HIPEC_ENGINE_NATIVE, or why there is to be none.
 */
static u32 choose(u32 wish, enum jit_mode *m)
{
	*m = READ_ONCE(mode);
	if (wish == HIPEC_LOAD_JIT_OFF)
		return *m == JIT_OFF ? HIPEC_ENGINE_OFF : HIPEC_ENGINE_CHOSEN;
	if (*m == JIT_OFF && !(wish && capable(CAP_SYS_ADMIN)))
		return HIPEC_ENGINE_OFF;
	if (wish)
		*m = wish == HIPEC_LOAD_JIT_ON ? JIT_ON : JIT_AUTO;
	return HIPEC_ENGINE_NATIVE;
}

/*
 * In auto, bytes of native code for a byte of commands. With net.core.bpf_jit_harden
 * each constant becomes three instructions: where much of a policy is constants, what it
 * takes from the cache is more than it saves.
 */
#define HIPEC_JIT_WORTH 24

/* x86 alone has been tested; and a command goes to its handler in one register there. */
#if defined(CONFIG_BPF_JIT) && defined(CONFIG_X86_64)

static unsigned long address_of(u32 function)
{
	switch (function) {
#define X(name, fn, ...) case HIPEC_OP_##name: return (unsigned long)hipec_op_##fn;
	HIPEC_COMMANDS_CALLED(X)
#undef X
	case HIPEC_JIT_CALL_LOOK:
		return (unsigned long)hipec_native_look;
	case HIPEC_JIT_CALL_ARITH:
		return (unsigned long)hipec_native_arith;
	}
	return 0;
}

/* Calls have addresses from here on. Return: whether all can be reached. */
static bool link_calls(struct bpf_prog *prog)
{
	u32 i;

	for (i = 0; i < prog->len; i++) {
		struct bpf_insn *insn = &prog->insnsi[i];
		unsigned long to;
		s64 way;

		if (insn->code != (BPF_JMP | BPF_CALL))
			continue;
		to = address_of(insn->imm);
		way = (s64)to - (s64)(unsigned long)__bpf_call_base;
		if (WARN_ON_ONCE(!to) || way != (s32)way)
			return false;
		insn->imm = way;
	}
	return true;
}

/* Return: a program that is not compiled yet, or NULL, and why: @engine. */
static struct bpf_prog *translate(const struct hipec_vm *vm, u32 *engine)
{
	u32 nr_words = vm->policy->image->nr_words;
	struct hipec_jit *j = kzalloc(sizeof(*j), GFP_KERNEL_ACCOUNT);
	struct bpf_prog *prog = NULL;
	struct hipec_jit_place *place;
	int nr;

	place = kvcalloc(nr_words, sizeof(*place), GFP_KERNEL_ACCOUNT);
	*engine = HIPEC_ENGINE_NO_MEMORY;
	if (!j || !place)
		goto out;
	nr = hipec_jit_plan(j, vm, place);
	if (nr < 0) {
		*engine = HIPEC_ENGINE_LONG;
		goto out;
	}
	prog = bpf_prog_alloc(bpf_prog_size(nr), __GFP_ACCOUNT);
	if (!prog)
		goto out;
	/* Of a program of UNSPEC the JIT thinks that it was a socket's filter once. */
	prog->type = BPF_PROG_TYPE_SOCKET_FILTER;
	prog->len = nr;
	prog->gpl_compatible = 1;
	prog->aux->stack_depth = hipec_jit_stack(vm);
	hipec_jit_emit(j, prog->insnsi);
	if (!WARN_ON_ONCE(j->nr != nr) && link_calls(prog))
		goto out;
	*engine = HIPEC_ENGINE_NO_JIT;
	bpf_prog_free(prog);
	prog = NULL;
out:
	kvfree(place);
	kfree(j);
	return prog;
}

/* Return: HIPEC_ENGINE_NATIVE if @prog is worth it; why not. */
static u32 judge(const struct hipec_vm *vm, const struct bpf_prog *prog, enum jit_mode m)
{
	u32 worth = HIPEC_JIT_WORTH * sizeof(u32) * vm->policy->image->nr_words;

	/* The kernel's own interpreter of BPF is slower than ours. */
	if (!prog->jited)
		return HIPEC_ENGINE_NO_JIT;
	return m == JIT_AUTO && prog->jited_len > worth + PAGE_SIZE ?
		HIPEC_ENGINE_LARGE : HIPEC_ENGINE_NATIVE;
}

/**
 * hipec_jit_start() - give a machine native code, if it is to have some
 * @vm:   machine without, between two events
 * @wish: what its loader wants, one of HIPEC_LOAD_JIT; 0: as the parameter jit says
 *
 * A machine that gets none is interpreted; native.engine says which way it runs.
 *
 * Context: process context, may sleep; the machine is the caller's alone.
 */
void hipec_jit_start(struct hipec_vm *vm, u32 wish)
{
	u64 start = ktime_get_ns();
	struct bpf_prog *prog;
	enum jit_mode m;
	int err = 0;

	vm->native.engine = choose(wish, &m);
	if (vm->native.engine != HIPEC_ENGINE_NATIVE)
		return;
	vm->native.engine = HIPEC_ENGINE_EMPTY;
	if (!vm->policy->image->nr_events)
		return;
	prog = translate(vm, &vm->native.engine);
	if (!prog)
		return;
	prog = bpf_prog_select_runtime(prog, &err);
	vm->native.engine = err ? HIPEC_ENGINE_NO_JIT : judge(vm, prog, m);
	if (vm->native.engine != HIPEC_ENGINE_NATIVE) {
		bpf_prog_free(prog);
		return;
	}
	vm->native.code = prog;
	vm->native.insn = prog->insnsi;
	vm->native.run = prog->bpf_func;
	vm->native.made_ns = ktime_get_ns() - start;
}

/**
 * hipec_jit_stop() - take a machine's native code away
 * @vm: any machine, in no event
 *
 * Context: process context.
 */
void hipec_jit_stop(struct hipec_vm *vm)
{
	struct bpf_prog *prog = vm->native.code;

	memset(&vm->native, 0, sizeof(vm->native));
	if (prog)
		bpf_prog_free(prog);
}

/**
 * hipec_jit_code() - where a machine's native code is
 * @vm:    machine
 * @bytes: gets its length
 *
 * Context: as of hipec_jit_stop(), which must not be called meanwhile.
 * Return: NULL if it has none.
 */
const void *hipec_jit_code(const struct hipec_vm *vm, u32 *bytes)
{
	const struct bpf_prog *prog = vm->native.code;

	*bytes = prog ? prog->jited_len : 0;
	return prog ? prog->bpf_func : NULL;
}

#else

void hipec_jit_start(struct hipec_vm *vm, u32 wish)
{
	enum jit_mode m;

	vm->native.engine = choose(wish, &m);
	if (vm->native.engine == HIPEC_ENGINE_NATIVE)
		vm->native.engine = HIPEC_ENGINE_NO_JIT;
}

void hipec_jit_stop(struct hipec_vm *vm)
{
}

const void *hipec_jit_code(const struct hipec_vm *vm, u32 *bytes)
{
	*bytes = 0;
	return NULL;
}

#endif
