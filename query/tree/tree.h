/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calling context tree that a query walks: the one in the database as it is, or one made from it in memory (other
 * settings, hide, prune, compare). Views see no difference.
 *
 * Contexts are in preorder: the subtree of c is c .. tree_end(c) - 1. Its values belong to the frame *positions* of
 * tree_range(c). Positions are the frame numbers of the database unless `position` says otherwise. The accessors never
 * read outside the arrays, whatever a damaged file says, and walks along tree_parent end.
 */
#ifndef HQ_QUERY_TREE_H
#define HQ_QUERY_TREE_H

#include "common/intern.h"
#include "db/db.h"

struct tree {
    const struct db *db; /* texts, profiles; not owned */
    const struct hqdb_context *contexts;
    uint32_t context_count;
    const struct hqdb_scope *scopes;
    uint32_t scope_count;
    const uint64_t *scope_index; /* [scope_count + 1] */
    const uint32_t *scope_contexts;
    uint64_t scope_context_count;
    uint32_t position_count;
    uint32_t *position;     /* [db->frame_count] frame -> position; NULL: the same */
    const struct db *old;   /* compare with: the other database; not owned */
    uint32_t *old_position; /* [old->frame_count] */
    struct intern extra;    /* texts that db does not have: numbers from TREE_EXTRA */
    void *owned[4];         /* arrays that end with the tree */
};

#define TREE_EXTRA 0x80000000u

/* The database's own tree. */
void tree_init(struct tree *t, const struct db *db);
void tree_deinit(struct tree *t);

static inline const char *tree_text(const struct tree *t, uint32_t text)
{
    return text >= TREE_EXTRA && t->old ? intern_str(&t->extra, text - TREE_EXTRA) : db_string(t->db, text);
}

static inline const struct hqdb_scope *tree_scope(const struct tree *t, uint32_t scope)
{
    return &t->scopes[scope < t->scope_count ? scope : 0];
}

static inline uint32_t tree_scope_parent(const struct tree *t, uint32_t scope)
{
    uint32_t p = tree_scope(t, scope)->parent;

    return p < scope ? p : HQDB_NONE;
}

static inline const struct hqdb_context *tree_context(const struct tree *t, uint32_t c)
{
    return &t->contexts[c < t->context_count ? c : 0];
}

static inline uint32_t tree_scope_of(const struct tree *t, uint32_t c)
{
    uint32_t s = tree_context(t, c)->scope;

    return s < t->scope_count ? s : 0;
}

static inline enum scope_kind tree_kind(const struct tree *t, uint32_t c)
{
    return t->scopes[tree_scope_of(t, c)].kind;
}

/* True of the scope that stands for hq's own work while the program ran. */
static inline bool tree_is_own_work(const struct tree *t, uint32_t c)
{
    return !strcmp(tree_text(t, tree_scope(t, tree_scope_of(t, c))->name), HQDB_OWN_WORK);
}

/* True of a scope that a team works in: not of a target region, which one thread runs. */
static inline bool tree_has_team(const struct tree *t, uint32_t scope)
{
    const struct hqdb_scope *s = tree_scope(t, scope);

    return s->kind == SCOPE_REGION && s->role != ROLE_TARGET;
}

static inline uint32_t tree_parent(const struct tree *t, uint32_t c)
{
    uint32_t p = tree_context(t, c)->parent;

    return p < c ? p : HQDB_NONE;
}

static inline uint32_t tree_end(const struct tree *t, uint32_t c)
{
    uint32_t end = tree_context(t, c)->end;

    return end <= c ? c + 1 : end < t->context_count ? end : t->context_count;
}

/* The first position of a context, or the end of all for one past the last context. */
static inline uint32_t tree_first(const struct tree *t, uint32_t c)
{
    uint32_t f = c < t->context_count ? t->contexts[c].first_frame : t->position_count;

    return f < t->position_count ? f : t->position_count;
}

static inline struct db_range tree_range(const struct tree *t, uint32_t c)
{
    struct db_range r = {tree_first(t, c), tree_first(t, tree_end(t, c))};

    if (r.last < r.first)
        r.last = r.first;
    return r;
}

/* Further names of a scope: names.len string offsets, none for a scope of the other side of a comparison. */
struct db_list tree_aliases(const struct tree *t, const struct hqdb_scope *s);

/* Contexts of a scope, ascending. */
struct db_list tree_instances(const struct tree *t, uint32_t scope);

/* The nearest ancestor that is a frame of the call path: procedure, inlined procedure, thread or partial root;
 * HQDB_NONE at the top. */
uint32_t tree_caller(const struct tree *t, uint32_t c);

/* The innermost FILE and MODULE scope around a scope, HQDB_NONE if there is none. */
uint32_t tree_enclosing(const struct tree *t, uint32_t scope, enum scope_kind kind);

/* How many loops the procedure around a scope has; 0: none, or not known. */
uint32_t tree_loop_count(const struct tree *t, uint32_t scope);

/* ---- names, in the arena or in the database ---- */

/* The name that a row shows for a scope: procedure name, "loop at file.c:12", "file.c:12", path, ... */
const char *tree_scope_name(const struct tree *t, uint32_t scope, struct arena *arena);
/* The name of a procedure or inlined procedure for the linker, also of the other side of a comparison: it tells apart
 * what looks alike in the source. NULL: not known (db_knows_linkage; nor that of local code of gcc's that was inlined
 * everywhere). */
static inline const char *tree_linkage(const struct tree *t, uint32_t scope)
{
    const char *name = tree_text(t, tree_scope(t, scope)->linkage);

    return *name ? name : NULL;
}
/* The last part of a path. */
const char *path_base(const char *path);
/* The load module of a scope as rows show it: the last part of its path; NULL unknown. */
const char *tree_module_name(const struct tree *t, uint32_t scope);

#endif
