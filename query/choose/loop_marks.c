/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/choose/loop_marks.h"
#include "common/loop_calls.h"
#include "common/mem.h"
#include "common/vec.h"
#include <string.h>

struct loop_key {
    uint32_t procedure, number;
};

struct loop_lines {
    uint32_t line[2]; /* by side; 0: not known */
    bool several;     /* procedures of one name: nobody knows whose they are */
};

/* By side, 0 this one. */
struct marks {
    struct loop_calls calls;
    struct keymap lined; /* struct loop_key */
    VEC(struct loop_lines) lines;
};

static struct loop_key key_of(const struct tree *t, uint32_t loop, const uint32_t *names)
{
    return (struct loop_key){names[loop], tree_scope(t, loop)->ordinal};
}

/* ---- what is called ---- */

/* The innermost loop of the caller that a context is in; HQDB_NONE. */
static uint32_t loop_around(const struct tree *t, uint32_t c)
{
    for (uint32_t up = tree_parent(t, c); up != HQDB_NONE; up = tree_parent(t, up)) {
        enum scope_kind kind = tree_kind(t, up);

        if (kind == SCOPE_LOOP)
            return tree_scope_of(t, up);
        if (scope_is_called(kind) || kind == SCOPE_INLINE)
            break;
    }
    return HQDB_NONE;
}

static void note_calls(struct marks *m, const struct tree *t, const uint32_t *names, bool old)
{
    for (uint32_t c = 1; c < t->context_count; c++) {
        uint32_t scope = tree_scope_of(t, c);
        enum scope_kind kind = tree_scope(t, scope)->kind;
        uint32_t loop = kind == SCOPE_PROCEDURE || kind == SCOPE_INLINE ? loop_around(t, c) : HQDB_NONE;
        struct loop_key key = loop == HQDB_NONE ? (struct loop_key){0, 0} : key_of(t, loop, names);

        if (!key.procedure)
            continue;
        loop_calls_add(&m->calls, old, key.procedure, key.number, names[scope]);
    }
}

/* ---- lines ---- */

/* The line of a loop in the procedure that it is written in, from 1; 0: not known. */
static uint32_t line_within(const struct tree *t, uint32_t loop)
{
    const struct hqdb_scope *s = tree_scope(t, loop), *p;
    uint32_t up = tree_scope_parent(t, loop);

    while (up != HQDB_NONE && tree_scope(t, up)->kind == SCOPE_LOOP)
        up = tree_scope_parent(t, up);
    p = up == HQDB_NONE ? s : tree_scope(t, up);
    return p->line && p->line <= s->line && !strcmp(tree_text(t, p->file), tree_text(t, s->file))
               ? s->line - p->line + 1
               : 0;
}

static void note_lines(struct marks *m, const struct tree *t, const uint32_t *names, bool old)
{
    for (uint32_t i = 0; i < t->scope_count; i++) {
        uint32_t line = tree_scope(t, i)->kind == SCOPE_LOOP ? line_within(t, i) : 0;
        struct loop_key key = line ? key_of(t, i, names) : (struct loop_key){0, 0};
        bool is_new;

        if (!key.procedure)
            continue;
        uint32_t at = keymap_add(&m->lined, &key, &is_new);

        if (is_new)
            vec_push(&m->lines, (struct loop_lines){0});
        struct loop_lines *l = &m->lines.data[at];

        l->several |= l->line[old] && l->line[old] != line;
        l->line[old] = line;
    }
}

static void find_shifted(const struct marks *m, struct map *shifted)
{
    for (uint32_t i = 0; i < m->lined.len; i++) {
        const struct loop_lines *l = &m->lines.data[i];
        const struct loop_key *loop = keymap_key(&m->lined, i);

        if (l->line[0] && l->line[1] && l->line[0] != l->line[1] && !l->several)
            map_put(shifted, loop->procedure, 1);
    }
}

void loop_marks(const struct tree *const sides[2], uint32_t *const names[2], struct map *crossed, struct map *shifted)
{
    struct marks m = {0};

    keymap_init(&m.lined, sizeof(struct loop_key));
    for (int i = 0; i < 2; i++) {
        note_calls(&m, sides[i], names[i], i);
        if (shifted)
            note_lines(&m, sides[i], names[i], i);
    }
    loop_calls_cross(&m.calls, crossed);
    if (shifted)
        find_shifted(&m, shifted);
    loop_calls_deinit(&m.calls);
    keymap_deinit(&m.lined);
    vec_deinit(&m.lines);
}
