/* SPDX-License-Identifier: BSD-3-Clause */
/* The worked example of the paper, through the model into a file and back. */
#include "common/file.h"
#include "common/mem.h"
#include "common/vec.h"
#include "db/db_file.h"
#include "db/fuse.h"
#include "db/model/model.h"
#include "format/measurement.h"
#include "tests/unit/db_tree.h"
#include "tests/unit/test.h"

struct paper {
    struct model *m;
    uint32_t module, metric, profile, f, g, h, main, l1, l2;
};

static uint32_t add_scope(struct paper *p, enum scope_kind kind, uint32_t parent, const char *name, const char *file,
                          uint32_t line)
{
    return model_scope(p->m, &(struct model_scope){.kind = kind,
                                                   .parent = parent,
                                                   .name = name,
                                                   .file = file,
                                                   .line = line,
                                                   .module = p->module,
                                                   .ordinal = kind == SCOPE_LOOP ? line : 0});
}

static uint32_t add_frame(struct paper *p, uint32_t parent, uint32_t scope, const char *file, uint32_t line)
{
    uint32_t s = add_scope(p, SCOPE_LINE, scope, NULL, file, line);

    return model_frame(p->m, parent, model_code(p->m, p->module, scope * 100 + line, s, s));
}

static struct paper make_paper(void)
{
    struct paper p = {.m = model_create()};
    uint32_t file1, file2, m, f, g1, g2;

    p.module = model_module(p.m, "/src/paper", "abcd", HQDB_MODULE_MAIN, NULL);
    p.metric = model_metric(
        p.m, &(struct model_metric){.event = "CYCLES", .dimension = HQM_DIM_EVENTS, .period = 1, .scale = 1});
    p.profile = model_profile(
        p.m,
        &(struct model_profile){.rank = -1, .host = "h", .creator_profile = HQDB_NONE, .creator_frame = HQDB_NONE});
    file1 = add_scope(&p, SCOPE_FILE, model_module_scope(p.m, p.module), "file1.c", "file1.c", 0);
    file2 = add_scope(&p, SCOPE_FILE, model_module_scope(p.m, p.module), "file2.c", "file2.c", 0);
    p.f = add_scope(&p, SCOPE_PROCEDURE, file1, "f", "file1.c", 2);
    p.main = add_scope(&p, SCOPE_PROCEDURE, file1, "m", "file1.c", 8);
    p.g = add_scope(&p, SCOPE_PROCEDURE, file2, "g", "file2.c", 2);
    p.h = add_scope(&p, SCOPE_PROCEDURE, file2, "h", "file2.c", 7);
    p.l1 = add_scope(&p, SCOPE_LOOP, p.h, NULL, "file2.c", 8);
    p.l2 = add_scope(&p, SCOPE_LOOP, p.l1, NULL, "file2.c", 9);
    m = add_frame(&p, HQDB_NONE, p.main, "file1.c", 9);
    f = add_frame(&p, m, p.f, "file1.c", 3);
    g1 = add_frame(&p, f, p.g, "file2.c", 3);
    g2 = add_frame(&p, g1, p.g, "file2.c", 4);
    model_value(p.m, p.profile, p.metric, f, 1, 1);
    model_value(p.m, p.profile, p.metric, add_frame(&p, f, p.g, "file2.c", 2), 1, 1);
    model_value(p.m, p.profile, p.metric, add_frame(&p, g1, p.g, "file2.c", 2), 1, 1);
    model_value(p.m, p.profile, p.metric, add_frame(&p, g2, p.l2, "file2.c", 9), 4, 4);
    model_value(p.m, p.profile, p.metric,
                add_frame(&p, add_frame(&p, HQDB_NONE, p.main, "file1.c", 10), p.g, "file2.c", 2), 3, 3);
    model_trace(p.m, p.profile, 1000, f, p.metric, 1);
    model_trace(p.m, p.profile, 3000, g2, p.metric, 2);
    return p;
}

struct place {
    char *directory, *path;
};

static struct place make_place(void)
{
    struct place x = {.directory = test_tmpdir()};

    x.path = file_join(x.directory, "hq.db");
    return x;
}

static void remove_place(struct place *x)
{
    CHECK_OK(file_remove_tree(x->directory));
    free(x->directory);
    free(x->path);
}

