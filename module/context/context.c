// SPDX-License-Identifier: GPL-2.0-only
/*
 * Program contexts of faults: context/stack.c on the faulting task's stack.
 *
 * The same few stacks fault again and again. So return addresses are first read
 * through frame pointers with no look at what is mapped there, and their hash finds
 * the context of a walk that was made less than a second ago: what is mapped may
 * have changed since, and then contexts are the old ones for that long.
 *
 * Nothing here sleeps: memory that is not there ends a walk. The build id of a file
 * is found in its first page, if that is in the page cache, as it is when the loader
 * has read it; and remembered.
 *
 * A context tells what a program runs, so a container has those of programs into which its
 * loader may look by other means. What they were made of is kept apart for each (kept.c).
 *
 * Interface:
 * hipec_context_init()    the table of files
 * hipec_context_exit()
 * hipec_context()         of a fault
 * hipec_context_of_call() of a call, as read()
 */
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/highmem.h>
#include <linux/jiffies.h>
#include <linux/moduleparam.h>
#include <linux/nospec.h>
#include <linux/pagemap.h>
#include <linux/sched/coredump.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "../compat.h"
#include "kept.h"

static uint depth = CONTEXT_DEPTH;

static int set_depth(const char *text, const struct kernel_param *param)
{
	return param_set_uint_minmax(text, param, 1, HIPEC_CONTEXT_POINTS);
}

static const struct kernel_param_ops depth_ops = {
	.set = set_depth,
	.get = param_get_uint,
};

module_param_cb(context_depth, &depth_ops, &depth, 0444);
MODULE_PARM_DESC(context_depth, "points of a program context, 1 to 16");

/* Return addresses that a fast walk reads, and words before or behind these. */
#define FAST_FRAMES 16
#define FAST_WORDS 64

#define NR_FAST 512	/* powers of two */
#define NR_FILES 128

/*
 * What a fast walk found, without a lock: an entry that two tasks write at once
 * fails its check. @more: words decide as well, and the entry of their hash has the
 * context; else 0.
 */
struct fast {
	u64 check;
	u64 context;
	u64 more;
};

/* Words of @more: before the frames, and behind. */
#define MORE(lead, tail) ((u64)(lead) << 32 | (tail))
#define LEAD(more) ((u32)((more) >> 32))
#define TAIL(more) ((u32)(more))

/* What a file is, remembered; under files_lock. No container is shown it. */
struct named {
	dev_t dev;
	u32 generation;
	unsigned long ino;
	loff_t size;
	struct timespec64 mtime;
	struct hipec_kept_id id;
};

/* What a walk reads, and for whom. */
struct walked {
	struct mm_struct *mm;
	struct hipec_context_kept *kept;
};

static struct fast fast[NR_FAST];
static DEFINE_SPINLOCK(files_lock);
static struct named *files;

/* Words in a row. Return: false if they are not all there. */
static bool read_words(u64 at, u64 *to, u32 nr)
{
	const u64 __user *from = (const u64 __user *)(uintptr_t)at;
	bool ok = false;
	u32 i;

	if (at > TASK_SIZE_MAX - nr * sizeof(u64))
		return false;
	pagefault_disable();
	if (user_read_access_begin(from, nr * sizeof(u64))) {
		for (i = 0; i < nr; i++)
			unsafe_get_user(to[i], from + i, end);
		ok = true;
end:
		user_read_access_end();
	}
	pagefault_enable();
	return ok;
}

static bool host_words(void *host, u64 at, u64 *words)
{
	return read_words(at, words, HIPEC_STACK_BLOCK);
}

/* Part of a page of @file, if it is in memory. */
static bool read_file(struct file *file, u64 offset, void *to, u32 nr)
{
	struct page *page = find_get_page(file->f_mapping, offset >> PAGE_SHIFT);
	bool there = page && PageUptodate(page);
	void *start;

	if (there) {
		start = kmap_local_page(page);
		memcpy(to, start + offset_in_page(offset), nr);
		kunmap_local(start);
	}
	if (page)
		put_page(page);
	return there;
}

/*
 * A child has none of its parent's code in its page tables until it runs it: then
 * the file has it. Context: expects mmap_lock.
 */
