/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/model/canon.h"

#include "common/compare.h"
#include "common/mem.h"
#include "db/model/model_data.h"
#include <stdlib.h>
#include <string.h>

/* order[position] = number in the model, by `cmp` over numbers; rank is its inverse. */
static uint32_t *sorted(size_t count, int (*cmp)(const void *, const void *, void *), void *arg, uint32_t **rank)
{
    uint32_t *order = xcalloc(count + 1, sizeof *order);

    *rank = xcalloc(count + 1, sizeof **rank);
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    if (count > 1)
        qsort_r(order, count, sizeof *order, cmp, arg);
    for (size_t i = 0; i < count; i++)
        (*rank)[order[i]] = (uint32_t)i;
    return order;
}

/* ---- texts ---- */

static int compare_texts(const void *a, const void *b, void *strings)
{
    return strcmp(intern_str(strings, *(const uint32_t *)a), intern_str(strings, *(const uint32_t *)b));
}

static struct hq_error *place_strings(const struct model *m, struct canon *c)
{
    struct intern *strings = (struct intern *)&m->strings;
    size_t count = intern_count(strings), bytes = 0;
    AUTO_FREE uint32_t *rank = NULL;
    AUTO_FREE uint32_t *order = sorted(count, compare_texts, strings, &rank);

    for (size_t i = 0; i < count; i++)
        bytes += strlen(intern_str(strings, (uint32_t)i)) + 1;
    if (bytes >= UINT32_MAX)
        return hq_error_new(HQ_DATA, "the names of this program take more than 4 GiB, which a database cannot hold");
    c->strings = xmalloc(bytes);
    c->text_of = xcalloc(count, sizeof *c->text_of);
    for (size_t i = 0; i < count; i++) {
        const char *s = intern_str(strings, order[i]);

        c->text_of[order[i]] = (uint32_t)c->string_bytes;
        memcpy(c->strings + c->string_bytes, s, strlen(s) + 1);
        c->string_bytes += strlen(s) + 1;
    }
    return NULL;
}

/* ---- facts, metrics, losses, modules ---- */

static void place_facts(const struct model *m, struct canon *c)
{
    c->info = xcalloc(m->info.len + 1, sizeof *c->info);
    c->info_count = m->info.len;
    for (size_t i = 0; i < m->info.len; i++)
        c->info[i] = (struct hqdb_info){c->text_of[m->info.data[i].key], c->text_of[m->info.data[i].value]};
    c->metrics = xcalloc(m->metrics.len + 1, sizeof *c->metrics);
    c->metric_count = m->metrics.len;
    for (size_t i = 0; i < m->metrics.len; i++) {
        struct hqdb_metric *x = &c->metrics[i];

        *x = m->metrics.data[i];
        x->name = c->text_of[x->name];
        x->event = c->text_of[x->event];
        x->description = c->text_of[x->description];
    }
}

static int compare_losses(const void *pa, const void *pb)
{
    const struct hqdb_loss *a = pa, *b = pb;

    COMPARE(a->partial, b->partial);
    COMPARE(a->reason, b->reason);
    return 0;
}

static void place_losses(const struct model *m, struct canon *c)
{
    c->losses = xcalloc(m->losses.len + 1, sizeof *c->losses);
    c->loss_count = m->losses.len;
    for (size_t i = 0; i < m->losses.len; i++) {
        c->losses[i] = m->losses.data[i];
        c->losses[i].reason = c->text_of[c->losses[i].reason];
    }
    qsort(c->losses, c->loss_count, sizeof *c->losses, compare_losses);
}

struct ordering {
    const struct model *m;
    const struct canon *c;
    const uint32_t *rank, *level;
};

static int compare_modules(const void *pa, const void *pb, void *arg)
{
    const struct ordering *o = arg;
    const struct hqdb_module *a = &o->m->modules.data[*(const uint32_t *)pa],
                             *b = &o->m->modules.data[*(const uint32_t *)pb];

    COMPARE(o->c->text_of[a->path], o->c->text_of[b->path]);
    COMPARE(o->c->text_of[a->build_id], o->c->text_of[b->build_id]);
    return 0;
}

