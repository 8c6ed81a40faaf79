/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns, paths and regular expressions. */
#include "query/grammar/parser.h"
#include "common/str.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool has_wildcards(const char *text)
{
    return strpbrk(text, "*?") != NULL;
}

static struct pattern name_pattern(const char *text, bool quoted)
{
    return (struct pattern){.kind = PATTERN_NAME, .text = text, .wildcards = has_wildcards(text), .quoted = quoted};
}

/* A bare name that goes on with a character that only quotes allow: std::vector<int>, src/main.c */
void check_bare_end(struct parser *p, const struct token *t)
{
    const struct source *s = t->place.source;
    size_t start = t->place.offset, end = start + t->place.length;
    char c = end < s->length ? s->text[end] : ' ';

    if (isspace((unsigned char)c) || c == ';' || c == '>' || c == ')' || c == ',' || c == '\0')
        return;
    while (end < s->length && !isspace((unsigned char)s->text[end]) && s->text[end] != ';' && s->text[end] != '"')
        end++;
    struct place whole = t->place;

    whole.length = (uint32_t)(end - start);
    if (c == '|')
        fail(p, &whole, arena_printf(p->arena, "write /%.*s/", (int)whole.length, s->text + start),
             "one of several names is a regular expression, which stands in slashes");
    else
        fail(p, &whole, arena_printf(p->arena, "write \"%.*s\"", (int)whole.length, s->text + start),
             "a name with the character %c must stand in quotes", c);
}

/* The text from a token on, up to white space or ";". */
static struct place raw_word(const struct token *t)
{
    const struct source *s = t->place.source;
    struct place word = t->place;
    size_t end = word.offset;

    while (end < s->length && !isspace((unsigned char)s->text[end]) && s->text[end] != ';')
        end++;
    word.length = (uint32_t)(end - word.offset);
    return word;
}

/* A path without quotes, which begins like a regex or like nothing: /usr/lib/x.c, ./x.c. Not /x/gi, which has wrong
 * flags. */
static bool fail_path(struct parser *p, const struct token *t)
{
    struct place word = raw_word(t);
    const char *text = word.source->text + word.offset, *slash = memrchr(text, '/', word.length);
    size_t last = slash ? (size_t)(text + word.length - slash - 1) : 0;
    bool absolute = t->kind == TOKEN_BAD && text[0] == '/' && slash > text &&
                    (last > 2 || memchr(text, '.', word.length));

    if (!slash || (!absolute && !str_begins(text, "./") && !str_begins(text, "../")))
        return false;
    fail(p, &word, arena_printf(p->arena, "write \"%.*s\"", (int)word.length, text), "a path must stand in quotes");
    return true;
}

static struct pattern row_pattern(struct parser *p, const struct token *t)
{
    char *end;
    unsigned long row = strtoul(t->text, &end, 10);

    if (*end || strlen(t->text) > 9 || row == 0)
        fail(p, &t->place, NULL, "#%s is not a row: rows of the previous result are #1, #2, ...", t->text);
    return (struct pattern){.kind = PATTERN_ROW, .row = (uint32_t)row};
}

static struct pattern id_pattern(struct parser *p, const struct token *t)
{
    size_t n = strlen(t->text);
    char *id = arena_strdup(p->arena, t->text);

    for (size_t i = 0; i < n; i++)
        id[i] = (char)tolower((unsigned char)id[i]);
    if (n < 6 || n > 13)
        fail(p, &t->place, NULL, "@%.20s is not a context: give 6 to 13 digits of its id, which json output shows",
             t->text);
    return (struct pattern){.kind = PATTERN_ID, .text = id};
}

/* The value of a parameter is a pattern as typed in a query, or any other text as a whole: std::vector<int>::size()
 * needs no quotes. */
static struct pattern parameter_pattern(struct parser *p, enum name_kind names)
{
    struct parameter_state state;
    struct pattern pattern = {.kind = PATTERN_NAME, .text = ""};

    if (!enter_parameter(p, &state))
        return pattern;
    if (p->parameter && !strchr("\"'/#@", p->parameter->text[0])) {
        pattern = name_pattern(p->parameter->text, true);
        p->lexer.offset = (uint32_t)p->parameter->length;
        p->peeked = false;
        if (!pattern.text[0])
            fail(p, &state.place, NULL, "the parameter is empty where the name of a scope is wanted");
    } else if (p->parameter && p->parameter->length) {
        pattern = parse_pattern(p, names);
    } else {
        fail(p, &state.place, NULL, "the parameter is empty where the name of a scope is wanted");
    }
    leave_parameter(p, &state);
    pattern.place = state.place;
    return pattern;
}

/* A phase is the scope that hq_phase_begin("NAME") opens, a group what a group statement defines. Behind the word, any
 * other pattern is not its name. */
static struct pattern word_pattern(struct parser *p, const struct token *t)
{
    struct token name;

    check_bare_end(p, t);
    next(p);
    name = *peek(p, LEX_PATTERN);

    bool group = !strcasecmp(t->text, "group"), phase = !strcasecmp(t->text, "phase");

    if (group)
        note(p, EXPECTED_GROUP, "the name of a group in quotes");
    if (phase)
        note(p, EXPECTED_PHASE, "the name of a phase in quotes");
    if ((!group && !phase) || name.kind != TOKEN_STRING)
        return name_pattern(t->text, false);
    next(p);
    if (group && !name.text[0])
        fail(p, &name.place, NULL, "a group needs a name");
    if (group)
        return (struct pattern){.kind = PATTERN_GROUP, .text = name.text, .quoted = true};
    return name_pattern(arena_printf(p->arena, "phase %s", name.text), true);
}

