/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A path A > B >> C is matched along every call path at once: one pass over the contexts, parents first, with a set of
 * states per context. A step that matched leads on in two ways: directly (the next frame: loops, inlined code and lines
 * in between do not count, unless they are what the next step names) and from afar (any frame below).
 */
#include "query/choose/paths.h"
#include "query/grammar/parse.h"
#include "query/pattern/pattern.h"

enum { MAX_STEPS = 30 };

struct automaton {
    uint8_t *step[MAX_STEPS]; /* [context] matches the step; NULL: any frame */
    bool far[MAX_STEPS];      /* how the step follows the one before */
    unsigned steps;
};

struct states {
    uint32_t near, far; /* bit i: step i matched, and step i + 1 may follow directly; anywhere below */
    bool accepted;
};

static bool is_frame(enum scope_kind kind)
{
    return scope_is_called(kind) || kind == SCOPE_INLINE || kind == SCOPE_THREAD || kind == SCOPE_PARTIAL;
}

static bool step_matches(const struct automaton *a, const struct tree *t, unsigned step, uint32_t c)
{
    return a->step[step] ? a->step[step][c] : is_frame(tree_kind(t, c));
}

static struct states advance(const struct automaton *a, const struct tree *t, struct states up, uint32_t c)
{
    enum scope_kind kind = tree_kind(t, c);
    struct states now = {.near = scope_is_called(kind) || kind == SCOPE_THREAD || kind == SCOPE_PARTIAL ? 0 : up.near,
                         .far = up.far,
                         .accepted = up.accepted};

    for (unsigned i = 0; i < a->steps; i++) {
        uint32_t before = i ? 1u << (i - 1) : 0;

        if (i && !(a->far[i] ? up.far & before : up.near & before))
            continue;
        if (!step_matches(a, t, i, c))
            continue;
        now.near |= 1u << i;
        now.far |= 1u << i;
        now.accepted |= i + 1 == a->steps;
    }
    return now;
}

static void run_automaton(const struct automaton *a, const struct tree *t, bool negated, uint8_t *keep)
{
    struct states *states = xcalloc((size_t)t->context_count + 1, sizeof *states);

    for (uint32_t c = 0; c < t->context_count; c++) {
        uint32_t parent = tree_parent(t, c),
                 next = c + 1 < tree_end(t, c) ? tree_first(t, c + 1) : tree_range(t, c).last;

        states[c] = advance(a, t, parent == HQDB_NONE ? (struct states){0} : states[parent], c);
        if (states[c].accepted == negated)
            for (uint32_t p = tree_first(t, c); p < next; p++)
                keep[p] = 0;
    }
    free(states);
}

static struct hq_error *make_automaton(struct query_env *env, const struct tree *t, const struct path *path,
                                       bool negated, struct selection *notes, struct automaton *a)
{
    if (path->steps.len > MAX_STEPS)
        return place_error(&path->place, NULL, "this path has more than %d steps", MAX_STEPS);
    for (size_t i = 0; i < path->steps.len; i++) {
        const struct path_step *step = &path->steps.data[i];
        struct matches m;

        a->far[i] = step->far;
        a->steps++;
        if (step->any)
            continue;
        HQ_TRY(pattern_resolve(env, t, &step->pattern, KINDS_PATH, &m));
        a->step[i] = matches_mark(&m, t);
        if (m.unknown && notes && !negated && !notes->unknown)
            notes->unknown = MEM_STEAL(m.unknown);
        if (m.problem && notes)
            vec_push(&notes->notes, MEM_STEAL(m.problem));
        matches_deinit(&m);
    }
    return NULL;
}

struct hq_error *paths_mark(struct query_env *env, const struct tree *t, const struct query *q, uint8_t **keep,
                            struct selection *notes)
{
    *keep = NULL;
    if (!q->samples.through.len)
        return NULL;
    *keep = xmalloc((size_t)t->position_count + 1);
    memset(*keep, 1, (size_t)t->position_count + 1);
    for (size_t i = 0; i < q->samples.through.len; i++) {
        struct automaton a = {0};
        struct hq_error *err = make_automaton(env, t, &q->samples.through.data[i].path,
                                              q->samples.through.data[i].negated, notes, &a);

        if (!err)
            run_automaton(&a, t, q->samples.through.data[i].negated, *keep);
        for (unsigned k = 0; k < a.steps; k++)
            free(a.step[k]);
        HQ_TRY(err);
    }
    return NULL;
}

struct hq_error *paths_select(struct query_env *env, struct selection *s, const struct query *q)
{
    return paths_mark(env, &s->tree, q, &s->keep, s);
}
