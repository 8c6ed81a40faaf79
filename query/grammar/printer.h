/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of printing (parse.h): what print.c has from print_expr.c. Each adds canonical text to a string. */
#ifndef HQ_QUERY_GRAMMAR_PRINTER_H
#define HQ_QUERY_GRAMMAR_PRINTER_H

#include "common/str.h"
#include "query/grammar/parse.h"

/* How strongly an operator binds. */
enum { LEVEL_OR, LEVEL_AND, LEVEL_NOT, LEVEL_COMPARISON, LEVEL_SUM, LEVEL_PRODUCT, LEVEL_UNARY, LEVEL_PRIMARY };

void add_number(struct str *s, double x);
/* Bare or in quotes. */
void add_file(struct str *s, const char *file);
void add_regex(struct str *s, const struct pattern *p);
void add_pattern(struct str *s, const struct pattern *p);
void add_path(struct str *s, const struct path *path);
/* In parentheses if it binds less than `least`. */
void add_expr(struct str *s, const struct expr *e, int least);

#endif
