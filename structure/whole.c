/* SPDX-License-Identifier: BSD-3-Clause */
/* All of a binary, every procedure (structure.h). */
#include "structure/recover_impl.h"
#include "structure/range.h"
#include "common/str.h"
#include <stdlib.h>
#include <string.h>

struct covered { /* ranges of the procedures that the debug information describes */
    struct dwarf_range *data;
    size_t len, cap;
};

static void whole_units(struct work *w, struct covered *covered)
{
    size_t units = w->image.dwarf ? dwarf_unit_count(w->image.dwarf) : 0;

    for (uint32_t i = 0; i < units; i++) {
        struct dwarf_unit u;

        dwarf_load_unit(w->image.dwarf, i, &u);
        for (size_t k = 0; k < u.procedure_count; k++) {
            struct procedure p;

            /* Several units may describe the same code: the one that recover_find_unit names for its addresses
             * counts. */
            if (recover_find_unit(w, u.procedures[k].entry) != i)
                continue;
            procedure_of_unit(&w->image, &u, k, &p);
            recover_procedure(w, &p);
            vec_append(covered, p.ranges, p.range_count);
            procedure_deinit(&p);
        }
        dwarf_unit_free(&u);
    }
    range_sort(covered);
}

/* The end of what covers an address, 0 if nothing does. */
static uint64_t covered_to(const struct covered *c, uint64_t address)
{
    const struct dwarf_range *range = range_find(c, address);

    return range ? range->high : 0;
}

static void whole_rest(struct work *w, const struct covered *covered)
{
    const struct image *image = &w->image;
    VEC(uint64_t) starts = {0};

    for (size_t i = 0; i < image->symbols.count; i++)
        vec_push(&starts, image->symbols.list[i].address);
    for (size_t i = 0; i < image->frames.len; i++)
        vec_push(&starts, image->frames.data[i].low);
    for (size_t i = 0; i < image->plt.stubs.len; i++)
        vec_push(&starts, image->plt.stubs.data[i].low);
    vec_foreach(at, &starts)
        if (!covered_to(covered, *at))
            recover_plain(w, &(struct wanted){.address = *at});
    vec_deinit(&starts);
}

static struct hq_error *no_code(struct elf *text)
{
    if (text->cut_short)
        return hq_error_new(HQ_DATA, "%s: cut short: no code is left of it", text->path);
    if (elf_find_section(text, ".debug_info"))
        return hq_error_new(
            HQ_DATA, "%s: a separate debug file, which has no code; ask for the binary that it belongs to", text->path);
    return hq_error_new(HQ_DATA, "%s has no code", text->path);
}

/* Code that nothing describes. */
static void whole_gaps(struct work *w, const struct covered *covered)
{
    const struct elf *text = w->image.text;

    for (size_t i = 0; i < text->code_count; i++)
        for (uint64_t at = text->code[i].low, next; at<text->code[i].high; at = next> at ? next : at + 1) {
            struct procedure p;

            next = covered_to(covered, at);
            if (next)
                continue;
            procedure_region(&w->image, at, &p);
            next = p.ranges[0].high;
            if (p.source == PROCEDURE_GAP && gap_is_code(w->image.gaps, p.ranges[0]))
                recover_plain(w, &(struct wanted){.address = at});
            procedure_deinit(&p);
        }
}

/* ---- where everything is ---- */

struct piece { /* of a procedure: what a segment holds */
    uint64_t low, high;
    uint32_t segment;
    bool sure; /* all addresses of the procedure are its own */
};

struct pieces {
    struct piece *data;
    size_t len, cap;
};

static int by_start(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;

    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    return x->segment < y->segment ? -1 : x->segment > y->segment;
}

static void collect(const struct book *b, struct pieces *out)
{
    vec_foreach(p, &b->procedures)
        for (uint32_t i = 0; i < p->segment_count; i++) {
            const struct book_segment *s = &b->segments.data[p->first_segment + i];

            if (s->low < s->high)
                vec_push(out, (struct piece){s->low, s->high, p->first_segment + i, p->storable});
        }
    vec_sort(out, by_start);
}

struct sweep { /* over pieces that may overlap */
    struct work *work;
    struct structure *out;
    struct pieces open;
    VEC(struct wanted) asked; /* index: the place */
    uint64_t at;
};

