/* SPDX-License-Identifier: BSD-3-Clause */
/* The view of a query, with its `of` and what else belongs to it. */
#include "query/grammar/parser.h"
#include "common/str.h"
#include <strings.h>

/* True if the token starts the name of a view; *second is its other word, or NULL. */
static bool starts(const struct token *t, const char *name, const char **second)
{
    const char *space = strchr(name, ' ');
    size_t n = space ? (size_t)(space - name) : strlen(name);

    *second = space ? space + 1 : NULL;
    return t->kind == TOKEN_WORD && strlen(t->text) == n && !strncasecmp(t->text, name, n);
}

/* The view whose name, or other name, starts here. Forms of trace are found by their second word, later. */
static int find_view(const struct token *t, const char **second)
{
    for (int i = 0; i < VIEW_KINDS; i++) {
        if (starts(t, view_words[i].name, second) && (!*second || i == VIEW_HOT_PATH))
            return i;
        for (size_t k = 0; k < 3 && view_words[i].others[k]; k++)
            if (starts(t, view_words[i].others[k], second))
                return i;
    }
    return -1;
}

static void note_views(struct parser *p)
{
    for (int i = 0; i < VIEW_KINDS; i++) {
        if (str_begins(view_words[i].name, "trace "))
            continue;
        note(p, EXPECTED_VIEW, view_words[i].name);
        for (size_t k = 0; k < 3 && view_words[i].others[k]; k++)
            note(p, EXPECTED_VIEW, view_words[i].others[k]);
    }
}

/* advice: what to write where the question ends before it, a line. */
static void want_of(struct parser *p, const char *advice)
{
    note(p, EXPECTED_KEYWORD, "of");
    if (peek(p, LEX_PLAIN)->kind == TOKEN_END)
        fail_missing(p, advice, "of");
    else
        want_word(p, "of");
}

/* of = "of" pattern */
static void parse_of(struct parser *p, struct view *v)
{
    const struct view_word *w = &view_words[v->kind];

    if (w->of == OF_NONE)
        return;
    const struct token *t = peek(p, LEX_PLAIN);

    if (w->of == OF_OPTIONAL && !accept_word(p, "of"))
        return;
    if (w->of == OF_REQUIRED && !is_word(t, "of") && (t->kind == TOKEN_WORD || t->kind == TOKEN_STRING))
        fail_without_of(p);
    else if (w->of == OF_REQUIRED)
        want_of(p, arena_printf(p->arena, "write %s of NAME\n", w->name));
    v->of = ARENA_NEW(p->arena, struct pattern);
    *v->of = parse_pattern(p, w->names);
    t = peek(p, LEX_PLAIN);
    if (!p->error && is_mark(t, ","))
        fail(p, &t->place,
             arena_printf(p->arena, "for several write them as a regular expression, %s of /A|B/", w->name),
             "one name or pattern can stand here");
}

/* explain = "explain" percent "of" expr */
static void parse_explain(struct parser *p, struct view *v)
{
    struct token t = *peek(p, LEX_PLAIN);

    v->share = parse_percent(p, "the share to explain");
    if (v->share <= 0)
        fail(p, &t.place, NULL, "the share to explain must be above 0%%");
    want_word(p, "of");
    v->expr = parse_expr(p);
}

/* phases = "phases" [ ("between" | "of") pattern ] */
static void parse_phases(struct parser *p, struct view *v)
{
    struct pattern **pattern = accept_word(p, "between") ? &v->between : accept_word(p, "of") ? &v->of : NULL;

    if (!pattern)
        return;
    *pattern = ARENA_NEW(p->arena, struct pattern);
    **pattern = parse_pattern(p, NAMES_ANY);
}

/* alike = [ "by" expr { "," expr } ] { "eps" factor | "min" count } */
static void parse_alike(struct parser *p, struct view *v)
{
    if (accept_word(p, "by"))
        do
            list_push(p->arena, &v->by, parse_expr(p));
        while (accept_mark(p, ","));
    for (;;) {
        if (accept_word(p, "eps"))
            v->eps = parse_factor(p);
        else if (accept_word(p, "min"))
            v->least = parse_count(p, 1, "the least number of points of a cluster");
        else
            return;
    }
}

/* clusters = "clusters" "of" phases alike */
static void parse_clusters(struct parser *p, struct view *v)
{
    want_of(p, "write clusters of phases\n");
    want_word(p, "phases");
    parse_phases(p, v);
    parse_alike(p, v);
}

