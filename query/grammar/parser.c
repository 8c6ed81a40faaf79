/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/grammar/parser.h"
#include "common/str.h"
#include "common/suggest.h"
#include "common/units.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

/* ---- tokens ---- */

const struct token *peek(struct parser *p, enum lex_mode mode)
{
    if (p->error) {
        p->token = (struct token){.kind = TOKEN_END, .text = "", .place = p->last};
        p->mode = mode;
        return &p->token;
    }
    if (!p->peeked || p->mode != mode) {
        p->after = p->lexer;
        p->token = lex(&p->after, mode, p->arena);
        p->mode = mode;
        p->peeked = true;
    }
    return &p->token;
}

struct token peek_second(struct parser *p)
{
    struct lexer l;

    peek(p, LEX_PLAIN);
    if (p->error)
        return p->token;
    l = p->after;
    return lex(&l, LEX_PLAIN, p->arena);
}

struct token next(struct parser *p)
{
    struct token t = p->token;

    if (p->error)
        return t;
    p->lexer = p->after;
    p->last = t.place;
    p->peeked = false;
    p->expected.len = 0;
    return t;
}

void note(struct parser *p, enum expected_kind kind, const char *text)
{
    if (!p->error)
        expected_add(&p->expected, (struct expected){.kind = kind, .text = text});
}

void note_pattern(struct parser *p, enum name_kind names)
{
    if (!p->error)
        expected_add(&p->expected, (struct expected){.kind = EXPECTED_PATTERN, .names = names});
}

bool ended(struct parser *p)
{
    const struct token *t = peek(p, LEX_PLAIN);

    note(p, EXPECTED_END, NULL);
    if (t->kind == TOKEN_END)
        return true;
    if (p->parameter || p->parens)
        return false;
    return t->margin || is_mark(t, ";");
}

bool redirected(struct parser *p)
{
    if (!p->options->prompt || p->parameter)
        return false;
    note(p, EXPECTED_MARK, "| COMMAND");
    note(p, EXPECTED_MARK, "> FILE");
    note(p, EXPECTED_MARK, ">> FILE");
    return is_mark(peek(p, LEX_PLAIN), "|") || is_mark(&p->token, ">") || is_mark(&p->token, ">>");
}

bool is_word(const struct token *t, const char *word)
{
    return t->kind == TOKEN_WORD && !strcasecmp(t->text, word);
}

bool is_mark(const struct token *t, const char *mark)
{
    return t->kind == TOKEN_MARK && !strcmp(t->text, mark);
}

bool accept_word(struct parser *p, const char *word)
{
    note(p, EXPECTED_KEYWORD, word);
    if (ended(p) || !is_word(peek(p, LEX_PLAIN), word))
        return false;
    next(p);
    return true;
}

bool accept_mark(struct parser *p, const char *mark)
{
    note(p, EXPECTED_MARK, mark);
    if (ended(p) || !is_mark(peek(p, LEX_PLAIN), mark))
        return false;
    next(p);
    return true;
}

void want_word(struct parser *p, const char *word)
{
    note(p, EXPECTED_KEYWORD, word);
    if (is_word(peek(p, LEX_PLAIN), word))
        next(p);
    else
        fail_here(p, NULL);
}

void want_mark(struct parser *p, const char *mark)
{
    note(p, EXPECTED_MARK, mark);
    if (is_mark(peek(p, LEX_PLAIN), mark))
        next(p);
    else
        fail_here(p, NULL);
}

struct place since(const struct parser *p, const struct place *start)
{
    return place_join(start, &p->last);
}

/* ---- errors ---- */

void fail(struct parser *p, const struct place *place, const char *advice, const char *fmt, ...)
{
    AUTO_STR struct str s = {0};
    va_list ap;

    if (p->error)
        return;
    va_start(ap, fmt);
    str_vaddf(&s, fmt, ap);
    va_end(ap);
    p->error = place_error(place, advice, "%s", str_cstr(&s));
}

