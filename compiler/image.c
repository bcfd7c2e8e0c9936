// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands -> bytes of the image, as hipec.h describes it. Operands get their
 * slots here: declared ones as check.c numbered them, then temporaries, then
 * constants, both in the order of their first use.
 *
 * Temporaries are named .t0, .t1 and so on, no page .none, and constants by
 * their decimal digits: none can be an identifier, so that a listing reads back.
 *
 * Interface:
 * ampc_image()        make the image
 * ampc_image_write()  put it into a file, whole or not at all
 */
#include <errno.h>
#include <sha2.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ampc.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	      "images are little endian");

/* An operand that is not declared. */
struct extra {
	struct ampc_arg arg;
	u32 slot;
};

/* The image while it grows. */
struct build {
	struct ampc *c;
	struct extra *extra;
	u32 nr_extra, max_extra;
	struct hipec_image head;
	struct hipec_image_operand *operand;
	struct hipec_image_event *event;
	u32 *words, *lines;
	char *strings;
};

static struct extra *find_extra(struct build *b, const struct ampc_arg *arg)
{
	u32 i;

	for (i = 0; i < b->nr_extra; i++)
		if (b->extra[i].arg.kind == arg->kind &&
		    b->extra[i].arg.value == arg->value)
			return &b->extra[i];
	return NULL;
}

static bool is_full(const struct build *b)
{
	return b->c->nr_slots + b->nr_extra > HIPEC_SLOT_SYSTEM;
}

static void add_extra(struct build *b, const struct ampc_arg *arg)
{
	if (is_full(b) || find_extra(b, arg))
		return;
	b->extra = ampc_grow(b->c, b->extra, b->nr_extra, &b->max_extra,
			     sizeof(*b->extra));
	b->extra[b->nr_extra] = (struct extra){
		.arg = *arg,
		.slot = b->c->nr_slots + b->nr_extra,
	};
	b->nr_extra++;
}

static bool is_const(const struct ampc_arg *arg)
{
	return arg->kind == AMPC_ARG_CONST || arg->kind == AMPC_ARG_NONE;
}

/* Give a slot to each temporary, or to each constant, that is used. */
static void collect_extras(struct build *b, bool constants)
{
	const struct ampc_event *ev;
	u32 i, j;

	for (ev = b->c->events; ev; ev = ev->next) {
		for (i = 0; i < ev->code.nr; i++) {
			for (j = 0; j < 3; j++) {
				const struct ampc_arg *arg =
					&ev->code.insn[i].arg[j];

				if (arg->kind != AMPC_ARG_BYTE &&
				    is_const(arg) == constants)
					add_extra(b, arg);
			}
		}
	}
}

/* Number the operands; false, reported, when there are too many. */
static bool number_operands(struct build *b)
{
	const struct ampc_loc file = { 0 };

	collect_extras(b, false);
	collect_extras(b, true);
	b->head.nr_operands = b->c->nr_slots + b->nr_extra;
	if (!is_full(b))
		return true;
	ampc_report(b->c, file, TOO_MANY_OPERANDS, HIPEC_SLOT_SYSTEM);
	ampc_report(b->c, file, OPERANDS_ARE);
	return false;
}

/* Count the words; false, reported, when there are too many. */
static bool count_words(struct build *b)
{
	const struct ampc_event *ev;

	for (ev = b->c->events; ev; ev = ev->next) {
		if (!ev->code.nr)
			continue;
		b->head.nr_events++;
		b->head.nr_words += 1 + ev->code.nr;
		if (b->head.nr_words > HIPEC_MAX_WORDS) {
			ampc_report(b->c, ev->loc, EVENT_LONG, ev->name,
				    HIPEC_MAX_WORDS);
			return false;
		}
	}
	return true;
}

static u32 add_string(struct build *b, const char *s)
{
	u32 offset = b->head.strings_size, len = strlen(s) + 1;

	memcpy(b->strings + offset, s, len);
	b->head.strings_size += len;
	return offset;
}

static void put_declared(struct build *b)
{
	const struct ampc_symbol *sym;

	for (sym = b->c->symbols; sym; sym = sym->next) {
		if (sym->kind != AMPC_OPERAND)
			continue;
		b->operand[sym->slot] = (struct hipec_image_operand){
			.type = sym->type,
			.flags = sym->flags,
			.key = sym->key ? sym->key->slot : 0,
			.name = add_string(b, sym->name),
			.value = sym->value,
			.low = sym->low,
			.high = sym->high,
		};
	}
}

