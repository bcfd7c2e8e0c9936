/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ampc: the compiler from .hp to .hpo. File = pass, in this order:
 *
 *   source.c  bytes -> struct ampc_source
 *   lexer.l   characters -> tokens
 *   parser.y  tokens -> tree; tokens.c picks them after an error, ast.c builds
 *   check.c   events, statements; declare.c declarations, expr.c expressions,
 *             place.c what can be assigned to, call.c calls, operand.c what
 *             they share; symbol.c and builtin.c are what names stand for, habit.c
 *             what is written here for what other languages have
 *   lint.c    what the rules allow and hardly anybody means, along paths, with
 *             path.c; tidy.c, misread.c the same without paths
 *   tree.c    tree -> text, for -E
 *   emit.c    tree -> commands; value.c those of expressions, code.c appends
 *   flow.c    commands -> fewer commands, by where they lead; opt.c by what
 *             they compute
 *   image.c   commands -> bytes
 *   list.c    bytes -> text beside the source, for -S
 *   asmfile.c that text -> bytes, in place of all passes before
 *   carray.c  bytes -> C, for --emit-c-array
 *   cost.c    bytes -> how many commands an event runs, for --explain-cost; with
 *             rounds.c, graph.c and bound.c
 *
 * compile.c calls them in turn. diag.c collects errors, report.c prints them, and
 * json.c does for programs; warn.c knows the names of warnings. main.c is the only
 * reader of options.
 * A pass gets the compilation and hands it on; no pass has globals. Memory is
 * the compilation's arena, memory.c's, and goes with it. No two files need each
 * other: test_lint.py.
 *
 * Names: @c the compilation, @e an expression, @s a statement, @ev an event.
 */
#ifndef AMPC_H
#define AMPC_H

#include <stdarg.h>
#include <stdio.h>

#include "../module/vm/vm.h"
#include "diag.h"
#include "names.h"

#define AMPC_MAX_ERRORS 20
#define AMPC_MAX_NAME 63	/* bytes of an identifier */
#define AMPC_MAX_DEPTH 500	/* levels of the tree, bounds all recursion */
#define AMPC_MAX_SOURCE (1u << 20)	/* bytes */
#define AMPC_MAX_LISTING (16u << 20)	/* bytes of assembler text */

/* A place: lines and columns from 1, columns in bytes, the end exclusive. */
struct ampc_loc {
	u32 line, col;		/* line 0: the file as a whole */
	u32 end_line, end_col;
};

struct ampc_source {
	const char *file;	/* as the user named it */
	char *text;		/* ends with a zero byte, holds no other */
	size_t size;		/* bytes, without that zero */
	const char **line;	/* start of line i + 1 */
	u32 nr_lines;
};

enum ampc_level { AMPC_ERROR, AMPC_WARNING, AMPC_NOTE };

enum ampc_diag_id {
#define X(name, level, text) AMPC_##name,
	AMPC_DIAGS(X)
#undef X
	AMPC_NR_DIAGS
};

/* The formats as arrays, so that the compiler checks the arguments of each. */
#define X(name, level, text) \
	static const char ampc_text_##name[] __attribute__((unused)) = text;
AMPC_DIAGS(X)
#undef X

struct ampc_diag {
	struct ampc_diag *next;
	struct ampc_diag *notes;	/* of an error or warning */
	struct ampc_loc loc;
	enum ampc_diag_id id;
	enum ampc_level level;		/* -Werror makes errors of warnings */
	char *text;
};

/* What the command line says of a warning, by its row. */
struct ampc_warn {
	enum ampc_switch { AMPC_DEFAULT, AMPC_ON, AMPC_OFF } is_on, is_error;
};

