/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The syntax tree of the whole query language: the manual for whoever evaluates it. query/grammar/parse.h makes it,
 * doc/language.md tells users what it means.
 *
 * Plain tagged unions: look at `kind`, then at the member of that name. Everything lives in the arena of its script and
 * ends with script_destroy; nothing in a tree is shared with another script, and nobody changes a tree after parsing.
 * Texts end with NUL. Every node begins with its place, so that any later complaint ("no metric `cpu`") can show the
 * line with a caret: see place_error in parse.h. A place covers the whole node, operands included; an operator has a
 * place of its own.
 *
 * The parser has already made sure that:
 *   - a clause stands only in a view in which it has a meaning, and a single-valued one stands once (words.h has the
 * table);
 *   - functions exist and have the right number of arguments, so do row attributes, settings and statistics;
 *   - {{name}} is replaced by its value; keywords are spelled as here, whatever their case was;
 *   - numbers are finite; counts (limit, depth, level, ranks ...) are integers that fit.
 * It does not check what needs a database or a session: metrics, names that patterns match, output formats,
 * aliases of databases, dimensions of expressions.
 */
#ifndef HQ_QUERY_GRAMMAR_AST_H
#define HQ_QUERY_GRAMMAR_AST_H

#include "common/arena.h"
#include "common/units.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A list in the arena; works with vec_foreach. */
#define LIST(T) \
    struct { \
        T *data; \
        size_t len; \
    }

/* ---- places ---- */

/* A text that is parsed: a script file, one -q argument, one line at the prompt. */
struct source {
    const char *name; /* as errors show it: "queries/waste.hq", "query", "prompt" */
    const char *text;
    size_t length;
    uint32_t first_line; /* number of its first line; 0 counts as 1 */
};

struct place {
    const struct source *source; /* owned by the script; NULL only in a zeroed place */
    uint32_t offset, length;     /* bytes */
    uint32_t line, column;       /* from 1; column counts characters, a tab is one */
};

/* ---- patterns ---- */

enum pattern_kind {
    PATTERN_NAME,  /* text: look it up exactly first, then as a wildcard if it has any (doc/language.md, Patterns) */
    PATTERN_REGEX, /* text: PCRE2 source without slashes, caseless if `ignore_case` */
    PATTERN_ROW,   /* row: #row of the previous result, from 1 */
    PATTERN_GROUP, /* text: the name of a group: all that it holds */
    PATTERN_ID,    /* text: 6 to 13 lower-case base-32 digits, a prefix of a context's id */
};

struct pattern {
    struct place place;
    enum pattern_kind kind;
    const char *text;
    bool wildcards;   /* PATTERN_NAME: there is a * or ? in it */
    bool quoted;      /* it was given in quotes */
    bool ignore_case; /* PATTERN_REGEX: /.../i */
    uint32_t row;
};

/* PATH: A > B >> C. Found anywhere along the call path, outermost first. */
struct path_step {
    struct place place;
    bool far; /* any number of frames between the step before and this one (>>); false: a direct call (>).
                 Always false for the first step. */
    bool any; /* `*`: one frame of any name; pattern is zero */
    struct pattern pattern;
};

struct path {
    struct place place;
    LIST(struct path_step) steps; /* at least one */
};

/* ---- groups ---- */

enum part_kind {
    PART_SCOPES,  /* pattern: procedures, inlined procedures, loops, regions, phases */
    PART_FILES,   /* pattern: source files */
    PART_MODULES, /* pattern: load modules */
    PART_LOOPS,   /* pattern: all loops of what it matches */
    PART_LINES,   /* lines, pattern: of the source files that it matches */
    PART_GROUP,   /* group: all that another one holds */
};

struct number_range {
    uint32_t first, last;
}; /* both included, first <= last */
typedef LIST(struct number_range) number_ranges;

struct group_part {
    struct place place;
    enum part_kind kind;
    struct pattern pattern; /* a name or a regular expression */
    number_ranges lines;
    const char *group;
};

/* The groups that are the rows of `groups` and `flat by`: those in force (`set groups`), or a ready-made set. */
enum grouped { GROUPED_NOT, GROUPED_DEFINED, GROUPED_DIRECTORY, GROUPED_MODULE, GROUPED_RUNTIME, GROUPED_KINDS };

/* ---- expressions ---- */

enum metric_side {
    SIDE_HERE,
    SIDE_OLD,   /* old.NAME: the value in the database that is compared with, after `scaled by` */
    SIDE_DELTA, /* delta.NAME: here minus old */
};

/* $1 cputime cputime.x metric("...").x old.cputime delta.$1 delta (alone: of the first metric) */
struct metric_ref {
    struct place place;
    enum metric_side side;
    unsigned number;  /* $n: from 1, odd numbers inclusive, even ones exclusive; `delta` alone is 1. 0: by name */
    const char *name; /* NULL with a number. Compare without regard to case. */
    bool exclusive;   /* .x, .exclusive; never set with a number */
    bool quoted;      /* metric("..."): surely no other name (a derived metric or an alias can still match) */
    bool alone;       /* `old` or `delta` without a name: of the first metric that is compared */
};

