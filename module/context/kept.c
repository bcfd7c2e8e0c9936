// SPDX-License-Identifier: GPL-2.0-only
/*
 * What program contexts were made of: points, and files with their paths. Each container
 * has a table of its own, as another one's owner may know less of what programs run; and
 * none before a process samples it.
 *
 * Interface:
 * hipec_context_begin()   a container's: the caller loads it
 * hipec_context_end()
 * hipec_context_keep()    have points kept, for hipec_context_points()
 * hipec_context_points()  what a context was made of
 * hipec_context_file()    what its files are
 * and for context.c:
 * hipec_kept_points()     a stack was walked
 * hipec_kept_file()       a file was met in it
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "kept.h"

#define NR_KEPT 512
#define NR_PATHS 128

/* Points of a context. */
struct kept {
	u64 context;
	u32 nr;
	struct hipec_stack_point point[HIPEC_CONTEXT_POINTS];
};

/* What a container's contexts were made of, of late; all under @lock. */
struct hipec_context_kept {
	spinlock_t lock;
	struct kept kept[NR_KEPT];
	struct hipec_context_file file[NR_PATHS];
	char text[PATH_MAX];
};

/* Context: expects kept->lock. */
static void keep_path(struct hipec_context_kept *kept, struct file *file,
		      struct hipec_context_file *f)
{
	const char *path = file_path(file, kept->text, sizeof(kept->text));
	size_t len;

	if (IS_ERR(path))
		path = "?";
	len = strlen(path);
	if (len > sizeof(f->path)) {
		path += len - sizeof(f->path);
		len = sizeof(f->path);
	}
	memcpy(f->path, path, len);
	f->path_bytes = len;
}

/* Where file @id is, or may be put: with all in use, where it would best be. */
static u32 place_of_path(const struct hipec_context_kept *kept, u64 id)
{
	u32 i, at;

	for (i = 0; i < NR_PATHS; i++) {
		at = (id + i) % NR_PATHS;
		if (kept->file[at].file == id || !kept->file[at].path_bytes)
			return at;
	}
	return id % NR_PATHS;
}

/* The path that @file has where it is met first. */
void hipec_kept_file(struct hipec_context_kept *kept, struct file *file,
		     const struct hipec_kept_id *id)
{
	struct hipec_context_file *f;

	spin_lock(&kept->lock);
	f = &kept->file[place_of_path(kept, id->file)];
	if (f->file != id->file || !f->path_bytes) {
		f->file = id->file;
		f->id_bytes = id->bytes;
		memcpy(f->id, id->id, id->bytes);
		keep_path(kept, file, f);
	}
	spin_unlock(&kept->lock);
}

/* What @context was made of. @kept: NULL: that is not wanted. */
void hipec_kept_points(struct hipec_context_kept *kept, u64 context,
		       const struct hipec_stack_point *point, u32 nr)
{
	struct kept *k;

	if (!kept || !context)
		return;
	k = &kept->kept[context % NR_KEPT];
	spin_lock(&kept->lock);
	k->context = context;
	k->nr = nr;
	memcpy(k->point, point, nr * sizeof(*point));
	spin_unlock(&kept->lock);
}

/**
 * hipec_context_keep() - have the points of contexts kept from now on
 * @t: of a container
 *
 * Context: process context, may sleep. The caller's cgroup is charged.
 * Return: 0; -ENOMEM.
 */
int hipec_context_keep(struct hipec_contexts *t)
{
	struct hipec_context_kept *kept;

	if (!smp_load_acquire(&t->kept)) {
		kept = kvzalloc(sizeof(*kept), GFP_KERNEL_ACCOUNT);
		if (!kept)
			return -ENOMEM;
		spin_lock_init(&kept->lock);
		if (cmpxchg(&t->kept, NULL, kept))
			kvfree(kept);
	}
	/* What is remembered was not kept: all stacks are walked once more. */
	WRITE_ONCE(t->key, get_random_u64());
	return 0;
}

/**
 * hipec_context_points() - what a context was made of
 * @t:       of the container that has it
 * @context: that hipec_context() gave
 * @point:   gets HIPEC_CONTEXT_POINTS at most
 *
 * Context: any but interrupts.
 * Return: points; 0 if they are not kept any more.
 */
u32 hipec_context_points(const struct hipec_contexts *t, u64 context,
			 struct hipec_stack_point *point)
{
	struct hipec_context_kept *kept = smp_load_acquire(&t->kept);
	struct kept *k;
	u32 nr = 0;

	if (!kept || !context)
		return 0;
	k = &kept->kept[context % NR_KEPT];
	spin_lock(&kept->lock);
	if (k->context == context) {
		nr = k->nr;
		memcpy(point, k->point, nr * sizeof(*point));
	}
	spin_unlock(&kept->lock);
	return nr;
}

/**
 * hipec_context_file() - what a file of a point is
 * @t:    of the container that has the point
 * @id:   of the point
 * @file: is filled
 *
 * Context: any but interrupts.
 * Return: false if it is not known any more.
 */
bool hipec_context_file(const struct hipec_contexts *t, u64 id,
			struct hipec_context_file *file)
{
	struct hipec_context_kept *kept = smp_load_acquire(&t->kept);
	const struct hipec_context_file *f;
	bool found;

	if (!kept)
		return false;
	spin_lock(&kept->lock);
	f = &kept->file[place_of_path(kept, id)];
	found = f->file == id && f->path_bytes;
	if (found)
		*file = *f;
	spin_unlock(&kept->lock);
	return found;
}

/**
 * hipec_context_begin() - a container has the contexts of its loader's programs
 * @t: of a container that the caller loads, whose credentials decide
 *
 * Those of all programs, where the loader could as well trace them.
 */
void hipec_context_begin(struct hipec_contexts *t)
{
	t->uid = current_uid();
	t->all = ns_capable_noaudit(&init_user_ns, CAP_SYS_PTRACE);
	t->key = get_random_u64();
}

/* Context: of a container that nobody uses. */
void hipec_context_end(struct hipec_contexts *t)
{
	kvfree(t->kept);
	t->kept = NULL;
}
