/* SPDX-License-Identifier: BSD-3-Clause */
/* `hq verify`: reads all of a database and believes nothing. */
#include "common/mem.h"
#include "common/parallel.h"
#include "common/vec.h"
#include "db/db_file.h"
#include "db/model/writer.h"
#include "structure/known.h"
#include <stdlib.h>
#include <string.h>

static struct hq_error *wrong(const struct db *db, const char *section, const char *what)
{
    return hq_error_new(HQ_DATA, "%s: section %s %s; rebuild the database with `hq build --force`", db->path, section,
                        what);
}

#define EXPECT(db, cond, section, what) \
    do { \
        if (!(cond)) \
            return wrong(db, section, what); \
    } while (0)

static struct hq_error *verify_checksum(size_t i, unsigned worker, void *arg)
{
    const struct db *db = arg;
    const struct hqdb_section *s = &db->file->sections[i];

    (void)worker;
    EXPECT(db, section_checksum(db->file->map.data + s->offset, s->bytes) == s->checksum, db_tag_name(s->tag),
           "has a wrong checksum");
    return NULL;
}

static bool is_text(const struct db *db, uint32_t text)
{
    return text < db->file->strings.len;
}

static struct hq_error *verify_scopes(const struct db *db)
{
    for (size_t i = 0; i < db->scope_count; i++) {
        const struct hqdb_scope *s = &db->scopes[i];

        EXPECT(db, s->kind < SCOPE_GROUP, "scopes", "has a scope of unknown kind");
        EXPECT(db, i ? s->parent < i : s->parent == HQDB_NONE, "scopes", "has a scope before its parent");
        EXPECT(db, is_text(db, s->name) && is_text(db, s->linkage) && is_text(db, s->file) && is_text(db, s->call_file),
               "scopes", "names a text outside");
        EXPECT(db, s->module == HQDB_NONE || s->module < db->module_count, "scopes", "names a module outside");
        EXPECT(db, s->first_alias <= db->alias_count && s->alias_count <= db->alias_count - s->first_alias, "scopes",
               "has aliases outside");
    }
    for (size_t i = 0; i < db->alias_count; i++)
        EXPECT(db, is_text(db, db->aliases[i]), "aliases", "names a text outside");
    return NULL;
}

static struct hq_error *verify_known(const struct db *db)
{
    const struct db_file *f = db->file;

    for (size_t i = 0; i < f->known_count; i++) {
        const struct hqdb_known *k = &f->known[i];
        uint32_t names = 0;

        EXPECT(db, k->module < db->module_count && (!i || k[-1].module < k->module), "known procedures",
               "names a module outside, or twice");
        EXPECT(db, k->state < KNOWN_KINDS, "known procedures", "has a module of unknown state");
        EXPECT(db, k->offset <= f->known_text.len && k->bytes <= f->known_text.len - k->offset, "known procedures",
               "lies outside");
        struct known_walk *walk = known_open(f->known_text.data + k->offset, k->bytes, k->unpacked);
        while (walk && known_next(walk))
            names++;
        known_close(walk);
        EXPECT(db, names == k->names, "names of known procedures", "has another number of names than its index says");
    }
    return NULL;
}

static struct hq_error *verify_texts(const struct db *db)
{
    for (size_t i = 0; i < db->info_count; i++)
        EXPECT(db, is_text(db, db->info[i].key) && is_text(db, db->info[i].value), "info", "names a text outside");
    for (size_t i = 0; i < db->metric_count; i++)
        EXPECT(db,
               is_text(db, db->metrics[i].name) && is_text(db, db->metrics[i].event) &&
                   is_text(db, db->metrics[i].description),
               "metrics", "names a text outside");
    for (size_t i = 0; i < db->module_count; i++)
        EXPECT(db,
               is_text(db, db->modules[i].path) && is_text(db, db->modules[i].build_id) &&
                   is_text(db, db->modules[i].note),
               "modules", "names a text outside");
    for (size_t i = 0; i < db->loss_count; i++)
        EXPECT(db, is_text(db, db->losses[i].reason), "losses", "names a text outside");
    for (size_t i = 0; i < db->profile_count; i++)
        EXPECT(db, is_text(db, db->profiles[i].host) && is_text(db, db->profiles[i].command), "profiles",
               "names a text outside");
    for (size_t i = 0; i < db->source_count; i++) {
        const struct hqdb_source *s = &db->sources[i];

        EXPECT(db,
               is_text(db, s->path) && s->offset <= db->file->source_text.len &&
                   s->bytes <= db->file->source_text.len - s->offset,
               "sources", "names a text outside");
    }
    return NULL;
}

