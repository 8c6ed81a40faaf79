/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows that would look alike: one name and place in several load modules, as in a database of several recordings. As
 * little is said of their modules as tells them apart: the name, else the path, else the build-id too. In one load
 * module it is their names for the linker. Loops in one line are told by the procedures that they are in (instances of
 * a template, code that was inlined into several), else by their numbers there, with the name for the linker where that
 * alone tells the procedures apart.
 */
#include "common/hash.h"
#include "common/map.h"
#include "common/apart.h"
#include "query/shape/rows.h"

enum { LOOP_NOT, LOOP_HOST, LOOP_NUMBER, LOOP_LINKAGE }; /* what is said of a loop */
enum { HOST_ROOM = 60 };                                 /* columns */

enum apart { APART_NOT, APART_NAME, APART_PATH, APART_BUILD, APART_LEVELS };

static const char *file_text(const char *path)
{
    return path ? path_base(path) : "";
}

/* Returns a hash of what a person sees of a row, and of the row below which it stands (`outer`). */
static uint64_t look_of(const struct row *r, size_t outer)
{
    uint64_t place = hash_combine(hash_str(file_text(r->file)), r->line);
    uint64_t site = hash_combine(hash_str(file_text(r->call_file)), r->call_line);

    if (r->call_file || (outer && r->kind == SCOPE_DEVICE)) /* below a call its own place is not shown */
        place = 0;
    return hash_combine(hash_combine(hash_str(r->name), outer), hash_combine(hash_combine(place, site), r->kind));
}

/* In the table's arena: texts of the other side of a comparison end with the run. */
static const char *module_text(const struct run *run, uint32_t module, enum apart apart)
{
    const struct tree *t = run->tree;
    const struct hqdb_scope *s = tree_scope(t, module);
    const char *path = tree_text(t, s->name), *build = "";

    if (s->module < t->db->module_count)
        build = db_string(t->db, t->db->modules[s->module].build_id);
    if (apart == APART_BUILD && *build)
        return arena_printf(&run->table->arena, "%s, build %.8s", path, build);
    return arena_strdup(&run->table->arena, apart == APART_NAME ? path_base(path) : path);
}

/* Rows that look alike with so much said of their modules need the next level. */
static void raise_level(const struct run *run, const uint32_t *modules, const uint64_t *looks, enum apart *levels,
                        enum apart level)
{
    struct map first = {0};

    for (size_t i = 0; i < run->table->rows.len; i++) {
        uint64_t look = looks[i], known;

        if (modules[i] == HQDB_NONE || levels[i] < level)
            continue;
        if (level > APART_NOT)
            look = hash_combine(look, hash_str(module_text(run, modules[i], level)));
        known = *map_insert(&first, look, i, NULL);
        if (modules[known] != modules[i])
            levels[known] = levels[i] = level + 1;
    }
    map_deinit(&first);
}

/* Rows that look alike in one load module: the linker has different names for them. */
static void tell_linkage(const struct run *run, const struct entries *shown, const uint64_t *looks)
{
    struct map first = {0};

    for (size_t i = 0; i < run->table->rows.len; i++) {
        struct row *r = &run->table->rows.data[i];
        uint32_t scope = shown->data[i]->folded ? HQDB_NONE : shown->data[i]->node.scope;
        const char *own = scope == HQDB_NONE ? NULL : tree_linkage(run->tree, scope);
        bool is_new;

        if (!own)
            continue;
        size_t k = *map_insert(&first, hash_combine(looks[i], hash_str(r->apart ? r->apart : "")), i, &is_new);
        const char *other = tree_linkage(run->tree, shown->data[k]->node.scope);

        if (is_new || !strcmp(own, other))
            continue;
        run->table->rows.data[k].apart = other;
        r->apart = own;
    }
    map_deinit(&first);
}

/* The procedures that loops which look alike are in, in little room, where different ones look different. */
struct hosts {
    struct map index; /* scope -> in shown */
    VEC(struct shown_name) shown;
};

/* Returns what tells a loop: the procedure that it is in, its number there, or that with the name for the linker. */
static const char *loop_text(const struct run *run, const struct hosts *hosts, uint32_t scope, int level)
{
    const struct tree *t = run->tree;
    uint32_t host = level == LOOP_NOT ? HQDB_NONE : tree_enclosing(t, scope, SCOPE_PROCEDURE);
    struct arena *arena = &run->table->arena;

    if (host == HQDB_NONE)
        return "";
    const struct shown_name *name = &hosts->shown.data[*map_find(&hosts->index, host)];
    const char *linkage = level == LOOP_LINKAGE ? tree_linkage(t, host) : NULL;

    if (level == LOOP_HOST)
        return arena_printf(arena, "in %s", name->shown);
    return arena_printf(arena, "loop %u of %s", tree_scope(t, scope)->ordinal,
                        linkage                 ? linkage
                        : level == LOOP_LINKAGE ? name->name
                                                : name->shown);
}

