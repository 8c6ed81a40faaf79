/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completes a text at its end: for Tab and for `?`. The grammar says which kinds of things are possible there; tables,
 * the open database and the file system say which ones there are. Names of the program are looked up by their beginning
 * (complete_names.h), the costliest come first, and to an empty word only a few of them.
 */
#ifndef HQ_REPL_PROMPT_COMPLETE_H
#define HQ_REPL_PROMPT_COMPLETE_H

#include "common/arena.h"
#include "repl/session.h"
#include <stdbool.h>
#include <stddef.h>

enum { CANDIDATES_MAX = 200 };

struct candidate {
    const char *text; /* what replaces the bytes from `start` on */
    const char *help; /* for `?`; NULL: none */
};

struct candidates {
    size_t start;           /* where in the text the word that is being typed begins */
    bool more;              /* there were more than CANDIDATES_MAX */
    bool open;              /* what is completed goes on: no space behind it */
    struct candidate *data; /* names of the program in the order of their cost */
    size_t len, cap;
    const char *sorts; /* what else may stand here but cannot be listed: "a number, a string"; NULL */
};

/* Texts live in the arena, the array is the caller's: vec_deinit. */
void complete(const struct session *s, const char *text, struct arena *arena, struct candidates *out);

#endif