static uint32_t *place_modules(const struct model *m, struct canon *c)
{
    struct ordering o = {.m = m, .c = c};
    uint32_t *rank;
    AUTO_FREE uint32_t *order = sorted(m->modules.len, compare_modules, &o, &rank);

    c->modules = xcalloc(m->modules.len + 1, sizeof *c->modules);
    c->module_count = m->modules.len;
    for (size_t i = 0; i < m->modules.len; i++) {
        struct hqdb_module *x = &c->modules[i];

        *x = m->modules.data[order[i]];
        x->path = c->text_of[x->path];
        x->build_id = c->text_of[x->build_id];
        x->note = c->text_of[x->note];
    }
    return rank;
}

/* ---- scopes ---- */

/* A scope with its texts and module in final numbers, its parent still in the model's. */
static struct hqdb_scope final_scope(const struct model *m, const struct canon *c, uint32_t i)
{
    struct hqdb_scope s = m->scopes.data[i];

    s.name = c->text_of[s.name];
    s.linkage = c->text_of[s.linkage];
    s.file = c->text_of[s.file];
    s.call_file = c->text_of[s.call_file];
    if (s.module < m->modules.len)
        s.module = c->module_of[s.module];
    return s;
}

/* Within one level: by parent's final number, then by what they are. */
static int compare_scopes(const void *pa, const void *pb)
{
    const struct hqdb_scope *a = pa, *b = pb;

    COMPARE(a->parent, b->parent);
    COMPARE(a->kind, b->kind);
    COMPARE(a->module, b->module);
    COMPARE(a->name, b->name);
    COMPARE(a->linkage, b->linkage);
    COMPARE(a->file, b->file);
    COMPARE(a->line, b->line);
    COMPARE(a->ordinal, b->ordinal);
    COMPARE(a->address, b->address);
    COMPARE(a->call_file, b->call_file);
    COMPARE(a->call_line, b->call_line);
    return 0;
}

/* Appends the aliases of a scope, whose number in the model first_alias is until now, to the final table. */
static void place_aliases(const struct model *m, struct canon *c, struct hqdb_scope *s)
{
    uint32_t first = m->scopes.data[s->first_alias].first_alias;

    s->first_alias = (uint32_t)c->alias_count;
    for (uint32_t i = 0; i < s->alias_count; i++)
        c->aliases[c->alias_count++] = c->text_of[m->aliases.data[first + i]];
}

/* Level by level from the root, so that parents have their numbers before their children are sorted. */
static uint32_t *place_scopes(const struct model *m, struct canon *c)
{
    size_t count = m->scopes.len, done = 0;
    uint32_t *rank = xcalloc(count + 1, sizeof *rank), deepest = 0;
    AUTO_FREE uint32_t *level = xcalloc(count + 1, sizeof *level);
    AUTO_FREE size_t *start = NULL;
    AUTO_FREE size_t *fill = NULL;

    c->scopes = xcalloc(count + 1, sizeof *c->scopes);
    c->aliases = xcalloc(m->aliases.len + 1, sizeof *c->aliases);
    c->scope_count = count;
    for (size_t i = 1; i < count; i++) {
        level[i] = level[m->scopes.data[i].parent] + 1;
        deepest = level[i] > deepest ? level[i] : deepest;
    }
    start = xcalloc((size_t)deepest + 2, sizeof *start);
    fill = xcalloc((size_t)deepest + 2, sizeof *fill);
    for (size_t i = 0; i < count; i++)
        start[level[i] + 1]++;
    for (uint32_t l = 0; l <= deepest; l++)
        start[l + 1] += start[l];
    memcpy(fill, start, ((size_t)deepest + 2) * sizeof *fill);
    for (size_t i = 0; i < count; i++) {
        struct hqdb_scope *s = &c->scopes[fill[level[i]]++];

        *s = final_scope(m, c, (uint32_t)i);
        s->first_alias = (uint32_t)i;
    }
    for (uint32_t l = 0; l <= deepest; l++) {
        for (size_t i = start[l]; l && i < start[l + 1]; i++)
            c->scopes[i].parent = rank[c->scopes[i].parent];
        qsort(c->scopes + start[l], start[l + 1] - start[l], sizeof *c->scopes, compare_scopes);
        for (; done < start[l + 1]; done++) {
            rank[c->scopes[done].first_alias] = (uint32_t)done;
            place_aliases(m, c, &c->scopes[done]);
        }
    }
    return rank;
}

/* ---- codes, frames, contexts ---- */

struct placed_code {
    struct hqdb_code code;
    uint32_t number; /* in the model */
};

