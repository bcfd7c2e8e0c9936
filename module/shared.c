// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared arrays: the application maps them from its descriptor of /dev/hipec and
 * writes what the policy reads, without a call for each change.
 *
 * An array belongs to the policy that declares it and to each of its mappings, so
 * it may outlive the policy; the next one that declares it goes on with it.
 *
 * Interface:
 * hipec_shared_alloc(), _free()  the arrays of a policy, by slot
 * hipec_shared_place()           a machine reads them
 * hipec_shared_mmap()            the application's side
 */
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "internal.h"

/**
 * struct hipec_shared - a shared array
 * @ref:    one of the policy, one of each mapping
 * @bytes:  whole pages, invariant
 * @memory: of vmalloc(), invariant
 */
struct hipec_shared {
	struct kref ref;
	u32 bytes;
	void *memory;
};

/* A container's arrays and policy change under it, beside c->lock. */
DEFINE_SPINLOCK(hipec_shared_lock);

static void array_free(struct kref *ref)
{
	struct hipec_shared *a = container_of(ref, struct hipec_shared, ref);

	vfree(a->memory);
	kfree(a);
}

static struct hipec_shared *array_new(u32 nr)
{
	struct hipec_shared *a = kzalloc(sizeof(*a), GFP_KERNEL_ACCOUNT);

	if (!a)
		return NULL;
	kref_init(&a->ref);
	a->bytes = hipec_shared_bytes(nr);
	a->memory = __vmalloc(a->bytes, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (a->memory)
		return a;
	kfree(a);
	return NULL;
}

/* The array of @p's slot that has the name and the length of @o; NULL: none. */
static struct hipec_shared *array_like(const struct hipec_policy *p,
				       struct hipec_shared **array,
				       const struct hipec_image_operand *o,
				       const char *name)
{
	u32 i;

	for (i = 0; array && i < p->image->nr_operands; i++)
		if (array[i] && p->operand[i].value == o->value &&
		    !strcmp(hipec_image_policy_name(p, p->operand[i].name), name))
			return array[i];
	return NULL;
}

/**
 * hipec_shared_alloc() - the shared arrays of a policy
 * @p:         verified policy
 * @old:       policy whose place it takes; NULL: none
 * @old_array: its arrays, or NULL
 * @array:     gets them, by slot; NULL if @p has none
 *
 * One that @old has, of the same name and length, goes on as it is; others are 0.
 *
 * Context: process context, may sleep; nobody frees @old_array meanwhile.
 * Return: 0; -ENOMEM.
 */
int hipec_shared_alloc(const struct hipec_policy *p,
		       const struct hipec_policy *old,
		       struct hipec_shared **old_array,
		       struct hipec_shared ***array)
{
	u32 nr = p->image->nr_operands, i;
	struct hipec_shared **all;

	*array = NULL;
	if (!p->shared_size)
		return 0;
	all = kcalloc(nr, sizeof(*all), GFP_KERNEL_ACCOUNT);
	if (!all)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		const struct hipec_image_operand *o = &p->operand[i];

		if (!(o->flags & HIPEC_OPERAND_SHARED))
			continue;
		all[i] = array_like(old, old_array, o,
				    hipec_image_policy_name(p, o->name));
		if (all[i])
			kref_get(&all[i]->ref);
		else
			all[i] = array_new(o->value);
		if (!all[i]) {
			hipec_shared_free(all, nr);
			return -ENOMEM;
		}
	}
	*array = all;
	return 0;
}

/* A policy reads them no more. @nr: its slots. Context: may sleep. */
void hipec_shared_free(struct hipec_shared **array, u32 nr)
{
	u32 i;

	for (i = 0; array && i < nr; i++)
		if (array[i])
			kref_put(&array[i]->ref, array_free);
	kfree(array);
}

/* Have @vm, whose policy they are of, read them. Context: @vm runs no event. */
void hipec_shared_place(struct hipec_vm *vm, struct hipec_shared **array)
{
	u32 i;

	for (i = 0; array && i < vm->policy->image->nr_operands; i++)
		if (array[i])
			vm->array[vm->slot[i]].element = array[i]->memory;
}

static vm_fault_t shared_fault(struct vm_fault *vmf)
{
	const unsigned int shift = HIPEC_SHARED_SHIFT - PAGE_SHIFT;
	u32 offset = (vmf->pgoff & ((1u << shift) - 1)) << PAGE_SHIFT;
	struct hipec_shared *a = vmf->vma->vm_private_data;

	/* mmap() has checked it, and a mapping cannot grow. */
	if (WARN_ON_ONCE(offset >= a->bytes))
		return VM_FAULT_SIGBUS;
	vmf->page = vmalloc_to_page(a->memory + offset);
	get_page(vmf->page);
	return 0;
}

static void shared_open(struct vm_area_struct *vma)
{
	struct hipec_shared *a = vma->vm_private_data;

	kref_get(&a->ref);
}

static void shared_close(struct vm_area_struct *vma)
{
	struct hipec_shared *a = vma->vm_private_data;

	kref_put(&a->ref, array_free);
}

static const struct vm_operations_struct shared_ops = {
	.open = shared_open,
	.close = shared_close,
	.fault = shared_fault,
};

/* The array of a slot, with a reference. NULL: there is none. */
static struct hipec_shared *get_array(struct hipec_container *c, u32 slot)
{
	struct hipec_shared *a = NULL;

	spin_lock(&hipec_shared_lock);
	if (c->shared && slot < c->policy.image->nr_operands)
		a = c->shared[slot];
	if (a)
		kref_get(&a->ref);
	spin_unlock(&hipec_shared_lock);
	return a;
}

/**
 * hipec_shared_mmap() - map a shared array, or the beginning of it
 * @c:   container
 * @vma: at HIPEC_SHARED_OFFSET() of the array's slot
 *
 * Context: mmap_lock held for writing; takes no mutex.
 * Return: 0; -EINVAL for a private mapping; -ENODATA before a policy is loaded;
 *         -ENXIO if there is no such array or it is shorter.
 */
int hipec_shared_mmap(struct hipec_container *c, struct vm_area_struct *vma)
{
	const unsigned int shift = HIPEC_SHARED_SHIFT - PAGE_SHIFT;
	struct hipec_shared *a = NULL;

	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	/* Not under c->lock: others look at this process meanwhile, and would wait for an event. */
	if (!smp_load_acquire(&c->loaded))
		return -ENODATA;
	if (vma->vm_pgoff >> shift < HIPEC_SLOT_SYSTEM)
		a = get_array(c, vma->vm_pgoff >> shift);
	if (!a)
		return -ENXIO;
	if (vma->vm_pgoff & ((1u << shift) - 1) ||
	    vma_pages(vma) > a->bytes >> PAGE_SHIFT) {
		kref_put(&a->ref, array_free);
		return -ENXIO;
	}
	vm_flags_set(vma, VM_DONTEXPAND);
	vma->vm_ops = &shared_ops;
	vma->vm_private_data = a;
	return 0;
}
