/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/choose/helpers.h"
#include "common/hash.h"
#include "common/map.h"
#include "common/mem.h"
#include "common/str.h"
#include "db/runtimes.h"
#include "query/run.h"
#include "query/view.h"
#include <string.h>

#define BUSY_SHARE 0.01

/* The kinds of code on the call path that ends with a frame, as bits. */
enum { OF_PROGRAM = 1, OF_RUNTIME = 2, OF_OPENMP = 4 };

bool metric_is_elapsed(const struct db *db, uint32_t metric)
{
    return metric < db->metric_count && str_begins(db_string(db, db->metrics[metric].event), "REALTIME");
}

bool any_is_elapsed(const struct db *db)
{
    for (uint32_t m = 0; m < db->metric_count; m++)
        if (metric_is_elapsed(db, m))
            return true;
    return false;
}

/* [modules + 1]; the last is that of code in no module, which may be anybody's. */
static uint8_t *look_at_modules(const struct db *db)
{
    uint8_t *marks = xcalloc(db->module_count + 1, 1);
    bool mpi = false;

    for (size_t i = 0; i < db->module_count; i++) {
        const struct runtime *r = runtime_of_module(db_string(db, db->modules[i].path));

        mpi |= r && r->kind == RUNTIME_MPI;
    }
    for (size_t i = 0; i < db->module_count; i++) {
        const struct runtime *r = runtime_of_module(db_string(db, db->modules[i].path));

        if (!r || (r->kind == RUNTIME_SUPPORT && !mpi))
            marks[i] = OF_PROGRAM;
        else if (r->kind != RUNTIME_SYSTEM)
            marks[i] = r->kind == RUNTIME_OPENMP ? OF_RUNTIME | OF_OPENMP : OF_RUNTIME;
    }
    marks[db->module_count] = OF_PROGRAM;
    return marks;
}

static bool is_root(const struct db *db, const struct hqdb_code *code)
{
    uint32_t kind = db_scope(db, code->raw)->kind;

    return kind == SCOPE_THREAD || kind == SCOPE_PARTIAL;
}

/* [frames] parents come first. */
static uint8_t *look_at_frames(const struct db *db)
{
    AUTO_FREE uint8_t *modules = look_at_modules(db);
    uint8_t *marks = xcalloc(db->frame_count + 1, 1);

    for (uint32_t f = 0; f < db->frame_count; f++) {
        const struct hqdb_code *code = db_code(db, db->frames[f].code);
        uint32_t parent = db_parent_frame(db, f), module = code ? code->module : HQDB_NONE;

        if (code && !is_root(db, code))
            marks[f] = modules[module < db->module_count ? module : db->module_count];
        if (parent != HQDB_NONE)
            marks[f] |= marks[parent];
    }
    return marks;
}

static bool is_helper(const struct db *db, const uint8_t *frames, uint32_t profile)
{
    uint8_t seen = 0;
    struct db_value x;

    if (!db->profiles[profile].thread)
        return false;
    for (uint32_t m = 0; m < db->metric_count; m++)
        for (struct db_values v = db_profile_values(db, profile, m); db_value_next(&v, &x);) {
            seen |= x.frame < db->frame_count ? frames[x.frame] : OF_PROGRAM;
            if (seen & (OF_PROGRAM | OF_OPENMP))
                return false;
        }
    return seen & OF_RUNTIME;
}

uint64_t helpers_process(const struct hqdb_profile *p)
{
    return hash_combine(hash_combine(hash_combine(p->host, p->pid), p->serial), (uint64_t)p->rank);
}

/* At least a hundredth of the processor time of its process. */
static void find_busy(const struct db *db, struct helpers *h)
{
    uint32_t metric = HQDB_NONE;
    AUTO(map_deinit) struct map totals = {0};

    for (uint32_t m = 0; m < db->metric_count && metric == HQDB_NONE; m++)
        if (str_begins(db_string(db, db->metrics[m].event), "CPUTIME"))
            metric = m;
    for (uint32_t p = 0; metric != HQDB_NONE && p < db->profile_count; p++)
        *map_insert(&totals, helpers_process(&db->profiles[p]), 0,
                    NULL) += (uint64_t)db_profile_total(db, p, metric).sum;
    for (uint32_t p = 0; metric != HQDB_NONE && p < db->profile_count; p++) {
        double own = (double)db_profile_total(db, p, metric).sum;
        double all = (double)map_get(&totals, helpers_process(&db->profiles[p]), 0);

        if (h->of[p] == STANDS_HELPER && own > 0 && own >= BUSY_SHARE * all)
            h->of[p] = STANDS_BUSY_HELPER;
    }
}

