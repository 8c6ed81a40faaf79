/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_query SECONDS [SEED [FIRST]]: every view and clause on damaged databases (fuzz_files.h). */
#include "common/mem.h"
#include "query/grammar/parse.h"
#include "query/output.h"
#include "query/query.h"
#include "tests/unit/db_walk.h"
#include "tests/unit/fuzz_files.h"
#include "tests/unit/mutate.h"
#include <stdio.h>
#include <string.h>

enum { CAP = 1 << 16 };

static const char *const queries[] = {
    "tree all",
    "tree",
    "callers all",
    "flat all",
    "hot path threshold 1%",
    "procedures",
    "loops",
    "lines",
    "files",
    "modules",
    "metrics",
    "profiles",
    "info",
    "threads of /./",
    "source of /./",
    "explain 90% of $1",
    "tree of /./ all",
    "callers of /./ through * >> *",
    "tree hide /a/ prune /b/ all",
    "tree not through /a/ > * ranks 0-3",
    "procedures columns mean($1), p90($1.x), imbalance($1), ci($1)",
    "tree columns max($1) sort by max($1) limit 3",
    "threads per host",
    "tree during 10%..60% all",
    "flat during 0s..1s flatten 2 all",
    "callers where $2 > 1% or name =~ /a/",
    "set lines on; tree all; tree of #2; callers of #1",
    "set inline off; tree all; flat all",
    "set normalise off; callers all",
    "iterations of /./",
    "trace width 20 height 4",
    "trace summary width 10",
    "trace depth of thread 0 width 10",
    "set ci on; procedures expect $1 > 1%",
    "tree percent of parent depth 3",
    "lines percent of shown",
    ("group a = /a/, loops of /./, lines 1-100 of /./; group b = group a, files of /./; groups all; flat by group all; "
     "procedures where group = a"),
    "groups by runtime all; flat by directory all; set groups module; tree where group =~ /./ all",
};

static FILE *sink;

static void run_text(struct query_env *env, const char *text)
{
    struct source source = {.name = "fuzz", .text = text, .length = strlen(text)};
    struct script *script;
    struct hq_error *err = parse_script(&source, NULL, &script);

    for (size_t i = 0; i < script->statements.len && !err; i++) {
        struct table *t = NULL;

        err = query_run(env, &script->statements.data[i], &t);
        if (!err && t)
            hq_error_free(output_write(output_find(t->tree ? "tree" : "json"), t, &(struct output_options){0}, sink));
        table_destroy(t);
    }
    hq_error_free(err);
    script_destroy(script);
}

static bool run_all(const char *path, uint64_t *state)
{
    struct db *db;
    struct query_env env;
    struct hq_error *err = db_open(path, &db);

    if (err) {
        hq_error_free(err);
        return false;
    }
    query_env_init(&env, db);
    for (int i = 0; i < 6; i++)
        run_text(&env, queries[mutate_random(state) % (sizeof queries / sizeof *queries)]);
    query_env_deinit(&env);
    db_close(db);
    return true;
}

static size_t damage(uint8_t *data, size_t size, uint64_t *state)
{
    size_t n = mutate(data, size, state);

    if (mutate_random(state) % 16)
        db_walk_mend(data, n);
    return n;
}

int main(int argc, char **argv)
{
    static uint8_t original[CAP];
    size_t size = db_walk_sample_bytes(original, CAP);

    sink = fopen("/dev/null", "w");
    if (!sink)
        return 2;
    return fuzz_files(&(struct fuzz_files){"fuzz_query", original, size, damage, run_all}, argc, argv);
}
