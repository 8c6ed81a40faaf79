/* SPDX-License-Identifier: BSD-3-Clause */
/* Procedures as people count them, and what a static list means by `of PATTERN`. */
#include "common/hash.h"
#include "common/map.h"
#include "common/names.h"
#include "query/tree/keyed.h"
#include "query/views/views.h"

struct entity_key {
    uint32_t name, file, module, linkage;
};

/* Procedures of one name and place that the linker has different names for: instances of a template over lambdas. */
struct alike {
    uint32_t linkage; /* the first that is known, 0: none */
    bool several;
};

struct alikes {
    struct keymap keys;
    VEC(struct alike) list;
};

static struct entity_key alike_key(const struct hqdb_scope *s)
{
    return (struct entity_key){s->name, s->file, s->module, 0};
}

static bool is_procedure(const struct hqdb_scope *s)
{
    return scope_is_called(s->kind) || s->kind == SCOPE_INLINE;
}

static void alikes_find(const struct tree *t, struct alikes *out)
{
    keymap_init(&out->keys, sizeof(struct entity_key));
    for (uint32_t i = 0; i < t->scope_count; i++) {
        const struct hqdb_scope *s = &t->scopes[i];
        struct entity_key key = alike_key(s);
        bool is_new;

        if (!is_procedure(s))
            continue;
        struct alike *a;
        uint32_t index = keymap_add(&out->keys, &key, &is_new);
        if (is_new)
            vec_push(&out->list, (struct alike){0});
        a = &out->list.data[index];
        if (!tree_linkage(t, i) || a->several)
            continue;
        a->several = a->linkage && a->linkage != s->linkage && !name_is_structor(tree_text(t, s->name));
        a->linkage = s->linkage;
    }
}

const struct entities *run_entities(struct run *run)
{
    const struct tree *t = run->tree;
    struct entities *e;
    struct keymap keys;
    struct alikes alikes = {0};

    if (run->entities)
        return run->entities;
    alikes_find(t, &alikes);
    e = run->entities = ARENA_NEW(&run->arena, struct entities);
    e->of = ARENA_ARRAY(&run->arena, t->scope_count, uint32_t);
    e->scope = ARENA_ARRAY(&run->arena, t->scope_count, uint32_t);
    keymap_init(&keys, sizeof(struct entity_key));
    for (uint32_t i = 0; i < t->scope_count; i++) {
        const struct hqdb_scope *s = &t->scopes[i];
        bool is_new;

        e->of[i] = HQDB_NONE;
        if (!is_procedure(s))
            continue;
        struct entity_key key = alike_key(s);
        if (alikes.list.data[keymap_find(&alikes.keys, &key)].several)
            key.linkage = s->linkage;
        e->of[i] = keymap_add(&keys, &key, &is_new);
        if (is_new || (s->kind == SCOPE_PROCEDURE && t->scopes[e->scope[e->of[i]]].kind != SCOPE_PROCEDURE &&
                       tree_instances(t, i).len))
            e->scope[e->of[i]] = i;
    }
    e->count = keys.len;
    keymap_deinit(&keys);
    keymap_deinit(&alikes.keys);
    vec_deinit(&alikes.list);
    return e;
}

static uint64_t entity_id(const struct tree *t, uint32_t scope)
{
    const struct hqdb_scope *s = tree_scope(t, scope);
    const char *module = tree_module_name(t, scope);

    return hash_combine(hash_combine(hash_str(tree_text(t, s->name)), hash_str(tree_text(t, s->file))),
                        hash_str(module ? module : ""));
}

/* Procedures of one name and place that the linker tells apart have ids of their own. */
static void tell_ids_apart(const struct tree *t, struct node *nodes, size_t n)
{
    struct map first = {0};
    uint8_t *alike = xcalloc(n + 1, 1);

    for (size_t i = 0; i < n; i++) {
        size_t k = *map_insert(&first, nodes[i].id, i, NULL);

        alike[k] |= k != i;
        alike[i] |= k != i;
    }
    for (size_t i = 0; i < n; i++)
        if (alike[i])
            nodes[i].id = hash_combine(nodes[i].id, hash_str(tree_text(t, tree_scope(t, nodes[i].scope)->linkage)));
    free(alike);
    map_deinit(&first);
}

