/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of the branches near a loop (loop_near.c), as the inlined procedure sees them that it belongs to. */
#include "structure/tree_impl.h"

bool tree_in_another(const struct maker *m, uint32_t line, uint32_t loop)
{
    const struct loop_place *place = &m->places[loop];

    for (uint32_t l = 0; l < m->loops->count; l++) {
        const struct loop_place *other = &m->places[l];

        if ((other->line == m->origin && m->origin) || (other->least <= place->least && other->most >= place->most))
            continue;
        bool within = line >= other->least || (line == other->line && other->most < place->least);

        if (other->file == place->file && within && line <= other->most && other->most != place->most &&
            !tree_lies_in(m, loop, l) && !tree_lies_in(m, l, loop))
            return true;
    }
    return false;
}

/* The larger one of `best` and the line nearest above a loop in one place near it. */
static uint32_t better_line(const struct maker *m, uint32_t loop, const struct loop_near *near, struct near_wanted want,
                            uint32_t best)
{
    const struct loop_place *place = &m->places[loop];
    uint32_t file, line;

    for (size_t at = tree_piece_at(m, near->address + 1); at-- > 0;) {
        tree_projected(m, &m->pieces.data[at], place->context, &file, &line);
        if (file == place->file && line > want.low && line < want.below && line > best &&
            !tree_in_another(m, line, loop))
            best = line;
        if (!want.all || m->pieces.data[at].low <= near->since)
            break;
    }
    return best;
}

size_t tree_first_near(const struct maker *m, uint32_t loop)
{
    size_t low = 0, high = m->loops->near_count;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (m->loops->near[mid].loop < loop)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The line nearest above loop `as` among those of the places near `loop`, 0: none. */
static uint32_t near_line(const struct maker *m, uint32_t loop, uint32_t as, struct near_wanted want)
{
    const struct loop_place *place = &m->places[as];
    uint32_t best = 0, line;

    for (size_t low = tree_first_near(m, loop); low < m->loops->near_count && m->loops->near[low].loop == loop; low++) {
        const struct loop_near *near = &m->loops->near[low];

        if (near->side == LOOP_THROUGH) {
            const struct loop_place *other = &m->places[near->other];

            /* The near piece was cut off the front of the same loop. */
            if (loop == as && other->file == place->file && other->least >= place->least &&
                other->most <= place->most) {
                line = near_line(m, near->other, as, want);
                best = line > best ? line : best;
            }
        } else if (want.sides >> near->side & 1) {
            best = better_line(m, as, near, want, best);
        }
    }
    return best;
}

uint32_t tree_near_line(const struct maker *m, uint32_t loop, struct near_wanted want)
{
    return near_line(m, loop, loop, want);
}
