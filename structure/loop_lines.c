/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The line of a loop: that of its control statement, as a reader would point at it. The exit condition names it best,
 * then the backward branch, then its first line; see doc/structure.md. That is wrong, and mended, in these cases:
 *   - the condition of a loop that OpenMP spreads over threads has the line of the last statement, or of the loop in
 * it; the branches in front, where a thread takes its share or goes past the loop, have its line or that of its pragma,
 *     and gcc tells at its header a statement without code, which is the loop's;
 *   - gfortran gives the condition of a DO loop the line of the last statement: the branches that guard the loop, or
 *     those behind it that work off what a vectorised loop leaves over, have the right one;
 *   - a condition in the body that goes round or leaves names the loop less well than one at its top, in its first
 * line;
 *   - a loop that is left where the last one in it would not be entered (`for (j = i + 1; ...)` in the last round) has
 * no line of its own there: it is its first one, or unknown;
 *   - what is left in the middle only is closed by goto, or has no condition: it begins at the top;
 *   - a loop is turned so that a condition of its body is the way round: where the conditions lead to tells its own.
 */
#include "structure/tree_impl.h"

/* The line that the code begins with: of a region that of its pragma. */
static uint32_t entry_line(const struct maker *m)
{
    size_t at = tree_piece_at(m, m->p->entry);

    return at < m->pieces.len ? m->pieces.data[at].line : 0;
}

enum {
    IN_FRONT = 1 << LOOP_FRONT | 1 << LOOP_GUARD,
    BEHIND = 1 << LOOP_BEHIND | 1 << LOOP_REST,
    AROUND = IN_FRONT | BEHIND,
    ABOVE = 10,     /* lines: what stands further above the first statement of a loop is hardly its pragma */
    CONTINUED = 40, /* lines of one statement of Fortran, whose last one all of its code has */
    CLOSE = 3,      /* and this close is what is no pragma of it */
};

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Lines of a loop's control statement are above this one, which is at most so many lines above the loop. */
static uint32_t bound_within(const struct maker *m, uint32_t loop, uint32_t most)
{
    uint32_t parent = m->loops->list[loop].parent;
    const struct loop_place *place = &m->places[loop], *outer = parent == LOOP_NONE ? NULL : &m->places[parent];
    uint32_t far = place->least > most ? place->least - most : 0;

    far = larger(far, tree_declared(m, place->context, place->file));
    return larger(outer && outer->file == place->file && outer->line < place->least ? outer->line : m->origin, far);
}

static uint32_t lower_bound(const struct maker *m, uint32_t loop)
{
    return bound_within(m, loop, ABOVE);
}

/* Whether other loops stand beside an outermost one: copies of it end in the same line, and what has the line of the
 * region itself puts the threads' results together. */
static bool is_among_others(const struct maker *m, uint32_t loop)
{
    for (uint32_t l = 0; l < m->loops->count; l++)
        if (m->loops->list[l].parent == LOOP_NONE && m->places[l].most != m->places[loop].most &&
            m->places[l].line != m->origin)
            return true;
    return false;
}

/* Returns the line of a loop that threads share: that of the brace at its header, or the branches in front have its
 * line or that of its pragma, or the statement at its header has it. 0: they have the line of something else. */
static uint32_t share_line(const struct maker *m, uint32_t loop)
{
    const struct loop_place *place = &m->places[loop];
    uint32_t low = lower_bound(m, loop);
    uint32_t front;

    /* In front may be the line of an `if` around the pragma. */
    if (place->opened)
        return place->opened;
    front = tree_near_line(m, loop, (struct near_wanted){IN_FRONT, false, low, place->least});
    if (!front && place->line > place->least)
        front = tree_near_line(m, loop, (struct near_wanted){IN_FRONT, false, low, place->least + 1});
    if (!front && m->origin && m->loops->list[loop].parent == LOOP_NONE && !is_among_others(m, loop))
        front = tree_near_line(m, loop, (struct near_wanted){IN_FRONT, false, m->origin - 1, m->origin + 1});
    if ((!front || front == m->origin) && place->told < place->least && place->told > larger(front, low) &&
        (place->told <= front + CLOSE || place->told + CLOSE > place->least) && !tree_in_another(m, place->told, loop))
        return place->told;
    return front ? front : tree_near_line(m, loop, (struct near_wanted){IN_FRONT, true, low, place->least});
}

/* The line of the first branch behind a loop that is not of its statements, if it is close above them: what a
 * vectorised loop leaves over is worked off there. 0: none. */
