/* SPDX-License-Identifier: BSD-3-Clause */
/* Remembers the rows that `#n` refers to after a result, and computes the coverage line. */
#include "db/facts.h"
#include "query/shape/rows.h"
#include "query/view.h"

enum { MAX_REMEMBERED = 100000 }; /* contexts of one row; more are remembered by name */

static void forget(struct query_env *env)
{
    vec_foreach(r, &env->last) {
        free(r->name);
        free(r->module);
        free(r->file);
        free(r->contexts);
    }
    vec_clear(&env->last);
}

static char *copy(const char *s)
{
    return s ? xstrdup(s) : NULL;
}

/* Rows of the calling context tree are contexts, and so are lines, which have the calls made from them; rows of the
 * other views are scopes. */
static struct row_ref make_ref(struct run *run, struct entry *e)
{
    struct facts f = entry_facts(run, e);
    struct row_ref r = {.id = f.id,
                        .kind = f.kind,
                        .name = copy(f.name),
                        .module = copy(f.module),
                        .file = copy(f.file),
                        .line = f.line};
    bool contexts = run->view->shape == SHAPE_TREE || run->view->shape == SHAPE_PATH || e->node.kind == SCOPE_GROUP ||
                    (e->node.kind == SCOPE_LINE && run->view->shape == SHAPE_LIST);

    if (!contexts || e->node.inc.len > MAX_REMEMBERED || e->node.profile != HQDB_NONE)
        return r;
    r.contexts = xmalloc((e->node.inc.len + 1) * sizeof *r.contexts);
    for (size_t i = 0; i < e->node.inc.len; i++)
        r.contexts[r.context_count++] = tree_context(run->tree, e->node.inc.data[i])->id;
    return r;
}

void refs_remember(struct run *run, const struct entries *shown)
{
    forget(run->env);
    for (size_t i = 0; i < shown->len; i++)
        if (!shown->data[i]->folded)
            vec_push(&run->env->last, make_ref(run, shown->data[i]));
}

void refs_forget(struct query_env *env)
{
    forget(env);
    vec_deinit(&env->last);
}

/* ---- coverage ---- */

struct partial {
    int64_t samples, most;
    uint32_t context;
}; /* of all reasons; of the most frequent one, and where it is */

static void add_partial(const struct run *run, const int64_t *counts, struct partial *p)
{
    for (uint32_t c = 1; c < run->tree->context_count; c = tree_end(run->tree, c))
        if (tree_kind(run->tree, c) == SCOPE_PARTIAL) {
            struct db_range r = tree_range(run->tree, c);
            int64_t n = sum_difference(counts[r.last], counts[r.first]);

            sum_add(&p->samples, n);
            if (n > p->most)
                *p = (struct partial){.samples = p->samples, .most = n, .context = c};
        }
}

enum { PARTIAL_TOLD = 10 }; /* percent of the samples, and samples, from which on it is worth a sentence */

/* Why the outer end of a path that is named so is not there, as far as the name does not say it. */
static const char *why_partial(const char *name)
{
    static const struct {
        const char *name, *why;
    } known[] = {
        {"partial: too many frames", "a recursion deeper than what is kept of a call path"},
        {"partial: no room for more call paths", "the file system was full, or the limit of a file's size was reached"},
        {"partial: the copy of the stack ended",
         "the samples' copies were shorter than the stack: hq record --by=perf --stack=65528 copies the most"},
        {"partial: left the known stack", "code that runs on a stack of its own making, or has overwritten its stack"},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(name, known[i].name))
            return known[i].why;
    return "code that was compiled while the program ran, or was built without unwind tables "
           "(-fasynchronous-unwind-tables) and frame pointers";
}

/* Once in a session. */
static void note_partial(struct run *run, const struct partial *p, int64_t samples)
{
    if (run->env->partial_told || p->samples < PARTIAL_TOLD ||
        (double)p->samples * 100 < (double)samples * PARTIAL_TOLD)
        return;
    run->env->partial_told = true;
    const char *name = tree_scope_name(run->tree, tree_scope_of(run->tree, p->context), &run->arena);

    run_note(run,
             "%.0f %% of the samples have a call path whose outer end is not known, mostly as `%s`: %s; what they cost "
             "is right, who called "
             "is not known",
             100 * (double)p->samples / (double)samples, name, why_partial(name));
}

static size_t total_contexts(struct entry **entries, size_t n)
{
    size_t total = 0;

    for (size_t i = 0; i < n; i++)
        total += entries[i]->match ? entries[i]->node.inc.len : 0;
    return total;
}

static void add_exposed(const struct tree *t, uint32_t c, uint32_t *end, struct ranges *out)
{
    if (c < *end || c >= t->context_count)
        return;
    vec_push(out, tree_range(t, c));
    *end = tree_end(t, c);
}

