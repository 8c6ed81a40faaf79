/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The result of a query, the narrow waist of the query room: every view fills a table, every output format
 * reads one. Rows stand in display order, depth gives the nesting.
 * All texts and arrays live in the table's arena and end with table_destroy.
 */
#ifndef HQ_QUERY_TABLE_H
#define HQ_QUERY_TABLE_H

#include "common/arena.h"
#include "common/units.h"
#include "common/vec.h"
#include "format/database.h"
#include "format/scope.h"
#include "query/picture/palette.h"
#include <stdbool.h>
#include <stdint.h>

enum column_type { COLUMN_NUMBER, COLUMN_TEXT };
enum column_scope { SCOPED_INCLUSIVE, SCOPED_EXCLUSIVE, SCOPED_NONE };

struct column {
    const char *name;   /* heading: cputime, cputime.x, waste */
    const char *metric; /* measured or derived metric it shows, NULL for an expression */
    enum column_type type;
    enum column_scope scope;
    enum dim dim;
    double total;    /* of the whole; NaN: no percentage is shown */
    double base;     /* what percentages are of if it is not the total: a change's is the old value; 0 the total */
    double sample;   /* what one sample stands for; 0: it is counted exactly, or no amount of samples */
    bool marks_sign; /* a delta: positive values print with + */
    bool orders;     /* the query orders by it, or follows it */
    bool no_total;   /* total is a base for percentages only, not what the column adds up to */
    bool beside;     /* a text that belongs to the name: grids write it behind the name, where long texts do no harm */
    bool is_path;    /* and is a call path: `main > solve > smooth` */
    bool spare;      /* a screen that has no room for all leaves it out before others */
};

struct cell {
    double number;    /* NaN: blank; of a text, what it says to people and programs get as a number */
    double base;      /* percent of parent: its own base; else NaN and column.total counts */
    double ci;        /* half width of the 95 % interval, NaN unknown or not asked */
    const char *text; /* COLUMN_TEXT */
};

enum row_flag {
    ROW_ANCESTOR =
        1, /* does not satisfy where: kept because a descendant does, or because all are (query_env.keep_all) */
    ROW_FOLDED = 2, /* stands for several rows below the display limit: name says how many, cells how much */
    ROW_HOT = 4,    /* on the hot path */
    ROW_NEW = 8,
    ROW_GONE = 16, /* compare with */
    ROW_RECURSIVE = 32,
    ROW_ASIDE = 64, /* a launcher or helper, which statistics leave out (choose/helpers.h) */
};

struct row {
    uint64_t id; /* context id, or the hash of a set's identity; 0: none */
    enum scope_kind kind;
    unsigned flags;
    int depth;
    uint32_t number;           /* 1-based, what #3 names; 0 for folded rows */
    uint32_t times;            /* > 1: it stands for so many rounds of a recursion, one below the other */
    const char *name;          /* without call site; never NULL */
    const char *shown;         /* of its name, what formats for people show; NULL: all of it */
    const char *module, *file; /* NULL unknown */
    uint32_t line;             /* 0 unknown */
    enum loop_basis basis;     /* of a loop: where its line is from */
    const char *call_file;     /* call site, NULL none */
    uint32_t call_line;
    const char
        *apart;       /* what tells it from rows of the same name and place: its load module; NULL: nothing is needed */
    const char *key;  /* what it is known by in another build: "procedure main", "loop 2/3 of solve" (of three); NULL:
                         nothing, as lines */
    struct tint tint; /* for pictures of it; told where `as svg` is asked for */
    uint32_t profile; /* of a row of profiles the first; HQDB_NONE. Names need not tell such rows apart: a process has
                         one for each program that it executed */
    struct cell *cells; /* one a column */
};

struct picture;
struct chart;

enum verdict_kind { VERDICT_NONE, VERDICT_PASS, VERDICT_FAIL, VERDICT_INCONCLUSIVE };

struct table {
    struct arena arena;
    const char *query; /* canonical text */
    const char *view;
    VEC(struct column) columns;
    VEC(struct row) rows;
    bool chosen_columns; /* the query says which: all are shown, however wide */
    bool tree;           /* nested rows; else a flat list */
    bool facts;          /* name and text columns only (info): no numbers, no totals */
    struct picture
        *picture; /* of the trace views, in the arena; else NULL. table, tree and svg draw it instead of the rows */
    const struct chart *chart; /* of fold and clusters, in the arena; else NULL. svg draws it */
    struct coverage {
        int64_t samples, shown, filtered, partial;
        bool known;
    } coverage;
    struct verdict {
        enum verdict_kind kind;
        const char *text;
    } verdict;           /* of `expect`: the gravest, in one sentence */
    const char *unknown; /* a name of the query that nothing has, and which are near; NULL: none */
    const char *doubt;   /* why no expectation or baseline may be based on the rows; NULL: they are what they seem */
    VEC(const char *) notes; /* sentences for standard error after the result: hints, warnings, coverage */
};

/* The kind as the language names it: "procedure"; a partial root is a "root". */
const char *scope_kind_name(enum scope_kind kind);

struct table *table_create(void);
void table_destroy(struct table *t);
struct row *table_add_row(struct table *t); /* cells allocated for the present columns, blank */

/*
 * Ids as people see them: 13 digits of base 32, 0-9 and a-z without i, l, o and u, the most significant first,
 * so that the ids with a common prefix are a range.
 */
#define TABLE_ID_TEXT 14
void table_id_text(char text[TABLE_ID_TEXT], uint64_t id);
/* The range [*first, *last] of the ids that begin with 1 to 13 digits, of either case; false if it is no such text. */
bool table_id_range(const char *text, uint64_t *first, uint64_t *last);

#endif
