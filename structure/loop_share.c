/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops that OpenMP spreads over threads. The code that takes a thread's share stands in front of them: it calls the
 * runtime (libgomp's, libomp's), or divides the iterations by the threads. Its line is that of the directive, by clang
 * and gfortran always, and so is that of the condition, which compares with the end of the share. The loop is the next
 * statement: the first line below the directive that code in front of the loop has is its own, as its bounds are. Of
 * gfortran they have the directive's line, too, and the loop is taken to stand in the next one.
 */
#include "common/search.h"
#include "common/str.h"
#include "structure/insn.h"
#include "structure/tree_impl.h"

#include <string.h>
#include <strings.h>

bool tree_is_region(const struct maker *m)
{
    return m->p->dwarf && dwarf_is_region(&m->p->dwarf->origin);
}

bool tree_is_fortran(const struct maker *m, const struct loop_place *place)
{
    const char *dot = place->file ? strrchr(intern_str(dwarf_files(m->image->dwarf), place->file), '.') : NULL;

    return dot && (!strcasecmp(dot, ".f") || !strncasecmp(dot, ".f9", 3) || !strncasecmp(dot, ".f0", 3) ||
                   !strcasecmp(dot, ".for"));
}

static const char *callee_of(const struct maker *m, const struct loop_call *call)
{
    return plt_callee(&m->image->plt, call->target);
}

bool tree_takes_share(const struct maker *m)
{
    for (size_t i = 0; m->loops && i < m->loops->call_count; i++) {
        const char *callee = callee_of(m, &m->loops->calls[i]);

        if (callee && !strcmp(callee, "omp_get_thread_num"))
            return true;
    }
    return false;
}

/* Lines of the directive and the line behind them. By gcc statements of the loop may be in front of it, too. */
enum { NEXT = 3 };

enum share { SHARE_NONE, SHARE_GCC, SHARE_CLANG };

/* Whether the call that ends at an address takes a thread's share of a loop. */
static enum share share_before(const struct maker *m, uint64_t address)
{
    static const char *const names[] = {"omp_get_thread_num", "omp_get_num_threads", "GOMP_loop_"};
    size_t i = SEARCH(k, m->loops->call_count, m->loops->calls[k].high < address);
    const char *callee = i < m->loops->call_count && m->loops->calls[i].high == address
                             ? callee_of(m, &m->loops->calls[i])
                             : NULL;

    for (size_t k = 0; callee && k < sizeof names / sizeof *names; k++)
        if (str_begins(callee, names[k]))
            return SHARE_GCC;
    if (callee && (str_begins(callee, "__kmpc_for_static_init") || str_begins(callee, "__kmpc_dispatch_")))
        return SHARE_CLANG;
    return SHARE_NONE;
}

/* Returns where integers are divided first, `high`: nowhere. */
static uint64_t division_in(const struct maker *m, uint64_t low, uint64_t high)
{
    while (low < high) {
        size_t size;
        const uint8_t *code = elf_at(m->image->text, low, &size);
        struct insn in;

        if (!code || !size)
            return high;
        if (insn_divides(m->image->text->machine, code, size))
            return low;
        insn_decode(m->image->text->machine, code, size, low, &in);
        low += in.length;
    }
    return high;
}

/* A walk over the code in front of a loop, or of what was cut off its front. */
struct front {
    uint32_t loop;      /* whose line is looked for */
    uint32_t directive; /* its line so far */
    enum share share;   /* out: what code of that line takes */
    uint32_t below;     /* the first line above `directive` in the loop */
    uint32_t line;      /* out: the first line above `directive`, at most `below`, that is the loop's; 0: none */
};

/* The line of a piece as the loop sees it, 0: another file's. */
static uint32_t line_of(const struct maker *m, const struct piece *piece, uint32_t loop)
{
    const struct loop_place *place = &m->places[loop];
    uint32_t file, line;

    tree_projected(m, piece, place->context, &file, &line);
    return file == place->file ? line : 0;
}

/* The piece that holds the byte in front of an address, NULL: none. */
static const struct piece *piece_before(const struct maker *m, uint64_t address)
{
    size_t at = tree_piece_at(m, address);

    return at ? &m->pieces.data[at - 1] : NULL;
}

