// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel calls for a file that is taken: copies of the file system's own
 * operation tables, in which a few functions are ours. Each does what the one of the
 * file system does, and says what was touched or missed. A file that is not taken
 * has the file system's tables, and runs none of this.
 *
 * A copy belongs to a table of a file system, not to a file. Open files and maps keep
 * it after the file was let go: then no file is found for the inode, and nothing is
 * said. A task may read the address of a copy, or of a function in it, at any time
 * before it calls that, and v6.1's fops_get() reads a table's address three times, with
 * a reference to the owner of one and the functions of another. So a copy has the owner
 * of its original; no copy is freed; and this module stays from the first copy on.
 *
 * Interface:
 * hipec_hooks_set(), _restore()  of an inode
 * hipec_hooks_has()              whether its calls come here
 * hipec_hooks_file(), _vma(), _copy()  of what was open before
 */
#include <linux/fs.h>
#include <linux/falloc.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "cache.h"

/*
 * A copy of a table; the kind says of which. @was: as it was found: another file system may be loaded
 * to where one was that had the same address.
 */
struct hipec_tables {
	struct list_head link;
	const void *orig;
	union {
		struct file_operations file;
		struct address_space_operations mapping;
		struct vm_operations_struct vm;
	};
	union {
		struct file_operations file;
		struct address_space_operations mapping;
		struct vm_operations_struct vm;
	} was;
};

/* Lists only grow. */
static DEFINE_SPINLOCK(tables_lock);
static LIST_HEAD(file_tables);
static LIST_HEAD(mapping_tables);
static LIST_HEAD(vm_tables);
static bool module_stays;

static const struct file_operations *file_orig(const struct file *file)
{
	return container_of(file->f_op, struct hipec_tables, file)->orig;
}

static const struct vm_operations_struct *
vm_orig(const struct vm_operations_struct *ops)
{
	return container_of(ops, struct hipec_tables, vm)->orig;
}

/*
 * Bytes of the page at @pos that are behind what this descriptor read last, if a read
 * goes on there: to a policy both are one touch, as they are to the kernel's own LRU.
 */
static u32 goes_on(const struct file *file, loff_t pos)
{
	return pos == READ_ONCE(file->f_ra.prev_pos) ? -pos & ~PAGE_MASK : 0;
}

/* @now: more follows in the same call, which holds no lock: the policy hears of this part before. */
static __always_inline ssize_t read_and_note(struct kiocb *iocb, struct iov_iter *to, bool now)
{
	struct file *file = iocb->ki_filp;
	loff_t pos = iocb->ki_pos;
	u32 known = goes_on(file, pos);
	ssize_t ret = file_orig(file)->read_iter(iocb, to);

	if (ret > known && !(iocb->ki_flags & IOCB_DIRECT))
		hipec_deliver_read(file_inode(file), (pos + known) >> PAGE_SHIFT,
				   (pos + ret - 1) >> PAGE_SHIFT, now);
	return ret;
}

/* io_uring, with a lock of its ring's, tries without a wait, and then once more, to be called back. */
static ssize_t read_part(struct kiocb *iocb, struct iov_iter *to)
{
	bool now = !(iocb->ki_flags & (IOCB_NOWAIT | IOCB_WAITQ)) && user_backed_iter(to);

	return read_and_note(iocb, to, now);
}

static ssize_t hook_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	if (likely(iov_iter_count(to) <= HIPEC_READ_AT_ONCE || iocb->ki_flags & IOCB_DIRECT))
		return read_and_note(iocb, to, false);
	return hipec_window_read(iocb, to, read_part);
}

static ssize_t hook_splice_read(struct file *in, loff_t *ppos,
				struct pipe_inode_info *pipe, size_t len,
				unsigned int flags)
{
	loff_t pos = *ppos;
	ssize_t ret = file_orig(in)->splice_read(in, ppos, pipe, len, flags);

	if (ret > 0 && !(in->f_flags & O_DIRECT))
		hipec_deliver_read(file_inode(in), pos >> PAGE_SHIFT, (pos + ret - 1) >> PAGE_SHIFT,
				   false);
	return ret;
}

