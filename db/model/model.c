/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/model/model.h"

#include "common/mem.h"
#include "db/model/model_data.h"
#include "structure/known.h"
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

struct module_key {
    uint32_t path, build_id;
};
/* The fields in which two scopes agree if they are the same one: hqdb_scope without the aliases. */
struct scope_key {
    uint32_t kind, parent, name, linkage, file, line, module, call_file, call_line, ordinal;
    uint64_t address;
};
struct code_key {
    uint64_t offset;
    uint32_t module, raw, normal, flags;
};

struct model *model_create(void)
{
    struct model *m = xcalloc(1, sizeof *m);

    keymap_init(&m->module_keys, sizeof(struct module_key));
    keymap_init(&m->scope_keys, sizeof(struct scope_key));
    keymap_init(&m->code_keys, sizeof(struct code_key));
    keymap_init(&m->frame_keys, sizeof(struct hqdb_frame));
    model_scope(m, &(struct model_scope){.kind = SCOPE_ROOT, .parent = HQDB_NONE, .module = HQDB_NONE});
    return m;
}

void model_destroy(struct model *m)
{
    if (!m)
        return;
    intern_deinit(&m->strings);
    vec_deinit(&m->info);
    vec_deinit(&m->losses);
    vec_deinit(&m->metrics);
    vec_deinit(&m->modules);
    vec_deinit(&m->scopes);
    vec_deinit(&m->aliases);
    vec_deinit(&m->codes);
    vec_deinit(&m->frames);
    vec_deinit(&m->profiles);
    vec_deinit(&m->values);
    vec_deinit(&m->regions);
    vec_deinit(&m->messages);
    vec_deinit(&m->queues);
    vec_deinit(&m->commands);
    vec_deinit(&m->host_waits);
    vec_foreach(t, &m->traces)
        vec_deinit(&t->coded);
    vec_deinit(&m->traces);
    vec_foreach(list, &m->marks)
        vec_deinit(list);
    vec_deinit(&m->marks);
    vec_foreach(list, &m->growth)
        vec_deinit(list);
    vec_deinit(&m->growth);
    vec_deinit(&m->sources);
    vec_deinit(&m->source_text);
    vec_deinit(&m->known);
    vec_deinit(&m->known_text);
    keymap_deinit(&m->module_keys);
    keymap_deinit(&m->scope_keys);
    keymap_deinit(&m->code_keys);
    keymap_deinit(&m->frame_keys);
    free(m);
}

void model_info(struct model *m, const char *key, const char *value)
{
    vec_push(&m->info, (struct hqdb_info){intern_add(&m->strings, key), intern_add(&m->strings, value)});
}

void model_loss(struct model *m, const char *reason, bool partial, uint64_t count)
{
    uint32_t text = intern_add(&m->strings, reason);

    if (!count)
        return;
    vec_foreach(l, &m->losses) {
        if (l->reason == text && l->partial == partial) {
            l->count += count;
            return;
        }
    }
    vec_push(&m->losses, (struct hqdb_loss){.reason = text, .partial = partial, .count = count});
}

/* CPUTIME -> cputime, PAPI_TOT_CYC -> papi_tot_cyc, perf::cache-misses -> perf::cache_misses */
static uint32_t metric_name(struct model *m, const char *event)
{
    size_t n = strlen(event);
    AUTO_FREE char *name = xmalloc(n + 2);
    char *p = name;

    if (!n || !(isalpha((unsigned char)event[0]) || event[0] == '_'))
        *p++ = '_';
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)event[i];

        *p++ = c < 128 && (isalnum(c) || c == '_' || c == ':') ? (char)tolower(c) : '_';
    }
    *p = 0;
    return intern_add(&m->strings, name);
}

uint32_t model_metric(struct model *m, const struct model_metric *metric)
{
    struct hqdb_metric x = {
        .name = metric_name(m, metric->event),
        .event = intern_add(&m->strings, metric->event),
        .description = intern_add(&m->strings, metric->description),
        .dimension = metric->dimension,
        .flags = metric->flags,
        .period = metric->period,
        .scale = metric->scale,
    };

    for (size_t i = 0; i < m->metrics.len; i++) {
        const struct hqdb_metric *old = &m->metrics.data[i];

        if (old->event == x.event && old->dimension == x.dimension && old->scale == x.scale)
            return (uint32_t)i;
    }
    vec_push(&m->metrics, x);
    return (uint32_t)m->metrics.len - 1;
}

