/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/tree/tree.h"

void tree_init(struct tree *t, const struct db *db)
{
    *t = (struct tree){
        .db = db,
        .contexts = db->contexts,
        .context_count = (uint32_t)db->context_count,
        .scopes = db->scopes,
        .scope_count = (uint32_t)db->scope_count,
        .scope_index = db->scope_index,
        .scope_contexts = db->scope_contexts,
        .scope_context_count = db->scope_context_count,
        .position_count = (uint32_t)db->frame_count,
    };
}

void tree_deinit(struct tree *t)
{
    free(t->position);
    free(t->old_position);
    for (size_t i = 0; i < sizeof t->owned / sizeof *t->owned; i++)
        free(t->owned[i]);
    intern_deinit(&t->extra);
    *t = (struct tree){0};
}

struct db_list tree_instances(const struct tree *t, uint32_t scope)
{
    uint64_t from, to;

    if (scope >= t->scope_count)
        return (struct db_list){0};
    from = t->scope_index[scope];
    to = t->scope_index[scope + 1];
    if (to > t->scope_context_count || from > to)
        return (struct db_list){0};
    return (struct db_list){t->scope_contexts + from, to - from};
}

struct db_list tree_aliases(const struct tree *t, const struct hqdb_scope *s)
{
    size_t all = t->db->alias_count, n = s->alias_count;

    if (s->first_alias >= all || s->name >= TREE_EXTRA)
        return (struct db_list){0};
    return (struct db_list){t->db->aliases + s->first_alias, n < all - s->first_alias ? n : all - s->first_alias};
}

static bool is_caller(enum scope_kind kind)
{
    return scope_is_called(kind) || kind == SCOPE_INLINE || kind == SCOPE_THREAD || kind == SCOPE_PARTIAL;
}

uint32_t tree_caller(const struct tree *t, uint32_t c)
{
    while ((c = tree_parent(t, c)) != HQDB_NONE)
        if (is_caller(tree_kind(t, c)))
            return c;
    return HQDB_NONE;
}

uint32_t tree_enclosing(const struct tree *t, uint32_t scope, enum scope_kind kind)
{
    for (; scope != HQDB_NONE; scope = tree_scope_parent(t, scope))
        if (tree_scope(t, scope)->kind == kind)
            return scope;
    return HQDB_NONE;
}

uint32_t tree_loop_count(const struct tree *t, uint32_t scope)
{
    uint32_t procedure = tree_enclosing(t, scope, SCOPE_PROCEDURE);

    return procedure == HQDB_NONE ? 0 : tree_scope(t, procedure)->ordinal;
}

const char *path_base(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

const char *tree_module_name(const struct tree *t, uint32_t scope)
{
    uint32_t module = tree_enclosing(t, scope, SCOPE_MODULE);
    const char *path;

    if (module == HQDB_NONE)
        return NULL;
    path = tree_text(t, tree_scope(t, module)->name);
    return *path ? path_base(path) : NULL;
}

/* Without debug information: the address of a loop, the procedure of a line. */
static const char *unknown_place(const struct tree *t, uint32_t scope, const char *before, struct arena *arena)
{
    uint32_t procedure = tree_enclosing(t, scope, SCOPE_PROCEDURE);
    uint64_t address = tree_scope(t, scope)->address;
    const char *module = tree_module_name(t, scope);

    if (address)
        return arena_printf(arena, "%s%s+0x%llx", before, module ? module : "", (unsigned long long)address);
    if (procedure == HQDB_NONE)
        return arena_printf(arena, "%sunknown line", before);
    return arena_printf(arena, "%sunknown line of %s", before, tree_text(t, tree_scope(t, procedure)->name));
}

/* Where a scope without a name of its own lies. */
static const char *place_name(const struct tree *t, uint32_t scope, const char *before, struct arena *arena)
{
    const struct hqdb_scope *s = tree_scope(t, scope);
    const char *file = path_base(tree_text(t, s->file));

    if (!*file && !s->line)
        return unknown_place(t, scope, before, arena);
    if (!s->line)
        return arena_printf(arena, "%s%s", before, file);
    return arena_printf(arena, "%s%s:%u", before, *file ? file : "?", s->line);
}

const char *tree_scope_name(const struct tree *t, uint32_t scope, struct arena *arena)
{
    const struct hqdb_scope *s = tree_scope(t, scope);
    const char *name = tree_text(t, s->name);

    switch (s->kind) {
    case SCOPE_LOOP: return *name ? name : place_name(t, scope, "loop at ", arena);
    case SCOPE_LINE: return place_name(t, scope, "", arena);
    case SCOPE_ROOT: return *name ? name : "program";
    case SCOPE_MODULE: return *name ? path_base(name) : "unknown module";
    case SCOPE_FILE: return *name ? name : "unknown file";
    default: return *name ? name : "unknown";
    }
}