static struct hq_error *verify_names(const struct db *db)
{
    const struct db_file *f = db->file;

    for (enum hqdb_names sort = 0; sort < HQDB_NAMES_SORTS; sort++) {
        struct db_names n = f->names[sort];
        struct names right;

        if (!n.data)
            continue;
        names_list(db->scopes, db->scope_count, (const char *)f->strings.data, f->strings.len,
                   db->metric_count ? f->scope_statistics[0] : NULL, sort, &right);
        bool same = n.len == right.len && (!n.len || !memcmp(n.data, right.data, n.len * sizeof *n.data));

        vec_deinit(&right);
        EXPECT(db, same, "names", "is not that of the scopes");
    }
    return NULL;
}

static struct hq_error *verify_profiles(const struct db *db)
{
    for (size_t i = 0; i < db->profile_count; i++) {
        const struct hqdb_profile *p = &db->profiles[i];

        EXPECT(db, p->creator_profile == HQDB_NONE || p->creator_profile < db->profile_count, "profiles",
               "names a profile outside");
        EXPECT(db, p->creator_frame == HQDB_NONE || p->creator_frame < db->frame_count, "profiles",
               "names a frame outside");
    }
    return NULL;
}

static struct hq_error *verify_regions(const struct db *db)
{
    for (size_t i = 0; i < db->region_count; i++) {
        const struct hqdb_region *r = &db->regions[i];

        EXPECT(db, r->frame < db->frame_count && r->profile < db->profile_count, "regions",
               "names a frame or profile outside");
        EXPECT(db, r->left <= r->entries, "regions", "has a region that was left more often than entered");
        EXPECT(db, r->threads >= r->largest && !r->threads == !r->largest, "regions", "has a team larger than all");
    }
    return NULL;
}

static struct hq_error *verify_messages(const struct db *db)
{
    for (size_t i = 0; i < db->message_count; i++) {
        const struct hqdb_message *x = &db->messages[i];

        EXPECT(db, x->frame < db->frame_count && x->profile < db->profile_count, "messages",
               "names a frame or profile outside");
        EXPECT(db, x->count || (!x->bytes && !x->time_ns), "messages", "has bytes or time of no message");
        EXPECT(db, x->received || !x->received_bytes, "messages", "has bytes of no message that was received");
        EXPECT(db, x->peer >= -1, "messages", "names a rank below zero");
    }
    return NULL;
}

static bool is_queue(const struct db *db, uint32_t profile)
{
    return profile < db->profile_count && db->profiles[profile].thread & HQDB_QUEUE;
}

static struct hq_error *verify_devices(const struct db *db)
{
    for (size_t i = 0; i < db->queue_count; i++) {
        EXPECT(db, is_queue(db, db->queues[i].profile), "queues", "names a profile that is none");
        EXPECT(db, !i || db->queues[i - 1].profile < db->queues[i].profile, "queues", "is not in order");
    }
    for (size_t i = 0; i < db->command_count; i++) {
        const struct hqdb_command *x = &db->commands[i];

        EXPECT(db, x->frame < db->frame_count && is_queue(db, x->profile), "commands",
               "names a frame outside, or a profile that is no queue");
        EXPECT(db, x->host_profile == HQDB_NONE || x->host_profile < db->profile_count, "commands",
               "names a thread outside");
    }
    for (size_t i = 0; i < db->host_wait_count; i++)
        EXPECT(db,
               db->host_waits[i].profile < db->profile_count && db->host_waits[i].from_ns <= db->host_waits[i].to_ns,
               "host waits", "names a thread outside, or ends before it begins");
    return NULL;
}