/* A keyword that could stand here and is near the word, or NULL. */
static const char *nearest(struct parser *p, const struct token *t)
{
    struct suggest near;

    if (t->kind != TOKEN_WORD)
        return NULL;
    suggest_init(&near, t->text, 1);
    for (size_t i = 0; i < p->expected.len; i++)
        if (p->expected.items[i].text && p->expected.items[i].kind != EXPECTED_MARK &&
            p->expected.items[i].kind != EXPECTED_VALUE)
            suggest_add(&near, p->expected.items[i].text);
    return near.count ? near.best[0] : NULL;
}

bool expects(const struct parser *p, enum expected_kind kind)
{
    for (size_t i = 0; i < p->expected.len; i++)
        if (p->expected.items[i].kind == kind)
            return true;
    return false;
}

const char *shown(struct parser *p, const struct token *t)
{
    size_t n = t->place.length < 60 ? t->place.length : 60;
    char *text = arena_strndup(p->arena, t->place.source->text + t->place.offset, n);

    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            text[i] = '?';
    return t->place.length > n ? arena_printf(p->arena, "%s...", text) : text;
}

/* `1 s`: a unit stands right behind its number. */
static bool is_unit(struct parser *p, const struct token *t)
{
    const struct place *last = &p->last;

    if (t->kind != TOKEN_WORD || !last->length || t->place.source != last->source ||
        last->offset + last->length >= t->place.offset)
        return false;
    const char *number = arena_strndup(p->arena, last->source->text + last->offset, last->length);
    const char *whole = arena_printf(p->arena, "%s%s", number, t->text);
    struct quantity q;
    struct hq_error *error = units_scan(number) == last->length ? units_parse(whole, &q)
                                                                : hq_error_new(HQ_USAGE, "no number");

    hq_error_free(error);
    return !error;
}

/* `tree procedures`, `tree, procedures` */
static bool begins_question(struct parser *p, const struct token *t)
{
    struct token word = is_mark(t, ",") ? peek_second(p) : *t;

    return word.kind == TOKEN_WORD && expects(p, EXPECTED_CLAUSE) && view_known(word.text);
}

/* `columns name cputime`: it may be the next of a list. */
static bool lacks_comma(struct parser *p, const struct token *t)
{
    const struct expected_set *set = &p->expected;
    bool list = false;

    for (size_t i = 0; i < set->len; i++)
        list |= set->items[i].kind == EXPECTED_MARK && !strcmp(set->items[i].text, ",");
    return list && expects(p, EXPECTED_CLAUSE) &&
           (t->kind == TOKEN_STRING ||
            (t->kind == TOKEN_WORD && !view_known(t->text) && !is_word(t, "of") && !is_word(t, "by")));
}

/* Words of other languages are known exactly, so they come before guesses. Returns whether it told what to write. */
static bool add_nearest(struct parser *p, const struct token *t, struct str *out)
{
    const char *foreign = foreign_here(p, t);
    const char *word = foreign ? NULL : nearest(p, t);

    if (is_unit(p, t))
        str_addf(out, "a unit stands right behind its number: %.*s%s\n", (int)p->last.length,
                 p->last.source->text + p->last.offset, t->text);
    if (!p->options->prompt && (is_mark(t, ">") || is_mark(t, "|")) && expects(p, EXPECTED_CLAUSE))
        str_add(out,
                "to send the result elsewhere close the question's quotes before it, or write as FORMAT to FILE\n");
    if (is_mark(t, "-") && expects(p, EXPECTED_CLAUSE))
        str_add(out, "options of hq stand outside of the question, which has clauses\n");
    int setting = t->kind == TOKEN_WORD ? find_setting(t->text) : -1;

    if (!foreign && expects(p, EXPECTED_CLAUSE) && setting >= 0) {
        AUTO_STR struct str usage = {0};

        setting_usage(setting, &usage);
        str_addf(out, "it is a setting, which holds from then on: %s; VIEW ...\n", str_cstr(&usage));
    }
    if (foreign)
        str_addf(out, "here that is: %s\n", foreign);
    if (word)
        str_addf(out, "did you mean \"%s\"?\n", word);
    bool comment = is_mark(t, "#"), question = !foreign && begins_question(p, t);

    if (comment)
        str_add(out, "a comment begins with --\n");
    if (question)
        str_add(out, "a ; stands between two questions\n");
    if (!foreign && !word && setting < 0 && lacks_comma(p, t))
        str_addf(out, "if it is one more of the list, a comma stands before it: , %s\n", whole_word(p, t));
    return foreign || word || comment || question;
}