static uint32_t loop_at(const struct entries *shown, size_t i)
{
    const struct entry *e = shown->data[i];

    return e->folded || e->node.kind != SCOPE_LOOP ? HQDB_NONE : e->node.scope;
}

/* Names the procedures of the loops that have a level. */
static void show_hosts(const struct run *run, const struct entries *shown, const uint8_t *levels, struct hosts *out)
{
    for (size_t i = 0; i < run->table->rows.len; i++) {
        uint32_t scope = levels[i] ? loop_at(shown, i) : HQDB_NONE,
                 host = scope == HQDB_NONE ? HQDB_NONE : tree_enclosing(run->tree, scope, SCOPE_PROCEDURE);
        bool is_new;

        if (host == HQDB_NONE)
            continue;
        map_insert(&out->index, host, out->shown.len, &is_new);
        if (is_new)
            vec_push(&out->shown, (struct shown_name){.name = tree_scope_name(run->tree, host, &run->table->arena),
                                                      .room = HOST_ROOM});
    }
    names_show(out->shown.data, out->shown.len, "...");
}

static void tell_loops(const struct run *run, const struct entries *shown, const uint64_t *looks)
{
    size_t n = run->table->rows.len;
    uint8_t *levels = xcalloc(n + 1, 1);
    struct hosts hosts = {0};

    for (int level = LOOP_NOT; level < LOOP_LINKAGE; level++) {
        struct map first = {0};

        for (size_t i = 0; i < n; i++) {
            const char *apart = run->table->rows.data[i].apart;
            uint32_t scope = loop_at(shown, i);
            uint64_t look = hash_combine(looks[i], hash_str(apart ? apart : ""));

            if (scope == HQDB_NONE || levels[i] < level)
                continue;
            look = hash_combine(look, hash_str(loop_text(run, &hosts, scope, level)));
            size_t k = *map_insert(&first, look, i, NULL);
            if (loop_at(shown, k) != scope)
                levels[k] = levels[i] = (uint8_t)(level + 1);
        }
        map_deinit(&first);
        if (level == LOOP_NOT)
            show_hosts(run, shown, levels, &hosts);
    }
    for (size_t i = 0; i < n; i++) {
        struct row *r = &run->table->rows.data[i];
        const char *text = levels[i] ? loop_text(run, &hosts, loop_at(shown, i), levels[i]) : "";

        if (*text)
            r->apart = r->apart ? arena_printf(&run->table->arena, "%s, %s", r->apart, text) : text;
    }
    vec_foreach(name, &hosts.shown)
        free(name->shown);
    vec_deinit(&hosts.shown);
    map_deinit(&hosts.index);
    free(levels);
}

void rows_tell_apart(struct run *run, const struct entries *shown)
{
    struct table *t = run->table;
    size_t n = t->rows.len;
    uint32_t *modules = xmalloc((n + 1) * sizeof *modules);
    uint64_t *looks = xmalloc((n + 1) * sizeof *looks);
    enum apart *levels = xcalloc(n + 1, sizeof *levels);
    VEC(size_t) path = {0};

    for (size_t i = 0; i < n; i++) {
        const struct entry *e = shown->data[i];
        const struct row *r = &t->rows.data[i];

        while (path.len && t->rows.data[vec_last(&path)].depth >= r->depth)
            path.len--;
        looks[i] = look_of(r, path.len ? vec_last(&path) + 1 : 0);
        modules[i] = e->folded || e->node.scope == HQDB_NONE ? HQDB_NONE
                                                             : tree_enclosing(run->tree, e->node.scope, SCOPE_MODULE);
        vec_push(&path, i);
    }
    for (enum apart level = APART_NOT; level + 1 < APART_LEVELS; level++)
        raise_level(run, modules, looks, levels, level);
    for (size_t i = 0; i < n; i++)
        if (levels[i] && !(t->rows.data[i].kind == SCOPE_MODULE && levels[i] == APART_NAME))
            t->rows.data[i].apart = module_text(run, modules[i], levels[i]);
    tell_linkage(run, shown, looks);
    tell_loops(run, shown, looks);
    vec_deinit(&path);
    free(modules);
    free(looks);
    free(levels);
}
