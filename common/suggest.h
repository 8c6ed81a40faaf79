/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "Did you mean ...?": the words nearest to one that was not found. Distance is that of optimal string alignment:
 * insertions, deletions, substitutions and swaps of neighbours (Damerau, A technique for computer detection and
 * correction of spelling errors, CACM 1964), ignoring the case of ASCII letters. A word is near if at most a third of
 * the longer one (and always one letter, if there are three or more) is wrong, or if the sought text of two or more
 * letters begins it.
 */
#ifndef HQ_COMMON_SUGGEST_H
#define HQ_COMMON_SUGGEST_H

#include "common/str.h"
#include <stdbool.h>
#include <stddef.h>

enum { SUGGEST_MAX = 8 };

struct suggest {
    const char *word; /* sought; not owned */
    size_t len;
    size_t want;                   /* at most SUGGEST_MAX */
    size_t count;                  /* found so far */
    const char *best[SUGGEST_MAX]; /* nearest first; equals in the order added; not owned */
    unsigned scores[SUGGEST_MAX];  /* private: smaller is nearer */
};

/* The iterator form, for sources of any kind: init, add every candidate (which must live on), read best[0 .. count). */
void suggest_init(struct suggest *s, const char *word, size_t want);
void suggest_add(struct suggest *s, const char *candidate);

/* The array form: fills out with up to k words and returns how many. */
size_t suggest_top(const char *word, const char *const *words, size_t n, const char **out, size_t k);
/* The nearest word, or NULL if none is near. */
const char *suggest_nearest(const char *word, const char *const *words, size_t n);

/* Adds "; did you mean A?" or "; did you mean A, B or C?", nothing if nothing is near. */
void suggest_text(const struct suggest *s, struct str *out);

/* Whether a word is in a list that has blanks around each: " top flat ", whatever its case. For tables of the words
 * that others have for what is here. */
bool suggest_lists(const char *list, const char *word);

/* The distance, or limit + 1 if it is larger than limit or a word is longer than 255 bytes. */
size_t suggest_distance(const char *a, const char *b, size_t limit);

#endif
