/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of the parser: shared by parse*.c and expected.c only.
 *
 * Recursive descent; each function is named after its production, which stands above it. After the first error every
 * token is the end of the text and nothing is consumed any more, so functions need not test for errors: they return
 * something well formed and unwind.
 *
 * A newline ends a statement that is complete. So places where the statement could end ask ended() first; places where
 * something must follow do not, and go on over the newline.
 */
#ifndef HQ_QUERY_GRAMMAR_PARSER_H
#define HQ_QUERY_GRAMMAR_PARSER_H

#include "common/vec.h"
#include "query/grammar/expected.h"
#include "query/grammar/lexer.h"
#include "query/grammar/parse.h"
#include <string.h>

enum { NESTING_MAX = 100, OPERATORS_MAX = 1000 };

struct parser {
    struct script *script;
    struct arena *arena; /* the script's */
    const struct parse_options *options;
    struct lexer lexer, after; /* before and behind the token that was peeked */
    struct token token;        /* valid if `peeked` */
    enum lex_mode mode;
    bool peeked;
    struct place last;            /* of the token consumed last */
    struct expected_set expected; /* noted since then */
    unsigned parens;              /* open ones: no newline ends the statement */
    unsigned nesting, operators;
    bool in_query;        /* clause keywords are reserved */
    struct place keyword; /* of the clause that is being parsed */
    bool other_keyword;   /* in its other spelling */
    enum view_kind view;
    const struct source *parameter; /* the value of a parameter that is being parsed, or NULL */
    struct hq_error *error;
    bool error_at_end;
    uint32_t rest;    /* where the words of `help` begin */
    bool stop_at_end; /* keep `expected` of the end of the text: do not recover from an error there */
};

/* Adds a value to a LIST; capacities are the powers of two. */
#define list_push(a, list, ...) \
    do { \
        __typeof__(*(list)->data) list_x_ = (__VA_ARGS__); \
        size_t list_n_ = (list)->len; \
        if ((list_n_ & (list_n_ - 1)) == 0) { \
            void *list_new_ = arena_array((a), list_n_ ? 2 * list_n_ : 1, sizeof list_x_); \
            if (list_n_) \
                memcpy(list_new_, (list)->data, list_n_ * sizeof list_x_); \
            (list)->data = list_new_; \
        } \
        (list)->data[(list)->len++] = list_x_; \
    } while (0)

/* ---- tokens (parser.c) ---- */

/* The next token, read in that mode and not consumed; TOKEN_END behind an error. It holds until the next call. */
const struct token *peek(struct parser *p, enum lex_mode mode);
/* The token behind the peeked one, in plain mode. */
struct token peek_second(struct parser *p);
/* Consumes the peeked token and returns a copy. */
struct token next(struct parser *p);

/* Remembers what may stand here, for completion and for the error if it does not. */
void note(struct parser *p, enum expected_kind kind, const char *text);
void note_pattern(struct parser *p, enum name_kind names);

/* True where the statement ends if it may: end of text, ';', a line that is not indented. Notes EXPECTED_END. */
bool ended(struct parser *p);

/* True at a `|` or `>` that sends the result elsewhere, where an expression cannot go on. Only at the prompt. */
bool redirected(struct parser *p);

/* Keywords have no case. */
bool is_word(const struct token *t, const char *word);
bool is_mark(const struct token *t, const char *mark);
/* Optional: consume it if it is there and the statement has not ended. */
bool accept_word(struct parser *p, const char *word);
bool accept_mark(struct parser *p, const char *mark);
/* Required. */
void want_word(struct parser *p, const char *word);
void want_mark(struct parser *p, const char *mark);

/* ---- errors: the first one counts (parser.c) ---- */