static void look_at(const struct maker *m, const struct loop_near *near, struct front *f)
{
    enum share called = share_before(m, near->since);
    uint64_t divided = division_in(m, near->since, near->address);
    uint32_t below = called == SHARE_CLANG || f->below < f->directive + NEXT ? f->below : f->directive + NEXT;
    uint64_t bounds = called == SHARE_CLANG ? near->address + 1 : divided < near->address ? divided : 0;

    const struct piece *before = piece_before(m, near->since), *first = piece_before(m, near->since + 1);

    for (const struct piece *piece = first; piece && piece < m->pieces.data + m->pieces.len; piece++) {
        uint32_t line = line_of(m, piece, f->loop);

        if (piece->low > near->address)
            break;
        if (piece->low < bounds && line > f->directive && line <= below && (!f->line || line < f->line))
            f->line = line;
        if (line == f->directive && piece->low <= divided && divided < piece->high && divided < near->address)
            f->share = SHARE_GCC;
    }
    if (called && before && line_of(m, before, f->loop) == f->directive)
        f->share = called;
}

static void walk(const struct maker *m, uint32_t loop, struct front *f)
{
    const struct loop_place *place = &m->places[f->loop];

    for (size_t i = tree_first_near(m, loop); i < m->loops->near_count && m->loops->near[i].loop == loop; i++) {
        const struct loop_near *near = &m->loops->near[i];

        if (near->side == LOOP_FRONT || near->side == LOOP_GUARD || near->side == LOOP_LEAD)
            look_at(m, near, f);
        else if (near->side == LOOP_THROUGH && loop == f->loop && m->places[near->other].file == place->file &&
                 m->places[near->other].least >= place->least && m->places[near->other].most <= place->most)
            walk(m, near->other, f);
    }
}

/* The first line of a loop's code below that of the directive, 0: none; whether code of it has that one, too. */
static uint32_t first_below(const struct maker *m, const struct front *f, bool *has)
{
    uint32_t file, line, first = 0;

    vec_foreach(piece, &m->pieces) {
        if (!tree_lies_in(m, piece->loop, f->loop))
            continue;
        tree_line_in(m, piece, f->loop, &file, &line);
        if (file == m->places[f->loop].file && line > f->directive && (!first || line < first))
            first = line;
        *has |= file == m->places[f->loop].file && line == f->directive;
    }
    return first;
}

static bool block_holds(const struct maker *m, const struct dwarf_block *block, uint64_t address)
{
    for (uint32_t i = 0; i < block->range_count; i++) {
        const struct dwarf_range *r = &m->p->unit->ranges[block->first_range + i];

        if (address >= r->low && address < r->high)
            return true;
    }
    return false;
}

/* Whether a block holds what goes round a loop. */
static bool holds_latch(const struct maker *m, const struct dwarf_block *block, uint32_t loop)
{
    for (size_t i = 0; i < m->loops->branch_count; i++) {
        const struct loop_branch *branch = &m->loops->branches[i];

        if (branch->loop == loop && (branch->evidence == LOOP_EXIT_AND_BACK || branch->evidence == LOOP_BACK) &&
            block_holds(m, block, branch->address))
            return true;
    }
    return false;
}

static bool is_innermost(const struct maker *m, uint32_t loop)
{
    for (uint32_t l = loop + 1; l < m->loops->count; l++)
        if (m->loops->list[l].parent == loop)
            return false;
    return true;
}

/* The number of blocks around a loop and what goes round it that have a variable which the source declares above the
 * region: it is a loop's that a directive is for, of which each thread (or lane) has its own. */
static uint32_t directives_around(const struct maker *m, uint32_t loop)
{
    const struct dwarf_procedure *p = m->p->dwarf;
    uint32_t blocks = 0;

    for (uint32_t i = 0; m->origin && i < p->block_count; i++) {
        const struct dwarf_block *block = &m->p->unit->blocks[p->first_block + i];

        blocks += block->declared < m->origin && block_holds(m, block, m->loops->list[loop].header) &&
                  holds_latch(m, block, loop);
    }
    return blocks;
}

/* Whether a directive is for a loop of a region. The block of one may hold what goes round the loop around it, too, so
 * an innermost loop has one if each around it has; of one between nothing is known. */
static bool has_directive(const struct maker *m, uint32_t loop)
{
    uint32_t parent = m->loops->list[loop].parent, loops = 1;

    if (parent != LOOP_NONE && !is_innermost(m, loop))
        return false;
    for (uint32_t outer = parent; outer != LOOP_NONE; outer = m->loops->list[outer].parent)
        loops++;
    return directives_around(m, loop) >= loops;
}

