/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/choose/one_sided.h"
#include "common/mem.h"

enum { LEAST_PART = 20 };

static uint32_t frames_below(const struct tree *t, uint32_t c)
{
    struct db_range r = tree_range(t, c);

    return r.last - r.first;
}

static bool calls_something(const struct tree *t, uint32_t c)
{
    for (uint32_t below = c + 1; below < tree_end(t, c); below++)
        if (scope_is_called(tree_kind(t, below)))
            return true;
    return false;
}

/* The largest loop of a side whose parent both have, and which the other has not; 0: none. */
static uint32_t largest(const struct tree *t, const uint32_t *node, const bool *others)
{
    uint32_t most = t->position_count / LEAST_PART, found = 0;

    for (uint32_t c = 1; c < t->context_count; c++) {
        uint32_t up = tree_parent(t, c);

        if (tree_kind(t, c) == SCOPE_LOOP && up != HQDB_NONE && !others[node[c]] && others[node[up]] &&
            frames_below(t, c) > most && calls_something(t, c)) {
            most = frames_below(t, c);
            found = c;
        }
    }
    return found;
}

void one_sided_note(const struct tree *const sides[2], uint32_t *const node[2], uint32_t node_count,
                    struct selection *s)
{
    for (int i = 0; i < 2; i++) {
        AUTO(arena_deinit) struct arena arena = {0};
        AUTO_FREE bool *others = xcalloc(node_count, sizeof *others);
        const struct tree *other = sides[1 - i];

        for (uint32_t c = 0; c < other->context_count; c++)
            others[node[1 - i][c]] = true;
        uint32_t c = largest(sides[i], node[i], others);

        if (c)
            vec_push(&s->notes,
                     xasprintf("%s is on %s only, so all that is called in it has another path there, and is new or "
                               "gone: `set loops off` compares without loops",
                               tree_scope_name(sides[i], tree_scope_of(sides[i], c), &arena),
                               i ? "the old side" : "this side"));
    }
}
