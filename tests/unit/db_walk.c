/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/db_tree.h"
#include "tests/unit/db_walk.h"

#include "common/hash.h"
#include "db/model/model.h"
#include "format/measurement.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t text(const struct db *db, uint32_t offset)
{
    return hash_str(db_string(db, offset));
}

static uint64_t walk_tables(const struct db *db)
{
    const struct tree t = db_tree(db);
    uint64_t h = 0;

    for (size_t i = 0; i < db->info_count; i++)
        h += text(db, db->info[i].key) ^ text(db, db->info[i].value);
    for (size_t i = 0; i < db->module_count; i++)
        h += text(db, db->modules[i].path);
    for (uint32_t i = 0; i < db->scope_count; i++) {
        struct db_list list = db_tree_instances(db, i);

        h += text(db, db_scope(db, i)->name);
        for (size_t j = 0; j < list.len; j++)
            h += db_context(db, list.data[j])->id;
        for (uint32_t up = i; up != HQDB_NONE; up = tree_scope_parent(&t, up))
            h++;
    }
    for (size_t i = 0; i < db->profile_count; i++)
        h += text(db, db->profiles[i].host);
    for (size_t i = 0; i < db->source_count; i++) {
        size_t bytes = 0;
        const char *source = db_source(db, db->sources[i].path, &bytes);

        h += source ? hash_bytes(source, bytes, 0) : 0;
    }
    return h;
}

static uint64_t walk_tree(const struct db *db)
{
    const struct tree t = db_tree(db);
    uint64_t h = 0;

    for (uint32_t c = 0; c < db->context_count; c++) {
        struct db_range r = db_tree_range(db, c);

        for (uint32_t up = c; up != HQDB_NONE; up = db_parent_context(db, up))
            h++;
        for (uint32_t child = c + 1; child < tree_end(&t, c); child = tree_end(&t, child))
            h += child;
        for (uint32_t m = 0; m < db->metric_count; m++) {
            struct hqdb_statistics room;
            const struct hqdb_statistics *s = db_context_statistics(db, m, c, &room);

            h += (uint64_t)db_tree_inclusive(db, m, c) + (uint64_t)db_tree_count(db, m, c) + (s ? s->count : 0);
        }
        h += r.last - r.first;
    }
    for (uint32_t f = 0; f < db->frame_count; f++) {
        const struct hqdb_code *code = db_code(db, db->frames[f].code);

        h += code ? db_scope(db, code->raw)->line : 0;
        h += db_frame_context(db, f);
        for (uint32_t up = f; up != HQDB_NONE; up = db_parent_frame(db, up))
            h++;
    }
    return h;
}

static uint64_t walk_values(const struct db *db)
{
    uint64_t h = 0;
    struct db_value x;

    for (uint32_t m = 0; m < db->metric_count; m++) {
        for (uint32_t p = 0; p < db->profile_count; p++) {
            struct db_values v = db_profile_values(db, p, m);

            while (db_value_next(&v, &x))
                h += (uint64_t)x.sum + x.count + x.frame;
            h += (uint64_t)db_profile_total(db, p, m).sum;
        }
        for (uint32_t c = 0; c < db->context_count; c += 3) {
            struct db_values v = db_frame_values(db, db_tree_range(db, c), m);

            while (db_value_next(&v, &x))
                h += (uint64_t)x.sum + x.profile;
        }
        for (uint32_t s = 0; s < db->scope_count; s++)
            h += db_scope_statistics(db, m, s) ? db_scope_statistics(db, m, s)->count : 0;
    }
    return h;
}

static uint64_t walk_traces(const struct db *db)
{
    uint64_t h = 0, records, first, last;
    struct db_trace_record t;
    struct db_trace_reader *r;

    for (uint32_t p = 0; p < db->profile_count; p++) {
        struct hq_error *err = db_trace_open(db, p, &r);

        if (err) {
            hq_error_free(err);
            continue;
        }
        while (db_trace_next(r, &t))
            h += t.time_us ^ t.frame;
        if (db_trace_extent(r, &records, &first, &last)) {
            db_trace_seek(r, first + (last - first) / 2);
            h += db_trace_next(r, &t) ? t.frame : 0;
        }
        db_trace_close(r);
    }
    return h;
}

uint64_t db_walk(const struct db *db)
{
    return walk_tables(db) + walk_tree(db) + walk_values(db) + walk_traces(db);
}

struct hq_error *db_walk_file(const char *path)
{
    static volatile uint64_t sink; /* what is read must not be optimised away */
    struct db *db, *other;
    struct hq_error *err;

    HQ_TRY(db_open(path, &db));
    sink += db_walk(db);
    err = db_verify(db);
    hq_error_free(db_derive(db, (struct fuse_settings){.raw = true, .no_inline = true}, &other));
    if (other)
        sink += db_walk(other);
    db_close(other);
    db_close(db);
    (void)sink;
    return err;
}

