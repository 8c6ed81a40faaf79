/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inlined procedure that a loop belongs to: the innermost one that holds all of its code that says where it was
 * written. Not all code does. What says most are calls, the branches that close or leave the loop, and where the line
 * table has statements begin: code of a statement that begins nowhere in the loop was moved there (addresses of arrays
 * that are computed anew, what registers had no room for). Alignment and what was moved to the head of a loop have no
 * line, and counters that a vectoriser makes have, in gcc's tables, that of the code in front of the loop, be it of
 * another call. By these a loop would seem to be one of the procedure around, in the line of the call.
 */
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
    for (size_t i = 0; i < m->loops->branch_count; i++) {
        size_t end = tree_piece_at(m, m->loops->branches[i].address + 1);

        if (end)
            m->pieces.data[end - 1].decides = true;
    }
}

/* How surely a piece tells which inlined procedure a loop is in. */
enum voice { VOICE_NONE, VOICE_LINE, VOICE_STATEMENT };

static enum voice voice_of(const struct maker *m, const struct piece *piece, uint32_t loop)
{
    if (piece->calls)
        return VOICE_STATEMENT;
    if (!tree_speaks(m, piece, loop))
        return VOICE_NONE;
    return piece->begins || piece->decides ? VOICE_STATEMENT : VOICE_LINE;
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
