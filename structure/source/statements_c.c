/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loop statements of C and C++: a scanner makes tokens of the words that control, braces, parentheses and semicolons,
 * and a parser by recursive descent finds which statement ends where. All other words are left out.
 */
#include "structure/source/statements.h"
#include "common/mem.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 1000, NO_LOOP = 0 };

struct token {
    uint32_t line;
    uint32_t above; /* line of the first directive right in front of it, 0: none */
    char kind;      /* ( ) { } ; or the first letter of a word in `words` below */
};

struct branch {   /* of a conditional of the preprocessor, while it is open */
    size_t start; /* tokens in front of the branch */
    bool drop;    /* the branch does not count */
    bool first_whole;
    bool is_first;
};

struct scanner {
    const char *at, *end;
    uint32_t line, above;
    bool fresh;      /* nothing but blanks since the line began */
    uint32_t atomic; /* line of the directive of a statement that has not ended yet, 0: none */
    bool in_atomic;  /* that is a block */
    VEC(struct token) tokens;
    VEC(struct branch) branches;
    struct statements *out;
};

static const struct {
    const char *word;
    char kind;
} words[] = {{"for", 'f'},    {"while", 'w'}, {"do", 'd'},    {"if", 'i'},  {"else", 'e'},
             {"switch", 's'}, {"try", 't'},   {"catch", 'c'}, {"goto", 'g'}};

static void add_token(struct scanner *s, char kind)
{
    if (s->atomic && s->above && kind == '{') {
        s->in_atomic = true;
    } else if (s->atomic && kind == (s->in_atomic ? '}' : ';')) {
        vec_push(&s->out->arrays, (struct line_span){s->atomic, s->line});
        s->atomic = 0;
        s->in_atomic = false;
    }
    vec_push(&s->tokens, (struct token){s->line, s->above, kind});
    s->above = 0;
}

static bool is_next(const struct scanner *s, const char *text)
{
    size_t n = strlen(text);

    return (size_t)(s->end - s->at) >= n && !memcmp(s->at, text, n);
}

static void step(struct scanner *s)
{
    s->line += *s->at == '\n';
    s->fresh |= *s->at == '\n';
    s->at++;
}

/* Goes behind the next `text`, or to the end. */
static void skip_past(struct scanner *s, const char *text)
{
    while (s->at < s->end && !is_next(s, text))
        step(s);
    for (size_t i = 0; text[i] && s->at < s->end; i++)
        step(s);
}

/* A string or character constant; one that its line does not end ends there. */
static void skip_quoted(struct scanner *s, char quote)
{
    for (s->at++; s->at < s->end && *s->at != '\n'; s->at++) {
        if (*s->at == '\\' && s->at + 1 < s->end) {
            s->at++;
            s->line += *s->at == '\n';
        } else if (*s->at == quote) {
            s->at++;
            return;
        }
    }
}

/* R"x( ... )x" */
static void skip_raw(struct scanner *s)
{
    char close[20] = ")";
    size_t n = 1;

    for (s->at++; s->at < s->end && *s->at != '(' && *s->at != '\n' && n + 2 < sizeof close; s->at++)
        close[n++] = *s->at;
    close[n++] = '"';
    close[n] = 0;
    skip_past(s, close);
}

/* Goes to the end of a comment or of a line of the preprocessor with those that continue it. */
static void skip_line(struct scanner *s, bool comment)
{
    while (s->at < s->end && *s->at != '\n') {
        comment |= is_next(s, "//");
        if (!comment && is_next(s, "/*")) {
            skip_past(s, "*/");
        } else {
            if (*s->at == '\\' && s->at + 1 < s->end)
                s->at++;
            step(s);
        }
    }
}

/* Whether all that is opened from a token on is closed, and nothing else. */
static bool is_whole(const struct scanner *s, size_t from)
{
    long braces = 0, parentheses = 0;

    for (size_t i = from; i < s->tokens.len; i++) {
        char kind = s->tokens.data[i].kind;

        braces += (kind == '{') - (kind == '}');
        parentheses += (kind == '(') - (kind == ')');
        if (braces < 0 || parentheses < 0)
            return false;
    }
    return !braces && !parentheses;
}

static void end_branch(struct scanner *s, struct branch *b)
{
    bool whole = is_whole(s, b->start);

    if (b->is_first)
        b->first_whole = whole || b->drop;
    if (b->drop || (!b->is_first && !(whole && b->first_whole)))
        s->tokens.len = b->start;
}

