/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/grammar/lexer.h"
#include "common/str.h"
#include "common/units.h"
#include <ctype.h>
#include <string.h>

static char at(const struct lexer *l, uint32_t ahead)
{
    size_t i = (size_t)l->offset + ahead;

    return i < l->source->length ? l->source->text[i] : '\0';
}

static bool at_end(const struct lexer *l)
{
    return l->offset >= l->source->length;
}

/* Moves over n bytes and keeps count of lines and characters. */
static void advance(struct lexer *l, size_t n)
{
    const char *s = l->source->text;

    for (; n > 0 && !at_end(l); n--) {
        unsigned char c = (unsigned char)s[l->offset++];

        if (c == '\n') {
            l->line++;
            l->column = 1;
        } else if ((c & 0xc0) != 0x80) {
            l->column++;
        }
    }
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static bool is_name_start(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == ':';
}

static bool is_pattern_start(char c)
{
    return is_name_start(c) || c == '~' || c == '*' || c == '?';
}

static bool is_pattern_char(char c)
{
    return is_name_char(c) || c == '.' || c == '~' || c == '$' || c == '*' || c == '?';
}

/* "--" between white space (or the ends of the line): `a--b` is arithmetic. */
static bool at_comment(const struct lexer *l)
{
    bool before = l->offset == 0 || is_space(l->source->text[l->offset - 1]);

    return before && at(l, 0) == '-' && at(l, 1) == '-' &&
           ((size_t)l->offset + 2 >= l->source->length || is_space(at(l, 2)));
}

/* Returns whether a new line begins in what was skipped. */
static bool skip_space(struct lexer *l)
{
    bool newline = false;

    while (!at_end(l)) {
        if (at_comment(l)) {
            while (!at_end(l) && at(l, 0) != '\n')
                advance(l, 1);
        } else if (is_space(at(l, 0))) {
            newline |= at(l, 0) == '\n';
            advance(l, 1);
        } else {
            break;
        }
    }
    return newline;
}

struct lexer lexer_start(const struct source *source)
{
    struct lexer l = {.source = source, .line = source->first_line ? source->first_line : 1, .column = 1};

    if (source->length >= 3 && memcmp(source->text, "\xef\xbb\xbf", 3) == 0)
        l.offset = 3;
    return l;
}

struct place place_join(const struct place *from, const struct place *to)
{
    struct place p = *from;

    if (from->source == to->source && to->offset + to->length > from->offset)
        p.length = to->offset + to->length - from->offset;
    return p;
}

bool is_bare_pattern(const char *name)
{
    size_t n = 0;

    if (!is_pattern_start(name[0]))
        return false;
    while (is_pattern_char(name[n]))
        n++;
    return !name[n];
}

bool is_bare_name(const char *name)
{
    size_t n = 0;

    if (!is_name_start(name[0]))
        return false;
    while (is_name_char(name[n]))
        n++;
    return !name[n];
}

/* ---- kinds of tokens; each takes the lexer at its first character ---- */

static const char *take(struct lexer *l, size_t n, struct arena *arena)
{
    const char *text = arena_strndup(arena, l->source->text + l->offset, n);

    advance(l, n);
    return text;
}

static struct token bad(struct lexer *l, size_t n, const char *what)
{
    advance(l, n ? n : 1);
    return (struct token){.kind = TOKEN_BAD, .text = what};
}

/* The length of the text up to the closing character, which must be on the same line; SIZE_MAX if it is not there. */
static size_t find_close(const struct lexer *l, char close)
{
    for (size_t n = 1;; n++) {
        char c = at(l, (uint32_t)n);

        if (l->offset + n >= l->source->length || c == '\n')
            return SIZE_MAX;
        if (c == close)
            return n;
        if (c == '\\' && l->offset + n + 1 < l->source->length && at(l, (uint32_t)n + 1) != '\n')
            n++;
    }
}

static size_t rest_of_line(const struct lexer *l)
{
    size_t left = l->source->length - l->offset;
    const char *s = l->source->text + l->offset, *newline = memchr(s, '\n', left);

    return newline ? (size_t)(newline - s) : left;
}

/* A backslash protects the quote and itself; any other one stays, so that regexes in strings read as usual. */
static struct token lex_string(struct lexer *l, struct arena *arena)
{
    char quote = at(l, 0);
    size_t n = find_close(l, quote), len = 0;
    const char *s = l->source->text + l->offset;

    if (n == SIZE_MAX)
        return bad(l, rest_of_line(l), quote == '"' ? "this text has no closing \"" : "this text has no closing '");
    if (memchr(s, '\0', n))
        return bad(l, n, "a text cannot hold the character NUL");
    char *text = arena_alloc(arena, n);

    for (size_t i = 1; i < n; i++) {
        if (s[i] == '\\' && (s[i + 1] == quote || s[i + 1] == '\\'))
            i++;
        text[len++] = s[i];
    }
    text[len] = '\0';
    advance(l, n + 1);
    return (struct token){.kind = TOKEN_STRING, .text = text};
}

static struct token lex_regex(struct lexer *l, struct arena *arena)
{
    size_t n = find_close(l, '/'), len = 0;
    const char *s = l->source->text + l->offset;
    bool ignore_case = false;

    if (n == SIZE_MAX)
        return bad(l, rest_of_line(l), "this regular expression has no closing /");
    if (n == 1)
        return bad(l, 2, "this regular expression is empty");
    if (memchr(s, '\0', n))
        return bad(l, n, "a regular expression cannot hold the character NUL; write \\x00");
    char *text = arena_alloc(arena, n);

    for (size_t i = 1; i < n; i++) {
        if (s[i] == '\\' && s[i + 1] == '/')
            i++;
        else if (s[i] == '\\')
            text[len++] = s[i++];
        text[len++] = s[i];
    }
    text[len] = '\0';
    advance(l, n + 1);
    for (; isalpha((unsigned char)at(l, 0)); advance(l, 1)) {
        if (at(l, 0) != 'i')
            return bad(l, 1, "a regular expression has the single flag i (ignore case)");
        ignore_case = true;
    }
    return (struct token){.kind = TOKEN_REGEX, .text = text, .ignore_case = ignore_case};
}

/* {{name}} or {{name=default}} */
static struct token lex_parameter(struct lexer *l, struct arena *arena)
{
    const char *s = l->source->text + l->offset;
    size_t line = rest_of_line(l);
    const char *close = memmem(s, line, "}}", 2);
    struct token t = {.kind = TOKEN_PARAMETER};

    if (!close)
        return bad(l, line, "this parameter has no closing }}");
    char *text = arena_strndup(arena, s + 2, (size_t)(close - s) - 2);
    char *value = strchr(text, '=');

    if (value) {
        *value = '\0';
        t.value = value + 1;
    }
    if (!is_bare_name(text))
        return bad(l, (size_t)(close - s) + 2, "a parameter is written {{name}} or {{name=default}}");
    t.text = text;
    advance(l, (size_t)(close - s) + 2);
    return t;
}

/* #3 or @id, where a pattern stands */
static struct token lex_reference(struct lexer *l, struct arena *arena)
{
    bool row = at(l, 0) == '#';
    size_t n = 0;

    while (isalnum((unsigned char)at(l, (uint32_t)n + 1)))
        n++;
    if (!n)
        return bad(l, 1,
                   row ? "a row of the previous result is written #3"
                       : "a context is written @ and at least 6 digits of its id");
    advance(l, 1);
    return (struct token){.kind = row ? TOKEN_ROW : TOKEN_ID, .text = take(l, n, arena)};
}

static struct token lex_mark(struct lexer *l, struct arena *arena)
{
    static const char *const marks[] = {">>", "==", "!=", "<>", "<=", ">=", "=~", "!~", "..", "(", ")", ",", "+",
                                        "-",  "*",  "/",  "<",  ">",  "=",  ".",  "$",  "@",  "#", "|", ";"};
    /* Operators of other languages that begin like one of hq's. */
    static const char *const others[][2] = {{"||", "write or for it"},
                                            {"=>", "write >= for it"},
                                            {"=<", "write <= for it"},
                                            {"/*", "a comment begins with --"},
                                            {"**", "write x * x for x ** 2"}};
    unsigned char c = (unsigned char)at(l, 0);
    uint32_t code;

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (c == (unsigned char)others[i][0][0] && at(l, 1) == others[i][0][1])
            return bad(l, 2, others[i][1]);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (c == (unsigned char)marks[i][0] && (!marks[i][1] || at(l, 1) == marks[i][1]))
            return (struct token){.kind = TOKEN_MARK, .text = take(l, strlen(marks[i]), arena)};
    size_t n = utf8_next(l->source->text + l->offset, l->source->length - l->offset, &code);

    if (code >= 0x2018 && code <= 0x201f)
        return bad(l, n, "this is a typographic quote; write \" or '");
    if (code == 0xa0 || code == 0x2009 || code == 0x202f || code == 0x200b || code == 0xfeff)
        return bad(l, n, "this is a special space, which looks like a plain one; write a plain one");
    if (c == '&' || c == '!')
        return bad(l, c == '&' && at(l, 1) == '&' ? 2 : 1, c == '&' ? "write and for it" : "write not for it");
    if (c == '%')
        return bad(l, 1, "a % stands right behind its number: 5%");
    if (c == '`')
        return bad(l, 1, "names stand in \" or '");
    if (c == '~')
        return bad(l, 1, "write =~ /REGEX/ for it");
    if (c == ':')
        return bad(l, 1, "this means nothing here: ranks are 0-3,7, times 1s..2s");
    return bad(l, n, "this character means nothing here");
}

static struct token lex_word(struct lexer *l, bool (*is_char)(char), struct arena *arena)
{
    size_t n = 0;

    while (is_char(at(l, (uint32_t)n)))
        n++;
    return (struct token){.kind = TOKEN_WORD, .text = take(l, n, arena)};
}

static bool is_file_char(char c)
{
    return c && !is_space(c) && c != ';' && c != '"' && c != '\'';
}

/* Up to a comment, a zero byte, one of `ends` or the end of the line. */
static struct token lex_rest(struct lexer *l, const char *ends, struct arena *arena)
{
    size_t end = strnlen(l->source->text + l->offset, rest_of_line(l)), n = 0;
    struct lexer here = *l;

    for (; n < end && !strchr(ends, at(l, (uint32_t)n)) && !at_comment(&here); n++)
        here.offset++;
    while (n > 0 && is_space(at(l, (uint32_t)n - 1)))
        n--;
    if (n == 0 || (n >= 2 && at(l, 0) == '-' && at(l, 1) == '-'))
        return bad(l, 2, "this would be a comment behind white space");
    here.offset = l->offset + (uint32_t)n - 2;
    if (n > 2 && at(&here, 0) == '-' && at(&here, 1) == '-' && is_space(at(l, (uint32_t)n - 3)))
        return bad(l, (uint32_t)n, "-- at its end would be a comment");
    return (struct token){.kind = TOKEN_WORD, .text = take(l, n, arena)};
}

static struct token lex_here(struct lexer *l, enum lex_mode mode, struct arena *arena)
{
    char c = at(l, 0);
    size_t number;

    if (c == '\0')
        return at_end(l) ? (struct token){.kind = TOKEN_END} : bad(l, 1, "a query is text: it holds no zero byte");
    if (c == '{' && at(l, 1) == '{' && mode != LEX_REST && mode != LEX_WORDS)
        return lex_parameter(l, arena);
    if (c == ';')
        return lex_mark(l, arena);
    if (mode == LEX_REST || mode == LEX_WORDS)
        return lex_rest(l, mode == LEX_REST ? ";" : ";|>", arena);
    if (c == '"' || c == '\'')
        return lex_string(l, arena);
    if (mode == LEX_FILE)
        return lex_word(l, is_file_char, arena);
    if (c == '/' && mode != LEX_PLAIN)
        return lex_regex(l, arena);
    if ((c == '#' || c == '@') && mode == LEX_PATTERN)
        return lex_reference(l, arena);
    if (mode == LEX_PATTERN && is_pattern_start(c))
        return lex_word(l, is_pattern_char, arena);
    if (is_name_start(c))
        return lex_word(l, is_name_char, arena);
    if ((number = units_scan(l->source->text + l->offset)) > 0)
        return (struct token){.kind = TOKEN_NUMBER, .text = take(l, number, arena)};
    return lex_mark(l, arena);
}

struct token lex(struct lexer *l, enum lex_mode mode, struct arena *arena)
{
    struct lexer before = *l;
    bool newline = skip_space(l);
    struct lexer start = *l;
    struct token t = lex_here(l, mode, arena);

    t.place = (struct place){start.source, start.offset, l->offset - start.offset, start.line, start.column};
    t.margin = newline && start.column == 1;
    t.spaced = start.offset > before.offset || start.offset == 0;
    if (t.kind == TOKEN_END) /* complaints about it point behind the last word, not at empty lines */
        t.place = (struct place){before.source, before.offset, 0, before.line, before.column};
    return t;
}
