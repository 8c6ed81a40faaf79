/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/pair_fuzz.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/str.h"
#include "db/export_trace.h"
#include "db/model/model.h"
#include "format/measurement.h"
#include "query/grammar/parse.h"
#include "query/output.h"
#include "query/query.h"
#include "query/report/report.h"
#include "tests/unit/mutate.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { DATABASES = 6, SCOPES = 40, FRAMES = 60, PROFILES = 3, QUERIES = 5 };

const char *volatile pair_fuzz_query = "";

struct pair_fuzz {
    struct {
        uint8_t *data;
        size_t size;
    } file[DATABASES];
    FILE *sink;
};

static uint64_t below(uint64_t *state, uint64_t n)
{
    return n ? mutate_random(state) % n : 0;
}

#define ANY(list, state) (list)[below(state, sizeof(list) / sizeof *(list))]

/* ---- databases: few names for many scopes, so that two databases share some and rows look alike ---- */

static uint32_t add_module(struct model *m, uint64_t *state)
{
    static const char *const paths[] = {"/bin/alpha", "/bin/beta", "/usr/bin/alpha", "/lib/libm.so.6", "[vdso]", ""};
    static const char *const builds[] = {"12ab34cd56", "ffee", ""};

    return model_module(m, ANY(paths, state), ANY(builds, state), below(state, 3) ? 0 : HQDB_MODULE_MAIN,
                        below(state, 4) ? NULL : "no debug information: stripped");
}

static void add_scopes(struct model *m, uint64_t *state, uint32_t *scopes, uint32_t *lines)
{
    static const char *const names[] = {"main",       "solve",       "hot_inner", "ns::run<int, char>(int)",
                                        "operator()", "\x1b[31mred", "\xc2\x9b",  "=cmd()",
                                        "a\"b,c",     "f._omp_fn.0"};
    static const char *const files[] = {"a.c", "/src/b.c", "src/b.c", "x\ny.c", ""};
    uint32_t modules[] = {add_module(m, state), add_module(m, state)};

    for (uint32_t i = 0; i < SCOPES; i++) {
        static const enum scope_kind inner[] = {SCOPE_INLINE, SCOPE_LOOP, SCOPE_LINE, SCOPE_LINE};
        enum scope_kind kind = i < 4 ? SCOPE_FILE : i < 12 ? SCOPE_PROCEDURE : ANY(inner, state);
        uint32_t module = modules[i % 2], parent = i < 4 ? model_module_scope(m, module) : i < 12 ? scopes[i % 4] : 0;

        if (i >= 12)
            parent = lines[i - 1] == HQDB_NONE ? scopes[i - 1] : scopes[4 + below(state, 8)];
        scopes[i] = model_scope(m, &(struct model_scope){.kind = kind,
                                                         .parent = parent,
                                                         .name = kind == SCOPE_LOOP || kind == SCOPE_LINE ? ""
                                                                 : i < 4 ? ANY(files, state)
                                                                         : ANY(names, state),
                                                         .file = ANY(files, state),
                                                         .line = (uint32_t)below(state, 30),
                                                         .module = module,
                                                         .call_file = kind == SCOPE_INLINE ? ANY(files, state) : NULL,
                                                         .call_line = (uint32_t)below(state, 5),
                                                         .ordinal = kind == SCOPE_LOOP ? i : 0});
        lines[i] = kind == SCOPE_LINE ? scopes[i] : HQDB_NONE;
    }
    /* Every code lies in a line: the last procedures have one each. */
    for (uint32_t i = 0; i < SCOPES; i++)
        if (lines[i] == HQDB_NONE)
            lines[i] = model_scope(m, &(struct model_scope){.kind = SCOPE_LINE,
                                                            .parent = scopes[i < 4 ? 4 + i : i],
                                                            .file = "a.c",
                                                            .line = 100 + i,
                                                            .module = modules[i % 2]});
}