static void add_item(const struct expected *e, struct str *out)
{
    str_addf(out, e->kind == EXPECTED_MARK ? "\"%s\"" : "%s", expected_text(e));
}

/* `here can stand: a, b or the end` */
static void add_expected(struct parser *p, struct str *out)
{
    const struct expected_set *set = &p->expected;
    const struct expected *last = NULL;
    size_t n = 0;

    for (size_t i = 0; i < set->len; i++)
        if (set->items[i].kind != EXPECTED_VALUE &&
            (set->items[i].kind == EXPECTED_END || !last || last->kind != EXPECTED_END))
            last = &set->items[i];
    for (size_t i = 0; i < set->len; i++)
        if (&set->items[i] != last && set->items[i].kind != EXPECTED_VALUE) {
            str_add(out, n++ ? ", " : "here can stand: ");
            add_item(&set->items[i], out);
        }
    if (last) {
        str_add(out, n ? " or " : "here can stand: ");
        add_item(last, out);
    }
}

/* Tells what else can stand here only where nothing nearer is known: it is a long list. */
static void add_advice(struct parser *p, const struct token *t, struct str *out)
{
    if (!add_nearest(p, t, out))
        add_expected(p, out);
    else if (out->s[out->len - 1] == '\n')
        str_truncate(out, out->len - 1);
}

void fail_missing(struct parser *p, const char *first_advice, const char *what)
{
    AUTO_STR struct str advice = {0};
    struct token t = *peek(p, p->mode);

    if (p->error)
        return;
    str_add(&advice, first_advice);
    if (!what || p->expected.len != 1 || !p->expected.items[0].text || strcmp(p->expected.items[0].text, what))
        add_advice(p, &t, &advice);
    if (advice.len && advice.s[advice.len - 1] == '\n')
        str_truncate(&advice, advice.len - 1);
    p->error_at_end = t.kind == TOKEN_END && !p->parameter;
    if (t.kind == TOKEN_BAD)
        fail(p, &t.place, NULL, "%s", t.text);
    else if (p->parameter && what && t.kind != TOKEN_END)
        fail(p, &t.place, str_cstr(&advice), "%s cannot be %s", what, shown(p, &t));
    else if (t.kind == TOKEN_END)
        fail(p, &t.place, str_cstr(&advice), "%s is missing at the end", what ? what : "something");
    else if (what)
        fail(p, &t.place, str_cstr(&advice), "%s is missing before %s", what, shown(p, &t));
    else
        fail(p, &t.place, str_cstr(&advice), "%s cannot stand here", shown(p, &t));
}

void fail_here(struct parser *p, const char *what)
{
    fail_missing(p, "", what);
}

/* `80-90` */
static bool is_range(struct parser *p, const struct token *t)
{
    return strpbrk(whole_word(p, t), "-.");
}

/* `tree main` */
void fail_without_of(struct parser *p)
{
    struct token t = *peek(p, LEX_PLAIN);
    const struct view_word *v = &view_words[p->view];

    if (t.kind == TOKEN_NUMBER && p->view == VIEW_LINES && is_range(p, &t))
        fail(p, &t.place, "write lines of FILE where line >= A and line <= B", "%s cannot stand here",
             whole_word(p, &t));
    else if (t.kind == TOKEN_NUMBER && v->of != OF_REQUIRED && clause_allowed(p->view, CLAUSE_LIMIT, NULL))
        fail(p, &t.place, arena_printf(p->arena, "for so many rows write %s limit %s", v->name, t.text),
             "%s cannot stand here", shown(p, &t));
    else if ((v->of != OF_NONE || p->view == VIEW_FOLD || p->view == VIEW_ROUTINES) &&
             (t.kind == TOKEN_STRING ||
              (t.kind == TOKEN_WORD && !nearest(p, &t) && !foreign_clause(t.text) && !view_known(t.text))))
        fail(p, &t.place, arena_printf(p->arena, "if it is a name, write %s of %s", v->name, whole_word(p, &t)),
             "%s cannot stand here", shown(p, &t));
    else
        fail_here(p, NULL);
}

