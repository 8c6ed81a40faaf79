/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the line of a loop by its own code: that of its best branch, and with it all that is needed to judge whether
 * that is right. */
#include "common/search.h"
#include "structure/tree_impl.h"

static void prefer(struct loop_place *place, uint32_t evidence, uint32_t file, uint32_t line)
{
    if (!line || evidence > place->evidence || (evidence == place->evidence && line >= place->line))
        return;
    place->evidence = evidence;
    place->file = file;
    place->line = line;
}

/* Sets the first line of each loop, in the file of its first code. */
static void note_first(struct maker *m)
{
    uint32_t file, line;

    vec_foreach(piece, &m->pieces)
        for (uint32_t l = piece->loop; l != LOOP_NONE; l = m->loops->list[l].parent) {
            struct loop_place *place = &m->places[l];

            tree_line_in(m, piece, l, &file, &line);
            if (line && (!place->first || (file == place->first_file && line < place->first))) {
                place->first_file = file;
                place->first = line;
            }
        }
}

/* Whether a branch does not tell the condition of a loop, though it leaves it: what it leads to does not return, as
 * behind assert(). In the first line it does: such a loop is left in vain. */
static bool is_check(const struct loop_place *place, const struct loop_branch *branch, uint32_t file, uint32_t line)
{
    return branch->dies && file == place->first_file && line > place->first;
}

/* The exit condition names a loop best, then the backward branch, then the first line; see doc/structure.md. */
void tree_name_by_branches(struct maker *m)
{
    size_t n = m->loops ? m->loops->count : 0;
    uint32_t file, line;

    for (size_t l = 0; l < n; l++)
        m->places[l].evidence = LOOP_EVIDENCE_KINDS + 1;
    if (n)
        note_first(m);
    for (size_t i = 0; n && i < m->loops->branch_count; i++) {
        const struct loop_branch *branch = &m->loops->branches[i];
        size_t at = tree_piece_at(m, branch->address + 1);

        if (!at)
            continue;
        tree_line_in(m, &m->pieces.data[at - 1], branch->loop, &file, &line);
        if (!is_check(&m->places[branch->loop], branch, file, line))
            prefer(&m->places[branch->loop], branch->evidence, file, line);
    }
    vec_foreach(piece, &m->pieces)
        for (uint32_t l = piece->loop; l != LOOP_NONE; l = m->loops->list[l].parent) {
            tree_line_in(m, piece, l, &file, &line);
            prefer(&m->places[l], LOOP_EVIDENCE_KINDS, file, line);
        }
}

/* Code of a region's start lies everywhere in it. */
static void note_line(struct loop_place *place, uint32_t file, uint32_t line, uint32_t origin)
{
    if (!line || file != place->file || line == origin)
        return;
    place->least = place->least && place->least < line ? place->least : line;
    place->most = place->most > line ? place->most : line;
}

/* The line of the code at an address, as a loop's inlined procedure sees it; 0: it has none, or lies elsewhere. */
static uint32_t line_at(const struct maker *m, uint64_t address, const struct loop_place *place)
{
    size_t at = address ? tree_piece_at(m, address + 1) : 0;
    uint32_t file, line;

    if (!at || m->pieces.data[at - 1].high <= address)
        return 0;
    tree_projected(m, &m->pieces.data[at - 1], place->context, &file, &line);
    return file == place->file ? line : 0;
}

static void note_branch(struct maker *m, const struct loop_branch *branch)
{
    struct loop_place *place = &m->places[branch->loop];
    size_t at = tree_piece_at(m, branch->address + 1);
    uint32_t file, line;

    if (!at)
        return;
    tree_line_in(m, &m->pieces.data[at - 1], branch->loop, &file, &line);
    if (!line || file != place->file || is_check(place, branch, file, line))
        return;
    if (branch->evidence == LOOP_HEADER_EXIT) {
        place->header_exit = line;
        place->header_to = line_at(m, branch->to, place);
    }
    if (branch->evidence == LOOP_EXIT_AND_BACK && line == place->line) {
        place->back_to = line_at(m, branch->to, place);
        if (m->pieces.data[at - 1].low == branch->address && !branch->tests)
            place->compared = line_at(m, branch->address - 1, place);
    }
    if (branch->evidence == LOOP_EXIT && (!place->exit || line < place->exit))
        place->exit = line;
    if (branch->evidence == LOOP_BACK && (!place->back || line < place->back))
        place->back = line;
}

/* The brace of a body at the end of the line of `for` or `while` stands this much further right than what it holds. The
 * start of a loop directly in it, which is told there where that one is unrolled, does not. */
enum { BRACE_OUT = 6, BRACE_FROM = 17 }; /* for(i=0;i<n;i++){ is the shortest */

/* Weighs the next statement that is told at the header of a loop; returns whether it decides. The first one is the
 * brace that its body begins with, as g++ has it, if the one behind it stands left of it. */
static bool note_told(struct loop_place *place, const struct dwarf_row *row, const struct dwarf_row **first)
{
    /* Code above the first statement that begins in the loop was moved there. */
    uint32_t below = place->least > place->begun ? place->least : place->begun;

    if (row->file != place->file || !row->begins || (*first && row->line <= (*first)->line))
        return false;
    if (!*first && row->line < below) {
        *first = row;
        return false;
    }
    if (*first && row->line <= place->most && row->column && (*first)->column >= row->column + BRACE_OUT &&
        (*first)->column >= BRACE_FROM)
        place->opened = (*first)->line;
    return true;
}

static void note_opened(struct maker *m, uint32_t loop)
{
    const struct dwarf_unit *u = m->p->unit;
    uint64_t header = m->loops->list[loop].header;
    const struct dwarf_row *first = NULL;
    size_t i;

    /* In C no brace is told, and a first statement may stand right of the second. */
    if (!u || !u->cplusplus || !m->places[loop].file)
        return;
    for (i = SEARCH(k, u->hidden_count, u->hidden[k].address < header);
         i < u->hidden_count && u->hidden[i].address == header; i++)
        if (note_told(&m->places[loop], &u->hidden[i], &first))
            return;
    i = SEARCH(k, u->row_count, u->rows[k].address < header);
    if (i < u->row_count && u->rows[i].address == header)
        note_told(&m->places[loop], &u->rows[i], &first);
}

void tree_note_lines(struct maker *m)
{
    uint32_t file, line;

    vec_foreach(piece, &m->pieces)
        for (uint32_t l = piece->loop; l != LOOP_NONE; l = m->loops->list[l].parent) {
            tree_line_in(m, piece, l, &file, &line);
            note_line(&m->places[l], file, line, m->origin);
            if (piece->begins && line && file == m->places[l].file &&
                (!m->places[l].begun || line < m->places[l].begun))
                m->places[l].begun = line;
        }
    for (size_t l = 0; l < m->loops->count; l++) {
        size_t at = tree_piece_at(m, m->loops->list[l].header);

        if (!m->places[l].most)
            m->places[l].least = m->places[l].most = m->places[l].line;
        note_opened(m, (uint32_t)l);

        if (at == m->pieces.len)
            continue;
        tree_line_in(m, &m->pieces.data[at], l, &file, &line);
        m->places[l].top = file == m->places[l].file ? line : 0;
        m->places[l].told = m->places[l].top && m->pieces.data[at].line == line ? m->pieces.data[at].least : 0;
    }
    for (size_t i = 0; i < m->loops->branch_count; i++)
        note_branch(m, &m->loops->branches[i]);
}
