/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tokens -> tree, nothing else: no name is looked up here. After an error the
 * parser goes on behind the statement (tokens.c), or at the next Event.
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
	bool is_quiet;			/* bad tokens are not reported */
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

/* The parser's state beyond bison's, kept by tokens.c. */
struct ampc_parser {
	struct ampc *c;
	struct ampc_place place;
	void *scanner;

	/* The token that the scanner gave last. */
	int token;
	AMPC_YYSTYPE value;
	struct ampc_loc loc;
	bool is_waiting;		/* it stands behind a made-up token */

	/* What the parser got last, and before that. */
	int given;
	struct ampc_loc look, prev;
	int prev_token;
	const char *prev_name;		/* if that is a word */
	const char *first_word;		/* of the statement, if that is a name */

	u32 blocks;			/* open */
	bool has_event_error;		/* in this event */
	bool is_event_name;		/* the next token is one */
	bool in_head;			/* from Event to its '{' */
	bool in_init;

	/* The head of a for: its ';' end no statement. */
	bool in_for;
	u32 parens;			/* open in it */

	bool is_lost;			/* skip to the end of the statement */
};

/* lexer.l */
void *ampc_scanner_new(struct ampc_place *place);
void ampc_scanner_free(void *scanner);
int ampc_scan(AMPC_YYSTYPE *value, struct ampc_loc *loc, void *scanner);

/* tokens.c */
int ampc_yylex(AMPC_YYSTYPE *value, struct ampc_loc *loc,
	       struct ampc_parser *p);
const char *ampc_token_found(struct ampc_parser *p);
void ampc_token_lose(struct ampc_parser *p);
void ampc_token_recovered(struct ampc_parser *p);
void ampc_token_close(struct ampc_parser *p, struct ampc_loc open,
		      struct ampc_loc close);
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
static void yyerror(struct ampc_loc *loc, struct ampc_parser *p,
		    const char *text);
static struct ampc_stmt *block(struct ampc_parser *p, struct ampc_loc loc,
			       struct ampc_stmts stmts);
static void append(struct ampc_stmts *list, struct ampc_stmt *s);
static u8 add_flag(struct ampc_parser *p, struct ampc_loc loc, u8 flags,
		   u8 flag);

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
#define DECL(loc, flags, word, decls) \
	ampc_stmt_decl(p->c, loc, flags, (word).type, (decls).first)
}

%token <word> NAME "a name" TYPE "a type"
%token <number> NUMBER "a number"
%token BREAK "'break'" CONST "'const'" CONTINUE "'continue'" DO "'do'"
%token BY "'by'" COUNTER "'counter'" SHARED "'shared'"
%token <word> GHOSTS "'Ghosts'" TIMER "'Timer'" IN "'in'"
%token ELSE "'else'" EVENT "'Event'" FALSE "'FALSE'" FOR "'for'" GOTO "'goto'"
%token IF "'if'" PARAM "'param'" RETURN "'return'" TRUE "'TRUE'"
%token WHILE "'while'"
%token INC "'++'" DEC "'--'" ADD_SET "'+='" SUB_SET "'-='" MUL_SET "'*='"
%token DIV_SET "'/='" MOD_SET "'%='" LE "'<='" GE "'>='" EQ "'=='" NE "'!='"
%token AND "'&&'" OR "'||'" SHL "'<<'" SHR "'>>'" BIT_AND_SET "'&='"
%token UP_TO "'..'" BIT_OR_SET "'|='" BIT_XOR_SET "'^='" SHL_SET "'<<='" SHR_SET "'>>='"
%token YYEOF 0 "the end of the file"

/*
 * `Page page;` makes the name of a type a variable. A statement that starts
 * with such a name and '*' is a declaration, as in C. `Queue ghosts;` is one
 * of a variable as well, and `ghosts 3;` a setting; `Int in;`, `Int n in 1..9;`.
 */
%precedence TYPE_AS_NAME
%precedence THEN
%precedence ELSE
%right '=' ADD_SET SUB_SET MUL_SET DIV_SET MOD_SET BIT_AND_SET BIT_OR_SET
%right BIT_XOR_SET SHL_SET SHR_SET
%right '?' ':'
%left OR
%left AND
%left '|'
%left '^'
%left '&'
%left EQ NE
%left '<' '>' LE GE
%left SHL SHR
%left '+' '-'
%left '*' '/' '%'
%precedence UNARY
%precedence INC DEC '[' '.'