/* Types as the source has them; the numbers are HIPEC_TYPE_*. */
enum ampc_type {
	AMPC_VOID = 0,		/* a call that gives no value */
	AMPC_INT = HIPEC_TYPE_INT,
	AMPC_QUEUE = HIPEC_TYPE_QUEUE,
	AMPC_PAGE = HIPEC_TYPE_PAGE,
	AMPC_INTS = HIPEC_TYPE_INTS,	/* what `Int name[n]` is */
	AMPC_QUEUES = HIPEC_TYPE_QUEUES,
	AMPC_FIELD = HIPEC_TYPE_FIELD,
	AMPC_UNKNOWN = 255,	/* after an error: fits everywhere, silently */
};

/* Those that a declaration can name. */
#define AMPC_TYPE_WORDS(X) X(INT) X(QUEUE) X(PAGE) X(FIELD)

/*
 * Operators: text in the source, class, code of the command's selector.
 * ARITH and COMP are commands, the others are made of them and of jumps.
 */
#define AMPC_OPERATORS(X)                                                     \
	X(ADD, "+", ARITH, HIPEC_ARITH_ADD)                                   \
	X(SUB, "-", ARITH, HIPEC_ARITH_SUB)                                   \
	X(MUL, "*", ARITH, HIPEC_ARITH_MUL)                                   \
	X(DIV, "/", ARITH, HIPEC_ARITH_DIV)                                   \
	X(MOD, "%", ARITH, HIPEC_ARITH_MOD)                                   \
	X(BIT_AND, "&", ARITH, HIPEC_ARITH_AND)                               \
	X(BIT_OR, "|", ARITH, HIPEC_ARITH_OR)                                 \
	X(BIT_XOR, "^", ARITH, HIPEC_ARITH_XOR)                               \
	X(SHL, "<<", ARITH, HIPEC_ARITH_SHL)                                  \
	X(SHR, ">>", ARITH, HIPEC_ARITH_SHR)                                  \
	X(LT, "<", COMP, HIPEC_COMP_LT)                                       \
	X(GT, ">", COMP, HIPEC_COMP_GT)                                       \
	X(LE, "<=", COMP, HIPEC_COMP_LE)                                      \
	X(GE, ">=", COMP, HIPEC_COMP_GE)                                      \
	X(EQ, "==", COMP, HIPEC_COMP_EQ)                                      \
	X(NE, "!=", COMP, HIPEC_COMP_NE)                                      \
	X(AND, "&&", AND, 0)                                                  \
	X(OR, "||", OR, 0)                                                    \
	X(NOT, "!", NOT, 0)                                                   \
	X(NEG, "-", NEG, 0)                                                   \
	X(BIT_NOT, "~", BIT_NOT, 0)                                           \
	X(COND, "?:", COND, 0)                                                \
	X(SET, "=", ASSIGN, HIPEC_ARITH_SET)                                  \
	X(ADD_SET, "+=", ASSIGN, HIPEC_ARITH_ADD)                             \
	X(SUB_SET, "-=", ASSIGN, HIPEC_ARITH_SUB)                             \
	X(MUL_SET, "*=", ASSIGN, HIPEC_ARITH_MUL)                             \
	X(DIV_SET, "/=", ASSIGN, HIPEC_ARITH_DIV)                             \
	X(MOD_SET, "%=", ASSIGN, HIPEC_ARITH_MOD)                             \
	X(BIT_AND_SET, "&=", ASSIGN, HIPEC_ARITH_AND)                         \
	X(BIT_OR_SET, "|=", ASSIGN, HIPEC_ARITH_OR)                           \
	X(BIT_XOR_SET, "^=", ASSIGN, HIPEC_ARITH_XOR)                         \
	X(SHL_SET, "<<=", ASSIGN, HIPEC_ARITH_SHL)                            \
	X(SHR_SET, ">>=", ASSIGN, HIPEC_ARITH_SHR)                            \
	X(PRE_INC, "++", PRE, HIPEC_ARITH_INC)                                \
	X(PRE_DEC, "--", PRE, HIPEC_ARITH_DEC)                                \
	X(POST_INC, "++", POST, HIPEC_ARITH_INC)                              \
	X(POST_DEC, "--", POST, HIPEC_ARITH_DEC)                              \
	X(INDEX, "[]", INDEX, 0)                                              \
	X(MEMBER, ".", MEMBER, 0)

