/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The code of a procedure is cut wherever the line, the innermost inlined procedure or the innermost loop changes. Each
 * piece gets the chain of scopes it lies in. A loop hangs below the innermost inlined procedure that holds all of it,
 * so loops and inlined procedures interleave as they do in the source.
 */
#include "structure/tree.h"
#include "structure/tree_impl.h"
#include "structure/naming.h"
#include "structure/normal.h"
#include "common/search.h"
#include "common/vec.h"
#include <stdlib.h>
#include <string.h>

static const struct dwarf_inline *inline_at(const struct maker *m, uint32_t i)
{
    return &m->p->unit->inlines[m->p->dwarf->first_inline + i];
}

static uint32_t inline_count(const struct maker *m)
{
    return m->inlines && m->p->dwarf ? m->p->dwarf->inline_count : 0;
}

/* Indices in the unit become indices in the procedure. */
static uint32_t inline_parent(const struct maker *m, uint32_t i)
{
    uint32_t parent = inline_at(m, i)->parent;

    return parent == DWARF_NONE ? DWARF_NONE : parent - m->p->dwarf->first_inline;
}

static uint32_t file_text(const struct maker *m, uint32_t file)
{
    return file ? intern_add(&m->b->strings, intern_str(dwarf_files(m->image->dwarf), file)) : 0;
}

/*
 * The compiler describes one inlined call by several entries when it copied the code around it. They are one scope to a
 * reader, so the first stands for all.
 */