static struct hq_error *verify_frames(const struct db *db)
{
    for (size_t i = 0; i < db->code_count; i++) {
        const struct hqdb_code *c = &db->codes[i];

        EXPECT(db, c->raw < db->scope_count && c->normal < db->scope_count, "codes", "names a scope outside");
        EXPECT(db, c->module == HQDB_NONE || c->module < db->module_count, "codes", "names a module outside");
    }
    for (size_t i = 0; i < db->frame_count; i++) {
        EXPECT(db, db->frames[i].parent == HQDB_NONE || db->frames[i].parent < i, "frames",
               "has a frame before its parent");
        EXPECT(db, db->frames[i].code < db->code_count, "frames", "names a code outside");
    }
    return NULL;
}

static struct hq_error *verify_contexts(const struct db *db)
{
    for (uint32_t i = 0; i < db->context_count; i++) {
        const struct hqdb_context *c = &db->contexts[i];

        EXPECT(db, c->scope < db->scope_count, "contexts", "names a scope outside");
        EXPECT(db, is_text(db, c->call_file), "contexts", "names a text outside");
        EXPECT(db, i ? c->parent < i : c->parent == HQDB_NONE, "contexts", "has a context before its parent");
        EXPECT(db, c->end > i && c->end <= (i ? db->contexts[c->parent].end : db->context_count), "contexts",
               "has a subtree that leaves its parent's");
        EXPECT(db, c->first_frame <= db->frame_count && (!i || c->first_frame >= db->contexts[i - 1].first_frame),
               "contexts", "has frames out of order");
    }
    for (uint32_t s = 0; s < db->scope_count; s++) {
        EXPECT(db, db->scope_index[s] <= db->scope_index[s + 1] && db->scope_index[s + 1] <= db->scope_context_count,
               "scope index", "is out of order");
        for (uint64_t i = db->scope_index[s]; i < db->scope_index[s + 1]; i++)
            EXPECT(db, db->scope_contexts[i] < db->context_count && db->contexts[db->scope_contexts[i]].scope == s,
                   "scope contexts", "names a wrong context");
    }
    return NULL;
}

/* The frame falls in the context of its code's scope, or, inside of a runtime, of its parent. */
static struct hq_error *verify_places(const struct db *db)
{
    for (uint32_t f = 0; f < db->frame_count; f++) {
        const struct hqdb_code *code = &db->codes[db->frames[f].code];
        uint32_t context = db_frame_context(db, f), parent = db->frames[f].parent;
        bool with_parent = code->flags & HQDB_CODE_INSIDE && parent != HQDB_NONE;

        EXPECT(db,
               with_parent ? context == db_frame_context(db, parent) : db_context(db, context)->scope == code->normal,
               "frames", "has a frame in a wrong context");
    }
    return NULL;
}

/* Values of one metric, both ways, against the totals. */
static struct hq_error *verify_metric(size_t metric, unsigned worker, void *arg)
{
    const struct db *db = arg;
    uint32_t m = (uint32_t)metric;
    AUTO_FREE uint64_t *sums = xcalloc(2 * db->frame_count + 1, sizeof *sums);
    AUTO_FREE uint64_t *counts = xcalloc(2 * db->frame_count + 1, sizeof *counts);
    struct db_values v = db_frame_values(db, (struct db_range){0, (uint32_t)db->frame_count}, m);
    struct db_value x;

    (void)worker;
    for (; db_value_next(&v, &x); counts[db->frame_count + x.frame] += x.count)
        sums[db->frame_count + x.frame] += (uint64_t)x.sum;
    for (uint32_t p = 0; p < db->profile_count; p++) {
        struct db_total total = db_profile_total(db, p, m);
        uint64_t sum = 0, count = 0;

        for (v = db_profile_values(db, p, m); db_value_next(&v, &x); counts[x.frame] += x.count) {
            sums[x.frame] += (uint64_t)x.sum;
            sum += (uint64_t)x.sum;
            count += x.count;
        }
        EXPECT(db, sum == (uint64_t)total.sum && count == total.count, "values",
               "does not add up to a profile's total");
    }
    for (size_t f = 0; f < db->frame_count; f++) {
        EXPECT(db,
               sums[f] == (uint64_t)db->sums[m][f + 1] - (uint64_t)db->sums[m][f] &&
                   counts[f] == (uint64_t)db->counts[m][f + 1] - (uint64_t)db->counts[m][f],
               "values", "does not add up to the sums");
        EXPECT(db, sums[f] == sums[db->frame_count + f] && counts[f] == counts[db->frame_count + f], "values by frame",
               "differs from the values by profile");
    }
    return NULL;
}

