/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/grammar_random.h"
#include "common/arena.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/vec.h"
#include "query/grammar/words.h"
#include "tests/unit/grammar_cases.h"
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>

enum node_kind { NODE_TERMINAL, NODE_KEYWORD, NODE_NAME, NODE_SEQUENCE, NODE_CHOICE, NODE_OPTION, NODE_REPEAT };

struct node {
    enum node_kind kind;
    const char *text;
    struct node **kids;
    size_t count;
};

struct production {
    const char *name;
    struct node *node;
};

struct grammar {
    struct arena arena;
    VEC(struct production) productions;
};

uint64_t random_next(uint64_t *state)
{
    return hash_u64(++*state);
}

uint32_t random_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)(random_next(state) % n);
}

/* ---- reading ---- */

struct reader {
    struct grammar *g;
    const char *at;
};

static void die(const char *what, const char *where)
{
    fprintf(stderr, "grammar: %s: %.60s\n", what, where);
    exit(1);
}

static struct node *new_node(struct reader *r, enum node_kind kind)
{
    struct node *n = ARENA_NEW(&r->g->arena, struct node);

    n->kind = kind;
    return n;
}

static void add_kid(struct reader *r, struct node *n, struct node *kid)
{
    struct node **kids = ARENA_ARRAY(&r->g->arena, n->count + 1, struct node *);

    if (n->count)
        memcpy(kids, n->kids, n->count * sizeof *kids);
    kids[n->count++] = kid;
    n->kids = kids;
}

static void skip(struct reader *r)
{
    while (*r->at == ' ')
        r->at++;
}

static struct node *read_choice(struct reader *r);

static struct node *read_enclosed(struct reader *r, enum node_kind kind, char close)
{
    struct node *n = new_node(r, kind);

    r->at++;
    add_kid(r, n, read_choice(r));
    skip(r);
    if (*r->at != close)
        die("a bracket is not closed", r->at);
    r->at++;
    return n;
}

static struct node *read_word(struct reader *r)
{
    bool quoted = *r->at == '"';
    size_t n = quoted ? strcspn(r->at + 1, "\"")
                      : strspn(r->at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-");
    struct node *node = new_node(r, quoted ? NODE_KEYWORD : isupper((unsigned char)*r->at) ? NODE_TERMINAL : NODE_NAME);

    if (!n)
        die("something else than a word", r->at);
    node->text = arena_strndup(&r->g->arena, r->at + quoted, n);
    r->at += n + 2 * quoted;
    return node;
}

static struct node *read_sequence(struct reader *r)
{
    struct node *n = new_node(r, NODE_SEQUENCE);

    for (skip(r); *r->at && !strchr("|)]}", *r->at); skip(r))
        add_kid(r, n,
                *r->at == '('   ? read_enclosed(r, NODE_SEQUENCE, ')')
                : *r->at == '[' ? read_enclosed(r, NODE_OPTION, ']')
                : *r->at == '{' ? read_enclosed(r, NODE_REPEAT, '}')
                                : read_word(r));
    return n;
}

static struct node *read_choice(struct reader *r)
{
    struct node *n = new_node(r, NODE_CHOICE);

    add_kid(r, n, read_sequence(r));
    while (*r->at == '|') {
        r->at++;
        add_kid(r, n, read_sequence(r));
    }
    return n;
}

static const struct node *find(const struct grammar *g, const char *name)
{
    vec_foreach(p, &g->productions)
        if (!strcmp(p->name, name))
            return p->node;
    return NULL;
}

static void check_names(const struct grammar *g, const struct node *n)
{
    if (n->kind == NODE_NAME && !find(g, n->text))
        die("no production", n->text);
    for (size_t i = 0; i < n->count; i++)
        check_names(g, n->kids[i]);
}

static void load_production(struct grammar *g, char *line)
{
    char *equals = strstr(line, " = "), *note = equals ? strstr(equals, "        ") : NULL;
    struct reader r = {.g = g};

    if (!equals)
        die("no production", line);
    *equals = '\0';
    if (note)
        *note = '\0';
    r.at = equals + 3;
    vec_push(&g->productions, (struct production){arena_strdup(&g->arena, line), read_choice(&r)});
    if (*r.at)
        die("not understood", r.at);
}

/* Lines that go on are joined first. */
struct grammar *grammar_load(const char *text)
{
    struct grammar *g = xcalloc(1, sizeof *g);
    struct str line = {0};

