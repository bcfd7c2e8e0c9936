// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replay of a record: the machine is made anew from what the record begins with,
 * its host does and answers what the record says, and the machine has a tracer of its
 * own: what that tells must be the record, byte for byte.
 *
 * A record may come from anywhere. What cannot be is said, and not done: every
 * handle, queue and state is looked at before the machine gets to see it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "../../module/vm/fifo2.h"
#include "record.h"

struct replayer {
	struct hipec_vm vm;	/* first, so that the host operations find the rest */
	struct hipec_tracer tracer;
	struct record_replay *r;
	struct hipec_text why;
	const u8 *begin, *at, *end;
	bool over;		/* the record ends here, or what is behind it counts not */
};

static struct replayer *replayer_of(struct hipec_vm *vm)
{
	static_assert(!offsetof(struct replayer, vm), "vm comes first");
	return (struct replayer *)vm;
}

/* End the replay; what the machine does from here on is not looked at. */
static void __attribute__((format(printf, 3, 4)))
end(struct replayer *p, enum record_verdict verdict, const char *format, ...)
{
	char words[300];
	va_list ap;

	if (p->over)
		return;
	p->over = true;
	p->r->verdict = verdict;
	va_start(ap, format);
	vsnprintf(words, sizeof(words), format, ap);
	va_end(ap);
	record_say(&p->why, "byte %td, event %llu: ", p->at - p->begin,
		   (unsigned long long)p->r->nr_events);
	hipec_text_str(&p->why, words);
}

/* The next entry. Return: its bytes; 0: there is none. */
static int peek(struct replayer *p, struct record_item *n)
{
	int bytes = p->over ? 0 : record_entry(p->at, p->end, n);

	if (bytes < 0) {
		end(p, RECORD_DAMAGED, "want an entry, and there is none that begins with %02x",
		    *p->at);
	} else if (!bytes) {
		p->over = true;	/* recording ended here, perhaps within an event */
	} else if (n->code == HIPEC_RECORD_LOST) {
		p->r->nr_lost = n->number[0];
		end(p, RECORD_LOST, "%llu entries did not fit into the ring and are lost: nothing behind this can be replayed; record with a larger --ring",
		    (unsigned long long)n->number[0]);
	}
	return p->over ? 0 : bytes;
}

static bool is_decision(u8 code)
{
	switch (code) {
	case HIPEC_RECORD_GIVE_UP:
	case HIPEC_RECORD_FLUSH:
	case HIPEC_RECORD_SET_REF:
	case HIPEC_RECORD_SET_MOD:
	case HIPEC_RECORD_MAP:
	case HIPEC_RECORD_UNMAP:
	case HIPEC_RECORD_REQUEST:
	case HIPEC_RECORD_PREFETCH:
	case HIPEC_RECORD_TAKE:
		return true;
	}
	return false;
}

static void differ(struct replayer *p, const u8 *entry, u32 nr)
{
	char has[200], does[200];
	struct hipec_text text;
	struct record_item n;

	if (!peek(p, &n))
		return;
	hipec_text_init(&text, has, sizeof(has));
	record_entry_text(&n, &text);
	if (record_entry(entry, entry + nr, &n) <= 0)
		return;
	hipec_text_init(&text, does, sizeof(does));
	record_entry_text(&n, &text);
	end(p, RECORD_DIFFERS, "the record has '%s', replay gives '%s'", has, does);
}

/* The machine tells what it does. */
static void compare(struct hipec_tracer *tracer, const u8 *entry, u32 nr)
{
	struct replayer *p = (struct replayer *)((char *)tracer -
					     offsetof(struct replayer, tracer));

	if (p->over)
		return;
	if ((size_t)(p->end - p->at) < nr &&
	    !memcmp(p->at, entry, p->end - p->at)) {
		p->over = true;
		return;
	}
	if ((size_t)(p->end - p->at) < nr || memcmp(p->at, entry, nr)) {
		differ(p, entry, nr);
		return;
	}
	p->at += nr;
	p->r->nr_entries++;
	p->r->nr_decisions += is_decision(*entry);
}

/* Whether entry @h of the page table exists and has all of @has, none of @not. */
static bool is(const struct replayer *p, u64 h, u16 has, u16 not)
{
	return h && h <= p->vm.nr_pages &&
	       (p->vm.page[h].flags & has) == has &&
	       !(p->vm.page[h].flags & not);
}

/* A page that the host may pass over. */
static bool passable(const struct replayer *p, u64 h)
{
	return is(p, h, HIPEC_PAGE_LIVE, 0) &&
	       !p->vm.queue[p->vm.page[h].queue].key;
}

