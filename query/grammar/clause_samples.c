/* SPDX-License-Identifier: BSD-3-Clause */
/* The clauses that choose samples, each read and printed (clauses.def). */
#include "query/grammar/parser.h"
#include "query/grammar/printer.h"
#include "query/grammar/words.h"

/* ranks = ("ranks" | "rank") ranges */
void clause_ranks(struct parser *p, struct query *q)
{
    q->samples.ranks = parse_ranges(p, EXPECTED_RANKS);
}

void add_ranks(struct str *s, const struct query *q)
{
    add_ranges(s, "ranks", &q->samples.ranks);
}

/* threads = ("threads" | "thread") ranges */
void clause_threads(struct parser *p, struct query *q)
{
    q->samples.threads = parse_ranges(p, EXPECTED_THREADS);
}

void add_threads(struct str *s, const struct query *q)
{
    add_ranges(s, "threads", &q->samples.threads);
}

/* devices = "devices" ranges */
void clause_devices(struct parser *p, struct query *q)
{
    q->samples.devices = parse_ranges(p, EXPECTED_DEVICES);
}

void add_devices(struct str *s, const struct query *q)
{
    add_ranges(s, "devices", &q->samples.devices);
}

static const char *const pers[] = {"thread", "rank", "host"};

/* per = "per" ("thread" | "rank" | "host") */
void clause_per(struct parser *p, struct query *q)
{
    q->samples.per = (enum per)(PER_THREAD + parse_choice(p, pers, 3));
}

void add_per(struct str *s, const struct query *q)
{
    if (q->samples.per)
        str_addf(s, " per %s", pers[q->samples.per - PER_THREAD]);
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
void clause_during(struct parser *p, struct query *q)
{
    q->samples.during = ARENA_NEW(p->arena, struct during);
    parse_slices(p, q->samples.during);
}

void add_during(struct str *s, const struct query *q)
{
    const struct during *d = q->samples.during;

    if (!d)
        return;
    str_add(s, " during ");
    if (d->kind == DURING_SLICE) {
        add_instant(s, &d->from);
        str_add(s, "..");
        add_instant(s, &d->to);
        return;
    }
    if (d->kind == DURING_ITERATION)
        str_addf(s, "iteration %u of ", d->number);
    add_pattern(s, &d->pattern);
}

/* through = [ "not" ] "through" path */
void clause_through(struct parser *p, struct query *q)
{
    struct through t = {.negated = p->other_keyword, .path = parse_path(p)};

    t.place = since(p, &p->keyword);
    list_push(p->arena, &q->samples.through, t);
}

void add_through(struct str *s, const struct query *q)
{
    for (size_t i = 0; i < q->samples.through.len; i++) {
        str_add(s, q->samples.through.data[i].negated ? " not through " : " through ");
        add_path(s, &q->samples.through.data[i].path);
    }
}

/* prune = "prune" pattern */
void clause_prune(struct parser *p, struct query *q)
{
    list_push(p->arena, &q->samples.prune, parse_pattern(p, NAMES_ANY));
}

void add_prune(struct str *s, const struct query *q)
{
    for (size_t i = 0; i < q->samples.prune.len; i++)
        str_add(s, " prune "), add_pattern(s, &q->samples.prune.data[i]);
}

/* hide = "hide" pattern */
void clause_hide(struct parser *p, struct query *q)
{
    list_push(p->arena, &q->samples.hide, parse_pattern(p, NAMES_ANY));
}

void add_hide(struct str *s, const struct query *q)
{
    for (size_t i = 0; i < q->samples.hide.len; i++)
        str_add(s, " hide "), add_pattern(s, &q->samples.hide.data[i]);
}

/* compare-with = "compare" "with" file */
void clause_compare(struct parser *p, struct query *q)
{
    struct place place;

    q->samples.compare = parse_file(p, EXPECTED_DATABASE, &place);
}

void add_compare(struct str *s, const struct query *q)
{
    if (q->samples.compare)
        str_add(s, " compare with "), add_file(s, q->samples.compare);
}

/* scaled-by = "scaled" "by" factor */
void clause_scaled(struct parser *p, struct query *q)
{
    q->samples.scale = parse_factor(p);
}

void add_scaled(struct str *s, const struct query *q)
{
    if (q->given[CLAUSE_SCALED].line)
        str_add(s, " scaled by "), add_number(s, q->samples.scale);
}
