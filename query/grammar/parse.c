/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/grammar/parser.h"
#include "common/mem.h"
#include <strings.h>

/* ---- statements ---- */

/* True if the token is the name of a row of words.h, or the first of its two words. */
static bool names(const struct token *t, const char *name)
{
    size_t n = strcspn(name, " ");

    return strlen(t->text) == n && !strncasecmp(t->text, name, n);
}

/* The name must not mean something already; metrics and earlier lets are for whoever runs it. */
static void check_new_name(struct parser *p, const struct token *t)
{
    static const char *const words[] = {"old", "delta", "metric", "and", "or", "not", "asc", "desc"};
    bool taken = find_attribute(t->text) >= 0 || find_function(t->text) >= 0;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        taken |= is_word(t, words[i]);
    for (size_t i = 0; i < CLAUSE_KINDS; i++)
        taken |= names(t, clause_words[i].name) || (clause_words[i].other && names(t, clause_words[i].other));
    for (size_t i = 0; i < VIEW_KINDS; i++) {
        taken |= names(t, view_words[i].name);
        for (size_t k = 0; k < 3 && view_words[i].others[k]; k++)
            taken |= names(t, view_words[i].others[k]);
    }
    for (size_t i = 0; i < STATEMENT_KINDS; i++)
        taken |= statement_words[i].name && (names(t, statement_words[i].name) ||
                                             (statement_words[i].other && names(t, statement_words[i].other)));
    if (taken)
        fail(p, &t->place, NULL, "\"%.60s\" is a word of the language; choose another name", t->text);
}

/* let = "let" NAME "=" expr */
static void statement_let(struct parser *p, struct statement *s)
{
    struct token t = *peek(p, LEX_PLAIN);

    note(p, EXPECTED_NEW_NAME, NULL);
    s->let.name = (struct text){t.place, ""};
    if (t.kind != TOKEN_WORD) {
        fail_here(p, "a name");
        return;
    }
    check_new_name(p, &t);
    s->let.name.text = next(p).text;
    want_mark(p, "=");
    s->let.expr = parse_expr(p);
}

/* The setting at the peeked token, consumed; its name may have a second word. SETTING_NONE and an error if there is
 * none. */
static enum setting take_setting(struct parser *p)
{
    struct token first = *peek(p, LEX_PLAIN), second = peek_second(p);
    enum setting begun = SETTING_NONE;

    for (int i = 0; i < SETTING_KINDS; i++)
        note(p, EXPECTED_SETTING, setting_words[i].name);
    for (int i = 0; i < SETTING_KINDS && first.kind == TOKEN_WORD; i++) {
        const char *name = setting_words[i].name, *space = strchr(name, ' ');

        if (is_word(&first, name) || (setting_words[i].other && is_word(&first, setting_words[i].other))) {
            next(p);
            return i;
        }
        if (!space || !names(&first, name))
            continue;
        begun = i;
        if (is_word(&second, space + 1)) {
            next(p);
            peek(p, LEX_PLAIN);
            next(p);
            return i;
        }
    }
    if (begun == SETTING_NONE) {
        fail_here(p, NULL);
        return SETTING_NONE;
    }
    next(p);
    for (int i = 0; i < SETTING_KINDS; i++)
        if (strchr(setting_words[i].name, ' ') && names(&first, setting_words[i].name))
            note(p, EXPECTED_KEYWORD, strchr(setting_words[i].name, ' ') + 1);
    fail_here(p, NULL);
    return SETTING_NONE;
}

/* One of the words that the setting takes; false if there is none. */
static bool accept_setting_word(struct parser *p, enum setting setting, enum lex_mode mode, struct setting_value *v)
{
    for (int i = 0; setting_choice(setting, i); i++)
        note(p, EXPECTED_KEYWORD, setting_choice(setting, i));
    int word = peek(p, mode)->kind == TOKEN_WORD ? find_setting_word(setting, p->token.text) : -1;

    if (word < 0)
        return false;
    v->word = (unsigned)word;
    v->place = next(p).place;
    return true;
}

/*
 * setting = SETTING [ "=" ] ("on" | "off") | SETTING-WORD [ "=" ] WORD | SETTING-REGEX [ "=" ] (regex | WORD)
 *         | SETTING-FILE [ "=" ] (file | WORD)        WORD: one that the setting takes
 */
static struct setting_value parse_setting(struct parser *p, enum setting setting)
{
    struct setting_value v = {0};

    note(p, EXPECTED_MARK, "=");
    if (is_mark(peek(p, LEX_PLAIN), "="))
        next(p);
    switch (setting_words[setting].type) {
    case TAKES_WORD:
        if (!accept_setting_word(p, setting, LEX_PLAIN, &v))
            fail_here(p, NULL);
        break;
    case TAKES_REGEX:
        if (!accept_setting_word(p, setting, LEX_REGEX, &v)) {
            struct pattern regex = parse_regex(p);

            v = (struct setting_value){.place = regex.place, .text = regex.text, .ignore_case = regex.ignore_case};
        }
        break;
    case TAKES_FILE:
        if (!accept_setting_word(p, setting, LEX_FILE, &v))
            v.text = parse_file(p, EXPECTED_SCRIPT_FILE, &v.place);
        break;
    }
    return v;
}