/* #pragma omp atomic, at `pragma`. */
static bool is_atomic(const struct scanner *s)
{
    static const char *const parts[] = {"pragma", "omp", "atomic"};
    const char *at = s->at;

    for (size_t i = 0; i < 3; i++) {
        size_t n = strlen(parts[i]);

        if ((size_t)(s->end - at) < n || memcmp(at, parts[i], n) != 0)
            return false;
        for (at += n; at < s->end && isblank((unsigned char)*at); at++)
            ;
    }
    return true;
}

/* A line that begins with #. */
static void directive(struct scanner *s)
{
    uint32_t line = s->line, above = s->above;
    const char *name;
    struct branch *open;

    for (s->at++; s->at < s->end && (*s->at == ' ' || *s->at == '\t'); s->at++)
        ;
    name = s->at;
    open = s->branches.len ? &vec_last(&s->branches) : NULL;
    if (is_next(s, "pragma")) {
        if (is_atomic(s))
            s->atomic = line;
        skip_line(s, false);
        s->above = above ? above : line;
        return;
    }
    if (is_next(s, "if")) {
        for (s->at += 2; s->at < s->end && isalpha((unsigned char)*s->at); s->at++)
            ;
        for (; s->at < s->end && *s->at == ' '; s->at++)
            ;
        bool never = s->at - name <= 4 && is_next(s, "0") && (s->at + 1 == s->end || isspace((unsigned char)s->at[1]));
        vec_push(&s->branches, (struct branch){.start = s->tokens.len, .drop = never, .is_first = true});
    } else if (open && (is_next(s, "else") || is_next(s, "elif"))) {
        bool first = open->is_first && open->drop;

        end_branch(s, open);
        *open = (struct branch){.start = s->tokens.len, .first_whole = open->first_whole, .is_first = first};
    } else if (open && is_next(s, "endif")) {
        end_branch(s, open);
        (void)vec_pop(&s->branches);
    }
    skip_line(s, false);
}

/* Whether the condition behind `while` is false: do { } while (0) is no loop. */
static bool is_never(const struct scanner *s)
{
    const char *at = s->at, *const parts[] = {"(", "0", ")"};

    for (size_t i = 0; i < 3; i++) {
        while (at < s->end && isspace((unsigned char)*at))
            at++;
        if (i == 1 && s->end - at > 5 && !memcmp(at, "false", 5))
            at += 5;
        else if (at == s->end || *at++ != *parts[i])
            return false;
    }
    return true;
}

static void word(struct scanner *s)
{
    const char *begin = s->at;

    while (s->at < s->end && (isalnum((unsigned char)*s->at) || *s->at == '_' || *s->at & 0x80))
        s->at++;
    size_t n = (size_t)(s->at - begin);
    if (s->at < s->end && *s->at == '"' && begin[n - 1] == 'R' && n <= 3) {
        skip_raw(s);
        s->above = 0;
        return;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].word) == n && !memcmp(words[i].word, begin, n)) {
            add_token(s, words[i].kind == 'w' && is_never(s) ? 'n' : words[i].kind);
            return;
        }
    /* The directive that is a word, and may stand in a macro. */
    if (!(n == 7 && !memcmp(begin, "_Pragma", n)))
        s->above = 0;
}

/* 1'000'000 */
static void number(struct scanner *s)
{
    while (s->at < s->end && (isalnum((unsigned char)*s->at) || *s->at == '.' ||
                              (*s->at == '\'' && s->at + 1 < s->end && isalnum((unsigned char)s->at[1]))))
        s->at++;
    s->above = 0;
}

static void scan(struct scanner *s)
{
    while (s->at < s->end) {
        unsigned char c = (unsigned char)*s->at;
        bool fresh = s->fresh;

        if (isspace(c)) {
            step(s);
            continue;
        }
        if (is_next(s, "//") || is_next(s, "/*")) {
            if (s->at[1] == '/')
                skip_line(s, true);
            else
                skip_past(s, "*/");
            continue;
        }
        s->fresh = false;
        if (c == '#' && fresh)
            directive(s);
        else if (c == '"' || c == '\'')
            skip_quoted(s, (char)c), s->above = 0;
        else if (isdigit(c))
            number(s);
        else if (isalpha(c) || c == '_' || c & 0x80)
            word(s);
        else {
            if (strchr("(){};", c))
                add_token(s, (char)c);
            else
                s->above = 0;
            s->at++;
        }
    }
}

/* ---- statements ---- */

struct parser {
    const struct token *tokens;
    size_t count, at;
    uint32_t last; /* line of the token in front of `at` */
    uint32_t loop; /* the innermost around it */
    unsigned depth;
    bool too_deep;
    struct statements *out;
};

