/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text to syntax tree and back. The grammar knows nothing of databases; what needs one is checked by whoever runs the
 * tree, and complains with place_error, so that all errors look alike:
 *
 *     query:1:12: there is no metric `cputim`
 *         procedures sort by cputim
 *                            ^~~~~~
 *     did you mean `cputime`?
 */
#ifndef HQ_QUERY_GRAMMAR_PARSE_H
#define HQ_QUERY_GRAMMAR_PARSE_H

#include "common/err.h"
#include "common/str.h"
#include "query/grammar/ast.h"

/* Values of {{name}}. A parameter with a default, {{name=value}}, need not be there. */
struct parameter {
    const char *name, *value;
};

struct parse_options {
    const struct parameter *parameters;
    size_t parameter_count;
    bool any_parameter; /* accept unknown ones, as the number 1 or the name `x`: to check a query without running it */
    bool recover;       /* after an error go on with the next statement; a wrong one becomes STATEMENT_WRONG */
    bool prompt;        /* allow `| COMMAND`, `> FILE` and `>> FILE` after a statement */
};

/*
 * Parses a whole text; options may be NULL. *out is always a script that the caller destroys, with the statements and
 * hints before the first error. The error, HQ_USAGE, has several lines: place and sentence, the line, a caret, what
 * could stand there or the nearest word.
 */
struct hq_error *parse_script(const struct source *source, const struct parse_options *options, struct script **out);

/* True if the text may be the beginning of something correct and more lines are wanted: what a prompt asks at each
 * newline. */
bool parse_is_incomplete(const char *text, const struct parse_options *options);

/* The canonical text in one line, in the arena: clauses in the order of their effect, keywords in lower case, names
   quoted where needed. Parsing it gives an equal tree (places aside). */
const char *print_statement(struct arena *arena, const struct statement *s); /* print.c */
const char *print_query(struct arena *arena, const struct query *q);
const char *print_expr(struct arena *arena, const struct expr *e);
const char *print_pattern(struct arena *arena, const struct pattern *p);
/* The value as it stands behind `set NAME`. */
void print_setting(struct str *s, enum setting setting, const struct setting_value *v);
/* Adds a text in double quotes; in single ones if that saves backslashes. */
void print_quoted(struct str *out, const char *text); /* print_expr.c */

/*
 * An error of that shape about any place of a tree. `advice` (may be NULL) is the last line, a whole sentence without a
 * newline.
 */
struct hq_error *place_error(const struct place *place, const char *advice, const char *fmt, ...)
    __attribute__((format(printf, 3, 4))); /* diagnostic.c */

#endif
