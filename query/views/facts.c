/* SPDX-License-Identifier: BSD-3-Clause */
/* `metrics`: what can be asked for by name and number. */
#include "common/map.h"
#include "common/units.h"
#include "db/facts.h"
#include "query/grammar/parse.h"
#include "query/shape/loop_lines.h"
#include "query/shape/rows.h"
#include "query/views/views.h"
#include <math.h>

static void set_text(struct table *t, struct row *row, size_t column, const char *text)
{
    row->cells[column].text = arena_strdup(&t->arena, text ? text : "");
}

static void set_number(struct table *t, struct row *row, size_t column, const char *text, double number)
{
    set_text(t, row, column, text);
    row->cells[column].number = number;
}

static void add_text_column(struct table *t, const char *name)
{
    struct column *c = vec_add(&t->columns);

    c->name = name;
    c->type = COLUMN_TEXT;
    c->scope = SCOPED_NONE;
    c->total = NAN;
}

/* "every 5 ms", "exact" */
static const char *period_text(struct arena *arena, const struct measure *m)
{
    char text[UNITS_TEXT];

    if (m->flags & HQDB_METRIC_EXACT)
        return "exact";
    if (!m->period || m->flags & (HQDB_METRIC_SPANS | HQDB_METRIC_WEIGHED))
        return "";
    return arena_printf(arena, "every %s", units_format(text, (double)m->period * m->scale, m->dim));
}

/* In the unit of the metric; blank for what is exact or not known. */
static double period_of(const struct measure *m)
{
    return m->flags & (HQDB_METRIC_EXACT | HQDB_METRIC_SPANS | HQDB_METRIC_WEIGHED) || !m->period
               ? NAN
               : scaled_value((int64_t)m->period, m->scale);
}

static struct hq_error *measured_rows(struct run *run, struct table *t)
{
    for (size_t i = 0; i < run->selection.here_count; i++) {
        struct measure *m = &run->selection.measures.data[i];
        struct row *row;
        char text[UNITS_TEXT];

        HQ_TRY(selection_load(&run->selection, i));
        m = &run->selection.measures.data[i];
        row = table_add_row(t);
        row->name = arena_strdup(&t->arena, m->name);
        row->number = (uint32_t)i + 1;
        set_text(t, row, 0, arena_printf(&t->arena, "$%zu $%zu", 2 * i + 1, 2 * i + 2));
        set_text(t, row, 1, *dim_unit(m->dim) ? dim_unit(m->dim) : dim_name(m->dim));
        set_number(t, row, 2, period_text(&t->arena, m), period_of(m));
        set_number(t, row, 3, units_format(text, (double)m->total * m->scale, m->dim),
                   scaled_value(m->total, m->scale));
        if (!(m->flags & HQDB_METRIC_NO_COUNTS))
            set_number(t, row, 4, arena_printf(&t->arena, "%lld", (long long)m->total_count), (double)m->total_count);
        set_text(t, row, 5, *m->description ? m->description : m->event);
    }
    return NULL;
}

static struct hq_error *metrics_fill(struct run *run, struct table *t)
{
    static const char *const columns[] = {"number", "unit", "sampled", "total", "samples", "description"};

    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        add_text_column(t, columns[i]);
    t->facts = true;
    HQ_TRY(measured_rows(run, t));
    for (size_t i = 0; i < run->env->lets.len; i++) {
        struct program *p;
        const char *name;
        unsigned number = (unsigned)(2 * (run->selection.here_count + i) + 1);
        struct row *row = table_add_row(t);

        HQ_TRY(bind_column(&run->binding, number, &run->query->view.place, &p, &name));
        row->name = arena_strdup(&t->arena, name);
        row->number = (uint32_t)(run->selection.here_count + i) + 1;
        set_text(t, row, 0, arena_printf(&t->arena, "$%u $%u", number, number + 1));
        set_text(t, row, 1, *dim_unit(p->dim) ? dim_unit(p->dim) : p->dim == DIM_NONE ? "" : dim_name(p->dim));
        for (size_t c = 2; c < 5; c++)
            set_text(t, row, c, "");
        set_text(t, row, 5, run->env->lets.data[i].text);
    }
    return NULL;
}

/* ---- info ---- */

static void fact(struct table *t, const char *name, const char *value)
{
    struct row *row = table_add_row(t);

    row->name = arena_strdup(&t->arena, name);
    set_text(t, row, 0, value);
}

