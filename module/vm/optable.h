/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command table of hipec_ops.h as C: enums and lookup tables. Nothing is
 * listed here; every list is expanded.
 *
 * Interface:
 * hipec_ops[code]       one row per command; rows that do not exist have no name
 * hipec_vm_selector()       the word of a selector, or NULL if it does not exist
 * hipec_vm_selector_unary() whether it leaves the second operand out
 * hipec_vm_kind_types()     the types of slot that a kind takes, as a mask
 * hipec_vm_*_text()         names of kinds, types, flags, needs, events
 */
#ifndef HIPEC_VM_OPTABLE_H
#define HIPEC_VM_OPTABLE_H

#include "port.h"
#include "../include/uapi/hipec.h"
#include "../include/uapi/hipec_ops.h"

enum hipec_operand_kind {
#define X(name, types, flags, text) HIPEC_KIND_##name,
	HIPEC_OPERAND_KINDS(X)
#undef X
	HIPEC_NR_KINDS
};

enum hipec_opcode {
#define X(name, fn, word, code, a, b, c, flags, syntax, meaning) \
	HIPEC_OP_##name = code,
	HIPEC_COMMANDS(X)
#undef X
};

#define X(name, code, ...) HIPEC_END_##name = code,
enum hipec_end { HIPEC_ENDS(X) };
#undef X
#define X(name, code, ...) HIPEC_BIT_##name = code,
enum hipec_bit { HIPEC_BITS(X) };
#undef X
#define X(name, code, ...) HIPEC_ACTION_##name = code,
enum hipec_action { HIPEC_ACTIONS(X) };
#undef X
#define X(name, code, ...) HIPEC_ARITH_##name = code,
enum hipec_arith { HIPEC_ARITHS(X) };
#undef X
#define X(name, code, ...) HIPEC_COMP_##name = code,
enum hipec_comp { HIPEC_COMPS(X) };
#undef X
#define X(name, code, ...) HIPEC_LOGIC_##name = code,
enum hipec_logic { HIPEC_LOGICS(X) };
#undef X
#define X(name, code, ...) HIPEC_COND_##name = code,
enum hipec_cond { HIPEC_CONDS(X) };
#undef X
#define X(name, code, ...) HIPEC_TYPE_##name = code,
enum hipec_type { HIPEC_TYPES(X) };
#undef X
#define X(name, code, ...) HIPEC_EVENT_##name = code,
enum hipec_event { HIPEC_EVENTS(X) };
#undef X
#define X(name, code, ...) HIPEC_SLOT_##name = code,
enum hipec_system_slot { HIPEC_SYSTEM_SLOTS(X) };
#undef X
#define X(name, bit, ...) HIPEC_NEED_##name = bit,
enum hipec_need { HIPEC_NEEDS(X) };
#undef X
#define X(name, text) HIPEC_VERIFY_##name,
enum hipec_verify_kind { HIPEC_VERIFY_KINDS(X) };
#undef X
#define X(name, code, text) HIPEC_EXIT_##name = code,
enum hipec_exit_kind { HIPEC_EXIT_KINDS(X) };
#undef X

struct hipec_op {
	const char *word;	/* NULL: no such command */
	const char *syntax;
	const char *meaning;
	u8 kind[3];		/* HIPEC_KIND_* of a, b, c */
	u8 flags;		/* HIPEC_OPF_* */
};

extern const struct hipec_op hipec_ops[256];

struct hipec_system_slot_desc {
	const char *name;	/* NULL: no such slot */
	const char *meaning;
};

extern const struct hipec_system_slot_desc
	hipec_system_slots[HIPEC_NR_SLOTS - HIPEC_SLOT_SYSTEM];

const char *hipec_vm_selector(enum hipec_operand_kind kind, u8 code);
bool hipec_vm_selector_unary(enum hipec_operand_kind kind, u8 code);
u32 hipec_vm_kind_types(enum hipec_operand_kind kind);
u32 hipec_vm_kind_flags(enum hipec_operand_kind kind);
const char *hipec_vm_kind_text(enum hipec_operand_kind kind);
const char *hipec_vm_type_text(u8 type);
const char *hipec_vm_operand_flag_text(u32 flag);
const char *hipec_vm_need_text(u32 need);
const char *hipec_vm_event_text(u32 event);
const char *hipec_vm_verify_text(u32 kind);
const char *hipec_vm_exit_text(u32 kind);

/* A command word and its bytes. */
static inline u8 hipec_word_op(u32 w) { return w >> 24; }
static inline u8 hipec_word_a(u32 w) { return w >> 16; }
static inline u8 hipec_word_b(u32 w) { return w >> 8; }
static inline u8 hipec_word_c(u32 w) { return w; }
static inline u16 hipec_word_target(u32 w) { return w; }

#endif /* HIPEC_VM_OPTABLE_H */
