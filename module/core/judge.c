// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the default policy would have done with the frames of a container: it plays a
 * sample of the pages on a machine of its own, as a team of the league does, but for how it
 * hears of touches. A read() in place is heard at once. Of a map the kernel sees faults,
 * and referenced bits of held pages when it looks. Pages of the sample that are
 *
 *   the default's alone     fault when they are touched: that is seen at once.
 *   both's                  are asked for their bit when the second chance wants to
 *                           know: when they become inactive, where it is reset, and
 *                           when they are the next victim. That is exact.
 *   the container's alone   are dropped: a touch is a fault that the default would
 *                           have had. They are looked at in turn, see look_at_dropped().
 *
 * So only touches of dropped pages may be seen late, at the next fault at best; and
 * what the default would have done since is then made up for. See nr_unseen().
 *
 * Interface:
 * hipec_judge_bytes(), _init()  one in memory that the host gives
 * hipec_judge_added(), _removing(), _restored()    pages come and go; all of them
 * hipec_judge_touched()   a page was touched, and that is known at once
 *
 * Here is no lock, no allocation and no clock; the host serialises all calls.
 */
#include "core.h"

/* Frames of the default: all, or so many and less than twice that. */
#define FRAMES 512

/* Looks at dropped pages with each sampled fault; for each that was found touched;
 * and at most. */
#define BASE 2
#define MORE 8
#define LOOKS 32

/* Next victims that are looked at with each sampled fault. */
#define WATCHED 4

/* Bits of a page of the default's. */
#define JUDGE_REFERENCED 0x1
#define JUDGE_WATCHED 0x2

static struct hipec_judge *judge_of(struct hipec_vm *vm)
{
	static_assert(!offsetof(struct hipec_judge, vm), "vm comes first");
	return (struct hipec_judge *)vm;
}

static struct hipec_window *open_window(struct hipec_judge *j)
{
	return &j->core->windows.open;
}

static bool policy_holds_page(const struct hipec_judge *j, u32 pgno)
{
	u32 h = hipec_page_find(&j->core->vm, pgno);

	return h && hipec_core_resident(j->core, h);
}

/* Whether a page that the container may hold was touched since this was asked last. */
static bool is_young(struct hipec_judge *j, u32 pgno)
{
	const struct hipec_core_ops *ops = j->core->ops;
	u32 h = hipec_page_find(&j->core->vm, pgno);

	if (!h || !hipec_page_live(&j->core->vm, h))
		return false;
	j->nr_looks++;
	if (!ops->referenced(j->core, h, HIPEC_REF_JUDGE))
		return false;
	ops->reset(j->core, h, HIPEC_REF_JUDGE);
	return true;
}

/* So many faults of the default, of pages like @pgno. */
static void count_standard_faults(struct hipec_judge *j, u32 pgno, u32 nr)
{
	open_window(j)->standard += nr;
	open_window(j)->class_standard[hipec_sampling_class(&j->sample, pgno)] += nr;
}

/*
 * Room is made for a page whose touch was seen late, and the next victim is passed
 * over, for it was touched as well: how many faults of the default were not seen?
 *
 * If the victim was not yet touched when it was watched, the default may have
 * given it up before it was. Both ways it ends up active and another page has to
 * go; but then it was a fault. For a page here and there that evens out. But if
 * all that were watched were touched since, so much went by that the order is
 * lost: then these, and all further ones, are taken for faults, in favour of the
 * policy. In a loop over a few more pages than frames all faults of the default
 * are of this kind.
 */
static u32 nr_unseen(struct hipec_judge *j, bool watched, bool known)
{
	if (!watched)
		return j->nr_watched == WATCHED;
	if (known)
		return 0;
	j->nr_watched++;
	return j->nr_watched == WATCHED ? WATCHED : 0;
}

/* The default's host: whether its next victim was touched. */
static bool judge_get_ref(struct hipec_vm *vm, u32 h)
{
	struct hipec_judge *j = judge_of(vm);
	u32 pgno = vm->page[h].pgno, unseen;
	bool watched = j->bits[h] & JUDGE_WATCHED, known = j->bits[h] & JUDGE_REFERENCED;

	j->bits[h] = 0;
	if (!is_young(j, pgno) && !known)
		return false;
	unseen = j->late ? nr_unseen(j, watched, known) : 0;
	open_window(j)->unseen += unseen;
	count_standard_faults(j, pgno, unseen);
	return true;
}