static void find_canonical(struct maker *m)
{
    struct {
        uint64_t origin;
        uint32_t parent, call_file, call_line, zero;
    } key = {0};
    struct keymap same;
    uint32_t n = inline_count(m);
    VEC(uint32_t) first = {0};

    m->canonical = xcalloc(n + 1, sizeof *m->canonical);
    m->depth = xcalloc(n + 1, sizeof *m->depth);
    keymap_init(&same, sizeof key);
    for (uint32_t i = 0; i < n; i++) {
        const struct dwarf_inline *in = inline_at(m, i);
        uint32_t parent = inline_parent(m, i);
        bool is_new;

        key.origin = (uint64_t)(uintptr_t)in->origin;
        key.parent = parent == DWARF_NONE ? DWARF_NONE : m->canonical[parent];
        key.call_file = in->call_file;
        key.call_line = in->call_line;
        uint32_t index = keymap_add(&same, &key, &is_new);
        if (is_new)
            vec_push(&first, i);
        m->canonical[i] = first.data[index];
        m->depth[i] = parent == DWARF_NONE ? 1 : m->depth[parent] + 1;
    }
    vec_deinit(&first);
    keymap_deinit(&same);
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static void cut_at(struct maker *m, uint64_t address)
{
    const struct procedure *p = m->p;

    for (size_t i = 0; i < p->range_count; i++)
        if (address >= p->ranges[i].low && address <= p->ranges[i].high) {
            vec_push(&m->cuts, address);
            return;
        }
}

static size_t first_row(const struct dwarf_unit *u, uint64_t address)
{
    size_t n = array_upto(u->rows, u->row_count, address, address);

    return n ? n - 1 : 0;
}

static void collect_cuts(struct maker *m)
{
    const struct dwarf_unit *u = m->p->unit;
    size_t kept = 0;

    for (size_t i = 0; i < m->p->range_count; i++) {
        const struct dwarf_range *r = &m->p->ranges[i];

        vec_push(&m->cuts, r->low);
        vec_push(&m->cuts, r->high);
        for (size_t k = u ? first_row(u, r->low) : 0; u && k < u->row_count && u->rows[k].address < r->high; k++)
            if (u->rows[k].address > r->low)
                vec_push(&m->cuts, u->rows[k].address);
    }
    for (uint32_t i = 0; i < inline_count(m); i++)
        for (uint32_t k = 0; k < inline_at(m, i)->range_count; k++) {
            const struct dwarf_range *r = &u->ranges[inline_at(m, i)->first_range + k];

            cut_at(m, r->low);
            cut_at(m, r->high);
        }
    for (size_t i = 0; m->loops && i < m->loops->span_count; i++) {
        cut_at(m, m->loops->spans[i].low);
        cut_at(m, m->loops->spans[i].high);
    }
    vec_sort(&m->cuts, by_value);
    for (size_t i = 0; i < m->cuts.len; i++)
        if (!kept || m->cuts.data[kept - 1] != m->cuts.data[i])
            m->cuts.data[kept++] = m->cuts.data[i];
    m->cuts.len = kept;
}

static void collect_pieces(struct maker *m)
{
    size_t range = 0;

    for (size_t i = 0; i + 1 < m->cuts.len; i++) {
        struct piece piece = {
            .low = m->cuts.data[i], .high = m->cuts.data[i + 1], .inlined = DWARF_NONE, .loop = LOOP_NONE};

        while (range < m->p->range_count && m->p->ranges[range].high <= piece.low)
            range++;
        if (range < m->p->range_count && m->p->ranges[range].low <= piece.low)
            vec_push(&m->pieces, piece);
    }
}

size_t tree_piece_at(const struct maker *m, uint64_t address)
{
    size_t low = 0, high = m->pieces.len;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (m->pieces.data[mid].low < address)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void set_lines(struct maker *m)
{
    const struct dwarf_unit *u = m->p->unit;
    size_t row = 0;

    if (!u || !u->row_count)
        return;
    vec_foreach(piece, &m->pieces) {
        if (piece == m->pieces.data || piece->low != piece[-1].high)
            row = first_row(u, piece->low);
        while (row + 1 < u->row_count && u->rows[row + 1].address <= piece->low)
            row++;
        if (u->rows[row].address > piece->low || u->rows[row].end)
            continue;
        /* Line 0: code that belongs to no line. Its file says nothing. */
        piece->line = u->rows[row].line;
        piece->file = piece->line ? u->rows[row].file : 0;
        piece->begins = u->rows[row].begins;
        piece->begins_row = piece->low == u->rows[row].address;
        piece->least = piece->low == u->rows[row].address ? u->rows[row].least : piece->line;
    }
}

/* Children come after their parents, so the deepest is painted last. */
static void set_inlines(struct maker *m)
{
    for (uint32_t i = 0; i < inline_count(m); i++)
        for (uint32_t k = 0; k < inline_at(m, i)->range_count; k++) {
            const struct dwarf_range *r = &m->p->unit->ranges[inline_at(m, i)->first_range + k];

            for (size_t at = tree_piece_at(m, r->low); at < m->pieces.len && m->pieces.data[at].high <= r->high; at++)
                m->pieces.data[at].inlined = m->canonical[i];
        }
}

static void set_loops(struct maker *m)
{
    size_t at = 0;

    for (size_t i = 0; m->loops && i < m->loops->span_count; i++) {
        const struct loop_span *span = &m->loops->spans[i];

        while (at < m->pieces.len && m->pieces.data[at].low < span->low)
            at++;
        for (; at < m->pieces.len && m->pieces.data[at].high <= span->high; at++)
            m->pieces.data[at].loop = span->loop;
    }
}

uint32_t tree_inline_parent(const struct maker *m, uint32_t inlined)
{
    uint32_t parent = inline_parent(m, inlined);

    return parent == DWARF_NONE ? DWARF_NONE : m->canonical[parent];
}

static uint32_t depth_of(const struct maker *m, uint32_t i)
{
    return i == DWARF_NONE ? 0 : m->depth[i];
}

uint32_t tree_common_inline(const struct maker *m, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (depth_of(m, a) >= depth_of(m, b))
            a = tree_inline_parent(m, a);
        else
            b = tree_inline_parent(m, b);
    }
    return a;
}

/* A line in `inlined` as the code of `context`, around it, sees it. 0: it is not around it. */
static void project(const struct maker *m, uint32_t inlined, uint32_t context, uint32_t *file, uint32_t *line)
{
    while (inlined != context && inlined != DWARF_NONE) {
        *file = inline_at(m, inlined)->call_file;
        *line = inline_at(m, inlined)->call_line;
        inlined = tree_inline_parent(m, inlined);
    }
    if (inlined != context)
        *file = *line = 0;
}

void tree_projected(const struct maker *m, const struct piece *piece, uint32_t context, uint32_t *file, uint32_t *line)
{
    *file = piece->file;
    *line = piece->line;
    project(m, piece->inlined, context, file, line);
}

static uint32_t chain(struct maker *m, uint32_t inlined, uint32_t loop);

static uint32_t make_loop(struct maker *m, uint32_t inlined, uint32_t loop)
{
    uint32_t file = m->places[loop].file, line = m->places[loop].line;
    uint32_t basis = m->places[loop].context == inlined ? m->places[loop].basis : LOOP_UNLIKE_SOURCE; /* a call's */

    project(m, m->places[loop].context, inlined, &file, &line);
    struct structure_scope s = {
        .kind = SCOPE_LOOP,
        .parent = chain(m, inlined, m->loops->list[loop].parent),
        .file = file_text(m, file),
        .line = line,
        .ordinal = loop + 1,
        .basis = line ? basis : LOOP_UNKNOWN,
        .address = m->loops->list[loop].header,
    };

    return book_scope(m->b, &s, NULL);
}

static uint32_t make_inline(struct maker *m, uint32_t inlined, uint32_t loop)
{
    const struct dwarf_inline *in = inline_at(m, inlined);
    struct structure_scope s = {
        .kind = SCOPE_INLINE,
        .parent = chain(m, tree_inline_parent(m, inlined), loop),
        .name = naming_origin(m->b, in->origin),
        .linkage = naming_origin_linkage(m->b, in->origin),
        .file = file_text(m, in->origin->file),
        .line = in->origin->line,
        .call_file = file_text(m, in->call_file),
        .call_line = in->call_line,
    };

    return book_scope(m->b, &s, NULL);
}

/* The scope for code whose innermost inline and loop are these. Code that is not of the inlined procedure that a loop
 * belongs to sees the loop where both meet. */
static uint32_t chain(struct maker *m, uint32_t inlined, uint32_t loop)
{
    uint64_t key = (uint64_t)inlined << 32 | loop;
    const uint64_t *known = map_find(&m->chains, key);
    uint32_t scope;

    if (known)
        return (uint32_t)*known;
    if (loop != LOOP_NONE && tree_common_inline(m, m->places[loop].context, inlined) == inlined)
        scope = make_loop(m, inlined, loop);
    else if (inlined != DWARF_NONE)
        scope = make_inline(m, inlined, loop);
    else
        scope = m->scope;
    map_put(&m->chains, key, scope);
    return scope;
}

static uint32_t line_scope(struct maker *m, uint32_t inlined, uint32_t loop, uint32_t file, uint32_t line)
{
    struct structure_scope s = {
        .kind = SCOPE_LINE, .parent = chain(m, inlined, loop), .file = file_text(m, file), .line = line};

    return book_scope(m->b, &s, NULL);
}

/* The statement of a piece as a reader has it: what a compiler made for no statement is of the loop that it stands in.
 */
static uint32_t adopted(struct maker *m, const struct piece *piece, uint32_t raw)
{
    const struct loop_place *place = piece->loop == LOOP_NONE ? NULL : &m->places[piece->loop];
    bool foreign;

    if (!place)
        return raw;
    foreign = tree_common_inline(m, place->context, piece->inlined) != place->context;
    if (!foreign && (place->silent || tree_speaks(m, piece, piece->loop) || !piece->line ||
                     (piece->file == place->file && piece->line >= place->least && piece->line <= place->most)))
        return raw;
    return piece->line ? line_scope(m, place->context, piece->loop, place->file, place->line)
                       : line_scope(m, place->context, piece->loop, 0, 0);
}

static void make_segments(struct maker *m, struct book_procedure *out)
{
    uint32_t last_raw = UINT32_MAX, last_own = UINT32_MAX;

    out->first_segment = (uint32_t)m->b->segments.len;
    vec_foreach(piece, &m->pieces) {
        uint32_t raw = line_scope(m, piece->inlined, piece->loop, piece->file, piece->line);
        uint32_t own = adopted(m, piece, raw);

        if (raw == last_raw && own == last_own && vec_last(&m->b->segments).high == piece->low)
            vec_last(&m->b->segments).high = piece->high;
        else
            vec_push(&m->b->segments, (struct book_segment){piece->low, piece->high, raw, own});
        last_raw = raw;
        last_own = own;
    }
    out->segment_count = (uint32_t)m->b->segments.len - out->first_segment;
}

static uint32_t file_scope(struct maker *m, uint32_t text)
{
    if (!text)
        text = intern_add(&m->b->strings, "<unknown file>");
    struct structure_scope s = {.kind = SCOPE_FILE, .parent = STRUCTURE_NONE, .name = text, .file = text};
    return book_scope(m->b, &s, NULL);
}

/* Where the code of the entry was written: for what has lines but no description, as assembly code. */
static uint32_t entry_file(struct maker *m)
{
    const struct dwarf_unit *u = m->p->unit;
    size_t row = u && u->row_count ? first_row(u, m->p->entry) : 0;

    if (!u || !u->row_count || u->rows[row].address > m->p->entry || u->rows[row].end)
        return 0;
    return u->rows[row].file;
}

/* The bodies that gcc makes of regions and tasks are declared nowhere: their line is that of the directive, of which
 * the first row at their entry is, also where the code of another statement has been moved there. */
static const struct dwarf_row *directive_row(const struct maker *m)
{
    const struct dwarf_unit *u = m->p->unit;
    size_t i = SEARCH(k, u->hidden_count, u->hidden[k].address < m->p->entry);

    if (i < u->hidden_count && u->hidden[i].address == m->p->entry)
        return &u->hidden[i];
    i = first_row(u, m->p->entry);
    return i < u->row_count && u->rows[i].address == m->p->entry && !u->rows[i].end ? &u->rows[i] : NULL;
}

static void make_procedure(struct maker *m)
{
    const struct dwarf_origin *origin = m->p->dwarf ? &m->p->dwarf->origin : NULL;
    const struct dwarf_row *directive = origin && !origin->line && dwarf_is_region(origin) && m->p->unit
                                            ? directive_row(m)
                                            : NULL;
    uint32_t file = file_text(m, directive ? directive->file : origin && origin->file ? origin->file : entry_file(m));
    bool is_new;
    struct structure_scope s = {
        .kind = SCOPE_PROCEDURE,
        .parent = file_scope(m, file),
        .name = naming_procedure(m->b, m->image, m->p),
        .linkage = naming_linkage(m->b, m->image, m->p),
        .file = file,
        .line = directive ? directive->line
                : origin  ? origin->line
                          : 0,
        .address = m->p->entry,
    };

    m->scope = book_scope(m->b, &s, &is_new);
    if (is_new)
        naming_aliases(m->b, m->image, m->p, m->scope);
}

uint32_t tree_add(struct book *b, const struct image *image, const struct procedure *p, const struct loops *loops,
                  bool inlines)
{
    struct maker m = {.b = b, .image = image, .p = p, .loops = loops, .inlines = inlines};
    struct book_procedure out = {.entry = p->entry, .described = p->dwarf, .storable = procedure_is_alone(image, p)};

    make_procedure(&m);
    out.scope = m.scope;
    find_canonical(&m);
    collect_cuts(&m);
    collect_pieces(&m);
    set_lines(&m);
    set_inlines(&m);
    set_loops(&m);
    tree_place_loops(&m);
    tree_name_loops(&m);
    make_segments(&m, &out);
    normal_apply(b, loops, &out);
    free(m.canonical);
    free(m.depth);
    free(m.places);
    vec_deinit(&m.cuts);
    vec_deinit(&m.pieces);
    vec_deinit(&m.begun);
    map_deinit(&m.chains);
    vec_push(&b->procedures, out);
    return (uint32_t)b->procedures.len - 1;
}
