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
 * Interface:
 * hipec_context_init()    the table of files
 * hipec_context_exit()
 * hipec_context()         of a fault
 * hipec_context_of_call() of a call, as read()
 * hipec_context_keep()    have points kept, for hipec_context_points()
 * hipec_context_points()  what a context was made of
 * hipec_context_file()    what its files are
 */
#include <linux/dcache.h>
#include <linux/highmem.h>
#include <linux/jiffies.h>
#include <linux/moduleparam.h>
#include <linux/nospec.h>
#include <linux/pagemap.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "../compat.h"
#include "context.h"

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
#define NR_KEPT 512

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

/* What a file is called; under files_lock. */
struct named {
	dev_t dev;
	u32 generation;
	unsigned long ino;
	loff_t size;
	struct timespec64 mtime;
	bool skip;
	struct hipec_context_file file;
};

/* Points of a context; under kept_lock. */
struct kept {
	u64 context;
	u32 nr;
	struct hipec_stack_point point[HIPEC_CONTEXT_POINTS];
};

static struct fast fast[NR_FAST];
static DEFINE_SPINLOCK(files_lock);
static struct named *files;
static char path_text[PATH_MAX];	/* under files_lock */
static DEFINE_SPINLOCK(kept_lock);
static struct kept *kept;		/* NULL until somebody wants it */
static u64 kept_since;			/* makes entries of the time before void */

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
	struct vm_area_struct *vma;
	u64 offset;
	u32 first;

	if (read_words(at, bytes, 1))
		return true;
	vma = find_vma(host, at);
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
static bool find_build_id(struct file *file, struct hipec_context_file *f)
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
	f->id_bytes = hipec_elf_build_id(start, PAGE_SIZE, f->id);
	kunmap_local(start);
	put_page(page);
	return true;
}

static void find_path(struct file *file, struct hipec_context_file *f)
{
	const char *path = file_path(file, path_text, sizeof(path_text));
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

/* Fill in @n. Return: false if it may be another one the next time. */
static bool name_file(struct file *file, struct named *n)
{
	struct name_snapshot name;
	bool sure;

	take_dentry_name_snapshot(&name, file->f_path.dentry);
	n->skip = context_is_left_out(name.name.name);
	n->file.id_bytes = 0;
	sure = find_build_id(file, &n->file);
	n->file.file = n->file.id_bytes ?
		context_hash(CONTEXT_NONE, n->file.id, n->file.id_bytes) :
		context_hash(CONTEXT_NONE, name.name.name, name.name.len);
	release_dentry_name_snapshot(&name);
	find_path(file, &n->file);
	return sure;
}

/* What @file is in contexts. */
static void identify(struct file *file, struct hipec_stack_map *map)
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
		if (name_file(file, n))
			n->dev = inode->i_sb->s_dev;
		n->ino = inode->i_ino;
		n->generation = inode->i_generation;
		n->size = size;
		n->mtime = mtime;
	}
	map->file = n->file.file;
	map->skip = n->skip;
	spin_unlock(&files_lock);
}

/* Context: expects mmap_lock. */
static void host_map(void *host, u64 at, struct hipec_stack_map *map)
{
	struct mm_struct *mm = host;
	struct vm_area_struct *vma = find_vma(mm, at);

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
	identify(vma->vm_file, map);
}

static u64 mix(u64 hash, u64 value)
{
	return ror64(hash ^ value, 29) * 0x9e3779b97f4a7c15ull;
}

