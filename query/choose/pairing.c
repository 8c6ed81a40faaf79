/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/choose/pairing.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/names.h"
#include "common/str.h"
#include "db/runtimes.h"
#include "query/query.h"
#include <string.h>

#define SPELT_SEVERAL UINT32_MAX

/* ---- names as they are spelt ---- */

/* Where the version of a shared library begins: `libm.so.6` -> ".6"; NULL if it is none. */
static const char *library_version(const char *name)
{
    const char *so = strstr(name, ".so");

    return so && (!so[3] || so[3] == '.') ? so + 3 : NULL;
}

/* Code without a name: libm.so.6+0x1000 and libm.so.6.0.1+0x1000 are one file by its two names. */
static uint32_t nameless_code(struct pairing *p, const char *name)
{
    const char *version = library_version(name), *plus = version ? strstr(version, "+0x") : NULL;

    if (!plus || version + strspn(version, ".0123456789") != plus)
        return 0;
    AUTO_FREE char *plain = xasprintf("%.*s%s", (int)(version - name), name, plus);

    return intern_add(&p->texts, plain);
}

uint32_t pairing_module(struct pairing *p, const char *path)
{
    const char *base = path_base(path), *version = library_version(base);
    bool is_version = version && !version[strspn(version, ".0123456789")];

    return is_version ? intern_addn(&p->texts, base, (size_t)(version - base)) : intern_add(&p->texts, base);
}

static uint32_t bare_name(struct pairing *p, const char *name)
{
    struct name_parts parts = name_split(name);

    return intern_addn(&p->texts, parts.name, parts.no_arguments);
}

/* With arguments, without the return type and the marks of copies. */
static uint32_t spelt_name(struct pairing *p, const char *name)
{
    struct name_parts parts = name_split(name);
    const char *clone = memmem(parts.name, parts.length, " [clone", 7);

    return intern_addn(&p->texts, parts.name, clone ? (size_t)(clone - parts.name) : parts.length);
}

/* The one spelling of a name without arguments on a side; 0: it has none. */
static uint32_t spelling(const struct pairing *p, uint32_t bare, bool old)
{
    return (uint32_t)map_get(&p->spellings[old], bare, 0);
}

/* Is what one side spells without arguments what the other spells with them? */
static bool is_one_spelling(const struct pairing *p, uint32_t bare)
{
    uint32_t here = spelling(p, bare, false), old = spelling(p, bare, true);

    return here && old && here != old && here != SPELT_SEVERAL && old != SPELT_SEVERAL && (here == bare || old == bare);
}

uint32_t pairing_name(struct pairing *p, const char *name)
{
    uint32_t code = nameless_code(p, name);

    if (code)
        return code;
    if (p->no_arguments && strchr(name, '('))
        return bare_name(p, name);
    uint32_t bare = bare_name(p, name);

    if (is_one_spelling(p, bare))
        return bare;
    return p->two_tools ? spelt_name(p, name) : intern_add(&p->texts, name);
}

/* ---- what both sides have ---- */

static uint64_t symbol_key(struct pairing *p, const struct tree *t, const struct hqdb_scope *s, uint32_t name)
{
    const char *path = p->modules && s->module < t->db->module_count ? db_string(t->db, t->db->modules[s->module].path)
                                                                     : "";

    /* The program itself may have been built under another name. */
    return hash_combine(name, library_version(path_base(path)) ? pairing_module(p, path) : 0);
}

/* The name of the program that a scope is of; NULL: it is of a library, or that is not known. */
static const char *program_of(const struct pairing *p, const struct tree *t, const struct hqdb_scope *s)
{
    if (!p->modules || p->one_program || s->module >= t->db->module_count)
        return NULL;
    const char *base = path_base(db_string(t->db, t->db->modules[s->module].path));

    return *base == '[' || library_version(base) ? NULL : base;
}

/* Returns what tells a program from the others on both sides: its name, 0 for all that the other side has none like. */
static uint32_t paired_program(struct pairing *p, const char *program, bool old)
{
    uint32_t name = intern_add(&p->texts, program);

    return is_launcher(program) || map_get(&p->programs[!old], name, 0) ? name : 0;
}