/*
 * Before a file is written to: pages that are dirty are the kernel's to reclaim, once
 * they are clean, and to make their writers wait for.
 */
static void about_to_write(struct inode *inode)
{
	struct hipec_cfile *f;

	if (!mapping_unevictable(inode->i_mapping))
		return;
	rcu_read_lock();
	f = hipec_table_find(inode);
	if (f) {
		WRITE_ONCE(f->cache->on_lists, true);
		mapping_clear_unevictable(inode->i_mapping);
	}
	rcu_read_unlock();
}

/* The current task's cgroup is about to have folios of a file. May sleep. */
static void join_by_file(struct hipec_cfile *f)
{
	if (unlikely(!hipec_pressure_join(f->cache)))
		hipec_cache_lose(f, HZ);
}

/* The same, and it is about to be written to. */
static void about_to_fill(struct inode *inode)
{
	struct hipec_cfile *f = hipec_table_get(inode);

	if (!f)
		return;
	join_by_file(f);
	hipec_table_put(f);
	about_to_write(inode);
}

static ssize_t hook_write_iter(struct kiocb *iocb, struct iov_iter *from)
{
	struct file *file = iocb->ki_filp;
	struct inode *inode = file_inode(file);
	size_t len = iov_iter_count(from);
	ssize_t ret;

	if (len && !(iocb->ki_flags & (IOCB_DIRECT | IOCB_NOWAIT)))
		about_to_fill(inode);
	else if (len)
		about_to_write(inode);
	ret = file_orig(file)->write_iter(iocb, from);
	if (ret > 0 && !(iocb->ki_flags & IOCB_DIRECT))
		hipec_deliver_written(inode, (iocb->ki_pos - ret) >> PAGE_SHIFT,
				      (iocb->ki_pos - 1) >> PAGE_SHIFT);
	return ret;
}

/*
 * Pages at the ends of a hole are read and zeroed by the file system itself, and no hook tells of
 * them: a worker looks for them, a while later.
 */
static long hook_fallocate(struct file *file, int mode, loff_t offset, loff_t len)
{
	struct inode *inode = file_inode(file);
	struct hipec_cfile *f;
	long ret;

	about_to_write(inode);
	ret = file_orig(file)->fallocate(file, mode, offset, len);
	f = mode & ~FALLOC_FL_KEEP_SIZE ? hipec_table_get(inode) : NULL;
	if (f) {
		hipec_cache_lose(f, HZ);
		hipec_table_put(f);
	}
	return ret;
}

/* Pages that a fault maps around its own at most, as the kernel has it by default. */
#define AROUND 16

/*
 * A fault was served, and neighbours of its page may have been mapped with it: touches
 * of these are no faults. Those behind it, up to one that is not mapped, wait for the
 * next fault, which says how far the reader has come. Those before it are not noted:
 * a reader that goes backwards is heard when they are looked at before they are dropped.
 */
static void note_fault(struct inode *inode, pgoff_t idx, u64 context)
{
	struct hipec_cfile *f;
	u32 nr = 0;

	rcu_read_lock();
	f = hipec_table_find(inode);
	while (f && (idx + nr + 1) % AROUND && idx + nr + 1 < f->nr) {
		struct folio *folio = hipec_folio_at(inode->i_mapping, idx + nr + 1);

		if (!folio || !folio_mapped(folio))
			break;
		nr++;
	}
	if (f && idx < f->nr && hipec_touch_fault(f->cache, f->start + idx, nr,
					       context))
		hipec_deliver_soon(f->cache);
	rcu_read_unlock();
}

/* Of a fault, if the policy or a sampler wants to know. */
static u64 context_of(struct vm_fault *vmf)
{
	struct hipec_cfile *f;
	u64 context = 0;

	rcu_read_lock();
	f = hipec_table_find(file_inode(vmf->vma->vm_file));
	if (f && hipec_cache_wants_context(f->cache))
		context = hipec_context(&f->cache->c->contexts, vmf);
	rcu_read_unlock();
	return context;
}

