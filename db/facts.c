/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/facts.h"

#include "common/file.h"
#include "common/log.h"
#include "common/hash.h"
#include "common/map.h"
#include "common/mem.h"
#include "common/str.h"
#include "common/units.h"
#include "db/build/attribute.h"
#include "db/model/model_data.h"
#include "db/unmeasured.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void facts_add_number(struct model *m, const char *key, uint64_t x)
{
    AUTO_FREE char *text = xasprintf("%" PRIu64, x);

    model_info(m, key, text);
}

static const struct process *earliest(const struct process *p, size_t count)
{
    const struct process *first = p;

    for (size_t i = 1; i < count; i++) {
        if (p[i].header.start_realtime_ns < first->header.start_realtime_ns)
            first = &p[i];
    }
    return first;
}

enum { MOST_TEXTS = 8 }; /* of a set: more would drown the rest of the page */

/* Different texts among the processes, in their order, joined by commas. */
static void add_set(struct model *m, const char *key, const struct process *p, size_t count,
                    const char *(*text)(const struct process *, struct str *scratch))
{
    AUTO(intern_deinit) struct intern seen = {0};
    AUTO_STR struct str all = {0}, scratch = {0};

    for (size_t i = 0; i < count; i++) {
        const char *s = text(&p[i], &scratch);

        if (!*s || intern_find(&seen, s) != INTERN_NONE)
            continue;
        intern_add(&seen, s);
        if (intern_count(&seen) <= MOST_TEXTS + 1)
            str_addf(&all, "%s%s", all.len ? ", " : "", s);
    }
    if (intern_count(&seen) > MOST_TEXTS + 1)
        str_addf(&all, " and %u more", intern_count(&seen) - MOST_TEXTS - 1);
    if (all.len)
        model_info(m, key, str_cstr(&all));
}

static const char *host_of(const struct process *p, struct str *scratch)
{
    (void)scratch;
    return p->host;
}
static const char *machine_of(const struct process *p, struct str *scratch)
{
    (void)scratch;
    return p->machine;
}
static const char *launcher_of(const struct process *p, struct str *scratch)
{
    (void)scratch;
    return p->launcher;
}
static const char *collector_of(const struct process *p, struct str *scratch)
{
    (void)scratch;
    return p->collector;
}

/* The file, and the name that it was started by where that is a link's: /usr/bin/redis-check-rdb (as redis-server). */
static const char *executable_of(const struct process *p, struct str *scratch)
{
    AUTO_FREE char *called = process_called(p);

    if (!strcmp(called, file_basename(p->executable)))
        return p->executable;
    str_clear(scratch);
    str_addf(scratch, "%s (as %s)", p->executable, called);
    return str_cstr(scratch);
}

static void add_times(struct model *m, const struct process *p, size_t count)
{
    uint64_t start = earliest(p, count)->header.start_realtime_ns, end = start;
    time_t seconds = (time_t)(start / 1000000000u);
    struct tm tm;
    char text[64];

    for (size_t i = 0; i < count; i++) {
        uint64_t last = p[i].header.start_realtime_ns + p[i].header.end_us * 1000u;

        end = last > end ? last : end;
    }
    if (gmtime_r(&seconds, &tm) && strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &tm))
        model_info(m, "started", text);
    snprintf(text, sizeof text, "%.3f s", (double)(end - start) / 1e9);
    model_info(m, "duration", text);
}

static const char trace_text[] = "complete from %.6f s on";

/* Where the size was bounded each process has its newest records. */
static void add_trace(struct model *m, const struct process *p, size_t count)
{
    uint64_t start = earliest(p, count)->header.start_realtime_ns / 1000, from = 0, dropped = 0;
    AUTO_STR struct str text = {0};

    for (size_t i = 0; i < count; i++) {
        uint64_t at = p[i].header.start_realtime_ns / 1000 + p[i].header.trace_from_us;

        if (!p[i].header.trace_dropped)
            continue;
        dropped += p[i].header.trace_dropped;
        from = at > start && at - start > from ? at - start : from;
    }
    if (!dropped)
        return;
    str_addf(&text, trace_text, (double)from / 1e6);
    str_addf(&text, "; %" PRIu64 " records of before made room (--max-size)", dropped);
    model_info(m, FACT_TRACE, str_cstr(&text));
}

