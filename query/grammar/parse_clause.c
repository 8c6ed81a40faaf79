/* SPDX-License-Identifier: BSD-3-Clause */
/* The clauses of a query. */
#include "query/grammar/parser.h"
#include <strings.h>

/* ---- which clause is it ---- */

/* True if the token, and for names of two words the one behind it, spell the name. */
static bool spells(const struct token *first, const struct token *second, const char *name, bool *two)
{
    const char *space = name ? strchr(name, ' ') : NULL;

    *two = space != NULL;
    if (!name)
        return false;
    if (!space)
        return is_word(first, name);
    return first->kind == TOKEN_WORD && strlen(first->text) == (size_t)(space - name) &&
           strncasecmp(first->text, name, (size_t)(space - name)) == 0 && (!second || is_word(second, space + 1));
}

/* `whole`: the second word counts too. */
static int find_clause(struct parser *p, bool whole)
{
    struct token first = *peek(p, LEX_PLAIN), second;
    bool two;

    if (first.kind != TOKEN_WORD)
        return -1;
    second = peek_second(p);
    for (int i = 0; i < CLAUSE_KINDS; i++)
        if (spells(&first, whole ? &second : NULL, clause_words[i].name, &two) ||
            spells(&first, !whole && p->stop_at_end && second.kind == TOKEN_END ? NULL : &second, clause_words[i].other,
                   &two))
            return i;
    return -1;
}

int clause_here(struct parser *p)
{
    for (int i = 0; i < CLAUSE_KINDS; i++)
        if (clause_allowed(p->view, (enum clause_kind)i, NULL)) {
            note(p, EXPECTED_CLAUSE, clause_words[i].name);
            if (i == CLAUSE_THROUGH)
                note(p, EXPECTED_CLAUSE, clause_words[i].other);
        }
    return find_clause(p, false);
}

/* A word of a clause that has no meaning here is free, two of them are not. `depth`, `rank` and `thread` are row
   attributes too: the clause goes on with a number. */
bool clause_begins(struct parser *p)
{
    int clause = p->in_query ? find_clause(p, true) : -1;
    struct token second;

    if (clause < 0)
        return false;
    if (!clause_allowed(p->view, (enum clause_kind)clause, NULL))
        return strchr(clause_words[clause].name, ' ') || is_word(&p->token, "not");
    if (find_attribute(peek(p, LEX_PLAIN)->text) < 0)
        return true;
    second = peek_second(p);
    return second.kind == TOKEN_NUMBER || second.kind == TOKEN_PARAMETER;
}

/* ---- one function a clause, behind its keyword ---- */

/* ranks = ("ranks" | "rank") ranges */
static void clause_ranks(struct parser *p, struct query *q)
{
    q->ranks = parse_ranges(p, EXPECTED_RANKS);
}

/* threads = ("threads" | "thread") ranges */
static void clause_threads(struct parser *p, struct query *q)
{
    q->threads = parse_ranges(p, EXPECTED_THREADS);
}

/* devices = "devices" ranges */
static void clause_devices(struct parser *p, struct query *q)
{
    q->devices = parse_ranges(p, EXPECTED_DEVICES);
}

/* One of n words, consumed; its number. */
static int choose(struct parser *p, const char *const *words, int n)
{
    for (int i = 0; i < n; i++) {
        note(p, EXPECTED_KEYWORD, words[i]);
        if (is_word(peek(p, LEX_PLAIN), words[i])) {
            next(p);
            return i;
        }
    }
    fail_here(p, NULL);
    return 0;
}

/* per = "per" ("thread" | "rank" | "host") */
static void clause_per(struct parser *p, struct query *q)
{
    static const char *const words[] = {"thread", "rank", "host"};

    q->per = (enum per)(PER_THREAD + choose(p, words, 3));
}

