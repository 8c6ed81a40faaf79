/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loop statements of Ada: `loop` and `end loop` are found among its words, and the `for` or `while` in front of `loop`.
 * Those in parentheses are expressions: (for all I in A'Range => ...).
 */
#include "structure/source/statements.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

struct scanner {
    const char *at, *begin, *end;
    uint32_t line;
    uint32_t around; /* the innermost loop that is open */
    uint32_t named;  /* line of for or while since the last statement began, 0: none */
    unsigned open;   /* parentheses */
    bool ends;       /* the last word was `end` */
    struct statements *out;
};

static void begin_loop(struct scanner *s)
{
    uint32_t first = s->named ? s->named : s->line, number = (uint32_t)s->out->loops.len;

    vec_push(&s->out->loops, (struct loop_statement){.above = first,
                                                     .first = first,
                                                     .head = s->line,
                                                     .end = s->line,
                                                     .told = first,
                                                     .parent = s->around,
                                                     .ranges = 1});
    s->around = number;
    s->named = 0;
}

static void end_loop(struct scanner *s)
{
    if (s->around == STATEMENT_NONE)
        return;
    struct loop_statement *in = &s->out->loops.data[s->around];
    in->end = s->line;
    s->around = in->parent;
}

static bool is_word(const char *begin, size_t n, const char *word)
{
    return n == strlen(word) && !strncasecmp(begin, word, n);
}

static void word(struct scanner *s)
{
    const char *begin = s->at;
    bool ends = s->ends;

    while (s->at < s->end && (isalnum((unsigned char)*s->at) || *s->at == '_' || *s->at & 0x80))
        s->at++;
    size_t n = (size_t)(s->at - begin);
    s->ends = is_word(begin, n, "end");
    if (is_word(begin, n, "loop")) {
        if (ends)
            end_loop(s);
        else
            begin_loop(s);
    } else if (!s->open && (is_word(begin, n, "for") || is_word(begin, n, "while"))) {
        s->named = s->line;
    } else if (is_word(begin, n, "goto")) {
        vec_push(&s->out->gotos, (struct plain_line){s->line});
    }
}

/* Goes to the end of the line or behind the quote that closes; "" in a text closes it and opens another one. */
static void skip_text(struct scanner *s)
{
    for (s->at++; s->at < s->end && *s->at != '\n'; s->at++)
        if (*s->at == '"') {
            s->at++;
            return;
        }
}

/* Whether a character constant stands here; behind a name or a parenthesis it is an attribute or a qualified
 * expression. */
static bool is_character(const struct scanner *s)
{
    char before = s->at > s->begin ? s->at[-1] : ' ';

    return s->end - s->at > 2 && s->at[2] == '\'' && !isalnum((unsigned char)before) && !strchr("_)\"", before);
}

static void scan(struct scanner *s)
{
    while (s->at < s->end) {
        unsigned char c = (unsigned char)*s->at;

        if (isalpha(c) || c & 0x80) {
            word(s);
        } else if (c == '"') {
            skip_text(s);
        } else if (c == '\'' && is_character(s)) {
            s->at += 3;
        } else if (c == '-' && s->end - s->at > 1 && s->at[1] == '-') {
            while (s->at < s->end && *s->at != '\n')
                s->at++;
        } else {
            s->line += c == '\n';
            s->open += c == '(';
            s->open -= c == ')' && s->open;
            if (c == ';') {
                s->named = 0;
                s->open = 0;
            }
            s->ends &= isspace(c) != 0;
            s->at++;
        }
    }
}

void statements_of_ada(const char *text, size_t size, struct statements *out)
{
    struct scanner s = {.at = text, .begin = text, .end = text + size, .line = 1, .around = STATEMENT_NONE, .out = out};

    *out = (struct statements){0};
    scan(&s);
    while (s.around != STATEMENT_NONE)
        end_loop(&s);
}
