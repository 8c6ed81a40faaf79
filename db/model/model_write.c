/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a model as a database file (model.h). */
#include "common/file.h"
#include "common/mem.h"
#include "db/model/assembly.h"
#include "db/model/model_data.h"

/* Entries of the model by final profile: positions start[p] .. start[p + 1] - 1 of `order`. */
struct by_profile {
    size_t *start;
    uint32_t *order;
};

static struct by_profile group(const struct model *m, const struct canon *c)
{
    size_t count = m->values.len;
    struct by_profile g = {xcalloc(c->profile_count + 2, sizeof *g.start), xcalloc(count + 1, sizeof *g.order)};

    for (size_t i = 0; i < count; i++)
        g.start[c->profile_of[m->values.data[i].profile] + 2]++;
    for (size_t i = 0; i <= c->profile_count; i++)
        g.start[i + 1] += g.start[i];
    for (size_t i = 0; i < count; i++)
        g.order[g.start[c->profile_of[m->values.data[i].profile] + 1]++] = (uint32_t)i;

    return g;
}

static void free_group(struct by_profile *g)
{
    free(g->start);
    free(g->order);
}

struct filling {
    const struct model *model;
    const struct canon *canon;
    struct by_profile values;
    struct value_list *lists; /* [metric] */
};

static void collect(struct filling *f, uint32_t profile)
{
    for (size_t m = 0; m < f->canon->metric_count; m++)
        vec_clear(&f->lists[m]);
    for (size_t i = f->values.start[profile]; i < f->values.start[profile + 1]; i++) {
        const struct model_value_entry *v = &f->model->values.data[f->values.order[i]];

        vec_push(&f->lists[v->metric],
                 (struct db_value){.frame = f->canon->frame_of[v->frame], .sum = v->sum, .count = v->count});
    }
}

/* Block by block: a trace may be longer than what memory should hold. */
static void add_trace(struct batch *b, const struct canon *c, const struct model_trace *t)
{
    struct db_trace_record records[HQDB_TRACE_RECORDS], at = trace_code_start(0);
    const uint8_t *next = t->coded.data, *end = next + t->coded.len;

    for (size_t n = 1; n;) {
        for (n = 0; n < HQDB_TRACE_RECORDS && next < end && get_trace_record(&next, end, &at); n++) {
            records[n] = at;
            records[n].frame = c->frame_of[at.frame];
        }
        batch_trace(b, records, n);
    }
}

static void add_marks(struct batch *b, const struct canon *c, const struct mark_list *list)
{
    AUTO_FREE struct db_mark *marks = xcalloc(list->len + 1, sizeof *marks);

    for (size_t i = 0; i < list->len; i++) {
        marks[i] = list->data[i];
        marks[i].frame = c->frame_of[marks[i].frame];
    }
    batch_marks(b, marks, list->len);
}

static struct hq_error *write_profiles(const struct model *m, const struct canon *c, struct writer *w,
                                       const char *directory)
{
    struct filling f = {
        .model = m,
        .canon = c,
        .values = group(m, c),
        .lists = xcalloc(c->metric_count + 1, sizeof *f.lists),
    };
    AUTO_FREE uint32_t *model_profile = xcalloc(c->profile_count + 1, sizeof *model_profile);
    struct tally *tally = tally_create(c);
    struct assembly *a = assembly_create(c, w, directory);
    struct batch b;
    struct hq_error *err;

    for (uint32_t p = 0; p < c->profile_count; p++)
        model_profile[c->profile_of[p]] = p;
    batch_init(&b, 0, c->metric_count);
    for (uint32_t p = 0; p < c->profile_count; p++) {
        collect(&f, p);
        batch_add(&b, c, tally, f.lists);
        if (model_profile[p] < m->traces.len)
            add_trace(&b, c, &m->traces.data[model_profile[p]]);
        if (model_profile[p] < m->marks.len)
            add_marks(&b, c, &m->marks.data[model_profile[p]]);
        if (model_profile[p] < m->growth.len)
            batch_growth(&b, &m->growth.data[model_profile[p]],
                         model_profile[p] < m->marks.len ? &m->marks.data[model_profile[p]] : &(struct mark_list){0});
    }
    batch_finish(&b, c);
    err = assembly_add(a, &b);
    if (!err)
        err = assembly_finish(a, tally);
    batch_deinit(&b);
    assembly_destroy(a);
    tally_destroy(tally);
    for (size_t i = 0; i < c->metric_count; i++)
        vec_deinit(&f.lists[i]);
    free(f.lists);
    free_group(&f.values);
    return err;
}

static int compare_sources(const void *pa, const void *pb)
{
    const struct hqdb_source *a = pa, *b = pb;

    return (a->path > b->path) - (a->path < b->path);
}

void model_write_sources(const struct model *m, const struct canon *c, struct writer *w)
{
    AUTO_FREE struct hqdb_source *sources = xcalloc(m->sources.len + 1, sizeof *sources);

    for (size_t i = 0; i < m->sources.len; i++) {
        const struct model_source *s = &m->sources.data[i];

        sources[i] = (struct hqdb_source){.path = c->text_of[s->path], .offset = s->offset, .bytes = s->bytes};
    }
    qsort(sources, m->sources.len, sizeof *sources, compare_sources);
    writer_section(w, HQDB_SOURCES, 0, sizeof *sources, sources, m->sources.len);
    writer_section(w, HQDB_SOURCE_TEXT, 0, 1, m->source_text.data, m->source_text.len);
}

static int compare_known(const void *pa, const void *pb)
{
    const struct hqdb_known *a = pa, *b = pb;

    return (a->module > b->module) - (a->module < b->module);
}

void model_write_known(const struct model *m, const struct canon *c, struct writer *w)
{
    AUTO_FREE struct hqdb_known *known = xcalloc(m->known.len + 1, sizeof *known);
    uint64_t bytes = 0;

    if (!m->known.len)
        return;
    for (size_t i = 0; i < m->known.len; i++) {
        known[i] = m->known.data[i];
        known[i].module = c->module_of[known[i].module];
    }
    qsort(known, m->known.len, sizeof *known, compare_known);
    writer_begin(w, HQDB_KNOWN_TEXT, 0, 1);
    for (size_t i = 0; i < m->known.len; i++) {
        writer_append(w, m->known_text.data + known[i].offset, known[i].bytes);
        known[i].offset = bytes;
        bytes += known[i].bytes;
    }
    writer_end(w);
    writer_section(w, HQDB_KNOWN, 0, sizeof *known, known, m->known.len);
}

struct hq_error *model_write(struct model *m, const char *path, uint64_t sources_key)
{
    AUTO(canon_deinit) struct canon c;
    AUTO_FREE char *directory = file_dirname(path);
    struct writer *w;
    struct hq_error *err;

    HQ_TRY(canon_make(m, &c));
    HQ_TRY(writer_open(path, &w));
    canon_write(&c, w);
    model_write_sources(m, &c, w);
    model_write_known(m, &c, w);
    err = write_profiles(m, &c, w, directory);
    if (err) {
        writer_abandon(w);
        return err;
    }
    return writer_commit(w, sources_key, 0);
}
