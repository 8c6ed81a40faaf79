/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The line of a loop by its source, where that is at hand: of `for (;;)` and `while (1)` there is no code, the code of
 * a loop behind a directive has the directive's line, and gfortran gives a vectorised DO that of a statement in it. The
 * machine code tells which lines a loop goes through. It is the loop statement that holds these: if the line found so
 * far is in the head of one that does, that one; else the one with most of them, of several the innermost, inside of
 * the statement that the loop around it is. A loop of Fortran's GOTO has the line of the label that it goes back to.
 * Others that no statement holds (of macros, of whole arrays) keep their line, or have that of the first of several.
 */
#include "common/search.h"
#include "common/str.h"
#include "structure/source/sources.h"
#include "structure/tree_impl.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So much of a loop's lines lies in its statement; the rest is what compilers moved there. */
enum { PARTS = 4, INSIDE = 3 };

struct line_of_loop {
    uint32_t loop, line;
};

struct sourcing {
    struct maker *m;
    VEC(struct line_of_loop) lines; /* ascending, each once */
    uint32_t *statement;            /* [loop] what it is, STATEMENT_NONE: unknown */
    uint32_t *from;                 /* [loop] the line that its procedure begins in, 0: unknown */
    uint32_t *dealt;                /* [loop] the loop that it deals out in parts, LOOP_NONE */
    const struct statements **of;   /* [loop] those of its file, NULL: not at hand */
};

static int by_loop(const void *x, const void *y)
{
    const struct line_of_loop *a = x, *b = y;

    if (a->loop != b->loop)
        return a->loop < b->loop ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static void collect_lines(struct sourcing *s)
{
    const struct maker *m = s->m;
    uint32_t file, line;
    size_t n = 0;

    vec_foreach(piece, &m->pieces)
        for (uint32_t l = piece->loop; l != LOOP_NONE; l = m->loops->list[l].parent) {
            tree_line_in(m, piece, l, &file, &line);
            if (s->of[l] && line && file == m->places[l].file && line != m->origin)
                vec_push(&s->lines, (struct line_of_loop){l, line});
        }
    vec_sort(&s->lines, by_loop);
    for (size_t i = 0; i < s->lines.len; i++)
        if (!n || by_loop(&s->lines.data[n - 1], &s->lines.data[i]))
            s->lines.data[n++] = s->lines.data[i];
    s->lines.len = n;
}

/* Whether the source is what the binary was made of: its name stands where the procedure is declared. */
static bool is_source_of(struct maker *m, const struct loop_place *place, const char *path)
{
    const struct dwarf_procedure *p = m->p->dwarf;
    const struct dwarf_origin *o = p ? &p->origin : NULL;
    uint32_t line = tree_declared(m, place->context, place->file);
    char name[256];

    if (place->context != DWARF_NONE)
        o = m->p->unit->inlines[p->first_inline + place->context].origin;
    /* The names of Ada's procedures are those of the packages around, too. */
    if (!line || !o->name || !strcmp(o->name, "MAIN__") || statements_scanner(path) == statements_of_ada)
        return true;
    if (str_begins(o->name, "operator"))
        return sources_line_names(m->image->sources, path, line, "operator") ||
               sources_line_names(m->image->sources, path, line, "[");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(o->name, "<."), o->name);
    return !*name || sources_line_names(m->image->sources, path, line, name);
}

/* Where the line of a loop is from as long as no statement is found for it. */
static uint32_t basis_without(struct maker *m, const char *path)
{
    if (!path)
        return LOOP_UNKNOWN;
    if (!m->image->sources)
        return LOOP_SOURCE_UNREAD;
    bool is_read = sources_is_read(m->image->sources, path);

    switch (sources_state(m->image->sources, path)) {
    case SOURCE_GONE: return LOOP_SOURCE_GONE;
    case SOURCE_NEWER: return LOOP_SOURCE_NEWER;
    default: return is_read ? LOOP_UNLIKE_SOURCE : LOOP_SOURCE_UNREAD;
    }
}

static const char *path_of(const struct maker *m, const struct loop_place *place)
{
    return place->file ? intern_str(dwarf_files(m->image->dwarf), place->file) : NULL;
}

static void find_statements(struct sourcing *s)
{
    struct maker *m = s->m;

    for (uint32_t l = 0; l < m->loops->count; l++) {
        const struct loop_place *place = &m->places[l];
        const char *path = path_of(m, place);

        s->statement[l] = STATEMENT_NONE;
        s->from[l] = tree_declared(m, place->context, place->file);
        if (s->from[l] < m->origin)
            s->from[l] = m->origin;
        if (!path || !statements_scanner(path))
            continue;
        s->of[l] = sources_statements(m->image->sources, path);
        book_source(m->b, path, sources_state(m->image->sources, path));
        if (s->of[l] &&
            ((!s->of[l]->loops.len && !s->of[l]->rounds.len && !s->of[l]->arrays.len) || !is_source_of(m, place, path)))
            s->of[l] = NULL;
    }
}

