// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engine's host of its suites. corehost.h says what it is.
 */
#include "corehost.h"

static struct hipec_owner *owner_of(struct hipec_core *core)
{
	return (struct hipec_owner *)core;
}

static bool referenced(struct hipec_core *core, u32 h, u32 who)
{
	return owner_of(core)->bits[h] & who;
}

static void reset(struct hipec_core *core, u32 h, u32 who)
{
	owner_of(core)->bits[h] &= ~who;
	core->unsettled = true;
}

static bool is_clean(struct hipec_core *core, u32 h)
{
	return !(owner_of(core)->bits[h] & OWNER_DIRTY);
}

static int evict(struct hipec_core *core, u32 h, enum hipec_evict_why why)
{
	u8 bits = owner_of(core)->bits[h];

	if (bits & OWNER_PINNED || (bits & OWNER_FAILED && why != HIPEC_EVICT_LAST))
		return -EBUSY;
	return bits & OWNER_DIRTY ? -EINPROGRESS : 0;
}

static bool name(struct hipec_core *core, u32 h)
{
	return !(owner_of(core)->bits[h] & (OWNER_PINNED | OWNER_FAILED));
}

static void refill(struct hipec_core *core)
{
	owner_of(core)->nr_refills++;
}

static void free_frame(struct hipec_core *core, u32 h, bool keep)
{
	owner_of(core)->bits[h] = 0;
	owner_of(core)->nr_freed += keep;
	owner_of(core)->nr_returned += !keep;
}

static u32 allocate(struct hipec_core *core, u32 nr, enum hipec_effort effort)
{
	struct hipec_owner *o = owner_of(core);

	o->nr_allocated++;
	if (nr > o->most)
		nr = o->most;
	o->most -= nr;
	if (!nr && effort != HIPEC_EFFORT_NONE)
		core->denied = 2;
	return nr;
}

static s64 allowance(struct hipec_core *core)
{
	return owner_of(core)->allowance;
}

static void accounted(struct hipec_core *core, s64 nr)
{
	owner_of(core)->allowance -= nr;
}

static bool drop_ahead(struct hipec_core *core, bool stale)
{
	struct hipec_owner *o = owner_of(core);
	u32 h = o->ahead;

	if (stale || !h)
		return false;
	o->ahead = 0;
	hipec_core_unbind(core, h, false);
	return true;
}

static bool try_lock(struct hipec_core *core)
{
	return !owner_of(core)->locked;
}

static void unlock(struct hipec_core *core, bool requester)
{
	(void)core;
	(void)requester;
}

static bool pool_locked;

static bool enter(struct hipec_pool *pool)
{
	bool entered = !pool_locked;

	(void)pool;
	pool_locked = true;
	return entered;
}

static void leave(struct hipec_pool *pool, bool entered)
{
	(void)pool;
	if (entered)
		pool_locked = false;
}

static void settle(struct hipec_core *core)
{
	owner_of(core)->nr_settled++;
	core->unsettled = false;
}

static bool pause(struct hipec_core *core)
{
	owner_of(core)->nr_pauses++;
	return owner_of(core)->dying;
}

static bool late(struct hipec_core *core)
{
	return owner_of(core)->dying;
}

static int run(struct hipec_core *core, u32 event)
{
	int ret = hipec_tracer_run(&core->vm, event);

	return owner_of(core)->ret ?: ret;
}

static void ended(struct hipec_core *core)
{
	owner_of(core)->ended = core->vm.exit.kind;
}

static bool answer_window(struct hipec_core *core, enum hipec_verdict verdict)
{
	owner_of(core)->verdict = verdict;
	owner_of(core)->nr_windows++;
	return owner_of(core)->revoke;
}

static void touched(struct hipec_core *core, u32 pgno)
{
	(void)pgno;
	owner_of(core)->nr_touched++;
}

static s64 hint(struct hipec_core *core, u32 pgno)
{
	(void)core;
	return 100 + pgno;
}

static u64 now(struct hipec_core *core)
{
	return owner_of(core)->now;
}

const struct hipec_core_ops hipec_owner_ops = {
	.referenced = referenced,
	.reset = reset,
	.is_clean = is_clean,
	.evict = evict,
	.name = name,
	.refill = refill,
	.free = free_frame,
	.allocate = allocate,
	.allowance = allowance,
	.accounted = accounted,
	.drop_ahead = drop_ahead,
	.try_lock = try_lock,
	.unlock = unlock,
	.enter = enter,
	.leave = leave,
	.settle = settle,
	.pause = pause,
	.late = late,
	.run = run,
	.ended = ended,
	.window = answer_window,
	.touched = touched,
	.hint = hint,
	.now = now,
};

const struct hipec_core_ops hipec_owner_few_ops = {
	.referenced = referenced,
	.reset = reset,
	.evict = evict,
	.settle = settle,
};

static bool vm_ref(struct hipec_vm *vm, u32 h)
{
	return owner_of(hipec_core_of(vm))->bits[h] & HIPEC_REF_POLICY;
}

static void vm_set_ref(struct hipec_vm *vm, u32 h, bool on)
{
	if (on)
		owner_of(hipec_core_of(vm))->bits[h] |= HIPEC_REF_POLICY;
	else
		owner_of(hipec_core_of(vm))->bits[h] &= ~HIPEC_REF_POLICY;
}

static const struct hipec_host_ops vm_ops = {
	.evict = hipec_core_evict_page,
	.request = hipec_core_request,
	.ref = vm_ref,
	.set_ref = vm_set_ref,
};

