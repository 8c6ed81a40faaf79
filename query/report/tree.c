/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree of a page: static scopes with their names as rows show them, and the contexts in preorder. */
#include "query/report/gather.h"
#include "db/runtimes.h"
#include "query/views/views.h"

static void add_text(struct gathering *g, const char *text)
{
    pack_add(&g->pack, intern_add(&g->texts, text));
}

/* A column of one number for each of n things. */
#define COLUMN(g, name, n, i, number) \
    do { \
        pack_begin(&(g)->pack, name); \
        for (uint32_t i = 0; i < (n); i++) \
            number; \
        pack_end(&(g)->pack); \
    } while (0)

/* A runtime's code waits or works for it: 0 the program, then 1 + enum runtime_kind. */
static unsigned owner(const struct tree *t, uint32_t scope)
{
    uint32_t module = tree_enclosing(t, scope, SCOPE_MODULE);
    const struct runtime *r = module == HQDB_NONE ? NULL : runtime_of_module(tree_text(t, tree_scope(t, module)->name));

    return r ? 1 + (unsigned)r->kind : 0;
}

static void gather_scopes(struct gathering *g)
{
    const struct tree *t = g->run.tree;
    const struct entities *e = run_entities(&g->run);
    const struct hqdb_scope *all = t->scopes;
    uint32_t n = t->scope_count;
    struct pack *p = &g->pack;

    COLUMN(g, "scope.kind", n, i, pack_add(p, all[i].kind));
    COLUMN(g, "scope.parent", n, i, pack_add(p, tree_scope_parent(t, i) + 1u));
    COLUMN(g, "scope.name", n, i, add_text(g, tree_text(t, all[i].name)));
    COLUMN(g, "scope.shown", n, i, add_text(g, tree_scope_name(t, i, &g->run.arena)));
    COLUMN(g, "scope.file", n, i, add_text(g, tree_text(t, all[i].file)));
    COLUMN(g, "scope.line", n, i, pack_add(p, all[i].line));
    COLUMN(g, "scope.module", n, i, add_text(g, tree_module_name(t, i)));
    COLUMN(g, "scope.owner", n, i, pack_add(p, owner(t, i)));
    COLUMN(g, "scope.entity", n, i, pack_add(p, e->of[i] + 1u));
    COLUMN(g, "entity.scope", e->count, i, pack_add(p, e->scope[i]));
}

static void gather_ids(struct gathering *g)
{
    const struct tree *t = g->run.tree;

    pack_begin(&g->pack, "context.id");
    for (uint32_t c = 0; c < t->context_count; c++)
        if (tree_kind(t, c) != SCOPE_LINE) {
            uint64_t id = tree_context(t, c)->id;
            char bytes[8];

            for (int i = 0; i < 8; i++)
                bytes[i] = (char)(id >> (8 * i));
            str_addn(&g->pack.bytes, bytes, sizeof bytes);
        }
    pack_end(&g->pack);
}

void gather_tree(struct gathering *g)
{
    const struct tree *t = g->run.tree;
    uint32_t n = t->context_count;
    struct pack *p = &g->pack;

    gather_scopes(g);
    str_add(&g->json, "\"kinds\":[");
    for (enum scope_kind k = 0; k < SCOPE_KINDS; k++)
        str_addf(&g->json, "%s\"%s\"", k ? "," : "", scope_kind_name(k));
    str_add(&g->json, "],");
    str_addf(&g->json, "\"contexts\":%u,\"scopes\":%u,\"positions\":%u,\"entities\":%u,", n, t->scope_count,
             t->position_count, run_entities(&g->run)->count);
    COLUMN(g, "context.scope", n, c, pack_add(p, tree_scope_of(t, c)));
    COLUMN(g, "context.size", n, c, pack_add(p, tree_end(t, c) - c));
    COLUMN(g, "context.first", n, c, pack_add_signed(p, (int64_t)tree_first(t, c) - (c ? tree_first(t, c - 1) : 0)));
    COLUMN(g, "context.file", n, c, add_text(g, tree_text(t, tree_context(t, c)->call_file)));
    COLUMN(g, "context.line", n, c, pack_add(p, tree_context(t, c)->call_line));
    gather_ids(g);
}
