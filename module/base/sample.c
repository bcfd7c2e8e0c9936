// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples of live containers: which page, from which program context, of the pages
 * that a hash picks; into a ring, which a descriptor of its own gives to read.
 * uapi/hipec_sample.h has what is told. As with records, what does not fit is
 * dropped and counted, and the descriptor does not keep the container alive.
 *
 * Interface:
 * hipec_sample_start()  a descriptor's file
 * __hipec_sample_note()  an access
 * hipec_sample_end()    there is nothing more to tell
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "../include/uapi/hipec_sample.h"
#include "base.h"
#include "ring.h"

static_assert(HIPEC_SAMPLE_MAX_POINTS == HIPEC_CONTEXT_POINTS);
static_assert(HIPEC_SAMPLE_MAX_PATH == HIPEC_CONTEXT_PATH);
static_assert(HIPEC_SAMPLE_MAX_ID == HIPEC_BUILD_ID_MAX);
static_assert(sizeof(struct hipec_sample_entry) == 32);

#define ENTRY sizeof(struct hipec_sample_entry)

/* What was told and is remembered. */
#define TOLD_CONTEXTS 512
#define TOLD_FILES 64

/* A file is the longest that is told in one go. */
#define TEXT_ENTRIES DIV_ROUND_UP(HIPEC_BUILD_ID_MAX + HIPEC_CONTEXT_PATH, ENTRY)

/**
 * struct hipec_sampler - samples of one container on their way
 * @listener:  has the file
 * @ring:      what is told
 * @threshold: of the pages' hashes, invariant
 * @events:    accesses up to now
 * @lost:      samples that did not fit since the last one that did; the container's
 *             until the ring has ended, then the readers'
 * @contexts:  that were told, by remainder
 * @files:     likewise
 * @group:     what is written next
 *
 * Under the container's lock, but for the ring.
 */
struct hipec_sampler {
	struct hipec_listener listener;
	struct hipec_ring ring;
	u64 threshold;
	u64 events;
	u64 lost;
	u64 contexts[TOLD_CONTEXTS];
	u64 files[TOLD_FILES];
	struct hipec_sample_entry group[2 + HIPEC_CONTEXT_POINTS + TEXT_ENTRIES];
};

static void sampler_free(struct kref *ref)
{
	struct hipec_sampler *s = container_of(ref, struct hipec_sampler, listener.ref);

	hipec_ring_free(&s->ring);
	kvfree(s);
}

/*
 * All of s->group from the second on, @nr entries, or nothing; the first says what
 * was lost before.
 */
static bool write_group(struct hipec_sampler *s, u32 nr)
{
	u32 skip = s->lost ? 0 : 1;

	if ((nr + 1 - skip) * ENTRY > hipec_ring_room(&s->ring))
		return false;
	s->group[0] = (struct hipec_sample_entry){
		.kind = HIPEC_SAMPLE_LOST, .what = s->lost,
	};
	hipec_ring_write(&s->ring, s->group + skip, (nr + 1 - skip) * ENTRY);
	s->lost = 0;
	return true;
}

/* Return: false: no room. */
static bool tell_file(struct hipec_sampler *s, const struct hipec_contexts *t, u64 id)
{
	u64 *told = &s->files[id % TOLD_FILES];
	struct hipec_context_file file = { .file = id };
	struct hipec_sample_entry *e = s->group + 1;
	u32 text;

	if (*told == id)
		return true;
	hipec_context_file(t, id, &file);
	text = DIV_ROUND_UP(file.id_bytes + file.path_bytes, ENTRY);
	memset(e, 0, (1 + text) * ENTRY);
	e->kind = HIPEC_SAMPLE_FILE;
	e->index = file.id_bytes;
	e->nr = file.path_bytes;
	e->what = id;
	memcpy(e + 1, file.id, file.id_bytes);
	memcpy((u8 *)(e + 1) + file.id_bytes, file.path, file.path_bytes);
	if (!write_group(s, 1 + text))
		return false;
	*told = id;
	return true;
}

/* Return: false: no room. */
static bool tell_context(struct hipec_sampler *s, const struct hipec_contexts *t, u64 context)
{
	struct hipec_stack_point point[HIPEC_CONTEXT_POINTS];
	u64 *told = &s->contexts[context % TOLD_CONTEXTS];
	u32 nr, i;

	if (!context || *told == context)
		return true;
	nr = hipec_context_points(t, context, point);
	for (i = 0; i < nr; i++)
		if (!tell_file(s, t, point[i].file))
			return false;
	s->group[1] = (struct hipec_sample_entry){
		.kind = HIPEC_SAMPLE_POINT, .what = context,
	};
	for (i = 0; i < nr; i++)
		s->group[1 + i] = (struct hipec_sample_entry){
			.kind = HIPEC_SAMPLE_POINT, .index = i, .nr = nr,
			.what = context,
			.more = { point[i].file, point[i].offset },
		};
	if (!write_group(s, max(nr, 1u)))
		return false;
	if (nr)
		*told = context;
	return true;
}

