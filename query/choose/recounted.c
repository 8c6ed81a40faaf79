/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/choose/recounted.h"
#include "query/choose/loop_marks.h"

/* Of procedures that share a name, and have different numbers of loops, none is known. */
static void add_count(struct map *counts, uint32_t name, uint32_t count)
{
    bool is_new;
    uint64_t *known = map_insert(counts, name, count, &is_new);

    if (!is_new && *known != count)
        *known = 0;
}

/* Knowledge of the loops of both sides, by the names of their procedures. */
struct loops_known {
    struct map counts[2]; /* how many there are */
    struct map crossed;   /* as many, and not the same (loop_marks.h) */
    struct map shifted;
};

static bool is_recounted(const struct loops_known *k, uint32_t name)
{
    uint64_t here = map_get(&k->counts[0], name, 0), there = map_get(&k->counts[1], name, 0);

    return here && there && here != there;
}

/* Whether the numbers of the loops of a procedure say nothing. */
static bool is_unknown(const struct loops_known *k, uint32_t name)
{
    return name && (is_recounted(k, name) || map_find(&k->crossed, name));
}

static void tell(const struct loops_known *k, const struct pairing *names, uint32_t first, bool more,
                 struct selection *s)
{
    const char *others = more ? ", and so it is with others" : "", *name = pairing_shown(names, first);
    unsigned here = (unsigned)map_get(&k->counts[0], first, 0), there = (unsigned)map_get(&k->counts[1], first, 0);

    if (is_recounted(k, first))
        vec_push(&s->notes, xasprintf("%s has %u loop%s on this side and %u on the old one%s: which is which nobody "
                                      "knows, so what they take is compared as its own",
                                      name, here, here == 1 ? "" : "s", there, others));
    else
        vec_push(&s->notes, xasprintf("loops of %s call what other loops of it called on the old side%s: which is "
                                      "which nobody knows, so what they take is compared as its own",
                                      name, others));
}

/* Numbers are all that is known of several loops that are written on other lines than they were. */
static void tell_shifted(const struct loops_known *k, const struct pairing *names, struct selection *s)
{
    uint32_t first = 0;
    size_t told = 0, pos = 0;

    for (uint64_t name, value; map_next(&k->shifted, &pos, &name, &value);)
        if (map_get(&k->counts[0], name, 0) > 1 && !is_unknown(k, (uint32_t)name)) {
            first = !first || name < first ? (uint32_t)name : first;
            told++;
        }
    if (told)
        vec_push(&s->notes,
                 xasprintf("the loops of %s%s are written on other lines of it than on the old side: they are "
                           "compared by their numbers, which are others' if one was added and another taken "
                           "out (`set loops off` compares without loops)",
                           pairing_shown(names, first), told > 1 ? ", and those of others," : ""));
}

void recounted_loops(const struct tree *const sides[2], struct pairing *names, bool shown, struct selection *s,
                     bool *out[2])
{
    struct loops_known known = {0};
    uint32_t *procedures[2], first = 0;
    struct map told = {0};

    for (int i = 0; i < 2; i++) {
        procedures[i] = pairing_procedures(names, sides[i], i);
        for (uint32_t k = 0; k < sides[i]->scope_count; k++) {
            const struct hqdb_scope *p = tree_scope(sides[i], k);

            if (p->kind == SCOPE_PROCEDURE && p->ordinal)
                add_count(&known.counts[i], procedures[i][k], p->ordinal);
        }
    }
    loop_marks(sides, procedures, &known.crossed, shown ? &known.shifted : NULL);
    for (int i = 0; i < 2; i++) {
        out[i] = xcalloc((size_t)sides[i]->scope_count + 1, sizeof *out[i]);
        for (uint32_t k = 0; k < sides[i]->scope_count; k++) {
            uint32_t name = procedures[i][k];

            if (tree_scope(sides[i], k)->kind != SCOPE_LOOP || !is_unknown(&known, name))
                continue;
            out[i][k] = true;
            first = first ? first : name;
            map_put(&told, name, 1);
        }
        free(procedures[i]);
    }
    if (first)
        tell(&known, names, first, told.len > 1, s);
    tell_shifted(&known, names, s);
    map_deinit(&known.counts[0]);
    map_deinit(&known.counts[1]);
    map_deinit(&known.crossed);
    map_deinit(&known.shifted);
    map_deinit(&told);
}
