/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/choose/metrics.h"
#include "common/suggest.h"
#include "query/grammar/parse.h"
#include "query/grammar/words.h"
#include <string.h>
#include <strings.h>

/* The first of these that is present is meant; `perf_` and `papi_` names are as recorded by the sources. */
static const struct {
    const char *alias, *names[8];
} aliases[] = {
    {"time", {"cputime", "realtime", "walltime", "cpu-clock", "task-clock", "cpu", "wall"}},
    {"cycles", {"papi_tot_cyc", "cycles", "cpu-cycles", "perf_count_hw_cpu_cycles", "perf::cycles"}},
    {"instructions", {"papi_tot_ins", "instructions", "perf_count_hw_instructions", "perf::instructions"}},
    {"flops", {"papi_fp_ops", "papi_dp_ops", "papi_sp_ops", "papi_fp_ins"}},
};
enum { ALIASES = sizeof aliases / sizeof *aliases };

/* cycles of cycles, cycles:u, cycles:ppph, cpu/cycles/u and cpu_core/cycles/: where it starts, and its length. */
static const char *plain_event(const char *event, size_t *len)
{
    const char *slash = strchr(event, '/'), *end = slash ? strchr(slash + 1, '/') : NULL, *colon = strchr(event, ':');

    *len = strlen(event);
    if (end && end > slash + 1 && !memchr(slash, '=', (size_t)(end - slash))) {
        *len = (size_t)(end - slash) - 1;
        return slash + 1;
    }
    if (colon && colon[1] && !colon[1 + strspn(colon + 1, "ukhGHpPSDIWeb")])
        *len = (size_t)(colon - event);
    return event;
}

static bool is_event(const char *event, const char *name)
{
    size_t len;
    const char *plain = plain_event(event, &len);

    return strlen(name) == len && !strncasecmp(plain, name, len);
}

static bool is_called(const struct measure *m, const char *name)
{
    return !strcasecmp(m->name, name) || !strcasecmp(m->event, name) || (m->was && !strcasecmp(m->was, name));
}

static size_t find_plain(const struct selection *s, const char *name, enum metric_side side)
{
    for (size_t i = 0; i < s->measures.len; i++)
        if (s->measures.data[i].side == side && is_called(&s->measures.data[i], name))
            return i;
    return SIZE_MAX;
}

/* Returns the measure that an alias stands for on one side: that of the first of aliases[alias].names that is there,
 * with or without modifiers; SIZE_MAX if none is. */
static size_t find_alias(const struct selection *s, size_t alias, enum metric_side side)
{
    for (size_t k = 0; k < 8 && aliases[alias].names[k]; k++)
        for (size_t i = 0; i < s->measures.len; i++) {
            const struct measure *m = &s->measures.data[i];

            if (m->side == side &&
                (is_called(m, aliases[alias].names[k]) || is_event(m->event, aliases[alias].names[k])))
                return i;
        }
    return SIZE_MAX;
}

const char *metrics_alias(size_t i)
{
    return i < ALIASES ? aliases[i].alias : NULL;
}

size_t metrics_find(const struct selection *s, const char *name, enum metric_side side)
{
    size_t found = find_plain(s, name, side);

    for (size_t i = 0; i < ALIASES && found == SIZE_MAX; i++)
        if (!strcasecmp(aliases[i].alias, name))
            found = find_alias(s, i, side);
    return found;
}

/* ---- pairs ---- */

static void join(const struct selection *s, struct metric_partner *partner, size_t here, size_t old, bool same_unit)
{
    same_unit = same_unit && s->measures.data[here].dim == s->measures.data[old].dim;
    partner[here] = (struct metric_partner){old, same_unit};
    partner[old] = (struct metric_partner){here, same_unit};
}

static bool is_free(const struct selection *s, const struct metric_partner *partner, size_t i, enum metric_side side)
{
    return i != SIZE_MAX && s->measures.data[i].side == side && partner[i].measure == SIZE_MAX;
}

static bool same_name(const struct measure *a, const struct measure *b)
{
    return !strcmp(a->name, b->name);
}

static bool same_event(const struct measure *a, const struct measure *b)
{
    size_t len, other;
    const char *plain = plain_event(a->event, &len), *of_b = plain_event(b->event, &other);

    return a->dim == b->dim && len == other && !strncasecmp(plain, of_b, len);
}

static size_t pair_alike(const struct selection *s, struct metric_partner *partner,
                         bool (*alike)(const struct measure *, const struct measure *))
{
    size_t pairs = 0;

    for (size_t i = 0; i < s->measures.len; i++)
        for (size_t k = 0; k < s->measures.len && is_free(s, partner, i, SIDE_HERE); k++)
            if (is_free(s, partner, k, SIDE_OLD) && alike(&s->measures.data[i], &s->measures.data[k])) {
                join(s, partner, i, k, true);
                pairs++;
            }
    return pairs;
}