/* slice = [ instant ] ".." [ instant ] */
static void parse_slice(struct parser *p, struct during *d)
{
    d->kind = DURING_SLICE;
    d->from = (struct instant){.place = p->last};
    d->to = (struct instant){.place = p->last, .percent = true, .value = 100};
    if (!is_mark(peek(p, LEX_PLAIN), ".."))
        d->from = parse_instant(p);
    want_mark(p, "..");
    note(p, EXPECTED_TIME, NULL);
    if (!ended(p) && (p->token.kind == TOKEN_NUMBER || p->token.kind == TOKEN_PARAMETER))
        d->to = parse_instant(p);
    d->place = since(p, &d->place);
    if (d->from.percent == d->to.percent && d->from.value >= d->to.value)
        fail(p, &d->place, NULL, "this slice is empty: it must start before it ends");
}

/* slices = slice | "iteration" count "of" pattern | pattern | PARAMETER */
static void parse_slices(struct parser *p, struct during *d)
{
    struct token t = *peek(p, LEX_PLAIN), second = peek_second(p);
    struct parameter_state state;

    note(p, EXPECTED_TIME, NULL);
    note(p, EXPECTED_MARK, "..");
    note(p, EXPECTED_KEYWORD, "iteration");
    note_pattern(p, NAMES_ANY);
    d->place = t.place;
    if (t.kind == TOKEN_NUMBER || is_mark(&t, "..") || (t.kind == TOKEN_PARAMETER && is_mark(&second, ".."))) {
        parse_slice(p, d);
    } else if (is_word(&t, "iteration") && (second.kind == TOKEN_NUMBER || second.kind == TOKEN_PARAMETER ||
                                            (p->stop_at_end && second.kind == TOKEN_END))) {
        next(p);
        d->kind = DURING_ITERATION;
        d->number = parse_count(p, 1, "the number of an iteration");
        want_word(p, "of");
        d->pattern = parse_pattern(p, NAMES_ANY);
    } else if (enter_parameter(p, &state)) {
        parse_slices(p, d);
        leave_parameter(p, &state);
    } else {
        d->kind = DURING_PATTERN;
        d->pattern = parse_pattern(p, NAMES_ANY);
    }
    d->place = since(p, &t.place);
}

/* during = "during" slices */
static void clause_during(struct parser *p, struct query *q)
{
    q->during = ARENA_NEW(p->arena, struct during);
    parse_slices(p, q->during);
}

/* prune = "prune" pattern */
static void clause_prune(struct parser *p, struct query *q)
{
    list_push(p->arena, &q->prune, parse_pattern(p, NAMES_ANY));
}

/* hide = "hide" pattern */
static void clause_hide(struct parser *p, struct query *q)
{
    list_push(p->arena, &q->hide, parse_pattern(p, NAMES_ANY));
}

/* compare = "compare" "with" file */
static void clause_compare(struct parser *p, struct query *q)
{
    struct place place;

    q->compare = parse_file(p, EXPECTED_DATABASE, &place);
}

/* scaled = "scaled" "by" factor */
static void clause_scaled(struct parser *p, struct query *q)
{
    q->scale = parse_factor(p);
}

/* flatten = "flatten" [ count ] */
static void clause_flatten(struct parser *p, struct query *q)
{
    q->flatten = 1;
    note(p, EXPECTED_NUMBER, NULL);
    if (!ended(p) && (p->token.kind == TOKEN_NUMBER || p->token.kind == TOKEN_PARAMETER))
        q->flatten = parse_count(p, 1, "the number of levels");
}

/* column = [ NAME "=" ] expr */
static struct column_def parse_column(struct parser *p)
{
    struct token t = *peek(p, LEX_PLAIN), second = peek_second(p);
    struct column_def c = {.place = t.place};

    if (t.kind == TOKEN_WORD && is_mark(&second, "=")) {
        c.name = next(p).text;
        c.name_place = t.place;
        want_mark(p, "=");
    }
    c.expr = parse_expr(p);
    c.place = since(p, &c.place);
    return c;
}

/* columns = "columns" column { "," column } */
static void clause_columns(struct parser *p, struct query *q)
{
    do
        list_push(p->arena, &q->columns, parse_column(p));
    while (accept_mark(p, ","));
}

/* where = "where" expr */
static void clause_where(struct parser *p, struct query *q)
{
    list_push(p->arena, &q->where, parse_expr(p));
}

