/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Line tables, read directly: DWARF 5 standard, section 6.2. libdwarf 20210528 starts the file register of a version 5
 * program at 0 where the standard says 1, which names the wrong file for what was included at the top of another one.
 */
#include "structure/dwarf/impl.h"
#include "common/compare.h"
#include "common/cursor.h"
#include <stdlib.h>

struct program {
    struct cursor c; /* at the first opcode, ending with the program */
    uint16_t version;
    bool wide; /* 64-bit DWARF */
    uint8_t min_length, line_range, opcode_base;
    bool begins; /* what the register of beginning statements starts with */
    int8_t line_base;
    uint8_t operands[256];
};

struct strings {
    const uint8_t *line_str, *str;
    size_t line_str_size, str_size;
};

static uint64_t offset(struct cursor *c, bool wide)
{
    return wide ? cursor_u64(c) : cursor_u32(c);
}

static const char *read_string(struct cursor *c, uint64_t form, bool wide, const struct strings *s)
{
    switch (form) {
    case DW_FORM_string: return cursor_str(c);
    case DW_FORM_line_strp: return elf_string(s->line_str, s->line_str_size, offset(c, wide));
    case DW_FORM_strp: return elf_string(s->str, s->str_size, offset(c, wide));
    default: cursor_fail(c, "has an unknown form"); return NULL;
    }
}

static uint64_t read_number(struct cursor *c, uint64_t form)
{
    switch (form) {
    case DW_FORM_udata: return cursor_uleb(c);
    case DW_FORM_data1: return cursor_u8(c);
    case DW_FORM_data2: return cursor_u16(c);
    case DW_FORM_data4: return cursor_u32(c);
    case DW_FORM_data8: return cursor_u64(c);
    case DW_FORM_data16: cursor_skip(c, 16); return 0;
    case DW_FORM_block: cursor_skip(c, cursor_uleb(c)); return 0;
    default: cursor_fail(c, "has an unknown form"); return 0;
    }
}

struct entry { /* of the directories or files */
    const char *name;
    uint64_t directory;
};
struct entries {
    struct entry *data;
    size_t len, cap;
};

/* Version 5: a table that describes its own columns. */
static void read_entries5(struct dwarf *d, struct cursor *c, bool wide, const struct strings *s, struct entries *out)
{
    uint64_t type[16], form[16];
    uint8_t columns = cursor_u8(c);

    if (columns > 16)
        cursor_fail(c, "has too many columns");
    for (uint8_t i = 0; i < columns && cursor_ok(c); i++) {
        type[i] = cursor_uleb(c);
        form[i] = cursor_uleb(c);
    }
    uint64_t count = cursor_uleb(c);
    for (uint64_t i = 0; i < count && columns && cursor_ok(c) && cursor_left(c) && dwarf_spend(d, 1); i++) {
        struct entry *e = vec_add(out);

        for (uint8_t k = 0; k < columns; k++) {
            if (type[k] == DW_LNCT_path)
                e->name = read_string(c, form[k], wide, s);
            else if (type[k] == DW_LNCT_directory_index)
                e->directory = read_number(c, form[k]);
            else if (form[k] == DW_FORM_string || form[k] == DW_FORM_line_strp || form[k] == DW_FORM_strp)
                read_string(c, form[k], wide, s);
            else
                read_number(c, form[k]);
        }
    }
}

/* Before version 5 both count from 1: number 0 is the compilation directory, and no file. */
static void read_entries4(struct dwarf *d, struct cursor *c, struct entries *directories, struct entries *files)
{
    const char *name;

    vec_add(directories);
    vec_add(files);
    while ((name = cursor_str(c)) && *name && dwarf_spend(d, 1))
        vec_push(directories, (struct entry){.name = name});
    while ((name = cursor_str(c)) && *name && dwarf_spend(d, 1)) {
        vec_push(files, (struct entry){.name = name, .directory = cursor_uleb(c)});
        cursor_uleb(c);
        cursor_uleb(c);
    }
}

/* Leaves p->c at the first opcode; false if the header is damaged. */
static bool read_header(struct dwarf *d, struct elf *elf, uint64_t at, struct program *p, struct entries *directories,
                        struct entries *files)
{
    struct strings s = {0};
    const uint8_t *data;
    size_t size;