uint32_t model_module(struct model *m, const char *path, const char *build_id, uint32_t flags, const char *note)
{
    struct module_key key = {intern_add(&m->strings, path), intern_add(&m->strings, build_id)};
    bool is_new;
    uint32_t id = keymap_add(&m->module_keys, &key, &is_new);

    if (is_new)
        vec_push(&m->modules, (struct hqdb_module){.path = key.path, .build_id = key.build_id});
    m->modules.data[id].flags |= flags;
    if (note && *note)
        m->modules.data[id].note = intern_add(&m->strings, note);
    return id;
}

void model_known(struct model *m, uint32_t module, const struct known *known)
{
    vec_push(&m->known, (struct hqdb_known){.module = module,
                                            .state = known->state,
                                            .names = known->count,
                                            .offset = m->known_text.len,
                                            .bytes = known->bytes,
                                            .unpacked = known->unpacked});
    vec_append(&m->known_text, known->packed, known->bytes);
}

static void add_aliases(struct model *m, struct hqdb_scope *s, const char *const *aliases)
{
    s->first_alias = (uint32_t)m->aliases.len;
    for (; aliases && *aliases; aliases++, s->alias_count++)
        vec_push(&m->aliases, intern_add(&m->strings, *aliases));
}

uint32_t model_scope(struct model *m, const struct model_scope *scope)
{
    struct hqdb_scope s = {
        .kind = scope->kind,
        .parent = scope->parent,
        .name = intern_add(&m->strings, scope->name),
        .linkage = intern_add(&m->strings, scope->linkage),
        .file = intern_add(&m->strings, scope->file),
        .line = scope->line,
        .module = scope->module,
        .call_file = intern_add(&m->strings, scope->call_file),
        .call_line = scope->call_line,
        .ordinal = scope->ordinal,
        .address = scope->address,
    };
    struct scope_key key = {s.kind,   s.parent,    s.name,      s.linkage, s.file,   s.line,
                            s.module, s.call_file, s.call_line, s.ordinal, s.address};
    bool is_new;
    uint32_t id = keymap_add(&m->scope_keys, &key, &is_new);

    if (is_new) {
        add_aliases(m, &s, scope->aliases);
        if (s.kind == SCOPE_LOOP)
            s.basis = scope->basis;
        else if (s.kind == SCOPE_PROCEDURE || s.kind == SCOPE_REGION)
            s.role = scope->role;
        vec_push(&m->scopes, s);
    }
    return id;
}

uint32_t model_module_scope(struct model *m, uint32_t module)
{
    return model_scope(m, &(struct model_scope){
                              .kind = SCOPE_MODULE,
                              .parent = MODEL_ROOT,
                              .name = intern_str(&m->strings, m->modules.data[module].path),
                              .module = module,
                          });
}

static uint32_t add_code(struct model *m, struct code_key key)
{
    bool is_new;
    uint32_t id = keymap_add(&m->code_keys, &key, &is_new);

    if (is_new)
        vec_push(
            &m->codes,
            (struct hqdb_code){
                .offset = key.offset, .module = key.module, .raw = key.raw, .normal = key.normal, .flags = key.flags});
    return id;
}

uint32_t model_code(struct model *m, uint32_t module, uint64_t offset, uint32_t raw, uint32_t normal)
{
    return add_code(m, (struct code_key){offset, module, raw, normal, 0});
}

uint32_t model_code_inside(struct model *m, uint32_t code)
{
    const struct hqdb_code *c = &m->codes.data[code];

    return add_code(m, (struct code_key){c->offset, c->module, c->raw, c->normal, HQDB_CODE_INSIDE});
}

uint32_t model_code_entry(struct model *m, uint32_t scope)
{
    return add_code(m, (struct code_key){0, m->scopes.data[scope].module, scope, scope, HQDB_CODE_ENTRY});
}