/* What the host does to the page table. Return: false if @n is nothing of that. */
static bool change(struct replayer *p, const struct record_item *n)
{
	struct hipec_vm *vm = &p->vm;
	u64 a = n->nr ? n->number[0] : 0;
	bool ok = true;

	switch (n->code) {
	case HIPEC_RECORD_ADD:
		ok = a <= UINT32_MAX && !hipec_page_find(vm, a);
		if (ok)
			hipec_page_add_in_event(vm, a);
		break;
	case HIPEC_RECORD_SHOW:
		ok = is(p, a, HIPEC_PAGE_FRAME, HIPEC_PAGE_LIVE);
		if (ok)
			hipec_page_activate(vm, a);
		break;
	case HIPEC_RECORD_HIDE:
		ok = is(p, a, HIPEC_PAGE_LIVE, 0);
		if (ok)
			hipec_page_deactivate(vm, a);
		break;
	case HIPEC_RECORD_DEL:
		ok = is(p, a, HIPEC_PAGE_FRAME, 0);
		if (ok)
			hipec_page_del(vm, a);
		break;
	case HIPEC_RECORD_FORGET:
		ok = is(p, a, 0, HIPEC_PAGE_LIVE);
		if (ok)
			hipec_page_forget(vm, a);
		break;
	case HIPEC_RECORD_FORGET_GONE:
		hipec_page_forget_evicted(vm);
		/* It tells nothing where there is nothing to forget. */
		ok = true;
		break;
	case HIPEC_RECORD_FORGET_RANGE:
		ok = a <= UINT32_MAX && n->number[1] <= UINT32_MAX;
		if (ok)
			hipec_page_forget_range(vm, a, n->number[1]);
		break;
	case HIPEC_RECORD_PASS:
		ok = passable(p, a);
		if (ok)
			hipec_page_pass(vm, a);
		break;
	default:
		return false;
	}
	if (!ok)
		end(p, RECORD_DAMAGED, "page %llu of the table is in no state for what it says",
		    (unsigned long long)a);
	return true;
}

/*
 * The answer to a question that changes the page table on the way. It stays where
 * it is: the machine's own tracer comes to it next.
 */
static u64 answer(struct hipec_vm *vm)
{
	struct replayer *p = replayer_of(vm);
	const u8 *before;
	struct record_item n;

	while (peek(p, &n)) {
		if (n.code == HIPEC_RECORD_ANSWER)
			return n.number[0];
		before = p->at;
		if (!change(p, &n) || p->at == before)
			break;
	}
	return 0;
}

/* The answer to a question about page @h. */
static bool asked(struct hipec_vm *vm, u8 code, u32 h)
{
	struct record_item n;

	return peek(replayer_of(vm), &n) && n.code == code &&
	       n.number[0] == h && n.number[1];
}

static bool replay_evict(struct hipec_vm *vm, u32 h, bool keep)
{
	(void)h;
	(void)keep;
	return answer(vm);
}

static u64 replay_request(struct hipec_vm *vm, u64 nr)
{
	(void)nr;
	return answer(vm);
}

static u32 replay_prefetch(struct hipec_vm *vm, u32 pgno, u32 nr)
{
	(void)pgno;
	(void)nr;
	return answer(vm);
}

/* What the machine relies on: true exactly if the page is live no more. */
static bool replay_take(struct hipec_vm *vm, u32 h)
{
	answer(vm);
	return !hipec_page_live(vm, h);
}