static int compare_codes(const void *pa, const void *pb)
{
    const struct hqdb_code *a = &((const struct placed_code *)pa)->code, *b = &((const struct placed_code *)pb)->code;

    COMPARE(a->module, b->module);
    COMPARE(a->offset, b->offset);
    COMPARE(a->raw, b->raw);
    COMPARE(a->normal, b->normal);
    COMPARE(a->flags, b->flags);
    return 0;
}

static uint32_t *place_codes(const struct model *m, struct canon *c, const uint32_t *scope_rank)
{
    uint32_t *rank = xcalloc(m->codes.len + 1, sizeof *rank);
    AUTO_FREE struct placed_code *placed = xcalloc(m->codes.len + 1, sizeof *placed);

    c->codes = xcalloc(m->codes.len + 1, sizeof *c->codes);
    c->code_count = m->codes.len;
    for (size_t i = 0; i < m->codes.len; i++) {
        struct hqdb_code x = m->codes.data[i];

        x.module = x.module < m->modules.len ? c->module_of[x.module] : HQDB_NONE;
        x.raw = scope_rank[x.raw];
        x.normal = scope_rank[x.normal];
        placed[i] = (struct placed_code){x, (uint32_t)i};
    }
    qsort(placed, c->code_count, sizeof *placed, compare_codes);
    for (size_t i = 0; i < c->code_count; i++) {
        c->codes[i] = placed[i].code;
        rank[placed[i].number] = (uint32_t)i;
    }
    return rank;
}

static void place_frames(const struct model *m, struct canon *c, const uint32_t *code_rank)
{
    size_t count = m->frames.len;
    AUTO_FREE struct hqdb_frame *frames = xcalloc(count + 1, sizeof *frames);
    struct fuse fused;

    for (size_t i = 0; i < count; i++)
        frames[i] = (struct hqdb_frame){m->frames.data[i].parent, code_rank[m->frames.data[i].code]};
    fuse_run(&(struct fuse_input){c->scopes, c->scope_count, c->codes, c->code_count, frames, count, c->strings,
                                  c->string_bytes},
             (struct fuse_settings){0}, &fused);
    c->frames = xcalloc(count + 1, sizeof *c->frames);
    c->frame_count = count;
    for (size_t i = 0; i < count; i++) {
        struct hqdb_frame f = frames[fused.frame_at[i]];

        c->frames[i] = (struct hqdb_frame){f.parent == HQDB_NONE ? HQDB_NONE : fused.frame_rank[f.parent], f.code};
    }
    c->contexts = MEM_STEAL(fused.contexts);
    c->context_count = fused.context_count;
    c->frame_of = MEM_STEAL(fused.frame_rank);
    c->frame_context = MEM_STEAL(fused.frame_context);
    fuse_deinit(&fused);
}

static void index_scopes(struct canon *c)
{
    AUTO_FREE uint64_t *fill = NULL;

    c->scope_index = xcalloc(c->scope_count + 1, sizeof *c->scope_index);
    c->scope_contexts = xcalloc(c->context_count + 1, sizeof *c->scope_contexts);
    for (size_t i = 0; i < c->context_count; i++)
        c->scope_index[c->contexts[i].scope + 1]++;
    for (size_t i = 0; i < c->scope_count; i++)
        c->scope_index[i + 1] += c->scope_index[i];
    fill = xcalloc(c->scope_count + 1, sizeof *fill);
    memcpy(fill, c->scope_index, (c->scope_count + 1) * sizeof *fill);
    for (size_t i = 0; i < c->context_count; i++)
        c->scope_contexts[fill[c->contexts[i].scope]++] = (uint32_t)i;
}

/* ---- profiles ---- */

static int compare_profiles(const void *pa, const void *pb, void *arg)
{
    const struct ordering *o = arg;
    uint32_t ia = *(const uint32_t *)pa, ib = *(const uint32_t *)pb;
    const struct hqdb_profile *a = &o->m->profiles.data[ia], *b = &o->m->profiles.data[ib];

    COMPARE(o->c->text_of[a->host], o->c->text_of[b->host]);
    COMPARE(a->rank, b->rank);
    COMPARE(a->pid, b->pid);
    COMPARE(a->serial, b->serial);
    COMPARE(a->start_realtime_ns, b->start_realtime_ns);
    COMPARE(a->thread, b->thread);
    COMPARE(ia, ib);
    return 0;
}