enum attribute {
#define ATTRIBUTE(kind, ...) ATTRIBUTE_##kind,
#include "query/grammar/attributes.def"
#undef ATTRIBUTE
    ATTRIBUTE_KINDS
};

enum function {
#define FUNCTION(kind, ...) FUNCTION_##kind,
#include "query/grammar/functions.def"
#undef FUNCTION
    FUNCTION_KINDS
};

enum operator{
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_AND,
    OP_OR,
};

enum expr_kind {
    EXPR_NUMBER,    /* number, dim (DIM_NONE for a bare number); in base units */
    EXPR_PERCENT,   /* number: 5 for `5%`. A share of the total or number/100: doc/language.md, Expressions, decides */
    EXPR_STRING,    /* string */
    EXPR_METRIC,    /* metric */
    EXPR_TOTAL,     /* @metric: its total; metric */
    EXPR_ATTRIBUTE, /* attribute */
    EXPR_NEGATE,    /* left */
    EXPR_NOT,       /* left */
    EXPR_BINARY,    /* left op right; comparisons do not chain */
    EXPR_MATCH,     /* left =~ regex; `!~` sets negated */
    EXPR_CALL,      /* function(args) */
};

struct expr {
    struct place place;
    enum expr_kind kind;
    union {
        struct {
            double number;
            enum dim dim;
        };
        const char *string;
        struct metric_ref metric;
        enum attribute attribute;
        struct {
            struct place op_place; /* EXPR_BINARY, EXPR_NEGATE, EXPR_NOT, EXPR_MATCH */
            enum operator op;
            struct expr *left, *right;
            struct pattern regex; /* EXPR_MATCH: always PATTERN_REGEX */
            bool negated;
        };
        struct {
            struct place function_place;
            enum function function;
            LIST(struct expr *) args;
        };
    };
};

/* ---- views ---- */

enum view_kind {
#define VIEW(kind, ...) VIEW_##kind,
#include "query/grammar/views.def"
#undef VIEW
    VIEW_KINDS
};

/* An instant of a trace: a time from its start, or a share of its length. */
struct instant {
    struct place place;
    bool percent; /* value is 0 to 100 */
    double value; /* else seconds, not negative */
};

enum { FOLD_POINTS = 10000, FOLD_CALLERS = 63, EXTENT_MOST = 100000 }; /* at most; the last of a width or height */

struct view {
    struct place place; /* of the view with its `of` */
    enum view_kind kind;
    struct pattern *of; /* NULL without; never NULL for source and iterations */
    struct instant at;  /* VIEW_TRACE_AT; its rank or thread, and that of VIEW_TRACE_DEPTH, is in query.samples.ranks or
                           query.samples.threads;  none: the first profile */
    double share;       /* VIEW_EXPLAIN: percent, above 0 and at most 100 */
    struct expr *expr;  /* VIEW_EXPLAIN */
    struct pattern *between; /* VIEW_PHASES, and views of clusters: what is between visits to it; NULL: `of`, or between
                                MPI and OpenMP */
    uint32_t points;         /* VIEW_FOLD; 0: as many as usual */
    enum instances {
        INSTANCES_SD,
        INSTANCES_MAD,
        INSTANCES_ALL
    } instances;     /* VIEW_FOLD, VIEW_ROUTINES: which are folded */
    bool on_running; /* likewise: samples are placed by the CPU time that the thread has used since the visit began */
    struct place on_place;
    uint32_t cluster; /* likewise: of the stretches in this one, from 1; 0: of the visits to `of` */
    struct place cluster_place;
    uint32_t frames;        /* likewise: of each call path the innermost ones alone; 0: all */
    LIST(struct expr *) by; /* VIEW_CLUSTERS, and folds and traces of clusters: dimensions; none: the usual ones */
    double eps;             /* likewise; 0: as usual */
    uint32_t least;         /* likewise: `min` */
    enum grouped grouped;   /* VIEW_GROUPS, VIEW_FLAT: by what */
};

/* ---- clauses ---- */

enum clause_kind {
#define CLAUSE(kind, ...) CLAUSE_##kind,
#include "query/grammar/clauses.def"
#undef CLAUSE
    CLAUSE_KINDS
};

enum per { PER_USUAL, PER_THREAD, PER_RANK, PER_HOST }; /* usual: nothing is said */

enum during_kind {
    DURING_SLICE,     /* from, to */
    DURING_ITERATION, /* iteration NUMBER (from 1) of pattern */
    DURING_PATTERN,   /* while pattern is on the stack of the thread */
};