static vm_fault_t hook_fault(struct vm_fault *vmf)
{
	const struct vm_operations_struct *orig = vm_orig(vmf->vma->vm_ops);
	struct inode *inode = file_inode(vmf->vma->vm_file);
	pgoff_t idx = vmf->pgoff;
	vm_fault_t ret;
	u64 context = context_of(vmf);

	ret = orig->fault(vmf);
	/* With RETRY the map may be gone, and the fault comes again. */
	if (!(ret & (VM_FAULT_ERROR | VM_FAULT_RETRY)))
		note_fault(inode, idx, context);
	return ret;
}

/* Not allowed to sleep. */
static vm_fault_t hook_map_pages(struct vm_fault *vmf, pgoff_t start,
				 pgoff_t end)
{
	const struct vm_operations_struct *orig = vm_orig(vmf->vma->vm_ops);
	vm_fault_t ret = orig->map_pages(vmf, start, end);

	if (ret & VM_FAULT_NOPAGE)
		note_fault(file_inode(vmf->vma->vm_file), vmf->pgoff, context_of(vmf));
	return ret;
}

static vm_fault_t hook_page_mkwrite(struct vm_fault *vmf)
{
	const struct vm_operations_struct *orig = vm_orig(vmf->vma->vm_ops);
	struct inode *inode = file_inode(vmf->vma->vm_file);
	struct hipec_cfile *f;
	vm_fault_t ret;

	about_to_write(inode);
	ret = orig->page_mkwrite(vmf);
	if (ret & (VM_FAULT_ERROR | VM_FAULT_RETRY))
		return ret;
	rcu_read_lock();
	f = hipec_table_find(inode);
	/* The folio may be locked here: nothing but a note. */
	if (f && vmf->pgoff < f->nr &&
	    hipec_touch_note(f->cache, f->start + vmf->pgoff, 1,
			     HIPEC_BY_STORE, 0))
		hipec_deliver_soon(f->cache);
	rcu_read_unlock();
	return ret;
}

static size_t bytes_of(const struct list_head *list)
{
	if (list == &file_tables)
		return sizeof(struct file_operations);
	return list == &mapping_tables ? sizeof(struct address_space_operations) :
					 sizeof(struct vm_operations_struct);
}

/* The copy of table @orig on @list; NULL: there is none. */
static struct hipec_tables *find_table_copy(struct list_head *list, const void *orig)
{
	struct hipec_tables *t;

	list_for_each_entry(t, list, link)
		if (t->orig == orig && !memcmp(&t->was, orig, bytes_of(list)))
			return t;
	return NULL;
}

/*
 * The copy of @orig, which is made and @changed the first time. May sleep.
 * Return: NULL if there is no memory.
 */
static struct hipec_tables *copy_of(struct list_head *list, const void *orig,
				    void (*change)(struct hipec_tables *t))
{
	struct hipec_tables *t, *new;

	spin_lock(&tables_lock);
	t = find_table_copy(list, orig);
	spin_unlock(&tables_lock);
	if (t)
		return t;
	new = kzalloc(sizeof(*new), GFP_KERNEL);
	if (!new)
		return NULL;
	new->orig = orig;
	memcpy(&new->was, orig, bytes_of(list));
	change(new);
	spin_lock(&tables_lock);
	t = find_table_copy(list, orig);
	if (!t)
		list_add(&new->link, list);
	spin_unlock(&tables_lock);
	if (!t)
		return new;
	kfree(new);
	return t;
}

static void change_vm(struct hipec_tables *t)
{
	t->vm = *(const struct vm_operations_struct *)t->orig;
	if (t->vm.fault)
		t->vm.fault = hook_fault;
	if (t->vm.map_pages)
		t->vm.map_pages = hook_map_pages;
	if (t->vm.page_mkwrite)
		t->vm.page_mkwrite = hook_page_mkwrite;
}

