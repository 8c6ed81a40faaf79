/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/metrics.h"
#include "common/suggest.h"
#include "query/grammar/parse.h"
#include <strings.h>

/* The first of these that is present is meant; `perf_` and `papi_` names are as recorded by the sources. */
static const struct { const char *alias, *names[8]; } aliases[] = {
    {"time", {"cputime", "realtime", "walltime", "cpu-clock", "task-clock", "cpu-clock:u", "task-clock:u", "cpu"}},
    {"cycles", {"papi_tot_cyc", "cycles", "cpu-cycles", "perf_count_hw_cpu_cycles", "perf::cycles"}},
    {"instructions", {"papi_tot_ins", "instructions", "perf_count_hw_instructions", "perf::instructions"}},
    {"flops", {"papi_fp_ops", "papi_dp_ops", "papi_sp_ops", "papi_fp_ins"}},
};
enum { ALIASES = sizeof aliases / sizeof *aliases };

static size_t find_plain(const struct selection *s, const char *name, enum metric_side side)
{
    for (size_t i = 0; i < s->measures.len; i++)
        if (s->measures.data[i].side == side &&
            (!strcasecmp(s->measures.data[i].name, name) || !strcasecmp(s->measures.data[i].event, name)))
            return i;
    return SIZE_MAX;
}

size_t metrics_find(const struct selection *s, const char *name, enum metric_side side)
{
    size_t found = find_plain(s, name, side);

    for (size_t i = 0; i < ALIASES && found == SIZE_MAX; i++)
        if (!strcasecmp(aliases[i].alias, name))
            for (size_t k = 0; k < 8 && aliases[i].names[k] && found == SIZE_MAX; k++)
                found = find_plain(s, aliases[i].names[k], side);
    return found;
}

static bool named(const struct db *db, const char *name)
{
    for (size_t i = 0; i < db->metric_count; i++)
        if (!strcasecmp(db_string(db, db->metrics[i].name), name) || !strcasecmp(db_string(db, db->metrics[i].event), name))
            return true;
    return false;
}

bool metrics_taken(const struct db *db, const char *name)
{
    bool taken = named(db, name);

    for (size_t i = 0; i < ALIASES && !taken; i++)
        if (!strcasecmp(aliases[i].alias, name))
            for (size_t k = 0; k < 8 && aliases[i].names[k] && !taken; k++)
                taken = named(db, aliases[i].names[k]);
    return taken;
}

struct hq_error *metrics_unknown(const struct selection *s, const struct query_env *env, const struct metric_ref *r)
{
    AUTO_STR struct str advice = {0};
    struct suggest near;

    suggest_init(&near, r->name, 1);
    for (size_t i = 0; i < s->here_count; i++)
        suggest_add(&near, s->measures.data[i].name);
    for (size_t i = 0; i < env->lets.len; i++)
        suggest_add(&near, env->lets.data[i].name);
    if (near.count) {
        str_addf(&advice, "did you mean `%s`?", near.best[0]);
    } else {
        str_addf(&advice, "there %s ", s->here_count + env->lets.len == 1 ? "is only" : "are");
        for (size_t i = 0; i < s->here_count + env->lets.len; i++)
            str_addf(&advice, "%s`%s`", i ? ", " : "", i < s->here_count ? s->measures.data[i].name : env->lets.data[i - s->here_count].name);
        if (!(s->here_count + env->lets.len))
            str_add(&advice, "none in this database");
    }
    return place_error(&r->place, str_cstr(&advice), "there is no metric `%s`", r->name);
}
