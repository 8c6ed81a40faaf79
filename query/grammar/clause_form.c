/* SPDX-License-Identifier: BSD-3-Clause */
/* The clauses of how the result is shown, each read and printed (clauses.def). */
#include "query/grammar/parser.h"
#include "query/grammar/printer.h"
#include "query/grammar/words.h"

static const char *const bases[] = {"total", "shown", "parent"};

/* percent-of = "percent" "of" ("total" | "shown" | "parent") */
void clause_percent(struct parser *p, struct query *q)
{
    q->percent = (enum percent_base)parse_choice(p, bases, 3);
    if (q->percent == PERCENT_PARENT && !clause_allowed(p->view, CLAUSE_DEPTH, NULL))
        fail(p, &p->last, NULL, "the rows of %s have no parents to take a percentage of", view_words[p->view].name);
}

void add_percent(struct str *s, const struct query *q)
{
    if (q->given[CLAUSE_PERCENT].line)
        str_addf(s, " percent of %s", bases[q->percent]);
}

/* level = "level" count */
void clause_level(struct parser *p, struct query *q)
{
    q->level = parse_count(p, 1, "the level");
}

void add_level(struct str *s, const struct query *q)
{
    if (q->level)
        str_addf(s, " level %u", q->level);
}

/* Columns or lines of a picture: each cell of it takes memory and time. */
static uint32_t parse_extent(struct parser *p, const char *what)
{
    struct place place = peek(p, LEX_PLAIN)->place;
    uint32_t n = parse_count(p, 1, what);

    if (n > EXTENT_MOST)
        fail(p, &place, NULL, "%s is at most %d", what, EXTENT_MOST);
    return n;
}

/* width = "width" count */
void clause_width(struct parser *p, struct query *q)
{
    q->width = parse_extent(p, "the width");
}

void add_width(struct str *s, const struct query *q)
{
    if (q->width)
        str_addf(s, " width %u", q->width);
}

/* height = "height" count */
void clause_height(struct parser *p, struct query *q)
{
    q->height = parse_extent(p, "the height");
}

void add_height(struct str *s, const struct query *q)
{
    if (q->height)
        str_addf(s, " height %u", q->height);
}

/* `as out.csv`, `as csv out.csv`: a file where no file can stand. */
static void check_no_file(struct parser *p, const struct token *format)
{
    struct parser here = *p;
    struct token t = *peek(&here, LEX_FILE);
    bool dotted = t.kind == TOKEN_WORD && !t.spaced && t.text[0] == '.',
         path = t.kind == TOKEN_WORD && t.spaced && strpbrk(t.text, "./") && !strchr("|>", t.text[0]);

    if (format->kind != TOKEN_WORD || t.margin)
        return;
    if (dotted)
        fail(p, &format->place, arena_printf(p->arena, "write as FORMAT to %s%s", format->text, t.text),
             "%s%s is a file, not a format", format->text, t.text);
    else if (path)
        fail(p, &t.place, arena_printf(p->arena, "write as %s to %s", format->text, t.text), "a file stands behind to");
}

/* output = (NAME | STRING | PARAMETER) [ "to" file ] */
struct output_spec *parse_output(struct parser *p)
{
    struct output_spec *as = ARENA_NEW(p->arena, struct output_spec);
    struct token t = *peek(p, LEX_PLAIN);
    char *format;

    note(p, EXPECTED_FORMAT, NULL);
    as->place = as->format_place = t.place;
    as->format = "";
    if (t.kind == TOKEN_WORD || t.kind == TOKEN_STRING)
        next(p);
    else if (t.kind == TOKEN_PARAMETER)
        t.text = parameter_text(p);
    else
        fail_here(p, "a format");
    if (p->error)
        return as;
    as->format = format = arena_strdup(p->arena, t.text);
    for (; *format; format++)
        *format = *format >= 'A' && *format <= 'Z' ? (char)(*format + 32) : *format;
    check_no_file(p, &t);
    if (accept_word(p, "to"))
        as->file = parse_file(p, EXPECTED_OUTPUT_FILE, &as->file_place);
    as->place = since(p, &as->place);
    return as;
}

/* as = "as" output */
void clause_as(struct parser *p, struct query *q)
{
    q->as = parse_output(p);
}

void add_output(struct str *s, const struct output_spec *as)
{
    str_add(s, " as ");
    if (is_bare_name(as->format))
        str_add(s, as->format);
    else
        print_quoted(s, as->format);
    if (as->file) {
        str_add(s, " to ");
        add_file(s, as->file);
    }
}

void add_as(struct str *s, const struct query *q)
{
    if (q->as)
        add_output(s, q->as);
}
