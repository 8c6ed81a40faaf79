/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Expressions: bound once per query to the metrics of a selection, with dimensions checked, then evaluated per row.
 *
 * A *slot* is a metric column: 2 * measure for inclusive, 2 * measure + 1 for exclusive. Values are doubles in seconds,
 * events or bytes; NaN is blank and everything computed from a blank is blank.
 */
#ifndef HQ_QUERY_EXPR_H
#define HQ_QUERY_EXPR_H

#include "common/arena.h"
#include "common/err.h"
#include "common/vec.h"
#include "query/grammar/ast.h"
#include "query/query.h"
#include "query/choose/select.h"

enum program_kind {
    PROGRAM_NUMBER,
    PROGRAM_TEXT,  /* number; text */
    PROGRAM_SLOT,  /* slot */
    PROGRAM_TOTAL, /* args[0] on the totals */
    PROGRAM_SHARE, /* number * args[0] on the totals: `5%` in a comparison */
    PROGRAM_ATTRIBUTE,
    PROGRAM_BESIDE,    /* the text that some views have beside the name */
    PROGRAM_STATISTIC, /* statistic: index in binding.statistics */
    PROGRAM_NEGATE,
    PROGRAM_NOT,
    PROGRAM_BINARY,
    PROGRAM_MATCH,
    PROGRAM_FUNCTION,
};

struct regex;

/* The remembered value of a let, which several expressions have in common: at one point it is computed once, however
 * often it is named. */
struct memo {
    uint64_t point, walk; /* where the value was computed; the walk that came by last */
    double value;
};

struct program {
    enum program_kind kind;
    enum dim dim;
    bool is_text;  /* gives a text, not a number */
    bool linear;   /* a linear combination of measured metrics: has a total, so a percentage has a meaning */
    bool literal;  /* made of bare numbers only: takes any dimension */
    bool constant; /* the same in every row */
    double number;
    const char *text; /* of a match its regular expression */
    unsigned slot;
    unsigned statistic;
    enum attribute attribute;
    enum operator op;
    enum function function;
    bool negated;
    struct regex *regex;
    struct program **args;
    const struct expr *expr; /* of a comparison or match: where it stands */
    unsigned arg_count;
    bool has_statistic; /* it, or something in it, is a statistic */
    struct memo *memo;  /* NULL: computed each time */
};

struct statistic {
    enum function function;
    struct program *arg;
};

/* A condition on what a row is called: an attribute is a text or a number, or matches. */
struct named {
    const struct program *condition, *attribute; /* or one of the view's own numbers, such as a sender */
    const struct program *value;                 /* NULL: a regular expression */
    struct pattern pattern;                      /* of a text or a regular expression: as `of` takes it */
    bool wanted;                                 /* rows called so are looked at; false: they are left out */
};

/* The names that a query's expressions are bound to, and what they use of them. */
struct binding {
    struct query_env *env;
    struct selection *selection;
    struct arena *arena;
    size_t here_count; /* measures of this database: $1 .. $2n */
    uint8_t *used;     /* [measures] referenced by some expression */
    bool uses_attributes, uses_waits, uses_groups;
    VEC(struct named) named; /* of where and expect (named.c) */
    /* Columns and sort keys are bound, conditions of where, or those of expect. */
    enum { BINDS_VALUES, BINDS_ROWS, BINDS_EXPECTATIONS } binds;
    bool has_rows_of_profiles; /* rank, thread, host have a meaning */
    unsigned row_kinds;        /* KIND_BIT of the rows of the view */
    const char *unknown;       /* what a condition wants names nothing that is known: why; NULL */
    const char *unknown_name;  /* likewise, but it matters only if no row is kept */
    VEC(struct statistic) statistics;
    VEC(struct regex *) regexes;
    VEC(struct script *) scripts; /* of lets */
    struct bound_let {            /* each is bound once, and shared */
        const struct let *let;
        bool exclusive;
        struct program *program;
    } * lets;
    size_t let_count, let_room;
    int let_depth;
    bool untimed; /* the last error: of a metric without a trace nothing is known in a slice of time */
};

void binding_init(struct binding *b, struct query_env *env, struct selection *s, struct arena *arena); /* bind.c */
void binding_deinit(struct binding *b);

/* `exclusive`: metrics without .x mean their exclusive values (for NAME.x of a let). */
struct hq_error *bind_expr(struct binding *b, const struct expr *e, bool exclusive, struct program **out);
/* A boolean expression for where and expect; a number is accepted and true if it is not 0. */
struct hq_error *bind_condition(struct binding *b, const struct expr *e, struct program **out);
/* Like bind_condition, but refuses an amount. */
struct hq_error *bind_expectation(struct binding *b, const struct expr *e, struct program **out);
/*
 * Adds to b->named what a condition names (named.c). `wanted`: rows for which it holds are looked at. An expectation
 * that speaks of names alone asks whether anything is called so: it adds none.
 */
void named_in_condition(struct binding *b, const struct program *condition);
void named_in_expectation(struct binding *b, const struct program *condition, bool wanted);
/* Notes which names and kinds of b->named no row can have; an error with `set strict on` (kinds.c). */
struct hq_error *named_check(struct binding *b);
/* Likewise of a pattern; *unknown becomes why, if it is not NULL. */
struct hq_error *names_check(struct binding *b, const struct pattern *named, const char **unknown);
/* `kind = line`: the kind, where the expression is a word that is also an attribute; else NULL. */
const char *kinds_bare(const struct expr *e, const struct expr *other);
/* The program for a metric column: $number, from 1. *name is its heading. NULL if there is no such column. */
struct hq_error *bind_column(struct binding *b, unsigned number, const struct place *place, struct program **out,
                             const char **name); /* bind_metrics.c */
/* Columns in $n numbering: 2 * (measured + lets). */
unsigned binding_columns(const struct binding *b);

struct group_names {
    const char *const *data;
    size_t len;
};

/* The values of a row that attributes are read from. */
struct facts {
    enum scope_kind kind;
    const char *name, *module, *file, *call_file, *host, *beside;
    uint32_t line, call_line;
    int depth; /* from 0 */
    bool waits;
    const struct group_names *groups; /* that it is in; NULL: nobody asked */
    uint64_t id;
    int64_t rank, thread; /* -1: none */
};

struct point {
    uint64_t number;          /* point_number(): another one for other values */
    const double *slots;      /* [2 * measures] */
    const double *totals;     /* the same, of the whole selection */
    const double *statistics; /* [binding.statistics]; NULL: all blank */
    const struct facts *facts;
};

/* A number that no point of this thread had, for point.number: what programs remember of one point is good for it
 * alone. */
uint64_t point_number(void);

/* The value at a point; NaN blank. */
double program_number(const struct program *p, const struct point *at);
/* In the buffer, which holds a path as long as a system allows and what stands around it, or somebody else's that lives
 * on; NULL blank. */
enum { PROGRAM_TEXT_ROOM = 4200 };
const char *program_text(const struct program *p, const struct point *at, char buffer[PROGRAM_TEXT_ROOM]);
/* 1, 0, or -1 for blank. */
int program_truth(const struct program *p, const struct point *at);
/* Its value on the totals: what 100 % is. */
double program_total(const struct program *p, const double *totals);
/* A measure that it reads and that adds up to nothing; NULL: all have a total. */
const struct measure *program_without_total(const struct program *p, const struct selection *s);

/* Walks over all slots a program reads; those of what is shared once. */
void program_slots(const struct program *p, void (*visit)(void *arg, unsigned slot), void *arg);

#endif
