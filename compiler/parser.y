/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tokens -> tree, nothing else: no name is looked up here. After an error the
 * parser goes on behind the next ';' or '}', or at the next Event.
 */
%define api.pure full
%define api.prefix {ampc_yy}
%define api.token.prefix {TOK_}
%define api.location.type {struct ampc_loc}
%define parse.error custom
%define parse.lac full
%locations

%param { struct ampc_parser *p }

%code requires {
#include "ampc.h"

/* Where the scanner is. */
struct ampc_place {
	struct ampc *c;
	u32 line, col;
	struct ampc_loc comment;	/* start of the last comment */
	bool has_open_comment;
};

struct ampc_parser;

/* A list while it grows. */
struct ampc_args {
	struct ampc_expr *first, **end;
};

struct ampc_decls {
	struct ampc_decl *first, **end;
};

struct ampc_stmts {
	struct ampc_stmt *first, **end;
};

struct ampc_word {
	const char *name;
	enum ampc_type type;	/* of words that name a type */
};
}

%code provides {
/* Bison's token for what was reported already: it recovers without a word. */
#define TOK_REPORTED TOK_AMPC_YYerror

/* lexer.l */
void *ampc_scanner_new(struct ampc_place *place);
void ampc_scanner_free(void *scanner);
int ampc_scan(AMPC_YYSTYPE *value, struct ampc_loc *loc, void *scanner);
}

%union {
	struct ampc_word word;
	s64 number;
	u8 flags;
	struct ampc_expr *expr;
	struct ampc_args args;
	struct ampc_decl *decl;
	struct ampc_decls decls;
	struct ampc_stmt *stmt;
	struct ampc_stmts stmts;
}