static bool host_code(void *host, u64 at, u64 *bytes)
{
	const struct walked *w = host;
	struct vm_area_struct *vma;
	u64 offset;
	u32 first;

	if (read_words(at, bytes, 1))
		return true;
	vma = find_vma(w->mm, at);
	if (!vma || at < vma->vm_start || vma->vm_end - at < sizeof(*bytes) ||
	    !vma->vm_file || !(vma->vm_flags & VM_EXEC))
		return false;
	offset = at - vma->vm_start + ((u64)vma->vm_pgoff << PAGE_SHIFT);
	first = min_t(u32, sizeof(*bytes), PAGE_SIZE - offset_in_page(offset));
	return read_file(vma->vm_file, offset, bytes, first) &&
	       (first == sizeof(*bytes) ||
		read_file(vma->vm_file, offset + first, (u8 *)bytes + first,
			  sizeof(*bytes) - first));
}

/* From the first page of @file, if it is in memory. Return: false: it is not. */
static bool find_build_id(struct file *file, struct hipec_kept_id *f)
{
	struct page *page = find_get_page(file->f_mapping, 0);
	void *start;

	if (!page)
		return false;
	if (!PageUptodate(page)) {
		put_page(page);
		return false;
	}
	start = kmap_local_page(page);
	f->bytes = hipec_buildid_find(start, PAGE_SIZE, f->id);
	kunmap_local(start);
	put_page(page);
	return true;
}

/* Fill in @id. Return: false if it may be another one the next time. */
static bool fill_kept_id(struct file *file, struct hipec_kept_id *id)
{
	struct name_snapshot name;
	bool sure;

	take_dentry_name_snapshot(&name, file->f_path.dentry);
	id->skip = context_is_left_out(name.name.name);
	id->bytes = 0;
	sure = find_build_id(file, id);
	id->file = id->bytes ? context_hash(CONTEXT_NONE, id->id, id->bytes) :
			       context_hash(CONTEXT_NONE, name.name.name, name.name.len);
	release_dentry_name_snapshot(&name);
	return sure;
}

/* What @file is in contexts. */
static void identify_file(struct file *file, struct hipec_kept_id *id)
{
	struct inode *inode = file_inode(file);
	struct timespec64 mtime = inode_get_mtime(inode);
	loff_t size = i_size_read(inode);
	struct named *n;

	n = &files[(inode->i_ino ^ inode->i_sb->s_dev) % NR_FILES];
	spin_lock(&files_lock);
	if (n->dev != inode->i_sb->s_dev || n->ino != inode->i_ino ||
	    n->generation != inode->i_generation || n->size != size ||
	    !timespec64_equal(&n->mtime, &mtime)) {
		n->dev = 0;
		if (fill_kept_id(file, &n->id))
			n->dev = inode->i_sb->s_dev;
		n->ino = inode->i_ino;
		n->generation = inode->i_generation;
		n->size = size;
		n->mtime = mtime;
	}
	*id = n->id;
	spin_unlock(&files_lock);
}

/* Context: expects mmap_lock. */
static void host_find_map(void *host, u64 at, struct hipec_stack_map *map)
{
	const struct walked *w = host;
	struct vm_area_struct *vma = find_vma(w->mm, at);
	struct hipec_kept_id id;

	if (!vma || at < vma->vm_start) {
		/* Nothing is there, up to the next at least. */
		map->start = at;
		map->end = vma ? vma->vm_start : U64_MAX;
		return;
	}
	map->start = vma->vm_start;
	map->end = vma->vm_end;
	if (!vma->vm_file || !(vma->vm_flags & VM_EXEC))
		return;
	map->code = true;
	map->offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	identify_file(vma->vm_file, &id);
	map->file = id.file;
	map->skip = id.skip;
	if (w->kept && !id.skip)
		hipec_kept_file(w->kept, vma->vm_file, &id);
}

static u64 mix_hash(u64 hash, u64 value)
{
	return ror64(hash ^ value, 29) * 0x9e3779b97f4a7c15ull;
}

/* What tells one address space from another, and for which container, for about a second. */
static u64 key_of(const struct hipec_contexts *t, const struct mm_struct *mm)
{
	return mix_hash(mix_hash((uintptr_t)mm ^ READ_ONCE(t->key), jiffies / HZ),
			(u64)current->tgid << 32 ^ current->self_exec_id);
}