/* Of hipec_sample_note(), where somebody samples. */
void __hipec_sample_note(struct hipec_container *c, u32 kind, u32 pgno,
			 bool write)
{
	u64 context = kind == HIPEC_SAMPLE_HARVEST ? 0 : c->core.context;
	struct hipec_sampler *s = c->sampler;
	bool fits;

	lockdep_assert_held(&c->lock);
	s->events++;
	if (hipec_sample_hash(pgno) >= s->threshold)
		return;
	fits = tell_context(s, &c->contexts, context);
	s->group[1] = (struct hipec_sample_entry){
		.kind = kind, .index = write, .nr = pgno, .what = context,
		.more = { s->events },
	};
	if (!fits || !write_group(s, 1))
		s->lost++;
	hipec_ring_wake(&s->ring);
}

/**
 * hipec_sample_end() - end a container's samples, if there are any
 * @c: container
 *
 * Context: process context; expects c->lock.
 */
void hipec_sample_end(struct hipec_container *c)
{
	struct hipec_sampler *s = c->sampler;

	lockdep_assert_held(&c->lock);
	if (!s)
		return;
	WRITE_ONCE(c->sampler, NULL);
	hipec_ring_end(&s->ring);
	hipec_ring_listener_put(&s->listener);
}

/* What is there. Return: bytes; 0 at the end; -EAGAIN: nothing yet. */
static ssize_t read_samples(struct hipec_ring *ring, char __user *buf,
			    size_t count)
{
	struct hipec_sampler *s = container_of(ring, struct hipec_sampler, ring);
	bool ended = hipec_ring_has_ended(ring);
	ssize_t ret = hipec_ring_copy(ring, buf, round_down(count, ENTRY));

	if (ret || !ended)
		return ret ?: -EAGAIN;
	if (!s->lost)
		return 0;
	write_group(s, 0);	/* the ring is empty, and ours alone */
	return hipec_ring_copy(ring, buf, round_down(count, ENTRY));
}

static ssize_t sample_read(struct file *file, char __user *buf, size_t count,
			   loff_t *pos)
{
	struct hipec_sampler *s = file->private_data;

	if (count && count < ENTRY)
		return -EINVAL;
	return hipec_ring_read(&s->ring, file, buf, count, read_samples);
}

static __poll_t sample_poll(struct file *file, poll_table *wait)
{
	struct hipec_sampler *s = file->private_data;

	poll_wait(file, &s->ring.wait, wait);
	return hipec_ring_readable(&s->ring) ? EPOLLIN | EPOLLRDNORM : 0;
}

/* It ends. Context: expects c->lock. */
static void end_sampler_of(struct hipec_container *c, struct hipec_listener *l)
{
	if (c->sampler && l == &c->sampler->listener)
		hipec_sample_end(c);
}

static int sample_release(struct inode *inode, struct file *file)
{
	struct hipec_sampler *s = file->private_data;

	hipec_ring_listener_close(&s->listener);
	return 0;
}

static const struct file_operations sample_fops = {
	.owner = THIS_MODULE,
	.read = sample_read,
	.poll = sample_poll,
	.release = sample_release,
	.llseek = noop_llseek,
};

static struct hipec_sampler *sampler_new(u64 id, u64 threshold, u32 ring)
{
	struct hipec_sampler *s = kvzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);

	if (!s)
		return NULL;
	hipec_ring_listener_init(&s->listener, id, end_sampler_of, sampler_free);
	s->threshold = threshold;
	if (!hipec_ring_init(&s->ring, ring))
		return s;
	hipec_ring_listener_put(&s->listener);
	return NULL;
}

/* From now on. */
static int begin_sampling(struct hipec_container *c, struct hipec_sampler *s)
{
	lockdep_assert_held(&c->lock);
	if (c->sampler && !READ_ONCE(c->sampler->listener.is_closed))
		return -EBUSY;
	if (c->sampler)
		hipec_sample_end(c);
	kref_get(&s->listener.ref);
	WRITE_ONCE(c->sampler, s);
	return 0;
}

/**
 * hipec_sample_start() - sample a container's accesses from now on
 * @c:         container
 * @threshold: a page is sampled if its hash is less; at most HIPEC_SAMPLE_ALL
 * @ring:      bytes, as of hipec_ring_size()
 * @file:      gets the file to read, not yet installed; its release ends it
 *
 * Context: process context, may sleep; takes c->lock.
 * Return: 0; -EINVAL for another @threshold or @ring; -ENODATA before a policy is
 *         loaded; -EBUSY if the container is being sampled; -ENOMEM; -EINTR on a fatal signal;
 *         what making a file returned.
 */
int hipec_sample_start(struct hipec_container *c, u64 threshold, u32 ring,
		       struct file **file)
{
	struct hipec_sampler *s;
	int ret;

	if (threshold > HIPEC_SAMPLE_ALL || hipec_ring_size(&ring))
		return -EINVAL;
	if (!smp_load_acquire(&c->loaded))
		return -ENODATA;
	ret = hipec_context_keep(&c->contexts);
	if (ret)
		return ret;
	s = sampler_new(c->id, threshold, ring);
	if (!s)
		return -ENOMEM;
	*file = anon_inode_getfile("[hipec-sample]", &sample_fops, s, O_RDONLY);
	if (IS_ERR(*file)) {
		hipec_ring_listener_put(&s->listener);
		return PTR_ERR(*file);
	}
	ret = mutex_lock_killable(&c->lock);
	if (!ret) {
		ret = begin_sampling(c, s);
		if (!ret)
			hipec_host_wants(c);
		mutex_unlock(&c->lock);
	}
	if (ret)
		fput(*file);
	return ret;
}