static struct db *write_and_open(struct model *m, const char *path)
{
    struct db *db = NULL;

    CHECK_OK(model_write(m, path, 7));
    CHECK_OK(db_open(path, &db));
    return db;
}

static const char *name_of(const struct db *db, uint32_t context)
{
    return db_string(db, db_scope(db, db_context(db, context)->scope)->name);
}

static void check_tree(const struct db *db)
{
    static const struct {
        enum scope_kind kind;
        const char *name;
        int64_t inclusive;
    } want[] = {
        {SCOPE_ROOT, "", 10},      {SCOPE_PROCEDURE, "m", 10}, {SCOPE_LINE, "", 0},       {SCOPE_LINE, "", 0},
        {SCOPE_PROCEDURE, "f", 7}, {SCOPE_LINE, "", 1},        {SCOPE_PROCEDURE, "g", 6}, {SCOPE_LINE, "", 1},
        {SCOPE_LINE, "", 0},       {SCOPE_PROCEDURE, "g", 5},  {SCOPE_LINE, "", 1},       {SCOPE_LINE, "", 0},
        {SCOPE_PROCEDURE, "h", 4}, {SCOPE_LOOP, "", 4},        {SCOPE_LOOP, "", 4},       {SCOPE_LINE, "", 4},
        {SCOPE_PROCEDURE, "g", 3}, {SCOPE_LINE, "", 3},
    };

    CHECK_EQ_INT(db->context_count, sizeof want / sizeof *want);
    for (uint32_t c = 0; c < db->context_count; c++) {
        CHECK_EQ_INT(db_scope(db, db->contexts[c].scope)->kind, want[c].kind);
        CHECK_EQ_STR(name_of(db, c), want[c].name);
        CHECK_EQ_INT(db_tree_inclusive(db, 0, c), want[c].inclusive);
        CHECK_EQ_INT(db_tree_count(db, 0, c), want[c].inclusive);
    }
}

TEST(paper)
{
    struct paper p = make_paper();
    AUTO(remove_place) struct place place = make_place();
    struct db *db = write_and_open(p.m, place.path);

    if (db) {
        check_tree(db);
        CHECK_EQ_INT(db_sources_key(db), 7);
        CHECK_EQ_STR(db_string(db, db->metrics[0].name), "cycles");
    }
    db_close(db);
    model_destroy(p.m);
}

TEST(exposed_instances_count_once)
{
    struct paper p = make_paper();
    AUTO(remove_place) struct place place = make_place();
    struct db *db = write_and_open(p.m, place.path);

    for (uint32_t s = 0; db && s < db->scope_count; s++) {
        const struct hqdb_scope *scope = db_scope(db, s);
        const struct hqdb_statistics *st = db_scope_statistics(db, 0, s);

        if (!strcmp(db_string(db, scope->name), "g"))
            CHECK_EQ_INT(st->sum, 9);
        if (scope->kind == SCOPE_FILE)
            CHECK_EQ_INT(st->sum, strcmp(db_string(db, scope->name), "file1.c") ? 9 : 10);
        if (scope->kind == SCOPE_MODULE)
            CHECK_EQ_INT(st->sum, 10);
    }
    db_close(db);
    model_destroy(p.m);
}

TEST(values_and_traces_come_back)
{
    struct paper p = make_paper();
    AUTO(remove_place) struct place place = make_place();
    struct db *db = write_and_open(p.m, place.path);
    struct db_values v = db_profile_values(db, 0, 0), w = db_frame_values(db, (struct db_range){0, UINT32_MAX}, 0);
    struct db_value x, y;
    struct db_trace_reader *r;
    struct db_trace_record t;
    int64_t sum = 0;

    while (db_value_next(&v, &x)) {
        CHECK(db_value_next(&w, &y));
        CHECK_EQ_INT(x.frame, y.frame);
        CHECK_EQ_INT(x.sum, y.sum);
        CHECK_EQ_INT(y.profile, 0);
        CHECK_EQ_INT(x.sum, db->sums[0][x.frame + 1] - db->sums[0][x.frame]);
        sum += x.sum;
    }
    CHECK(!db_value_next(&w, &y));
    CHECK_EQ_INT(sum, 10);
    CHECK_EQ_INT(db_profile_total(db, 0, 0).sum, 10);
    CHECK_OK(db_trace_open(db, 0, &r));
    db_trace_seek(r, 2999);
    CHECK(db_trace_next(r, &t));
    CHECK_EQ_INT(t.time_us, 1000);
    CHECK_EQ_STR(name_of(db, db_parent_context(db, db_frame_context(db, t.frame))), "f");
    CHECK(db_trace_next(r, &t));
    CHECK_EQ_INT(t.weight, 2);
    CHECK(!db_trace_next(r, &t));
    db_trace_close(r);
    db_close(db);
    model_destroy(p.m);
}