static bool is_procedure(const struct hqdb_scope *s)
{
    return s->kind == SCOPE_PROCEDURE || s->kind == SCOPE_INLINE;
}

static void note_spellings(struct pairing *p, const struct tree *t, bool old)
{
    for (uint32_t i = 0; i < t->scope_count; i++) {
        const char *name = tree_text(t, tree_scope(t, i)->name);

        if (!is_procedure(tree_scope(t, i)) || pairing_is_body(name))
            continue;
        uint32_t bare = bare_name(p, name), spelt = spelt_name(p, name), known = spelling(p, bare, old);

        map_put(&p->spellings[old], bare, known && known != spelt ? SPELT_SEVERAL : spelt);
    }
}

static void note_names(struct pairing *p, const struct tree *t, bool old)
{
    for (uint32_t i = 0; i < t->scope_count; i++) {
        const struct hqdb_scope *s = tree_scope(t, i);

        if (s->kind == SCOPE_PROCEDURE)
            map_put(&p->names_of[old], symbol_key(p, t, s, pairing_name(p, tree_text(t, s->name))), 1);
    }
}

static void note_programs(struct pairing *p, const struct tree *t, bool old)
{
    for (uint32_t i = 0; i < t->scope_count; i++) {
        const struct hqdb_scope *s = tree_scope(t, i);
        const char *program = s->kind == SCOPE_PROCEDURE ? program_of(p, t, s) : NULL;

        if (program)
            map_put(&p->programs[old], intern_add(&p->texts, program), 1);
    }
}

/* Names that several programs have, on either side. */
static void note_several(struct pairing *p, const struct tree *const sides[2])
{
    struct map first = {0};

    for (int old = 0; old < 2; old++)
        for (uint32_t i = 0; i < sides[old]->scope_count; i++) {
            const struct hqdb_scope *s = tree_scope(sides[old], i);
            const char *program = s->kind == SCOPE_PROCEDURE ? program_of(p, sides[old], s) : NULL;
            bool is_new;

            if (!program)
                continue;
            uint32_t name = pairing_name(p, tree_text(sides[old], s->name)), of = paired_program(p, program, old);

            if (*map_insert(&first, name, of, &is_new) != of)
                map_put(&p->several, name, 1);
        }
    map_deinit(&first);
}

/*
 * Returns the text that tells procedures of one name apart: the linkage name and, for static procedures, the file.
 * Linkage names are left out for constructors, which have several, and lose the hash that rustc appends, which changes
 * from build to build.
 */
static uint32_t telling_of(struct pairing *p, const struct tree *t, const struct hqdb_scope *s)
{
    const char *linkage = name_is_structor(tree_text(t, s->name)) ? "" : tree_text(t, s->linkage);
    size_t n = strlen(linkage);
    bool rust = n > 20 && str_begins(linkage + n - 20, "17h") && linkage[n - 1] == 'E';
    AUTO_FREE char *text = xasprintf("%.*s\1%s", (int)(rust ? n - 20 : n), linkage, path_base(tree_text(t, s->file)));

    return intern_add(&p->texts, text);
}

/* Names that two procedures of this side have: they differ in what the linker calls them, or in their files. */
static void note_alike(struct pairing *p, const struct tree *t)
{
    struct map first = {0};

    for (uint32_t i = 0; i < t->scope_count; i++) {
        const struct hqdb_scope *s = tree_scope(t, i);
        bool is_new;

        if (!is_procedure(s) || !*tree_text(t, s->linkage))
            continue;
        uint32_t name = pairing_name(p, tree_text(t, s->name)), telling = telling_of(p, t, s);

        if (*map_insert(&first, name, telling, &is_new) != telling)
            map_put(&p->alike, name, 1);
    }
    map_deinit(&first);
}

void pairing_init(struct pairing *p, const struct tree *const sides[2])
{
    p->modules = sides[0]->db->module_count && sides[1]->db->module_count;
    for (int old = 0; old < 2; old++)
        note_spellings(p, sides[old], old);
    for (int old = 0; old < 2; old++)
        note_names(p, sides[old], old);
    for (int old = 0; old < 2; old++)
        note_alike(p, sides[old]);
    for (int old = 0; old < 2; old++)
        note_programs(p, sides[old], old);
    note_several(p, sides);
}