/* For programs: the number and, in the second column, its unit. */
static void fact_number(struct table *t, const char *name, double number, const char *unit)
{
    char text[UNITS_TEXT];
    struct row *row = table_add_row(t);

    row->name = arena_strdup(&t->arena, name);
    snprintf(text, sizeof text, "%.15g", number);
    set_number(t, row, 0, text, number);
    set_text(t, row, 1, unit);
}

/* `63` or `1.190 s`, of what is no name. */
static bool is_quantity(const char *key, const char *value, double *number, const char **unit)
{
    static const char *const names[] = {"command", "executables", "directory", "host", "machine", "launcher"};
    char *end;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(key, names[i]))
            return false;
    *number = strtod(value, &end);
    *unit = end + (*end == ' ');
    return end > value && isfinite(*number) && (!**unit || !strcmp(*unit, "s") || !strcmp(*unit, "B"));
}

/* The kernel's count beside the samples shows what is in none. It lacks processes that nobody waits for (SIGCHLD is
 * ignored, daemons), which samples have; how much time these had cannot be known, and a share would say nothing. */
static const char *cpu_time_text(const struct run *run, const char *counted, struct arena *a)
{
    const double whole = 101; /* percent, and what the sampling itself adds */

    for (size_t i = 0; i < run->selection.here_count; i++) {
        const struct measure *m = &run->selection.measures.data[i];
        double seconds = scaled_value(m->total, m->scale);
        double share = 100 * seconds / strtod(counted, NULL);

        if (strcmp(m->event, "CPUTIME"))
            continue;
        const char *beside = share > whole ? "more than that: the count lacks processes that nobody waited for, or few "
                                             "samples scatter"
                                           : arena_printf(a, "%.1f %%", share);

        return arena_printf(a,
                            "%s by the kernel's count, of the command and all that it waited for; samples: %.3f s, %s",
                            counted, seconds, beside);
    }
    return arena_printf(a, "%s by the kernel's count, of the command and all that it waited for", counted);
}

static void facts_of_run(const struct run *run, bool for_programs, struct table *t)
{
    const struct db *db = run->tree->db;

    for (size_t i = 0; i < db->info_count; i++) {
        const char *key = db_string(db, db->info[i].key), *value = db_string(db, db->info[i].value), *unit;
        double number;

        /* Samples of a region that was opened on a partial path have one, too: questions count them. */
        if (!strcmp(key, FACT_PARTIAL)) {
            uint64_t counted = (uint64_t)coverage_partial(run);

            if (facts_number(db, key) < counted)
                value = arena_printf(&t->arena, "%llu", (unsigned long long)counted);
        }
        if (!strcmp(key, FACT_CPU) && !for_programs)
            value = cpu_time_text(run, value, &t->arena);
        if (!strcmp(key, FACT_CPU_LOADING) && !for_programs)
            value = arena_printf(&t->arena, "%s of it, in no sample: programs were loaded, linked and initialised",
                                 value);
        if (for_programs && is_quantity(key, value, &number, &unit))
            fact_number(t, key, number, unit);
        else
            fact(t, key, value);
    }
}

struct counts {
    size_t ranks, processes, images, hosts, queues;
};

static struct counts count_profiles(const struct db *db)
{
    struct counts n = {0};
    struct map ranks = {0}, processes = {0}, images = {0}, hosts = {0};

    for (size_t i = 0; i < db->profile_count; i++) {
        const struct hqdb_profile *p = &db->profiles[i];

        n.queues += db_is_queue(db, (uint32_t)i);
        if (p->rank >= 0)
            map_put(&ranks, (uint64_t)p->rank, 1);
        /* Other tools may not tell them. */
        if (p->pid) {
            map_put(&processes, (uint64_t)p->host << 32 | p->pid, 1);
            map_put(&images, (uint64_t)p->host << 32 ^ (uint64_t)p->pid << 8 ^ p->serial, 1);
        }
        if (*db_string(db, p->host))
            map_put(&hosts, p->host, 1);
    }
    /* Where nothing was executed one number of two images is that of two processes. */
    n = (struct counts){ranks.len, facts_text(db, FACT_EXECUTED) ? processes.len : images.len, images.len, hosts.len,
                        n.queues};
    map_deinit(&ranks);
    map_deinit(&processes);
    map_deinit(&images);
    map_deinit(&hosts);
    return n;
}