/* of-clusters = [ "of" phases ] alike */
static void parse_of_clusters(struct parser *p, struct view *v)
{
    if (accept_word(p, "of")) {
        want_word(p, "phases");
        parse_phases(p, v);
    }
    parse_alike(p, v);
}

/* folded = "cluster" count of-clusters | pattern */
static void parse_folded(struct parser *p, struct view *v)
{
    struct token t = *peek(p, LEX_PLAIN), number = peek_second(p);

    note(p, EXPECTED_KEYWORD, "cluster");
    if (is_word(&t, "cluster") && (number.kind == TOKEN_NUMBER || number.kind == TOKEN_PARAMETER)) {
        next(p);
        v->cluster = parse_count(p, 1, "the number of the cluster");
        v->cluster_place = since(p, &t.place);
        parse_of_clusters(p, v);
        return;
    }
    v->of = ARENA_NEW(p->arena, struct pattern);
    *v->of = parse_pattern(p, NAMES_ANY);
}

/* frames = "frames" count "+" "1" */
static void parse_frames(struct parser *p, struct view *v)
{
    struct token one;
    uint32_t callers = parse_count(p, 0, "the number of callers");
    want_mark(p, "+");
    one = *peek(p, LEX_PLAIN);
    if (parse_count(p, 1, "the 1 of what ran") != 1 || callers > FOLD_CALLERS)
        fail(p, &one.place, NULL, "frames are up to %d callers and what they called: frames 2+1", FOLD_CALLERS);
    v->frames = callers + 1;
}

static enum instances parse_instances(struct parser *p)
{
    if (accept_word(p, "all"))
        return INSTANCES_ALL;
    if (accept_word(p, "mad"))
        return INSTANCES_MAD;
    want_word(p, "sd");
    return INSTANCES_SD;
}

/*
 * fold = "fold" "of" folded { of-visits | "points" count }
 * routines = "routines" "of" folded { of-visits }
 * of-visits = "on" "cputime" | frames | "instances" ("all" | "sd" | "mad")
 */
static void parse_fold(struct parser *p, struct view *v)
{
    struct token first = *peek(p, LEX_PLAIN);

    if (!is_word(&first, "of") && (first.kind == TOKEN_WORD || first.kind == TOKEN_STRING))
        fail_without_of(p);
    want_of(p, arena_printf(p->arena, "write %s of NAME\n", view_words[v->kind].name));
    parse_folded(p, v);
    for (;;) {
        struct token t = *peek(p, LEX_PLAIN);

        if (accept_word(p, "frames")) {
            parse_frames(p, v);
        } else if (v->kind == VIEW_FOLD && accept_word(p, "points")) {
            v->points = parse_count(p, 1, "the number of points");
            if (v->points > FOLD_POINTS)
                fail(p, &t.place, NULL, "a fold has at most %d points", FOLD_POINTS);
        } else if (accept_word(p, "on")) {
            want_word(p, "cputime");
            v->on_running = true;
            v->on_place = since(p, &t.place);
        } else if (accept_word(p, "instances")) {
            v->instances = parse_instances(p);
        } else {
            return;
        }
    }
}

/* of-profile = "of" (ranks | threads) */
static void trace_profile(struct parser *p, struct query *q)
{
    int clause;

    if (!accept_word(p, "of"))
        return;
    note(p, EXPECTED_KEYWORD, "rank");
    note(p, EXPECTED_KEYWORD, "thread");
    p->view = q->view.kind;
    clause = is_word(peek(p, LEX_PLAIN), "rank") || is_word(&p->token, "ranks") ? CLAUSE_RANKS
             : is_word(&p->token, "thread") || is_word(&p->token, "threads")    ? CLAUSE_THREADS
                                                                                : -1;
    if (clause < 0)
        fail_here(p, NULL);
    else
        parse_clause(p, q);
}

/* Returns the second word of a form of trace. */
static const char *second_word(int kind)
{
    return kind == VIEW_TRACE_CLUSTERS ? "of" : view_words[kind].name + 6;
}

