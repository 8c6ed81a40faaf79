/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of the output formats share: a small table, and a format's text of it. */
#ifndef HQ_TESTS_OUTPUT_HELP_H
#define HQ_TESTS_OUTPUT_HELP_H

#include "tests/unit/test.h"
#include "query/output.h"
#include "common/mem.h"
#include "common/str.h"

/* The caller frees the text; an error's message is the text. */
static inline char *text_of(const struct table *t, const char *format, const struct output_options *o)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct hq_error *err = output_write(output_find(format), t, o, out);

    if (err)
        fputs(err->message, out);
    hq_error_free(err);
    fclose(out);
    char *copy = xstrdup(text);
    free(text);
    return copy;
}

static inline void check_format(const struct table *t, const char *format, const struct output_options *o,
                                const char *want)
{
    AUTO_FREE char *got = text_of(t, format, o);
    if (strcmp(got, want))
        TEST_FAIL("as %s: wanted\n%s\ngot\n%s\n", format, want, got);
}

static inline void add_column(struct table *t, const char *name, const char *metric, enum column_scope scope,
                              enum dim dim, double total)
{
    vec_push(&t->columns, (struct column){.name = name, .metric = metric, .scope = scope, .dim = dim, .total = total});
}

static inline struct row *add_row(struct table *t, int depth, enum scope_kind kind, const char *name,
                                  const char *call_file, uint32_t call_line)
{
    struct row *r = table_add_row(t);
    r->depth = depth;
    r->kind = kind;
    r->name = name;
    r->call_file = call_file;
    r->call_line = call_line;
    r->number = (uint32_t)t->rows.len;
    return r;
}

static inline struct row *add_costs(struct table *t, int depth, enum scope_kind kind, const char *name,
                                    const char *call_file, uint32_t call_line, double inclusive, double exclusive)
{
    struct row *r = add_row(t, depth, kind, name, call_file, call_line);
    r->cells[0].number = inclusive;
    r->cells[1].number = exclusive;
    return r;
}

/* The calling contexts of the worked example ([presenting], figures 1 and 2), in seconds. */
static inline struct table *example_tree(void)
{
    struct table *t = table_create();

    t->tree = true;
    t->query = "tree";
    t->view = "tree";
    add_column(t, "cputime", "cputime", SCOPED_INCLUSIVE, DIM_SECONDS, 10);
    add_column(t, "cputime.x", "cputime", SCOPED_EXCLUSIVE, DIM_SECONDS, 10);
    add_costs(t, 0, SCOPE_PROCEDURE, "m", NULL, 0, 10, 0)->id = 1;
    add_costs(t, 1, SCOPE_PROCEDURE, "f", "/src/file1.c", 2, 7, 1)->id = UINT64_MAX;
    add_costs(t, 2, SCOPE_PROCEDURE, "g", "/src/file1.c", 7, 6, 1);
    add_costs(t, 3, SCOPE_PROCEDURE, "g", "/src/file2.c", 3, 5, 1);
    add_costs(t, 4, SCOPE_PROCEDURE, "h", "/src/file2.c", 4, 4, 4);
    struct row *loop = add_costs(t, 5, SCOPE_LOOP, "loop at file2.c:8", NULL, 0, 4, 0);
    loop->file = "/src/file2.c";
    loop->line = 8;
    add_costs(t, 6, SCOPE_LOOP, "loop at file2.c:9", NULL, 0, 4, 4);
    add_costs(t, 1, SCOPE_PROCEDURE, "g", "/src/file1.c", 8, 3, 3);
    t->coverage = (struct coverage){.samples = 1000, .shown = 1000, .known = true};
    return t;
}

#endif