    *p = (struct program){0};
    if (!elf_read_section(elf, ".debug_line", &data, &size) || at >= size)
        return false;
    elf_read_section(elf, ".debug_line_str", &s.line_str, &s.line_str_size);
    elf_read_section(elf, ".debug_str", &s.str, &s.str_size);
    struct cursor c = cursor_make(elf->path, ".debug_line", data + at, size - at);
    uint64_t length = cursor_u32(&c);
    if (length == UINT32_MAX) {
        p->wide = true;
        length = cursor_u64(&c);
    }
    if (length > cursor_left(&c))
        return false;
    c.end = c.at + length;
    p->version = cursor_u16(&c);
    if (p->version < 2 || p->version > 5)
        return false;
    if (p->version == 5 && (cursor_u8(&c) != 8 || cursor_u8(&c) != 0))
        return false;
    uint64_t header = offset(&c, p->wide);
    size_t start = cursor_offset(&c);
    p->min_length = cursor_u8(&c);
    if (p->version >= 4)
        cursor_u8(&c); /* operations in an instruction: 1 on this processor */
    p->begins = cursor_u8(&c);
    p->line_base = (int8_t)cursor_u8(&c);
    p->line_range = cursor_u8(&c);
    p->opcode_base = cursor_u8(&c);
    for (unsigned i = 1; i < p->opcode_base; i++)
        p->operands[i] = cursor_u8(&c);
    p->c = c;
    if (p->version == 5) {
        read_entries5(d, &c, p->wide, &s, directories);
        read_entries5(d, &c, p->wide, &s, files);
    } else {
        read_entries4(d, &c, directories, files);
    }
    if (header > cursor_left(&p->c) + cursor_offset(&p->c) - start)
        return false;
    cursor_seek(&p->c, start + header);
    return cursor_ok(&p->c) && p->line_range && p->opcode_base;
}

static void number_files(struct dwarf *d, const char *here, uint16_t version, const struct entries *directories,
                         const struct entries *files, struct dwarf_file_table *out)
{
    out->ids = ARENA_ARRAY(&d->arena, files->len + 1, uint32_t);
    out->count = files->len;
    /* libdwarf of 2020 does not read its form in the unit itself. */
    if (!here && version == 5 && directories->len)
        here = directories->data[0].name;
    for (size_t i = 0; i < files->len; i++) {
        const struct entry *f = &files->data[i];
        /* Directory 0 is the compilation directory, which version 5 repeats. */
        const char *directory = f->directory && f->directory < directories->len ? directories->data[f->directory].name
                                                                                : NULL;

        out->ids[i] = dwarf_intern_path(d, here, directory, f->name);
    }
}

void dwarf_files_read(struct dwarf *d, const struct dwarf_file *f, const struct dwarf_attrs *cu,
                      struct dwarf_file_table *out)
{
    struct entries directories = {0}, files = {0};
    struct program p;

    if (cu->has_lines && read_header(d, f->elf, cu->lines, &p, &directories, &files))
        number_files(d, cu->comp_dir, p.version, &directories, &files, out);
    vec_deinit(&directories);
    vec_deinit(&files);
}

struct rows {
    struct dwarf_row *data; /* file: as the program numbers it */
    size_t len, cap;
};

struct state {
    uint64_t address, file, column;
    int64_t line;
    bool begins; /* a statement */
};

static void add_row(struct rows *rows, const struct state *s, bool end)
{
    uint32_t file = s->file < UINT32_MAX ? (uint32_t)s->file : UINT32_MAX;
    uint32_t line = s->line > 0 && s->line < UINT32_MAX ? (uint32_t)s->line : 0;
    uint16_t column = s->begins && s->column <= UINT16_MAX ? (uint16_t)s->column : 0;

    vec_push(rows, (struct dwarf_row){s->address, file, line, end, s->begins, column, line});
}

static struct state initial(const struct program *p)
{
    return (struct state){.file = 1, .line = 1, .begins = p->begins};
}

static void extended(const struct program *p, struct cursor *c, struct state *s, struct rows *rows)
{
    uint64_t length = cursor_uleb(c);
    size_t next = cursor_offset(c) + length;

    if (!length || length > cursor_left(c)) {
        cursor_fail(c, "is cut off");
        return;
    }
    switch (cursor_u8(c)) {
    case DW_LNE_end_sequence:
        add_row(rows, s, true);
        *s = initial(p);
        break;
    case DW_LNE_set_address: s->address = length == 9 ? cursor_u64(c) : 0; break;
    default: break;
    }
    cursor_seek(c, next);
}

