// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command's end of the channel: the file is made before programs run, and is
 * a trace when they have ended.
 */
#define _GNU_SOURCE	/* mkostemp(), asprintf(), tdestroy() */
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chanin.h"

static int init_locks(struct tracechan_head *head)
{
	pthread_mutexattr_t attributes;
	int i, ret = pthread_mutexattr_init(&attributes);

	if (ret)
		return -ret;
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	for (i = 0; i < TRACECHAN_LOCKS && !ret; i++)
		ret = pthread_mutex_init(&head->lock[i], &attributes);
	pthread_mutexattr_destroy(&attributes);
	return -ret;
}

/**
 * trace_chan_make() - make a channel
 * @c:   filled; trace_chan_free() it, also after an error
 * @dir: where its file goes
 *
 * Return: 0; -errno of the file.
 */
int trace_chan_make(struct tracechan *c, const char *dir)
{
	char *full = realpath(dir, NULL);

	*c = (struct tracechan){ .fd = -1 };
	if (!full)
		return -errno;
	if (asprintf(&c->path, "%s/hipec-trace-XXXXXX", full) < 0)
		c->path = NULL;
	free(full);
	if (!c->path)
		return -ENOMEM;
	c->fd = mkostemp(c->path, O_CLOEXEC);
	if (c->fd < 0) {
		free(c->path);
		c->path = NULL;
		return -errno;
	}
	if (fallocate(c->fd, 0, 0, TRACECHAN_HEAD))
		return -errno;
	c->head = mmap(NULL, TRACECHAN_HEAD, PROT_READ | PROT_WRITE, MAP_SHARED,
		       c->fd, 0);
	if (c->head == MAP_FAILED) {
		c->head = NULL;
		return -errno;
	}
	c->head->magic = TRACECHAN_MAGIC;
	return init_locks(c->head);
}

void trace_chan_free(struct tracechan *c)
{
	if (c->head)
		munmap(c->head, TRACECHAN_HEAD);
	if (c->fd >= 0)
		close(c->fd);
	if (c->path)
		unlink(c->path);
	free(c->path);
}

/* What is known by its id: files, and processes whose program is not heard of. */
struct known {
	u64 id;			/* first, so that an id finds it */
	s64 file;		/* -1: not accessed so far */
	char *name;
	bool silent;
};

struct reader {
	struct trace_in *r;
	struct tracechan_found *found;
	struct trace_files files;
	void *names, *processes;	/* trees of struct known */
	const struct tracechan_slot *slot;
	u64 nr;
};

