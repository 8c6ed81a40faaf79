/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists the words and kinds of names that are possible at a place of a query: for completion, for `?`, and for error
 * messages. The parser itself notes what it would have accepted, so there is no second grammar.
 */
#ifndef HQ_QUERY_GRAMMAR_EXPECTED_H
#define HQ_QUERY_GRAMMAR_EXPECTED_H

#include "query/grammar/words.h"

enum expected_kind {
    EXPECTED_KEYWORD,   /* text: "sort by", "of", "asc" ... */
    EXPECTED_VIEW,      /* text: name of a view; statements too are listed as keywords */
    EXPECTED_CLAUSE,    /* text: name of a clause */
    EXPECTED_FUNCTION,  /* text */
    EXPECTED_ATTRIBUTE, /* text */
    EXPECTED_SETTING,   /* text */
    EXPECTED_MARK,      /* text: punctuation, "(" ">>" */
    EXPECTED_METRIC,    /* a metric: a name, $n; also old.NAME and delta.NAME */
    EXPECTED_TOTAL,     /* @n, @NAME */
    EXPECTED_PATTERN,   /* names: what it is matched with */
    EXPECTED_VALUE,     /* text: the attribute that is compared with it: kind, name, file, module, host */
    EXPECTED_REGEX,
    EXPECTED_STRING,
    EXPECTED_NUMBER,
    EXPECTED_PERCENT,
    EXPECTED_TIME, /* of a trace: 1.5s, 20% */
    EXPECTED_RANKS,
    EXPECTED_THREADS, /* a list: 0-3,7 */
    EXPECTED_DEVICES,
    EXPECTED_OPERATOR,
    EXPECTED_FORMAT,
    EXPECTED_DATABASE,
    EXPECTED_OUTPUT_FILE,
    EXPECTED_SCRIPT_FILE,
    EXPECTED_SAVED_QUERY,
    EXPECTED_NEW_NAME,
    EXPECTED_GROUP, /* the name of one that is defined */
    EXPECTED_PHASE, /* the name of one, in quotes */
    EXPECTED_HELP_WORD,
    EXPECTED_COMMAND,
    EXPECTED_END, /* the statement may end here */
};

struct expected {
    enum expected_kind kind;
    const char *text;     /* NULL where the kind says all */
    enum name_kind names; /* EXPECTED_PATTERN */
};

enum { EXPECTED_MAX = 128 };

struct expected_set {
    struct expected items[EXPECTED_MAX];
    size_t len;
};

/* Nothing is there twice. */
void expected_add(struct expected_set *set, struct expected item);

struct expected_place {
    struct expected_set set;
    size_t start; /* byte offset of the word that is being typed; the cursor itself after white space */
    bool quoted;  /* the word begins with a quote, which is at start - 1 */
};

/* Finds what is possible in place of the word that ends at byte `cursor` of a text (which may go on after it). */
void grammar_expected(const char *text, size_t cursor, struct expected_place *out);

/* "a metric", "a pattern", or the text of the item. Static. */
const char *expected_text(const struct expected *e);

#endif