static void standard(const struct program *p, struct cursor *c, uint8_t op, struct state *s, struct rows *rows)
{
    switch (op) {
    case DW_LNS_copy: add_row(rows, s, false); break;
    case DW_LNS_advance_pc: s->address += cursor_uleb(c) * p->min_length; break;
    case DW_LNS_advance_line: s->line = (int64_t)((uint64_t)s->line + (uint64_t)cursor_sleb(c)); break;
    case DW_LNS_set_file: s->file = cursor_uleb(c); break;
    case DW_LNS_set_column: s->column = cursor_uleb(c); break;
    case DW_LNS_negate_stmt: s->begins = !s->begins; break;
    case DW_LNS_const_add_pc: s->address += (uint64_t)((255 - p->opcode_base) / p->line_range) * p->min_length; break;
    case DW_LNS_fixed_advance_pc: s->address += cursor_u16(c); break;
    default:
        for (uint8_t i = 0; i < p->operands[op]; i++)
            cursor_uleb(c);
        break;
    }
}

static void run(struct dwarf *d, struct program *p, struct rows *rows)
{
    struct cursor *c = &p->c;
    struct state s = initial(p);

    while (cursor_left(c) && dwarf_spend(d, 1)) {
        uint8_t op = cursor_u8(c);

        if (op >= p->opcode_base) {
            uint8_t step = op - p->opcode_base;

            s.address += (uint64_t)(step / p->line_range) * p->min_length;
            s.line += p->line_base + step % p->line_range;
            add_row(rows, &s, false);
        } else if (op) {
            standard(p, c, op, &s, rows);
        } else {
            extended(p, c, &s, rows);
        }
    }
}

/* A sequence is a run of ascending rows that ends with an end row; sequences come in any order. */
struct sequence {
    size_t first, count;
    uint64_t low;
};

static int by_low_then_place(const void *a, const void *b)
{
    const struct sequence *x = a, *y = b;

    COMPARE(x->low, y->low);
    COMPARE(x->first, y->first);
    return 0;
}

/* Appends the rows of a sequence. The last of several rows at one address holds; rows that go back or overlap an
 * earlier sequence are dropped. */
static void append(const struct rows *from, const struct sequence *s, const struct dwarf_file_table *files,
                   struct rows *out, struct rows *hidden)
{
    if (out->len && s->low < vec_last(out).address)
        return;
    for (size_t i = s->first; i < s->first + s->count; i++) {
        struct dwarf_row row = from->data[i];

        if (out->len && row.address < vec_last(out).address)
            continue;
        row.file = row.file < files->count ? files->ids[row.file] : 0;
        row.least = row.line;
        if (out->len && row.address == vec_last(out).address) {
            struct dwarf_row over = vec_pop(out);

            if (over.begins && !over.end && (over.file != row.file || over.line != row.line))
                vec_push(hidden, over);
            if (!over.end && over.file == row.file && over.least && over.least < row.least)
                row.least = over.least;
            if (!over.end && over.begins && over.file == row.file && over.line == row.line) {
                row.begins = true;
                row.column = over.column;
            }
        }
        vec_push(out, row);
    }
}

static void sort_rows(struct dwarf *d, const struct rows *rows, const struct dwarf_file_table *files, struct rows *out,
                      struct rows *hidden)
{
    VEC(struct sequence) found = {0};
    size_t first = 0;

    for (size_t i = 0; i < rows->len; i++) {
        if (!rows->data[i].end)
            continue;
        uint64_t low = rows->data[first].address;

        /* Code that the linker dropped leaves sequences outside the text. */
        if (i > first && low && elf_executable_end(d->text, low))
            vec_push(&found, (struct sequence){first, i + 1 - first, low});
        first = i + 1;
    }
    vec_sort(&found, by_low_then_place);
    vec_reserve(out, rows->len);
    vec_foreach(s, &found)
        append(rows, s, files, out, hidden);
    vec_deinit(&found);
}

void dwarf_rows_read(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, const struct dwarf_attrs *cu,
                     struct dwarf_unit *out)
{
    struct entries directories = {0}, files = {0};
    struct rows all = {0}, sorted = {0}, hidden = {0};
    struct program p;

    if (cu->has_lines && !read_header(d, f->elf, cu->lines, &p, &directories, &files)) {
        if (elf_find_section(f->elf, ".debug_line"))
            dwarf_set_problem(d, "part of the line information is damaged, so some code has no lines");
    } else if (cu->has_lines) {
        run(d, &p, &all);
        sort_rows(d, &all, dwarf_file_table(d, f, die), &sorted, &hidden);
    }
    vec_deinit(&directories);
    vec_deinit(&files);
    vec_deinit(&all);
    out->rows = sorted.data;
    out->row_count = sorted.len;
    out->hidden = hidden.data;
    out->hidden_count = hidden.len;
}
