/* SPDX-License-Identifier: BSD-3-Clause */
/* A short run of the fuzzer of pairs of databases; build-san/tools/fuzz_pair goes on for as long as it is told. */
#include "common/file.h"
#include "common/log.h"
#include "common/mem.h"
#include "db/db.h"
#include "format/database.h"
#include "format/scope.h"
#include "query/grammar/parse.h"
#include "query/query.h"
#include "query/table.h"
#include "tests/unit/db_walk.h"
#include "tests/unit/pair_fuzz.h"
#include "tests/unit/test.h"
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROUNDS = 250 };

TEST(pairs_of_databases)
{
    struct pair_fuzz *f = pair_fuzz_create(1);
    struct pair_fuzz_counts counts = {0};

    CHECK_OR_RETURN(f);
    log_set_level(LEVEL_QUIET);
    for (uint64_t i = 0; i < ROUNDS; i++)
        pair_fuzz_round(f, i << 32, &counts);
    /* Most are asked, not refused. */
    CHECK(counts.opened > ROUNDS / 2);
    CHECK(counts.tables > ROUNDS / 2);
    CHECK(counts.outputs > ROUNDS);
    pair_fuzz_destroy(f);
}

/* Opens the file with one scope of it made another kind, and asks. */
static void ask_of_changed(const uint8_t *data, size_t size, uint64_t at, const char *text)
{
    struct source source = {.name = "test", .text = text, .length = strlen(text)};
    AUTO_FREE uint8_t *copy = memcpy(xmalloc(size), data, size);
    uint32_t kind = SCOPE_GROUP;
    struct script *script;
    struct query_env env;
    struct table *t = NULL;
    struct db *db;
    char path[40];

    memcpy(copy + at + offsetof(struct hqdb_scope, kind), &kind, sizeof kind);
    pair_fuzz_mend(copy, size);
    int fd = memfd_create("changed", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    CHECK(write(fd, copy, size) == (ssize_t)size);
    CHECK_OK(db_open(path, &db));
    close(fd);
    query_env_init(&env, db);
    CHECK_OK(parse_script(&source, NULL, &script));
    hq_error_free(query_run(&env, &script->statements.data[0], &t));
    CHECK(t);
    table_destroy(t);
    script_destroy(script);
    query_env_deinit(&env);
    db_close(db);
}

/* No group is stored; one in a damaged database is not below itself without end. */
TEST(scopes_that_are_groups)
{
    AUTO_FREE char *directory = test_tmpdir(), *path = file_join(directory, "hq.db");
    struct file_map map = {0};
    struct hqdb_header h;
    struct hqdb_section s;

    CHECK_OK(db_walk_sample(path));
    CHECK_OK(file_map_open(path, &map));
    memcpy(&h, map.data, sizeof h);
    for (uint64_t i = 0; i < h.section_count; i++) {
        memcpy(&s, map.data + h.section_table + i * sizeof s, sizeof s);
        for (uint64_t k = 0; s.tag == HQDB_SCOPES && k < s.count; k++)
            ask_of_changed(map.data, map.size, s.offset + k * s.record_size, "flat by runtime");
    }
    file_map_close(&map);
    CHECK_OK(file_remove_tree(directory));
}

TEST_MAIN