/* A trace of several blocks, two records at each instant, and one of another profile behind it. */
TEST(any_instant_of_a_long_trace)
{
    enum { RECORDS = 3 * HQDB_TRACE_RECORDS + 10, STEP = 10 };
    struct paper p = make_paper();
    AUTO(remove_place) struct place place = make_place();
    uint32_t other = model_profile(
        p.m,
        &(struct model_profile){.rank = -1, .host = "z", .creator_profile = HQDB_NONE, .creator_frame = HQDB_NONE});
    uint32_t frame = add_frame(&p, HQDB_NONE, p.main, "file1.c", 9);

    for (uint32_t i = 0; i < RECORDS; i++)
        model_trace(p.m, p.profile, 4000 + i / 2 * STEP, frame, p.metric, 1 + i);
    model_trace(p.m, other, 5, frame, p.metric, 1);
    struct db *db = write_and_open(p.m, place.path);
    struct db_trace_reader *r;
    struct db_trace_record t;
    uint64_t records, first, last;

    CHECK_OK(db_trace_open(db, 0, &r));
    CHECK(db_trace_extent(r, &records, &first, &last));
    CHECK_EQ_INT(records, RECORDS + 2);
    CHECK_EQ_INT(first, 1000);
    CHECK_EQ_INT(last, 4000 + (RECORDS - 1) / 2 * STEP);
    for (uint32_t i = 1; i < RECORDS; i += 2)
        for (uint32_t late = 0; late < STEP; late += STEP - 1) {
            db_trace_seek(r, 4000 + i / 2 * STEP + late);
            CHECK(db_trace_next(r, &t) && t.weight == 1 + i); /* the last one at or before it */
            CHECK(db_trace_next(r, &t) == (i + 1 < RECORDS) && (i + 1 == RECORDS || t.weight == 2 + i));
        }
    db_trace_close(r);
    db_close(db);
    model_destroy(p.m);
}

TEST(derived_with_the_same_settings_is_the_same)
{
    struct paper p = make_paper();
    AUTO(remove_place) struct place place = make_place();
    struct db *db = write_and_open(p.m, place.path), *raw = NULL;

    CHECK_OK(db_derive(db, (struct fuse_settings){.raw = true}, &raw));
    check_tree(raw);
    for (uint32_t c = 0; c < db->context_count; c++)
        CHECK(db->contexts[c].id == raw->contexts[c].id);
    CHECK_EQ_INT(db_tree_instances(raw, db->contexts[1].scope).len, 1);
    CHECK_EQ_INT(db_tree_instances(raw, db->contexts[1].scope).data[0], 1);
    db_close(raw);
    db_close(db);
    model_destroy(p.m);
}

TEST(names_are_the_same_without_their_section)
{
    struct paper p = make_paper();
    AUTO(remove_place) struct place place = make_place();
    struct db *db = write_and_open(p.m, place.path);

    for (enum hqdb_names sort = 0; sort < HQDB_NAMES_SORTS; sort++) {
        struct names none, made;
        struct db_names kept = names_of(db, sort, &none), again;

        CHECK(kept.len && !none.len);
        db->file->names[sort] = (struct db_names){0};
        again = names_of(db, sort, &made);
        CHECK_EQ_INT(again.len, kept.len);
        CHECK(!memcmp(again.data, kept.data, kept.len * sizeof *kept.data));
        vec_deinit(&made);
    }
    struct names made;
    struct db_names procedures = names_of(db, HQDB_NAMES_PROCEDURES, &made);

    CHECK_EQ_STR(db_string(db, procedures.data[0].name), "m");
    CHECK_EQ_INT(procedures.data[0].sum, 10);
    vec_deinit(&made);
    db_close(db);
    model_destroy(p.m);
}

TEST_MAIN
