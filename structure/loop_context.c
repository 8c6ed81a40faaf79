/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inlined procedure that a loop belongs to: the innermost one that holds all code that was written in the loop. Not
 * all code in it was. What has the line of a statement that begins elsewhere and not in the loop, as the line table has
 * it, was moved there (addresses of arrays that are computed anew, what registers had no room for), unless it calls or
 * decides. Alignment and what was moved to the head of a loop have no line, and counters that a vectoriser makes have,
 * in gcc's tables, that of the code in front of the loop, be it of another call. By these a loop would seem to be one
 * of the procedure around, in the line of the call.
 */
#include "common/search.h"
#include "structure/tree_impl.h"
#include <stdlib.h>

bool tree_lies_in(const struct maker *m, uint32_t loop, uint32_t outer)
{
    while (loop != LOOP_NONE && loop != outer)
        loop = m->loops->list[loop].parent;
    return loop == outer;
}

bool tree_speaks(const struct maker *m, const struct piece *piece, uint32_t loop)
{
    return piece->calls || (piece->line && tree_lies_in(m, piece->row_loop, loop));
}

void tree_line_in(const struct maker *m, const struct piece *piece, uint32_t loop, uint32_t *file, uint32_t *line)
{
    if (m->places[loop].silent || tree_speaks(m, piece, loop))
        tree_projected(m, piece, m->places[loop].context, file, line);
    else
        *file = *line = 0;
}

static void set_rows(struct maker *m)
{
    vec_foreach(piece, &m->pieces)
        piece->row_loop = piece->begins_row || piece == m->pieces.data || piece->low != piece[-1].high
                              ? piece->loop
                              : piece[-1].row_loop;
}

static void set_calls(struct maker *m)
{
    size_t at = 0;

    for (size_t i = 0; i < m->loops->call_count; i++) {
        while (at < m->pieces.len && m->pieces.data[at].high <= m->loops->calls[i].low)
            at++;
        if (at < m->pieces.len && m->pieces.data[at].low <= m->loops->calls[i].low)
            m->pieces.data[at].calls = true;
    }
    at = 0;
    for (size_t i = 0; i < m->loops->decision_count; i++) {
        while (at < m->pieces.len && m->pieces.data[at].high <= m->loops->decisions[i])
            at++;
        if (at < m->pieces.len && m->pieces.data[at].low <= m->loops->decisions[i])
            m->pieces.data[at].decides = true;
    }
}

static int by_place(const void *a, const void *b)
{
    const struct begun *x = a, *y = b;

    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->loop != y->loop)
        return x->loop < y->loop ? -1 : 1;
    return x->inlined < y->inlined ? -1 : x->inlined > y->inlined;
}

static bool same_place(const struct begun *a, const struct begun *b)
{
    return a->file == b->file && a->line == b->line && a->loop == b->loop && a->inlined == b->inlined;
}

static void add_hidden(struct maker *m, const struct dwarf_range *r)
{
    const struct dwarf_unit *u = m->p->unit;
    size_t i = r->low ? array_upto(u->hidden, u->hidden_count, address, r->low - 1) : 0;

    for (; i < u->hidden_count && u->hidden[i].address < r->high; i++) {
        size_t at = tree_piece_at(m, u->hidden[i].address);

        if (at < m->pieces.len)
            vec_push(&m->begun,
                     (struct begun){u->hidden[i].file, u->hidden[i].line, m->pieces.data[at].loop, BEGUN_ANYWHERE});
    }
}

static void find_begun(struct maker *m)
{
    size_t kept = 0;

    if (!m->inlines || !m->p->dwarf || !m->p->dwarf->inline_count)
        return;
    vec_foreach(piece, &m->pieces)
        if (piece->begins && piece->begins_row)
            vec_push(&m->begun, (struct begun){piece->file, piece->line, piece->loop, piece->inlined});
    for (size_t i = 0; i < m->p->range_count; i++)
        add_hidden(m, &m->p->ranges[i]);
    vec_sort(&m->begun, by_place);
    for (size_t i = 0; i < m->begun.len; i++)
        if (!kept || !same_place(&m->begun.data[kept - 1], &m->begun.data[i]))
            m->begun.data[kept++] = m->begun.data[i];
    m->begun.len = kept;
}

enum origin { UNKNOWN, IN_LOOP, ELSEWHERE };

/* Where a statement of a line begins. */
static enum origin origin_of(const struct maker *m, struct begun place, uint32_t loop)
{
    struct begun first = {place.file, place.line, 0, 0};
    enum origin origin = UNKNOWN;

