/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/pattern/chosen.h"
#include "common/map.h"
#include "common/names.h"
#include "query/grammar/parse.h"
#include "query/query.h"

static void add_contexts(const struct tree *t, const struct row_ref *row, struct matches *out)
{
    struct map ids = {0};
    VEC(uint32_t) found = {0};

    for (size_t i = 0; i < row->context_count; i++)
        map_put(&ids, row->contexts[i], 1);
    for (uint32_t c = 0; c < t->context_count; c++)
        if (map_find(&ids, t->contexts[c].id))
            vec_push(&found, c);
    map_deinit(&ids);
    out->contexts = found.data;
    out->context_count = found.len;
}

static bool same_scope(const struct tree *t, uint32_t scope, const struct row_ref *row)
{
    const struct hqdb_scope *s = tree_scope(t, scope);
    const char *module = tree_module_name(t, scope);

    if (s->kind == SCOPE_LOOP || s->kind == SCOPE_LINE)
        return s->kind == row->kind && s->line == row->line && row->file && !strcmp(tree_text(t, s->file), row->file) &&
               (!row->module || (module && !strcmp(module, row->module)));
    if (s->kind == SCOPE_MODULE)
        return row->kind == SCOPE_MODULE && !strcmp(path_base(tree_text(t, s->name)), row->name);
    if (s->kind == SCOPE_FILE ? row->kind != SCOPE_FILE
                              : row->kind != s->kind && row->kind != SCOPE_PROCEDURE && row->kind != SCOPE_INLINE &&
                                    row->kind != SCOPE_CALL)
        return false;
    return !strcmp(tree_text(t, s->name), row->name) && (!row->module || (module && !strcmp(module, row->module)));
}

struct hq_error *match_row(const struct query_env *env, const struct tree *t, const struct pattern *p, unsigned kinds,
                           struct matches *out)
{
    const struct row_ref *row;

    if (!env->last.len)
        return place_error(&p->place, NULL, "there is no result yet that #%u could be a row of", p->row);
    if (p->row == 0 || p->row > env->last.len)
        return place_error(&p->place, NULL, "there is no row #%u: the last result has %zu", p->row, env->last.len);
    row = &env->last.data[p->row - 1];
    if (row->context_count)
        add_contexts(t, row, out);
    if (out->context_count || (row->context_count && row->kind != SCOPE_LINE))
        return NULL;
    /* A line of another build, or under other settings, is found by its place. */
    free(out->contexts);
    out->contexts = NULL;
    out->scopes = xcalloc(t->scope_count, 1);
    for (uint32_t i = 0; i < t->scope_count; i++)
        if ((kinds | KINDS_STATIC) & KIND_BIT(t->scopes[i].kind) && same_scope(t, i, row)) {
            out->scopes[i] = 1;
            out->scope_count++;
        }
    return NULL;
}

struct hq_error *match_id(const struct tree *t, const struct pattern *p, struct matches *out)
{
    uint64_t first, last, id = 0;
    VEC(uint32_t) found = {0};

    if (!table_id_range(p->text, &first, &last))
        return place_error(&p->place, NULL,
                           "`%s` is no id: ids have up to 13 digits 0-9 and letters without i, l, o and u", p->text);
    for (uint32_t c = 0; c < t->context_count; c++) {
        if (t->contexts[c].id < first || t->contexts[c].id > last)
            continue;
        if (found.len && t->contexts[c].id != id) {
            vec_deinit(&found);
            return place_error(&p->place, NULL, "several contexts have an id that begins with %s; give more of it",
                               p->text);
        }
        id = t->contexts[c].id;
        vec_push(&found, c);
    }
    out->contexts = found.data;
    out->context_count = found.len;
    return NULL;
}