static uint64_t next_end(const struct sweep *s, uint64_t limit)
{
    for (size_t i = 0; i < s->open.len; i++)
        if (s->open.data[i].high < limit)
            limit = s->open.data[i].high;
    return limit;
}

/* Adds the place for [at, high): the answer for any address there, as structure_recover gives it. */
static void add_place(struct sweep *s, uint64_t high)
{
    const struct piece *answer = NULL;

    for (size_t i = 0; i < s->open.len && !(answer && answer->sure); i++)
        if (!answer || s->open.data[i].sure)
            answer = &s->open.data[i];
    if (!answer)
        return;
    const struct book_segment *segment = &s->work->book.segments.data[answer->segment];

    if (!answer->sure)
        vec_push(&s->asked,
                 (struct wanted){.address = s->at, .index = (uint32_t)s->out->places.len, .procedure = STRUCTURE_NONE});
    vec_push(&s->out->places, (struct structure_place){segment->raw, segment->normal});
    vec_push(&s->out->code, (struct structure_code){s->at, high});
}

static void go_to(struct sweep *s, uint64_t address)
{
    while (s->open.len && s->at < address) {
        uint64_t end = next_end(s, address);

        if (s->at < end)
            add_place(s, end);
        s->at = end;
        for (size_t i = s->open.len; i-- > 0;)
            if (s->open.data[i].high <= end)
                vec_remove(&s->open, i);
    }
    s->at = address;
}

/* Code that several procedures claim belongs to the one that is found for its address. */
static void ask(struct sweep *s)
{
    struct work *w = s->work;

    w->wanted = s->asked.data;
    w->count = s->asked.len;
    s->asked.data = NULL;
    recover_all(w);
    for (size_t i = 0; i < w->count; i++) {
        const struct wanted *x = &w->wanted[i];
        const struct book_segment *segment = recover_segment_at(&w->book, &w->book.procedures.data[x->procedure],
                                                                x->address);

        s->out->places.data[x->index] = (struct structure_place){segment->raw, segment->normal};
    }
}

static void join_neighbours(struct structure *out)
{
    size_t n = 0;

    for (size_t i = 0; i < out->places.len; i++) {
        const struct structure_place *p = &out->places.data[i], *last = n ? &out->places.data[n - 1] : NULL;

        if (last && last->raw == p->raw && last->normal == p->normal &&
            out->code.data[n - 1].high == out->code.data[i].low) {
            out->code.data[n - 1].high = out->code.data[i].high;
            continue;
        }
        out->places.data[n] = *p;
        out->code.data[n++] = out->code.data[i];
    }
    out->places.len = out->code.len = n;
}

static void place_code(struct work *w, struct structure *out)
{
    struct sweep s = {.work = w, .out = out};
    struct pieces all = {0};

    collect(&w->book, &all);
    vec_foreach(p, &all) {
        go_to(&s, p->low);
        vec_push(&s.open, *p);
    }
    go_to(&s, UINT64_MAX);
    ask(&s);
    join_neighbours(out);
    vec_deinit(&s.open);
    vec_deinit(&all);
}

static void place_segments(struct work *w, struct structure *out)
{
    vec_reserve(&out->places, w->book.segments.len);
    vec_foreach(s, &w->book.segments)
        vec_push(&out->places, (struct structure_place){s->raw, s->normal});
}

struct hq_error *structure_whole(const char *path, const struct structure_options *options, struct structure *out)
{
    struct work w = {.options = options};
    struct covered covered = {0};

    memset(out, 0, sizeof *out);
    HQ_TRY(image_open(path, true, &w.image));
    if (!w.image.text->code_count) {
        struct hq_error *err = no_code(w.image.text);

        recover_deinit(&w);
        return err;
    }
    image_read(&w.image);
    book_init(&w.book);
    noreturn_init(&w.noreturn, &w.image);
    whole_units(&w, &covered);
    whole_rest(&w, &covered);
    whole_gaps(&w, &covered);
    vec_deinit(&covered);
    if (options->code) {
        AUTO_STR struct str id = {0};

        place_code(&w, out);
        str_add_hex(&id, w.image.text->build_id, w.image.text->build_id_size);
        out->build_id = id.len ? str_steal(&id) : NULL;
    } else {
        place_segments(&w, out);
    }
    struct hq_error *err = image_changed(&w.image);
    if (!err) {
        book_take(&w.book, out);
        out->note = recover_note(&w);
    }
    recover_deinit(&w);
    if (err)
        structure_deinit(out);
    return err;
}
