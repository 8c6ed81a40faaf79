/* SPDX-License-Identifier: BSD-3-Clause */
/* The line table of a unit as rows sorted by address. */
#include "structure/dwarf_impl.h"
#include <stdlib.h>

struct rows {
    struct dwarf_row *data;
    size_t len, cap;
};

/* A sequence is a run of ascending rows that ends with an end row; sequences come in any order. */
struct sequence {
    size_t first, count;
    uint64_t low;
};

static int by_low(const void *a, const void *b)
{
    const struct sequence *x = a, *y = b;

    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    return x->first < y->first ? -1 : 1;
}

static void read_rows(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die cu, Dwarf_Line *lines, Dwarf_Signed count,
                      struct rows *out)
{
    Dwarf_Error err = NULL;
    Dwarf_Unsigned last_file = ~0ull;
    uint32_t file = 0;

    vec_reserve(out, (size_t)count);
    for (Dwarf_Signed i = 0; i < count; i++) {
        Dwarf_Addr address;
        Dwarf_Unsigned line, number;
        Dwarf_Bool end;

        if (!dwarf_ok(f->dbg, dwarf_lineaddr(lines[i], &address, &err), &err) ||
            !dwarf_ok(f->dbg, dwarf_lineno(lines[i], &line, &err), &err) ||
            !dwarf_ok(f->dbg, dwarf_line_srcfileno(lines[i], &number, &err), &err) ||
            !dwarf_ok(f->dbg, dwarf_lineendsequence(lines[i], &end, &err), &err))
            continue;
        if (number != last_file)
            file = dwarf_file_number(d, f, cu, number);
        last_file = number;
        vec_push(out, (struct dwarf_row){address, file, (uint32_t)line, end});
    }
}

/* Code that the linker dropped leaves sequences outside the text. */
static void split(struct dwarf *d, const struct rows *rows, struct sequence **list, size_t *count)
{
    VEC(struct sequence) found = {0};
    size_t first = 0;

    for (size_t i = 0; i < rows->len; i++) {
        if (!rows->data[i].end)
            continue;
        uint64_t low = rows->data[first].address;

        if (i > first && low && elf_executable_end(d->text, low))
            vec_push(&found, (struct sequence){first, i + 1 - first, low});
        first = i + 1;
    }
    vec_sort(&found, by_low);
    *list = found.data;
    *count = found.len;
}

/* Of several rows at one address the last one holds; rows that go back or overlap an earlier sequence are dropped. */
static void append(const struct rows *from, const struct sequence *s, struct rows *out)
{
    uint64_t from_address = out->len ? out->data[out->len - 1].address : 0;

    if (out->len && s->low < from_address)
        return;
    for (size_t i = s->first; i < s->first + s->count; i++) {
        const struct dwarf_row *row = &from->data[i];

        if (out->len && row->address < vec_last(out).address)
            continue;
        if (out->len && row->address == vec_last(out).address)
            out->len--;
        vec_push(out, *row);
    }
}

void dwarf_rows_read(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die cu, struct dwarf_unit *out)
{
    Dwarf_Error err = NULL;
    Dwarf_Line_Context context = NULL;
    Dwarf_Line *lines;
    Dwarf_Unsigned version;
    Dwarf_Small tables;
    Dwarf_Signed count = 0;
    struct rows all = {0}, sorted = {0};
    struct sequence *list;
    size_t sequences;

    if (!dwarf_ok(f->dbg, dwarf_srclines_b(cu, &version, &tables, &context, &err), &err))
        return;
    if (dwarf_ok(f->dbg, dwarf_srclines_from_linecontext(context, &lines, &count, &err), &err))
        read_rows(d, f, cu, lines, count, &all);
    dwarf_srclines_dealloc_b(context);
    split(d, &all, &list, &sequences);
    for (size_t i = 0; i < sequences; i++)
        append(&all, &list[i], &sorted);
    free(list);
    vec_deinit(&all);
    out->rows = sorted.data;
    out->row_count = sorted.len;
}
