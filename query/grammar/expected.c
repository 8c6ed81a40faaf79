/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/grammar/parser.h"
#include <ctype.h>
#include <string.h>

void expected_add(struct expected_set *set, struct expected item)
{
    for (size_t i = 0; i < set->len; i++) {
        const struct expected *e = &set->items[i];

        if (e->kind == item.kind && e->names == item.names &&
            (e->text == item.text || (e->text && item.text && !strcmp(e->text, item.text))))
            return;
    }
    if (set->len < EXPECTED_MAX)
        set->items[set->len++] = item;
}

const char *expected_text(const struct expected *e)
{
    static const char *const texts[] = {
        [EXPECTED_FUNCTION] = "a function",
        [EXPECTED_ATTRIBUTE] = "an attribute (name, kind, file ...)",
        [EXPECTED_METRIC] = "a metric",
        [EXPECTED_TOTAL] = "a total (@cputime)",
        [EXPECTED_REGEX] = "a regular expression",
        [EXPECTED_STRING] = "a text in quotes",
        [EXPECTED_NUMBER] = "a number",
        [EXPECTED_PERCENT] = "a percentage",
        [EXPECTED_TIME] = "a time (1.5s, 40%)",
        [EXPECTED_RANKS] = "ranks (0-3,7)",
        [EXPECTED_THREADS] = "threads (0-3,7)",
        [EXPECTED_DEVICES] = "queues of devices (0-3,7)",
        [EXPECTED_OPERATOR] = "an operator",
        [EXPECTED_FORMAT] = "a format",
        [EXPECTED_DATABASE] = "a database",
        [EXPECTED_OUTPUT_FILE] = "a file",
        [EXPECTED_SCRIPT_FILE] = "a file",
        [EXPECTED_SAVED_QUERY] = "a saved query",
        [EXPECTED_NEW_NAME] = "a name",
        [EXPECTED_GROUP] = "the name of a group",
        [EXPECTED_PHASE] = "the name of a phase",
        [EXPECTED_HELP_WORD] = "a word",
        [EXPECTED_COMMAND] = "a command",
        [EXPECTED_END] = "the end",
    };
    static const char *const patterns[] = {
        [NAMES_PROCEDURE] = "a procedure",
        [NAMES_FILE] = "a source file",
        [NAMES_MODULE] = "a load module",
        [NAMES_ANY] = "a name",
    };

    if (e->kind == EXPECTED_VALUE)
        return "a text in quotes";
    if (e->text)
        return e->text;
    return e->kind == EXPECTED_PATTERN ? patterns[e->names] : texts[e->kind];
}

static bool is_narrow(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("_:.~$@#", c)) || (unsigned char)c >= 0x80;
}

static bool is_wide(char c)
{
    return !isspace((unsigned char)c) && c != ';';
}

static size_t word_start(const char *text, size_t cursor, bool (*in)(char))
{
    while (cursor > 0 && in(text[cursor - 1]))
        cursor--;
    return cursor;
}

/* The quote that is open at the cursor, or SIZE_MAX; a string does not span lines. */
static size_t open_quote(const char *text, size_t cursor)
{
    size_t quote = SIZE_MAX, i = cursor;

    while (i > 0 && text[i - 1] != '\n')
        i--;
    for (; i < cursor; i++) {
        if (quote == SIZE_MAX && (text[i] == '"' || text[i] == '\''))
            quote = i;
        else if (quote != SIZE_MAX && text[i] == '\\')
            i++;
        else if (quote != SIZE_MAX && text[i] == text[quote])
            quote = SIZE_MAX;
    }
    return quote;
}

/* Parses what stands before a place and takes what the parser would have accepted next. *rest: where the words of
 * `help` begin, or 0. */
static void expected_at(const char *text, size_t end, struct expected_set *out, uint32_t *rest)
{
    struct parse_options options = {.any_parameter = true, .recover = true, .prompt = true};
    struct source source = {"prompt", text, end, 1};
    struct script *script;
    struct parser p;

    hq_error_free(parse_script(&(struct source){"prompt", "", 0, 1}, NULL, &script));
    script->source = source;
    script->source.text = arena_strndup(&script->arena, text, end);
    parser_init(&p, script, &options);
    p.stop_at_end = true;
    parse_statements(&p);
    *out = p.expected;
    *rest = p.rest;
    hq_error_free(p.error);
    script_destroy(script);
}

static bool wants_file(const struct expected_set *set)
{
    for (size_t i = 0; i < set->len; i++)
        if ((set->items[i].kind >= EXPECTED_DATABASE && set->items[i].kind <= EXPECTED_SAVED_QUERY) ||
            set->items[i].kind == EXPECTED_COMMAND)
            return true;
    return false;
}

void grammar_expected(const char *text, size_t cursor, struct expected_place *out)
{
    size_t len = strlen(text), quote, wide;
    uint32_t rest;

    cursor = cursor < len ? cursor : len;
    quote = open_quote(text, cursor);
    *out = (struct expected_place){.start = cursor};
    if (quote != SIZE_MAX) {
        out->quoted = true;
        out->start = quote + 1;
        expected_at(text, quote, &out->set, &rest);
        return;
    }
    wide = word_start(text, cursor, is_wide);
    expected_at(text, wide, &out->set, &rest);
    out->start = rest ? rest : wide;
    if (rest || wants_file(&out->set))
        return;
    out->start = word_start(text, cursor, is_narrow);
    if (out->start != wide)
        expected_at(text, out->start, &out->set, &rest);
}