enum ampc_op {
#define X(name, text, class, code) AMPC_OP_##name,
	AMPC_OPERATORS(X)
#undef X
};

/* Leaves first, then the classes of operators. */
enum ampc_expr_kind {
	AMPC_BAD,		/* stands where an error was */
	AMPC_NUMBER,
	AMPC_NAME,
	AMPC_CALL,
	AMPC_ARITH,
	AMPC_COMP,
	AMPC_AND,
	AMPC_OR,
	AMPC_NOT,
	AMPC_NEG,
	AMPC_BIT_NOT,
	AMPC_COND,
	AMPC_ASSIGN,
	AMPC_PRE,
	AMPC_POST,
	AMPC_INDEX,		/* element b of array a */
	AMPC_MEMBER,		/* field `name` of page a */
};

struct ampc_expr {
	enum ampc_expr_kind kind;
	enum ampc_op op;		/* of operators */
	struct ampc_loc loc;
	u32 depth;			/* levels below and including this one */
	struct ampc_expr *a, *b, *c;	/* operands; of a call: a is the first argument */
	struct ampc_expr *next;		/* next argument of the call above */
	const char *name;		/* of a name, call or field */
	struct ampc_loc name_loc;

	/* Set by check. */
	enum ampc_type type;
	bool is_const;			/* value is known now */
	s64 value;			/* of a constant; the code of a selector */
	bool is_none;			/* the name of no page */
	struct ampc_symbol *symbol;	/* of a name or field; NULL for a selector */
	struct ampc_event *event;	/* of a call of an event */
	u8 opcode;			/* of a call of a command */
};

struct ampc_decl {
	struct ampc_decl *next;
	struct ampc_loc loc;
	enum ampc_type type;
	u8 flags;			/* HIPEC_OPERAND_* */
	const char *name;
	struct ampc_expr *init;		/* or NULL */
	struct ampc_expr *length;	/* of an array, or NULL */
	struct ampc_expr *low, *high;	/* range of a param, or NULL both */
	const char *key;		/* field that orders a queue, or NULL */
	struct ampc_loc key_loc;

	/* Set by check. */
	struct ampc_symbol *symbol;	/* NULL after an error */
};

/* What Init says once about the policy as a whole. */
enum ampc_setting { AMPC_GHOSTS, AMPC_TIMER, AMPC_NR_SETTINGS };

enum ampc_stmt_kind {
	AMPC_STMT_EMPTY,
	AMPC_STMT_EXPR,
	AMPC_STMT_DECL,
	AMPC_STMT_SETTING,
	AMPC_STMT_BLOCK,
	AMPC_STMT_IF,
	AMPC_STMT_WHILE,
	AMPC_STMT_DO,
	AMPC_STMT_FOR,
	AMPC_STMT_BREAK,
	AMPC_STMT_CONTINUE,
	AMPC_STMT_GOTO,
	AMPC_STMT_LABEL,
	AMPC_STMT_RETURN,
};

struct ampc_stmt {
	struct ampc_stmt *next;		/* in its block */
	enum ampc_stmt_kind kind;
	struct ampc_loc loc;
	u32 depth;
	struct ampc_expr *init;		/* for */
	struct ampc_expr *expr;		/* expression or condition, or NULL */
	struct ampc_expr *step;		/* for */
	struct ampc_stmt *body;		/* block: first; if: then; label: statement */
	struct ampc_stmt *orelse;	/* if */
	struct ampc_decl *decl;
	enum ampc_setting setting;	/* its value is expr */
	const char *name;		/* goto, label; a setting as it is written */
	u32 label;			/* of a label: its number in emit */
	struct ampc_stmt *target;	/* of a goto, set by check */
	struct ampc_stmt *next_label;	/* of a label, in its event */
	struct ampc_meet *meet;		/* of a label or loop, for lint.c */
};

