/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/choose/recounted.h"

/* Of procedures that share a name, and have different numbers of loops, none is known. */
static void add_count(struct map *counts, uint32_t name, uint32_t count)
{
    bool is_new;
    uint64_t *known = map_insert(counts, name, count, &is_new);

    if (!is_new && *known != count)
        *known = 0;
}

/* The name of the procedure whose loop a scope is, if the sides count its loops otherwise; 0. */
static uint32_t recounted(const struct tree *t, uint32_t scope, bool old, struct pairing *names,
                          const struct map counts[2])
{
    uint32_t host = tree_scope(t, scope)->kind == SCOPE_LOOP ? tree_enclosing(t, scope, SCOPE_PROCEDURE) : HQDB_NONE;

    if (host == HQDB_NONE)
        return 0;
    uint32_t name = pairing_procedure(names, t, tree_scope(t, host), old);
    uint64_t here = map_get(&counts[0], name, 0), there = map_get(&counts[1], name, 0);

    return here && there && here != there ? name : 0;
}

void recounted_loops(const struct tree *const sides[2], struct pairing *names, struct selection *s, bool *out[2])
{
    struct map counts[2] = {0}, told = {0};
    uint32_t first = 0;

    for (int i = 0; i < 2; i++)
        for (uint32_t k = 0; k < sides[i]->scope_count; k++) {
            const struct hqdb_scope *p = tree_scope(sides[i], k);

            if (p->kind == SCOPE_PROCEDURE && p->ordinal)
                add_count(&counts[i], pairing_procedure(names, sides[i], p, i), p->ordinal);
        }
    for (int i = 0; i < 2; i++) {
        out[i] = xcalloc((size_t)sides[i]->scope_count + 1, sizeof *out[i]);
        for (uint32_t k = 0; k < sides[i]->scope_count; k++) {
            uint32_t name = recounted(sides[i], k, i, names, counts);

            out[i][k] = name != 0;
            first = first ? first : name;
            if (name)
                map_put(&told, name, 1);
        }
    }
    if (first)
        vec_push(
            &s->notes,
            xasprintf("%s has %u loop%s on this side and %u on the old one%s: which is which nobody knows, so what "
                      "they take is compared as its own",
                      intern_str(&names->texts, first), (unsigned)map_get(&counts[0], first, 0),
                      map_get(&counts[0], first, 0) == 1 ? "" : "s", (unsigned)map_get(&counts[1], first, 0),
                      told.len > 1 ? ", and so it is with others" : ""));
    map_deinit(&counts[0]);
    map_deinit(&counts[1]);
    map_deinit(&told);
}