/* How far apart the ranks start, by the clocks of their hosts: of each the first process. */
static void add_spread(struct model *m, const struct process *p, size_t count)
{
    uint64_t first = UINT64_MAX, last = 0, ranks = 0;
    char text[UNITS_TEXT];

    for (size_t i = 0; i < count; i++) {
        uint64_t start = p[i].header.start_realtime_ns;

        if (p[i].header.rank < 0 || (i && p[i].header.rank == p[i - 1].header.rank))
            continue;
        first = start < first ? start : first;
        last = start > last ? start : last;
        ranks++;
    }
    if (ranks < 2)
        return;
    AUTO_FREE char *spread = xasprintf("within %s of each other",
                                       units_format(text, (double)(last - first) / 1e9, DIM_SECONDS));
    model_info(m, "ranks start", spread);
}

/* The numbers that a process keeps when it executes another program, which is its next image. */
static uint64_t hash_image(const struct process *p, uint32_t serial)
{
    const struct hqm_header *h = &p->header;

    return hash_combine(hash_combine(hash_combine(hash_str(p->host), h->pid_namespace), h->launch),
                        (uint64_t)h->pid << 32 | serial);
}

static bool goes_on(const struct process *from, const struct process *to)
{
    const struct hqm_header *before = &from->header, *now = &to->header;

    return before->state == HQM_EXECED && before->pid == now->pid && before->serial + 1 == now->serial &&
           before->launch == now->launch && before->pid_namespace == now->pid_namespace &&
           !strcmp(from->host, to->host);
}

/* [count] the process that each goes on from by exec, NULL: none. It may stand anywhere: what a launcher executes has a
 * rank, which the launcher's child had not. */
static const struct process **find_executed(const struct process *p, size_t count)
{
    const struct process **from = xcalloc(count + 1, sizeof *from);
    AUTO(map_deinit) struct map images = {0};

    for (size_t i = 0; i < count; i++)
        if (p[i].header.state == HQM_EXECED)
            map_put(&images, hash_image(&p[i], p[i].header.serial), i);
    for (size_t i = 0; i < count; i++) {
        const uint64_t *at = p[i].header.serial ? map_find(&images, hash_image(&p[i], p[i].header.serial - 1)) : NULL;

        if (at && goes_on(&p[*at], &p[i]))
            from[i] = &p[*at];
    }
    return from;
}

static bool has_initial(const struct process *p)
{
    return p->thread_count && p->threads[0].number == 0;
}

static void add_threads(struct model *m, const struct process *p, const struct process *const *from, size_t count)
{
    AUTO_STR struct str text = {0};
    uint64_t threads = 0, sampled = 0;

    for (size_t i = 0; i < count; i++) {
        sampled += p[i].thread_count;
        threads += hqm_thread_count(&p[i].header, p[i].thread_count);
        if (!from[i])
            continue;
        /* The initial thread is the one that called exec. */
        threads--;
        sampled -= has_initial(&p[i]) && has_initial(from[i]);
    }
    str_addf(&text, "%" PRIu64, threads);
    if (sampled < threads)
        str_addf(&text, ", %" PRIu64 " of them with samples", sampled);
    model_info(m, "threads", str_cstr(&text));
}

static void add_sizes(struct model *m, const struct process *p, size_t count)
{
    uint64_t samples = 0, partial = 0, running = 0, damaged = 0, executed = 0;
    AUTO_FREE const struct process **from = find_executed(p, count);

    for (size_t i = 0; i < count; i++) {
        samples += p[i].header.samples;
        partial += p[i].header.partial;
        running += p[i].header.state == HQM_RUNNING;
        damaged += p[i].damaged;
        executed += from[i] != NULL;
    }
    facts_add_number(m, "processes", count - executed);
    if (executed)
        facts_add_number(m, FACT_EXECUTED, executed);
    add_threads(m, p, from, count);
    facts_add_number(m, FACT_SAMPLES, samples);
    facts_add_number(m, FACT_PARTIAL, partial);
    if (running)
        facts_add_number(m, "processes without an end (killed or still running)", running);
    if (damaged)
        facts_add_number(m, FACT_DAMAGED_FILES, damaged);
}

