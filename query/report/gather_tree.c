/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree of a page: static scopes with their names as rows show them, and the contexts in preorder. */
#include "common/hash.h"
#include "common/map.h"
#include "common/mem.h"
#include "common/names.h"
#include "query/output.h"
#include "common/apart.h"
#include "query/pattern/families.h"
#include "query/picture/palette.h"
#include "query/report/gather.h"
#include "query/shape/loop_lines.h"
#include "query/views/views.h"
#include <string.h>

enum { ID_DIGITS = TABLE_ID_TEXT - 1 };

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

/* Is it called something long? Places and paths are no names of procedures. */
static bool has_long_name(const struct tree *t, uint32_t scope)
{
    enum scope_kind kind = tree_scope(t, scope)->kind;

    return kind != SCOPE_FILE && kind != SCOPE_MODULE && kind != SCOPE_LINE && kind != SCOPE_LOOP && kind != SCOPE_ROOT;
}

/* The name of a scope; of what stands for calls that were cut, what the page says. */
static const char *shown(struct gathering *g, uint32_t scope)
{
    return scope == g->left_scope ? "[smaller calls, left out]" : tree_scope_name(g->run.tree, scope, &g->run.arena);
}

/* Gathers the names that are drawn where there is little room: they are short and still differ; whole with `set names
 * full`. */
static void gather_short_names(struct gathering *g)
{
    const struct tree *t = g->run.tree;
    uint32_t n = t->scope_count, count = 0;
    bool full = query_setting(g->env, SETTING_NAMES) == NAMES_FULL;
    struct shown_name *names = xcalloc(n + 1, sizeof *names);

    for (uint32_t i = 0; i < n; i++)
        if (has_long_name(t, i))
            names[count++] = (struct shown_name){.name = shown(g, i), .room = full ? SIZE_MAX : NAME_SHORT};
    names_show(names, count, "\xe2\x80\xa6");
    pack_begin(&g->pack, "scope.short");
    count = 0;
    for (uint32_t i = 0; i < n; i++)
        add_text(g, has_long_name(t, i) ? names[count++].shown : shown(g, i));
    pack_end(&g->pack);
    for (uint32_t i = 0; i < count; i++)
        free(names[i].shown);
    free(names);
}

/* Gathers the texts that tell procedures of one name and place apart: their linkage names, else their load modules. */
static void gather_apart(struct gathering *g)
{
    const struct tree *t = g->run.tree;
    struct map first = {0};
    uint32_t n = t->scope_count;
    const char **apart = xcalloc(n + 1, sizeof *apart);

    for (uint32_t i = 0; i < n; i++) {
        const struct hqdb_scope *s = tree_scope(t, i);
        bool is_new;

        if (s->kind != SCOPE_PROCEDURE && s->kind != SCOPE_INLINE)
            continue;
        uint64_t look = hash_combine(hash_str(tree_scope_name(t, i, &g->run.arena)),
                                     hash_str(path_base(tree_text(t, s->file))));
        uint32_t k = (uint32_t)*map_insert(&first, hash_combine(look, s->line), i, &is_new);
        const char *own = tree_linkage(t, i), *other = tree_linkage(t, k);

        if (!own || !other || !strcmp(own, other)) {
            own = tree_module_name(t, i);
            other = tree_module_name(t, k);
        }
        if (is_new || !own || !other || !strcmp(own, other))
            continue;
        apart[k] = other;
        apart[i] = own;
    }
    COLUMN(g, "scope.apart", n, i, add_text(g, apart[i]));
    free(apart);
    map_deinit(&first);
}

/* As patterns take a name besides (name_is): without what it returns, or without its arguments too. */
static const char *part_of(struct gathering *g, const char *name, bool bare)
{
    if (!strpbrk(name, "(."))
        return name;
    struct name_parts p = name_split(name);

    return arena_strndup(&g->run.arena, p.name, bare ? p.no_arguments : p.length);
}

/* The other names of a scope: as they are, for regular expressions; or as words name them, each also by its parts, but
 * not those of members without their class (query/pattern/pattern.c). */
static void add_aliases(struct gathering *g, const struct hqdb_scope *scope, bool words)
{
    const struct tree *t = g->run.tree;
    struct db_list names = tree_aliases(t, scope);
    const char *own = tree_text(t, scope->name), *separator = "";

    str_addc(&g->json, '[');
    for (size_t i = 0; i < names.len; i++) {
        const char *name = db_string(gather_db(g), names.data[i]);
        const char *forms[] = {name, part_of(g, name, false), part_of(g, name, true)};

        if (words && strchr(own, ':') && name_ends(own, name))
            continue;
        for (int form = 0; form < (words && forms[1] != name ? 3 : 1); form++, separator = ",") {
            str_add(&g->json, separator);
            json_quote(&g->json, forms[form]);
        }
    }
    str_addc(&g->json, ']');
}