static size_t pair_aliases(const struct selection *s, struct metric_partner *partner)
{
    size_t pairs = 0;

    for (size_t a = 0; a < ALIASES; a++) {
        size_t here = metrics_find(s, aliases[a].alias, SIDE_HERE), old = metrics_find(s, aliases[a].alias, SIDE_OLD);

        if (!is_free(s, partner, here, SIDE_HERE) || !is_free(s, partner, old, SIDE_OLD) ||
            s->measures.data[here].dim != s->measures.data[old].dim)
            continue;
        join(s, partner, here, old, true);
        pairs++;
    }
    return pairs;
}

static size_t first_of(const struct selection *s, enum metric_side side)
{
    size_t first = metrics_find(s, "time", side);

    if (first == SIZE_MAX)
        first = metrics_find(s, "cycles", side);
    for (size_t i = 0; i < s->measures.len && first == SIZE_MAX; i++)
        if (s->measures.data[i].side == side)
            first = i;
    return first;
}

/* Seconds that calls took (of locks, of MPI): no measure of a whole run, as the times of clocks are. */
static bool is_time_of_calls(const struct measure *m)
{
    return m->dim == DIM_SECONDS && m->flags & HQDB_METRIC_EXACT &&
           !(m->flags & (HQDB_METRIC_NO_COUNTS | HQDB_METRIC_SPANS));
}

struct metric_partner *metrics_pair(const struct selection *s)
{
    struct metric_partner *partner = xmalloc((s->measures.len + 1) * sizeof *partner);
    size_t here = first_of(s, SIDE_HERE), old = first_of(s, SIDE_OLD), pairs;

    for (size_t i = 0; i < s->measures.len; i++)
        partner[i] = (struct metric_partner){SIZE_MAX, false};
    pairs = pair_alike(s, partner, same_name);
    pairs += pair_alike(s, partner, same_event);
    pairs += pair_aliases(s, partner);
    /* Events of two kinds are different things; seconds are seconds. */
    if (!pairs && here != SIZE_MAX && old != SIZE_MAX &&
        is_time_of_calls(&s->measures.data[here]) == is_time_of_calls(&s->measures.data[old]))
        join(s, partner, here, old,
             s->measures.data[here].dim == DIM_SECONDS || s->measures.data[here].dim == DIM_BYTES);
    return partner;
}

/* ---- names that are taken ---- */

static bool named(const struct db *db, const char *name)
{
    for (size_t i = 0; i < db->metric_count; i++)
        if (!strcasecmp(db_string(db, db->metrics[i].name), name) ||
            !strcasecmp(db_string(db, db->metrics[i].event), name))
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

/* Words of other profilers, and what they are here: before and behind the metric's name. */
static const struct {
    const char *words, *before, *behind;
} foreign[] = {
    {" self exclusive excl flat own selftime self_time ", "`", ".x` is exclusive: the scope alone"},
    {" children inclusive incl cum cumulative ", "`", "` is inclusive: the scope and what it calls"},
    {" total ", "`@", "` is the total of the run"},
    {" samples hits nsamples ", "a row has `",
     "`, which is samples times their period; the view metrics counts samples"},
    {" percent share overhead ", "a percentage beside a metric is a share of its total: `", " > 5%`"},
};

static void add_foreign(const char *metric, const char *word, struct str *advice)
{
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (suggest_lists(foreign[i].words, word))
            str_addf(advice, "%s%s%s", foreign[i].before, metric, foreign[i].behind);
}

struct hq_error *metrics_unknown(const struct selection *s, const struct query_env *env, const struct metric_ref *r)
{
    AUTO_STR struct str advice = {0};
    struct suggest near;

    suggest_init(&near, r->name, 1);
    if (s->here_count)
        add_foreign(s->measures.data[0].name, r->name, &advice);
    for (size_t i = 0; i < s->here_count; i++)
        suggest_add(&near, s->measures.data[i].name);
    for (size_t i = 0; i < env->lets.len; i++)
        suggest_add(&near, env->lets.data[i].name);
    for (size_t i = 0; i < ATTRIBUTE_KINDS; i++)
        suggest_add(&near, attribute_words[i].name);
    if (!advice.len && near.count)
        str_addf(&advice, "did you mean `%s`?", near.best[0]);
    if (!advice.len) {
        str_addf(&advice, "there %s ", s->here_count + env->lets.len == 1 ? "is only" : "are");
        for (size_t i = 0; i < s->here_count + env->lets.len; i++)
            str_addf(&advice, "%s`%s`", i ? ", " : "",
                     i < s->here_count ? s->measures.data[i].name : env->lets.data[i - s->here_count].name);
        if (!(s->here_count + env->lets.len))
            str_add(&advice, "none in this database");
    }
    return place_error(&r->place, str_cstr(&advice), "there is no metric `%s`", r->name);
}
