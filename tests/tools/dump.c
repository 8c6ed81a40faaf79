/* SPDX-License-Identifier: BSD-3-Clause */
/* dump DB: every value of a database as text, through db/db.h; tests/db/lib.py prints the same by other means. */
#include "common/vec.h"
#include "db/name_list.h"
#include "tests/unit/db_tree.h"
#include <inttypes.h>
#include <stdio.h>

static const char *text(const struct db *db, uint32_t offset)
{
    return db_string(db, offset);
}

static void dump_static(const struct db *db)
{
    for (size_t i = 0; i < db->info_count; i++)
        printf("info %s = %s\n", text(db, db->info[i].key), text(db, db->info[i].value));
    for (size_t i = 0; i < db->metric_count; i++) {
        const struct hqdb_metric *m = &db->metrics[i];

        printf("metric %s %s %s %u %u %" PRIu64 " %.17g\n", text(db, m->name), text(db, m->event),
               text(db, m->description), m->dimension, m->flags, m->period, m->scale);
    }
    for (size_t i = 0; i < db->module_count; i++)
        printf("module %s %s %u %s\n", text(db, db->modules[i].path), text(db, db->modules[i].build_id),
               db->modules[i].flags, text(db, db->modules[i].note));
    for (size_t i = 0; i < db->scope_count; i++) {
        const struct hqdb_scope *s = &db->scopes[i];

        printf("scope %u %u %s (%s) %s:%u %u %s:%u %u %" PRIx64, s->kind, s->parent, text(db, s->name),
               text(db, s->linkage), text(db, s->file), s->line, s->module, text(db, s->call_file), s->call_line,
               s->ordinal, s->address);
        for (uint32_t a = 0; a < s->alias_count; a++)
            printf(" %s", text(db, db->aliases[s->first_alias + a]));
        printf("\n");
    }
}

static void dump_names(const struct db *db)
{
    for (enum hqdb_names sort = 0; sort < HQDB_NAMES_SORTS; sort++) {
        struct names own;
        struct db_names names = names_of(db, sort, &own);

        for (size_t i = 0; i < names.len; i++)
            printf("name %u %s %" PRId64 " %.12s\n", sort, text(db, names.data[i].name), names.data[i].sum,
                   names.data[i].part);
        vec_deinit(&own);
    }
}

static void dump_tree(const struct db *db)
{
    for (uint32_t i = 0; i < db->code_count; i++)
        printf("code %u %" PRIx64 " %u %u\n", db->codes[i].module, db->codes[i].offset, db->codes[i].raw,
               db->codes[i].normal);
    for (size_t i = 0; i < db->frame_count; i++)
        printf("frame %u %u\n", db->frames[i].parent, db->frames[i].code);
    for (size_t i = 0; i < db->context_count; i++) {
        const struct hqdb_context *c = &db->contexts[i];

        printf("context %016" PRIx64 " %u %u %u %u %s:%u\n", c->id, c->scope, c->parent, c->end, c->first_frame,
               text(db, c->call_file), c->call_line);
    }
    for (size_t i = 0; i < db->profile_count; i++) {
        const struct hqdb_profile *p = &db->profiles[i];

        printf("profile %d %u %s %u %u %s %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u\n", p->rank, p->thread,
               text(db, p->host), p->pid, p->tid, text(db, p->command), p->creator_profile, p->creator_frame,
               p->start_realtime_ns, p->start_us, p->end_us, p->serial, p->state);
    }
    for (size_t i = 0; i < db->loss_count; i++)
        printf("loss %s %u %" PRIu64 "\n", text(db, db->losses[i].reason), db->losses[i].partial, db->losses[i].count);
    dump_names(db);
    for (uint32_t s = 0; s < db->scope_count; s++) {
        struct db_list list = db_tree_instances(db, s);

        for (size_t i = 0; i < list.len; i++)
            printf("scope %u context %u\n", s, list.data[i]);
    }
    for (size_t i = 0; i < db->source_count; i++) {
        size_t bytes = 0, sum = 0;
        const char *source = db_source(db, db->sources[i].path, &bytes);

        for (size_t j = 0; source && j < bytes; j++)
            sum += (unsigned char)source[j];
        printf("source %s %zu %zu\n", text(db, db->sources[i].path), bytes, sum);
    }
}