static uint32_t left_over_line(const struct maker *m, uint32_t loop, uint32_t low)
{
    const struct loop_place *place = &m->places[loop];
    uint32_t file, line;

    for (size_t i = tree_first_near(m, loop); i < m->loops->near_count && m->loops->near[i].loop == loop; i++) {
        size_t at = m->loops->near[i].side == LOOP_BEHIND ? tree_piece_at(m, m->loops->near[i].address + 1) : 0;

        if (!at)
            continue;
        tree_projected(m, &m->pieces.data[at - 1], place->context, &file, &line);
        if (file == place->file && line >= place->least && line <= place->most)
            continue;
        return file == place->file && line > larger(low, place->least - CLOSE) && line < place->least ? line : 0;
    }
    return 0;
}

/* Returns the line of a DO loop whose condition has the line of a statement in it: the branch that guards the loop and
 * one behind it have one line, or some code there has the line above the first statement, or in a parallel region that
 * of a pragma. 0: none. */
static uint32_t do_line(const struct maker *m, uint32_t loop, uint32_t low, bool region)
{
    uint32_t least = m->places[loop].least, line = least;

    do
        line = tree_near_line(m, loop,
                              (struct near_wanted){1 << LOOP_GUARD, false, larger(low, least - CLOSE - 2), line});
    while (line && !tree_near_line(m, loop, (struct near_wanted){1 << LOOP_BEHIND, false, line - 1, line + 1}));
    if (line)
        return line;
    line = tree_near_line(m, loop,
                          (struct near_wanted){AROUND, true, larger(low, least - (region ? CLOSE : 2)), least});
    return line ? line : left_over_line(m, loop, low);
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

/* Whether what jumps back tells the line of a loop that is left somewhere in its middle; a line that another loop has
 * is that one's. */
static bool is_told_at_back(const struct maker *m, uint32_t loop)
{
    const struct loop_place *place = &m->places[loop];

    if (place->evidence != LOOP_EXIT || !place->back || place->back != place->least || place->back >= place->line ||
        tree_is_fortran(m, place))
        return false;
    for (uint32_t l = 0; l < m->loops->count; l++)
        if (l != loop && m->places[l].line == place->back && m->places[l].file == place->file)
            return false;
    return true;
}

/* Whether the condition at the top of a loop leads beyond where the one at its end leads: `if (found) return` ends the
 * body, and the return stands in it. Behind `do ... while` both lead to the same place. */
static bool leaves_beyond(const struct loop_place *place)
{
    return place->header_exit && place->header_exit < place->line && place->back_to >= place->line &&
           place->header_to > place->back_to;
}

/* Whether the condition at the end of a loop is one in its body, behind which something is done before the loop is
 * left: it leads to code of the loop's lines, or to the next line where that at the top leaves the procedure. */
static bool leaves_within(const struct loop_place *place)
{
    return (place->back_to >= place->least && place->back_to <= place->line) ||
           (!place->header_to && place->back_to == place->line + 1);
}

/* Whether the line of the jump back of `do ... while` is that of a brace above its condition, as clang has it. */
static bool jumps_from_brace(const struct loop_place *place)
{
    return place->least < place->line && place->line < place->most && place->compared == place->most;
}

/* Returns the line of a loop whose way round has that of its last statement: of the branch that guards it, if what is
 * left over is worked off where the loop leads to, in that line. 0: none. */
static uint32_t guarded_line(const struct maker *m, uint32_t loop)
{
    const struct loop_place *place = &m->places[loop];
    uint32_t line = place->back_to;
    const struct near_wanted guard = {1 << LOOP_GUARD, false, line - 1, line + 1},
                             behind = {1 << LOOP_BEHIND, false, line - 1, line + 1};

    if (place->line != place->most || line >= place->least || line + CLOSE + 2 <= place->least ||
        line <= lower_bound(m, loop))
        return 0;
    return tree_near_line(m, loop, guard) && tree_near_line(m, loop, behind) ? line : 0;
}

/* Of a loop whose condition goes round and leaves it, the line where that is not its own; 0: it is. In Fortran no
 * condition of a loop stands at its end. */
static uint32_t line_at_top(const struct maker *m, uint32_t loop)
{
    const struct loop_place *place = &m->places[loop];

    if (place->evidence != LOOP_EXIT_AND_BACK)
        return 0;
    if (place->header_exit == place->least && place->line < place->most)
        return place->least;
    if (tree_is_fortran(m, place) || place->least >= place->line)
        return 0;
    if (leaves_beyond(place) || (place->header_exit == place->least && leaves_within(place)))
        return place->header_exit;
    return jumps_from_brace(place) ? place->most : guarded_line(m, loop);
}

/* Whether a loop has the line of one directly in it: then it is not its own. */
static bool as_inner(const struct maker *m, uint32_t loop)
{
    for (uint32_t l = loop + 1; l < m->loops->count; l++)
        if (m->loops->list[l].parent == loop && m->places[l].line == m->places[loop].line &&
            m->places[l].file == m->places[loop].file)
            return true;
    return false;
}

/* Whether the condition at the top of a loop is that of the one in it (where that one is never entered this one is
 * left, too), and the loop is left elsewhere, in its first line or in that of the jump back. */
static bool is_left_at_inner(const struct maker *m, uint32_t loop)
{
    const struct loop_place *place = &m->places[loop];

    return place->exit && (place->exit == place->back || place->exit == place->least) && as_inner(m, loop);
}

/* Whether a loop begins in its first line. Code from below may have been moved in front of a `while` there, of which
 * the line table then has a statement without code; one that a loop in it has, too, is that one's, if it is no way
 * round both. */
static bool begins_at_top(const struct maker *m, uint32_t loop)
{
    const struct loop_place *place = &m->places[loop];

    if (place->top == place->least)
        return place->begun <= place->top;
    if (!place->top) /* code of another file, or of no line */
        return place->begun == place->least;
    for (uint32_t l = loop + 1; l < m->loops->count; l++)
        if (m->places[l].line == place->least && m->places[l].exit != place->line && tree_lies_in(m, l, loop))
            return false;
    return place->told == place->least && !tree_is_fortran(m, place);
}

/* Whether a loop consists of its first statement and has its line, where the brace of its body tells another one. */
static bool is_one_statement(const struct maker *m, uint32_t loop)
{
    return m->places[loop].opened && m->places[loop].line == m->places[loop].least;
}

/* A condition that is not where a loop begins. */
static void name_by_top(struct maker *m, uint32_t loop)
{
    struct loop_place *place = &m->places[loop];
    uint32_t line = line_at_top(m, loop);

    if (line)
        place->line = line;
    else if (place->evidence == LOOP_HEADER_EXIT && place->exit < place->line &&
             ((place->exit == place->least && !tree_is_fortran(m, place)) || is_left_at_inner(m, loop)))
        place->line = place->exit;
    else if ((place->evidence == LOOP_EXIT || place->evidence == LOOP_HEADER_EXIT) && begins_at_top(m, loop) &&
             place->least < place->line && place->line < place->most)
        place->line = place->least;
    else if (is_told_at_back(m, loop))
        place->line = place->back;
}

/* The loops at the top of a parallel region. */
static void name_of_region(struct maker *m, uint32_t loop)
{
    struct loop_place *place = &m->places[loop];
    uint32_t line = share_line(m, loop);

    if (line)
        place->line = line;
    else if (place->line == place->most && place->top && place->top < place->line)
        place->line = place->top;
}

/* Whether a loop in one line lies directly in another one of that line: both are of one array statement. Around a DO
 * loop there is at least its own line, in which the condition of the loop around it stands. */
static bool is_of_array(const struct maker *m, uint32_t loop)
{
    const struct loop_place *place = &m->places[loop];
    uint32_t parent = m->loops->list[loop].parent;
    const struct loop_place *outer = parent == LOOP_NONE ? NULL : &m->places[parent];

    return outer && outer->file == place->file && place->least == place->most && outer->least == place->least &&
           outer->most == place->most;
}

bool tree_has_code_between(const struct maker *m, const struct loop_place *place, uint32_t low, uint32_t high)
{
    uint32_t file, line;

    vec_foreach(p, &m->pieces) {
        tree_projected(m, p, place->context, &file, &line);
        if (file == place->file && line > low && line < high)
            return true;
    }
    return false;
}

/* Returns the line of a loop that consists of one statement, where what was in it has been unrolled: that of the code
 * behind it, which works off what it leaves over, if that is above the statement. Behind a loop that lies in no other
 * one anything may follow: there it is the line directly above. A statement of many lines has the last one of them. 0:
 * none. Branches in front do not tell it: those of IF and of array statements are there, too. */
static uint32_t statement_line(const struct maker *m, uint32_t loop, uint32_t low)
{
    const struct loop_place *place = &m->places[loop];
    uint32_t line;

    if (place->least != place->most)
        return 0;
    if (m->loops->list[loop].parent == LOOP_NONE)
        low = larger(low, place->least - 2);
    line = tree_near_line(m, loop, (struct near_wanted){BEHIND, true, low, place->least});
    if (line || m->loops->list[loop].parent == LOOP_NONE)
        return line;
    low = bound_within(m, loop, CONTINUED);
    line = tree_near_line(m, loop, (struct near_wanted){BEHIND, true, low, place->least});
    return line && !tree_has_code_between(m, place, line, place->least) ? line : 0;
}

/* From the inside out: an outer loop may have the line of one in it, which is looked at first. */
static void name_do_loops(struct maker *m, bool region)
{
    for (uint32_t l = (uint32_t)m->loops->count; l-- > 0;) {
        struct loop_place *place = &m->places[l];
        uint32_t low = lower_bound(m, l), line;

        if (!tree_is_fortran(m, place) || place->line < place->least || place->least <= CLOSE + 2)
            continue;
        if (place->line == place->most && place->least < place->most) {
            line = do_line(m, l, region && low ? low - 1 : low, region);
            place->line = line ? line : place->least;
        } else if (!is_of_array(m, l) && ((line = left_over_line(m, l, low)) || (line = statement_line(m, l, low)))) {
            place->line = line;
        }
    }
}

/* Whether code of a loop has a line that no loop in it has any code in. */
static bool is_own_line(const struct maker *m, uint32_t loop, uint32_t line)
{
    for (uint32_t l = loop + 1; l < m->loops->count; l++)
        if (m->loops->list[l].parent == loop && m->places[l].file == m->places[loop].file &&
            m->places[l].least <= line && line <= m->places[l].most)
            return false;
    return true;
}

/* Whether both conditions by which a loop is left have its line: another one with it is a copy of it. */
static bool is_told_twice(const struct maker *m, uint32_t loop)
{
    return m->places[loop].evidence == LOOP_EXIT_AND_BACK && m->places[loop].exit == m->places[loop].line;
}

/* A loop with a statement above its line has it from a loop in it, if that one begins in this line: a control statement
 * stands above what it repeats. Taken as one, the outer loop would be lost, and other loops in it would lie in the
 * inner one.
 */
static void name_unlike_inner(struct maker *m, uint32_t loop)
{
    struct loop_place *place = &m->places[loop];
    uint32_t line;

    for (uint32_t l = loop + 1; l < m->loops->count; l++) {
        const struct loop_place *inner = &m->places[l];

        if (m->loops->list[l].parent != loop || is_told_twice(m, loop) || inner->line != place->line ||
            inner->file != place->file || inner->context != place->context || inner->least < inner->line ||
            !place->begun || place->begun >= place->line)
            continue;
        line = do_line(m, loop, lower_bound(m, loop), false);
        place->line = line ? line : is_own_line(m, loop, place->begun) ? place->begun : 0;
        return;
    }
}

/* Whether a loop is left by a condition of the loop around it: both are ways round one loop. */
static bool is_copy_of_outer(const struct maker *m, uint32_t loop)
{
    uint32_t parent = m->loops->list[loop].parent;
    const struct loop_place *place = &m->places[loop], *outer = parent == LOOP_NONE ? NULL : &m->places[parent];

    return outer && outer->line && outer->file == place->file && outer->context == place->context &&
           place->exit == outer->line && place->line != outer->line;
}

void tree_name_loops(struct maker *m)
{
    size_t n = m->loops ? m->loops->count : 0;
    bool region = tree_is_region(m), shares;
    uint32_t line;

    tree_name_by_branches(m);
    if (!n)
        return;
    m->origin = region ? entry_line(m) : 0;
    tree_note_lines(m);
    for (uint32_t l = 0; l < n; l++) {
        const struct loop_place *place = &m->places[l];

        if (region && m->loops->list[l].parent == LOOP_NONE &&
            (place->line == place->most || place->line > place->least))
            name_of_region(m, l);
        else
            name_by_top(m, l);
    }
    name_do_loops(m, region);
    shares = region || tree_takes_share(m);
    for (uint32_t l = 0; shares && l < n; l++)
        if ((as_inner(m, l) || is_one_statement(m, l) ||
             (m->loops->list[l].parent == LOOP_NONE && m->places[l].line > m->places[l].least)) &&
            (line = share_line(m, l)))
            m->places[l].line = line;
    tree_name_below_directives(m);
    for (uint32_t l = 0; l < n; l++)
        if (is_copy_of_outer(m, l))
            m->places[l].line = m->places[m->loops->list[l].parent].line;
    for (uint32_t l = 0; l < n; l++)
        if (m->places[l].line && m->places[l].line == m->places[l].least)
            name_as_sibling(m, l);
    for (uint32_t l = (uint32_t)n; l-- > 0;)
        if (m->places[l].line)
            name_unlike_inner(m, l);
    tree_name_by_source(m);
}
