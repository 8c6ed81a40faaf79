/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words of the query language: one row a thing. The parser, error messages, completion, `help` and the manual read
 * these tables, so a word added here is known everywhere. Those of views, clauses, statements, settings, functions and
 * attributes stand in views.def, clauses.def, statements.def, settings.def, functions.def and attributes.def.
 *
 * Tables indexed by an enum of ast.h have a row for every value, in order. Names are in lower case; a name of two words
 * has one space. `usage` is the syntax as help shows it, `summary` one line without a full stop.
 */
#ifndef HQ_QUERY_GRAMMAR_WORDS_H
#define HQ_QUERY_GRAMMAR_WORDS_H

#include "query/grammar/ast.h"

/* Whether a view takes `of PATTERN`. */
enum of_need { OF_NONE, OF_OPTIONAL, OF_REQUIRED };

/* The names that a pattern is matched with, for completion and for the nearest names. */
enum name_kind { NAMES_ANY, NAMES_PROCEDURE, NAMES_FILE, NAMES_MODULE };

/* The family of a view, by the kind of its rows: clauses have a meaning for whole families. */
enum view_family {
    FAMILY_NESTED,    /* costs, rows within rows */
    FAMILY_RANKED,    /* costs, one level */
    FAMILY_UNALIGNED, /* costs, one level, of things that another build does not have: lines, profiles */
    FAMILY_HOT_PATH,
    FAMILY_EXPLAIN,
    FAMILY_FACTS,     /* what the database holds */
    FAMILY_PROFILES,  /* the same, one row a profile */
    FAMILY_VISITS,    /* one row a visit in time */
    FAMILY_STRETCHES, /* one row a stretch of time, with its own metrics */
    FAMILY_FOLD,      /* the same of the mean one, which can be compared */
    FAMILY_TEAMS,     /* one row a parallel region, with metrics of its own */
    FAMILY_MESSAGES,  /* one row a pair of ranks, likewise */
    FAMILY_PICTURE,   /* of a trace */
    FAMILY_LEVEL,     /* the same, of one level of call paths */
    FAMILY_INSTANT,   /* one instant of a trace */
    FAMILIES
};

struct view_word {
    enum view_family family;
    const char *name;
    const char *others[3]; /* other spellings, NULL at the end */
    enum of_need of;
    enum name_kind names; /* what `of` looks up first */
    const char *usage, *summary;
};

struct clause_word {
    const char *name;
    const char *other;         /* another spelling, or NULL */
    const char *other_summary; /* where the other spelling says something else */
    const char *usage, *summary;
    bool repeats;         /* may be given several times */
    bool samples;         /* chooses samples: of struct samples (ast.h) */
    uint32_t contradicts; /* bit per enum clause_kind: cannot stand beside it; one of the two says so */
    uint32_t families;    /* bit per enum view_family: has a meaning there */
    /* Completes "it has no meaning for `procedures`: ". What is said of one family comes first, then what the family
       says of all clauses about costs, then what the clause says; or the clause's before the family's. */
    const char *why_not, *why[FAMILIES];
    bool why_first;
};

/* Behind `by`; the first is for what is not grouped. */
extern const char *const grouped_words[GROUPED_KINDS];

struct statement_word {
    const char *name, *other, *usage, *summary;
};

struct function_word {
    const char *name;
    unsigned min_args, max_args;
    bool statistic; /* with one argument: over profiles */
    double (*of_number)(
        double); /* of one number, such as those of math.h; what is not finite becomes blank. NULL: the engine's */
    bool plain_argument; /* takes no seconds, events or bytes */
    bool plain_result;   /* has no unit, whatever the argument has */
    const char *usage, *summary;
};

struct attribute_word {
    const char *name, *summary;
    bool is_text; /* its values are texts; else whole numbers */
};

/* The kind of value that a setting takes: one of its words, or else a text. */
enum setting_type { TAKES_WORD, TAKES_REGEX, TAKES_FILE };

struct setting_word {
    const char *name, *other;
    enum setting_type type;
    const char *words[5]; /* NULL at the end; of a switch "off" and "on" */
    unsigned start;       /* the number of the word that it is at the start */
    bool counts;          /* costs of rows depend on it: a baseline keeps it, and is compared under it */
    const char *summary;
};

extern const struct view_word view_words[VIEW_KINDS];
extern const struct clause_word clause_words[CLAUSE_KINDS];
extern const struct statement_word statement_words[STATEMENT_KINDS]; /* name NULL: query and wrong */
extern const struct function_word function_words[FUNCTION_KINDS];
extern const struct attribute_word attribute_words[ATTRIBUTE_KINDS];
extern const struct setting_word setting_words[SETTING_KINDS];

/* Is it the name of a view, or another spelling of one? */
bool view_known(const char *word);

/* Words of other tools and languages, where a statement, a clause ... is expected, and what they are here; NULL if it
 * is not known (foreign.c). */
const char *foreign_statement(const char *word);
const char *foreign_clause(const char *word);
const char *foreign_function(const char *word);

/* True if the clause has a meaning for the view; else *why (may be NULL) is the reason, a clause of a sentence. */
bool clause_allowed(enum view_kind view, enum clause_kind clause, const char **why);

/* True if every row of the view has the costs of a scope or profile: not of explain, whose rows are chosen by a share.
 */
bool view_has_costs(enum view_kind view);

/* `+`, `and`, ... */
const char *operator_text(enum operator op);

/* Case-insensitive lookup in a table; the number of the row, or -1. Words of two parts are given with one space. */
int find_function(const char *name);
int find_attribute(const char *name);
int find_setting(const char *name);

struct str;
/* How a setting is set: `set lines on|off`, `set waits /REGEX/|default`. */
void setting_usage(enum setting setting, struct str *out);
/* Its words in the order in which they are said, "on" before "off"; NULL at the end. */
const char *setting_choice(enum setting setting, int i);
/* Whether it is on or off. */
bool is_switch(enum setting setting);
/* The number of a word that a setting takes, or -1. */
int find_setting_word(enum setting setting, const char *word);

#endif