static void add_frames(struct model *m, uint64_t *state, const uint32_t *lines, uint32_t *frames)
{
    for (uint32_t i = 0; i < FRAMES; i++) {
        uint32_t line = lines[below(state, SCOPES)], raw = below(state, 3) ? line : lines[below(state, SCOPES)];

        if (i % 20 == 5)
            frames[i] = model_root_frame(m, below(state, 2) ? SCOPE_THREAD : SCOPE_PARTIAL,
                                         below(state, 2) ? "thread created by solve" : "partial: too many frames");
        else
            frames[i] = model_frame(
                m, i && below(state, 6) ? frames[below(state, i)] : HQDB_NONE,
                model_code(m, below(state, 9) ? (uint32_t)below(state, 2) : HQDB_NONE, 16 * i, raw, line));
    }
}

static void add_values(struct model *m, uint64_t *state, const uint32_t *frames)
{
    static const char *const events[] = {"CPUTIME", "REALTIME", "PAPI_TOT_CYC", "BYTES"};
    static const char *const hosts[] = {"h", "g", ""};
    uint32_t metrics[2];
    bool ranked = below(state, 2);

    for (int i = 0; i < 2; i++)
        metrics[i] = model_metric(m,
                                  &(struct model_metric){.event = i ? events[1 + below(state, 3)] : ANY(events, state),
                                                         .dimension = (uint16_t)(i ? HQM_DIM_EVENTS : HQM_DIM_SECONDS),
                                                         .flags = HQDB_METRIC_SAMPLED | HQDB_METRIC_TRACED,
                                                         .period = below(state, 2) ? 1000 : 0,
                                                         .scale = below(state, 3) ? 1e-9 : 1});
    for (uint32_t p = 0; p < PROFILES; p++) {
        model_profile(m, &(struct model_profile){.rank = ranked ? (int32_t)p : -1,
                                                 .host = ANY(hosts, state),
                                                 .pid = p / 2,
                                                 .thread = p % 2,
                                                 .command = "/bin/alpha",
                                                 .creator_profile = p % 2 ? p - 1 : HQDB_NONE,
                                                 .creator_frame = p % 2 ? frames[1] : HQDB_NONE,
                                                 .start_realtime_ns = 1000000,
                                                 .end_us = 5 * FRAMES});
        for (uint32_t i = p; i < FRAMES; i++) {
            int64_t sum = (int64_t)below(state, 5000) * 1000;

            model_value(m, p, metrics[0], frames[i], sum, (uint64_t)sum / 1000);
            model_value(m, p, metrics[1], frames[i], below(state, 9) ? 1 : (int64_t)below(state, 99) - 50, 1);
            model_trace(m, p, i * 5, frames[below(state, FRAMES)], metrics[0], 1 + i % 2);
        }
    }
}

static struct hq_error *write_database(uint64_t *state, const char *path)
{
    struct model *m = model_create();
    uint32_t scopes[SCOPES], lines[SCOPES], frames[FRAMES], places[PAIR_FUZZ_PLACES] = {0};
    struct hq_error *err;

    model_info(m, "command", "alpha -x");
    model_loss(m, "lost", below(state, 2), 3);
    model_source(m, "a.c", "int main;\n\n\x1b[0m\n", 16);
    add_scopes(m, state, scopes, lines);
    add_frames(m, state, lines, frames);
    places[0] = frames[0];
    pair_fuzz_places(m, state, scopes[4], lines[20], places);
    memcpy(frames + FRAMES - PAIR_FUZZ_PLACES, places, sizeof places);
    add_values(m, state, frames);
    pair_fuzz_exact(m, state, PROFILES, places);
    err = model_write(m, path, 1);
    model_destroy(m);
    return err;
}

/* ---- queries ---- */

static const char *const settings[] = {"set lines on",
                                       "set inline off",
                                       "set normalise off",
                                       "set ci on",
                                       "set lines off",
                                       "set inline on",
                                       "set normalise on",
                                       "set ci off",
                                       "set names full",
                                       "set names short",
                                       "set internals on",
                                       "set groups runtime",
                                       "group g = /a/, phase \"step\", modules of /./"};
