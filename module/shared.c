// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared arrays: the application maps them from its descriptor of /dev/hipec and
 * writes what the policy reads, without a call for each change.
 */
#include <linux/vmalloc.h>

#include "compat.h"
#include "internal.h"

/* Where the array of @slot begins in c->shared; NULL if it is none. */
static void *array_of(struct hipec_container *c, u32 slot, u32 *bytes)
{
	const struct hipec_policy *p = &c->policy;
	void *at = c->shared;
	u32 i;

	for (i = 0; i < p->image->nr_operands; i++) {
		if (!(p->operand[i].flags & HIPEC_OPERAND_SHARED))
			continue;
		*bytes = hipec_shared_bytes(p->operand[i].value);
		if (i == slot)
			return at;
		at += *bytes;
	}
	return NULL;
}

static vm_fault_t shared_fault(struct vm_fault *vmf)
{
	struct hipec_container *c = vmf->vma->vm_private_data;
	const unsigned int shift = HIPEC_SHARED_SHIFT - PAGE_SHIFT;
	u32 bytes, offset = (vmf->pgoff & ((1u << shift) - 1)) << PAGE_SHIFT;
	void *at = array_of(c, vmf->pgoff >> shift, &bytes);

	/* mmap() has checked it, and a mapping cannot grow. */
	if (WARN_ON_ONCE(!at || offset >= bytes))
		return VM_FAULT_SIGBUS;
	vmf->page = vmalloc_to_page(at + offset);
	get_page(vmf->page);
	return 0;
}

static const struct vm_operations_struct shared_ops = {
	.fault = shared_fault,
};

/**
 * hipec_shared_mmap() - map a shared array, or the beginning of it
 * @c:   container
 * @vma: at HIPEC_SHARED_OFFSET() of the array's slot
 *
 * Context: mmap_lock held for writing; takes c->lock.
 * Return: 0; -EINVAL for a private mapping; -ENODATA before a policy is loaded;
 *         -ENXIO if there is no such array or it is shorter.
 */
int hipec_shared_mmap(struct hipec_container *c, struct vm_area_struct *vma)
{
	const unsigned int shift = HIPEC_SHARED_SHIFT - PAGE_SHIFT;
	bool loaded;
	u32 bytes;

	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	mutex_lock(&c->lock);
	loaded = c->vm.policy;
	mutex_unlock(&c->lock);
	if (!loaded)
		return -ENODATA;
	if (vma->vm_pgoff >> shift >= HIPEC_SLOT_SYSTEM ||
	    vma->vm_pgoff & ((1u << shift) - 1) ||
	    !array_of(c, vma->vm_pgoff >> shift, &bytes) ||
	    vma_pages(vma) > bytes >> PAGE_SHIFT)
		return -ENXIO;
	vm_flags_set(vma, VM_DONTEXPAND);
	vma->vm_ops = &shared_ops;
	vma->vm_private_data = c;
	return 0;
}