/* Like facts_of_data, with one number in each row. */
static void numbers_of_data(struct run *run, struct table *t)
{
    const struct db *db = run->tree->db;
    struct counts n = count_profiles(db);
    struct arena *a = &t->arena;

    fact_number(t, "profiles", (double)(db->profile_count - n.queues), "threads");
    if (n.queues)
        fact_number(t, "profiles: queues of devices", (double)n.queues, "queues");
    if (n.processes)
        fact_number(t, "profiles: processes", (double)n.processes, "processes");
    if (n.images > n.processes)
        fact_number(t, "profiles: images of processes", (double)n.images, "images");
    if (n.hosts)
        fact_number(t, "profiles: hosts", (double)n.hosts, "hosts");
    if (n.ranks)
        fact_number(t, "ranks", (double)n.ranks, "ranks");
    for (size_t i = 0; i < run->selection.here_count; i++) {
        const struct measure *m = &run->selection.measures.data[i];
        const char *unit = *dim_unit(m->dim) ? dim_unit(m->dim) : dim_name(m->dim);

        fact_number(t, m->name, scaled_value(m->total, m->scale), unit);
        if (!(m->flags & HQDB_METRIC_NO_COUNTS))
            fact_number(t, arena_printf(a, "%s: samples", m->name), (double)m->total_count, "samples");
        if (!isnan(period_of(m)))
            fact_number(t, arena_printf(a, "%s: period", m->name), period_of(m), unit);
    }
    fact_number(t, "contexts", (double)db->context_count, "contexts");
    fact_number(t, "contexts: call path frames", (double)db->frame_count, "frames");
    fact_number(t, "load modules", (double)db->module_count, "load modules");
}

static void facts_of_data(struct run *run, struct table *t)
{
    const struct db *db = run->tree->db;
    struct counts n = count_profiles(db);
    struct arena *a = &t->arena;
    AUTO_STR struct str profiles = {0};

    str_addf(&profiles, "%zu thread%s", db->profile_count - n.queues, db->profile_count - n.queues == 1 ? "" : "s");
    if (n.queues)
        str_addf(&profiles, " and %zu queue%s of devices", n.queues, n.queues == 1 ? "" : "s");
    if (n.processes)
        str_addf(&profiles, " of %zu process%s", n.processes, n.processes == 1 ? "" : "es");
    if (n.images > n.processes)
        str_addf(&profiles, " (%zu images: what a process executes has profiles of its own)", n.images);
    if (n.hosts)
        str_addf(&profiles, " on %zu host%s", n.hosts, n.hosts == 1 ? "" : "s");
    fact(t, "profiles", arena_strdup(a, str_cstr(&profiles)));
    if (n.ranks)
        fact(t, "ranks", arena_printf(a, "%zu", n.ranks));
    for (size_t i = 0; i < run->selection.here_count; i++) {
        const struct measure *m = &run->selection.measures.data[i];
        char total[UNITS_TEXT];

        units_format(total, (double)m->total * m->scale, m->dim);
        fact(t, m->name,
             m->flags & HQDB_METRIC_NO_COUNTS
                 ? arena_strdup(a, total)
                 : arena_printf(a, "%s in %lld sample%s%s%s", total, (long long)m->total_count,
                                m->total_count == 1 ? "" : "s", *period_text(a, m) ? ", " : "", period_text(a, m)));
    }
    fact(t, "contexts", arena_printf(a, "%zu, of %zu call path frames", db->context_count, db->frame_count));
    fact(t, "load modules", arena_printf(a, "%zu", db->module_count));
}

/* Returns a module's note without the path that it begins with (that of a copy, where the structure was known
 * already). */
static const char *module_note(const struct db *db, size_t module)
{
    const char *note = db_string(db, db->modules[module].note), *end = strstr(note, ": ");

    return end && memchr(note, '/', (size_t)(end - note)) && !memchr(note, ' ', (size_t)(end - note)) ? end + 2 : note;
}

/* Tells what could not be read of the load modules: one row for all modules with the same note. */
static void facts_of_structure(const struct db *db, struct table *t)
{
    for (size_t i = 0; i < db->module_count; i++) {
        const char *note = module_note(db, i);
        bool told = !*note;
        AUTO_STR struct str names = {0};

        for (size_t k = 0; k < db->module_count && !told; k++) {
            if (strcmp(module_note(db, k), note))
                continue;
            told = k < i;
            str_addf(&names, "%s%s", names.len ? ", " : "", path_base(db_string(db, db->modules[k].path)));
        }
        if (!told)
            fact(t, "structure", arena_printf(&t->arena, "%s: %s", note, str_cstr(&names)));
    }
}