/* matching = "matching" pattern */
static void clause_matching(struct parser *p, struct query *q)
{
    note(p, EXPECTED_REGEX, NULL);
    list_push(p->arena, &q->matching, parse_pattern(p, NAMES_ANY));
}

/* expect = "expect" expectation */
static void clause_expect(struct parser *p, struct query *q)
{
    list_push(p->arena, &q->expect, parse_expectation(p));
}

static bool key_is_missing(struct parser *p)
{
    const struct token *t;

    note_operand(p);
    if (ended(p))
        return true;
    t = peek(p, LEX_PLAIN);
    return is_word(t, "asc") || is_word(t, "desc") || is_mark(t, ",") || clause_begins(p);
}

/* key = [ expr ] [ "asc" | "desc" ]        without expr: by the first metric (the shell took the $1) */
static struct sort_key parse_key(struct parser *p)
{
    struct sort_key key = {.place = peek(p, LEX_PLAIN)->place};

    if (key_is_missing(p)) {
        key.place = p->last;
        hint(p, &p->last,
             "sort by without a metric sorts by the first one; if you wrote $1 in double quotes, the shell took it: "
             "use single quotes");
    } else {
        key.expr = parse_expr(p);
        if (key.expr->kind == EXPR_NUMBER)
            fail(p, &key.expr->place,
                 "in double quotes a shell makes 0 of $10: use single quotes, or the name of a metric such as cputime",
                 "a number is the same for all rows and sorts nothing");
    }
    key.ascending = key.expr && key.expr->kind == EXPR_ATTRIBUTE;
    if (accept_word(p, "asc"))
        key.ascending = true;
    else if (accept_word(p, "desc"))
        key.ascending = false;
    key.place = since(p, &key.place);
    return key;
}

/* sort = "sort" "by" key { "," key } */
static void clause_sort(struct parser *p, struct query *q)
{
    do
        list_push(p->arena, &q->sort, parse_key(p));
    while (accept_mark(p, ","));
}

/* limit = "limit" count */
static void clause_limit(struct parser *p, struct query *q)
{
    q->limit = parse_count(p, 1, "the limit");
}

/* depth = "depth" count */
static void clause_depth(struct parser *p, struct query *q)
{
    q->depth = parse_count(p, 1, "the depth");
}

/* all = "all" */
static void clause_all(struct parser *p, struct query *q)
{
    (void)p;
    q->all = true;
}

/* by = "by" expr */
static void clause_by(struct parser *p, struct query *q)
{
    q->by = parse_expr(p);
}

/* threshold = "threshold" percent */
static void clause_threshold(struct parser *p, struct query *q)
{
    q->threshold = parse_percent(p, "the threshold");
}

/* percent-of = "percent" "of" ("total" | "shown" | "parent") */
static void clause_percent(struct parser *p, struct query *q)
{
    static const char *const words[] = {"total", "shown", "parent"};

    q->percent = (enum percent_base)choose(p, words, 3);
    if (q->percent == PERCENT_PARENT && !clause_allowed(p->view, CLAUSE_DEPTH, NULL))
        fail(p, &p->last, NULL, "the rows of %s have no parents to take a percentage of", view_words[p->view].name);
}

/* level = "level" count */
static void clause_level(struct parser *p, struct query *q)
{
    q->level = parse_count(p, 1, "the level");
}

/* width = "width" count */
static void clause_width(struct parser *p, struct query *q)
{
    q->width = parse_count(p, 1, "the width");
}