/* pattern = NAME | [ "phase" | "group" ] STRING | REGEX | "#" DIGITS | "@" ID | PARAMETER */
struct pattern parse_pattern(struct parser *p, enum name_kind names)
{
    struct token t = *peek(p, LEX_PATTERN);
    struct pattern pattern = {0};

    note_pattern(p, names);
    if (t.kind != TOKEN_END && fail_path(p, &t))
        return (struct pattern){.kind = PATTERN_NAME, .text = ""};
    switch (t.kind) {
    case TOKEN_PARAMETER: return parameter_pattern(p, names);
    case TOKEN_WORD:
        pattern = word_pattern(p, &t);
        pattern.place = t.place;
        return pattern;
    case TOKEN_STRING:
        if (!t.text[0])
            fail(p, &t.place, NULL, "an empty name matches nothing");
        pattern = name_pattern(t.text, true);
        break;
    case TOKEN_REGEX:
        pattern = (struct pattern){.kind = PATTERN_REGEX, .text = t.text, .ignore_case = t.ignore_case};
        break;
    case TOKEN_ROW: pattern = row_pattern(p, &t); break;
    case TOKEN_ID: pattern = id_pattern(p, &t); break;
    default: fail_here(p, "a pattern"); return (struct pattern){.kind = PATTERN_NAME, .text = ""};
    }
    next(p);
    pattern.place = t.place;
    return pattern;
}

/* \/ is / (as between slashes); a backslash at the end protects nothing. */
static const char *plain_regex(struct parser *p, const struct place *place, const char *text)
{
    char *out = arena_strdup(p->arena, text);
    size_t n = 0;

    for (; *text; text++) {
        if (*text == '\\' && !text[1])
            fail(p, place, NULL, "this regular expression ends with a backslash, which protects nothing");
        else if (*text == '\\' && text[1] != '/')
            out[n++] = *text++;
        else if (*text == '\\')
            text++;
        out[n++] = *text;
    }
    out[n] = '\0';
    return out;
}

/* The value of a parameter as typed in a query, /TEXT/ or /TEXT/i: its TEXT; NULL if it is not of that form. */
static const char *text_between_slashes(struct parser *p, const char *value, bool *ignore_case)
{
    size_t n = strlen(value), at = 1;
    bool flag = n && value[n - 1] == 'i';
    size_t last = n - flag - 1;

    if (n < 3u + flag || value[0] != '/' || value[last] != '/')
        return NULL;
    while (at < last && value[at] != '/')
        at += value[at] == '\\' ? 2 : 1;
    *ignore_case = flag;
    return at == last ? arena_strndup(p->arena, value + 1, last - 1) : NULL;
}

/* As typed between slashes; else the whole value is the expression. */
static const char *parameter_regex(struct parser *p, bool *ignore_case)
{
    const char *value = parameter_text(p), *text = text_between_slashes(p, value, ignore_case);

    return text ? text : value;
}

/* regex = REGEX | STRING | PARAMETER */
struct pattern parse_regex(struct parser *p)
{
    struct token t = *peek(p, LEX_REGEX);
    struct pattern regex = {.kind = PATTERN_REGEX, .place = t.place, .text = "", .ignore_case = t.ignore_case};

    note(p, EXPECTED_REGEX, NULL);
    if (t.kind == TOKEN_REGEX || t.kind == TOKEN_STRING)
        regex.text = plain_regex(p, &t.place, next(p).text);
    else if (t.kind == TOKEN_PARAMETER)
        regex.text = plain_regex(p, &t.place, parameter_regex(p, &regex.ignore_case));
    else
        fail_missing(p, t.kind == TOKEN_WORD ? arena_printf(p->arena, "write it between slashes: /%s/\n", t.text) : "",
                     "a regular expression");
    if (!p->error && !regex.text[0])
        fail(p, &t.place, NULL, "this regular expression is empty");
    return regex;
}

/* step = "*" | pattern */
static struct path_step parse_step(struct parser *p, bool far)
{
    struct path_step step = {.far = far};

    step.pattern = parse_pattern(p, NAMES_ANY);
    step.place = step.pattern.place;
    if (step.pattern.kind == PATTERN_NAME && !step.pattern.quoted && !strcmp(step.pattern.text, "*")) {
        step.any = true;
        step.pattern = (struct pattern){0};
    }
    return step;
}

/* path = step { (">" | ">>") step } */
struct path parse_path(struct parser *p)
{
    struct path path = {.place = peek(p, LEX_PATTERN)->place};
    bool far;

    list_push(p->arena, &path.steps, parse_step(p, false));
    for (;;) {
        const struct token *t = peek(p, LEX_PLAIN);

        /* At the prompt `>` may also send the result to a file; behind a path it is a step. */
        note(p, EXPECTED_MARK, ">");
        note(p, EXPECTED_MARK, ">>");
        far = is_mark(t, ">>");
        if ((!far && !is_mark(t, ">")) || (t->margin && !p->parens))
            break;
        next(p);
        list_push(p->arena, &path.steps, parse_step(p, far));
    }
    path.place = since(p, &path.place);
    return path;
}
