/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of printing (parse.h): what print.c has from print_expr.c and clause_*.c. Each adds canonical text to a
 * string. */
#ifndef HQ_QUERY_GRAMMAR_PRINTER_H
#define HQ_QUERY_GRAMMAR_PRINTER_H

#include "common/str.h"
#include "query/grammar/parse.h"

/* How strongly an operator binds. */
enum { LEVEL_OR, LEVEL_AND, LEVEL_NOT, LEVEL_COMPARISON, LEVEL_SUM, LEVEL_PRODUCT, LEVEL_UNARY, LEVEL_PRIMARY };

/* In as few digits as read back to the same number. */
void add_number(struct str *s, double x);
/* Bare or in quotes. */
void add_file(struct str *s, const char *file);
void add_regex(struct str *s, const struct pattern *p);
void add_pattern(struct str *s, const struct pattern *p);
void add_path(struct str *s, const struct path *path);
/* In parentheses if it binds less than `least`. */
void add_expr(struct str *s, const struct expr *e, int least);
/* ` WORD 0-3,7`; nothing where the list is empty. */
void add_ranges(struct str *s, const char *word, const number_ranges *list);
void add_instant(struct str *s, const struct instant *i);

/* Each clause, with a space before it; nothing where it is not given (clause_*.c). */
#define CLAUSE(kind, clause, ...) void add_##clause(struct str *s, const struct query *q);
#include "query/grammar/clauses.def"
#undef CLAUSE
void add_expectation(struct str *s, const struct expectation *e); /* clause_rows.c */
void add_output(struct str *s, const struct output_spec *as);     /* clause_form.c */

#endif
