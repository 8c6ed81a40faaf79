/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The line of a loop: that of its control statement, as a reader would point at it. The exit condition names it best,
 * then the backward branch, then its first line; see doc/structure.md. That is wrong, and mended, in these cases:
 *   - gcc gives the condition of a loop that OpenMP spreads over threads the line of the last statement; the branches
 *     in front, where a thread without a share goes past it, have the right one;
 *   - a condition in the body that goes round or leaves names the loop less well than one at its top, in its first
 * line;
 *   - what is left in the middle only is closed by goto, or has no condition: it begins at the top;
 *   - the branch of a vectorised loop may have the line of its only statement.
 */
#include "structure/tree_impl.h"
#include <string.h>

static void prefer(struct loop_place *place, uint32_t evidence, uint32_t file, uint32_t line)
{
    if (!line || evidence > place->evidence || (evidence == place->evidence && line >= place->line))
        return;
    place->evidence = evidence;
    place->file = file;
    place->line = line;
}

/* The exit condition names a loop best, then the backward branch, then the first line; see doc/structure.md. */
static void name_by_branches(struct maker *m, size_t n)
{
    uint32_t file, line;

    for (size_t l = 0; l < n; l++)
        m->places[l].evidence = LOOP_EVIDENCE_KINDS + 1;
    for (size_t i = 0; n && i < m->loops->branch_count; i++) {
        const struct loop_branch *branch = &m->loops->branches[i];
        size_t at = tree_piece_at(m, branch->address + 1);

        if (!at || branch->evidence == LOOP_IN_FRONT)
            continue;
        tree_projected(m, &m->pieces.data[at - 1], m->places[branch->loop].context, &file, &line);
        prefer(&m->places[branch->loop], branch->evidence, file, line);
    }
    vec_foreach(piece, &m->pieces)
        for (uint32_t l = piece->loop; l != LOOP_NONE; l = m->loops->list[l].parent) {
            tree_projected(m, piece, m->places[l].context, &file, &line);
            prefer(&m->places[l], LOOP_EVIDENCE_KINDS, file, line);
        }
}

static void note_line(struct loop_place *place, uint32_t file, uint32_t line)
{
    if (!line || file != place->file)
        return;
    place->least = place->least && place->least < line ? place->least : line;
    place->most = place->most > line ? place->most : line;
}

static void note_lines(struct maker *m)
{
    uint32_t file, line;

    vec_foreach(piece, &m->pieces)
        for (uint32_t l = piece->loop; l != LOOP_NONE; l = m->loops->list[l].parent) {
            tree_projected(m, piece, m->places[l].context, &file, &line);
            note_line(&m->places[l], file, line);
        }
    for (size_t l = 0; l < m->loops->count; l++) {
        size_t at = tree_piece_at(m, m->loops->list[l].header);

        if (at == m->pieces.len)
            continue;
        tree_projected(m, &m->pieces.data[at], m->places[l].context, &file, &line);
        m->places[l].top = file == m->places[l].file ? line : 0;
    }
    for (size_t i = 0; i < m->loops->branch_count; i++) {
        const struct loop_branch *branch = &m->loops->branches[i];
        struct loop_place *place = &m->places[branch->loop];
        size_t at = tree_piece_at(m, branch->address + 1);

        if (!at)
            continue;
        tree_projected(m, &m->pieces.data[at - 1], place->context, &file, &line);
        if (!line || file != place->file)
            continue;
        if (branch->evidence == LOOP_HEADER_EXIT)
            place->header_exit = line;
        if (branch->evidence == LOOP_IN_FRONT && line <= place->least && line > place->front)
            place->front = line;
    }
}

/* The body of a parallel region is a procedure of its own; of gcc's only this name says so. */
static bool is_region(const struct maker *m)
{
    const char *name = m->p->dwarf->origin.name;

    return name && strstr(name, "._omp_fn.");
}

/* The line that the code begins with: of a region that of its pragma. */
static uint32_t entry_line(const struct maker *m)
{
    size_t at = tree_piece_at(m, m->p->entry);

    return at < m->pieces.len ? m->pieces.data[at].line : 0;
}

/* How many loops of the source a region has at its top, one at least: copies end in the same line. What has the line of
 * the region itself puts the threads' results together. */
static uint32_t shared_loops(const struct maker *m, uint32_t origin)
{
    uint32_t count = 0;

    for (uint32_t l = 0; l < m->loops->count; l++) {
        bool first = m->loops->list[l].parent == LOOP_NONE && m->places[l].line != origin;

        for (uint32_t k = 0; k < l && first; k++)
            first = m->loops->list[k].parent != LOOP_NONE || m->places[k].most != m->places[l].most;
        count += first;
    }
    return count ? count : 1;
}

/* Whether a line lies in the code of another loop. */
static bool in_another(const struct maker *m, uint32_t line, const struct loop_place *place)
{
    for (uint32_t l = 0; l < m->loops->count; l++) {
        const struct loop_place *other = &m->places[l];

        if (other != place && other->file == place->file && line >= other->least && line <= other->most &&
            other->most != place->most)
            return true;
    }
    return false;
}

/* Of a loop that threads share: the branches in front know it, or its first statement; where it is all of the region,
 * it is where the region is. */
static uint32_t share_line(const struct maker *m, const struct loop_place *place, uint32_t origin, bool all)
{
    if ((place->front > origin && !in_another(m, place->front, place)) || (all && place->front == origin && origin))
        return place->front;
    return place->line == place->most && place->top && place->top < place->line ? place->top : place->line;
}

/* A loop of the same code beside another one, vector body and remainder, has the name of the one that tells it. */
static void name_as_sibling(struct maker *m, uint32_t loop)
{
    struct loop_place *place = &m->places[loop];

    for (uint32_t k = 0; k < m->loops->count; k++) {
        const struct loop_place *other = &m->places[k];

        if (k != loop && m->loops->list[k].parent == m->loops->list[loop].parent && other->context == place->context &&
            other->file == place->file && other->line < place->least && other->line <= other->least &&
            other->most == place->most) {
            place->line = other->line;
            return;
        }
    }
}

void tree_name_loops(struct maker *m)
{
    size_t n = m->loops ? m->loops->count : 0;
    uint32_t origin = 0, shared = 0;

    name_by_branches(m, n);
    if (n)
        note_lines(m);
    if (n && m->p->dwarf && is_region(m)) {
        origin = entry_line(m);
        shared = shared_loops(m, origin);
    }
    for (uint32_t l = 0; l < n; l++) {
        struct loop_place *place = &m->places[l];

        if (shared && m->loops->list[l].parent == LOOP_NONE &&
            (place->line == place->most || place->line > place->least))
            place->line = share_line(m, place, origin, shared == 1);
        else if (place->evidence == LOOP_EXIT_AND_BACK && place->header_exit == place->least &&
                 place->line < place->most)
            place->line = place->least;
        else if ((place->evidence == LOOP_EXIT || place->evidence == LOOP_HEADER_EXIT) && place->top == place->least &&
                 place->top < place->line && place->line < place->most)
            place->line = place->top;
    }
    for (uint32_t l = 0; l < n; l++)
        if (m->places[l].line && m->places[l].line == m->places[l].least)
            name_as_sibling(m, l);
}
