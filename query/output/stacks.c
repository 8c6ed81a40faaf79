/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/output/stacks.h"

#include "common/mem.h"
#include "query/output/text.h"
#include <string.h>

/* A row on the way, and how many frames there are down to it. */
struct open_row {
    size_t row;
    size_t frames;
};

struct hq_error *stacks_check(const struct table *t, const char *format)
{
    bool paths = t->view && (!strcmp(t->view, "tree") || !strcmp(t->view, "hot path"));

    if (!t->tree || !paths)
        return hq_error_new(HQ_USAGE, "as %s needs call paths: ask for `tree`, not `%s`", format,
                            t->view ? t->view : "this");
    for (size_t c = 0; c < t->columns.len; c++)
        if (stacks_has(&t->columns.data[c]))
            return NULL;
    return hq_error_new(HQ_USAGE, "as %s needs a column of inclusive numbers", format);
}

bool stacks_has(const struct column *c)
{
    return c->type == COLUMN_NUMBER && c->scope == SCOPED_INCLUSIVE;
}

double stacks_unit(const struct column *c, const char **unit)
{
    *unit = c->dim == DIM_SECONDS ? "nanoseconds" : c->dim == DIM_BYTES ? "bytes" : "count";
    return c->dim == DIM_SECONDS ? 1e9 : 1;
}

static const char *text_or_empty(const char *text)
{
    return text ? text : "";
}

struct frames {
    struct stack_frame *data;
    size_t len, cap;
};

/* A row becomes a frame, or a line of the frame around it. */
static void add_row(struct frames *f, const struct row *r, struct arena *names)
{
    char own[ROW_NAME_MAX];

    if (r->kind == SCOPE_LOOP || r->kind == SCOPE_LINE) {
        if (f->len && r->line)
            vec_last(f).line = r->line;
        if (f->len)
            return;
    }
    if (f->len && r->call_line)
        vec_last(f).line = r->call_line;
    vec_push(f, (struct stack_frame){.name = arena_strdup(names, row_name(r, own)),
                                     .module = text_or_empty(r->module),
                                     .file = text_or_empty(r->file),
                                     .start_line = r->line,
                                     .inlined = r->kind == SCOPE_INLINE && f->len > 0});
}

void stacks_each(const struct table *t,
                 void (*fn)(void *arg, size_t row, const struct stack_frame *stack, size_t depth), void *arg)
{
    VEC(size_t) path = {0};
    struct frames frames = {0};
    struct arena names = {0};

    for (size_t i = 0; i < t->rows.len; i++) {
        while (path.len && t->rows.data[vec_last(&path)].depth >= t->rows.data[i].depth)
            path.len--;
        vec_push(&path, i);
        if (t->rows.data[i].flags & ROW_FOLDED)
            continue;
        vec_clear(&frames);
        arena_reset(&names);
        for (size_t k = 0; k < path.len; k++)
            add_row(&frames, &t->rows.data[path.data[k]], &names);
        fn(arg, i, frames.data, frames.len);
    }
    arena_deinit(&names);
    vec_deinit(&frames);
    vec_deinit(&path);
}