void entity_nodes(struct run *run, const uint8_t *wanted, struct nodes *out)
{
    const struct tree *t = run->tree;
    const struct entities *e = run_entities(run);
    size_t before = out->len;
    uint32_t *scopes = xcalloc(e->count + 1, sizeof *scopes), *first = xmalloc((e->count + 1) * sizeof *first);
    struct keyed g;
    struct set *inc, *exc;

    keyed_init(&g, sizeof(uint32_t));
    for (uint32_t i = 0; i < t->scope_count; i++)
        if (e->of[i] != HQDB_NONE && (!wanted || wanted[i]) && tree_instances(t, i).len) {
            if (!scopes[e->of[i]]++)
                first[e->of[i]] = i;
        }
    for (uint32_t i = 0; i < t->scope_count; i++) {
        struct db_list l = tree_instances(t, i);
        uint32_t entity = e->of[i];

        if (entity == HQDB_NONE || (wanted && !wanted[i]) || !l.len || run_interrupted(run))
            continue;
        if (scopes[entity] == 1) {
            /* The usual case costs nothing: the index is the set. */
            struct node n = node_of_set(t, i, (struct set){l.data, l.len});

            n.id = entity_id(t, i);
            vec_push(out, n);
            continue;
        }
        for (size_t k = 0; k < l.len; k++)
            keyed_add(&g, &entity, l.data[k], MEMBER_BOTH);
    }
    keyed_sets(&g, &run->arena, &inc, &exc);
    for (uint32_t k = 0; k < g.keys.len; k++) {
        uint32_t entity = *(const uint32_t *)keymap_key(&g.keys, k);
        uint32_t scope = wanted && !wanted[e->scope[entity]] ? first[entity] : e->scope[entity];
        struct node n = node_of_set(t, scope, inc[k]);

        n.id = entity_id(t, scope);
        vec_push(out, n);
    }
    tell_ids_apart(t, out->data + before, out->len - before);
    keyed_deinit(&g);
    free(scopes);
    free(first);
}

/* Marks the procedures that have a scope which matched: their inlined copies are other scopes than they. */
static uint8_t *entities_wanted(struct run *run, const uint8_t *within)
{
    const struct entities *e = run_entities(run);
    uint8_t *wanted = xcalloc(e->count + 1, 1);

    for (uint32_t i = 0; i < run->tree->scope_count; i++)
        if (e->of[i] != HQDB_NONE && (within[i] || (run->of.scopes && run->of.scopes[i])))
            wanted[e->of[i]] = 1;
    return wanted;
}

/* A region stands below the procedure that it is written in, also where that was inlined and has no samples itself. */
const uint8_t *run_wanted(struct run *run, unsigned kinds)
{
    const struct tree *t = run->tree;
    AUTO_FREE uint8_t *entities = NULL;
    uint8_t *within;

    if (!run->query->view.of)
        return NULL;
    within = ARENA_ARRAY(&run->arena, t->scope_count, uint8_t);
    if (!run->of.scopes)
        for (size_t i = 0; i < run->of.context_count; i++)
            within[tree_scope_of(t, run->of.contexts[i])] = 1;
    entities = entities_wanted(run, within);
    for (uint32_t i = 0; i < t->scope_count; i++) {
        uint32_t parent = tree_scope_parent(t, i), home = parent == HQDB_NONE ? HQDB_NONE : run->entities->of[parent];

        if ((run->of.scopes && run->of.scopes[i]) || (parent != HQDB_NONE && within[parent]) ||
            (t->scopes[i].kind == SCOPE_REGION && home != HQDB_NONE && entities[home]))
            within[i] = 1;
    }
    for (uint32_t i = 0; i < t->scope_count; i++)
        if (!(kinds & KIND_BIT(t->scopes[i].kind)))
            within[i] = 0;
    return within;
}