#define PLAY(name, code)                                                \
static bool replay_##name(struct hipec_vm *vm, u32 h)                   \
{                                                                       \
	return asked(vm, HIPEC_RECORD_##code, h);                       \
}
PLAY(flush, FLUSH)
PLAY(ref, REF)
PLAY(mod, MOD)
PLAY(set_mod, SET_MOD)
PLAY(map, MAP)
PLAY(unmap, UNMAP)
#undef PLAY

static void replay_set_ref(struct hipec_vm *vm, u32 h, bool on)
{
	(void)vm;
	(void)h;
	(void)on;
}

static bool replay_overtime(struct hipec_vm *vm)
{
	struct record_item n;

	return peek(replayer_of(vm), &n) && n.code == HIPEC_RECORD_OVERTIME &&
	       n.number[0];
}

static void replay_shared(struct hipec_tracer *tracer, s64 *element)
{
	struct replayer *p = (struct replayer *)((char *)tracer -
					     offsetof(struct replayer, tracer));
	struct record_item n;

	if (peek(p, &n) && n.code == HIPEC_RECORD_SHARED)
		*element = hipec_entry_unfold(n.number[0]);
}

#define PLAYER                                                          \
	.evict = replay_evict, .flush = replay_flush, .ref = replay_ref,\
	.mod = replay_mod, .set_ref = replay_set_ref,                   \
	.set_mod = replay_set_mod, .map = replay_map, .unmap = replay_unmap,\
	.request = replay_request, .prefetch = replay_prefetch

static const struct hipec_host_ops timed_host = {
	PLAYER,
	.overtime = replay_overtime,
};

static const struct hipec_host_ops untimed_host = {
	PLAYER,
};

static void replay_event(struct replayer *p, const struct record_item *n)
{
	struct hipec_vm *vm = &p->vm;
	u32 i, next = 2;

	if (n->number[0] >= HIPEC_NR_EVENTS || vm->exit.kind ||
	    !hipec_vm_has_event(vm, n->number[0])) {
		end(p, RECORD_DAMAGED, "the policy has no event %llu, or has ended",
		    (unsigned long long)n->number[0]);
		return;
	}
	for (i = 0; i < HIPEC_RECORD_INPUTS; i++)
		hipec_tracer_set_input(vm, i, p->tracer.reported[i] +
			(n->number[1] & 1u << i ?
			 (u64)hipec_entry_unfold(n->number[next++]) : 0));
	hipec_tracer_run(vm, n->number[0]);
	p->r->nr_events += !p->over;
}

/* What is none of the page table's. */
static void replay_other(struct replayer *p, const struct record_item *n, int bytes)
{
	struct hipec_vm *vm = &p->vm;
	bool ended = vm->exit.kind;
	u32 pgno;

	if (n->code == HIPEC_RECORD_REGION || n->code == HIPEC_RECORD_TOUCH) {
		p->at += bytes;
		p->r->nr_entries++;
	} else if (n->code == HIPEC_RECORD_RUN) {
		replay_event(p, n);
	} else if (n->code == HIPEC_RECORD_SET_PARAM) {
		if (n->number[0] > UINT32_MAX ||
		    hipec_vm_set_param(vm, n->number[0],
				       hipec_entry_unfold(n->number[1])))
			end(p, RECORD_DAMAGED, "slot %llu is no param that may have that value",
			    (unsigned long long)n->number[0]);
	} else if (n->code == HIPEC_RECORD_EXIT && !ended && n->number[0]) {
		hipec_vm_end(vm, n->number[0]);
	} else if (n->code == HIPEC_RECORD_ABANDON && ended) {
		hipec_vm_abandon(vm);
	} else if (n->code == HIPEC_RECORD_FIFO2 && hipec_fifo2_rules(vm)) {
		hipec_fifo2_replace(vm, replay_take, &pgno);
	} else {
		end(p, RECORD_DAMAGED, "entry %02x is out of place", n->code);
	}
}

static void play(struct replayer *p)
{
	struct record_item n;
	const u8 *before;
	int bytes;

	while ((bytes = peek(p, &n))) {
		before = p->at;
		if (!change(p, &n))
			replay_other(p, &n, bytes);
		if (!p->over && p->at == before)
			end(p, RECORD_DAMAGED, "entry %02x does nothing here",
			    n.code);
	}
}

static const char *replay(struct replayer *p, const struct hipec_record_head *head,
			  const u8 *bytes, void *image)
{
	struct hipec_policy policy;
	const char *why = record_policy(&policy, head, image);
	void *memory, *shared;

	if (why)
		return why;
	memcpy(p->r->policy, policy.image->name, sizeof(p->r->policy));
	memory = calloc(1, hipec_vm_table_size(&policy, head->nr_pages));
	shared = calloc(1, policy.shared_size + 1);
	why = "there is not enough memory";
	if (memory && shared) {
		hipec_vm_init_table(&p->vm, &policy,
				    head->timed ? &timed_host : &untimed_host,
				    memory, shared, head->nr_frames,
				    head->nr_pages);
		why = record_restore(&p->vm, head, bytes + sizeof(*head) + head->image_size);
	}
	if (!why) {
		p->tracer.put = compare;
		p->tracer.fill = replay_shared;
		hipec_tracer_open(&p->vm, &p->tracer);
		play(p);
	}
	free(shared);
	free(memory);
	return why;
}

/**
 * record_replay() - do what a record says, and compare
 * @bytes: of one container's record; nothing of them is trusted
 * @size:  of them
 * @r:     filled
 *
 * Return: 0, with the verdict in @r; -ENOMEM.
 */
int record_replay(const u8 *bytes, size_t size, struct record_replay *r)
{
	struct replayer p = { .r = r, .begin = bytes, .end = bytes + size };
	struct hipec_record_head head;
	const char *why = NULL;
	void *image;
	s64 entries;

	memset(r, 0, sizeof(*r));
	hipec_text_init(&p.why, r->why, sizeof(r->why));
	entries = record_head(bytes, size, &head, &p.why);
	if (entries < 0) {
		r->verdict = RECORD_DAMAGED;
		return 0;
	}
	r->id = head.id;
	memcpy(r->comm, head.comm, sizeof(head.comm));
	p.at = bytes + entries;
	image = malloc(head.image_size + 1);	/* for its alignment */
	if (!image)
		return -ENOMEM;
	memcpy(image, bytes + sizeof(head), head.image_size);
	why = replay(&p, &head, bytes, image);
	free(image);
	if (why) {
		r->verdict = RECORD_DAMAGED;
		hipec_text_str(&p.why, why);
	}
	return 0;
}