static struct hq_error *verify_trace(const struct db *db, uint32_t profile)
{
    struct db_trace_reader *r;
    struct db_trace_record record;
    uint64_t records, read = 0, first, last, before = 0;
    bool sorted = true, any;

    HQ_TRY(db_trace_open(db, profile, &r));
    any = db_trace_extent(r, &records, &first, &last);
    for (; db_trace_next(r, &record); before = record.time_us, read++)
        sorted &= record.time_us >= before && (read || record.time_us == first);
    db_trace_close(r);
    EXPECT(db, !any || before == last, "trace", "ends at another time than its index says");
    EXPECT(db, sorted, "trace", "goes back in time");
    EXPECT(db, read == (any ? records : 0), "trace", "has fewer records than its index says");
    return NULL;
}

static struct hq_error *verify_marks(const struct db *db)
{
    const struct db_file *f = db->file;

    for (size_t i = 0; i < f->mark_index_count; i++) {
        const struct hqdb_coded_index *x = &f->mark_index[i];
        struct db_marks marks = db_marks_of(db, x->profile);
        struct db_mark m;
        uint64_t read = 0;

        EXPECT(db, x->profile < db->profile_count, "mark index", "names a profile outside");
        EXPECT(db, !i || x->profile > x[-1].profile, "mark index", "is out of order");
        for (; db_mark_next(&marks, &m); read++)
            continue;
        EXPECT(db, read == x->records, "marks", "has fewer marks than its index says");
    }
    return NULL;
}

static struct hq_error *verify_growth(const struct db *db)
{
    const struct db_file *f = db->file;

    for (size_t i = 0; i < f->growth_index_count; i++) {
        const struct hqdb_coded_index *x = &f->growth_index[i];
        struct db_growths growths = db_growths_of(db, x->profile);
        uint64_t read = 0, before = 0;
        struct db_growth g;

        EXPECT(db, x->profile < db->profile_count, "index of counted growth", "names a profile outside");
        EXPECT(db, !i || x->profile > x[-1].profile, "index of counted growth", "is out of order");
        for (; db_growth_next(&growths, &g); read++, before = g.time_us) {
            EXPECT(db, g.metric < db->metric_count, "counted growth", "names a metric outside");
            EXPECT(db, g.time_us >= before, "counted growth", "goes back in time");
        }
        EXPECT(db, read == x->records, "counted growth", "has fewer records than its index says");
    }
    return NULL;
}

static struct hq_error *verify_traces(const struct db *db)
{
    const struct db_file *f = db->file;

    for (size_t i = 0; i < f->trace_block_count; i++) {
        EXPECT(db, f->trace_index[i].profile < db->profile_count, "trace index", "names a profile outside");
        EXPECT(db,
               !i || f->trace_index[i].profile > f->trace_index[i - 1].profile ||
                   (f->trace_index[i].profile == f->trace_index[i - 1].profile &&
                    f->trace_index[i].first_us >= f->trace_index[i - 1].first_us),
               "trace index", "is out of order");
    }
    for (uint32_t p = 0; p < db->profile_count; p++)
        HQ_TRY(verify_trace(db, p));
    return NULL;
}

enum { SMALL_FILE = 4 << 20 }; /* not worth starting threads for */

struct hq_error *db_verify(const struct db *db)
{
    unsigned threads = db->file->map.size < SMALL_FILE ? 1 : 0;

    HQ_TRY(parallel_try(db->file->section_count, threads, verify_checksum, (void *)db));
    HQ_TRY(verify_texts(db));
    HQ_TRY(verify_scopes(db));
    HQ_TRY(verify_names(db));
    HQ_TRY(verify_known(db));
    HQ_TRY(verify_profiles(db));
    HQ_TRY(verify_frames(db));
    HQ_TRY(verify_regions(db));
    HQ_TRY(verify_marks(db));
    HQ_TRY(verify_growth(db));
    HQ_TRY(verify_messages(db));
    HQ_TRY(verify_devices(db));
    HQ_TRY(verify_contexts(db));
    HQ_TRY(verify_places(db));
    HQ_TRY(parallel_try(db->metric_count, threads, verify_metric, (void *)db));
    return verify_traces(db);
}
