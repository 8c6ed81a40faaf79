/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/choose/profiles.h"
#include "common/map.h"
#include "query/choose/slices.h"

static uint64_t group_key(const struct hqdb_profile *p, uint32_t number, enum per per)
{
    return per == PER_RANK && p->rank >= 0 ? (uint64_t)p->rank : per == PER_HOST ? p->host : (uint64_t)1 << 40 | number;
}

static bool any_rank(const struct selection *s)
{
    for (uint32_t i = 0; i < s->tree.db->profile_count; i++)
        if (selection_has_profile(s, i) && s->tree.db->profiles[i].rank >= 0)
            return true;
    return false;
}

enum per profiles_usual(const struct selection *s)
{
    return any_rank(s) ? PER_RANK : PER_THREAD;
}

static bool takes_part(const struct selection *s, uint32_t profile, enum which_profiles which, enum per per)
{
    bool queue = db_is_queue(s->tree.db, profile);

    if (queue && (which == PROFILES_COUNTED || (which == PROFILES_VALUED && per != PER_RANK && per != PER_HOST)))
        return false;
    if (!queue && which == PROFILES_QUEUES)
        return false;
    return !helpers_aside(&s->helpers, profile) || which == PROFILES_ALL || which == PROFILES_VALUED;
}

void profiles_group(const struct selection *s, enum per per, enum which_profiles which, struct groups_of_profiles *out)
{
    const struct db *db = s->tree.db;
    bool ranks = which != PROFILES_VALUED && which != PROFILES_ALL && !s->all_count && any_rank(s);
    struct map groups = {0};
    uint32_t *next;

    *out = (struct groups_of_profiles){.profile_count = db->profile_count};
    out->of = xmalloc((db->profile_count + 1) * sizeof *out->of);
    for (uint32_t i = 0; i < db->profile_count; i++) {
        out->of[i] = HQDB_NONE;
        if (!selection_has_profile(s, i) || (ranks && db->profiles[i].rank < 0) || !takes_part(s, i, which, per))
            continue;
        out->of[i] = (uint32_t)*map_insert(&groups, group_key(&db->profiles[i], i, per), out->count, NULL);
        out->count = (uint32_t)groups.len;
    }
    map_deinit(&groups);
    out->start = xcalloc(out->count + 2, sizeof *out->start);
    out->profiles = xcalloc(db->profile_count + 1, sizeof *out->profiles);
    for (uint32_t i = 0; i < db->profile_count; i++)
        if (out->of[i] != HQDB_NONE)
            out->start[out->of[i] + 1]++;
    for (uint32_t g = 0; g < out->count; g++)
        out->start[g + 1] += out->start[g];
    next = xcalloc(out->count + 1, sizeof *next);
    for (uint32_t i = 0; i < db->profile_count; i++)
        if (out->of[i] != HQDB_NONE)
            out->profiles[out->start[out->of[i]] + next[out->of[i]]++] = i;
    free(next);
}

void profiles_group_deinit(struct groups_of_profiles *g)
{
    free(g->of);
    free(g->start);
    free(g->profiles);
    *g = (struct groups_of_profiles){0};
}

/* Adds the values of a profile to raw[position]. */
static struct hq_error *profiles_add(const struct selection *s, uint32_t profile, uint32_t metric, int64_t *raw)
{
    const struct tree *t = &s->tree;
    struct db_value x;

    if (s->sliced)
        return slices_profile(s, profile, metric, raw, NULL);
    for (struct db_values v = db_profile_values(t->db, profile, metric); db_value_next(&v, &x);) {
        uint32_t at = x.frame;

        if (at >= t->db->frame_count || (s->keep && !s->keep[at]))
            continue;
        if (t->position)
            at = t->position[at];
        if (at < t->position_count)
            sum_add(&raw[at], x.sum);
    }
    return NULL;
}

struct hq_error *profiles_prefix(const struct selection *s, const struct groups_of_profiles *g, uint32_t group,
                                 uint32_t metric, int64_t *prefix)
{
    size_t n = s->tree.position_count;

    memset(prefix, 0, (n + 1) * sizeof *prefix);
    for (uint32_t i = g->start[group]; i < g->start[group + 1]; i++)
        if (selection_counts(s, false, g->profiles[i], metric))
            HQ_TRY(profiles_add(s, g->profiles[i], metric, prefix + 1));
    for (size_t i = 0; i < n; i++)
        sum_add(&prefix[i + 1], prefix[i]);
    return NULL;
}

bool profiles_by_frame(const struct selection *s)
{
    return !s->sliced && !s->keep && !s->tree.position && !s->tree.old;
}