    while (*text) {
        size_t n = strcspn(text, "\n");
        const char *behind = text + n + (text[n] == '\n');

        for (; n && line.len && *text == ' '; n--)
            text++;
        str_addf(&line, "%s%.*s", line.len ? " " : "", (int)n, text);
        text = behind;
        if (*text != ' ' && line.len) {
            load_production(g, line.s);
            str_clear(&line);
        }
    }
    str_deinit(&line);
    vec_foreach(p, &g->productions)
        check_names(g, p->node);
    return g;
}

void grammar_free(struct grammar *g)
{
    arena_deinit(&g->arena);
    vec_deinit(&g->productions);
    free(g);
}

/* ---- writing ---- */

/* `inside` is a production in which the terminal has samples of its own, or NULL. */
static const struct {
    const char *terminal, *inside;
    const char *samples[8];
} terminals[] = {
    {"NAME", "pattern", {"main", "MPI_*", "*", "~Foo", "a.b", "limit", "x$y"}},
    {"NAME", "group-pattern", {"main", "MPI_*", "files", "lines", "group", "loops"}},
    {"NAME", "group-name", {"solver", "files", "of", "group"}},
    {"NAME", "output", {"csv", "json", "Table"}},
    {"NAME", NULL, {"cputime", "flops", "perf::cycles", "waste", "X"}},
    {"NUMBER", "factor", {"2", "0.5", "1e3", "50%"}},
    {"NUMBER", NULL, {"3", "1.5s", "4K", "2MiB", "10%", "1e6", "7us"}},
    {"PERCENT", NULL, {"5%", "30%", "0.1%", "100%"}},
    {"TIME", NULL, {"1.5s", "200ms", "0", "2min"}},
    {"DIGITS", NULL, {"1", "2", "12"}},
    {"ID", NULL, {"k3f9x2", "abcdefghijkl2"}},
    {"STRING", NULL, {"\"x y\"", "'it'", "\"std::vector<int>\"", "\"a\\\"b\"", "'\\d'"}},
    {"REGEX", NULL, {"/^MPI/", "/a\\/b/i", "/[x]+/"}},
    {"FILE", NULL, {"a/b.hq", "x.csv", "../old"}},
    {"FUNCTION", NULL, {"sum", "max", "if", "SQRT", "imbalance"}},
    {"ATTRIBUTE", NULL, {"name", "kind", "file", "depth", "callsite", "group"}},
    {"PARAMETER", "percent", {"{{a=5%}}"}},
    {"PARAMETER", "instant", {"{{a=20%}}", "{{b=1.5s}}"}},
    {"PARAMETER", "slices", {"{{a=10%..20%}}", "{{b=main}}"}},
    {"PARAMETER", "factor", {"{{a=2}}", "{{a=1/2}}"}},
    {"PARAMETER", "count", {"{{a=3}}"}},
    {"PARAMETER", "ranges", {"{{a=0-3,7}}"}},
    {"PARAMETER", NULL, {"{{a=cycles}}", "{{b=main}}", "{{c=x}}"}},
};

struct writer {
    const struct grammar *g;
    uint64_t *state;
    struct str *out;
    const char *production;
    enum setting setting; /* that was written last */
    int depth;
    bool glue;
};

/* What belongs together without white space: $1, #3, @id, cputime.x */
static void put(struct writer *w, const char *text)
{
    bool dot = !strcmp(text, ".");

    if (w->out->len && !w->glue && !dot)
        str_addc(w->out, ' ');
    str_add(w->out, text);
    w->glue = dot || !strcmp(text, "$") || !strcmp(text, "#") || !strcmp(text, "@");
}

/* The names of the views that have productions of no other kind; NULL for another terminal. */
static const char *view_name(const char *terminal, uint64_t *state)
{
    static const char *const kinds[] = {[OF_NONE] = "VIEW-ALONE", [OF_OPTIONAL] = "VIEW", [OF_REQUIRED] = "VIEW-OF"};
    const char *names[64];
    uint32_t n = 0;

    for (int i = 0; i < VIEW_KINDS && n < 60; i++) {
        const struct view_word *v = &view_words[i];

        if (strcmp(kinds[v->of], terminal) || !strncmp(v->name, "trace", 5) || i == VIEW_EXPLAIN || i == VIEW_PHASES ||
            i == VIEW_FLAT || i == VIEW_GROUPS || i == VIEW_FOLD || i == VIEW_ROUTINES || i == VIEW_CLUSTERS)
            continue;
        names[n++] = v->name;
        for (int k = 0; k < 3 && v->others[k]; k++)
            names[n++] = v->others[k];
    }
    return n ? names[random_below(state, n)] : NULL;
}

/* Which terminal stands for the name of the setting. */
static const char *setting_terminal(enum setting setting)
{
    static const char *const texts[] = {[TAKES_REGEX] = "SETTING-REGEX", [TAKES_FILE] = "SETTING-FILE"};
    const struct setting_word *s = &setting_words[setting];

    if (s->type != TAKES_WORD)
        return texts[s->type];
    return is_switch(setting) ? "SETTING" : "SETTING-WORD";
}

/* A setting of the kind that the terminal asks for, or a word that the last one takes; NULL for another terminal. */
static const char *setting_name(struct writer *w, const char *terminal)
{
    uint32_t n = 0;

    if (!strcmp(terminal, "WORD")) {
        while (setting_words[w->setting].words[n])
            n++;
        return setting_words[w->setting].words[random_below(w->state, n)];
    }
    if (strncmp(terminal, "SETTING", 7))
        return NULL;
    do
        w->setting = random_below(w->state, SETTING_KINDS);
    while (strcmp(setting_terminal(w->setting), terminal));
    const char *other = setting_words[w->setting].other;

    return other && random_below(w->state, 2) ? other : setting_words[w->setting].name;
}

static void put_terminal(struct writer *w, const char *name)
{
    const char *view = view_name(name, w->state), *setting = view ? NULL : setting_name(w, name);

    if (view || setting) {
        put(w, view ? view : setting);
        return;
    }
    for (size_t i = 0; i < sizeof terminals / sizeof *terminals; i++) {
        uint32_t n = 0;

        if (strcmp(terminals[i].terminal, name) || (terminals[i].inside && strcmp(terminals[i].inside, w->production)))
            continue;
        while (n < 8 && terminals[i].samples[n])
            n++;
        put(w, terminals[i].samples[random_below(w->state, n)]);
        return;
    }
    die("a terminal without samples", name);
}

/* Deep down nothing optional is written, and of a choice the last alternative, which never recurses for ever. */
static void put_node(struct writer *w, const struct node *n)
{
    bool deep = w->depth > 30;
    const char *outer = w->production;

    w->depth++;
    if (n->kind == NODE_TERMINAL) {
        put_terminal(w, n->text);
    } else if (n->kind == NODE_KEYWORD) {
        put(w, n->text);
    } else if (n->kind == NODE_NAME) {
        w->production = n->text;
        put_node(w, find(w->g, n->text));
        w->production = outer;
    } else if (n->kind == NODE_CHOICE) {
        put_node(w, n->kids[deep ? n->count - 1 : random_below(w->state, (uint32_t)n->count)]);
    } else if (n->kind == NODE_OPTION || n->kind == NODE_REPEAT) {
        for (int i = 0; i < (n->kind == NODE_OPTION ? 1 : 4) && !deep && random_below(w->state, 2) == 0; i++)
            put_node(w, n->kids[0]);
    } else {
        for (size_t i = 0; i < n->count; i++)
            put_node(w, n->kids[i]);
    }
    w->depth--;
}

void grammar_sentence(const struct grammar *g, const char *production, uint64_t *state, struct str *out)
{
    struct writer w = {.g = g, .state = state, .out = out, .production = production};
    const struct node *n = find(g, production);

    if (!n)
        die("no production", production);
    put_node(&w, n);
}

/* ---- where grammars are written ---- */

/* The productions in comments, each the first thing on its line. Sources go from the parts to the whole, the result
 * from the whole to the parts. */
static void add_productions(const char *text, struct str *out)
{
    while (*text) {
        size_t n = strcspn(text, "\n"), name;
        const char *line = text;

        text += n + (text[n] == '\n');
        if (strncmp(line, "/* ", 3) && strncmp(line, " * ", 3))
            continue;
        line += 3, n -= 3;
        name = strspn(line, "abcdefghijklmnopqrstuvwxyz-");
        if (name && !strncmp(line + name, " = ", 3)) {
            if (n > 3 && !strncmp(line + n - 3, " */", 3))
                n -= 3;
            AUTO_STR struct str one = {0};

            str_addf(&one, "%.*s\n", (int)n, line);
            while (!strncmp(text, " *  ", 4)) {
                n = strcspn(text, "\n");
                str_addf(&one, "  %.*s\n", (int)n - 3, text + 3);
                text += n + (text[n] == '\n');
            }
            str_add(&one, str_cstr(out));
            str_clear(out);
            str_add(out, str_cstr(&one));
        }
    }
}

void grammar_clause_production(enum clause_kind clause, struct str *out)
{
    for (const char *c = clause_words[clause].name; *c; c++)
        str_addc(out, *c == ' ' ? '-' : *c);
}

/* clause = ... of clauses.def */
static void add_clauses(struct str *out)
{
    size_t line = out->len;

    str_add(out, "clause =");
    for (int i = 0; i < CLAUSE_KINDS; i++) {
        if (out->len - line > 100) {
            line = out->len;
            str_add(out, "\n        ");
        }
        str_add(out, i ? " | " : " ");
        grammar_clause_production((enum clause_kind)i, out);
    }
    str_addc(out, '\n');
}

char *grammar_of_sources(void)
{
    static const char *const files[] = {"parse",         "parse_group",    "parse_view",   "clause_form",
                                        "clause_rows",   "clause_samples", "parse_expect", "parse_value",
                                        "parse_pattern", "parse_expr",     "parse_metric"};
    struct str out = {0};

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        AUTO_FREE char *path = xasprintf("query/grammar/%s.c", files[i]);
        AUTO_FREE char *text = grammar_read(path);
        AUTO_STR struct str part = {0};

        if (!strcmp(files[i], "clause_form"))
            add_clauses(&out);
        add_productions(text, &part);
        str_add(&out, str_cstr(&part));
    }
    return str_steal(&out);
}

char *grammar_of_manual(void)
{
    AUTO_FREE char *text = grammar_read("doc/language.md");
    char *start = strstr(text, "\n```ebnf\n"), *end = start ? strstr(start + 9, "\n```") : NULL;

    if (!end)
        die("no grammar", "doc/language.md");
    return xstrndup(start + 9, (size_t)(end - start) - 8);
}