/*
 * An operand of a command that is not a byte yet: temporaries and constants
 * get their slots when all commands are known.
 */
enum ampc_arg_kind {
	AMPC_ARG_BYTE,		/* slot, selector or event number */
	AMPC_ARG_TEMP,		/* value: index among the temporaries of its type */
	AMPC_ARG_PAGE_TEMP,
	AMPC_ARG_QUEUE_TEMP,	/* one queue of an array */
	AMPC_ARG_CONST,		/* value: the constant */
	AMPC_ARG_NONE,		/* the page that is none */
};

struct ampc_arg {
	enum ampc_arg_kind kind;
	s64 value;
};

static inline struct ampc_arg ampc_byte(u8 value)
{
	return (struct ampc_arg){ .kind = AMPC_ARG_BYTE, .value = value };
}

struct ampc_insn {
	u8 opcode;
	struct ampc_arg arg[3];
	u32 target;		/* of a jump: a label, after flow.c a command */
	u32 line;
};

static inline bool ampc_is_jump(const struct ampc_insn *in)
{
	return hipec_ops[in->opcode].flags & HIPEC_OPF_JUMP;
}

static inline bool ampc_is_always(const struct ampc_insn *in)
{
	return ampc_is_jump(in) && in->arg[0].value == HIPEC_COND_ALWAYS;
}

static inline bool ampc_is_stop(const struct ampc_insn *in)
{
	return hipec_ops[in->opcode].flags & HIPEC_OPF_STOP;
}

struct ampc_code {
	struct ampc_insn *insn;
	u32 nr, max;
	u32 *label;		/* command that a label stands before */
	u32 nr_labels, max_labels;
};

struct ampc_call {
	struct ampc_call *next;
	struct ampc_event *callee;
	struct ampc_loc loc;
};

/* State of an event in the walk along calls. */
enum ampc_visit { AMPC_NOT_VISITED, AMPC_ON_PATH, AMPC_VISITED };

struct ampc_event {
	struct ampc_event *next;
	const char *name;
	struct ampc_loc loc;		/* of the name */
	struct ampc_stmt *body;		/* a block */
	u32 number;			/* HIPEC_EVENT_* or HIPEC_EVENT_USER and up */

	/* Set by check. */
	struct ampc_stmt *labels;
	struct ampc_names label_names;
	u32 nr_labels;
	struct ampc_call *calls;
	bool is_called;
	enum ampc_visit visit;
	struct ampc_call *path;		/* call that the walk is in */
	u32 calls_to;			/* longest chain of calls that ends here */
	struct ampc_does *does;		/* for lint.c */

	struct ampc_code code;		/* no commands: the event is left out */
};

enum ampc_symbol_kind {
	AMPC_OPERAND,		/* a slot of the policy */
	AMPC_SYSTEM,		/* a slot of the system */
	AMPC_UNDECLARED_NAME,	/* reported once already */
};

struct ampc_symbol {
	struct ampc_symbol *next;
	enum ampc_symbol_kind kind;
	const char *name;
	struct ampc_loc loc;	/* line 0: not of this source */
	enum ampc_type type;
	u8 flags;		/* HIPEC_OPERAND_* */
	u32 slot;
	s64 value;		/* at load; length of an array */
	s64 low, high;		/* of a param with a range; else 0 */
	const struct ampc_symbol *key;	/* field that orders a queue, or NULL */
};

struct ampc {
	struct ampc_source source;
	char policy[HIPEC_NAME_MAX];

	struct ampc_diag *diags;	/* in source order */
	struct ampc_diag *last;		/* that notes belong to, or NULL */
	struct ampc_diag *newest;	/* error or warning */
	u32 nr_errors;
	struct ampc_warn warn[AMPC_NR_DIAGS];
	enum ampc_switch warn_all, warn_error;
	bool has_more_errors;