/* A file is mapped. If it was taken as it was opened, and is mapped to execute, that was wrong. */
static void note_map(const struct inode *inode, vm_flags_t flags)
{
	struct hipec_cfile *f;

	rcu_read_lock();
	f = hipec_table_find(inode);
	if (f)
		WRITE_ONCE(f->cache->mapped, true);
	if (f && flags & VM_EXEC && f->opened && !f->code) {
		WRITE_ONCE(f->code, true);
		xa_set_mark(&f->cache->slots, hipec_slot_of(f), HIPEC_SLOT_CODE);
		queue_work(hipec_wq, &f->cache->code);
	}
	rcu_read_unlock();
}

static int hook_mmap(struct file *file, struct vm_area_struct *vma)
{
	int ret = file_orig(file)->mmap(file, vma);
	struct hipec_tables *t;

	note_map(file_inode(file), vma->vm_flags);
	if (ret || !vma->vm_ops || vma->vm_ops->fault == hook_fault)
		return ret;
	/* Without memory for a copy its touches are not heard. */
	t = copy_of(&vm_tables, vma->vm_ops, change_vm);
	if (t)
		vma->vm_ops = &t->vm;
	return 0;
}

static void change_file(struct hipec_tables *t)
{
	t->file = *(const struct file_operations *)t->orig;
	if (t->file.read_iter)
		t->file.read_iter = hook_read_iter;
	if (t->file.write_iter)
		t->file.write_iter = hook_write_iter;
	if (t->file.splice_read && !splice_reads_by_read_iter(t->orig))
		t->file.splice_read = hook_splice_read;
	if (t->file.fallocate)
		t->file.fallocate = hook_fallocate;
	if (t->file.mmap)
		t->file.mmap = hook_mmap;
}

/* Whether a table is a copy of ours. */
static bool is_ours(const struct address_space_operations *ops);

/*
 * The file system's own table of a mapping. It may have been restored since the
 * caller of a hook read the copy, or the file system may have set another.
 */
static const struct address_space_operations *
mapping_orig(const struct address_space *mapping)
{
	const struct address_space_operations *ops = READ_ONCE(mapping->a_ops);

	return is_ours(ops) ?
		container_of(ops, struct hipec_tables, mapping)->orig : ops;
}

/* Of a call or fault that reads. */
static u64 context_of_read(const struct hipec_cfile *f)
{
	return hipec_cache_wants_context(f->cache) ?
		hipec_context_of_call(&f->cache->c->contexts) : 0;
}

static void hook_readahead(struct readahead_control *rac)
{
	struct hipec_cfile *f = hipec_table_get(rac->mapping->host);

	if (f) {
		join_by_file(f);
		hipec_cache_read(f, readahead_index(rac), readahead_count(rac),
				 context_of_read(f));
		hipec_window_set(f, rac->ra, readahead_index(rac));
		hipec_table_put(f);
	}
	mapping_orig(rac->mapping)->readahead(rac);
}

static int hook_read_folio(struct file *file, struct folio *folio)
{
	struct address_space *mapping = folio->mapping;
	struct hipec_cfile *f = hipec_table_get(mapping->host);

	if (f) {
		join_by_file(f);
		hipec_cache_read_folio(f, folio, context_of_read(f));
		if (file && READ_ONCE(f->capped))
			hipec_window_set(f, &file->f_ra, folio->index);
		hipec_table_put(f);
	}
	return mapping_orig(mapping)->read_folio(file, folio);
}

static bool is_ours(const struct address_space_operations *ops)
{
	return ops->read_folio == hook_read_folio;
}

static void change_mapping(struct hipec_tables *t)
{
	t->mapping = *(const struct address_space_operations *)t->orig;
	t->mapping.readahead = hook_readahead;
	t->mapping.read_folio = hook_read_folio;
}

/* Whether calls for open files of an inode come here. Context: any. */
bool hipec_hooks_has(const struct inode *inode)
{
	return READ_ONCE(inode->i_fop)->read_iter == hook_read_iter;
}

/**
 * hipec_hooks_stay() - the module cannot be unloaded any more
 *
 * Context: process context, in use.
 */