static const char *const views[] = {"tree",
                                    "callers",
                                    "flat",
                                    "hot path",
                                    "procedures",
                                    "loops",
                                    "lines",
                                    "files",
                                    "modules",
                                    "threads",
                                    "metrics",
                                    "profiles",
                                    "info",
                                    "trace",
                                    "trace summary",
                                    "trace imbalance",
                                    "trace depth of thread 0",
                                    "trace at 50%",
                                    "tree of /./",
                                    "callers of /./",
                                    "source of /./",
                                    "iterations of /./",
                                    "regions",
                                    "regions of /./",
                                    "phases",
                                    "phases of /./",
                                    "phases between /./",
                                    "clusters of phases",
                                    "clusters of phases of /./ by $1 eps 0.1 min 2",
                                    "fold of /./",
                                    "fold of /step/ points 9 instances all",
                                    "fold of /red/ instances mad",
                                    "messages",
                                    "messages of /./",
                                    "devices",
                                    "groups",
                                    "groups by module",
                                    "groups by runtime",
                                    "flat by directory",
                                    "flat by runtime",
                                    "flat by group",
                                    "explain 90% of $1",
                                    "explain 50% of delta",
                                    "tree of #2",
                                    "callers of #1",
                                    "source of #3"};
static const char *const clauses[] = {
    "compare with other",
    "compare with other",
    "compare with other scaled by 0.5",
    "all",
    "all",
    "limit 3",
    "depth 2",
    "flatten 2",
    "width 20",
    "height 4",
    "level 2",
    "ranks 0-1",
    "threads 0",
    "per host",
    "during 10%..60%",
    "during 0s..1s",
    "during solve",
    "during iteration 1 of solve",
    "through * >> *",
    "not through /a/ > *",
    "hide /a/",
    "prune /o/",
    "where $1 > 1% or name =~ /a/",
    "where old.cputime > 0 or line > 3",
    "matching /./",
    "sort by name",
    "sort by $2, line asc",
    "columns mean($1), p90($1.x), imbalance($1), stddev($1), max($1), min($1), count($1)",
    "columns module, file, callsite, id, $1 / $2",
    "by $2",

    "where group = g",
    "where waits",
    "points 5",
    "columns $3, $3.x, $1",
    "threshold 1%",
    "percent of parent",
    "percent of shown",
    "expect $1 > 1%",
    "expect rows > 2"};

static void compose(uint64_t *state, struct str *text)
{
    str_clear(text);
    if (below(state, 4) == 0)
        str_addf(text, "%s; ", ANY(settings, state));
    str_add(text, ANY(views, state));
    for (uint64_t n = below(state, 4); n; n--)
        str_addf(text, " %s", ANY(clauses, state));
}

static void print_all(struct pair_fuzz *f, uint64_t *state, const struct table *t, struct pair_fuzz_counts *counts)
{
    for (const struct output_format *o = output_formats; o->name; o++) {
        struct output_options options = {0};
        struct hq_error *err;

        if (below(state, 3))
            continue;
        if (below(state, 2))
            options = (struct output_options){.width = (unsigned)below(state, 200),
                                              .height = 40,
                                              .colours = (enum output_colours)below(state, 4),
                                              .utf8 = below(state, 2)};
        err = output_write(o, t, &options, f->sink);
        counts->outputs += !err;
        counts->refused += !!err;
        hq_error_free(err);
    }
    output_notes(t, f->sink);
}

static void ask(struct pair_fuzz *f, uint64_t *state, struct query_env *env, const char *text,
                struct pair_fuzz_counts *counts)
{
    struct source source = {.name = "fuzz", .text = text, .length = strlen(text)};
    struct script *script;
    struct hq_error *err = parse_script(&source, NULL, &script);

    pair_fuzz_query = text;
    for (size_t i = 0; !err && i < script->statements.len; i++) {
        struct table *t = NULL;

        env->complete = below(state, 2);
        err = query_run(env, &script->statements.data[i], &t);
        if (!err && t) {
            counts->tables++;
            print_all(f, state, t, counts);
        }
        table_destroy(t);
    }
    counts->refused += !!err;
    hq_error_free(err);
    script_destroy(script);
    pair_fuzz_query = "";
}

/* ---- rounds ---- */

static struct hq_error *other_database(void *arg, const char *name, struct db **out)
{
    (void)name;
    *out = arg;
    return NULL;
}