	struct ampc_event *events, **events_end;
	struct ampc_names event_names, symbol_names;
	bool has_lost_decl;		/* an error swallowed declarations, */
	bool has_lost_event;		/* or whole events */

	struct ampc_symbol *symbols, **symbols_end;
	u32 nr_slots;			/* declared */
	u64 nr_elements, nr_queues, nr_fields;	/* declared */
	const struct ampc_stmt *setting[AMPC_NR_SETTINGS];	/* or NULL */

	u32 level;		/* of optimisation: 0 or 1 */
	bool is_assembler;	/* the source is; its lines are not the policy's */
	u8 *image;
	size_t image_size;

	struct ampc_chunk *chunks;	/* of the arena */
};

/* compile.c */
void ampc_init(struct ampc *c, const char *file);
int ampc_compile(struct ampc *c, struct hipec_policy *p);

/* source.c */
int ampc_source_set(struct ampc *c, char *text, size_t size);
int ampc_source_read(struct ampc *c, const char *file);
struct ampc_loc ampc_loc_span(struct ampc_loc from, struct ampc_loc to);
const char *ampc_source_line(const struct ampc *c, u32 line, size_t *len);
char *ampc_source_quote(struct ampc *c, struct ampc_loc loc);

/* diag.c */
__attribute__((format(printf, 4, 5)))
void ampc_diag_add(struct ampc *c, struct ampc_loc loc, enum ampc_diag_id id,
		   const char *fmt, ...);
const char *ampc_level_text(enum ampc_level level);

/* report.c, json.c */
void ampc_diag_print(const struct ampc *c, FILE *out, bool colour);
void ampc_diag_json(const struct ampc *c, FILE *out);

/* warn.c */
bool ampc_warn_option(struct ampc *c, const char *arg);
void ampc_warn_help(FILE *out);
const char *ampc_warn_name(enum ampc_diag_id id);
bool ampc_warn_is_on(const struct ampc *c, enum ampc_diag_id id);
bool ampc_warn_is_error(const struct ampc *c, enum ampc_diag_id id);

/**
 * ampc_report() - say something about the source
 * @c:   compilation
 * @loc: place; line 0 for the file as a whole
 * @id:  row of AMPC_DIAGS; a note belongs to the error or warning before it
 */