static const char delay_text[] = "%.4f s of the %.4f s for which threads wanted one";

/* Wanted is what a thread had, its CPU time, and what it did not have: threads that only wait change nothing. */
static void add_delay(struct model *m, const struct process *p, size_t count)
{
    double delay = 0, wanted = 0;
    AUTO_STR struct str text = {0};

    for (size_t i = 0; i < count; i++) {
        const struct hqm_header *h = &p[i].header;

        if (!h->delay_of_us)
            continue;
        delay += (double)h->delay_ns / 1e9;
        wanted += (double)h->delay_ns / 1e9;
        wanted += h->cpu_end_ns > h->cpu_start_ns ? (double)(h->cpu_end_ns - h->cpu_start_ns) / 1e9 : 0;
    }
    if (!(wanted > 0))
        return;
    str_addf(&text, delay_text, delay, wanted);
    str_addf(&text, ", %.1f %%", 100 * delay / wanted);
    model_info(m, FACT_DELAY, str_cstr(&text));
}

/* Commands of devices that are there one by one. */
static void add_untimed(struct model *m, const struct process *p, size_t count)
{
    uint64_t untimed = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < p[i].command_count; c++)
            untimed += (p[i].commands[c].command.flags & HQM_COMMAND_UNTIMED) != 0;
    if (untimed)
        facts_add_number(m, "commands without times", untimed);
}

static void add_losses(struct model *m, const struct process *p, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        model_loss(m, FACT_LOST_TO_DAMAGE, false, p[i].missing);
        for (unsigned r = 0; r < HQM_LOSS_MAX; r++)
            model_loss(m, loss_reason(r), false, p[i].header.loss[r]);
        for (unsigned r = 0; r < HQM_PARTIAL_MAX; r++)
            model_loss(m, partial_reason(r), true, p[i].header.partial_by_reason[r]);
    }
}

static void add_warnings(struct model *m, const struct process *p, size_t count)
{
    AUTO(intern_deinit) struct intern seen = {0};

    for (size_t i = 0; i < count; i++) {
        for (size_t w = 0; w < p[i].warning_count; w++) {
            if (intern_find(&seen, p[i].warnings[w]) == INTERN_NONE) {
                intern_add(&seen, p[i].warnings[w]);
                model_info(m, "warning", p[i].warnings[w]);
            }
        }
    }
}

/* Beside the measurements of each directory there may be lists of programs that ran without the collector. */
static void add_unmeasured(struct model *m, const struct process *p, size_t count)
{
    AUTO(intern_deinit) struct intern seen = {0};

    for (size_t i = 0; i < count; i++) {
        AUTO_FREE char *directory = file_dirname(p[i].path);
        AUTO(unmeasured_deinit) struct unmeasured_list list = {0};

        if (intern_find(&seen, directory) != INTERN_NONE)
            continue;
        intern_add(&seen, directory);
        AUTO_ERROR struct hq_error *err = unmeasured_read(directory, &list);
        if (err) {
            AUTO_FREE char *text = xasprintf("%s: which programs were not measured is not all known", err->message);

            log_warn("%s", text);
            model_info(m, "warning", text);
        }
        vec_foreach(u, &list) {
            AUTO_FREE char *text = u->times > 1 ? xasprintf("%s %llu times", u->text, (unsigned long long)u->times)
                                                : xstrdup(u->text);
            model_info(m, "not measured", text);
        }
    }
}