/* height = "height" count */
static void clause_height(struct parser *p, struct query *q)
{
    q->height = parse_count(p, 1, "the height");
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
static void clause_as(struct parser *p, struct query *q)
{
    q->as = parse_output(p);
}

/* ---- all of them ---- */

static void (*const parsers[CLAUSE_KINDS])(struct parser *, struct query *) = {
    [CLAUSE_RANKS] = clause_ranks,
    [CLAUSE_THREADS] = clause_threads,
    [CLAUSE_DEVICES] = clause_devices,
    [CLAUSE_PER] = clause_per,
    [CLAUSE_DURING] = clause_during,
    [CLAUSE_PRUNE] = clause_prune,
    [CLAUSE_HIDE] = clause_hide,
    [CLAUSE_COMPARE] = clause_compare,
    [CLAUSE_SCALED] = clause_scaled,
    [CLAUSE_FLATTEN] = clause_flatten,
    [CLAUSE_COLUMNS] = clause_columns,
    [CLAUSE_WHERE] = clause_where,
    [CLAUSE_MATCHING] = clause_matching,
    [CLAUSE_EXPECT] = clause_expect,
    [CLAUSE_SORT] = clause_sort,
    [CLAUSE_LIMIT] = clause_limit,
    [CLAUSE_DEPTH] = clause_depth,
    [CLAUSE_ALL] = clause_all,
    [CLAUSE_BY] = clause_by,
    [CLAUSE_THRESHOLD] = clause_threshold,
    [CLAUSE_PERCENT] = clause_percent,
    [CLAUSE_LEVEL] = clause_level,
    [CLAUSE_WIDTH] = clause_width,
    [CLAUSE_HEIGHT] = clause_height,
    [CLAUSE_AS] = clause_as,
};

/* through = [ "not" ] "through" path */
static void clause_through(struct parser *p, struct query *q, bool negated, const struct place *start)
{
    struct through t = {.negated = negated, .path = parse_path(p)};

    t.place = since(p, start);
    list_push(p->arena, &q->through, t);
}

/* The words of the clause, consumed; the place of the keyword. */
static struct place keyword(struct parser *p, enum clause_kind kind, bool *negated)
{
    struct place start = peek(p, LEX_PLAIN)->place;
    const char *second = strchr(clause_words[kind].name, ' ');

    *negated = kind == CLAUSE_THROUGH && is_word(&p->token, "not");
    next(p);
    if (*negated)
        second = " through";
    if (second)
        want_word(p, second + 1);
    return since(p, &start);
}

static void check_twice(struct parser *p, const struct query *q, enum clause_kind kind, const struct place *place)
{
    enum clause_kind other = kind == CLAUSE_LIMIT ? CLAUSE_ALL : kind == CLAUSE_ALL ? CLAUSE_LIMIT : kind;
    const struct place *first = &q->given[kind];

    if (first->line && !clause_words[kind].repeats)
        fail(p, place, NULL, "%s is given twice; the first is at %s:%u:%u", clause_words[kind].name,
             first->source->name, first->line, first->column);
    first = &q->given[other];
    if (other != kind && first->line)
        fail(p, place, NULL, "%s contradicts %s at %s:%u:%u", clause_words[kind].name, clause_words[other].name,
             first->source->name, first->line, first->column);
}

/* True if nothing stands between the end of the view and what was consumed last. */
static bool place_follows(const struct place *view, const struct place *last)
{
    return view->source == last->source && view->offset + view->length == last->offset + last->length;
}

/*
 * clause = ranks | threads | per | during | through | prune | hide | compare | scaled | flatten | columns | where
 *        | matching | expect | sort | limit | depth | all | by | threshold | percent-of | level | width | height | as
 */
void parse_clause(struct parser *p, struct query *q)
{
    int kind = clause_here(p);
    struct place place;
    const char *why;
    bool negated;

    if (kind < 0) {
        if (place_follows(&q->view.place, &p->last) && !q->view.of)
            fail_without_of(p);
        else
            fail_here(p, NULL);
        return;
    }
    place = keyword(p, (enum clause_kind)kind, &negated);
    if (!clause_allowed(p->view, (enum clause_kind)kind, &why))
        fail(p, &place, NULL, "%s has no meaning for %s: %s", clause_words[kind].name, view_words[p->view].name, why);
    check_twice(p, q, (enum clause_kind)kind, &place);
    if (kind == CLAUSE_THROUGH)
        clause_through(p, q, negated, &place);
    else
        parsers[kind](p, q);
    if (!q->given[kind].line)
        q->given[kind] = since(p, &place);
}