struct during {
    struct place place;
    enum during_kind kind;
    struct instant from, to;
    uint32_t number;
    struct pattern pattern;
};

struct through {
    struct place place;
    bool negated;
    struct path path;
};

struct column_def {
    struct place place;
    const char *name; /* NULL: no heading was given; print the expression */
    struct expr *expr;
};

struct sort_key {
    struct place place;
    struct expr *expr; /* NULL: nothing was given (the shell trap): the first metric; a hint is in script.hints */
    bool ascending;    /* what is not said is: attributes ascend, costs descend */
};

enum expect_kind {
    EXPECT_ALL,
    EXPECT_ANY,
    EXPECT_NO,   /* expr */
    EXPECT_ROWS, /* op, rows: `expect rows OP N`; `expect no rows` is OP_EQ 0 */
};

struct expectation {
    struct place place;
    enum expect_kind kind;
    struct expr *expr;
    enum operator op; /* a comparison */
    uint64_t rows;
};

enum percent_base { PERCENT_TOTAL, PERCENT_SHOWN, PERCENT_PARENT };

struct output_spec {
    struct place place;
    const char *format; /* in lower case */
    struct place format_place;
    const char *file; /* NULL: standard output */
    struct place file_place;
};

/* The clauses that choose samples: what is counted, and beside what. */
struct samples {
    number_ranges ranks, threads, devices; /* empty: all; of threads and devices one alone leaves out the others */
    enum per per;
    struct during *during;        /* NULL: the whole run */
    LIST(struct through) through; /* all of them are required */
    LIST(struct pattern) prune, hide;
    const char *compare; /* path or alias of the old database, NULL */
    double scale;        /* of the old side; 1 if not given */
};

struct query {
    struct place place;
    struct view view;
    struct place given[CLAUSE_KINDS]; /* of each clause (the first, if it may repeat); line 0: not given */

    struct samples samples;
    uint32_t flatten;                /* 0: not given; `flatten` alone is 1 */
    LIST(struct column_def) columns; /* empty: the default ones */
    LIST(struct expr *) where;       /* all of them are required */
    LIST(struct pattern) matching;   /* all of them are required */
    LIST(struct expectation) expect; /* in the order of the text */
    LIST(struct sort_key) sort;      /* empty: the default order */
    uint32_t limit, depth;           /* 0: not given */
    bool all;
    struct expr *by;  /* NULL: the first metric */
    double threshold; /* percent; 50 if not given */
    enum percent_base percent;
    uint32_t level, width, height; /* 0: not given (level counts from 1, the outermost frame) */
    struct output_spec *as;        /* NULL: table or tree on standard output */
};

/* ---- statements ---- */

enum statement_kind {
#define STATEMENT(kind, ...) STATEMENT_##kind,
#include "query/grammar/statements.def"
#undef STATEMENT
    STATEMENT_KINDS
};

enum setting {
#define SETTING(kind, ...) SETTING_##kind,
#include "query/grammar/settings.def"
#undef SETTING
    SETTING_KINDS,
    SETTING_NONE = SETTING_KINDS
};

/* The value of a setting: a word or a text; the setting's row (words.h) says which of them it takes. */
struct setting_value {
    struct place place;
    unsigned word;    /* without a text: the number of one of the row's words; of a switch, off is 0 and on is 1 */
    const char *text; /* regular expression without slashes, or file; NULL: a word */
    bool ignore_case; /* of a regular expression: /.../i */
};

struct text {
    struct place place;
    const char *text; /* NULL: not given */
};

struct statement {
    struct place place;
    enum statement_kind kind;
    union {
        struct query query; /* view and clauses, explain included */
        struct {
            struct text name;
            struct expr *expr;
        } let;
        struct {
            struct text name;
            LIST(struct group_part) parts;
        } group;
        struct {
            enum setting setting;
            struct setting_value value;
        } set;                     /* SETTING_NONE: `set` alone lists them */
        struct expectation expect; /* on the previous result */
        struct text run;           /* name of a saved query */
        struct text include;       /* file; relative to the file it stands in */
        struct {
            struct text db, alias;
        } open;
        struct output_spec *last; /* `last as ...`, or NULL */
        struct text help;         /* word or words, or NULL */
        struct text wrong;        /* the whole message of the error */
    };
    struct text pipe;     /* `| COMMAND` at the end of a line at the prompt: the command; else NULL */
    struct text redirect; /* `> FILE` or `>> FILE` likewise */
    bool append;          /* it was `>>` */
};

struct hint {
    struct place place;
    const char *text;
};

struct script {
    struct arena arena;
    struct source source;              /* a copy: the caller's text may end */
    LIST(struct statement) statements; /* those before the first error */
    LIST(struct hint) hints;           /* one sentence each, for standard error */
};

void script_destroy(struct script *s); /* parse.c */

#endif