static char peek(const struct parser *p)
{
    return p->at < p->count ? p->tokens[p->at].kind : 0;
}

static void take(struct parser *p)
{
    p->last = p->tokens[p->at++].line;
}

static void statement(struct parser *p);

/* { ... } */
static void block(struct parser *p)
{
    take(p);
    while (peek(p) && peek(p) != '}')
        statement(p);
    if (peek(p))
        take(p);
}

/* ( ... ), in which lambdas and statement expressions hold statements */
static void group(struct parser *p)
{
    size_t open = 0;

    while (peek(p) && peek(p) != '}') {
        char kind = peek(p);

        if (kind == '{') {
            statement(p);
            continue;
        }
        open += kind == '(';
        take(p);
        if (kind == ')' && --open == 0)
            return;
    }
}

static void head(struct parser *p)
{
    if (peek(p) == '(')
        group(p);
}

static void expression(struct parser *p)
{
    for (;;) {
        char kind = peek(p);

        if (kind == '(')
            group(p);
        else if (kind == '{') {
            block(p);
            return;
        } else if (kind == ';' || kind == ')') {
            take(p);
            if (kind == ';')
                return;
        } else {
            /* The end, or that of the block around, or a word that begins a statement behind a label or a macro. */
            return;
        }
    }
}

static void loop(struct parser *p)
{
    const struct token *t = &p->tokens[p->at];
    uint32_t number = (uint32_t)p->out->loops.len, around = p->loop;
    bool is_do = t->kind == 'd';

    take(p);
    if (!is_do && peek(p) != '(')
        return;
    vec_push(
        &p->out->loops,
        (struct loop_statement){
            .above = t->above ? t->above : t->line, .first = t->line, .told = t->line, .parent = around, .ranges = 1});
    p->loop = number;
    if (!is_do)
        head(p);
    p->out->loops.data[number].head = p->last;
    statement(p);
    if (is_do && (peek(p) == 'w' || peek(p) == 'n')) {
        if (peek(p) == 'n')
            p->out->loops.data[number].first = NO_LOOP;
        p->out->loops.data[number].told = p->tokens[p->at].line;
        take(p);
        head(p);
    }
    p->out->loops.data[number].end = p->last;
    p->loop = around;
}

static void statement(struct parser *p)
{
    if (++p->depth > MOST_DEPTH) {
        p->at = p->count;
        p->too_deep = true;
        p->depth--;
        return;
    }
    switch (peek(p)) {
    case 0: break;
    case 'f':
    case 'w':
    case 'd': loop(p); break;
    case 'n':
    case 't':
    case 'c':
        take(p);
        head(p);
        statement(p);
        break;
    case 'g':
        vec_push(&p->out->gotos, (struct plain_line){p->tokens[p->at].line});
        take(p);
        break;
    case 'i': vec_push(&p->out->ifs, (struct plain_line){p->tokens[p->at].line}); __attribute__((fallthrough));
    case 's':
        take(p);
        head(p);
        statement(p);
        if (peek(p) == 'e') {
            take(p);
            statement(p);
        }
        break;
    case 'e': take(p); break;
    case '{': block(p); break;
    default: expression(p);
    }
    p->depth--;
}

/* Leaves out what was found to be none. */
static void drop_none(struct statements *out)
{
    uint32_t *number = xcalloc(out->loops.len + 1, sizeof *number);
    size_t n = 0;

    for (size_t i = 0; i < out->loops.len; i++) {
        struct loop_statement in = out->loops.data[i];

        in.parent = in.parent == STATEMENT_NONE ? in.parent : number[in.parent];
        number[i] = in.first == NO_LOOP ? in.parent : (uint32_t)n;
        if (in.first != NO_LOOP)
            out->loops.data[n++] = in;
    }
    out->loops.len = n;
    free(number);
}

void statements_of_c(const char *text, size_t size, struct statements *out)
{
    struct scanner s = {.at = text, .end = text + size, .line = 1, .fresh = true, .out = out};

    *out = (struct statements){0};
    scan(&s);
    struct parser p = {.tokens = s.tokens.data, .count = s.tokens.len, .loop = STATEMENT_NONE, .out = out};
    while (p.at < p.count) {
        size_t before = p.at;

        statement(&p);
        if (p.at == before)
            take(&p);
    }
    if (p.too_deep)
        vec_clear(&out->loops);
    drop_none(out);
    vec_deinit(&s.tokens);
    vec_deinit(&s.branches);
}