/* It is inactive, and what was before does not count. */
static void judge_set_ref(struct hipec_vm *vm, u32 h, bool on)
{
	(void)on;
	is_young(judge_of(vm), vm->page[h].pgno);
	judge_of(vm)->bits[h] = 0;
}

static const struct hipec_host_ops judge_host = {
	.ref = judge_get_ref,
	.set_ref = judge_set_ref,
};

/* A page was given up that the container holds. Of too many the first are not looked at. */
static void note_dropped(struct hipec_judge *j, u32 pgno)
{
	if (j->nr_dropped == j->most) {
		j->first = (j->first + 1) % j->most;
		j->nr_dropped--;
	}
	j->dropped[(j->first + j->nr_dropped++) % j->most] = pgno;
}

static bool give_up(struct hipec_vm *vm, u32 h)
{
	struct hipec_judge *j = judge_of(vm);
	u32 pgno = vm->page[h].pgno;

	hipec_page_del(vm, h);
	if (policy_holds_page(j, pgno))
		note_dropped(j, pgno);
	return true;
}

/* The default has no more than @most pages from now on. */
static void shrink_standard(struct hipec_judge *j, s64 most, bool late)
{
	u32 pgno;

	j->late = late;
	while (j->vm.nr_live > most)
		hipec_fifo2_replace(&j->vm, give_up, &pgno);
}

/* Pages that it has frames for. */
static s64 room_of_standard(const struct hipec_judge *j)
{
	s64 half = 1u << j->sample.shift >> 1;
	s64 n = (hipec_sampling_room(&j->sample, hipec_core_usable(j->core)) + half) >>
		j->sample.shift;

	return n < 1 ? 1 : n > j->most ? j->most : n;
}

/* It faults on a page that it does not have. */
static void bring_in(struct hipec_judge *j, u32 pgno, bool late)
{
	u32 h;

	count_standard_faults(j, pgno, 1);
	open_window(j)->late += late;
	shrink_standard(j, room_of_standard(j) - 1, late);
	h = hipec_page_add(&j->vm, pgno);
	hipec_page_activate(&j->vm, h);
	j->bits[h] = 0;
}

/*
 * Look at dropped pages in turn. Each that was found touched pays for more looks,
 * so at most one of MORE finds something: a page is looked at several times in
 * the time in which it is touched once, however fast that is.
 */
static void look_at_dropped(struct hipec_judge *j)
{
	u32 n = j->nr_dropped, pgno;
	s32 most;

	j->owed = j->owed + BASE < LOOKS ? j->owed + BASE : LOOKS;
	for (most = j->owed; n && most; n--) {
		pgno = j->dropped[j->first];
		j->first = (j->first + 1) % j->most;
		j->nr_dropped--;
		if (!policy_holds_page(j, pgno) || hipec_page_find(&j->vm, pgno))
			continue;
		most--;
		j->owed--;
		if (is_young(j, pgno)) {
			bring_in(j, pgno, true);
			j->owed += MORE;
		} else {
			note_dropped(j, pgno);
		}
	}
}

/* Note which of the next victims are touched by now. */
static void watch_next_victims(struct hipec_judge *j)
{
	const struct hipec_vm *vm = &j->vm;
	u32 h = vm->queue[vm->nr_queues - 1].head, n;

	j->nr_watched = 0;
	for (n = 0; n < WATCHED && h; n++, h = vm->page[h].next) {
		j->bits[h] |= JUDGE_WATCHED;
		if (!(j->bits[h] & JUDGE_REFERENCED) && is_young(j, vm->page[h].pgno))
			j->bits[h] |= JUDGE_REFERENCED;
	}
}

/* Sampled page @pgno was touched. */
static void touch_sampled_page(struct hipec_judge *j, u32 pgno, bool late)
{
	u32 h = hipec_page_find(&j->vm, pgno);

	if (h)
		j->bits[h] |= JUDGE_REFERENCED;
	else
		bring_in(j, pgno, late);
}

/**
 * hipec_judge_added() - the container brought in a page
 * @j:     judge
 * @pgno:  page, which is live
 * @ahead: it was not touched yet: it came in with the one that was wanted. Had the default
 *         faulted, it would have come in as well. So it counts as one for both sides,
 *         unless the default has it; and what is compared is pages read, not faults. Also
 *         of the pages that a container holds when it gets its judge
 *
 * Of every page, sampled or not, behind the hipec_judge_removing() of its victim.
 *
 * Context: any, serialised by the host; asks for referenced bits.
 * Source: ours; the default policy is hipec-1997, Figure 3.
 */
