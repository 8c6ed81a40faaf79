/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leaves calls out of the page's tree and of its values by profile, so that it stays small. A call is small if it costs
 * less than a share of the total in every metric. Only calls are cut: exclusive and inclusive costs of the scopes that
 * are left stay exact.
 */
#include "common/mem.h"
#include "query/choose/derive.h"
#include "query/report/gather.h"
#include <math.h>
#include <string.h>

static bool is_large(const struct gathering *g, uint32_t c, double share)
{
    struct db_range r = tree_range(g->run.tree, c);

    vec_foreach(m, &g->run.selection.measures)
        if (m->side != SIDE_DELTA && m->total &&
            fabs((double)m->sums[r.last] - (double)m->sums[r.first]) >= share * fabs((double)m->total))
            return true;
    return false;
}

uint32_t *small_tops(const struct gathering *g, double share)
{
    const struct tree *t = g->run.tree;
    uint32_t *top = xmalloc(((size_t)t->context_count + 1) * sizeof *top);

    for (uint32_t c = 0; c < t->context_count; c++) {
        uint32_t parent = tree_parent(t, c);

        top[c] = parent == HQDB_NONE ? HQDB_NONE : top[parent];
        if (top[c] == HQDB_NONE && c && parent != HQDB_NONE && scope_is_called(tree_kind(t, c)) &&
            !is_large(g, c, share))
            top[c] = c;
    }
    return top;
}

/* Where the positions of a tree went, for those that a database's frames had in it. */
static uint32_t *compose(uint32_t *position, uint32_t frames, const uint32_t *place, uint32_t places)
{
    uint32_t *out = xmalloc(((size_t)frames + 1) * sizeof *out);

    for (uint32_t f = 0; f < frames; f++) {
        uint32_t at = position ? position[f] : f;

        out[f] = at < places ? place[at] : UINT32_MAX;
    }
    free(position);
    return out;
}

void small_cut(struct gathering *g, double share)
{
    struct tree *t = &g->run.selection.tree, old = *t;
    AUTO_FREE uint32_t *top = small_tops(g, share);
    AUTO_FREE uint32_t *node = xmalloc(((size_t)old.context_count + 1) * sizeof *node);
    AUTO_FREE uint32_t *place = NULL;
    struct hqdb_scope *scopes = xcalloc((size_t)old.scope_count + 1, sizeof *scopes);
    struct frame_source source = {&old, node};
    struct tree_builder b;

    memcpy(scopes, old.scopes, old.scope_count * sizeof *scopes);
    scopes[old.scope_count] = (struct hqdb_scope){.kind = SCOPE_PROCEDURE, .parent = HQDB_NONE};
    g->left_scope = old.scope_count;
    builder_init(&b, tree_scope_of(&old, 0), tree_context(&old, 0)->id);
    node[0] = 0;
    for (uint32_t c = 1; c < old.context_count; c++) {
        const struct hqdb_context *x = tree_context(&old, c);
        uint32_t parent = tree_parent(&old, c), above = node[parent == HQDB_NONE ? 0 : parent];

        if (top[c] == HQDB_NONE)
            node[c] = builder_child(&b, above, tree_scope_of(&old, c), x->call_file, x->call_line, x->id);
        else
            node[c] = top[c] == c ? builder_child(&b, above, g->left_scope, 0, 0, 0) : above;
    }
    builder_finish(&b, &source, 1, scopes, old.scope_count + 1, true, &place, t);
    t->position = compose(old.position, old.db->frame_count, place, old.position_count);
    if (old.old)
        t->old_position = compose(old.old_position, old.old->frame_count, place, old.position_count);
    vec_foreach(m, &g->run.selection.measures) {
        free(m->own_sums);
        free(m->own_counts);
        m->own_sums = m->own_counts = NULL;
        m->sums = m->counts = NULL;
    }
    for (size_t i = 0; i < sizeof old.owned / sizeof *old.owned; i++)
        free(old.owned[i]);
}