/* trace = "trace" [ "depth" [ of-profile ] | "at" instant | "summary" | "imbalance" [ of ] | "of" "clusters" of-clusters ] */
static void parse_trace(struct parser *p, struct query *q)
{
    struct view *v = &q->view;
    struct token t;

    for (int i = 0; i < VIEW_KINDS; i++)
        if (str_begins(view_words[i].name, "trace "))
            note(p, EXPECTED_VIEW, view_words[i].name + 6);
    if (ended(p))
        return;
    for (int i = 0; i < VIEW_KINDS; i++)
        if (str_begins(view_words[i].name, "trace ") && is_word(peek(p, LEX_PLAIN), second_word(i)))
            v->kind = (enum view_kind)i;
    if (v->kind == VIEW_TRACE)
        return;
    next(p);
    t = *peek(p, LEX_PLAIN);
    if (v->kind == VIEW_TRACE_CLUSTERS && (is_word(&t, "rank") || is_word(&t, "ranks")))
        fail(p, &t.place, "write trace ranks 0 for its row, trace depth of rank 0 for its call paths",
             "a trace is of all profiles");
    if (v->kind == VIEW_TRACE_CLUSTERS) {
        want_word(p, "clusters");
        parse_of_clusters(p, v);
        return;
    }
    t = *peek(p, LEX_PLAIN);
    if (v->kind == VIEW_TRACE_AT)
        v->at = parse_instant(p);
    if (v->kind == VIEW_TRACE_DEPTH && (t.kind == TOKEN_NUMBER || t.kind == TOKEN_PARAMETER) && !ended(p))
        fail(p, &t.place, "write trace level 3 for one level, trace depth of rank 0 for the levels of one profile",
             "trace depth takes no number");
    if (v->kind == VIEW_TRACE_DEPTH)
        trace_profile(p, q);
}

/* flat = "flat" [ of | "by" ("group" | "directory" | "module" | "runtime") ] */
/* groups = "groups" [ "by" ("directory" | "module" | "runtime") ] */
static void parse_grouped(struct parser *p, struct view *v)
{
    if (v->kind == VIEW_GROUPS)
        v->grouped = GROUPED_DEFINED;
    else if (v->kind != VIEW_FLAT)
        return;
    if (v->of || !accept_word(p, "by"))
        return;
    int first = v->kind == VIEW_FLAT ? GROUPED_DEFINED : GROUPED_DIRECTORY;
    struct token t = *peek(p, LEX_PLAIN);

    for (int i = first; i < GROUPED_KINDS; i++)
        note(p, EXPECTED_KEYWORD, grouped_words[i]);
    for (int i = first; i < GROUPED_KINDS; i++)
        if (is_word(&t, grouped_words[i])) {
            v->grouped = (enum grouped)i;
            next(p);
            return;
        }
    if (t.kind == TOKEN_END)
        fail_here(p, NULL);
    else
        fail(p, &t.place, NULL, "behind by, this has no meaning for %s: %sdirectory, module or runtime can stand there",
             view_words[v->kind].name, first == GROUPED_DEFINED ? "group, " : "");
}

/* view = VIEW [ of ] | VIEW-OF of | VIEW-ALONE | flat | groups | trace | explain | phases | fold | routines | clusters        "of" may, must, cannot stand */
bool parse_view(struct parser *p, struct query *q)
{
    struct token t = *peek(p, LEX_PLAIN);
    const char *second;
    int kind;

    note_views(p);
    kind = find_view(&t, &second);
    if (kind < 0)
        return false;
    next(p);
    if (second && !is_word(peek(p, LEX_PLAIN), second) && p->token.kind == TOKEN_WORD) {
        const char *here = foreign_statement(arena_printf(p->arena, "%s-%s", t.text, p->token.text));

        if (here)
            fail(p, &p->token.place, arena_printf(p->arena, "here that is: %s", here), "%s cannot stand here",
                 p->token.text);
    }
    if (second)
        want_word(p, second);
    q->view.kind = p->view = (enum view_kind)kind;
    p->in_query = true;
    if (kind == VIEW_TRACE)
        parse_trace(p, q);
    else if (kind == VIEW_EXPLAIN)
        parse_explain(p, &q->view);
    else if (kind == VIEW_PHASES)
        parse_phases(p, &q->view);
    else if (kind == VIEW_FOLD || kind == VIEW_ROUTINES)
        parse_fold(p, &q->view);
    else if (kind == VIEW_CLUSTERS)
        parse_clusters(p, &q->view);
    p->view = q->view.kind;
    parse_of(p, &q->view);
    parse_grouped(p, &q->view);
    q->view.place = since(p, &t.place);
    return true;
}