/* @nr: frames that look like some; @end: the word behind the last one. */
struct frames {
	u32 nr;
	u64 end;
};

/*
 * Through frame pointers, for as long as they look like that: stack.c's walk does
 * not go on where this does not. One access to user memory, as opening it is half
 * of the price.
 *
 * The distance is masked besides being tested: a CPU that guesses must not read
 * the kernel's memory.
 */
static u64 hash_frames(const struct pt_regs *regs, u64 hash,
		       struct frames *frames)
{
	u64 low = regs->sp, at = regs->bp, address, distance;
	u64 last = TASK_SIZE_MAX - 2 * sizeof(u64);
	const u64 __user *frame;
	u32 i = 0;

	hash = mix_hash(hash, regs->ip);
	*frames = (struct frames){ 0, low };
	if (low % sizeof(u64) || low > last)
		return hash;
	frame = (const u64 __user *)(uintptr_t)low;
	pagefault_disable();
	if (!user_read_access_begin(frame, 2 * sizeof(u64)))
		goto out;
	for (; i < FAST_FRAMES; i++) {
		distance = at - low;
		if (at % sizeof(u64) || distance > HIPEC_STACK_FRAME)
			break;
		at = low + array_index_nospec(distance, HIPEC_STACK_FRAME + 1);
		if (at > last)
			break;
		frame = (const u64 __user *)(uintptr_t)at;
		low = at + 2 * sizeof(u64);
		unsafe_get_user(address, frame + 1, end);
		unsafe_get_user(at, frame, end);
		hash = mix_hash(hash, address);
		frames->end = low;
	}
end:
	user_read_access_end();
	frames->nr = i;
out:
	pagefault_enable();
	return hash;
}

static bool hash_words(u64 at, u32 nr, u64 *hash)
{
	u64 word[FAST_WORDS];
	u32 i;

	if (nr > FAST_WORDS || !read_words(at, word, nr))
		return false;
	for (i = 0; i < nr; i++)
		*hash = mix_hash(*hash, word[i]);
	return true;
}

/* And with @more. Return: false if it is not there. */
static bool hash_more(const struct pt_regs *regs, const struct frames *frames,
		      u64 more, u64 *hash)
{
	*hash = mix_hash(*hash, regs->bp - regs->sp);
	return hash_words(regs->sp, LEAD(more), hash) &&
	       hash_words(frames->end, TAIL(more), hash);
}

static u64 check_of(u64 key, u64 context, u64 more)
{
	return key ^ context ^ ror64(more, 8);
}

static bool recall_context(u64 key, u64 *context, u64 *more)
{
	const struct fast *f = &fast[key % NR_FAST];

	*context = READ_ONCE(f->context);
	*more = READ_ONCE(f->more);
	return READ_ONCE(f->check) == check_of(key, *context, *more);
}

static void remember_context(u64 key, u64 context, u64 more)
{
	struct fast *f = &fast[key % NR_FAST];

	WRITE_ONCE(f->check, check_of(key, context, more));
	WRITE_ONCE(f->context, context);
	WRITE_ONCE(f->more, more);
}

/*
 * Does what fast walks look at decide? @frames is what they see: of frames, more
 * than a walk takes, perhaps, and then what it scans begins elsewhere.
 */
static bool is_told(const struct hipec_stack *s, const struct frames *frames)
{
	if (s->lead > FAST_WORDS || s->tail > FAST_WORDS)
		return false;
	if (s->tail && (s->frames != frames->nr || (s->lead && !s->frames)))
		return false;
	return s->frames <= FAST_FRAMES &&
	       (s->frames < FAST_FRAMES || s->nr == depth);
}

/* All of it, and remember what it says. Context: expects mmap_lock. */
static noinline u64 walk_user_stack(struct walked *w, const struct pt_regs *regs,
				    const struct frames *frames, u64 key)
{
	const struct hipec_stack_regs from = {
		regs->ip, regs->bp, regs->sp, w->mm->start_stack,
	};
	static const struct hipec_stack_ops ops = {
		.words = host_words, .code = host_code, .map = host_find_map,
	};
	struct hipec_stack_point point[HIPEC_CONTEXT_POINTS];
	struct hipec_stack s;
	u64 context, more;
	u32 nr;

	nr = hipec_stack_walk(&ops, w, &from, point, depth, &s);
	context = hipec_stack_context(point, nr);
	hipec_kept_points(w->kept, context, point, nr);
	if (!is_told(&s, frames))
		return context;
	more = MORE(s.lead, s.tail);
	if (more) {
		remember_context(key, 0, more);
		if (!hash_more(regs, frames, more, &key))
			return context;
	}
	remember_context(key, context, 0);
	return context;
}