void hipec_judge_added(struct hipec_judge *j, u32 pgno, bool ahead)
{
	open_window(j)->faults++;
	if (!hipec_sampling_has(&j->sample, pgno)) {
		hipec_sampling_added(&j->sample, pgno);
		return;
	}
	open_window(j)->sampled++;
	open_window(j)->class_sampled[hipec_sampling_class(&j->sample, pgno)]++;
	shrink_standard(j, room_of_standard(j), true);	/* frames may have gone to others */
	look_at_dropped(j);	/* what was touched was so before this page */
	hipec_sampling_added(&j->sample, pgno);
	if (!ahead)
		touch_sampled_page(j, pgno, false);
	else if (!hipec_page_find(&j->vm, pgno))
		bring_in(j, pgno, false);
	watch_next_victims(j);
}

/**
 * hipec_judge_removing() - a page is about to give up its frame
 * @j:    judge
 * @pgno: page, held so far
 *
 * Of every page, sampled or not.
 *
 * Context: any, serialised by the host; asks for referenced bits.
 */
void hipec_judge_removing(struct hipec_judge *j, u32 pgno)
{
	if (hipec_sampling_has(&j->sample, pgno) && is_young(j, pgno))
		touch_sampled_page(j, pgno, true);
	hipec_sampling_removed(&j->sample, pgno);
}

/**
 * hipec_judge_restored() - a page that had gone is held after all
 * @j:       judge
 * @pgno:    page, which could not give its frame up
 * @touched: it is live by a touch
 *
 * Nothing was read for it: it is no fault of either side.
 *
 * Context: any, serialised by the host; asks for referenced bits.
 */
void hipec_judge_restored(struct hipec_judge *j, u32 pgno, bool touched)
{
	hipec_sampling_added(&j->sample, pgno);
	if (!hipec_sampling_has(&j->sample, pgno))
		return;
	if (touched)
		touch_sampled_page(j, pgno, true);
	else if (!hipec_page_find(&j->vm, pgno))
		note_dropped(j, pgno);
}

/**
 * hipec_judge_touched() - a page was touched, and that is known at once
 * @j:    judge
 * @pgno: page of the sample that is held, and whose bit is set
 *
 * Pages that the default has it asks for their bits.
 *
 * Context: any, serialised by the host; asks for referenced bits.
 */
void hipec_judge_touched(struct hipec_judge *j, u32 pgno)
{
	if (!hipec_page_find(&j->vm, pgno))
		bring_in(j, pgno, false);
}

/* Bytes of the judge, of its machine, and of a number for each page. */
static size_t layout_judge(const struct hipec_policy *p, u32 most, size_t *machine, size_t *dropped)
{
	*machine = (sizeof(struct hipec_judge) + 7) & ~(size_t)7;
	*dropped = (*machine + hipec_vm_size(p, most) + 3) & ~(size_t)3;
	return *dropped + most * sizeof(u32) + most + 1;
}

/**
 * hipec_judge_bytes() - memory that a judge needs
 * @frames: of the container; the most that it will have
 *
 * Return: bytes.
 */
size_t hipec_judge_bytes(u32 frames)
{
	struct hipec_sampling sample;
	struct hipec_policy policy;
	size_t machine, dropped;

	hipec_fifo2_policy(&policy);
	hipec_sampling_init(&sample, frames, FRAMES, 0);
	return layout_judge(&policy, hipec_sampling_most(&sample), &machine, &dropped);
}

/**
 * hipec_judge_init() - a judge without pages
 * @j:    in hipec_judge_bytes() of zeros, or one that was in use; aligned for u64
 * @core: container that it is to play beside
 * @salt: any number that the policy's author cannot know
 */
void hipec_judge_init(struct hipec_judge *j, struct hipec_core *core, u32 salt)
{
	size_t machine, dropped, bytes;
	char *memory = (char *)j;

	hipec_sampling_init(&j->sample, core->nr_reserved, FRAMES, salt);
	hipec_fifo2_policy(&j->policy);
	j->most = hipec_sampling_most(&j->sample);
	bytes = layout_judge(&j->policy, j->most, &machine, &dropped);
	memset(memory + machine, 0, bytes - machine);
	hipec_vm_init(&j->vm, &j->policy, &judge_host, memory + machine, NULL, j->most);
	j->vm.key = core->vm.key;	/* a secret where it matters */
	j->core = core;
	j->dropped = (u32 *)(memory + dropped);
	j->bits = (u8 *)(j->dropped + j->most);
	j->first = j->nr_dropped = j->owed = j->nr_watched = 0;
	j->nr_looks = 0;
}
