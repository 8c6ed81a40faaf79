/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `source of PATTERN`: the lines of a procedure or file in their order, with the text where the database or the disk
 * has it. A line costs what `lines` says: its statements, and the calls made from it.
 */
#include "common/file.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/str.h"
#include "query/tree/keyed.h"
#include "query/views/views.h"
#include <sys/stat.h>
#include <time.h>

enum { SOURCE_MAX = 64 << 20 };

struct text_file {
    const char **lines;
    size_t count;
};

struct doubt {
    const char *first;
    size_t count;
}; /* source files with one and the same problem */

struct listing {
    struct run *run;
    const uint8_t *within; /* [scope] lies in what matched */
    struct keyed groups;   /* by struct at */
    time_t recorded;       /* when the first process began; 0 unknown */
    struct doubt missing, changed;
};

struct at {
    uint32_t file, line;
};

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
                keyed_add(&l->groups, &(struct at){s->file, s->line}, c, MEMBER_BOTH);
            if (calls && (scope_is_called(kind) || kind == SCOPE_INLINE) && x->call_line && parent != HQDB_NONE &&
                l->within[tree_scope_of(t, parent)])
                keyed_add(&l->groups, &(struct at){x->call_file, x->call_line}, c, MEMBER_INCLUSIVE);
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

static void doubt(struct doubt *d, const char *path)
{
    d->first = d->count++ ? d->first : path;
}

/* From the disk; `path` is what it is called in the database. */
static struct text_file read_disk(struct listing *l, const char *file, const char *path)
{
    AUTO_STR struct str text = {0};
    AUTO_ERROR struct hq_error *err = file_read_regular(file, &text, SOURCE_MAX);
    struct stat st;

    if (err) {
        doubt(&l->missing, path);
        return (struct text_file){0};
    }
    if (l->recorded && !stat(file, &st) && st.st_mtime > l->recorded)
        doubt(&l->changed, path);
    return split_lines(l->run, str_cstr(&text), text.len);
}

/* A file below a directory of the source path: under as much of its compiled path as there is. NULL: none. */
static char *find_below(const char *directory, const char *path)
{
    AUTO_FREE char *expanded = file_expand_home(directory);

    for (const char *rest = path; rest; rest = strchr(rest, '/')) {
        rest += strspn(rest, "/");
        char *candidate = file_join(expanded, rest);

        if (file_exists(candidate))
            return candidate;
        free(candidate);
    }
    return NULL;
}

/* From the source path, else the database, else where it was compiled. */
static struct text_file read_text(struct listing *l, uint32_t path)
{
    struct run *run = l->run;
    const char *name = db_string(run->tree->db, path), *data;
    size_t size;

    for (const char *d = query_setting_text(run->env, SETTING_SOURCE_PATH); d && *d;
         d += d[strcspn(d, ":")] ? strcspn(d, ":") + 1 : strcspn(d, ":")) {
        AUTO_FREE char *directory = xstrndup(d, strcspn(d, ":"));
        AUTO_FREE char *found = find_below(directory, name);

        if (found)
            return read_disk(l, found, name);
    }
    data = db_source(run->tree->db, path, &size);
    return data ? split_lines(run, data, size) : read_disk(l, name, name);
}

/* When the first process began, in seconds; 0 if the database does not know. */
static time_t recorded(const struct db *db)
{
    uint64_t first = 0;

    for (size_t i = 0; i < db->profile_count; i++)
        if (db->profiles[i].start_realtime_ns && (!first || db->profiles[i].start_realtime_ns < first))
            first = db->profiles[i].start_realtime_ns;
    return (time_t)(first / 1000000000);
}

static void tell_doubts(const struct listing *l)
{
    const struct doubt *missing = &l->missing, *changed = &l->changed;

    if (missing->count == 1)
        run_note(l->run, "%s is not there, so its lines have no text: --source-path DIR says where else to look",
                 missing->first);
    if (missing->count > 1)
        run_note(l->run,
                 "%zu source files are not there (%s, ...), so their lines have no text: --source-path DIR says where "
                 "else to look",
                 missing->count, missing->first);
    if (changed->count == 1)
        run_note(l->run, "%s was changed after the program was recorded: its lines may be others now", changed->first);
    if (changed->count > 1)
        run_note(
            l->run,
            "%zu source files were changed after the program was recorded (%s, ...): their lines may be others now",
            changed->count, changed->first);
}

static struct node line_node(struct run *run, const struct at *at, struct set inc, struct set exc,
                             const struct text_file *f)
{
    const struct tree *t = run->tree;
    struct node n = {.kind = SCOPE_LINE,
                     .context = HQDB_NONE,
                     .profile = HQDB_NONE,
                     .file = at->file,
                     .line = at->line,
                     .inc = inc,
                     .exc = exc,
                     .leaf = true,
                     .scope = HQDB_NONE};

    n.name = arena_printf(&run->arena, "%s:%u", path_base(tree_text(t, at->file)), at->line);
    if (exc.len)
        n.scope = tree_scope_of(t, exc.data[0]);
    n.id = hash_combine(hash_combine(SCOPE_LINE, hash_str(tree_text(t, at->file))), at->line);
    n.text = at->line <= f->count ? f->lines[at->line - 1] : "";
    return n;
}