%code {
/* The parser's state beyond bison's. */
struct ampc_parser {
	struct ampc *c;
	struct ampc_place place;
	void *scanner;

	/* The token that the scanner gave last. */
	int token;
	YYSTYPE value;
	struct ampc_loc loc;
	bool is_waiting;		/* it stands behind a made-up token */

	/* What the parser got last, and before that. */
	int given;
	struct ampc_loc look, prev;
	const char *prev_name;		/* if that is a name */

	u32 blocks;			/* open */
	bool has_event_error;		/* in this event */
	bool is_event_name;		/* the next token is one */
	bool in_init;

	/* The head of a for: its ';' end no statement. */
	bool in_for;
	u32 parens;			/* open in it */

	bool is_lost;			/* skip to the end of the statement */
};

static int yylex(YYSTYPE *value, struct ampc_loc *loc,
		      struct ampc_parser *p);
static void yyerror(struct ampc_loc *loc, struct ampc_parser *p,
			 const char *text);
static void close_block(struct ampc_parser *p, struct ampc_loc open,
			struct ampc_loc close);
static void recovered(struct ampc_parser *p);
static struct ampc_decl *declare(struct ampc_parser *p, struct ampc_loc loc,
				 const char *name, struct ampc_expr *init);
static struct ampc_stmt *declaration(struct ampc_parser *p,
				     struct ampc_loc loc, u8 flags,
				     enum ampc_type type,
				     struct ampc_decls decls);
static u8 add_flag(struct ampc_parser *p, struct ampc_loc loc, u8 flags,
		   u8 flag, const char *word);
static struct ampc_expr *number(struct ampc_parser *p, struct ampc_loc loc,
				s64 value);
static struct ampc_stmt *block(struct ampc_parser *p, struct ampc_loc loc,
			       struct ampc_stmts stmts);
static struct ampc_stmt *labelled(struct ampc_parser *p, struct ampc_loc loc,
				  const char *name, struct ampc_stmt *body);
static void append(struct ampc_stmts *list, struct ampc_stmt *s);

#define YYLLOC_DEFAULT(now, rhs, n)					\
	do {								\
		if (n) {						\
			(now) = ampc_loc_span(YYRHSLOC(rhs, 1),		\
					      YYRHSLOC(rhs, n));	\
		} else {						\
			(now).line = (now).end_line =			\
				YYRHSLOC(rhs, 0).end_line;		\
			(now).col = (now).end_col =			\
				YYRHSLOC(rhs, 0).end_col;		\
		}							\
	} while (0)

/* An operator of up to three operands, over the whole rule. */
#define OP(name, loc, ...) OP_(p->c, AMPC_OP_##name, loc, __VA_ARGS__, NULL, NULL)
#define OP_(c, op, loc, a, b, third, ...) ampc_expr_op(c, op, loc, a, b, third)
#define STMT(name, loc, body, orelse) \
	ampc_stmt_new(p->c, AMPC_STMT_##name, loc, body, orelse)
}

%token <word> NAME "a name" TYPE "a type"
%token <number> NUMBER "a number"
%token BREAK "'break'" CONST "'const'" CONTINUE "'continue'" DO "'do'"
%token ELSE "'else'" EVENT "'Event'" FALSE "'FALSE'" FOR "'for'" GOTO "'goto'"
%token IF "'if'" PARAM "'param'" RETURN "'return'" TRUE "'TRUE'"
%token WHILE "'while'"
%token INC "'++'" DEC "'--'" ADD_SET "'+='" SUB_SET "'-='" MUL_SET "'*='"
%token DIV_SET "'/='" MOD_SET "'%='" LE "'<='" GE "'>='" EQ "'=='" NE "'!='"
%token AND "'&&'" OR "'||'"
%token YYEOF 0 "the end of the file"

/*
 * `Page page;` makes the name of a type a variable. A statement that starts
 * with such a name and '*' is a declaration, as in C.
 */
%precedence TYPE_AS_NAME
%precedence THEN
%precedence ELSE
%right '=' ADD_SET SUB_SET MUL_SET DIV_SET MOD_SET
%right '?' ':'
%left OR
%left AND
%left EQ NE
%left '<' '>' LE GE
%left '+' '-'
%left '*' '/' '%'
%precedence UNARY
%precedence INC DEC

%type <word> name
%type <flags> qualifiers
%type <expr> expr expr_opt call
%type <args> args args_opt
%type <decl> declarator
%type <decls> declarators
%type <stmt> stmt block
%type <stmts> stmts

%%

policy:
	%empty
|	policy event
|	policy error
		{ recovered(p); p->c->has_lost_event = true; }
;

event:
	EVENT name '(' ')' block
		{ ampc_event_add(p->c, $name.name, @name, $block); }
;

block:
	open stmts '}'
		{ close_block(p, @1, @3); $$ = block(p, @$, $stmts); }
|	open stmts NAME ':' '}'
		{
			struct ampc_loc loc = ampc_loc_span(@3, @4);

			close_block(p, @1, @5);
			append(&$stmts, labelled(p, loc, $3.name,
						 STMT(EMPTY, loc, NULL, NULL)));
			$$ = block(p, @$, $stmts);
		}
|	open stmts error '}'
		{
			recovered(p);
			yyerrok;
			close_block(p, @1, @4);
			$$ = block(p, @$, $stmts);
		}
;

open:
	'{'
		{ p->blocks++; }
;

stmts:
	%empty
		{ $$ = (struct ampc_stmts){ NULL, NULL }; }
|	stmts[list] stmt
		{ $$ = $list; append(&$$, $stmt); }
;

stmt:
	';'
		{ $$ = STMT(EMPTY, @$, NULL, NULL); }
|	expr ';'
		{ $$ = STMT(EXPR, @expr, NULL, NULL); $$->expr = $expr; }
|	TYPE declarators ';'
		{ $$ = declaration(p, @$, 0, $TYPE.type, $declarators); }
|	'*' TYPE declarators ';'
		{ $$ = declaration(p, @$, 0, $TYPE.type, $declarators); }
|	qualifiers TYPE declarators ';'
		{ $$ = declaration(p, @$, $qualifiers, $TYPE.type, $declarators); }
|	qualifiers '*' TYPE declarators ';'
		{ $$ = declaration(p, @$, $qualifiers, $TYPE.type, $declarators); }
|	block
|	IF '(' expr ')' stmt %prec THEN
		{ $$ = STMT(IF, @$, $5, NULL); $$->expr = $expr; }
|	IF '(' expr ')' stmt ELSE stmt
		{ $$ = STMT(IF, @$, $5, $7); $$->expr = $expr; }
|	WHILE '(' expr ')' stmt[body]
		{ $$ = STMT(WHILE, @$, $body, NULL); $$->expr = $expr; }
|	DO stmt[body] WHILE '(' expr ')' ';'
		{ $$ = STMT(DO, @$, $body, NULL); $$->expr = $expr; }
|	FOR '(' expr_opt[init] ';' expr_opt[test] ';' expr_opt[step] ')' stmt[body]
		{
			$$ = STMT(FOR, @$, $body, NULL);
			$$->init = $init;
			$$->expr = $test;
			$$->step = $step;
		}
|	BREAK ';'
		{ $$ = STMT(BREAK, @1, NULL, NULL); }
|	CONTINUE ';'
		{ $$ = STMT(CONTINUE, @1, NULL, NULL); }
|	GOTO NAME ';'
		{ $$ = STMT(GOTO, @NAME, NULL, NULL); $$->name = $NAME.name; }
|	RETURN ';'
		{ $$ = STMT(RETURN, @1, NULL, NULL); }
|	NAME ':' stmt[body]
		{ $$ = labelled(p, @NAME, $NAME.name, $body); }
|	error ';'
		{
			recovered(p);
			yyerrok;
			$$ = STMT(EMPTY, @$, NULL, NULL);
		}
;

qualifiers:
	PARAM
		{ $$ = HIPEC_OPERAND_PARAM; }
|	CONST
		{ $$ = HIPEC_OPERAND_CONST; }
|	qualifiers PARAM
		{ $$ = add_flag(p, @2, $1, HIPEC_OPERAND_PARAM, "param"); }
|	qualifiers CONST
		{ $$ = add_flag(p, @2, $1, HIPEC_OPERAND_CONST, "const"); }
;

declarators:
	declarator
		{ $$ = (struct ampc_decls){ $1, &$1->next }; }
|	declarators[list] ',' declarator
		{
			$$ = $list;
			*$$.end = $declarator;
			$$.end = &$declarator->next;
		}
;

declarator:
	name
		{ $$ = declare(p, @name, $name.name, NULL); }
|	name '=' expr
		{ $$ = declare(p, @name, $name.name, $expr); }
|	'*' name
		{ $$ = declare(p, @name, $name.name, NULL); }
|	'*' name '=' expr
		{ $$ = declare(p, @name, $name.name, $expr); }
;

name:
	NAME
|	TYPE %prec TYPE_AS_NAME
;

expr_opt:
	%empty
		{ $$ = NULL; }
|	expr
;

expr:
	NUMBER
		{ $$ = number(p, @$, $NUMBER); }
|	TRUE
		{ $$ = number(p, @$, 1); }
|	FALSE
		{ $$ = number(p, @$, 0); }
|	name
		{ $$ = ampc_expr_new(p->c, AMPC_NAME, @$); $$->name = $name.name; }
|	call
|	'(' expr[in] ')'
		{ $$ = $in; $$->loc = @$; }
|	'-' expr[a] %prec UNARY		{ $$ = OP(NEG, @$, $a); }
|	'!' expr[a] %prec UNARY		{ $$ = OP(NOT, @$, $a); }
|	INC expr[a] %prec UNARY		{ $$ = OP(PRE_INC, @$, $a); }
|	DEC expr[a] %prec UNARY		{ $$ = OP(PRE_DEC, @$, $a); }
|	expr[a] INC			{ $$ = OP(POST_INC, @$, $a); }
|	expr[a] DEC			{ $$ = OP(POST_DEC, @$, $a); }
|	expr[a] '*' expr[b]		{ $$ = OP(MUL, @$, $a, $b); }
|	expr[a] '/' expr[b]		{ $$ = OP(DIV, @$, $a, $b); }
|	expr[a] '%' expr[b]		{ $$ = OP(MOD, @$, $a, $b); }
|	expr[a] '+' expr[b]		{ $$ = OP(ADD, @$, $a, $b); }
|	expr[a] '-' expr[b]		{ $$ = OP(SUB, @$, $a, $b); }
|	expr[a] '<' expr[b]		{ $$ = OP(LT, @$, $a, $b); }
|	expr[a] '>' expr[b]		{ $$ = OP(GT, @$, $a, $b); }
|	expr[a] LE expr[b]		{ $$ = OP(LE, @$, $a, $b); }
|	expr[a] GE expr[b]		{ $$ = OP(GE, @$, $a, $b); }
|	expr[a] EQ expr[b]		{ $$ = OP(EQ, @$, $a, $b); }
|	expr[a] NE expr[b]		{ $$ = OP(NE, @$, $a, $b); }
|	expr[a] AND expr[b]		{ $$ = OP(AND, @$, $a, $b); }
|	expr[a] OR expr[b]		{ $$ = OP(OR, @$, $a, $b); }
|	expr[a] '?' expr[b] ':' expr[c]	{ $$ = OP(COND, @$, $a, $b, $c); }
|	expr[a] '=' expr[b]		{ $$ = OP(SET, @$, $a, $b); }
|	expr[a] ADD_SET expr[b]		{ $$ = OP(ADD_SET, @$, $a, $b); }
|	expr[a] SUB_SET expr[b]		{ $$ = OP(SUB_SET, @$, $a, $b); }
|	expr[a] MUL_SET expr[b]		{ $$ = OP(MUL_SET, @$, $a, $b); }
|	expr[a] DIV_SET expr[b]		{ $$ = OP(DIV_SET, @$, $a, $b); }
|	expr[a] MOD_SET expr[b]		{ $$ = OP(MOD_SET, @$, $a, $b); }
;

call:
	name '(' args_opt ')'
		{ $$ = ampc_expr_call(p->c, $name.name, @name, @$, $args_opt.first); }
;

args_opt:
	%empty
		{ $$ = (struct ampc_args){ NULL, NULL }; }
|	args
;

args:
	expr
		{ $$ = (struct ampc_args){ $1, &$1->next }; }
|	args[list] ',' expr
		{
			$$ = $list;
			*$$.end = $expr;
			$$.end = &$expr->next;
		}
;

%%

static struct ampc_expr *number(struct ampc_parser *p, struct ampc_loc loc,
				s64 value)
{
	struct ampc_expr *e = ampc_expr_new(p->c, AMPC_NUMBER, loc);

	e->value = value;
	return e;
}

static struct ampc_stmt *block(struct ampc_parser *p, struct ampc_loc loc,
			       struct ampc_stmts stmts)
{
	return ampc_stmt_new(p->c, AMPC_STMT_BLOCK, loc, stmts.first, NULL);
}

static struct ampc_stmt *labelled(struct ampc_parser *p, struct ampc_loc loc,
				  const char *name, struct ampc_stmt *body)
{
	struct ampc_stmt *s = ampc_stmt_new(p->c, AMPC_STMT_LABEL, loc, body,
					    NULL);

	s->name = name;
	return s;
}

static void append(struct ampc_stmts *list, struct ampc_stmt *s)
{
	if (list->first)
		*list->end = s;
	else
		list->first = s;
	list->end = &s->next;
}

static struct ampc_decl *declare(struct ampc_parser *p, struct ampc_loc loc,
				 const char *name, struct ampc_expr *init)
{
	struct ampc_decl *d = ampc_alloc(p->c, sizeof(*d));

	d->loc = loc;
	d->name = name;
	d->init = init;
	return d;
}

/* The declarators of one declaration get its type and flags. */
static struct ampc_stmt *declaration(struct ampc_parser *p,
				     struct ampc_loc loc, u8 flags,
				     enum ampc_type type,
				     struct ampc_decls decls)
{
	struct ampc_stmt *s = ampc_stmt_new(p->c, AMPC_STMT_DECL, loc, NULL,
					    NULL);
	struct ampc_decl *d;

	for (d = decls.first; d; d = d->next) {
		d->type = type;
		d->flags = flags;
	}
	s->decl = decls.first;
	return s;
}

static u8 add_flag(struct ampc_parser *p, struct ampc_loc loc, u8 flags,
		   u8 flag, const char *word)
{
	if (flags & flag)
		ampc_report(p->c, loc, QUALIFIER_TWICE, word);
	return flags | flag;
}

static void scan(struct ampc_parser *p)
{
	if (!p->is_waiting)
		p->token = ampc_scan(&p->value, &p->loc, p->scanner);
	p->is_waiting = false;
}

/* Hand out a token of no width; that of the scanner waits. */
static int make_up(struct ampc_parser *p, struct ampc_loc *loc, int token)
{
	p->is_waiting = true;
	*loc = p->loc;
	loc->end_line = loc->line;
	loc->end_col = loc->col;
	p->look = *loc;
	p->given = token;
	return token;
}

static bool ends_event(const struct ampc_parser *p)
{
	return p->token == TOK_EVENT || p->token == TOK_YYEOF;
}

/* Notice the head of a for, from its word to its last parenthesis. */
static void track_for(struct ampc_parser *p)
{
	if (p->token == TOK_FOR) {
		p->in_for = true;
		p->parens = 0;
	} else if (p->token == '(') {
		p->parens++;
	} else if (p->token == '{' || p->token == '}' ||
		   (p->token == ')' && !--p->parens)) {
		p->in_for = false;
	}
}

/*
 * Go on from an error to the end of the statement that it is in: to its ';',
 * behind its block, or before the '}' of the block around it.
 *
 * Return: true if the end must be made up, before the token.
 */
static bool skip_statement(struct ampc_parser *p)
{
	u32 blocks = p->given == '{';

	for (;; scan(p)) {
		track_for(p);
		if (ends_event(p) || (p->token == '}' && !blocks))
			return true;
		if (p->token == ';' && !blocks && !p->in_for)
			return false;
		if (p->token == '{')
			blocks++;
		if (p->token != '}' || --blocks)
			continue;
		scan(p);
		if (p->token != TOK_ELSE)
			return true;
	}
}

/* What the parser needs to know of a token for its messages. */
static void note_token(struct ampc_parser *p)
{
	track_for(p);
	if (p->token == TOK_EVENT)
		p->has_event_error = false;
	if (p->is_event_name)
		p->in_init = p->token == TOK_NAME &&
			     !strcmp(p->value.word.name,
				     hipec_event_text(HIPEC_EVENT_INIT));
	p->is_event_name = p->token == TOK_EVENT;
}

/* An error in the source: what it swallows will be missed elsewhere. */
static void lose(struct ampc_parser *p)
{
	p->is_lost = true;
	p->has_event_error = true;
	if (p->in_init)
		p->c->has_lost_decl = true;
}

static void recovered(struct ampc_parser *p)
{
	p->is_lost = false;
}

/*
 * After an error the rest of its statement is left out here: bison would stop
 * at the first ';', be it in a block, and take the end of that block for the
 * end of the one around it. Blocks that are still open at the next Event or
 * at the end of the file get braces, so that the other events are read;
 * close_block() reports them.
 */
static int yylex(YYSTYPE *value, struct ampc_loc *loc, struct ampc_parser *p)
{
	p->prev = p->look;
	p->prev_name = p->given == TOK_NAME ? p->value.word.name : NULL;
	scan(p);
	if (p->is_lost && p->blocks && skip_statement(p))
		return make_up(p, loc, ';');
	if (p->blocks && ends_event(p))
		return make_up(p, loc, '}');
	note_token(p);
	*value = p->value;
	*loc = p->loc;
	p->look = *loc;
	p->given = p->token;
	if (p->token == TOK_REPORTED)
		lose(p);
	return p->token;
}

/* The lookahead, or what stands behind a brace that is not there. */
static const char *found(struct ampc_parser *p)
{
	if (p->token == TOK_YYEOF)
		return "the end of the file";
	return ampc_printf(p->c, "'%s'", ampc_source_quote(p->c, p->loc));
}

/* Report a block that ends with a brace which yylex() made up. */
static void close_block(struct ampc_parser *p, struct ampc_loc open,
			struct ampc_loc close)
{
	p->blocks--;
	if (close.col != close.end_col || p->has_event_error ||
	    p->place.has_open_comment)
		return;
	p->has_event_error = true;
	ampc_report(p->c, close, BRACE_OPEN, found(p));
	ampc_report(p->c, open, BRACE_OPEN_HERE);
}

/* Bison's own errors: its stack is bounded. */
static void yyerror(struct ampc_loc *loc, struct ampc_parser *p,
			 const char *text)
{
	(void)text;
	p->c->has_lost_event = true;
	ampc_report(p->c, *loc, TOO_DEEP, AMPC_MAX_DEPTH);
}

/* What the parser could take instead of the lookahead. */
struct wanted {
	struct ampc *c;
	bool have[YYNTOKENS];
	const char *text;
};

static bool has(const struct wanted *w, int token)
{
	return w->have[YYTRANSLATE(token)];
}

static void add(struct wanted *w, const char *words)
{
	w->text = w->text ? ampc_printf(w->c, "%s or %s", w->text, words) :
			    words;
}

static void add_tokens(struct wanted *w, const char *tokens)
{
	for (; *tokens; tokens++)
		if (has(w, (u8)*tokens))
			add(w, yysymbol_name(YYTRANSLATE((u8)*tokens)));
}

/*
 * The wanted tokens in words. Tokens that start a statement or an expression
 * together are called just that. Behind a complete expression an operator
 * could follow as well, but what is missing there is what ends it.
 */
static const char *wanted_text(struct wanted *w)
{
	bool statement = has(w, TOK_IF);
	bool expression = has(w, TOK_NUMBER);
	bool name = has(w, TOK_NAME) && !expression;

	if (name) {
		add(w, "a name");
	} else if (has(w, '+')) {
		add_tokens(w, has(w, ';') ? ";" : "),:");
	} else if (statement) {
		add(w, "a statement");
		add_tokens(w, "}");
	} else {
		if (expression)
			add(w, "an expression");
		else if (has(w, TOK_TYPE))
			add(w, "a type");
		add_tokens(w, has(w, ';') ? ";)" : "({}),:=");
		if (has(w, TOK_WHILE))
			add(w, "'while'");
		if (has(w, TOK_EVENT))
			add(w, "'Event'");
	}
	return w->text ? w->text : "something else";
}

static int yyreport_syntax_error(const yypcontext_t *ctx,
				 struct ampc_parser *p)
{
	struct wanted w = { .c = p->c };
	yysymbol_kind_t kinds[YYNTOKENS];
	struct ampc_loc loc = *yypcontext_location(ctx);
	int i, nr = yypcontext_expected_tokens(ctx, kinds, YYNTOKENS);

	for (i = 0; i < nr; i++)
		w.have[kinds[i]] = true;
	lose(p);
	if (p->place.has_open_comment)
		return 0;
	/* What is missing at the end of a line is shown there. */
	if (p->prev.line && p->prev.end_line < loc.line) {
		loc.line = loc.end_line = p->prev.end_line;
		loc.col = p->prev.end_col;
		loc.end_col = loc.col + 1;
	}
	ampc_report(p->c, loc, EXPECTED, wanted_text(&w), found(p));
	if (p->given == TOK_NAME && p->prev_name)
		ampc_suggest_type(p->c, p->prev_name, p->prev);
	return 0;
}

/**
 * ampc_parse() - read the source into the tree
 * @c: compilation with a source; errors are reported there
 */
void ampc_parse(struct ampc *c)
{
	struct ampc_parser p = {
		.c = c,
		.place = { .c = c, .line = 1, .col = 1 },
	};

	p.scanner = ampc_scanner_new(&p.place);
	yyparse(&p);
	c->has_lost_event |= p.place.has_open_comment;
	c->has_lost_decl |= c->has_lost_event;
	ampc_scanner_free(p.scanner);
}