/* The file is memory of its own: it is gone when the database is closed. */
static struct db *open_bytes(const uint8_t *data, size_t size, uint64_t *state, bool damage)
{
    int fd = memfd_create("fuzz", 0);
    char path[40];
    struct db *db = NULL;
    AUTO_FREE uint8_t *copy = xmalloc(size);

    memcpy(copy, data, size);
    if (damage) {
        for (uint64_t n = 1 + below(state, 8); n; n--)
            pair_fuzz_damage(copy, size, state);
        pair_fuzz_mend(copy, size);
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd >= 0 && write(fd, copy, size) == (ssize_t)size)
        hq_error_free(db_open(path, &db));
    if (fd >= 0)
        close(fd);
    return db;
}

static void ask_page(struct pair_fuzz *f, struct query_env *env, bool compares, uint64_t *state)
{
    static const char *const questions[] = {"phases", "fold of /step/", "messages as svg"};
    struct report_options options = {.name = "fuzz",
                                     .settings = below(state, 2) ? "" : "set lines on; ",
                                     .questions = questions,
                                     .question_count = below(state, 4),
                                     .compare = compares ? "other" : NULL,
                                     .budget = below(state, 2) ? 0 : 800000};

    pair_fuzz_query = "the page of a report";
    hq_error_free(report_write(env, &options, f->sink, NULL));
}

void pair_fuzz_round(struct pair_fuzz *f, uint64_t state, struct pair_fuzz_counts *counts)
{
    uint64_t damaged = below(&state, 4); /* 0, 1: this side; 2: the other one; 3: none */
    uint64_t a = below(&state, DATABASES), b = (a + 1 + below(&state, DATABASES - 1)) % DATABASES;
    struct db *db = open_bytes(f->file[a].data, f->file[a].size, &state, damaged < 2);
    struct db *other = open_bytes(f->file[b].data, f->file[b].size, &state, damaged == 2);
    AUTO_STR struct str text = {0};
    struct query_env env;

    if (db && other) {
        counts->opened++;
        query_env_init(&env, db);
        env.find_db = other_database;
        env.find_db_arg = other;
        for (int i = 0; i < QUERIES; i++) {
            compose(&state, &text);
            ask(f, &state, &env, str_cstr(&text), counts);
        }
        if (below(&state, 8) == 0)
            ask_page(f, &env, below(&state, 2), &state);
        query_env_deinit(&env);
        if (below(&state, 8) == 0) {
            pair_fuzz_query = "verify and export";
            hq_error_free(db_verify(db));
            hq_error_free(db_export_chrome(db, f->sink));
        }
    }
    db_close(db);
    db_close(other);
}

static bool make_database(struct pair_fuzz *f, uint64_t seed, int i)
{
    char path[] = "/tmp/hq-pair.XXXXXX";
    int made = mkstemp(path);
    uint64_t state = hash_combine(seed, (uint64_t)i);
    struct stat st;
    FILE *file;

    if (made < 0)
        return false;
    close(made);
    hq_error_free(write_database(&state, path));
    if ((file = fopen(path, "rb")) && !fstat(fileno(file), &st) && st.st_size) {
        f->file[i].size = (size_t)st.st_size;
        f->file[i].data = xmalloc(f->file[i].size);
        f->file[i].size = fread(f->file[i].data, 1, f->file[i].size, file);
    }
    if (file)
        fclose(file);
    remove(path);
    return f->file[i].size > sizeof(struct hqdb_header);
}

struct pair_fuzz *pair_fuzz_create(uint64_t seed)
{
    struct pair_fuzz *f = xcalloc(1, sizeof *f);
    bool well = (f->sink = fopen("/dev/null", "w")) != NULL;

    for (int i = 0; i < DATABASES && well; i++)
        well = make_database(f, seed, i);
    if (well)
        return f;
    pair_fuzz_destroy(f);
    return NULL;
}

void pair_fuzz_destroy(struct pair_fuzz *f)
{
    for (int i = 0; i < DATABASES; i++)
        free(f->file[i].data);
    if (f->sink)
        fclose(f->sink);
    free(f);
}