/* set = "set" [ setting ] */
static void statement_set(struct parser *p, struct statement *s)
{
    s->set.setting = SETTING_NONE;
    if (!ended(p) && !redirected(p)) {
        s->set.setting = take_setting(p);
        if (s->set.setting != SETTING_NONE)
            s->set.value = parse_setting(p, s->set.setting);
        return;
    }
    for (int i = 0; i < SETTING_KINDS; i++)
        note(p, EXPECTED_SETTING, setting_words[i].name);
}

/* expect = "expect" expectation */
static void statement_expect(struct parser *p, struct statement *s)
{
    s->expect = parse_expectation(p);
}

/* run = "run" file */
static void statement_run(struct parser *p, struct statement *s)
{
    s->run.text = parse_file(p, EXPECTED_SAVED_QUERY, &s->run.place);
}

/* include = "include" file */
static void statement_include(struct parser *p, struct statement *s)
{
    s->include.text = parse_file(p, EXPECTED_SCRIPT_FILE, &s->include.place);
}

/* open = "open" file [ "as" NAME ] */
static void statement_open(struct parser *p, struct statement *s)
{
    s->open.db.text = parse_file(p, EXPECTED_DATABASE, &s->open.db.place);
    if (!accept_word(p, "as"))
        return;
    note(p, EXPECTED_NEW_NAME, NULL);
    s->open.alias.place = peek(p, LEX_PLAIN)->place;
    if (p->token.kind == TOKEN_WORD)
        s->open.alias.text = next(p).text;
    else
        fail_here(p, "a name");
}

/* help = "help" { NAME }        everything up to the end of the line, ";", "|" or ">" */
static void statement_help(struct parser *p, struct statement *s)
{
    note(p, EXPECTED_HELP_WORD, NULL);
    if (ended(p) || redirected(p))
        return;
    if (peek(p, LEX_WORDS)->kind != TOKEN_WORD) {
        fail_here(p, NULL);
        return;
    }
    s->help.place = p->token.place;
    s->help.text = next(p).text;
    /* A name of two words may still be typed. */
    p->rest = s->help.place.offset;
    if (p->stop_at_end && peek(p, LEX_PLAIN)->kind == TOKEN_END)
        note(p, EXPECTED_HELP_WORD, NULL);
}

/* last = "last" [ "as" output ] */
static void statement_last(struct parser *p, struct statement *s)
{
    if (accept_word(p, "as"))
        s->last = parse_output(p);
}

static void (*const parsers[STATEMENT_KINDS])(struct parser *, struct statement *) = {
    [STATEMENT_LET] = statement_let,   [STATEMENT_SET] = statement_set,         [STATEMENT_EXPECT] = statement_expect,
    [STATEMENT_RUN] = statement_run,   [STATEMENT_INCLUDE] = statement_include, [STATEMENT_OPEN] = statement_open,
    [STATEMENT_HELP] = statement_help, [STATEMENT_LAST] = statement_last,       [STATEMENT_GROUP] = statement_group,
};

static int find_statement(struct parser *p)
{
    const struct token *t = peek(p, LEX_PLAIN);
    int found = -1;

    for (int i = 0; i < STATEMENT_KINDS; i++) {
        const struct statement_word *w = &statement_words[i];

        if (!w->name)
            continue;
        note(p, EXPECTED_KEYWORD, w->name);
        if (is_word(t, w->name) || (w->other && is_word(t, w->other)))
            found = i;
    }
    return found;
}

static void check_query(struct parser *p, const struct query *q)
{
    if (q->given[CLAUSE_SCALED].line && !q->samples.compare)
        fail(p, &q->given[CLAUSE_SCALED], NULL,
             "scaled by multiplies the old side of a comparison: it needs compare with DB");
}

/* query = view { clause } */
static bool parse_query(struct parser *p, struct query *q)
{
    struct place start = peek(p, LEX_PLAIN)->place;

    q->samples.scale = 1;
    q->threshold = 50;
    if (!parse_view(p, q))
        return false;
    for (clause_here(p); !ended(p) && !redirected(p); clause_here(p))
        parse_clause(p, q);
    q->place = since(p, &start);
    check_query(p, q);
    return true;
}

static void unknown_statement(struct parser *p)
{
    const struct token *t = peek(p, LEX_PLAIN);

    for (int i = 0; i < CLAUSE_KINDS; i++) {
        size_t n = strcspn(clause_words[i].name, " ");

        if (t->kind == TOKEN_WORD && strlen(t->text) == n && !strncasecmp(t->text, clause_words[i].name, n)) {
            fail(p, &t->place,
                 arena_printf(p->arena, "begin with a view, such as procedures %s%s", clause_words[i].usage,
                              p->options->prompt ? "; the Up key brings back the last question" : ""),
                 "%s is a clause; it stands behind a view", clause_words[i].name);
            return;
        }
    }
    fail_unknown(p, "view or statement");
}

