/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `source of PATTERN`: the lines of a procedure or file in their order, with the text where the database or the disk has it. A line
 * costs what `lines` says: its statements, and the calls made from it.
 */
#include "common/file.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/str.h"
#include "query/views/groups.h"
#include "query/views/views.h"

enum { SOURCE_MAX = 64 << 20 };

struct text_file { const char **lines; size_t count; };

struct listing {
    struct run *run;
    const uint8_t *within;      /* [scope] lies in what matched */
    struct groups groups;       /* by struct at */
};

struct at { uint32_t file, line; };

static void add_lines(struct listing *l)
{
    struct run *run = l->run;
    const struct tree *t = run->tree;

    for (int calls = 0; calls < 2; calls++)
        for (uint32_t c = 0; c < t->context_count && !run_interrupted(run); c++) {
            const struct hqdb_context *x = tree_context(t, c);
            enum scope_kind kind = tree_kind(t, c);
            uint32_t scope = tree_scope_of(t, c), parent = tree_parent(t, c);
            const struct hqdb_scope *s = tree_scope(t, scope);

            if (!calls && kind == SCOPE_LINE && s->line && l->within[scope])
                groups_add(&l->groups, &(struct at){s->file, s->line}, c, MEMBER_BOTH);
            if (calls && (kind == SCOPE_PROCEDURE || kind == SCOPE_INLINE) && x->call_line && parent != HQDB_NONE &&
                l->within[tree_scope_of(t, parent)] &&
                keymap_find(&l->groups.keys, &(struct at){x->call_file, x->call_line}) != KEYMAP_NONE)
                groups_add(&l->groups, &(struct at){x->call_file, x->call_line}, c, MEMBER_INCLUSIVE);
        }
}

static struct text_file split_lines(struct run *run, const char *data, size_t size)
{
    struct text_file f = {0};

    for (size_t i = 0; i < size; i++)
        f.count += data[i] == '\n';
    f.lines = ARENA_ARRAY(&run->arena, f.count + 2, const char *);
    f.count = 0;
    for (const char *p = data, *end = data + size; p < end;) {
        const char *nl = memchr(p, '\n', (size_t)(end - p)), *stop = nl ? nl : end;

        f.lines[f.count++] = arena_strndup(&run->arena, p, (size_t)(stop - p));
        p = stop + 1;
    }
    return f;
}

/* A file below a directory of the source path: under as much of its compiled path as there is. */
static bool read_below(const char *directory, size_t len, const char *path, struct str *text)
{
    for (const char *rest = path; rest; rest = strchr(rest, '/')) {
        AUTO_FREE char *candidate = NULL;

        rest += strspn(rest, "/");
        candidate = xasprintf("%.*s/%s", (int)len, directory, rest);
        if (!file_exists(candidate))
            continue;
        struct hq_error *err = file_read(candidate, text, SOURCE_MAX);
        hq_error_free(err);
        return !err;
    }
    return false;
}

/* From the source path, else the database, else where it was compiled. */
static struct text_file read_text(struct run *run, uint32_t path)
{
    size_t size;
    const char *name = db_string(run->tree->db, path), *data;
    AUTO_STR struct str text = {0};
    AUTO_ERROR struct hq_error *err = NULL;

    for (const char *d = run->env->source_path; d && *d; d += d[strcspn(d, ":")] ? strcspn(d, ":") + 1 : strcspn(d, ":"))
        if (read_below(d, strcspn(d, ":"), name, &text))
            return split_lines(run, str_cstr(&text), text.len);
    data = db_source(run->tree->db, path, &size);
    if (data)
        return split_lines(run, data, size);
    err = file_read(name, &text, SOURCE_MAX);
    return err ? (struct text_file){0} : split_lines(run, str_cstr(&text), text.len);
}

static struct node line_node(struct run *run, const struct at *at, struct set inc, struct set exc, const struct text_file *f)
{
    const struct tree *t = run->tree;
    struct node n = {.kind = SCOPE_LINE, .context = HQDB_NONE, .profile = HQDB_NONE, .inc = inc, .exc = exc, .leaf = true, .scope = HQDB_NONE};

    n.name = arena_printf(&run->arena, "%s:%u", path_base(tree_text(t, at->file)), at->line);
    if (exc.len)
        n.scope = tree_scope_of(t, exc.data[0]);
    n.id = hash_combine(hash_combine(SCOPE_LINE, hash_str(tree_text(t, at->file))), at->line);
    n.text = at->line <= f->count ? f->lines[at->line - 1] : "";
    return n;
}

struct found { struct at at; struct set inc, exc; };

static int by_place(const void *x, const void *y)
{
    const struct found *a = x, *b = y;

    if (a->at.file != b->at.file)
        return a->at.file < b->at.file ? -1 : 1;
    return a->at.line < b->at.line ? -1 : a->at.line > b->at.line;
}

/* From the first line of the procedures concerned to the last line that costs something; without text only those that do. */
static void list_file(struct run *run, const struct found *found, size_t n, uint32_t start, struct nodes *out)
{
    struct text_file f = read_text(run, found[0].at.file);
    uint32_t line = start && start < found[0].at.line ? start : found[0].at.line;
    struct set none = {0};

    for (size_t i = 0; i < n; i++) {
        for (; f.count && line < found[i].at.line && line <= f.count; line++)
            vec_push(out, line_node(run, &(struct at){found[i].at.file, line}, none, none, &f));
        vec_push(out, line_node(run, &found[i].at, found[i].inc, found[i].exc, &f));
        line = found[i].at.line + 1;
    }
}

/* Where the outermost matching procedure of a file starts. */
static uint32_t first_line(const struct listing *l, uint32_t file)
{
    const struct tree *t = l->run->tree;
    uint32_t first = 0;

    for (uint32_t i = 0; i < t->scope_count; i++)
        if (l->run->of.scopes && l->run->of.scopes[i] && tree_scope(t, i)->kind == SCOPE_PROCEDURE && tree_scope(t, i)->file == file &&
            tree_scope(t, i)->line && (!first || tree_scope(t, i)->line < first))
            first = tree_scope(t, i)->line;
    return first;
}

struct hq_error *source_roots(struct run *run, struct nodes *out)
{
    struct listing l = {.run = run, .within = run_wanted(run, ~0u)};
    struct set *inc, *exc;
    VEC(struct found) found = {0};

    groups_init(&l.groups, sizeof(struct at));
    add_lines(&l);
    groups_sets(&l.groups, &run->arena, &inc, &exc);
    for (uint32_t k = 0; k < l.groups.keys.len; k++)
        vec_push(&found, (struct found){*(const struct at *)keymap_key(&l.groups.keys, k), inc[k], exc[k]});
    vec_sort(&found, by_place);
    for (size_t i = 0, j; i < found.len; i = j) {
        for (j = i + 1; j < found.len && found.data[j].at.file == found.data[i].at.file;)
            j++;
        list_file(run, found.data + i, j - i, first_line(&l, found.data[i].at.file), out);
    }
    if (!found.len && !run->of.problem)
        run_note(run, "nothing that was measured lies in it");
    groups_deinit(&l.groups);
    vec_deinit(&found);
    return NULL;
}