/* Where the lines of loops are from, of those that a sample lies in. */
static void facts_of_loops(struct run *run, bool for_programs, struct table *t)
{
    const struct tree *tree = run->tree;
    struct loop_lines n = {0};
    AUTO_STR struct str text = {0};
    unsigned all = 0, inferred;

    for (uint32_t i = 0; i < tree->scope_count; i++) {
        if (tree->scopes[i].kind != SCOPE_LOOP || !tree->scopes[i].line || !tree_instances(tree, i).len)
            continue;
        n.of[loop_lines_basis(tree, i)]++;
        all++;
    }
    inferred = loop_lines_inferred(&n);
    if (for_programs && all) {
        fact_number(t, "lines of loops: from the source", n.of[LOOP_BY_SOURCE], "loops");
        fact_number(t, "lines of loops: inferred", inferred, "loops");
        fact_number(t, "lines of loops: not known where from", n.of[LOOP_UNKNOWN], "loops");
    } else if (all) {
        if (n.of[LOOP_BY_SOURCE])
            str_addf(&text, "%u from the source", n.of[LOOP_BY_SOURCE]);
        if (inferred) {
            str_addf(&text, "%s%u inferred from debug information: ", text.len ? "; " : "", inferred);
            loop_lines_add_why(&n, &text);
        }
        if (n.of[LOOP_UNKNOWN])
            str_addf(&text, "%s%u not known where from", text.len ? "; " : "", n.of[LOOP_UNKNOWN]);
        fact(t, "lines of loops", str_cstr(&text));
    }
}

static void facts_of_losses(const struct db *db, bool for_programs, struct table *t)
{
    for (size_t i = 0; i < db->loss_count; i++) {
        const char *what = db->losses[i].partial ? "partial call paths" : "lost samples";

        if (db->losses[i].count && for_programs)
            fact_number(t, arena_printf(&t->arena, "%s: %s", what, db_string(db, db->losses[i].reason)),
                        (double)db->losses[i].count, db->losses[i].partial ? "call paths" : "samples");
        else if (db->losses[i].count)
            fact(t, what,
                 arena_printf(&t->arena, "%llu: %s", (unsigned long long)db->losses[i].count,
                              db_string(db, db->losses[i].reason)));
    }
    facts_of_structure(db, t);
}

static void facts_of_file(const struct db *db, bool for_programs, struct table *t)
{
    uint64_t all = 0;
    char size[UNITS_TEXT];

    fact(t, "file", db->path);
    for (size_t i = 0; i < db_section_count(db); i++)
        all += db_section(db, i).bytes;
    if (for_programs)
        fact_number(t, "size", (double)all, "B");
    else
        fact(t, "size", units_format(size, (double)all, DIM_BYTES));
    for (size_t i = 0; i < db_section_count(db); i++) {
        struct db_section s = db_section(db, i);
        bool first = true;

        for (size_t k = 0; k < db_section_count(db); k++) { /* one row for the sections of all metrics */
            if (k == i || strcmp(db_section(db, k).name, s.name))
                continue;
            first = first && k > i;
            s.bytes += db_section(db, k).bytes;
            s.count += db_section(db, k).count;
        }
        if (first && for_programs) {
            fact_number(t, arena_printf(&t->arena, "size: %s", s.name), (double)s.bytes, "B");
            fact_number(t, arena_printf(&t->arena, "records: %s", s.name), (double)s.count, "records");
        } else if (first && s.bytes >= all / 50 + 1)
            fact(t, arena_printf(&t->arena, "  %s", s.name),
                 arena_printf(&t->arena, "%s, %llu records", units_format(size, (double)s.bytes, DIM_BYTES),
                              (unsigned long long)s.count));
    }
}

static struct hq_error *info_fill(struct run *run, struct table *t)
{
    bool for_programs = run->query->as && run->complete;

    add_text_column(t, "value");
    if (for_programs)
        add_text_column(t, "unit");
    t->facts = true;
    for (size_t i = 0; i < run->selection.here_count; i++)
        HQ_TRY(selection_load(&run->selection, i));
    facts_of_run(run, for_programs, t);
    if (for_programs)
        numbers_of_data(run, t);
    else
        facts_of_data(run, t);
    facts_of_loops(run, for_programs, t);
    facts_of_losses(run->tree->db, for_programs, t);
    facts_of_file(run->env->db, for_programs, t);
    return NULL;
}

const struct view_row view_metrics = {.shape = SHAPE_FACTS, .fill = metrics_fill};
const struct view_row view_info = {.shape = SHAPE_FACTS, .fill = info_fill};
