/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/pattern/shades.h"
#include "common/arena.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/vec.h"
#include <math.h>
#include <string.h>

enum { OWN, ALL, COSTS };

/* So many of each family by what they cost themselves, and as many more by what they cost with all that they call. */
enum { CHOSEN = 8 };
#define DARK 1.25                                   /* dark shades lie closer by so much */
static const double share_least = 0.005, apart = 8; /* palette_distance */

struct candidate {
    const char *name;
    enum family family;
    double cost[COSTS];
    bool chosen;
};
typedef VEC(struct candidate) candidates;

static uint64_t key_of(const char *name, enum family family)
{
    return hash_str(name) + family;
}

/* ---- costs ---- */

/* The first metric that has a value; NULL: there is none. */
static const int64_t *costs_of(const struct db *db)
{
    for (size_t m = 0; m < db->metric_count; m++)
        if (db->sums[m][db->frame_count])
            return db->sums[m];
    return NULL;
}

static bool has_name(enum scope_kind kind)
{
    return kind != SCOPE_ROOT && kind != SCOPE_LINE && kind != SCOPE_FILE && kind != SCOPE_MODULE;
}

static double cost_between(const int64_t *sums, uint32_t first, uint32_t last)
{
    return (double)sums[last] - (double)sums[first];
}

/* of: [scope]. A statement's and a loop's own cost is that of the procedure around it. */
static void measure(const struct tree *t, const int64_t *sums, double (*of)[COSTS])
{
    AUTO_FREE uint32_t *holder = xcalloc(t->context_count + 1u, sizeof *holder),
                       *covered = xcalloc(t->scope_count + 1u, sizeof *covered);

    for (uint32_t c = 0; c < t->context_count; c++) {
        uint32_t s = tree_scope_of(t, c), parent = tree_parent(t, c);
        struct db_range r = tree_range(t, c);
        uint32_t next = c + 1 < tree_end(t, c) ? tree_first(t, c + 1) : r.last;

        bool within = parent != HQDB_NONE && (tree_kind(t, c) == SCOPE_LOOP || tree_kind(t, c) == SCOPE_LINE);
        holder[c] = within ? holder[parent] : s;
        of[holder[c]][OWN] += cost_between(sums, r.first, next > r.first ? next : r.first);
        if (c < covered[s])
            continue; /* inside another one of the same scope */
        of[s][ALL] += cost_between(sums, r.first, r.last);
        covered[s] = tree_end(t, c);
    }
}

/* One for each name of a family that costs anything. */
static void collect(const struct tree *t, const uint8_t *families, double (*of)[COSTS], struct arena *names,
                    candidates *out)
{
    struct map known = {0};

    for (uint32_t s = 0; s < t->scope_count; s++) {
        if (!has_name(tree_scope(t, s)->kind) || !(of[s][ALL] > 0))
            continue;
        const char *name = tree_scope_name(t, s, names);
        uint64_t at = *map_insert(&known, key_of(name, families[s]), out->len, NULL);

        if (at == out->len)
            vec_push(out, (struct candidate){.name = name, .family = families[s]});
        for (int k = 0; k < COSTS; k++)
            out->data[at].cost[k] += of[s][k];
    }
    map_deinit(&known);
}

/* ---- shades ---- */

static int dearest(const void *a, const void *b, void *which)
{
    const struct candidate *x = a, *y = b;
    double p = x->cost[*(int *)which], q = y->cost[*(int *)which];

    return p != q ? (p < q ? 1 : -1) : strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct candidate *)a)->name, ((const struct candidate *)b)->name);
}

struct placed {
    uint32_t light[COSTS * CHOSEN], dark[COSTS * CHOSEN];
    unsigned count;
};

/* The first shade that is far enough from those before, else the farthest. */
static void place(struct shades *s, const struct candidate *c, struct placed *before)
{
    double best = -1;
    unsigned chosen = 0;

    for (unsigned shade = 0; shade < PALETTE_SHADES && best < apart; shade++) {
        struct tint tint = {(uint8_t)c->family, (uint8_t)shade};
        uint32_t light = palette_colour(c->name, tint), dark = palette_dark(c->name, tint);
        double nearest = HUGE_VAL;

        for (unsigned i = 0; i < before->count; i++)
            nearest = fmin(nearest, fmin(palette_distance(light, before->light[i]),
                                         DARK * palette_distance(dark, before->dark[i])));
        if (nearest <= best)
            continue;
        best = nearest;
        chosen = shade;
        before->light[before->count] = light;
        before->dark[before->count] = dark;
    }
    before->count++;
    if (chosen)
        map_put(&s->of, key_of(c->name, c->family), chosen);
}

void shades_choose(struct shades *s, const struct tree *own, const uint8_t *families)
{
    const int64_t *sums = costs_of(own->db);
    struct placed placed[FAMILY_COUNT] = {0};
    struct arena names = {0};
    candidates all = {0};

    if (!sums)
        return;
    AUTO_FREE double(*of)[COSTS] = xcalloc(own->scope_count + 1u, sizeof *of);

    measure(own, sums, of);
    collect(own, families, of, &names, &all);
    for (int by = OWN; by < COSTS; by++) {
        unsigned taken[FAMILY_COUNT] = {0};
        candidates largest = {0};

        vec_sort_r(&all, dearest, &by);
        vec_foreach(c, &all) {
            if (c->chosen || c->cost[by] < share_least * (double)sums[own->db->frame_count] ||
                taken[c->family]++ >= CHOSEN)
                continue;
            c->chosen = true;
            vec_push(&largest, *c);
        }
        vec_sort(&largest, by_name);
        vec_foreach(c, &largest)
            place(s, c, &placed[c->family]);
        vec_deinit(&largest);
    }
    vec_deinit(&all);
    arena_deinit(&names);
}

unsigned shades_of(const struct shades *s, const struct tree *t, uint32_t scope, enum family family,
                   struct arena *names)
{
    if (!s->of.len || !has_name(tree_scope(t, scope)->kind))
        return 0;
    return (unsigned)map_get(&s->of, key_of(tree_scope_name(t, scope, names), family), 0);
}

void shades_deinit(struct shades *s)
{
    map_deinit(&s->of);
}