static void place_profiles(const struct model *m, struct canon *c)
{
    struct ordering o = {.m = m, .c = c};
    AUTO_FREE uint32_t *order = sorted(m->profiles.len, compare_profiles, &o, &c->profile_of);

    c->profiles = xcalloc(m->profiles.len + 1, sizeof *c->profiles);
    c->profile_count = m->profiles.len;
    for (size_t i = 0; i < m->profiles.len; i++) {
        struct hqdb_profile *p = &c->profiles[i];

        *p = m->profiles.data[order[i]];
        p->host = c->text_of[p->host];
        p->command = c->text_of[p->command];
        c->ranked |= p->rank >= 0;
        if (p->creator_profile != HQDB_NONE)
            p->creator_profile = c->profile_of[p->creator_profile];
        if (p->creator_frame != HQDB_NONE)
            p->creator_frame = c->frame_of[p->creator_frame];
    }
}

struct hq_error *canon_make(const struct model *m, struct canon *c)
{
    AUTO_FREE uint32_t *scope_rank = NULL;
    AUTO_FREE uint32_t *code_rank = NULL;

    *c = (struct canon){0};
    HQ_TRY(place_strings(m, c));
    place_facts(m, c);
    place_losses(m, c);
    c->module_of = place_modules(m, c);
    scope_rank = place_scopes(m, c);
    code_rank = place_codes(m, c, scope_rank);
    place_frames(m, c, code_rank);
    index_scopes(c);
    place_profiles(m, c);
    canon_place_records(m, c);
    return NULL;
}

void canon_deinit(struct canon *c)
{
    free(c->strings);
    free(c->info);
    free(c->metrics);
    free(c->modules);
    free(c->scopes);
    free(c->aliases);
    free(c->codes);
    free(c->frames);
    free(c->contexts);
    free(c->profiles);
    free(c->losses);
    free(c->regions);
    free(c->messages);
    free(c->queues);
    free(c->commands);
    free(c->host_waits);
    free(c->scope_index);
    free(c->scope_contexts);
    free(c->frame_context);
    free(c->frame_of);
    free(c->module_of);
    free(c->profile_of);
    free(c->text_of);
    *c = (struct canon){0};
}

void canon_write(const struct canon *c, struct writer *w)
{
    writer_section(w, HQDB_STRINGS, 0, 1, c->strings, c->string_bytes);
    writer_section(w, HQDB_INFO, 0, sizeof *c->info, c->info, c->info_count);
    writer_section(w, HQDB_METRICS, 0, sizeof *c->metrics, c->metrics, c->metric_count);
    writer_section(w, HQDB_MODULES, 0, sizeof *c->modules, c->modules, c->module_count);
    writer_section(w, HQDB_SCOPES, 0, sizeof *c->scopes, c->scopes, c->scope_count);
    writer_section(w, HQDB_ALIASES, 0, sizeof *c->aliases, c->aliases, c->alias_count);
    writer_section(w, HQDB_CODES, 0, sizeof *c->codes, c->codes, c->code_count);
    writer_section(w, HQDB_FRAMES, 0, sizeof *c->frames, c->frames, c->frame_count);
    writer_section(w, HQDB_CONTEXTS, 0, sizeof *c->contexts, c->contexts, c->context_count);
    writer_section(w, HQDB_PROFILES, 0, sizeof *c->profiles, c->profiles, c->profile_count);
    writer_section(w, HQDB_LOSSES, 0, sizeof *c->losses, c->losses, c->loss_count);
    if (c->region_count)
        writer_section(w, HQDB_REGIONS, 0, sizeof *c->regions, c->regions, c->region_count);
    if (c->message_count)
        writer_section(w, HQDB_MESSAGES, 0, sizeof *c->messages, c->messages, c->message_count);
    if (c->queue_count) {
        writer_section(w, HQDB_QUEUES, 0, sizeof *c->queues, c->queues, c->queue_count);
        writer_section(w, HQDB_COMMANDS, 0, sizeof *c->commands, c->commands, c->command_count);
        writer_section(w, HQDB_HOST_WAITS, 0, sizeof *c->host_waits, c->host_waits, c->host_wait_count);
    }
    writer_section(w, HQDB_SCOPE_INDEX, 0, sizeof *c->scope_index, c->scope_index, c->scope_count + 1);
    writer_section(w, HQDB_SCOPE_CONTEXTS, 0, sizeof *c->scope_contexts, c->scope_contexts, c->context_count);
}