    for (size_t i = SEARCH(k, m->begun.len, by_place(&m->begun.data[k], &first) < 0); i < m->begun.len; i++) {
        const struct begun *b = &m->begun.data[i];

        if (b->file != place.file || b->line != place.line)
            break;
        if (b->inlined != place.inlined && b->inlined != BEGUN_ANYWHERE)
            continue;
        if (tree_lies_in(m, b->loop, loop))
            return IN_LOOP;
        origin = ELSEWHERE;
    }
    return origin;
}

/* Whether the statement of a piece begins elsewhere and not in a loop around it: it was moved there. Of inlined code
 * for which the line table tells no beginning (gcc -flto loses them), the call is looked at. */
static bool was_moved(const struct maker *m, const struct piece *piece, uint32_t loop)
{
    struct begun place = {piece->file, piece->line, 0, piece->inlined};
    enum origin origin = origin_of(m, place, loop);

    while (origin == UNKNOWN && place.inlined != DWARF_NONE) {
        place.inlined = tree_inline_parent(m, place.inlined);
        tree_projected(m, piece, place.inlined, &place.file, &place.line);
        origin = origin_of(m, place, loop);
    }
    return origin == ELSEWHERE;
}

uint32_t tree_declared(const struct maker *m, uint32_t inlined, uint32_t file)
{
    const struct dwarf_procedure *p = m->p->dwarf;
    const struct dwarf_origin *o = p ? &p->origin : NULL;

    if (inlined != DWARF_NONE)
        o = m->p->unit->inlines[p->first_inline + inlined].origin;
    return o && o->file == file ? o->line : 0;
}

/*
 * Whether a piece has a line that cannot be of the procedure it is said to be of: one above its declaration, or one of
 * which a statement begins in another procedure, declared between that line and this procedure. Where gcc makes one
 * condition or address of several, it gives the place of the wrong one of two inlined procedures, or loses it.
 */
static bool is_misplaced(const struct maker *m, const struct piece *piece)
{
    struct begun first = {piece->file, piece->line, 0, 0};
    uint32_t from = tree_declared(m, piece->inlined, piece->file);

    if (!from || piece->line < from)
        return from;
    for (size_t i = SEARCH(k, m->begun.len, by_place(&m->begun.data[k], &first) < 0); i < m->begun.len; i++) {
        const struct begun *b = &m->begun.data[i];
        uint32_t other = b->inlined == BEGUN_ANYWHERE ? 0 : tree_declared(m, b->inlined, b->file);

        if (b->file != piece->file || b->line != piece->line)
            break;
        if (other > from && other <= piece->line)
            return true;
    }
    return false;
}

/* How surely a piece tells which inlined procedure a loop is in. */
enum voice { VOICE_NONE, VOICE_LINE, VOICE_STATEMENT };

static enum voice voice_of(const struct maker *m, const struct piece *piece, uint32_t loop)
{
    if (piece->calls)
        return VOICE_STATEMENT;
    if (!tree_speaks(m, piece, loop))
        return VOICE_NONE;
    return is_misplaced(m, piece) || (!piece->decides && was_moved(m, piece, loop)) ? VOICE_LINE : VOICE_STATEMENT;
}

static void hear(struct maker *m, const struct piece *piece, uint32_t loop)
{
    struct loop_place *place = &m->places[loop];
    uint32_t voice = voice_of(m, piece, loop);

    if (!place->seen || voice > place->voice) {
        place->context = piece->inlined;
        place->voice = voice;
        place->seen = true;
    } else if (voice == place->voice) {
        place->context = tree_common_inline(m, place->context, piece->inlined);
    }
}

void tree_place_loops(struct maker *m)
{
    uint32_t n = m->loops ? (uint32_t)m->loops->count : 0;

    m->places = xcalloc(n + 1, sizeof *m->places);
    if (!n)
        return;
    set_rows(m);
    set_calls(m);
    find_begun(m);
    for (uint32_t l = 0; l < n; l++)
        m->places[l].context = DWARF_NONE;
    vec_foreach(piece, &m->pieces)
        for (uint32_t l = piece->loop; l != LOOP_NONE; l = m->loops->list[l].parent)
            hear(m, piece, l);
    for (uint32_t l = 0; l < n; l++) {
        uint32_t parent = m->loops->list[l].parent;
        struct loop_place *place = &m->places[l];

        place->silent = place->voice == VOICE_NONE;
        /* Of a loop within another one that knows better. */
        if (parent != LOOP_NONE &&
            tree_common_inline(m, place->context, m->places[parent].context) != m->places[parent].context)
            place->context = m->places[parent].context;
    }
}