static int by_id(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static struct known *know(void **tree, u64 id)
{
	struct known **found = tsearch(&id, tree, by_id), *new;

	if (!found)
		return NULL;
	if ((void *)*found != &id)
		return *found;
	new = calloc(1, sizeof(*new));
	if (!new) {
		tdelete(&id, tree, by_id);
		return NULL;
	}
	*new = (struct known){ .id = id, .file = -1 };
	*found = new;
	return new;
}

static void forget(void *known)
{
	free(((struct known *)known)->name);
	free(known);
}

/* The text that begins in slot @i; its parts are in slots of the same kind. */
static char *text_at(const struct reader *d, u64 i)
{
	const struct tracechan_slot *first = &d->slot[i];
	char *text = NULL, *more;
	u64 n = 0;

	do {
		more = realloc(text, (n + 1) * TRACECHAN_TEXT + 1);
		if (!more) {
			free(text);
			return NULL;
		}
		text = more;
		memcpy(text + n * TRACECHAN_TEXT, first[n].text, TRACECHAN_TEXT);
		n++;
		text[n * TRACECHAN_TEXT] = 0;
	} while (strlen(text) == n * TRACECHAN_TEXT && i + n < d->nr &&
		 first[n].kind == first->kind && first[n].id == first->id &&
		 first[n].part == n);
	for (more = text; *more; more++)
		if (*more < ' ' || *more > '~')
			*more = '?';
	return text;
}

/* Names of files, and which programs said nothing: before any access is looked at. */
static int read_record(struct reader *d, u64 i)
{
	const struct tracechan_slot *slot = &d->slot[i];
	bool of_file = slot->kind == TRACECHAN_NAME;
	struct known *k;

	if (slot->kind < TRACECHAN_NAME || slot->part)
		return 0;
	k = know(of_file ? &d->names : &d->processes, slot->id);
	if (!k)
		return -ENOMEM;
	if (of_file && k->name)
		return 0;
	if (slot->kind == TRACECHAN_STARTED) {
		/* Also of what is said to have been spawned only later. */
		k->file = 0;
		k->silent = false;
		return 0;
	}
	if (slot->kind == TRACECHAN_SPAWNED && !k->file)
		return 0;
	k->silent = slot->kind != TRACECHAN_EXEC_FAILED;
	free(k->name);
	k->name = text_at(d, i);
	return k->name ? 0 : -ENOMEM;
}

/* A name for a file, not the same as that of another one. */
static s64 add_file(struct reader *d, const struct known *k)
{
	const char *name = k->name && *k->name ? k->name : "unknown";
	size_t nr = d->files.nr_files, i;
	char *other = NULL;
	s64 file = trace_file(d->r, &d->files, name);

	for (i = 2; file >= 0 && d->files.nr_files == nr; i++) {
		free(other);
		if (asprintf(&other, "%s (%zu)", name, i) < 0)
			return -ENOMEM;
		file = trace_file(d->r, &d->files, other);
	}
	free(other);
	return file;
}

static int read_access(struct reader *d, const struct tracechan_slot *slot)
{
	struct known *k;

	d->found->nr_lost -= slot->kind != TRACECHAN_EMPTY;
	if (slot->kind != TRACECHAN_READ && slot->kind != TRACECHAN_WRITE)
		return 0;
	k = know(&d->names, slot->id);
	if (!k)
		return -ENOMEM;
	if (k->file < 0) {
		k->file = add_file(d, k);
		if (k->file < 0)
			return k->file;
		d->files.file[k->file].own = true;
	}
	d->files.file[k->file].own &= slot->own;
	d->files.context = slot->context;
	return trace_access(d->r, &d->files, k->file, slot->offset, slot->bytes,
			    slot->kind == TRACECHAN_WRITE);
}

static int by_place(const void *a, const void *b)
{
	const struct tracechan_slot *x = *(const struct tracechan_slot *const *)a;
	const struct tracechan_slot *y = *(const struct tracechan_slot *const *)b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Each page of each file once, however often it was mapped. */
static int count_untraced(struct reader *d)
{
	const struct tracechan_slot **map;
	u64 i, nr = 0, id = 0, end = 0;

	for (i = 0; i < d->nr; i++)
		nr += d->slot[i].kind == TRACECHAN_UNTRACED;
	map = calloc(nr + 1, sizeof(*map));
	if (!map)
		return -ENOMEM;
	for (i = 0, nr = 0; i < d->nr; i++)
		if (d->slot[i].kind == TRACECHAN_UNTRACED)
			map[nr++] = &d->slot[i];
	qsort(map, nr, sizeof(*map), by_place);
	for (i = 0; i < nr; i++) {
		const struct tracechan_slot *s = map[i];
		u64 last = (s->offset + s->bytes + 4095) & -4096ull;

		if (s->id != id) {
			id = s->id;
			end = 0;
			d->found->untraced_files++;
		}
		if (last > end)
			d->found->untraced_bytes +=
				last - (s->offset > end ? s->offset : end);
		end = last > end ? last : end;
	}
	free(map);
	return 0;
}

static void say_silent(const void *node, VISIT visit, void *closure)
{
	const struct known *k = *(const struct known *const *)node;
	struct tracechan_found *found = closure;

	if ((visit == postorder || visit == leaf) && k->silent) {
		found->nr_silent++;
		found->silent(k->name, found);
	}
}

static int read_all(struct reader *d, struct trace *t)
{
	struct known *first = know(&d->processes, d->found->process);
	int ret = 0;
	u64 i;

	if (!first)
		return -ENOMEM;
	first->silent = true;
	first->name = strdup(d->found->program);
	if (!first->name)
		return -ENOMEM;
	for (i = 0; i < d->nr && !ret; i++)
		ret = read_record(d, i);
	for (i = 0; i < d->nr && !ret; i++)
		ret = read_access(d, &d->slot[i]);
	if (!ret)
		ret = count_untraced(d);
	if (!ret)
		ret = trace_files_end(d->r, &d->files, t);
	/* What a program said of itself may be among what there was no room for. */
	if (!ret && !d->found->no_room)
		twalk_r(d->processes, say_silent, d->found);
	return ret;
}

/**
 * trace_chan_read() - what came through a channel
 * @c:     channel; nobody writes into it any more
 * @t:     gets the accesses; trace_free() it, also after an error
 * @found: filled where it is not given
 * @err:   filled for -EINVAL
 *
 * Return: 0; -EINVAL with @err, above the limits of a trace; -ENOMEM; another
 *         errno of the file.
 */
int trace_chan_read(struct tracechan *c, struct trace *t,
		    struct tracechan_found *found, struct trace_error *err)
{
	const struct trace_options options = { 0 };
	struct trace_in r = { .err = err, .options = &options };
	struct reader d = { .r = &r, .found = found };
	void *memory = NULL;
	struct stat st;
	int ret;

	*err = (struct trace_error){ 0 };
	found->nr_lost = c->head->nr_slots;
	found->nr_uring = c->head->nr_uring;
	found->nr_aio = c->head->nr_aio;
	found->rings = c->head->rings;
	found->direct_bytes = c->head->direct_bytes;
	if (fstat(c->fd, &st))
		return -errno;
	if (st.st_size > TRACECHAN_HEAD) {
		memory = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, c->fd, 0);
		if (memory == MAP_FAILED)
			return -errno;
		d.slot = (void *)((char *)memory + TRACECHAN_HEAD);
		d.nr = (st.st_size - TRACECHAN_HEAD) / sizeof(*d.slot);
	}
	found->no_room = d.nr < c->head->nr_slots;
	if (!found->no_room)
		d.nr = c->head->nr_slots;
	ret = read_all(&d, t);
	trace_files_free(&d.files);
	tdestroy(d.names, forget);
	tdestroy(d.processes, forget);
	if (memory)
		munmap(memory, st.st_size);
	return ret;
}