void fail_unknown(struct parser *p, const char *what)
{
    AUTO_STR struct str advice = {0};
    struct token t = *peek(p, LEX_PLAIN);

    if (t.kind != TOKEN_WORD) {
        fail_here(p, NULL);
        return;
    }
    const char *whole = whole_word(p, &t);

    if (t.place.length < strlen(whole) && strchr(".:", whole[t.place.length]))
        str_addf(&advice, "if it is the name of a file, write source of %.*s",
                 (int)(t.place.length + strcspn(whole + t.place.length, ":")), whole);
    else if (!add_nearest(p, &t, &advice))
        str_addf(&advice,
                 "if it is the name of a procedure, write tree of %s, or callers of %s; `help` lists the views", whole,
                 whole);
    else
        str_truncate(&advice, advice.len - 1);
    fail(p, &t.place, str_cstr(&advice), "there is no %s \"%s\"", what, shown(p, &t));
}

void fail_operand(struct parser *p, const char *advice)
{
    fail_missing(p, advice, "an operand");
}

/* One hint of a kind in a script is enough. */
void hint(struct parser *p, const struct place *place, const char *text)
{
    if (p->error)
        return;
    vec_foreach(h, &p->script->hints)
        if (!strcmp(h->text, text))
            return;
    list_push(p->arena, &p->script->hints, (struct hint){*place, text});
}

/* ---- parameters ---- */

static const char *find_parameter(struct parser *p, const struct token *t)
{
    const struct parse_options *o = p->options;

    for (size_t i = 0; i < o->parameter_count; i++)
        if (!strcmp(o->parameters[i].name, t->text)) {
            if (strpbrk(o->parameters[i].value, "\r\n"))
                fail(p, &t->place, NULL, "the value of the parameter {{%s}} has more than one line", t->text);
            return o->parameters[i].value;
        }
    if (t->value)
        return t->value;
    if (o->any_parameter)
        return "1";
    fail(p, &t->place, NULL, "the parameter {{%s}} has no value; give it one with -D %s=VALUE", t->text, t->text);
    return "1";
}

bool enter_parameter(struct parser *p, struct parameter_state *state)
{
    struct token t = *peek(p, p->mode);
    struct source *source;

    if (t.kind != TOKEN_PARAMETER)
        return false;
    if (p->parameter) {
        fail(p, &t.place, NULL, "the value of a parameter cannot hold another parameter");
        return false;
    }
    const char *value = find_parameter(p, &t);

    next(p);
    source = ARENA_NEW(p->arena, struct source);
    *source = (struct source){arena_printf(p->arena, "{{%s}}", t.text), arena_strdup(p->arena, value), strlen(value),
                              1};
    *state = (struct parameter_state){p->lexer, p->last, p->parens, p->parameter};
    if (p->error)
        return true;
    p->parameter = source;
    p->lexer = lexer_start(source);
    p->parens = 0;
    return true;
}

void leave_parameter(struct parser *p, struct parameter_state *state)
{
    if (p->parameter && peek(p, LEX_PLAIN)->kind != TOKEN_END)
        fail_here(p, NULL);
    p->parameter = state->outer;
    p->lexer = state->lexer;
    p->last = state->place;
    p->parens = state->parens;
    p->peeked = false;
    if (!p->error)
        p->expected.len = 0;
}

const char *parameter_text(struct parser *p)
{
    struct token t = *peek(p, p->mode);
    const char *value = arena_strdup(p->arena, find_parameter(p, &t));

    next(p);
    return value;
}
