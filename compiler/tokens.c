// SPDX-License-Identifier: GPL-2.0-only
/*
 * Between scanner and parser: which tokens the parser gets after an error, and
 * what its messages need to know of those it got.
 *
 * Interface:
 * ampc_yylex()        the parser's next token; bison wants the name
 * ampc_token_found()  the one that it stumbles over, in the user's words
 * ampc_token_lose(), ampc_token_recovered()  an error, and its end
 * ampc_token_close()  a block ends
 */
#include "parser.h"

static void scan(struct ampc_parser *p)
{
	if (!p->is_waiting)
		p->token = ampc_scan(&p->value, &p->loc, p->scanner);
	p->is_waiting = false;
}

/* The next token of what is left out after an error. */
static void scan_quiet(struct ampc_parser *p)
{
	p->place.is_quiet = true;
	scan(p);
	p->place.is_quiet = false;
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
 * Go on from an error to the end of the statement in the block that it is in:
 * behind its ';' or its own block, or before the '}' of the block around it.
 */
static void skip_statement(struct ampc_parser *p)
{
	u32 blocks = p->given == '{';

	for (;; scan_quiet(p)) {
		track_for(p);
		if (ends_event(p) || (p->token == '}' && !blocks))
			return;
		if (p->token == '{')
			blocks++;
		else if (p->token == '}')
			blocks--;
		else if (p->token != ';' || p->in_for)
			continue;
		if (blocks)
			continue;
		scan(p);
		if (p->token != TOK_ELSE)
			return;
	}
}

/* Whether a statement may begin behind @token, which was given last. */
static bool starts_statement(int token)
{
	return token == ';' || token == '{' || token == '}' || token == ')' ||
	       token == ':' || token == TOK_ELSE || token == TOK_DO;
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
				     hipec_vm_event_text(HIPEC_EVENT_INIT));
	p->is_event_name = p->token == TOK_EVENT;
	if (p->token == TOK_EVENT || p->token == '{')
		p->in_head = p->token == TOK_EVENT;
	if (starts_statement(p->given) && p->token != '{')
		p->first_word = p->token == TOK_NAME ? p->value.word.name : NULL;
}

/* Note an error in the source: what it swallows will be missed elsewhere. */
void ampc_token_lose(struct ampc_parser *p)
{
	p->is_lost = true;
	p->has_event_error = true;
	if (p->in_init)
		p->c->has_lost_decl = true;
}

/* Note that the parser stands behind the error. */
void ampc_token_recovered(struct ampc_parser *p)
{
	p->is_lost = false;
}

/**
 * ampc_yylex() - the parser's next token
 * @value: its value
 * @loc:   its place
 * @p:     parser
 *
 * After an error the rest of its statement is left out here: bison would stop
 * at the first ';', be it in a block, and take the end of that block for the
 * end of the one around it. Blocks that are still open at the next Event or
 * at the end of the file get braces, so that the other events are read;
 * ampc_token_close() reports them.
 *
 * Return: the token.
 */
int ampc_yylex(AMPC_YYSTYPE *value, struct ampc_loc *loc,
	       struct ampc_parser *p)
{
	p->prev = p->look;
	p->prev_token = p->given;
	p->prev_name = p->given == TOK_NAME ? p->value.word.name : NULL;
	if (p->is_lost)
		scan_quiet(p);
	else
		scan(p);
	if (p->is_lost && p->blocks) {
		skip_statement(p);
		return make_up(p, loc, ';');
	}
	if (p->blocks && ends_event(p))
		return make_up(p, loc, '}');
	note_token(p);
	*value = p->value;
	*loc = p->loc;
	p->look = *loc;
	p->given = p->token;
	if (p->token == TOK_REPORTED)
		ampc_token_lose(p);
	return p->token;
}

/* The token that the parser stumbles over, or the one behind a made-up brace. */
const char *ampc_token_found(struct ampc_parser *p)
{
	if (p->token == TOK_YYEOF)
		return "the end of the file";
	return ampc_printf(p->c, "'%s'", ampc_source_quote(p->c, p->loc));
}

/**
 * ampc_token_close() - note the end of a block, report one that is made up
 * @p:     parser
 * @open:  place of its '{'
 * @close: place of its '}'
 */
void ampc_token_close(struct ampc_parser *p, struct ampc_loc open,
		      struct ampc_loc close)
{
	p->blocks--;
	if (close.col != close.end_col || p->has_event_error ||
	    p->place.has_open_comment)
		return;
	p->has_event_error = true;
	ampc_report(p->c, close, BRACE_OPEN, ampc_token_found(p));
	ampc_report(p->c, open, BRACE_OPEN_HERE);
}
