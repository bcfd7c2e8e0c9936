/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where do_dentry_open() begins for a process whose files are taken: open.c sends it
 * here before it has done anything, and then it goes on where it was. It has no
 * landing mark for indirect jumps (IBT), so it is returned into.
 */
#include <linux/linkage.h>
#include <asm/ibt.h>
#include <asm/nospec-branch.h>
#include <asm/unwind_hints.h>

SYM_FUNC_START(hipec_open_entry)
	ENDBR
	/* Its arguments; three of them align the stack. */
	pushq	%rdi
	pushq	%rsi
	pushq	%rdx
	call	hipec_open_before
	popq	%rdx
	popq	%rsi
	popq	%rdi
	pushq	hipec_open_rest(%rip)
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(hipec_open_entry)