/* `place` is what is marked below the text; `advice` a sentence behind it, or NULL. */
void fail(struct parser *p, const struct place *place, const char *advice, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The peeked token cannot stand here; lists what could. `what` completes "... is missing", or NULL. */
void fail_here(struct parser *p, const char *what);
/* Likewise, with advice before the list: lines, or "". */
void fail_missing(struct parser *p, const char *first_advice, const char *what);
/* Like fail_here, with the message `there is no WHAT "word"`. */
void fail_unknown(struct parser *p, const char *what);
/* Like fail_here, for a token behind a view that begins no clause: may advise `limit N` or `of NAME`. */
void fail_without_of(struct parser *p);
/* Like fail_here, for a missing operand, after a line of advice. */
void fail_operand(struct parser *p, const char *advice);
void hint(struct parser *p, const struct place *place, const char *text);
/* Whether something of that kind could stand here. */
bool expects(const struct parser *p, enum expected_kind kind);
/* The token as it was typed, safe for a terminal and not too long. */
const char *shown(struct parser *p, const struct token *t);
/* Returns what hq writes for a word of another tool at this place and for what stands behind it: `list f` is source of
 * f, `top20` procedures limit 20. NULL if the word is not known (foreign.c). */
const char *foreign_here(struct parser *p, const struct token *t);
/* The characters from a token on, up to white space: `flame.c:93`, `MPI_*`. */
const char *whole_word(struct parser *p, const struct token *t);

/* The place from a token on to what was consumed last. */
struct place since(const struct parser *p, const struct place *start);

/* Parameters: what follows is read from the value of {{name}} until leave_parameter, which demands that all of it was
 * read. */
struct parameter_state {
    struct lexer lexer;
    struct place place;
    unsigned parens;
    const struct source *outer;
};
bool enter_parameter(struct parser *p, struct parameter_state *state);
void leave_parameter(struct parser *p, struct parameter_state *state);
/* The value of the peeked parameter as it stands, consumed. */
const char *parameter_text(struct parser *p);

/* ---- productions ---- */

void check_bare_end(struct parser *p, const struct token *t); /* parse_pattern.c: fails if a bare name goes on */
struct pattern parse_pattern(struct parser *p, enum name_kind names); /* parse_pattern.c */
struct path parse_path(struct parser *p);
struct pattern parse_regex(struct parser *p);

struct expr *parse_expr(struct parser *p); /* parse_expr.c */
void note_operand(struct parser *p);
/* A comparison operator at the peeked token, consumed. */
bool accept_comparison(struct parser *p, enum operator* op);

struct metric_ref parse_metric(struct parser *p); /* parse_metric.c */
struct metric_ref parse_total_metric(struct parser *p);

uint32_t parse_count(struct parser *p, uint32_t least, const char *what); /* parse_value.c */
double parse_percent(struct parser *p, const char *what);
double parse_factor(struct parser *p);
struct instant parse_instant(struct parser *p);
number_ranges parse_ranges(struct parser *p, enum expected_kind kind);
const char *parse_file(struct parser *p, enum expected_kind kind, struct place *place);
/* One of n words, consumed; its number. */
int parse_choice(struct parser *p, const char *const *words, int n);

/* The clause that begins at the peeked token, or -1. Notes the clauses of the view. */
int clause_here(struct parser *p); /* parse_clause.c */
/* Whether a clause begins at the peeked token; notes nothing. Such a word is reserved where an operand may stand. */
bool clause_begins(struct parser *p);
void parse_clause(struct parser *p, struct query *q);
/* Parses the rest of each clause behind its keyword (clause_*.c). */
#define CLAUSE(kind, clause, ...) void clause_##clause(struct parser *p, struct query *q);
#include "query/grammar/clauses.def"
#undef CLAUSE
struct output_spec *parse_output(struct parser *p);     /* clause_form.c */
struct expectation parse_expectation(struct parser *p); /* parse_expect.c */

/* A view at the peeked token; false (nothing consumed) if there is none. */
bool parse_view(struct parser *p, struct query *q); /* parse_view.c */

void statement_group(struct parser *p, struct statement *s); /* parse_group.c */

/* Parses statements into script; the end of it all (parse.c). */
void parse_statements(struct parser *p);
void parser_init(struct parser *p, struct script *script, const struct parse_options *options);

#endif