/* What a queue variable stands for until its first Select: any array will do. */
static u32 first_queues(const struct build *b)
{
	const struct ampc_symbol *sym = b->c->symbols;

	while (sym->type != AMPC_QUEUES)
		sym = sym->next;
	return sym->slot;
}

static void put_extras(struct build *b)
{
	static const u8 types[] = {
		[AMPC_ARG_TEMP] = HIPEC_TYPE_INT,
		[AMPC_ARG_PAGE_TEMP] = HIPEC_TYPE_PAGE,
		[AMPC_ARG_QUEUE_TEMP] = HIPEC_TYPE_QUEUE_REF,
		[AMPC_ARG_CONST] = HIPEC_TYPE_INT,
		[AMPC_ARG_NONE] = HIPEC_TYPE_PAGE,
	};
	u32 i;

	for (i = 0; i < b->nr_extra; i++) {
		const struct ampc_arg *arg = &b->extra[i].arg;
		const char *name = ".none";
		s64 value = 0;

		if (arg->kind == AMPC_ARG_QUEUE_TEMP)
			value = first_queues(b);
		if (arg->kind == AMPC_ARG_CONST) {
			value = arg->value;
			name = ampc_printf(b->c, "%lld", (long long)value);
		} else if (arg->kind != AMPC_ARG_NONE) {
			name = ampc_printf(b->c, ".t%u", i);
		}
		b->operand[b->extra[i].slot] = (struct hipec_image_operand){
			.type = types[arg->kind],
			.flags = is_const(arg) ? HIPEC_OPERAND_CONST : 0,
			.name = add_string(b, name),
			.value = value,
		};
	}
}

static u8 arg_byte(struct build *b, const struct ampc_arg *arg)
{
	return arg->kind == AMPC_ARG_BYTE ? arg->value :
					    find_extra(b, arg)->slot;
}

static u32 encode(struct build *b, const struct ampc_insn *in)
{
	u32 w = (u32)in->opcode << 24 | arg_byte(b, &in->arg[0]) << 16;

	/* Commands count from 1: word 0 is the magic. */
	if (hipec_ops[in->opcode].flags & HIPEC_OPF_JUMP)
		return w | (in->target + 1);
	return w | arg_byte(b, &in->arg[1]) << 8 | arg_byte(b, &in->arg[2]);
}

static void put_event(struct build *b, const struct ampc_event *ev,
		      struct hipec_image_event *row, u32 first)
{
	u32 i;

	*row = (struct hipec_image_event){
		.number = ev->number,
		.name = add_string(b, ev->name),
		.first = first,
		.nr = 1 + ev->code.nr,
	};
	b->words[first] = HIPEC_EVENT_MAGIC;
	b->lines[first] = ev->loc.line;
	for (i = 0; i < ev->code.nr; i++) {
		b->words[first + 1 + i] = encode(b, &ev->code.insn[i]);
		b->lines[first + 1 + i] = ev->code.insn[i].line;
	}
}

/* Events by their numbers, whatever their order in the source. */
static void put_events(struct build *b)
{
	const struct ampc_event *ev;
	u32 number, row = 0, first = 0;

	for (number = 0; number < HIPEC_NR_EVENTS; number++) {
		for (ev = b->c->events; ev; ev = ev->next) {
			if (ev->number != number || !ev->code.nr)
				continue;
			put_event(b, ev, &b->event[row++], first);
			first += 1 + ev->code.nr;
		}
	}
}

/* What the commands and declarations use of the host. */
static u32 needs_of(const struct build *b)
{
	const struct hipec_policy p = {
		.image = &b->head, .operand = b->operand, .event = b->event,
		.words = b->words,
	};

	return hipec_needs_of(&p);
}

static void append(struct ampc *c, const void *bytes, size_t size)
{
	memcpy(c->image + c->image_size, bytes, size);
	c->image_size += size;
}

static void join_sections(struct build *b)
{
	const size_t operands = b->head.nr_operands * sizeof(*b->operand);
	const size_t events = b->head.nr_events * sizeof(*b->event);
	const size_t words = b->head.nr_words * sizeof(*b->words);
	struct ampc *c = b->c;

	b->head.image_size = sizeof(b->head) + operands + events + 2 * words +
			     b->head.strings_size;
	c->image = ampc_alloc(c, b->head.image_size);
	append(c, &b->head, sizeof(b->head));
	append(c, b->operand, operands);
	append(c, b->event, events);
	append(c, b->words, words);
	append(c, b->lines, words);
	append(c, b->strings, b->head.strings_size);
}