/* The innermost statement that a line lies in. */
static uint32_t statement_at(const struct statements *of, uint32_t line)
{
    size_t n = vec_upto(&of->loops, above, line);
    uint32_t at = n ? (uint32_t)n - 1 : STATEMENT_NONE;

    while (at != STATEMENT_NONE && of->loops.data[at].end < line)
        at = of->loops.data[at].parent;
    return at;
}

/* The statement around one in the same procedure (a lambda or a parallel region may stand in a loop). */
static uint32_t statement_around(const struct sourcing *s, uint32_t loop, uint32_t at)
{
    const struct loop_statement *in;

    at = s->of[loop]->loops.data[at].parent;
    in = at == STATEMENT_NONE ? NULL : &s->of[loop]->loops.data[at];
    return in && in->first >= s->from[loop] ? at : STATEMENT_NONE;
}

static const struct line_of_loop *lines_of(const struct sourcing *s, uint32_t loop, size_t *count)
{
    size_t first = SEARCH(k, s->lines.len, s->lines.data[k].loop < loop), end = first;

    while (end < s->lines.len && s->lines.data[end].loop == loop)
        end++;
    *count = end - first;
    return s->lines.data + first;
}

static bool holds(const struct loop_statement *in, uint32_t line)
{
    return line >= in->above && line <= in->end;
}

static size_t count_inside(const struct sourcing *s, uint32_t loop, uint32_t statement)
{
    const struct loop_statement *in = &s->of[loop]->loops.data[statement];
    size_t count, inside = 0;
    const struct line_of_loop *lines = lines_of(s, loop, &count);

    for (size_t i = 0; i < count; i++)
        inside += holds(in, lines[i].line);
    return inside;
}

/* Whether most of a loop lies in a statement. One that has lines of its directive alone puts the results of threads
 * together. */
static bool fits(const struct sourcing *s, uint32_t loop, uint32_t statement)
{
    size_t count;
    const struct line_of_loop *lines = lines_of(s, loop, &count);

    return count && count_inside(s, loop, statement) * PARTS >= count * INSIDE &&
           lines[count - 1].line >= s->of[loop]->loops.data[statement].first;
}

/* The statement whose head, with the directives above it, holds the line that the loop has so far. */
static uint32_t told_statement(const struct sourcing *s, uint32_t loop)
{
    uint32_t line = s->m->places[loop].line, at = statement_at(s->of[loop], line);

    for (; at != STATEMENT_NONE; at = statement_around(s, loop, at)) {
        const struct loop_statement *in = &s->of[loop]->loops.data[at];

        if ((line >= in->above && line <= in->head) || line == in->told || (in->told > in->head && line == in->end))
            return fits(s, loop, at) ? at : STATEMENT_NONE;
    }
    return STATEMENT_NONE;
}

static bool is_over_array(const struct statements *of, uint32_t line)
{
    size_t n = vec_upto(&of->arrays, first, line);

    return n && of->arrays.data[n - 1].last >= line;
}

/* The line in which a statement begins that is no loop statement. */
static uint32_t first_line(const struct statements *of, uint32_t line)
{
    size_t n = vec_upto(&of->parts, first, line);

    if (is_over_array(of, line))
        return of->arrays.data[vec_upto(&of->arrays, first, line) - 1].first;
    return n && of->parts.data[n - 1].last >= line ? of->parts.data[n - 1].first : line;
}

/* Whether both loops are of one inlined procedure and file. */
static bool is_beside(const struct maker *m, uint32_t a, uint32_t b)
{
    return m->places[a].context == m->places[b].context && m->places[a].file == m->places[b].file;
}

/* The statement of the innermost loop around one, of those that are known. */
static uint32_t outer_statement(const struct sourcing *s, uint32_t loop)
{
    const struct maker *m = s->m;
    uint32_t l = m->loops->list[loop].parent;

    while (l != LOOP_NONE && (s->statement[l] == STATEMENT_NONE || !is_beside(m, l, loop)))
        l = m->loops->list[l].parent;
    return l == LOOP_NONE ? STATEMENT_NONE : s->statement[l];
}

/* Whether loops around one are all that this statement is. */
static bool is_taken(const struct sourcing *s, uint32_t loop, uint32_t statement)
{
    const struct maker *m = s->m;
    uint32_t left = s->of[loop]->loops.data[statement].ranges;

    for (uint32_t l = m->loops->list[loop].parent; l != LOOP_NONE && left; l = m->loops->list[l].parent)
        left -= s->statement[l] == statement && is_beside(m, l, loop);
    return !left;
}

