/* SPDX-License-Identifier: BSD-3-Clause */
/* The definition of a group. */
#include "query/grammar/parser.h"

/* group-name = NAME | STRING */
static struct text parse_group_name(struct parser *p, enum expected_kind kind)
{
    struct token t = *peek(p, LEX_PLAIN);
    struct text name = {t.place, ""};

    note(p, kind, NULL);
    if (t.kind != TOKEN_WORD && t.kind != TOKEN_STRING)
        fail_here(p, "the name of a group");
    else if (!t.text[0])
        fail(p, &t.place, NULL, "a group needs a name");
    else
        name.text = next(p).text;
    return name;
}

/*
 * Names and regular expressions go on to mean what they mean; a row or context of one database does not.
 */
/* group-pattern = NAME | [ "phase" ] STRING | REGEX | PARAMETER */
static struct pattern parse_group_pattern(struct parser *p, enum name_kind names)
{
    struct pattern pattern = parse_pattern(p, names);

    if (pattern.kind == PATTERN_GROUP)
        fail(p, &pattern.place, NULL, "a group is a part of its own: `group NAME`");
    if (pattern.kind == PATTERN_ROW || pattern.kind == PATTERN_ID)
        fail(p, &pattern.place, NULL, "a group is of names and regular expressions: rows and ids end with a result");
    return pattern;
}

static const struct word_of {
    const char *word;
    enum part_kind kind;
    enum name_kind names;
} words_of[] = {
    {"files", PART_FILES, NAMES_FILE},
    {"modules", PART_MODULES, NAMES_MODULE},
    {"loops", PART_LOOPS, NAMES_ANY},
};

/*
 * group-part = group-pattern | ("files" | "modules" | "loops") "of" group-pattern | "lines" ranges "of" group-pattern
 *            | "group" group-name
 */
static struct group_part parse_group_part(struct parser *p)
{
    struct token t = *peek(p, LEX_PATTERN), second = peek_second(p);
    struct group_part part = {.place = t.place};
    bool goes_on = !second.margin;

    for (size_t i = 0; i < sizeof words_of / sizeof *words_of; i++) {
        note(p, EXPECTED_KEYWORD, words_of[i].word);
        if (!is_word(&t, words_of[i].word) || !goes_on || !is_word(&second, "of"))
            continue;
        next(p);
        want_word(p, "of");
        part.kind = words_of[i].kind;
        part.pattern = parse_group_pattern(p, words_of[i].names);
        part.place = since(p, &t.place);
        return part;
    }
    note(p, EXPECTED_KEYWORD, "lines");
    note(p, EXPECTED_KEYWORD, "group");
    if (is_word(&t, "lines") && goes_on && (second.kind == TOKEN_NUMBER || second.kind == TOKEN_PARAMETER)) {
        next(p);
        part.kind = PART_LINES;
        part.lines = parse_ranges(p, EXPECTED_NUMBER);
        want_word(p, "of");
        part.pattern = parse_group_pattern(p, NAMES_FILE);
    } else if (is_word(&t, "group") && goes_on && (second.kind == TOKEN_WORD || second.kind == TOKEN_STRING)) {
        next(p);
        part.kind = PART_GROUP;
        part.group = parse_group_name(p, EXPECTED_GROUP).text;
    } else {
        part.pattern = parse_group_pattern(p, NAMES_ANY);
    }
    part.place = since(p, &t.place);
    return part;
}

/* group = "group" group-name "=" group-part { "," group-part } */
void statement_group(struct parser *p, struct statement *s)
{
    struct token by = *peek(p, LEX_PLAIN), second = peek_second(p);

    if (is_word(&by, "by") && second.kind == TOKEN_WORD)
        fail(p, &by.place,
             arena_printf(p->arena, "begin with a view: flat by %s, or groups by %s", second.text, second.text),
             "by cannot stand here");
    s->group.name = parse_group_name(p, EXPECTED_NEW_NAME);
    want_mark(p, "=");
    do
        list_push(p->arena, &s->group.parts, parse_group_part(p));
    while (accept_mark(p, ","));
}
