// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command table of hipec_ops.h, expanded once. See optable.h.
 */
#include "optable.h"

const struct hipec_op hipec_ops[256] = {
#define X(name, fn, word_, code, a, b, c, flags_, syntax_, meaning_)    \
	[code] = {                                                      \
		.word = word_,                                          \
		.syntax = syntax_,                                      \
		.meaning = meaning_,                                    \
		.kind = { HIPEC_KIND_##a, HIPEC_KIND_##b, HIPEC_KIND_##c }, \
		.flags = flags_,                                        \
	},
	HIPEC_COMMANDS(X)
#undef X
};

#define X(name, ...) + 1
static_assert(HIPEC_COMMANDS(X) >= HIPEC_NR_COMMANDS_1997,
	      "Table I of the paper has 20 commands");
#undef X

const struct hipec_system_slot_desc
hipec_system_slots[HIPEC_NR_SLOTS - HIPEC_SLOT_SYSTEM] = {
#define X(id, code, name_, meaning_) \
	[code - HIPEC_SLOT_SYSTEM] = { .name = name_, .meaning = meaning_ },
	HIPEC_SYSTEM_SLOTS(X)
#undef X
};

struct selector {
	const char *word;
	bool unary;
};

#define WORD(name, code, text) [code] = { .word = text },
#define WORD_UNARY(name, code, text, un) [code] = { .word = text, .unary = un },
static const struct selector ends[] = { HIPEC_ENDS(WORD) };
static const struct selector bits[] = { HIPEC_BITS(WORD) };
static const struct selector actions[] = { HIPEC_ACTIONS(WORD) };
static const struct selector ariths[] = { HIPEC_ARITHS(WORD_UNARY) };
static const struct selector comps[] = { HIPEC_COMPS(WORD) };
static const struct selector logics[] = { HIPEC_LOGICS(WORD_UNARY) };
static const struct selector conds[] = { HIPEC_CONDS(WORD) };
#undef WORD
#undef WORD_UNARY

#define TABLE(t) { t, ARRAY_SIZE(t) }
static const struct {
	const struct selector *row;
	u32 nr;
} selectors[HIPEC_NR_KINDS] = {
	[HIPEC_KIND_END] = TABLE(ends),
	[HIPEC_KIND_BIT] = TABLE(bits),
	[HIPEC_KIND_ACTION] = TABLE(actions),
	[HIPEC_KIND_ARITH] = TABLE(ariths),
	[HIPEC_KIND_COMP] = TABLE(comps),
	[HIPEC_KIND_LOGIC] = TABLE(logics),
	[HIPEC_KIND_COND] = TABLE(conds),
};
#undef TABLE

/**
 * hipec_vm_selector() - word of a selector
 * @kind: operand kind
 * @code: byte of the command
 *
 * Return: the word; NULL if @kind takes no selectors or has none of this code.
 */
const char *hipec_vm_selector(enum hipec_operand_kind kind, u8 code)
{
	return code < selectors[kind].nr ? selectors[kind].row[code].word : NULL;
}

/**
 * hipec_vm_selector_unary() - whether a selector leaves the second operand out
 * @kind: operand kind
 * @code: byte of the command
 *
 * Return: true for a selector that exists and takes one operand only.
 */
bool hipec_vm_selector_unary(enum hipec_operand_kind kind, u8 code)
{
	return hipec_vm_selector(kind, code) && selectors[kind].row[code].unary;
}

static const struct {
	u32 types, flags;
	const char *text;
} kinds[HIPEC_NR_KINDS] = {
#define X(name, types_, flags_, text_) \
	[HIPEC_KIND_##name] = { types_, flags_, text_ },
	HIPEC_OPERAND_KINDS(X)
#undef X
};

/* Types of slot that a HIPEC_KIND_* takes: bit t for type t; 0: no slot. */
u32 hipec_vm_kind_types(enum hipec_operand_kind kind)
{
	return kinds[kind].types;
}

/* HIPEC_KINDF_* of a HIPEC_KIND_*. */
u32 hipec_vm_kind_flags(enum hipec_operand_kind kind)
{
	return kinds[kind].flags;
}

/* Text of a HIPEC_KIND_*, for messages: "a queue". */
const char *hipec_vm_kind_text(enum hipec_operand_kind kind)
{
	return kinds[kind].text;
}

/* Name of a HIPEC_TYPE_*; "?" for a type that does not exist. */
const char *hipec_vm_type_text(u8 type)
{
	static const char *const text[] = {
#define X(name, code, t) [code] = t,
		HIPEC_TYPES(X)
#undef X
	};

	return type < ARRAY_SIZE(text) && text[type] ? text[type] : "?";
}

/* Word of one HIPEC_OPERAND_*; NULL for a flag that does not exist. */
const char *hipec_vm_operand_flag_text(u32 flag)
{
	switch (flag) {
#define X(name, bit, word, meaning) case bit: return word;
		HIPEC_OPERAND_FLAGS(X)
#undef X
	}
	return NULL;
}

/* Word of one HIPEC_NEED_*; NULL for a need that does not exist. */
const char *hipec_vm_need_text(u32 need)
{
	switch (need) {
#define X(name, bit, word, ...) case bit: return word;
		HIPEC_NEEDS(X)
#undef X
	}
	return NULL;
}

/* Name of an event that the host calls; NULL for a policy's own. */
const char *hipec_vm_event_text(u32 event)
{
	static const char *const text[] = {
#define X(name, code, t, ...) [code] = t,
		HIPEC_EVENTS(X)
#undef X
	};

	return event < ARRAY_SIZE(text) ? text[event] : NULL;
}

/* Text of a HIPEC_VERIFY_*; "?" for a kind that does not exist. */
const char *hipec_vm_verify_text(u32 kind)
{
	static const char *const text[] = {
#define X(name, t) [HIPEC_VERIFY_##name] = t,
		HIPEC_VERIFY_KINDS(X)
#undef X
	};

	return kind < ARRAY_SIZE(text) ? text[kind] : "?";
}

/* Text of a HIPEC_EXIT_*; "?" for a kind that does not exist. */
const char *hipec_vm_exit_text(u32 kind)
{
	switch (kind) {
#define X(name, code, text) case code: return text;
	HIPEC_EXIT_KINDS(X)
#undef X
	}
	return "?";
}