/* Every context that the entries stand for, as positions without overlap. Few are sorted, many are marked. */
static void covered(struct run *run, struct entry **entries, size_t n, struct ranges *out)
{
    const struct tree *t = run->tree;
    size_t total = total_contexts(entries, n), len = 0;
    bool few = total < t->context_count / 32;
    uint32_t *all = xmalloc((few ? total + 1 : 1) * sizeof *all), end = 0;
    uint8_t *mark = few ? NULL : xcalloc((size_t)t->context_count + 1, 1);

    vec_clear(out);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; entries[i]->match && k < entries[i]->node.inc.len; k++) {
            uint32_t c = entries[i]->node.inc.data[k];

            if (few)
                all[len++] = c;
            else if (c < t->context_count)
                mark[c] = 1;
        }
    if (few) {
        struct set sorted = set_sorted(all, len, &run->arena);

        for (size_t i = 0; i < sorted.len; i++)
            add_exposed(t, sorted.data[i], &end, out);
    } else {
        for (uint32_t c = 0; c < t->context_count; c = mark[c] ? tree_end(t, c) : c + 1)
            if (mark[c])
                add_exposed(t, c, &end, out);
    }
    free(all);
    free(mark);
}

void note_trace(struct run *run)
{
    double from = facts_trace_from(run->env->db);
    bool reads = run->view->of_traces;

    if (from <= 0)
        return;
    vec_foreach(slice, &run->selection.slices)
        reads |= (double)slice->from_us < from * 1e6;
    if (reads)
        run_note(run, "the traces begin at %.6g s: what was before made room for what came later (--max-size)", from);
}

#define DELAY_TOLD 0.01 /* of the elapsed time that is asked for */
#define CROWDED    0.05 /* of the time for which threads wanted a processor */

struct hq_error *note_delay(struct run *run)
{
    double delay, wanted, elapsed = 0;
    char had[UNITS_TEXT], all[UNITS_TEXT];

    for (size_t i = 0; i < run->selection.here_count; i++) {
        const struct measure *m = &run->selection.measures.data[i];

        if (!(m->flags & HQDB_METRIC_ELAPSED))
            continue;
        HQ_TRY(selection_load(&run->selection, i));
        elapsed = scaled_value(m->total, m->scale);
    }
    if (!(elapsed > 0) || !facts_delay(run->env->db, &delay, &wanted) || !(delay > DELAY_TOLD * elapsed))
        return NULL;
    units_format(had, delay, DIM_SECONDS);
    units_format(all, wanted, DIM_SECONDS);
    run_note(run,
             "for %s of the %s for which threads wanted a processor they had none: where no wrapper sees the "
             "end of a wait (mutexes, runtimes) it may count some of that, and the work after it less",
             had, all);
    return NULL;
}

void note_crowded(struct run *run)
{
    double delay, wanted;
    char had[UNITS_TEXT], all[UNITS_TEXT];

    if (!facts_delay(run->env->db, &delay, &wanted) || !(delay > CROWDED * wanted))
        return;
    units_format(had, delay, DIM_SECONDS);
    units_format(all, wanted, DIM_SECONDS);
    run_note(run,
             "for %s of the %s for which threads wanted a processor in this recording they had none: "
             "elapsed times have that in them, and it makes efficiency lower",
             had, all);
}

void note_partly(struct run *run)
{
    AUTO_STR struct str names = {0};

    for (size_t i = 0; i < run->selection.here_count; i++) {
        const struct measure *m = &run->selection.measures.data[i];
        unsigned of, all;

        if (run->binding.used[i] && !m->of_view && facts_partly(run->tree->db, m->event, &of, &all))
            str_addf(&names, "%s%s (%u of %u)", names.len ? ", " : "", m->name, of, all);
    }
    if (names.len)
        run_note(run, "not all processes have measured: %s", str_cstr(&names));
}

/* Several metrics may share their samples: these are counted once. */
static bool is_counted(const struct measure *m, bool *shared)
{
    if (!m->counts || !(m->flags & HQDB_METRIC_SAMPLED) || m->flags & HQDB_METRIC_NO_COUNTS ||
        (*shared && m->flags & HQDB_METRIC_SHARED))
        return false;
    *shared |= (m->flags & HQDB_METRIC_SHARED) != 0;
    return true;
}

int64_t coverage_partial(const struct run *run)
{
    struct partial partial = {0};
    bool shared = false;

    for (size_t i = 0; i < run->selection.here_count; i++)
        if (is_counted(&run->selection.measures.data[i], &shared))
            add_partial(run, run->selection.measures.data[i].counts, &partial);
    return partial.samples;
}

void coverage_compute(struct run *run, struct entry **entries, size_t n)
{
    struct coverage *c = &run->table->coverage;
    struct partial partial = {0};
    bool shared = false;

    covered(run, entries, n, &run->ranges);
    for (size_t i = 0; i < run->selection.here_count; i++) {
        const struct measure *m = &run->selection.measures.data[i];

        if (!run->binding.used[i] || !is_counted(m, &shared))
            continue;
        c->known = true;
        sum_add(&c->samples, m->total_count);
        sum_add(&c->shown, ranges_sum(&run->ranges, m->counts));
        add_partial(run, m->counts, &partial);
    }
    c->partial = partial.samples;
    note_partial(run, &partial, c->samples);
    c->filtered = sum_difference(c->samples, c->shown);
    if (run->selection.slice_text && run->view->cuts_visits)
        run_note(run, "the visits in the slice %s: what lies outside of it is cut off", run->selection.slice_text);
    else if (run->selection.slice_text)
        run_note(run, "the slice %s: values are the weights of its samples times their period",
                 run->selection.slice_text);
}
