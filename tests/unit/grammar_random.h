/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random sentences of a grammar that is written as in doc/language.md:
 *
 *     name = "keyword" other { "," other } | [ optional ] (a | b) TERMINAL       notes stand behind eight spaces
 */
#ifndef HQ_TESTS_UNIT_GRAMMAR_RANDOM_H
#define HQ_TESTS_UNIT_GRAMMAR_RANDOM_H

#include "common/str.h"
#include "query/grammar/ast.h"
#include <stdint.h>

struct grammar;

/* Reads productions, a line each; a line that begins with white space goes on with the one before. Ends the program on
   what is no grammar: a name without a production, a terminal without samples. */
struct grammar *grammar_load(const char *text);
void grammar_free(struct grammar *g);

/* Adds a random sentence of a production. The same state gives the same sentence; *state moves on. */
void grammar_sentence(const struct grammar *g, const char *production, uint64_t *state, struct str *out);

/* The productions in the comments of the parser's sources, as grammar_load and the manual want them; free it. */
char *grammar_of_sources(void);
/* Adds the name of a clause's production: its words joined by dashes. */
void grammar_clause_production(enum clause_kind clause, struct str *out);
/* The fenced block `ebnf` of the manual; free it. */
char *grammar_of_manual(void);

uint64_t random_next(uint64_t *state);
/* Below n, n > 0. */
uint32_t random_below(uint64_t *state, uint32_t n);

#endif