/* With mmap_lock, which is held if @locked, if it can be had. */
static u64 walk_locked(struct walked *w, bool locked, const struct pt_regs *regs,
		       const struct frames *frames, u64 key)
{
	u64 context;

	if (locked)
		return walk_user_stack(w, regs, frames, key);
	/* Who has it may wait for what the caller holds: so no waiting. */
	if (!mmap_read_trylock(w->mm))
		return 0;
	context = walk_user_stack(w, regs, frames, key);
	mmap_read_unlock(w->mm);
	return context;
}

/*
 * May the container know what the current task runs? As ptrace() asks: all its user IDs are
 * the loader's, as the real one alone is that of set-user-ID programs too, and the effective one
 * of a server that can be root again. What its user may not read, and what has had more
 * rights before, is not dumpable. Credentials that the kernel has put on for a while, as
 * overlayfs does when it reads a file of a layer, are not the program's: so real_cred.
 */
static bool may_know(const struct hipec_contexts *t, struct mm_struct *mm)
{
	const struct cred *cred = current_real_cred();

	return t->all || (uid_eq(cred->uid, t->uid) && uid_eq(cred->euid, t->uid) &&
			  uid_eq(cred->suid, t->uid) && get_dumpable(mm) == SUID_DUMP_USER);
}

/* Of the current task, in whatever called the kernel. */
static u64 find_context(const struct hipec_contexts *t, bool locked)
{
	const struct pt_regs *regs = task_pt_regs(current);
	struct walked w = { .mm = current->mm, .kept = smp_load_acquire(&t->kept) };
	u64 key, words, context, more;
	struct frames frames;

	if (!w.mm || current->flags & (PF_KTHREAD | PF_IO_WORKER) ||
	    !user_64bit_mode((struct pt_regs *)regs) || !may_know(t, w.mm))
		return 0;
	key = hash_frames(regs, key_of(t, w.mm), &frames);
	if (recall_context(key, &context, &more)) {
		if (!more)
			return context;
		words = key;
		if (hash_more(regs, &frames, more, &words) &&
		    recall_context(words, &context, &more) && !more)
			return context;
	}
	return walk_locked(&w, locked, regs, &frames, key);
}

/**
 * hipec_context() - the program context of a fault
 * @t:   of the region's container
 * @vmf: of a region
 *
 * Where the kernel faults, in read() say, it is the program's call of it.
 *
 * Context: in the fault, with its mmap_lock or VMA lock, before any lock of ours;
 *          does not sleep.
 * Return: the context; 0: it is not known, as of faults on behalf of others, of
 *         32-bit programs, of programs that the loader may not look into, and if
 *         mmap_lock is wanted and another has it.
 * Source: Program Context Specific Buffer Caching with AMP, section 3.3.
 */
u64 hipec_context(const struct hipec_contexts *t, struct vm_fault *vmf)
{
	if (current->mm != vmf->vma->vm_mm || vmf->flags & FAULT_FLAG_REMOTE)
		return 0;
	return find_context(t, !fault_holds_vma_lock(vmf));
}

/**
 * hipec_context_of_call() - the program context of a call, as read()
 * @t: of the file's container
 *
 * Context: process context; does not sleep; the caller may hold any lock.
 * Return: the context; 0: it is not known, as of a worker of io_uring, of a 32-bit
 *         program, of one that the loader may not look into, and if mmap_lock is
 *         wanted and another has it.
 * Source: Program Context Specific Buffer Caching with AMP, section 3.3.
 */
u64 hipec_context_of_call(const struct hipec_contexts *t)
{
	return find_context(t, false);
}

/* Return: 0; -ENOMEM. */
int hipec_context_init(void)
{
	files = kvcalloc(NR_FILES, sizeof(*files), GFP_KERNEL);
	return files ? 0 : -ENOMEM;
}

/* Context: no container is left. */
void hipec_context_exit(void)
{
	kvfree(files);
}