static void dump_known(const struct db *db)
{
    for (uint32_t m = 0; m < db->module_count; m++) {
        struct db_known *k = db_known_open(db, m);

        for (const struct db_known_name *n; (n = db_known_next(k));)
            printf("known %u %d %s\n", m, db_known_state(db, m), n->linkage);
        db_known_close(k);
    }
}

static void dump_statistics(const char *word, uint32_t metric, size_t i, const struct hqdb_statistics *s)
{
    if (s)
        printf("statistics %u %s %zu %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 " %016" PRIx64 "%016" PRIx64 "\n",
               metric, word, i, s->count, s->sum, s->min, s->max, s->squares[1], s->squares[0]);
}

static void dump_metric(const struct db *db, uint32_t m)
{
    struct db_values v;
    struct db_value x;

    for (size_t f = 0; f <= db->frame_count; f++)
        printf("sum %u %zu %" PRId64 " %" PRId64 "\n", m, f, db->sums[m][f], db->counts[m][f]);
    for (uint32_t c = 0; c < db->context_count; c++) {
        struct hqdb_statistics room;

        dump_statistics("context", m, c, db_context_statistics(db, m, c, &room));
    }
    for (uint32_t s = 0; s < db->scope_count; s++)
        dump_statistics("scope", m, s, db_scope_statistics(db, m, s));
    for (uint32_t p = 0; p < db->profile_count; p++) {
        struct db_total total = db_profile_total(db, p, m);

        printf("total %u %u %" PRId64 " %" PRIu64 "\n", p, m, total.sum, total.count);
        for (v = db_profile_values(db, p, m); db_value_next(&v, &x);)
            printf("value %u %u %u %" PRId64 " %" PRIu64 "\n", p, m, x.frame, x.sum, x.count);
    }
    for (v = db_frame_values(db, (struct db_range){0, (uint32_t)db->frame_count}, m); db_value_next(&v, &x);)
        printf("by frame %u %u %u %" PRId64 " %" PRIu64 "\n", m, x.frame, x.profile, x.sum, x.count);
}

static void dump_trace(const struct db *db, uint32_t profile)
{
    struct db_trace_reader *r;
    struct db_trace_record t;
    struct hq_error *err = db_trace_open(db, profile, &r);

    if (err) {
        hq_error_free(err);
        return;
    }
    while (db_trace_next(r, &t))
        printf("trace %u %" PRIu64 " %u %u %u\n", profile, t.time_us, t.frame, t.metric, t.weight);
    db_trace_close(r);
}

static void dump_marks(const struct db *db, uint32_t profile)
{
    struct db_mark mark;

    for (struct db_marks marks = db_marks_of(db, profile); db_mark_next(&marks, &mark);)
        printf("mark %u %" PRIu64 " %u %d\n", profile, mark.time_us, mark.frame, mark.leaves);
}

int main(int argc, char **argv)
{
    struct db *db;
    struct hq_error *err = argc == 2 ? db_open(argv[1], &db) : hq_error_new(HQ_USAGE, "usage: dump DB");
    int status;

    if (err) {
        fprintf(stderr, "dump: %s\n", err->message);
        status = err->status;
        hq_error_free(err);
        return status;
    }
    dump_static(db);
    dump_tree(db);
    dump_known(db);
    for (uint32_t m = 0; m < db->metric_count; m++)
        dump_metric(db, m);
    for (uint32_t p = 0; p < db->profile_count; p++)
        dump_trace(db, p);
    for (uint32_t p = 0; p < db->profile_count; p++)
        dump_marks(db, p);
    db_close(db);
    return 0;
}