void pairing_deinit(struct pairing *p)
{
    intern_deinit(&p->texts);
    map_deinit(&p->alike);
    map_deinit(&p->several);
    map_deinit(&p->shown);
    for (int old = 0; old < 2; old++) {
        map_deinit(&p->names_of[old]);
        map_deinit(&p->spellings[old]);
        map_deinit(&p->programs[old]);
    }
}

/* ---- procedures ---- */

/* A symbol may have several names (write, __write), of which two tools choose different ones: the one that the other
 * side has in that load module. */
static uint32_t shared_name_of(struct pairing *p, const struct tree *t, const struct hqdb_scope *s, bool old)
{
    uint32_t name = pairing_name(p, tree_text(t, s->name));
    struct db_list aliases = {0};

    if (s->alias_count && !map_get(&p->names_of[!old], symbol_key(p, t, s, name), 0))
        aliases = tree_aliases(t, s);
    for (size_t i = 0; i < aliases.len; i++) {
        uint32_t other = pairing_name(p, db_string(t->db, aliases.data[i]));
        uint64_t key = symbol_key(p, t, s, other);

        if (map_get(&p->names_of[!old], key, 0) && !map_get(&p->names_of[old], key, 0))
            return other;
    }
    return name;
}

uint32_t pairing_procedure(struct pairing *p, const struct tree *t, const struct hqdb_scope *s, bool old)
{
    uint32_t name = shared_name_of(p, t, s, old), key = name, of;
    const char *program = map_get(&p->several, name, 0) ? program_of(p, t, s) : NULL;

    if (*tree_text(t, s->linkage) && !p->no_linkage && map_get(&p->alike, name, 0))
        key = telling_of(p, t, s);
    of = program ? paired_program(p, program, old) : 0;
    if (of) {
        AUTO_FREE char *text = xasprintf("%s\2%s", intern_str(&p->texts, key), intern_str(&p->texts, of));
        key = intern_add(&p->texts, text);
    }
    if (key != name)
        map_put(&p->shown, key, name);
    return key;
}

const char *pairing_shown(const struct pairing *p, uint32_t procedure)
{
    return intern_str(&p->texts, (uint32_t)map_get(&p->shown, procedure, procedure));
}

uint32_t *pairing_procedures(struct pairing *p, const struct tree *t, bool old)
{
    uint32_t *names = xcalloc((size_t)t->scope_count + 1, sizeof *names);

    for (uint32_t i = 0; i < t->scope_count; i++)
        if (is_procedure(tree_scope(t, i)))
            names[i] = pairing_procedure(p, t, tree_scope(t, i), old);
    for (uint32_t i = 0; i < t->scope_count; i++) {
        uint32_t host = tree_scope(t, i)->kind == SCOPE_LOOP ? tree_enclosing(t, i, SCOPE_PROCEDURE) : HQDB_NONE;

        if (host != HQDB_NONE)
            names[i] = names[host];
    }
    return names;
}

/* ---- bodies of parallel regions ---- */

static size_t home_length(const char *name)
{
    const char *gcc = strstr(name, "._omp_fn."), *clang = strstr(name, ".omp_outlined");

    return gcc ? (size_t)(gcc - name) : clang ? (size_t)(clang - name) : 0;
}

bool pairing_is_body(const char *name)
{
    return strstr(name, "._omp_fn.") || strstr(name, ".omp_outlined");
}

bool pairing_is_nameless_body(const char *name)
{
    return *name == '.' && pairing_is_body(name);
}

uint32_t pairing_home(struct pairing *p, const char *body)
{
    AUTO_FREE char *home = xstrndup(body, home_length(body));
    size_t n = strlen(home);

    if (n > 8 && !strcmp(home + n - 7, "[clone "))
        home[n - 8] = '\0';
    if (!*home || *home == '.')
        return 0;
    uint32_t bare = bare_name(p, home);

    /* The procedure may be known without arguments, by its debug information, on either side. */
    if (spelling(p, bare, false) == bare || spelling(p, bare, true) == bare)
        return bare;
    return pairing_name(p, home);
}