/* A policy of which @answers says whether Replace gives a page up. */
struct hipec_kit *hipec_owner_policy(struct kunit *test, bool answers, u8 *queue)
{
	struct hipec_kit *kit = hipec_kit_new(test);
	u8 page = hipec_kit_page(kit), seen = hipec_kit_int(kit, 0);

	*queue = hipec_kit_queue(kit);
	hipec_kit_event(kit, HIPEC_EVENT_PAGEFAULT);
	hipec_kit_op(kit, HIPEC_OP_FINDPA, page, HIPEC_SLOT_FAULTED_ADDRESS, 0);
	hipec_kit_op(kit, HIPEC_OP_ENQUEUE, page, *queue, HIPEC_END_TAIL);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	hipec_kit_event(kit, HIPEC_EVENT_REPLACE);
	if (answers) {
		hipec_kit_op(kit, HIPEC_OP_DEQUEUE, page, *queue,
			     HIPEC_END_HEAD);
		hipec_kit_op(kit, HIPEC_OP_ENQUEUE, page, HIPEC_SLOT_FREE_QUEUE,
			     HIPEC_END_TAIL);
	}
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	/* What it reads, it is told. */
	hipec_kit_event(kit, HIPEC_EVENT_ACCESS);
	hipec_kit_op(kit, HIPEC_OP_ARITH, seen, HIPEC_SLOT_HINT,
		     HIPEC_ARITH_SET);
	hipec_kit_op(kit, HIPEC_OP_ARITH, seen, HIPEC_SLOT_TIME,
		     HIPEC_ARITH_SET);
	hipec_kit_op(kit, HIPEC_OP_ARITH, seen, HIPEC_SLOT_CONTEXT,
		     HIPEC_ARITH_SET);
	hipec_kit_op(kit, HIPEC_OP_RETURN, 0, 0, 0);
	hipec_kit_return_only(kit, HIPEC_EVENT_TIMER);
	hipec_kit_return_only(kit, HIPEC_EVENT_REMOVE);
	return kit;
}

void hipec_owner_machine(struct kunit *test, struct hipec_owner *o,
			 struct hipec_kit *kit, u32 frames)
{
	hipec_kit_image(kit)->timer_ms = 10;
	KUNIT_ASSERT_EQ_MSG(test, hipec_kit_check(kit), 0,
			    "%s: event %u command %u operand %u got %u",
			    hipec_vm_verify_text(kit->error.kind),
			    kit->error.event, kit->error.command,
			    kit->error.operand, kit->error.got);
	o->memory = kunit_kzalloc(test, hipec_vm_size(&kit->policy, frames),
				  GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, o->memory);
	hipec_vm_init(&o->core.vm, &kit->policy, &vm_ops, o->memory, NULL,
		      frames);
}

struct hipec_owner *hipec_owner_new(struct kunit *test, const struct hipec_core_ops *ops,
			   bool answers, u32 frames)
{
	struct hipec_owner *o = kunit_kzalloc(test, sizeof(*o), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, o);
	hipec_owner_machine(test, o, hipec_owner_policy(test, answers, &o->queue),
			    frames + 1);
	hipec_core_init(&o->core, ops, frames, frames);
	o->allowance = o->most = 1000;
	return o;
}

struct hipec_owner *hipec_owner_started(struct kunit *test, bool answers)
{
	struct hipec_owner *o = hipec_owner_new(test, &hipec_owner_ops, answers, OWNER_FRAMES);

	hipec_core_start(&o->core);
	return o;
}

struct hipec_demand hipec_owner_demand(struct hipec_owner *o, u32 pgno)
{
	return (struct hipec_demand){
		.pgno = pgno, .wait = true, .want = 1, .whom = &o->core,
	};
}

/* Bring a page in. Return: handle, or what it failed with. */
int hipec_owner_bring(struct hipec_owner *o, u32 pgno)
{
	struct hipec_demand d = hipec_owner_demand(o, pgno);
	int ret = hipec_core_make_room(&o->core, &d);
	u32 h;

	if (ret < 0)
		return ret;
	h = hipec_core_bind(&o->core, pgno);
	hipec_core_activate(&o->core, h);
	hipec_core_added(&o->core, pgno, false);
	hipec_core_fault(&o->core, h, false);
	return h;
}

void hipec_owner_bring_all(struct kunit *test, struct hipec_owner *o, u32 first, u32 nr)
{
	while (nr--)
		KUNIT_ASSERT_TRUE(test, hipec_owner_bring(o, first++) > 0);
}

u32 hipec_owner_find(struct hipec_owner *o, u32 pgno)
{
	return hipec_page_find(&o->core.vm, pgno);
}

/* All frames are somewhere, and what is named holds one. */
void hipec_owner_expect_whole(struct kunit *test, struct hipec_owner *o)
{
	struct hipec_core *core = &o->core;
	u32 i;

	for (i = 0; i < core->nr_chosen; i++)
		KUNIT_ASSERT_TRUE(test, core->vm.page[core->chosen[i]].flags & HIPEC_PAGE_FRAME &&
				  !hipec_page_live(&core->vm, core->chosen[i]));
	KUNIT_EXPECT_EQ(test, core->nr_frames, core->nr_free + core->nr_reading +
			core->vm.nr_live + core->nr_pending + core->nr_chosen);
	HIPEC_KIT_EXPECT_WHOLE(test, &core->vm);
}