/* [[scope, [name, ...], [word, ...]], ...] */
static void gather_aliases(struct gathering *g)
{
    const struct tree *t = g->run.tree;
    const char *separator = "";

    str_add(&g->json, "\"aliases\":[");
    for (uint32_t s = 0; s < t->scope_count; s++) {
        const struct hqdb_scope *scope = tree_scope(t, s);

        if (!tree_aliases(t, scope).len)
            continue;
        str_addf(&g->json, "%s[%u,", separator, s);
        add_aliases(g, scope, false);
        str_addc(&g->json, ',');
        add_aliases(g, scope, true);
        str_addc(&g->json, ']');
        separator = ",";
    }
    str_add(&g->json, "],");
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
    COLUMN(g, "scope.whole", n, i, add_text(g, part_of(g, tree_text(t, all[i].name), false)));
    COLUMN(g, "scope.bare", n, i, add_text(g, part_of(g, tree_text(t, all[i].name), true)));
    COLUMN(g, "scope.shown", n, i, add_text(g, shown(g, i)));
    gather_short_names(g);
    gather_apart(g);
    COLUMN(g, "scope.file", n, i, add_text(g, tree_text(t, all[i].file)));
    COLUMN(g, "scope.line", n, i, pack_add(p, all[i].line));
    COLUMN(g, "scope.inferred", n, i, pack_add(p, loop_lines_is_inferred(loop_lines_basis(t, i))));
    COLUMN(g, "scope.role", n, i,
           pack_add(p, all[i].kind == SCOPE_PROCEDURE || all[i].kind == SCOPE_REGION ? all[i].role : ROLE_NONE));
    COLUMN(g, "scope.module", n, i, add_text(g, tree_module_name(t, i)));
    AUTO_FREE struct tint *tints = tints_of_scopes(g->env, t);

    COLUMN(g, "scope.owner", n, i, pack_add(p, tints[i].family + 8u * tints[i].shade));
    COLUMN(g, "scope.entity", n, i, pack_add(p, i == g->left_scope ? 0 : e->of[i] + 1u));
    COLUMN(g, "entity.scope", e->count, i, pack_add(p, e->scope[i]));
}

static int by_id(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* So many digits of an id tell it from all others of the tree; the first one has 4 bits, the others 5. */
static unsigned digits_of(const struct tree *t)
{
    AUTO_FREE uint64_t *ids = xmalloc(((size_t)t->context_count + 1) * sizeof *ids);
    unsigned digits = 6;

    for (uint32_t c = 0; c < t->context_count; c++)
        ids[c] = tree_context(t, c)->id;
    qsort(ids, t->context_count, sizeof *ids, by_id);
    for (uint32_t c = 1; c < t->context_count; c++)
        while (digits < ID_DIGITS && ids[c] != ids[c - 1] && !((ids[c] ^ ids[c - 1]) >> (65 - 5 * digits)))
            digits++;
    return digits;
}

static void gather_ids(struct gathering *g)
{
    const struct tree *t = g->run.tree;

    if (!g->id_digits) /* of the whole tree, as hq looks for it there */
        g->id_digits = digits_of(t);
    unsigned bytes = (5 * g->id_digits - 1 + 7) / 8;

    str_addf(&g->json, "\"idDigits\":%u,", g->id_digits);
    pack_begin(&g->pack, "context.id");
    for (uint32_t c = 0; c < t->context_count; c++)
        for (unsigned i = 0; tree_kind(t, c) != SCOPE_LINE && i < bytes; i++)
            str_addc(&g->pack.bytes, (char)(tree_context(t, c)->id >> (56 - 8 * i)));
    pack_end(&g->pack);
}

void gather_tree(struct gathering *g)
{
    const struct tree *t = g->run.tree;
    uint32_t n = t->context_count;
    struct pack *p = &g->pack;

    gather_scopes(g);
    gather_aliases(g);
    str_add(&g->json, "\"kinds\":[");
    for (enum scope_kind k = 0; k < SCOPE_KINDS; k++)
        str_addf(&g->json, "%s\"%s\"", k ? "," : "", scope_kind_name(k));
    str_add(&g->json, "],");
    str_addf(&g->json, "\"left\":%d,", g->left_scope == HQDB_NONE ? -1 : (int)g->left_scope);
    str_addf(&g->json, "\"contexts\":%u,\"scopes\":%u,\"positions\":%u,\"entities\":%u,", n, t->scope_count,
             t->position_count, run_entities(&g->run)->count);
    COLUMN(g, "context.scope", n, c, pack_add(p, tree_scope_of(t, c)));
    COLUMN(g, "context.size", n, c, pack_add(p, tree_end(t, c) - c));
    COLUMN(g, "context.first", n, c, pack_add_signed(p, (int64_t)tree_first(t, c) - (c ? tree_first(t, c - 1) : 0)));
    COLUMN(g, "context.file", n, c, add_text(g, tree_text(t, tree_context(t, c)->call_file)));
    COLUMN(g, "context.line", n, c, pack_add(p, tree_context(t, c)->call_line));
    gather_ids(g);
}
