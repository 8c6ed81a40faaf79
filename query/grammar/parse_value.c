/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers, times, lists of numbers and files: what clauses take that is not an expression. */
#include "common/units.h"
#include "query/grammar/parser.h"
#include <math.h>
#include <stdlib.h>

/* A number token as a quantity; percent values stay as written (5 for 5%). */
static bool take_quantity(struct parser *p, enum expected_kind kind, const char *what, struct quantity *out)
{
    struct token t = *peek(p, LEX_PLAIN);

    *out = (struct quantity){0};
    note(p, kind, NULL);
    if (t.kind != TOKEN_NUMBER) {
        fail_here(p, what);
        return false;
    }
    AUTO_ERROR struct hq_error *err = units_parse(t.text, out);

    if (err)
        fail(p, &t.place, NULL, "%s", err->message);
    if (out->percent)
        out->value = strtod(t.text, NULL);
    next(p);
    return !p->error;
}

/* One of n words, consumed; its number. */
int parse_choice(struct parser *p, const char *const *words, int n)
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

/* count = DIGITS | PARAMETER        also 1K, 1e6 */
uint32_t parse_count(struct parser *p, uint32_t least, const char *what)
{
    struct place place = peek(p, LEX_PLAIN)->place;
    struct parameter_state state;
    struct quantity q;
    uint32_t n = least;

    note(p, EXPECTED_NUMBER, NULL);
    if (enter_parameter(p, &state)) {
        n = parse_count(p, least, what);
        leave_parameter(p, &state);
        return n;
    }
    if (is_mark(peek(p, LEX_PLAIN), "="))
        fail(p, &place, "write the number without it", "%s takes no =", what);
    if (is_mark(&p->token, "-"))
        fail(p, &place, NULL, "%s must be a whole number from %u to 4000000000", what, least);
    if (!take_quantity(p, EXPECTED_NUMBER, what, &q))
        return n;
    if (q.percent || q.dim != DIM_NONE || q.value != floor(q.value) || q.value < least || q.value > 4e9)
        fail(p, &place, NULL, "%s must be a whole number from %u to 4000000000", what, least);
    else
        n = (uint32_t)q.value;
    return n;
}

/* percent = PERCENT | PARAMETER */
double parse_percent(struct parser *p, const char *what)
{
    struct place place = peek(p, LEX_PLAIN)->place;
    struct parameter_state state;
    struct quantity q;
    double x = 100;

    note(p, EXPECTED_PERCENT, NULL);
    if (enter_parameter(p, &state)) {
        x = parse_percent(p, what);
        leave_parameter(p, &state);
        return x;
    }
    if (!take_quantity(p, EXPECTED_PERCENT, what, &q))
        return x;
    if (!q.percent || q.value > 100)
        fail(p, &place, NULL, "%s must be a percentage up to 100%%, such as 30%%", what);
    else
        x = q.value;
    return x;
}

/* factor = NUMBER [ "/" NUMBER ] | PARAMETER */
double parse_factor(struct parser *p)
{
    struct place place = peek(p, LEX_PLAIN)->place;
    struct parameter_state state;
    struct quantity q;
    double x = 1;

    note(p, EXPECTED_NUMBER, NULL);
    if (enter_parameter(p, &state)) {
        x = parse_factor(p);
        leave_parameter(p, &state);
        return x;
    }
    if (!take_quantity(p, EXPECTED_NUMBER, "a factor", &q))
        return x;
    x = q.percent ? q.value / 100 : q.value;
    if (accept_mark(p, "/")) {
        struct quantity by;

        if (take_quantity(p, EXPECTED_NUMBER, "a factor", &by))
            x /= by.percent ? by.value / 100 : by.value;
        q.dim = q.dim == DIM_NONE ? by.dim : q.dim;
    }
    if (q.dim != DIM_NONE || !isfinite(x) || x <= 0)
        fail(p, &place, NULL, "a factor must be a number above 0, such as 2, 0.5 or 1/4");
    return p->error ? 1 : x;
}

/* instant = TIME | PERCENT | PARAMETER */
struct instant parse_instant(struct parser *p)
{
    struct instant i = {.place = peek(p, LEX_PLAIN)->place};
    struct parameter_state state;
    struct quantity q;

    note(p, EXPECTED_TIME, NULL);
    if (enter_parameter(p, &state)) {
        i = parse_instant(p);
        leave_parameter(p, &state);
        return i;
    }
    if (!take_quantity(p, EXPECTED_TIME, "a time of the trace", &q))
        return i;
    i.percent = q.percent;
    i.value = q.value;
    if (q.percent && q.value > 100)
        fail(p, &i.place, NULL, "a slice ends with the run, at 100%%");
    else if (!q.percent && q.dim != DIM_SECONDS && (q.dim != DIM_NONE || q.value != 0))
        fail(p, &i.place, NULL, "a time of the trace needs a unit, such as 1.5s, 200ms or 40%%");
    return i;
}

/* range = count [ "-" count ] */
static struct number_range parse_range(struct parser *p, const char *what)
{
    struct place place = peek(p, LEX_PLAIN)->place;
    struct number_range r;

    r.first = r.last = parse_count(p, 0, what);
    if (accept_mark(p, "-"))
        r.last = parse_count(p, 0, what);
    place = since(p, &place);
    if (r.last < r.first)
        fail(p, &place, NULL, "the range %u-%u runs backwards", r.first, r.last);
    return r;
}

/* ranges = range { "," range }        a parameter may hold ranges too */
number_ranges parse_ranges(struct parser *p, enum expected_kind kind)
{
    const char *what = kind == EXPECTED_RANKS     ? "a rank"
                       : kind == EXPECTED_THREADS ? "a thread"
                       : kind == EXPECTED_DEVICES ? "a queue"
                                                  : "a line";
    struct parameter_state state;
    number_ranges list = {0};

    do {
        struct token t = *peek(p, LEX_PLAIN), second = peek_second(p);

        note(p, kind, NULL);
        if (is_word(&t, "all"))
            fail(p, &t.place, "leave the clause out: then it is all of them", "all is no number");
        if (t.kind == TOKEN_PARAMETER && !is_mark(&second, "-") && enter_parameter(p, &state)) {
            number_ranges inner = parse_ranges(p, kind);

            leave_parameter(p, &state);
            vec_foreach(r, &inner)
                list_push(p->arena, &list, *r);
        } else {
            list_push(p->arena, &list, parse_range(p, what));
        }
    } while (accept_mark(p, ","));
    if (!ended(p) && is_mark(peek(p, LEX_PLAIN), ".."))
        fail(p, &p->token.place, "write 0-3", "a range of numbers has a -, not ..");
    return list;
}

static const char *file_what(enum expected_kind kind)
{
    return kind == EXPECTED_DATABASE      ? "a database"
           : kind == EXPECTED_SAVED_QUERY ? "the name of a saved query"
                                          : "a file";
}

/* file = STRING | FILE | PARAMETER        FILE: characters up to white space or ";" */
const char *parse_file(struct parser *p, enum expected_kind kind, struct place *place)
{
    struct token t = *peek(p, LEX_FILE);
    const char *text = "";

    note(p, kind, NULL);
    *place = t.place;
    if (t.kind == TOKEN_PARAMETER)
        text = parameter_text(p);
    else if (t.kind == TOKEN_WORD || t.kind == TOKEN_STRING)
        text = next(p).text;
    else
        fail_here(p, file_what(kind));
    if (!p->error && !text[0])
        fail(p, place, NULL, "%s is empty here", file_what(kind));
    return text;
}
