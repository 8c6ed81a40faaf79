/* SPDX-License-Identifier: BSD-3-Clause */
/* The representative routines of a fold (query/views/folded.h). */
#include "common/map.h"
#include "common/mem.h"
#include "common/str.h"
#include "common/units.h"
#include "query/folding/alignment.h"
#include "query/views/folded.h"

static int compare_places(const void *a, const void *b)
{
    const struct folded_place *x = a, *y = b;

    return x->x != y->x ? (x->x < y->x ? -1 : 1) : (x->context > y->context) - (x->context < y->context);
}

bool folded_is_routine(const struct tree *t, uint32_t c)
{
    enum scope_kind kind = tree_kind(t, c);

    return scope_is_called(kind) || kind == SCOPE_INLINE || kind == SCOPE_REGION || kind == SCOPE_PHASE;
}

/* From what was folded, which is the first level, to where the sample was. */
static struct routine_sample levels_of(struct folded *f, const struct folded_place *p)
{
    const struct tree *t = f->run->tree;
    struct routine_sample s = {.x = p->x, .instance = p->visit, .length = f->length[p->visit]};
    uint32_t outermost = HQDB_NONE, *levels;

    for (uint32_t c = p->context; c != HQDB_NONE; c = tree_parent(t, c))
        outermost = f->mark ? (f->mark[c] ? c : outermost) : folded_is_routine(t, c) ? c : outermost;
    outermost = outermost == HQDB_NONE ? p->context : outermost;
    for (uint32_t c = p->context; c != HQDB_NONE; c = c == outermost ? HQDB_NONE : tree_parent(t, c))
        s.depth += c == outermost || folded_is_routine(t, c);
    s.levels = levels = ARENA_ARRAY(&f->run->arena, s.depth + 1, uint32_t);
    for (uint32_t c = p->context, i = s.depth; c != HQDB_NONE; c = c == outermost ? HQDB_NONE : tree_parent(t, c))
        if (c == outermost || folded_is_routine(t, c))
            levels[--i] = tree_scope_of(t, c);
    return s;
}

/* `frames`: the innermost ones alone, as a tool would have them that looks no further. What is inlined has no frame,
 * nor has a phase. */
static struct routine_sample frames_of(struct folded *f, const struct folded_place *p)
{
    const struct tree *t = f->run->tree;
    struct routine_sample s = {.x = p->x, .instance = p->visit, .length = f->length[p->visit]};
    uint32_t most = f->run->query->view.frames, found[FOLD_CALLERS + 1], *levels;

    for (uint32_t c = p->context; c != HQDB_NONE && s.depth < most; c = tree_parent(t, c))
        if (scope_is_called(tree_kind(t, c)) || tree_kind(t, c) == SCOPE_REGION)
            found[s.depth++] = tree_scope_of(t, c);
    s.levels = levels = ARENA_ARRAY(&f->run->arena, s.depth + 1, uint32_t);
    for (uint32_t i = 0; i < s.depth; i++)
        levels[i] = found[s.depth - 1 - i];
    return s;
}

static void align(struct folded *f, struct routine_sample *samples)
{
    f->aligned = alignment_make(samples, f->places.len, &f->run->arena);
    run_note(f->run, "frames %u+1: %zu of %zu samples could be put together", f->run->query->view.frames - 1,
             f->aligned, f->places.len);
}

struct hq_error *folded_find_routines(struct folded *f)
{
    AUTO_FREE struct routine_sample *samples = xcalloc(f->places.len + 1, sizeof *samples);
    uint32_t frames = f->run->query->view.frames;

    if (f->places.len)
        qsort(f->places.data, f->places.len, sizeof *f->places.data, compare_places);
    for (size_t i = 0; i < f->places.len; i++)
        samples[i] = (frames ? frames_of : levels_of)(f, &f->places.data[i]);
    if (frames)
        align(f, samples);
    routines_find(samples, f->places.len, FOLDED_LIMITS, &f->runs);
    if (f->wants_spread)
        routines_spread(samples, f->places.len, f->visits.len, FOLDED_LIMITS, &f->runs);
    if (!frames)
        HQ_TRY(folded_take_marks(f));
    f->chain = ARENA_ARRAY(&f->run->arena, f->points, uint32_t);
    for (size_t r = 0; r < f->runs.len; r++) /* those within come later */
        for (size_t i = 0; i < f->points; i++) {
            double x = folded_time(f, i) / f->mean;

            if (f->runs.data[r].from <= x && x < f->runs.data[r].to)
                f->chain[i] = (uint32_t)r + 1;
        }
    return NULL;
}

/* The line of most of the samples of a run, in the routine itself; 0 none. */
static uint32_t line_of(const struct folded *f, const struct routine_run *r)
{
    struct map lines = {0};
    uint64_t key, count, most = 0, best = 0;

    for (uint32_t i = r->first; i < r->end; i++) {
        uint32_t c = f->places.data[i].context;
        const struct hqdb_scope *s = tree_scope(f->run->tree, tree_scope_of(f->run->tree, c));

        if (s->kind == SCOPE_LINE && s->line)
            ++*map_insert(&lines, s->line, 0, NULL);
    }
    for (size_t pos = 0; map_next(&lines, &pos, &key, &count);)
        if (count > most || (count == most && key < best)) {
            most = count;
            best = key;
        }
    map_deinit(&lines);
    return (uint32_t)best;
}

const char *folded_chain(const struct folded *f, uint32_t run, bool with_line)
{
    AUTO_STR struct str out = {0};
    const char *names[64];
    size_t n = 0;
    uint32_t line = with_line ? line_of(f, &f->runs.data[run]) : 0;

    for (uint32_t r = run; r != UINT32_MAX && n < 64; r = f->runs.data[r].parent)
        names[n++] = tree_scope_name(f->run->tree, f->runs.data[r].routine, &f->run->arena);
    while (n-- > 0)
        str_addf(&out, "%s%s", names[n], n ? " > " : "");
    if (line)
        str_addf(&out, " [%u]", line);
    return arena_strdup(&f->run->arena, str_cstr(&out));
}

/* A sample comes so much later than the clock fires; its CPU time is that at which it fired, but for what the kernel
 * takes to note it. */
#define LATE         25e-6
#define LATE_RUNNING 10e-6

void folded_note_poor(const struct folded *f)
{
    double late = f->run->query->view.on_running ? LATE_RUNNING : LATE;
    char visit[UNITS_TEXT], sample[UNITS_TEXT];

    if (f->mean < 20 * late)
        run_note(f->run,
                 "the mean visit takes %s, and a sample may come %s late: where samples lie in it says little; marks "
                 "(--mark) tell more",
                 units_format(visit, f->mean, DIM_SECONDS), units_format(sample, late, DIM_SECONDS));
    if (f->places.len < 10 * FOLDED_LIMITS.samples)
        run_note(f->run,
                 "%zu samples lie in the visits to %s, too few for what runs when: record a longer run or with a "
                 "higher rate (-e CPUTIME@1000/s)",
                 f->places.len, f->of);
}