struct found {
    struct at at;
    struct set inc, exc;
};

static int by_place(const void *x, const void *y)
{
    const struct found *a = x, *b = y;

    if (a->at.file != b->at.file)
        return a->at.file < b->at.file ? -1 : 1;
    return a->at.line < b->at.line ? -1 : a->at.line > b->at.line;
}

/* A kernel's last line: its cost is all in its first one, since nothing says where in it a device was. */
static uint32_t end_of_kernel(const struct listing *l, const struct at *at, const struct text_file *f)
{
    const struct tree *t = l->run->tree;
    bool is_kernel = false;
    long open = 0;

    for (uint32_t i = 0; i < t->scope_count && !is_kernel; i++)
        is_kernel = l->within[i] && tree_scope(t, i)->kind == SCOPE_DEVICE && tree_scope(t, i)->file == at->file &&
                    tree_scope(t, i)->line == at->line;
    for (uint32_t line = at->line; is_kernel && line <= f->count; line++)
        for (const char *p = f->lines[line - 1]; *p; p++) {
            open += (*p == '{') - (*p == '}');
            if (*p == '}' && open <= 0)
                return line;
        }
    return at->line;
}

/* From the first line of the procedures concerned to the last line that costs something; without text only those that
 * do. */
static void list_file(struct listing *l, const struct found *found, size_t n, uint32_t start, struct nodes *out)
{
    struct run *run = l->run;
    struct text_file f = read_text(l, found[0].at.file);
    uint32_t line = start && start < found[0].at.line ? start : found[0].at.line;
    struct set none = {0};

    for (size_t i = 0; i < n; i++) {
        for (; f.count && line < found[i].at.line && line <= f.count; line++)
            vec_push(out, line_node(run, &(struct at){found[i].at.file, line}, none, none, &f));
        vec_push(out, line_node(run, &found[i].at, found[i].inc, found[i].exc, &f));
        line = found[i].at.line + 1;
        for (uint32_t end = end_of_kernel(l, &found[i].at, &f);
             line <= end && (i + 1 == n || line < found[i + 1].at.line); line++)
            vec_push(out, line_node(run, &(struct at){found[i].at.file, line}, none, none, &f));
    }
}

/* Where the outermost matching procedure of a file starts. */
static uint32_t first_line(const struct listing *l, uint32_t file)
{
    const struct tree *t = l->run->tree;
    uint32_t first = 0;

    for (uint32_t i = 0; i < t->scope_count; i++)
        if (l->run->of.scopes && l->run->of.scopes[i] && tree_scope(t, i)->kind == SCOPE_PROCEDURE &&
            tree_scope(t, i)->file == file && tree_scope(t, i)->line && (!first || tree_scope(t, i)->line < first))
            first = tree_scope(t, i)->line;
    return first;
}

/* Why nothing is listed: what was measured there may have no lines. */
static void tell_nothing(const struct listing *l)
{
    const struct tree *t = l->run->tree;

    for (uint32_t c = 0; c < t->context_count; c++) {
        uint32_t scope = tree_scope_of(t, c);

        if (!l->within[scope] || tree_scope(t, scope)->module == HQDB_NONE)
            continue;
        const char *module = path_base(db_string(t->db, t->db->modules[tree_scope(t, scope)->module].path));

        if (!strcmp(module, HQDB_GENERATED))
            run_unmeasured(l->run, "no line of it is known: of generated code only procedures are");
        else
            run_unmeasured(
                l->run,
                "no line of it is known: %s has no debug information about it (compile with -g, or install its "
                "debug symbols)",
                module);
        return;
    }
    run_note(l->run, "nothing that was measured lies in it");
}

static struct hq_error *source_roots(struct run *run, struct nodes *out)
{
    struct listing l = {.run = run, .within = run_wanted(run, ~0u), .recorded = recorded(run->tree->db)};
    struct set *inc, *exc;
    VEC(struct found) found = {0};

    keyed_init(&l.groups, sizeof(struct at));
    add_lines(&l);
    keyed_sets(&l.groups, &run->arena, &inc, &exc);
    for (uint32_t k = 0; k < l.groups.keys.len; k++)
        vec_push(&found, (struct found){*(const struct at *)keymap_key(&l.groups.keys, k), inc[k], exc[k]});
    vec_sort(&found, by_place);
    for (size_t i = 0, j; i < found.len; i = j) {
        for (j = i + 1; j < found.len && found.data[j].at.file == found.data[i].at.file;)
            j++;
        list_file(&l, found.data + i, j - i, first_line(&l, found.data[i].at.file), out);
    }
    if (!found.len && !run->of.problem)
        tell_nothing(&l);
    tell_doubts(&l);
    keyed_deinit(&l.groups);
    vec_deinit(&found);
    return NULL;
}

const struct view_row view_source = {
    .shape = SHAPE_LIST,
    .of_kinds = KINDS_STATIC & ~KIND_BIT(SCOPE_LINE),
    .row_kinds = KIND_BIT(SCOPE_LINE),
    .beside = "source",
    .in_order = true,
    .roots = source_roots,
};