/* At the prompt: "|" and a command, or ">" or ">>" and a file. */
static void parse_redirect(struct parser *p, struct statement *s)
{
    if (!redirected(p))
        return;
    if (is_mark(peek(p, LEX_PLAIN), "|")) {
        next(p);
        note(p, EXPECTED_COMMAND, NULL);
        if (peek(p, LEX_REST)->kind != TOKEN_WORD) {
            fail_here(p, "a command");
            return;
        }
        s->pipe = (struct text){p->token.place, p->token.text};
        next(p);
        note(p, EXPECTED_OUTPUT_FILE, NULL);
    } else {
        s->append = is_mark(&p->token, ">>");
        next(p);
        s->redirect.text = parse_file(p, EXPECTED_OUTPUT_FILE, &s->redirect.place);
    }
}

/*
 * statement = query | let | group | set | expect | run | include | open | help | "state" | "undo" | last | "quit" | "exit"
 */
static struct statement parse_statement(struct parser *p)
{
    struct token t = *peek(p, LEX_PLAIN);
    struct statement s = {.place = t.place};
    int kind;

    p->operators = p->nesting = p->parens = 0;
    p->in_query = false;
    p->expected.len = 0;
    if (parse_query(p, &s.query)) {
        s.kind = STATEMENT_QUERY;
    } else if ((kind = find_statement(p)) >= 0) {
        s = (struct statement){.place = t.place, .kind = (enum statement_kind)kind};
        next(p);
        if (parsers[kind])
            parsers[kind](p, &s);
    } else {
        unknown_statement(p);
    }
    parse_redirect(p, &s);
    if (!p->error && !ended(p))
        fail_here(p, NULL);
    s.place = since(p, &t.place);
    return s;
}

/* ---- scripts ---- */

/* After an error: to the end of the statement. */
static void recover(struct parser *p, const struct token *start, struct hq_error **first)
{
    struct statement s = {.kind = STATEMENT_WRONG, .place = start->place};

    s.wrong = (struct text){start->place, arena_strdup(p->arena, p->error->message)};
    list_push(p->arena, &p->script->statements, s);
    if (*first)
        hq_error_free(p->error);
    else
        *first = p->error;
    p->error = NULL;
    p->peeked = false;
    p->parens = 0;
    if (p->last.offset + p->last.length <= start->place.offset && !is_mark(peek(p, LEX_PLAIN), ";") &&
        p->token.kind != TOKEN_END)
        next(p);
    while (!ended(p))
        next(p);
}

/* script = [ statement ] { ";" [ statement ] }        a newline at which a statement may end is a ";" too */
void parse_statements(struct parser *p)
{
    struct hq_error *first = NULL;

    for (;;) {
        while (is_mark(peek(p, LEX_PLAIN), ";"))
            next(p);
        struct token start = *peek(p, LEX_PLAIN);

        if (start.kind == TOKEN_END && !(p->stop_at_end && p->expected.len == 0))
            break;
        struct statement s = parse_statement(p);

        if (!p->error)
            list_push(p->arena, &p->script->statements, s);
        else if (p->options->recover && !(p->stop_at_end && p->error_at_end))
            recover(p, &start, &first);
    }
    if (first) {
        hq_error_free(p->error);
        p->error = first;
    }
}

void parser_init(struct parser *p, struct script *script, const struct parse_options *options)
{
    static const struct parse_options plain;

    *p = (struct parser){.script = script, .arena = &script->arena, .options = options ? options : &plain};
    p->lexer = lexer_start(&script->source);
    p->last = (struct place){&script->source, 0, 0, p->lexer.line, 1};
}

static struct script *script_create(const struct source *source)
{
    struct script *s = xcalloc(1, sizeof *s);

    arena_init(&s->arena);
    s->source = *source;
    s->source.name = arena_strdup(&s->arena, source->name);
    s->source.text = arena_strndup(&s->arena, source->text, source->length);
    return s;
}

struct hq_error *parse_script(const struct source *source, const struct parse_options *options, struct script **out)
{
    struct parser p;

    *out = script_create(source);
    if (source->length > UINT32_MAX / 2)
        return hq_error_new(HQ_USAGE, "%s is longer than 2 GiB: that is no query", source->name);
    parser_init(&p, *out, options);
    parse_statements(&p);
    return p.error;
}

void script_destroy(struct script *s)
{
    if (!s)
        return;
    arena_deinit(&s->arena);
    free(s);
}

bool parse_is_incomplete(const char *text, const struct parse_options *options)
{
    struct parse_options o = options ? *options : (struct parse_options){0};
    struct source source = {"prompt", text, strlen(text), 1};
    struct script *script = script_create(&source);
    struct parser p;
    bool incomplete;

    o.any_parameter = true;
    o.recover = false;
    parser_init(&p, script, &o);
    parse_statements(&p);
    incomplete = p.error && p.error_at_end;
    hq_error_free(p.error);
    script_destroy(script);
    return incomplete;
}