uint32_t model_frame(struct model *m, uint32_t parent, uint32_t code)
{
    struct hqdb_frame f = {parent, code};
    bool is_new;
    uint32_t id = keymap_add(&m->frame_keys, &f, &is_new);

    if (is_new)
        vec_push(&m->frames, f);
    return id;
}

uint32_t model_root_frame(struct model *m, enum scope_kind kind, const char *name)
{
    uint32_t scope = model_scope(
        m, &(struct model_scope){.kind = kind, .parent = MODEL_ROOT, .name = name, .module = HQDB_NONE});

    return model_frame(m, HQDB_NONE, model_code(m, HQDB_NONE, 0, scope, scope));
}

uint32_t model_profile(struct model *m, const struct model_profile *p)
{
    vec_push(&m->profiles, (struct hqdb_profile){
                               .rank = p->rank,
                               .thread = p->thread,
                               .host = intern_add(&m->strings, p->host),
                               .pid = p->pid,
                               .tid = p->tid,
                               .command = intern_add(&m->strings, p->command),
                               .creator_profile = p->creator_profile,
                               .creator_frame = p->creator_frame,
                               .start_realtime_ns = p->start_realtime_ns,
                               .start_us = p->start_us,
                               .end_us = p->end_us,
                               .serial = p->serial,
                               .state = p->state,
                           });
    return (uint32_t)m->profiles.len - 1;
}

void model_region(struct model *m, const struct hqdb_region *region)
{
    vec_push(&m->regions, *region);
}

void model_message(struct model *m, const struct hqdb_message *message, const char *group)
{
    vec_push(&m->messages, *message);
    m->messages.data[m->messages.len - 1].group = intern_add(&m->strings, group);
}

void model_queue(struct model *m, const struct hqdb_queue *queue, const char *device)
{
    vec_push(&m->queues, *queue);
    m->queues.data[m->queues.len - 1].device = intern_add(&m->strings, device);
}

void model_host_wait(struct model *m, const struct hqdb_host_wait *wait)
{
    vec_push(&m->host_waits, *wait);
}

void model_command(struct model *m, const struct hqdb_command *command)
{
    vec_push(&m->commands, *command);
}

void model_value(struct model *m, uint32_t profile, uint32_t metric, uint32_t frame, int64_t sum, uint64_t count)
{
    vec_push(&m->values, (struct model_value_entry){profile, metric, frame, sum, count});
}

void model_mark(struct model *m, uint32_t profile, uint64_t time_us, uint32_t frame, bool leaves)
{
    while (m->marks.len <= profile)
        vec_push(&m->marks, (struct mark_list){0});
    vec_push(&m->marks.data[profile], (struct db_mark){time_us, frame, leaves});
}

void model_growth(struct model *m, uint32_t profile, uint64_t time_us, uint32_t metric, uint64_t amount)
{
    while (m->growth.len <= profile)
        vec_push(&m->growth, (struct growth_list){0});
    vec_push(&m->growth.data[profile], (struct db_growth){.time_us = time_us, .metric = metric, .amount = amount});
}

void model_trace(struct model *m, uint32_t profile, uint64_t time_us, uint32_t frame, uint32_t metric, uint32_t weight)
{
    while (m->traces.len <= profile)
        vec_push(&m->traces, (struct model_trace){.last = trace_code_start(0)});
    put_trace_record(&m->traces.data[profile].coded, &m->traces.data[profile].last,
                     &(struct db_trace_record){time_us, frame, metric, weight});
}

void model_source_once(struct model *m, const char *path, const char *text, size_t bytes)
{
    uint32_t name = intern_add(&m->strings, path);

    vec_foreach(s, &m->sources)
        if (s->path == name)
            return;
    model_source(m, path, text, bytes);
}

void model_source(struct model *m, const char *path, const char *text, size_t bytes)
{
    vec_push(&m->sources, (struct model_source){intern_add(&m->strings, path), m->source_text.len, bytes});
    vec_append(&m->source_text, text, bytes);
}