/* ---- a small database ---- */

static uint32_t add_line(struct model *m, uint32_t module, uint32_t parent, uint32_t line)
{
    return model_scope(
        m, &(struct model_scope){.kind = SCOPE_LINE, .parent = parent, .file = "a.c", .line = line, .module = module});
}

struct hq_error *db_walk_sample(const char *path)
{
    struct model *m = model_create();
    uint32_t module = model_module(m, "/bin/a", "12ab", HQDB_MODULE_MAIN, "no debug information");
    uint32_t file = model_scope(m, &(struct model_scope){.kind = SCOPE_FILE,
                                                         .parent = model_module_scope(m, module),
                                                         .name = "a.c",
                                                         .file = "a.c",
                                                         .module = module});
    const char *const aliases[] = {"alias1", "alias2", NULL};
    uint32_t main = model_scope(m, &(struct model_scope){.kind = SCOPE_PROCEDURE,
                                                         .parent = file,
                                                         .name = "main",
                                                         .file = "a.c",
                                                         .line = 1,
                                                         .module = module,
                                                         .address = 16,
                                                         .aliases = aliases});
    uint32_t inlined = model_scope(m, &(struct model_scope){.kind = SCOPE_INLINE,
                                                            .parent = main,
                                                            .name = "i",
                                                            .file = "a.c",
                                                            .line = 9,
                                                            .module = module,
                                                            .call_file = "a.c",
                                                            .call_line = 2});
    uint32_t loop = model_scope(
        m, &(struct model_scope){
               .kind = SCOPE_LOOP, .parent = inlined, .file = "a.c", .line = 10, .module = module, .ordinal = 1});
    uint32_t lines[3] = {add_line(m, module, main, 3), add_line(m, module, inlined, 9), add_line(m, module, loop, 11)};
    uint32_t metrics[2], frames[6], thread = model_root_frame(m, SCOPE_THREAD, "thread created by main");
    struct hq_error *err;

    metrics[0] = model_metric(
        m, &(struct model_metric){.event = "CPUTIME", .dimension = HQM_DIM_SECONDS, .period = 1000, .scale = 1e-9});
    metrics[1] = model_metric(
        m, &(struct model_metric){.event = "BYTES", .description = "exact", .dimension = HQM_DIM_BYTES, .scale = 1});
    model_info(m, "command", "a b c");
    model_loss(m, "lost", false, 3);
    model_source(m, "a.c", "int main;\n", 10);
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t code = model_code(m, module, 16 * i, lines[i % 3], lines[(i + i / 3) % 3]);

        frames[i] = model_frame(m, i == 3 ? thread : i ? frames[i - 1] : HQDB_NONE, code);
    }
    for (uint32_t p = 0; p < 3; p++) {
        model_profile(m, &(struct model_profile){.rank = (int32_t)p - 1,
                                                 .host = "h",
                                                 .pid = p,
                                                 .creator_profile = p ? 0 : HQDB_NONE,
                                                 .creator_frame = p ? frames[1] : HQDB_NONE});
        for (uint32_t i = p; i < 6; i++) {
            model_value(m, p, metrics[0], frames[i], 1000 * i, i);
            model_value(m, p, metrics[1], frames[i], -(int64_t)i * 77, 1);
            model_trace(m, p, i * 5000, frames[i], metrics[i % 2], 1 + i % 2);
        }
    }
    model_region(m, &(struct hqdb_region){.frame = frames[2],
                                          .profile = 1,
                                          .entries = 7,
                                          .left = 7,
                                          .elapsed_ns = 1000,
                                          .threads = 21,
                                          .largest = 3});
    err = model_write(m, path, 1);
    model_destroy(m);
    return err;
}

size_t db_walk_sample_bytes(uint8_t *data, size_t room)
{
    char path[] = "/tmp/hq-sample.XXXXXX";
    int made = mkstemp(path);
    size_t size = 0;

    if (made < 0)
        return 0;
    close(made);
    /* It is put in place by a rename: it is another file than `made`. */
    struct hq_error *err = db_walk_sample(path);
    FILE *file = err ? NULL : fopen(path, "rb");

    if (file) {
        size = fread(data, 1, room, file);
        fclose(file);
    }
    hq_error_free(err);
    unlink(path);
    return size;
}

void db_walk_mend(uint8_t *data, size_t size)
{
    struct hqdb_header h;

    if (size < sizeof h)
        return;
    memcpy(&h, data, sizeof h);
    h.file_size = size;
    if (h.section_table <= size && h.section_count <= (size - h.section_table) / sizeof(struct hqdb_section))
        h.table_checksum = hash_bytes(data + h.section_table, h.section_count * sizeof(struct hqdb_section), 0);
    memcpy(data, &h, sizeof h);
}
