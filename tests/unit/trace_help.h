/* SPDX-License-Identifier: BSD-3-Clause */
/* A database with traces of known phases, and queries on it. */
#ifndef HQ_TESTS_TRACE_HELP_H
#define HQ_TESTS_TRACE_HELP_H

#include "tests/unit/output_help.h"
#include "db/model/model.h"
#include "query/grammar/parse.h"
#include "query/query.h"

enum { PERIOD_US = 5000 };

/* Places that can be sampled, each with its frame. */
enum place_name { IN_INIT, IN_COMPUTE, IN_WAIT, IN_SETUP, IN_FINISH, PLACES };

struct traced {
    struct model *m;
    uint32_t metric, module;
    uint32_t frames[PLACES];
    struct db *db;
    struct query_env env;
    char path[256];
};

static inline uint32_t traced_line(struct traced *t, uint32_t parent, uint32_t line)
{
    uint32_t scope = model_scope(
        t->m, &(struct model_scope){
                  .kind = SCOPE_LINE, .parent = parent, .file = "step.c", .line = line, .module = t->module});
    return model_code(t->m, t->module, line * 16u, scope, scope);
}

static inline uint32_t traced_proc(struct traced *t, uint32_t file, const char *name, uint32_t line)
{
    return model_scope(t->m, &(struct model_scope){.kind = SCOPE_PROCEDURE,
                                                   .parent = file,
                                                   .name = name,
                                                   .file = "step.c",
                                                   .line = line,
                                                   .module = t->module,
                                                   .address = line * 16u});
}

/*
 * main calls init, and in a loop step; step calls setup, compute, and exchange, which calls MPI_Wait; main calls finish
 * at the end.
 */
static inline void traced_structure(struct traced *t)
{
    t->m = model_create();
    t->metric = model_metric(t->m, &(struct model_metric){.event = "CPUTIME",
                                                          .dimension = DIM_SECONDS,
                                                          .flags = HQDB_METRIC_SAMPLED | HQDB_METRIC_TRACED,
                                                          .period = PERIOD_US * 1000,
                                                          .scale = 1e-9});
    t->module = model_module(t->m, "/bin/steps", "", HQDB_MODULE_MAIN, NULL);
    uint32_t file = model_scope(t->m, &(struct model_scope){.kind = SCOPE_FILE,
                                                            .parent = model_module_scope(t->m, t->module),
                                                            .name = "step.c",
                                                            .file = "step.c",
                                                            .module = t->module});
    uint32_t main_proc = traced_proc(t, file, "main", 10), step = traced_proc(t, file, "step", 20);
    uint32_t loop = model_scope(
        t->m,
        &(struct model_scope){
            .kind = SCOPE_LOOP, .parent = main_proc, .file = "step.c", .line = 12, .module = t->module, .ordinal = 1});
    uint32_t exchange = traced_proc(t, file, "exchange", 30);
    uint32_t in_main = model_frame(t->m, HQDB_NONE, traced_line(t, main_proc, 11));
    uint32_t in_loop = model_frame(t->m, HQDB_NONE, traced_line(t, loop, 13));
    uint32_t to_compute = model_frame(t->m, in_loop, traced_line(t, step, 22));
    uint32_t to_exchange = model_frame(t->m, in_loop, traced_line(t, step, 23));
    uint32_t to_wait = model_frame(t->m, to_exchange, traced_line(t, exchange, 31));
    t->frames[IN_INIT] = model_frame(t->m, in_main, traced_line(t, traced_proc(t, file, "init", 40), 41));
    t->frames[IN_SETUP] = model_frame(t->m, in_loop, traced_line(t, step, 21));
    t->frames[IN_COMPUTE] = model_frame(t->m, to_compute, traced_line(t, traced_proc(t, file, "compute", 50), 51));
    t->frames[IN_WAIT] = model_frame(t->m, to_wait, traced_line(t, traced_proc(t, file, "MPI_Wait", 60), 61));
    t->frames[IN_FINISH] = model_frame(t->m, in_main, traced_line(t, traced_proc(t, file, "finish", 70), 71));
}

static inline uint32_t traced_profile(struct traced *t, int32_t rank, uint64_t realtime_us, uint64_t end_us)
{
    return model_profile(t->m, &(struct model_profile){.rank = rank,
                                                       .host = "node",
                                                       .pid = 100u + (uint32_t)rank,
                                                       .tid = 1,
                                                       .command = "/bin/steps",
                                                       .creator_profile = HQDB_NONE,
                                                       .creator_frame = HQDB_NONE,
                                                       .start_realtime_ns = realtime_us * 1000,
                                                       .end_us = end_us});
}

/* Samples every period in from < t <= to, in the trace and in the profile's values. */
static inline void traced_phase(struct traced *t, uint32_t profile, enum place_name place, uint64_t from_us,
                                uint64_t to_us)
{
    for (uint64_t us = from_us + PERIOD_US; us <= to_us; us += PERIOD_US) {
        model_trace(t->m, profile, us, t->frames[place], t->metric, 1);
        model_value(t->m, profile, t->metric, t->frames[place], PERIOD_US * 1000, 1);
    }
}

static inline void traced_open(struct traced *t)
{
    const char *tmp = getenv("HQ_TEST_TMP");
    snprintf(t->path, sizeof t->path, "%s/trace.%d.db", tmp ? tmp : "/tmp", (int)getpid());
    struct hq_error *err = model_write(t->m, t->path, 0);
    model_destroy(t->m);
    if (!err)
        err = db_open(t->path, &t->db);
    if (err)
        TEST_FAIL("%s", err->message);
    hq_error_free(err);
    query_env_init(&t->env, t->db);
}

static inline void traced_close(struct traced *t)
{
    query_env_deinit(&t->env);
    db_close(t->db);
    unlink(t->path);
}

/* The table of a query; an error is a failure and gives NULL. */
static inline struct table *ask(struct traced *t, const char *text)
{
    struct source source = {.name = "query", .text = text, .length = strlen(text)};
    struct script *script = NULL;
    struct table *table = NULL;
    struct hq_error *err = parse_script(&source, NULL, &script);

    if (!err)
        err = query_run(&t->env, &script->statements.data[0], &table);
    script_destroy(script);
    if (err) {
        TEST_FAIL("%s: %s", text, err->message);
        hq_error_free(err);
        table_destroy(table);
        return NULL;
    }
    return table;
}

/* The text of a query in a format. */
static inline char *answer(struct traced *t, const char *query, const char *format)
{
    struct table *table = ask(t, query);
    char *text = table ? text_of(table, format, &(struct output_options){0}) : xstrdup("");

    table_destroy(table);
    return text;
}

static inline void check_answer(struct traced *t, const char *query, const char *format, const char *want)
{
    AUTO_FREE char *got = answer(t, query, format);
    if (strcmp(got, want))
        TEST_FAIL("%s: wanted\n%s\ngot\n%s\n", query, want, got);
}

#endif