void facts_add(struct model *m, const struct process *p, size_t count, size_t unreadable)
{
    if (!count)
        return;
    model_info(m, "command", earliest(p, count)->command);
    add_set(m, "executables", p, count, executable_of);
    if (*earliest(p, count)->working_directory)
        model_info(m, "directory", earliest(p, count)->working_directory);
    add_set(m, "host", p, count, host_of);
    add_set(m, FACT_MACHINE, p, count, machine_of);
    add_set(m, "launcher", p, count, launcher_of);
    add_times(m, p, count);
    facts_add_cpu_time(m, p, count);
    add_spread(m, p, count);
    add_sizes(m, p, count);
    facts_add_events(m, p, count, earliest(p, count));
    add_trace(m, p, count);
    facts_add_clocks(m, p, count);
    add_delay(m, p, count);
    add_untimed(m, p, count);
    add_set(m, "collector", p, count, collector_of);
    if (unreadable)
        facts_add_number(m, FACT_LEFT_OUT, unreadable);
    add_warnings(m, p, count);
    add_unmeasured(m, p, count);
    add_losses(m, p, count);
}

const char *facts_text(const struct db *db, const char *key)
{
    for (size_t i = 0; i < db->info_count; i++)
        if (!strcmp(db_string(db, db->info[i].key), key))
            return db_string(db, db->info[i].value);
    return NULL;
}

bool facts_paths_estimated(const struct db *db, bool *as_filed)
{
    const char *text = facts_text(db, FACT_CALL_PATHS);

    *as_filed = text && str_begins(text, FACT_AS_FILED);
    return text && str_begins(text, "estimates");
}

uint64_t facts_number(const struct db *db, const char *key)
{
    const char *text = facts_text(db, key);

    return text ? strtoull(text, NULL, 10) : 0;
}

double facts_trace_from(const struct db *db)
{
    const char *start = strchr(trace_text, '%');
    size_t words = (size_t)(start - trace_text);

    for (size_t i = 0; i < db->info_count; i++)
        if (!strcmp(db_string(db, db->info[i].key), FACT_TRACE) &&
            !strncmp(db_string(db, db->info[i].value), trace_text, words))
            return strtod(db_string(db, db->info[i].value) + words, NULL);
    return 0;
}

bool facts_delay(const struct db *db, double *delay, double *wanted)
{
    const char *text = facts_text(db, FACT_DELAY);

    return text && sscanf(text, "%lf s of the %lf s", delay, wanted) == 2;
}

bool facts_partly(const struct db *db, const char *event, unsigned *of, unsigned *all)
{
    const char *text = facts_text(db, FACT_PARTLY);
    size_t n = strlen(event);

    for (; text; text = strstr(text, ", ") ? strstr(text, ", ") + 2 : NULL)
        if (!strncmp(text, event, n) && sscanf(text + n, ": %u of %u", of, all) == 2)
            return true;
    return false;
}

bool facts_damaged(const struct db *db)
{
    return facts_number(db, FACT_DAMAGED_FILES) || facts_number(db, FACT_LEFT_OUT);
}

/* ---- source files ---- */

enum { MOST_SOURCE_BYTES = 4 << 20 }; /* a longer file is generated, and nobody reads it */

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void facts_add_sources(struct model *m)
{
    VEC(const char *) paths = {0};

    for (size_t i = 0; i < m->scopes.len; i++)
        vec_push(&paths, intern_str(&m->strings, m->scopes.data[i].file));
    vec_sort(&paths, compare_paths);
    for (size_t i = 0; i < paths.len; i++) {
        AUTO_STR struct str text = {0};
        AUTO_ERROR struct hq_error *err = NULL;

        if (paths.data[i][0] != '/' || (i && !strcmp(paths.data[i], paths.data[i - 1])))
            continue;
        err = file_read_regular(paths.data[i], &text, MOST_SOURCE_BYTES);
        if (!err)
            model_source(m, paths.data[i], str_cstr(&text), text.len);
    }
    vec_deinit(&paths);
}

void facts_add_groups(struct model *m, const struct given *given)
{
    vec_foreach(g, &given->groups) {
        AUTO_STR struct str name = {0};

        if (!*g->parts)
            continue;
        for (const char *c = g->name; *c; c++)
            str_addf(&name, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
        AUTO_FREE char *text = xasprintf("%s:%lu: group \"%s\" = %s", file_basename(g->file), g->at, str_cstr(&name),
                                         g->parts);

        model_info(m, FACT_GROUP, text);
    }
}