void helpers_find(const struct db *db, struct helpers *out)
{
    AUTO_FREE uint8_t *frames = look_at_frames(db);
    bool others = false; /* that a launcher may have started */

    *out = (struct helpers){.of = xcalloc(db->profile_count + 1, 1), .elapsed = any_is_elapsed(db)};
    for (size_t i = 0; i < db->profile_count; i++)
        others |= db->profiles[i].rank >= 0 || !is_launcher(db_string(db, db->profiles[i].command));
    for (uint32_t i = 0; i < db->profile_count; i++) {
        const struct hqdb_profile *p = &db->profiles[i];

        if (others && p->rank < 0 && is_launcher(db_string(db, p->command)))
            out->of[i] = STANDS_LAUNCHER;
        else if (is_helper(db, frames, i))
            out->of[i] = STANDS_HELPER;
        out->launchers += out->of[i] == STANDS_LAUNCHER;
        out->threads += out->of[i] == STANDS_HELPER;
    }
    if (out->threads)
        find_busy(db, out);
    if (!out->launchers && !out->threads)
        helpers_deinit(out);
}

void helpers_deinit(struct helpers *h)
{
    free(h->of);
    *h = (struct helpers){0};
}

bool helpers_aside(const struct helpers *h, uint32_t profile)
{
    return h->of && h->of[profile] != STANDS_IN && (h->of[profile] != STANDS_BUSY_HELPER || h->elapsed);
}

static void add_count(struct str *out, size_t n, const char *before, const char *after)
{
    if (n)
        str_addf(out, "%s%zu %sthread%s%s", out->len ? " and " : "", n, before, n == 1 ? "" : "s", after);
}

void helpers_note(struct run *run, const char *of, uint32_t metric, bool of_ranks)
{
    const struct selection *s = &run->selection;
    const struct db *db = s->tree.db;
    size_t launchers = 0, helpers = 0, others = 0;
    double cost = 0;
    char text[UNITS_TEXT];
    AUTO_STR struct str who = {0};

    if (metric == HQDB_NONE && s->here_count)
        metric = s->measures.data[0].metric;
    if ((!s->helpers.of && !of_ranks) || metric >= db->metric_count || run->helpers_told)
        return;
    for (uint32_t p = 0; p < db->profile_count; p++) {
        bool aside = helpers_aside(&s->helpers, p);
        bool other = !aside && of_ranks && db->profiles[p].rank < 0 && !db_is_queue(db, p);

        if (!selection_has_profile(s, p) || !(aside || other))
            continue;
        others += other;
        launchers += aside && s->helpers.of[p] == STANDS_LAUNCHER;
        helpers += aside && s->helpers.of[p] != STANDS_LAUNCHER;
        cost += scaled_value(db_profile_total(db, p, metric).sum, db->metrics[metric].scale);
    }
    add_count(&who, launchers, "", " of launchers");
    add_count(&who, helpers, "helper ", "");
    add_count(&who, others, "", " of no rank");
    if (!who.len)
        return;
    run->helpers_told = true;
    units_format(text, cost, (enum dim)db->metrics[metric].dimension);
    run_note(run, "left out of %s: %s with %s of %s in all%s; `set helpers on` counts them", of, str_cstr(&who), text,
             db_string(db, db->metrics[metric].name), s->sliced ? ", of the whole run" : "");
}

void helpers_note_elapsed(struct run *run)
{
    for (size_t i = 0; i < run->selection.here_count && !run->view->prepare; i++)
        if (run->binding.used[i] &&
            selection_leaves_out(&run->selection, false, run->selection.measures.data[i].metric)) {
            helpers_note(run, run->selection.measures.data[i].name, run->selection.measures.data[i].metric, false);
        }
}