/* Whether of two statements with as many of the lines the first is the better one: the inner one, if it is a loop at
 * all. */
static bool is_better(const struct statements *of, uint32_t at, uint32_t best)
{
    const struct loop_statement *a = &of->loops.data[at], *b = &of->loops.data[best];

    return a->unrolled != b->unrolled ? b->unrolled : at > best && a->end <= b->end;
}

/* The statement with most of the lines, of several the innermost; that of the loop around at most. */
static uint32_t held_statement(const struct sourcing *s, uint32_t loop)
{
    const struct statements *of = s->of[loop];
    uint32_t outer = outer_statement(s, loop), best = STATEMENT_NONE, last = 0;
    size_t count, most = 0;
    const struct line_of_loop *lines = lines_of(s, loop, &count);

    for (size_t i = 0; i < count; i++) {
        uint32_t first = statement_at(of, lines[i].line);

        if (i && first == last)
            continue;
        last = first;
        for (uint32_t at = first; at != STATEMENT_NONE;
             at = at == outer ? STATEMENT_NONE : statement_around(s, loop, at)) {
            size_t inside = of->loops.data[at].first >= s->from[loop] ? count_inside(s, loop, at) : 0;

            if (inside > most || (inside && inside == most && is_better(of, at, best))) {
                most = inside;
                best = at;
            }
        }
    }
    return best != STATEMENT_NONE && fits(s, loop, best) ? best : STATEMENT_NONE;
}

/* The loop directly in one, of its procedure, whose statement this is; any: STATEMENT_NONE. */
static uint32_t inner_of(const struct sourcing *s, uint32_t loop, uint32_t statement)
{
    const struct maker *m = s->m;

    for (uint32_t l = loop + 1; l < m->loops->count; l++)
        if (m->loops->list[l].parent == loop && is_beside(m, l, loop) &&
            (statement == STATEMENT_NONE ? s->statement[l] != STATEMENT_NONE : s->statement[l] == statement))
            return l;
    return LOOP_NONE;
}

/* Of two loops one of which lies in the other, and both in one statement, the outer one is that around it, if no other
 * loop is. So is one with too little code of its own to tell. */
static void part_from_inner(struct sourcing *s, uint32_t loop)
{
    uint32_t own = s->statement[loop], inner = inner_of(s, loop, own), around;

    if (inner == LOOP_NONE || (own != STATEMENT_NONE && s->of[loop]->loops.data[own].ranges > 1))
        return;
    around = statement_around(s, loop, s->statement[inner]);
    if (around == STATEMENT_NONE || is_taken(s, loop, around))
        return;
    if (own == STATEMENT_NONE ? holds(&s->of[loop]->loops.data[around], s->m->places[loop].line)
                              : fits(s, loop, around))
        s->statement[loop] = around;
}

/* Whether a line is that in which an `if` begins: a condition, then, and no macro that stands for a loop. */
static bool is_if(const struct statements *of, uint32_t line)
{
    size_t n = vec_upto(&of->ifs, line, line);

    return n && of->ifs.data[n - 1].line == line;
}

/* Whether a loop without a statement of its own is a way round that of the loop around it, as `continue` is: what has
 * its line is not its first, or a condition, so it is no macro. Nor is it closed by a goto. */
static bool is_way_round(const struct sourcing *s, uint32_t loop)
{
    const struct loop_statement *in = &s->of[loop]->loops.data[s->statement[loop]];
    size_t count, n = vec_upto(&s->of[loop]->gotos, line, in->end);
    const struct line_of_loop *lines = lines_of(s, loop, &count);

    return count && (lines[0].line < s->m->places[loop].line || is_if(s->of[loop], s->m->places[loop].line)) &&
           (!n || s->of[loop]->gotos.data[n - 1].line < in->first);
}

/* The loop of GOTO that one is: the smallest that holds so much of it, and of which it is a good part. It lies in the
 * statement around, and is no other loop's. NULL: none. */