/* Whether the line of a loop with a directive, which code of it has, is that of the directive, not of its first
 * statement: that one stands two lines below. A directive stands right below the loop around; where there is none, what
 * decides in front of the loop has its line. */
static bool is_of_directive(const struct maker *m, uint32_t loop, uint32_t below)
{
    uint32_t line = m->places[loop].line, parent = m->loops->list[loop].parent;

    if (below <= line + 1)
        return false;
    if (parent != LOOP_NONE)
        return line == m->places[parent].line + 1;
    return tree_near_line(m, loop, (struct near_wanted){1 << LOOP_FRONT | 1 << LOOP_GUARD, false, line - 1, line + 1});
}

/* A loop with a directive of which all that is told is its first statement stands right below the directive of the
 * region, if that one's code takes a share; else, innermost, right above the statement. */
static void name_above_statement(struct maker *m, uint32_t loop)
{
    struct loop_place *place = &m->places[loop];
    uint32_t parent = m->loops->list[loop].parent, line = place->line - 1;

    struct front f = {.loop = loop, .directive = m->origin, .below = place->line};

    if (parent == LOOP_NONE && m->origin < place->line)
        walk(m, loop, &f);
    if (f.share)
        place->line = m->origin + 1;
    else if (is_innermost(m, loop) && place->line == place->least &&
             (parent == LOOP_NONE || m->places[parent].line < line) &&
             !tree_has_code_between(m, place, line - 1, line + 1))
        place->line = line;
}

/* Whether a call asks the runtime for the next part of a loop. */
static bool asks_for_part(const struct maker *m, const struct loop_call *call)
{
    const char *callee = callee_of(m, call);

    return callee && (str_begins(callee, "__kmpc_dispatch_next") ||
                      (str_begins(callee, "GOMP_loop_") && strstr(callee, "_next")));
}

bool tree_has_parts(const struct maker *m)
{
    for (size_t i = 0; i < m->loops->call_count; i++)
        if (asks_for_part(m, &m->loops->calls[i]))
            return true;
    return false;
}

bool tree_deals_out(const struct maker *m, uint32_t loop, uint32_t *inner, uint32_t *directive)
{
    *inner = LOOP_NONE;
    for (uint32_t l = loop + 1; l < m->loops->count; l++)
        if (m->loops->list[l].parent == loop) {
            if (*inner != LOOP_NONE)
                return false;
            *inner = l;
        }
    for (size_t i = 0; *inner != LOOP_NONE && i < m->loops->call_count; i++) {
        const struct loop_call *call = &m->loops->calls[i];
        const struct piece *piece = piece_before(m, call->low + 1);

        *directive = piece ? line_of(m, piece, loop) : 0;
        if (piece && piece->loop == loop && asks_for_part(m, call))
            return true;
    }
    return false;
}

/* Both loops are one of the source. */
static void name_dealt(struct maker *m, uint32_t loop)
{
    uint32_t inner, directive, line;

    if (!tree_deals_out(m, loop, &inner, &directive) || m->places[inner].file != m->places[loop].file ||
        m->places[inner].context != m->places[loop].context)
        return;
    line = m->places[m->places[loop].line == directive ? inner : loop].line;
    m->places[loop].line = m->places[inner].line = line;
}

static void name_below_directive(struct maker *m, uint32_t loop)
{
    struct loop_place *place = &m->places[loop];
    struct front f = {.loop = loop, .directive = place->line};
    bool has = false, fortran = tree_is_fortran(m, place), directed = fortran && has_directive(m, loop);

    if (!place->line)
        return;
    f.below = first_below(m, &f, &has);
    if (!f.below && !directed)
        return;
    walk(m, loop, &f);
    if (!f.share && (!m->origin || place->line != m->origin) && !directed)
        return;
    if (directed && has && !is_of_directive(m, loop, f.below)) {
        name_above_statement(m, loop);
        return;
    }
    if (f.share != SHARE_CLANG && has && !directed)
        return;
    if (fortran || (!f.line && (f.share == SHARE_CLANG || place->line == m->origin)))
        f.line = place->line + 1;
    if (place->least <= place->line)
        place->least = f.below;
    if (f.line)
        place->line = f.line;
}

void tree_name_below_directives(struct maker *m)
{
    for (uint32_t l = 0; l < m->loops->count; l++)
        name_below_directive(m, l);
    for (uint32_t l = 0; l < m->loops->count; l++)
        name_dealt(m, l);
}