void hipec_hooks_stay(void)
{
	if (xchg(&module_stays, true))
		return;
	__module_get(THIS_MODULE);
	pr_info("hipec: a file is attached: the module stays loaded until the machine is booted again\n");
}

/**
 * hipec_hooks_set() - have an inode's calls come here first
 * @inode: regular file, whose tables have read_iter, readahead and read_folio
 *
 * Again for one that has ours, nothing is done, or allocated.
 *
 * From the first time on the module cannot be unloaded.
 *
 * Context: process context, may sleep; expects attach_lock.
 * Return: 0; -ENOMEM.
 */
int hipec_hooks_set(struct inode *inode)
{
	struct address_space *mapping = inode->i_mapping;
	struct hipec_tables *file, *ops;

	lockdep_assert_held(&hipec_attach_lock);
	hipec_hooks_stay();
	if (!hipec_hooks_has(inode)) {
		file = copy_of(&file_tables, inode->i_fop, change_file);
		if (!file)
			return -ENOMEM;
		smp_store_release(&inode->i_fop, &file->file);	/* it is whole before it is seen */
	}
	if (!is_ours(mapping->a_ops)) {
		ops = copy_of(&mapping_tables, mapping->a_ops, change_mapping);
		if (!ops)
			return -ENOMEM;
		smp_store_release(&mapping->a_ops, &ops->mapping);
	}
	return 0;
}

/**
 * hipec_hooks_restore() - give an inode its file system's tables back
 * @inode: of hipec_hooks_set(), or one that does not have our tables
 *
 * Tables that are not ours stay.
 *
 * Context: one caller an inode.
 */
void hipec_hooks_restore(struct inode *inode)
{
	const struct address_space_operations *ops = inode->i_mapping->a_ops;
	const struct file_operations *fop = inode->i_fop;

	if (hipec_hooks_has(inode))
		cmpxchg(&inode->i_fop, fop,
			container_of(fop, struct hipec_tables, file)->orig);
	if (is_ours(ops))
		cmpxchg(&inode->i_mapping->a_ops, ops,
			container_of(ops, struct hipec_tables, mapping)->orig);
}

/**
 * hipec_hooks_file() - have an open file's calls come here as well
 * @file: a reference to it is held
 *
 * A call that is under way goes on as it began.
 *
 * Context: any; one caller at a time.
 * Return: true if they do from now on; false if they did before, or if its inode does
 *         not have our table.
 */
bool hipec_hooks_file(struct file *file)
{
	const struct file_operations *fop = READ_ONCE(file_inode(file)->i_fop);

	if (fop->read_iter != hook_read_iter ||
	    file->f_op != container_of(fop, struct hipec_tables, file)->orig)
		return false;
	/* Both have the same owner, to which the file holds a reference. */
	WRITE_ONCE(file->f_op, fop);
	return true;
}

/**
 * hipec_hooks_vma() - have a map's faults come here as well
 * @vma: in the tree of its mapping, whose lock the caller holds
 *
 * Nothing is done if its file does not have our table. Faults look at the pointer without
 * this lock; both tables have the same functions, or ours.
 *
 * Context: expects the lock of the mapping's maps.
 * Return: false if hipec_hooks_copy() is needed first.
 */
bool hipec_hooks_vma(struct vm_area_struct *vma)
{
	const struct vm_operations_struct *ops = vma->vm_ops;
	struct hipec_tables *t;

	if (!ops || ops->fault == hook_fault || vma->vm_file->f_op->mmap != hook_mmap)
		return true;
	note_map(file_inode(vma->vm_file), vma->vm_flags);
	spin_lock(&tables_lock);
	t = find_table_copy(&vm_tables, ops);
	spin_unlock(&tables_lock);
	if (t)
		WRITE_ONCE(vma->vm_ops, &t->vm);
	return t;
}

/* Have a copy of a map's table. May sleep. Return: false if there is no memory. */
bool hipec_hooks_copy(const struct vm_operations_struct *ops)
{
	return copy_of(&vm_tables, ops, change_vm);
}