/* What tells one address space from another, for about a second. */
static u64 key_of(const struct mm_struct *mm)
{
	return mix(mix((uintptr_t)mm ^ READ_ONCE(kept_since), jiffies / HZ),
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

	hash = mix(hash, regs->ip);
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
		hash = mix(hash, address);
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
		*hash = mix(*hash, word[i]);
	return true;
}

/* And with @more. Return: false if it is not there. */
static bool hash_more(const struct pt_regs *regs, const struct frames *frames,
		      u64 more, u64 *hash)
{
	*hash = mix(*hash, regs->bp - regs->sp);
	return hash_words(regs->sp, LEAD(more), hash) &&
	       hash_words(frames->end, TAIL(more), hash);
}

static u64 check_of(u64 key, u64 context, u64 more)
{
	return key ^ context ^ ror64(more, 8);
}

static bool recall(u64 key, u64 *context, u64 *more)
{
	const struct fast *f = &fast[key % NR_FAST];

	*context = READ_ONCE(f->context);
	*more = READ_ONCE(f->more);
	return READ_ONCE(f->check) == check_of(key, *context, *more);
}

static void remember(u64 key, u64 context, u64 more)
{
	struct fast *f = &fast[key % NR_FAST];

	WRITE_ONCE(f->check, check_of(key, context, more));
	WRITE_ONCE(f->context, context);
	WRITE_ONCE(f->more, more);
}

static void keep_points(u64 context, const struct hipec_stack_point *point,
			u32 nr)
{
	struct kept *table = smp_load_acquire(&kept), *k;

	if (!table || !context)
		return;
	k = &table[context % NR_KEPT];
	spin_lock(&kept_lock);
	k->context = context;
	k->nr = nr;
	memcpy(k->point, point, nr * sizeof(*point));
	spin_unlock(&kept_lock);
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
static noinline u64 walk(struct mm_struct *mm, const struct pt_regs *regs,
			 const struct frames *frames, u64 key)
{
	const struct hipec_stack_regs from = {
		regs->ip, regs->bp, regs->sp, mm->start_stack,
	};
	static const struct hipec_stack_ops ops = {
		.words = host_words, .code = host_code, .map = host_map,
	};
	struct hipec_stack_point point[HIPEC_CONTEXT_POINTS];
	struct hipec_stack s;
	u64 context, more;
	u32 nr;

	nr = hipec_stack_walk(&ops, mm, &from, point, depth, &s);
	context = hipec_stack_context(point, nr);
	keep_points(context, point, nr);
	if (!is_told(&s, frames))
		return context;
	more = MORE(s.lead, s.tail);
	if (more) {
		remember(key, 0, more);
		if (!hash_more(regs, frames, more, &key))
			return context;
	}
	remember(key, context, 0);
	return context;
}

/* With mmap_lock, which is held if @locked, if it can be had. */
static u64 walk_locked(struct mm_struct *mm, bool locked, const struct pt_regs *regs,
		       const struct frames *frames, u64 key)
{
	u64 context;

	if (locked)
		return walk(mm, regs, frames, key);
	/* Who has it may wait for what the caller holds: so no waiting. */
	if (!mmap_read_trylock(mm))
		return 0;
	context = walk(mm, regs, frames, key);
	mmap_read_unlock(mm);
	return context;
}

/* Of the current task, in whatever called the kernel. */
static u64 find_context(bool locked)
{
	const struct pt_regs *regs = task_pt_regs(current);
	struct mm_struct *mm = current->mm;
	u64 key, words, context, more;
	struct frames frames;

	if (!mm || current->flags & (PF_KTHREAD | PF_IO_WORKER) ||
	    !user_64bit_mode((struct pt_regs *)regs))
		return 0;
	key = hash_frames(regs, key_of(mm), &frames);
	if (recall(key, &context, &more)) {
		if (!more)
			return context;
		words = key;
		if (hash_more(regs, &frames, more, &words) &&
		    recall(words, &context, &more) && !more)
			return context;
	}
	return walk_locked(mm, locked, regs, &frames, key);
}

/**
 * hipec_context() - the program context of a fault
 * @vmf: of a region
 *
 * Where the kernel faults, in read() say, it is the program's call of it.
 *
 * Context: in the fault, with its mmap_lock or VMA lock, before any lock of ours;
 *          does not sleep.
 * Return: the context; 0: it is not known, as of faults on behalf of others, of
 *         32-bit programs, and if mmap_lock is wanted and another has it.
 * Source: Program Context Specific Buffer Caching with AMP, section 3.3.
 */
u64 hipec_context(struct vm_fault *vmf)
{
	if (current->mm != vmf->vma->vm_mm || vmf->flags & FAULT_FLAG_REMOTE)
		return 0;
	return find_context(!fault_holds_vma_lock(vmf));
}

/**
 * hipec_context_of_call() - the program context of a call, as read()
 *
 * Context: process context; does not sleep; the caller may hold any lock.
 * Return: the context; 0: it is not known, as of a worker of io_uring, of a 32-bit
 *         program, and if mmap_lock is wanted and another has it.
 * Source: Program Context Specific Buffer Caching with AMP, section 3.3.
 */
u64 hipec_context_of_call(void)
{
	return find_context(false);
}

/**
 * hipec_context_keep() - have the points of contexts kept from now on
 *
 * Context: process context, may sleep.
 * Return: 0; -ENOMEM.
 */
int hipec_context_keep(void)
{
	struct kept *table;

	if (!smp_load_acquire(&kept)) {
		table = kvcalloc(NR_KEPT, sizeof(*table), GFP_KERNEL);
		if (!table)
			return -ENOMEM;
		if (cmpxchg(&kept, NULL, table))
			kvfree(table);
	}
	/* What is remembered was not kept: all stacks are walked once more. */
	WRITE_ONCE(kept_since, get_jiffies_64());
	return 0;
}

/**
 * hipec_context_points() - what a context was made of
 * @context: that hipec_context() gave
 * @point:   gets HIPEC_CONTEXT_POINTS at most
 *
 * Context: any but interrupts.
 * Return: points; 0 if they are not kept any more.
 */
u32 hipec_context_points(u64 context, struct hipec_stack_point *point)
{
	struct kept *table = smp_load_acquire(&kept), *k;
	u32 nr = 0;

	if (!table || !context)
		return 0;
	k = &table[context % NR_KEPT];
	spin_lock(&kept_lock);
	if (k->context == context) {
		nr = k->nr;
		memcpy(point, k->point, nr * sizeof(*point));
	}
	spin_unlock(&kept_lock);
	return nr;
}

/**
 * hipec_context_file() - what a file of a point is
 * @id:   of the point
 * @file: is filled
 *
 * Context: any but interrupts.
 * Return: false if it is not known any more.
 */
bool hipec_context_file(u64 id, struct hipec_context_file *file)
{
	bool found = false;
	u32 i;

	spin_lock(&files_lock);
	for (i = 0; i < NR_FILES && !found; i++) {
		found = files[i].file.file == id && files[i].file.path_bytes;
		if (found)
			*file = files[i].file;
	}
	spin_unlock(&files_lock);
	return found;
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
	kvfree(kept);
}