#define ampc_report(c, loc, id, ...) \
	ampc_diag_add(c, loc, AMPC_##id, ampc_text_##id, ##__VA_ARGS__)

/* parser.y; what it shares with lexer.l and tokens.c is in parser.h */
void ampc_parse(struct ampc *c);

/* memory.c */
void *ampc_alloc(struct ampc *c, size_t size);
void *ampc_grow(struct ampc *c, void *old, size_t nr, u32 *max, size_t size);
char *ampc_strndup(struct ampc *c, const char *s, size_t n);
__attribute__((format(printf, 2, 3)))
char *ampc_printf(struct ampc *c, const char *fmt, ...);
void ampc_free(struct ampc *c);

/* ast.c */
const char *ampc_op_text(enum ampc_op op);
u8 ampc_op_code(enum ampc_op op);
bool ampc_op_commutes(enum ampc_op op);
struct ampc_expr *ampc_expr_new(struct ampc *c, enum ampc_expr_kind kind,
				struct ampc_loc loc);
struct ampc_expr *ampc_expr_number(struct ampc *c, struct ampc_loc loc,
				   s64 value);
struct ampc_expr *ampc_expr_op(struct ampc *c, enum ampc_op op,
			       struct ampc_loc loc, struct ampc_expr *a,
			       struct ampc_expr *b, struct ampc_expr *third);
struct ampc_expr *ampc_expr_member(struct ampc *c, struct ampc_expr *page,
				   const char *name, struct ampc_loc name_loc,
				   struct ampc_loc loc);
struct ampc_expr *ampc_expr_call(struct ampc *c, const char *name,
				 struct ampc_loc name_loc, struct ampc_loc loc,
				 struct ampc_expr *args);
struct ampc_stmt *ampc_stmt_new(struct ampc *c, enum ampc_stmt_kind kind,
				struct ampc_loc loc, struct ampc_stmt *body,
				struct ampc_stmt *orelse);
struct ampc_stmt *ampc_stmt_label(struct ampc *c, struct ampc_loc loc,
				  const char *name, struct ampc_stmt *body);
struct ampc_stmt *ampc_stmt_setting(struct ampc *c, struct ampc_loc loc,
				    enum ampc_setting setting, const char *name,
				    struct ampc_expr *value);
struct ampc_decl *ampc_decl_new(struct ampc *c, struct ampc_loc loc,
				const char *name, struct ampc_expr *length,
				struct ampc_expr *init);
struct ampc_decl *ampc_decl_range(struct ampc_decl *d, struct ampc_expr *low,
				  struct ampc_expr *high);
struct ampc_stmt *ampc_stmt_decl(struct ampc *c, struct ampc_loc loc,
				 u8 flags, enum ampc_type type,
				 struct ampc_decl *first);
void ampc_event_add(struct ampc *c, const char *name, struct ampc_loc loc,
		    struct ampc_stmt *body);

/* habit.c */
struct ampc_parser;
bool ampc_habit_name(struct ampc *c, const char *name, struct ampc_loc loc);
void ampc_habit_number(struct ampc *c, const char *text, const char *rest,
		       struct ampc_loc loc);
void ampc_habit_directive(struct ampc *c, const char *text, struct ampc_loc loc);
bool ampc_habit_syntax(struct ampc_parser *p, struct ampc_loc loc);

/* symbol.c */
void ampc_symbols_init(struct ampc *c);
struct ampc_symbol *ampc_symbol_find(const struct ampc *c, const char *name);
struct ampc_symbol *ampc_symbol_add(struct ampc *c, const char *name,
				    struct ampc_loc loc);
struct ampc_event *ampc_event_find(const struct ampc *c, const char *name);
const char *ampc_type_text(enum ampc_type type);
bool ampc_type_find(const char *name, enum ampc_type *type);
bool ampc_none_is(const char *name);
const char *ampc_setting_usage(const char *name);
void ampc_suggest_operand(struct ampc *c, const char *name,
			  struct ampc_loc loc);
void ampc_suggest_callee(struct ampc *c, const char *name,
			 struct ampc_loc loc);
void ampc_suggest_host_event(struct ampc *c, const char *name,
			     struct ampc_loc loc);
void ampc_suggest_label(struct ampc *c, const struct ampc_event *ev,
			const char *name, struct ampc_loc loc);
void ampc_suggest_selector(struct ampc *c, u8 kind, const char *name,
			   struct ampc_loc loc);
void ampc_suggest_type(struct ampc *c, const char *name, struct ampc_loc loc);
bool ampc_suggest_field(struct ampc *c, const char *name, struct ampc_loc loc);

/* builtin.c */
bool ampc_builtin_is(u8 opcode);
bool ampc_builtin_find(const char *name, u8 *opcode);
int ampc_builtin_result(u8 opcode);
enum ampc_type ampc_builtin_type(u8 opcode);
u32 ampc_builtin_nr_args(u8 opcode);
bool ampc_builtin_takes_none(u8 opcode);
u8 ampc_builtin_arg_kind(u8 opcode, u32 nr);
char *ampc_builtin_usage(struct ampc *c, u8 opcode);
enum ampc_type ampc_kind_type(u8 kind);
bool ampc_selector_find(u8 kind, const char *name, u8 *code);
bool ampc_selector_is(const char *name);

/* check.c */
void ampc_check(struct ampc *c);

/* declare.c */
void ampc_declare_all(struct ampc *c);
void ampc_declare_misplaced(struct ampc *c, struct ampc_event *ev,
			    struct ampc_stmt *s, bool is_init);
s64 ampc_setting_value(const struct ampc *c, enum ampc_setting setting);

/* place.c */
void ampc_check_index(struct ampc *c, struct ampc_expr *e);
void ampc_check_member(struct ampc *c, struct ampc_expr *e);
void ampc_check_assign(struct ampc *c, struct ampc_expr *e);
void ampc_check_step(struct ampc *c, struct ampc_expr *e);
struct ampc_symbol *ampc_check_field(struct ampc *c, const char *name,
				     struct ampc_loc loc);

/* call.c */
bool ampc_check_callee(struct ampc *c, struct ampc_event *ev,
		       struct ampc_expr *e);
bool ampc_is_value_argument(const struct ampc_expr *e, u32 nr);
void ampc_check_arguments(struct ampc *c, struct ampc_expr *e);

/* operand.c */
char *ampc_describe(struct ampc *c, const struct ampc_expr *e);
void ampc_note_whole(struct ampc *c, const struct ampc_expr *e);
void ampc_declared_here(struct ampc *c, const struct ampc_expr *e);
bool ampc_check_int(struct ampc *c, enum ampc_op op, const struct ampc_expr *e);
bool ampc_check_right_side(struct ampc *c, const struct ampc_expr *e);

/* expr.c */
void ampc_check_value(struct ampc *c, struct ampc_event *ev,
		      struct ampc_expr *e);
bool ampc_compare(u8 code, s64 a, s64 b);
void ampc_check_condition(struct ampc *c, struct ampc_event *ev,
			  struct ampc_expr *e);
void ampc_check_effect(struct ampc *c, struct ampc_event *ev,
		       struct ampc_expr *e);

/* lint.c with path.c, misread.c, tidy.c */
void ampc_lint(struct ampc *c);
void ampc_misread(struct ampc *c);
void ampc_tidy(struct ampc *c);

/* emit.c, value.c, code.c, flow.c, opt.c */
struct ampc_temps {
	u32 ints, pages, queues;
};

struct ampc_emit {
	struct ampc *c;
	struct ampc_code *code;
	struct ampc_temps temps;	/* in use now */
	u32 line;		/* of the commands that come */
	u32 break_label, continue_label;
};

void ampc_emit(struct ampc *c);
u32 ampc_emit_label(struct ampc_emit *g);
void ampc_emit_here(struct ampc_emit *g, u32 label);
void ampc_emit_insn(struct ampc_emit *g, u8 opcode, struct ampc_arg a,
		    struct ampc_arg b, struct ampc_arg c);
void ampc_emit_jump(struct ampc_emit *g, enum hipec_cond cond, u32 label);
void ampc_emit_arith(struct ampc_emit *g, struct ampc_arg a, struct ampc_arg b,
		     enum hipec_arith selector);
struct ampc_arg ampc_emit_temporary(struct ampc_emit *g, enum ampc_type type);
void ampc_emit_effect(struct ampc_emit *g, const struct ampc_expr *e);
void ampc_emit_branch(struct ampc_emit *g, const struct ampc_expr *e,
		      bool sense, u32 label);
void ampc_flow(struct ampc *c, struct ampc_code *code);
bool ampc_opt(struct ampc *c, struct ampc_code *code);

/* asmfile.c, carray.c, cost.c, image.c, list.c, tree.c */
int ampc_assemble(struct ampc *c, struct hipec_policy *p);
void ampc_c_array(struct ampc *c, FILE *out);
int ampc_in_c(struct ampc *c, const struct hipec_policy *p, FILE *out);
void ampc_cost(struct ampc *c, const struct hipec_policy *p, FILE *out);
int ampc_image(struct ampc *c);
int ampc_image_write(struct ampc *c, const char *file);
void ampc_list(const struct ampc *c, const struct hipec_policy *p, FILE *out);
void ampc_list_flags(u8 flags, FILE *out);
void ampc_tree(const struct ampc *c, FILE *out);

#endif /* AMPC_H */