/**
 * ampc_image() - make the image of a policy
 * @c: compilation with the code of its events; gets the image
 *
 * Return: 0; -E2BIG, reported, when the policy does not fit into one.
 */
int ampc_image(struct ampc *c)
{
	struct build b = {
		.c = c,
		.head = {
			.magic = HIPEC_IMAGE_MAGIC,
			.version = HIPEC_IMAGE_VERSION,
			.header_size = sizeof(struct hipec_image),
		},
	};
	SHA2_CTX sha;

	if (!number_operands(&b) || !count_words(&b))
		return -E2BIG;
	b.head.nr_lines = b.head.nr_words;
	if (ampc_event_find(c, hipec_vm_event_text(HIPEC_EVENT_TIMER)))
		b.head.timer_ms = ampc_setting_value(c, AMPC_TIMER);
	b.head.ghosts = ampc_setting_value(c, AMPC_GHOSTS);
	memcpy(b.head.name, c->policy, sizeof(b.head.name));
	b.operand = ampc_alloc(c, b.head.nr_operands * sizeof(*b.operand));
	b.event = ampc_alloc(c, b.head.nr_events * sizeof(*b.event));
	b.words = ampc_alloc(c, b.head.nr_words * sizeof(*b.words));
	b.lines = ampc_alloc(c, b.head.nr_words * sizeof(*b.lines));
	/* Every name is an identifier, or shorter than one. */
	b.strings = ampc_alloc(c, (b.head.nr_operands + b.head.nr_events) *
			       (AMPC_MAX_NAME + 1));
	put_declared(&b);
	put_extras(&b);
	put_events(&b);
	b.head.needs = needs_of(&b);
	SHA256Init(&sha);
	SHA256Update(&sha, (const u8 *)c->source.text, c->source.size);
	SHA256Final(b.head.source_hash, &sha);
	join_sections(&b);
	return 0;
}

static int write_all(const struct ampc *c, FILE *out)
{
	int ret = 0;

	if (fwrite(c->image, 1, c->image_size, out) != c->image_size ||
	    fflush(out))
		ret = -errno;
	return ret;
}

/* Write beside @file and move the result in place. */
static int write_beside(struct ampc *c, const char *file)
{
	char *tmp = ampc_printf(c, "%s.XXXXXX", file);
	mode_t mask = umask(0);
	int fd, ret;
	FILE *out;

	umask(mask);
	fd = mkstemp(tmp);
	if (fd < 0)
		return -errno;
	out = fdopen(fd, "wb");
	if (!out) {
		ret = -errno;
		close(fd);
		goto out_unlink;
	}
	ret = write_all(c, out);
	if (!ret && fchmod(fd, 0666 & ~mask))
		ret = -errno;
	if (fclose(out) && !ret)
		ret = -errno;
	if (!ret && rename(tmp, file))
		ret = -errno;
	if (!ret)
		return 0;
out_unlink:
	unlink(tmp);
	return ret;
}

static int write_file(struct ampc *c, const char *file)
{
	struct stat st;
	char *real;
	FILE *out;
	int ret;

	if (stat(file, &st))
		return write_beside(c, file);
	/* A device or a pipe is written to, not replaced. */
	if (!S_ISREG(st.st_mode)) {
		out = fopen(file, "wb");
		if (!out)
			return -errno;
		ret = write_all(c, out);
		fclose(out);
		return ret;
	}
	real = realpath(file, NULL);
	if (!real)
		return -errno;
	ret = write_beside(c, real);
	free(real);
	return ret;
}

/**
 * ampc_image_write() - write the image
 * @c:    compilation with an image
 * @file: path; the file is replaced as a whole, or stays as it was
 *
 * Return: 0; -errno, reported, of the step that failed.
 */
int ampc_image_write(struct ampc *c, const char *file)
{
	int ret = write_file(c, file);

	if (ret) {
		c->source.file = file;
		ampc_report(c, (struct ampc_loc){ 0 }, CANNOT_WRITE,
			    strerror(-ret));
	}
	return ret;
}