%type <word> name label
%type <flags> qualifiers qualifier
%type <expr> expr expr_opt call length_opt amount
%type <args> args args_opt
%type <decl> declarator variable
%type <decls> declarators
%type <stmt> stmt block setting
%type <stmts> stmts

%%

policy:
	%empty
|	policy event
|	policy error
		{ ampc_token_recovered(p); p->c->has_lost_event = true; }
;

event:
	start name '(' ')' block
		{ ampc_event_add(p->c, $name.name, @name, $block); }
;

start:
	EVENT
		{ yyerrok; }
;

block:
	open stmts '}'
		{ ampc_token_close(p, @1, @3); $$ = block(p, @$, $stmts); }
|	open stmts label ':' '}'
		{
			struct ampc_loc loc = ampc_loc_span(@3, @4);

			ampc_token_close(p, @1, @5);
			append(&$stmts,
			       ampc_stmt_label(p->c, loc, $3.name,
					       STMT(EMPTY, loc, NULL, NULL)));
			$$ = block(p, @$, $stmts);
		}
|	open stmts error '}'
		{
			ampc_token_recovered(p);
			yyerrok;
			ampc_token_close(p, @1, @4);
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
|	stmts[list] error ';'
		{ $$ = $list; ampc_token_recovered(p); yyerrok; }
;

stmt:
	';'
		{ $$ = STMT(EMPTY, @$, NULL, NULL); }
|	expr ';'
		{ $$ = STMT(EXPR, @expr, NULL, NULL); $$->expr = $expr; }
|	TYPE declarators ';'
		{ $$ = DECL(@$, 0, $TYPE, $declarators); }
|	'*' TYPE declarators ';'
		{ $$ = DECL(@$, 0, $TYPE, $declarators); }
|	qualifiers star_opt TYPE declarators ';'
		{ $$ = DECL(@$, $qualifiers, $TYPE, $declarators); }
|	setting ';'
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
|	GOTO label ';'
		{ $$ = STMT(GOTO, @label, NULL, NULL); $$->name = $label.name; }
|	RETURN ';'
		{ $$ = STMT(RETURN, @1, NULL, NULL); }
|	label ':' stmt[body]
		{ $$ = ampc_stmt_label(p->c, @label, $label.name, $body); }
;

/*
 * `Ghosts 100;` and `Timer 500;` stand among the declarations: they say what
 * the policy has, as `Queue q;` does, and nothing is assigned to them later.
 * Percent of its frames, milliseconds.
 */
setting:
	GHOSTS amount
		{ $$ = ampc_stmt_setting(p->c, @$, AMPC_GHOSTS, $1.name, $2); }
|	TIMER amount
		{ $$ = ampc_stmt_setting(p->c, @$, AMPC_TIMER, $1.name, $2); }
;

/* No '(' or sign can start it: `ghosts (3);` is a call. */
amount:
	NUMBER
		{ $$ = ampc_expr_number(p->c, @$, $NUMBER); }
|	NAME
		{ $$ = ampc_expr_new(p->c, AMPC_NAME, @$); $$->name = $NAME.name; }
;

qualifiers:
	qualifier
|	qualifiers[list] qualifier
		{ $$ = add_flag(p, @qualifier, $list, $qualifier); }
;

qualifier:
	PARAM		{ $$ = HIPEC_OPERAND_PARAM; }
|	CONST		{ $$ = HIPEC_OPERAND_CONST; }
|	COUNTER		{ $$ = HIPEC_OPERAND_COUNTER; }
|	SHARED		{ $$ = HIPEC_OPERAND_SHARED; }
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

/*
 * `Field age;` is declared like all else that a policy has and is used as C
 * uses a member: the paper's policies say what a page has with the page first,
 * as in Ref(page). `Queue q by age;` says the order where it says the queue.
 */
declarator:
	variable
|	variable BY name
		{
			$$ = $variable;
			$$->key = $name.name;
			$$->key_loc = @name;
		}
|	variable IN expr[low] UP_TO expr[high]
		{ $$ = ampc_decl_range($variable, $low, $high); }
;

variable:
	star_opt name length_opt
		{ $$ = ampc_decl_new(p->c, @name, $name.name, $3, NULL); }
|	star_opt name length_opt '=' expr
		{ $$ = ampc_decl_new(p->c, @name, $name.name, $3, $expr); }
;

/* The paper has one before a type; it changes nothing. */
star_opt: %empty | '*' ;

length_opt:
	%empty
		{ $$ = NULL; }
|	'[' expr ']'
		{ $$ = $expr; }
;

label: NAME | IN ;

name:
	NAME
|	TYPE %prec TYPE_AS_NAME
|	GHOSTS %prec TYPE_AS_NAME
|	TIMER %prec TYPE_AS_NAME
|	IN %prec TYPE_AS_NAME
;

expr_opt:
	%empty
		{ $$ = NULL; }
|	expr
;

expr:
	NUMBER
		{ $$ = ampc_expr_number(p->c, @$, $NUMBER); }
|	TRUE
		{ $$ = ampc_expr_number(p->c, @$, 1); }
|	FALSE
		{ $$ = ampc_expr_number(p->c, @$, 0); }
|	name
		{ $$ = ampc_expr_new(p->c, AMPC_NAME, @$); $$->name = $name.name; }
|	call
|	'(' expr[in] ')'
		{ $$ = $in; $$->loc = @$; }
|	'-' expr[a] %prec UNARY		{ $$ = OP(NEG, @$, $a); }
|	expr[a] '[' expr[b] ']'		{ $$ = OP(INDEX, @$, $a, $b); }
|	expr[a] '.' name
		{ $$ = ampc_expr_member(p->c, $a, $name.name, @name, @$); }
|	'!' expr[a] %prec UNARY		{ $$ = OP(NOT, @$, $a); }
|	'~' expr[a] %prec UNARY		{ $$ = OP(BIT_NOT, @$, $a); }
|	INC expr[a] %prec UNARY		{ $$ = OP(PRE_INC, @$, $a); }
|	DEC expr[a] %prec UNARY		{ $$ = OP(PRE_DEC, @$, $a); }
|	expr[a] INC			{ $$ = OP(POST_INC, @$, $a); }
|	expr[a] DEC			{ $$ = OP(POST_DEC, @$, $a); }
|	expr[a] '*' expr[b]		{ $$ = OP(MUL, @$, $a, $b); }
|	expr[a] '/' expr[b]		{ $$ = OP(DIV, @$, $a, $b); }
|	expr[a] '%' expr[b]		{ $$ = OP(MOD, @$, $a, $b); }
|	expr[a] '+' expr[b]		{ $$ = OP(ADD, @$, $a, $b); }
|	expr[a] '-' expr[b]		{ $$ = OP(SUB, @$, $a, $b); }
|	expr[a] SHL expr[b]		{ $$ = OP(SHL, @$, $a, $b); }
|	expr[a] SHR expr[b]		{ $$ = OP(SHR, @$, $a, $b); }
|	expr[a] '<' expr[b]		{ $$ = OP(LT, @$, $a, $b); }
|	expr[a] '>' expr[b]		{ $$ = OP(GT, @$, $a, $b); }
|	expr[a] LE expr[b]		{ $$ = OP(LE, @$, $a, $b); }
|	expr[a] GE expr[b]		{ $$ = OP(GE, @$, $a, $b); }
|	expr[a] EQ expr[b]		{ $$ = OP(EQ, @$, $a, $b); }
|	expr[a] NE expr[b]		{ $$ = OP(NE, @$, $a, $b); }
|	expr[a] '&' expr[b]		{ $$ = OP(BIT_AND, @$, $a, $b); }
|	expr[a] '^' expr[b]		{ $$ = OP(BIT_XOR, @$, $a, $b); }
|	expr[a] '|' expr[b]		{ $$ = OP(BIT_OR, @$, $a, $b); }
|	expr[a] AND expr[b]		{ $$ = OP(AND, @$, $a, $b); }
|	expr[a] OR expr[b]		{ $$ = OP(OR, @$, $a, $b); }
|	expr[a] '?' expr[b] ':' expr[c]	{ $$ = OP(COND, @$, $a, $b, $c); }
|	expr[a] '=' expr[b]		{ $$ = OP(SET, @$, $a, $b); }
|	expr[a] ADD_SET expr[b]		{ $$ = OP(ADD_SET, @$, $a, $b); }
|	expr[a] SUB_SET expr[b]		{ $$ = OP(SUB_SET, @$, $a, $b); }
|	expr[a] MUL_SET expr[b]		{ $$ = OP(MUL_SET, @$, $a, $b); }
|	expr[a] DIV_SET expr[b]		{ $$ = OP(DIV_SET, @$, $a, $b); }
|	expr[a] MOD_SET expr[b]		{ $$ = OP(MOD_SET, @$, $a, $b); }
|	expr[a] BIT_AND_SET expr[b]	{ $$ = OP(BIT_AND_SET, @$, $a, $b); }
|	expr[a] BIT_OR_SET expr[b]	{ $$ = OP(BIT_OR_SET, @$, $a, $b); }
|	expr[a] BIT_XOR_SET expr[b]	{ $$ = OP(BIT_XOR_SET, @$, $a, $b); }
|	expr[a] SHL_SET expr[b]		{ $$ = OP(SHL_SET, @$, $a, $b); }
|	expr[a] SHR_SET expr[b]		{ $$ = OP(SHR_SET, @$, $a, $b); }
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

static struct ampc_stmt *block(struct ampc_parser *p, struct ampc_loc loc,
			       struct ampc_stmts stmts)
{
	return ampc_stmt_new(p->c, AMPC_STMT_BLOCK, loc, stmts.first, NULL);
}

static void append(struct ampc_stmts *list, struct ampc_stmt *s)
{
	if (list->first)
		*list->end = s;
	else
		list->first = s;
	list->end = &s->next;
}

static u8 add_flag(struct ampc_parser *p, struct ampc_loc loc, u8 flags,
		   u8 flag)
{
	if (flags & flag)
		ampc_report(p->c, loc, QUALIFIER_TWICE,
			    ampc_source_quote(p->c, loc));
	return flags | flag;
}

/* Bison's own errors: its stack is bounded. */
static void yyerror(struct ampc_loc *loc, struct ampc_parser *p, const char *text)
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
		if (has(w, TOK_UP_TO))
			add(w, "'..'");
		add_tokens(w, has(w, ';') ? ";" : "]),:");
	} else if (statement) {
		add(w, "a statement");
		add_tokens(w, "}");
	} else {
		if (expression)
			add(w, "an expression");
		else if (has(w, TOK_TYPE))
			add(w, "a type");
		add_tokens(w, has(w, ';') ? ";)" :
			   expression ? ")" : "({}),:=");
		if (has(w, TOK_WHILE))
			add(w, "'while'");
		if (has(w, TOK_EVENT))
			add(w, "'Event'");
	}
	return w->text ? w->text : "something else";
}

static bool starts_declaration(int token)
{
	return token == TOK_TYPE || token == TOK_PARAM || token == TOK_CONST ||
	       token == TOK_COUNTER || token == TOK_SHARED;
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
	ampc_token_lose(p);
	if (p->place.has_open_comment)
		return 0;
	/* What is missing at the end of a line is shown there. */
	if (p->prev.line && p->prev.end_line < loc.line &&
	    !(has(&w, TOK_EVENT) && p->given == TOK_NAME)) {
		loc.line = loc.end_line = p->prev.end_line;
		loc.col = p->prev.end_col;
		loc.end_col = loc.col + 1;
	}
	ampc_report(p->c, loc, EXPECTED, wanted_text(&w), ampc_token_found(p));
	if (p->given == TOK_NAME && p->prev_token == TOK_NAME)
		ampc_suggest_type(p->c, p->prev_name, p->prev);
	if (!ampc_habit_syntax(p, loc) && has(&w, TOK_EVENT) &&
	    starts_declaration(p->given))
		ampc_report(p->c, loc, DECL_PLACE_WHY);
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