static const struct line_span *round_of(const struct sourcing *s, uint32_t loop)
{
    const struct maker *m = s->m;
    const struct statements *of = s->of[loop];
    uint32_t outer = outer_statement(s, loop);
    const struct line_span *best = NULL;
    size_t count;
    const struct line_of_loop *lines = lines_of(s, loop, &count);

    for (size_t i = count ? vec_upto(&of->rounds, first, lines[count - 1].line) : 0; i-- > 0;) {
        const struct line_span *r = &of->rounds.data[i];
        size_t inside = 0;

        if (r->first < s->from[loop])
            break;
        for (size_t k = 0; k < count; k++)
            inside += lines[k].line >= r->first && lines[k].line <= r->last;
        if (inside * PARTS < count * INSIDE || (lines[count - 1].line - lines[0].line) * 2 < r->last - r->first ||
            (outer != STATEMENT_NONE &&
             !(of->loops.data[outer].first < r->first && holds(&of->loops.data[outer], r->last))))
            continue;
        if (!best || r->last - r->first < best->last - best->first)
            best = r;
    }
    for (uint32_t l = m->loops->list[loop].parent; best && l != LOOP_NONE; l = m->loops->list[l].parent)
        if (is_beside(m, l, loop) && m->places[l].line == best->first)
            return NULL;
    return best;
}

/* A loop that no statement holds, or that of a loop around it or in it. */
static bool is_open(const struct sourcing *s, uint32_t loop)
{
    uint32_t own = s->statement[loop];

    return own == STATEMENT_NONE || is_taken(s, loop, own) ||
           (s->of[loop]->loops.data[own].ranges == 1 && inner_of(s, loop, own) != LOOP_NONE);
}

/* A loop that deals out parts of another one is that one in the source. Its own code has the line of the last statement
 * in it, as gcc has what restores registers behind the call that asks for a part. */
static void find_dealt(struct sourcing *s)
{
    bool any = tree_has_parts(s->m);
    uint32_t inner, directive;

    for (uint32_t l = 0; l < s->m->loops->count; l++)
        s->dealt[l] = any && s->of[l] && tree_deals_out(s->m, l, &inner, &directive) && is_beside(s->m, l, inner)
                          ? inner
                          : LOOP_NONE;
}

/* Loops of GOTO, the outer ones first, and the others that no statement holds. */
static void name_others(struct sourcing *s, const bool *told)
{
    struct loop_place *places = s->m->places;

    for (uint32_t l = 0; l < s->m->loops->count; l++) {
        const struct line_span *r = s->of[l] && s->of[l]->rounds.len && !told[l] && is_open(s, l) ? round_of(s, l)
                                                                                                  : NULL;

        if (r) {
            s->statement[l] = STATEMENT_NONE;
            places[l].line = r->first;
            places[l].basis = LOOP_BY_SOURCE;
        } else if (s->of[l] && s->statement[l] == STATEMENT_NONE) {
            places[l].line = first_line(s->of[l], places[l].line);
        }
    }
}

static void name_loop(struct sourcing *s, uint32_t loop, bool told)
{
    uint32_t own = s->statement[loop];

    if (told || !is_taken(s, loop, own) || is_way_round(s, loop)) {
        s->m->places[loop].line = s->of[loop]->loops.data[own].told;
        s->m->places[loop].basis = LOOP_BY_SOURCE;
    }
}

void tree_name_by_source(struct maker *m)
{
    size_t n = m->loops->count;
    struct sourcing s = {.m = m};
    bool *told;

    for (uint32_t l = 0; m->image->dwarf && l < n; l++)
        m->places[l].basis = basis_without(m, path_of(m, &m->places[l]));
    if (!m->image->sources || !m->image->dwarf)
        return;
    told = xcalloc(n, sizeof *told);
    s.statement = xcalloc(n, sizeof *s.statement);
    s.from = xcalloc(n, sizeof *s.from);
    s.of = xcalloc(n, sizeof *s.of);
    s.dealt = xcalloc(n, sizeof *s.dealt);
    find_statements(&s);
    find_dealt(&s);
    collect_lines(&s);
    for (uint32_t l = 0; l < n; l++)
        told[l] = s.dealt[l] == LOOP_NONE && s.of[l] && (s.statement[l] = told_statement(&s, l)) != STATEMENT_NONE;
    for (uint32_t l = 0; l < n; l++)
        if (s.of[l] && !told[l] && s.dealt[l] == LOOP_NONE && !is_over_array(s.of[l], m->places[l].line))
            s.statement[l] = held_statement(&s, l);
    for (uint32_t l = (uint32_t)n; l-- > 0;)
        if (s.dealt[l] != LOOP_NONE) {
            s.statement[l] = s.statement[s.dealt[l]];
            told[l] = told[s.dealt[l]] = s.statement[l] != STATEMENT_NONE;
        } else if (s.of[l]) {
            part_from_inner(&s, l);
        }
    name_others(&s, told);
    for (uint32_t l = 0; l < n; l++)
        if (s.statement[l] != STATEMENT_NONE)
            name_loop(&s, l, told[l]);
    free(told);
    free(s.statement);
    free(s.from);
    free(s.of);
    free(s.dealt);
    vec_deinit(&s.lines);
}
