/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/frames.h"
#include "common/cursor.h"
#include "structure/range.h"
#include <stdlib.h>

enum {
    PE_ABSOLUTE = 0x00,
    PE_ULEB = 0x01,
    PE_U2 = 0x02,
    PE_U4 = 0x03,
    PE_U8 = 0x04,
    PE_SLEB = 0x09,
    PE_S2 = 0x0a,
    PE_S4 = 0x0b,
    PE_S8 = 0x0c,
    PE_PCREL = 0x10,
    PE_INDIRECT = 0x80,
    PE_OMIT = 0xff,
};

enum { AUGMENTATION_MOST = 16 };

/* place is the address of c->start. A value of 0 is "none" whatever it is relative to. */
static uint64_t encoded(struct cursor *c, uint8_t encoding, uint64_t place)
{
    uint64_t at = place + cursor_offset(c), value;

    switch (encoding & 0x0f) {
    case PE_ABSOLUTE:
    case PE_U8:
    case PE_S8: value = cursor_u64(c); break;
    case PE_ULEB: value = cursor_uleb(c); break;
    case PE_SLEB: value = (uint64_t)cursor_sleb(c); break;
    case PE_U2: value = cursor_u16(c); break;
    case PE_S2: value = (uint64_t)(int16_t)cursor_u16(c); break;
    case PE_U4: value = cursor_u32(c); break;
    case PE_S4: value = (uint64_t)(int64_t)cursor_i32(c); break;
    default: cursor_fail(c, "has an unknown encoding"); return 0;
    }
    if (!value || (encoding & 0x70) == 0)
        return value;
    if ((encoding & 0x70) == PE_PCREL)
        return value + at;
    return 0;
}

struct cie {
    size_t offset;         /* SIZE_MAX: none read yet */
    uint8_t pointer, lsda; /* encodings */
    bool good, augmented;
};

static void read_cie(struct cursor c, uint64_t place, struct cie *out)
{
    uint64_t length = cursor_u32(&c);

    out->pointer = PE_ABSOLUTE;
    out->lsda = PE_OMIT;
    out->good = out->augmented = false;
    if (length == UINT32_MAX)
        length = cursor_u64(&c);
    if (cursor_u32(&c) != 0)
        return;
    uint8_t version = cursor_u8(&c);
    const char *augmentation = cursor_str(&c);
    /* No letter comes twice; a long one would be read again for each frame. */
    if (augmentation && strlen(augmentation) > AUGMENTATION_MOST)
        return;
    cursor_uleb(&c);
    cursor_sleb(&c);
    if (version == 1)
        cursor_u8(&c);
    else
        cursor_uleb(&c);
    if (!cursor_ok(&c) || (*augmentation && *augmentation != 'z'))
        return;
    if (*augmentation == 'z') {
        out->augmented = true;
        cursor_uleb(&c);
        augmentation++;
    }
    for (; *augmentation; augmentation++) {
        if (*augmentation == 'R')
            out->pointer = cursor_u8(&c);
        else if (*augmentation == 'L')
            out->lsda = cursor_u8(&c);
        else if (*augmentation == 'P')
            encoded(&c, cursor_u8(&c), place);
        else if (*augmentation != 'S' && *augmentation != 'B')
            return;
    }
    out->good = cursor_ok(&c);
}

/* Whether the frame has been moved before the first instruction: DW_CFA_def_cfa, _offset or _expression before any
 * advance. */
static bool continues(struct cursor *c)
{
    uint8_t op = cursor_left(c) ? cursor_u8(c) : 0;

    return op == 0x0c || op == 0x0e || op == 0x0f;
}

static void read_fde(struct elf *text, struct cursor c, uint64_t place, const struct cie *cie, struct frames *out)
{
    struct frame f = {.low = encoded(&c, cie->pointer, place)};

    f.high = f.low + encoded(&c, cie->pointer & 0x0f, place);
    if (cie->augmented) {
        uint64_t size = cursor_uleb(&c);
        size_t end = cursor_offset(&c) + size;

        if (cie->lsda != PE_OMIT && size && !(cie->lsda & PE_INDIRECT))
            f.lsda = encoded(&c, cie->lsda, place);
        cursor_seek(&c, end);
    }
    f.continues = continues(&c);
    uint64_t end = elf_executable_end(text, f.low);
    if (cursor_ok(&c) && f.low && end && f.high > f.low && f.high <= end)
        vec_push(out, f);
}

static void make_disjoint(struct frames *f)
{
    size_t kept = 0;

    range_sort(f);
    for (size_t i = 0; i < f->len; i++)
        if (!kept || f->data[i].low >= f->data[kept - 1].high)
            f->data[kept++] = f->data[i];
    f->len = kept;
}

void frames_read(struct elf *text, struct frames *out)
{
    struct elf_section *s = elf_find_section(text, ".eh_frame");
    struct cie cie = {.offset = SIZE_MAX};
    const uint8_t *data;
    size_t size;

    *out = (struct frames){0};
    if (!s || !elf_section_data(text, s, &data, &size))
        return;
    struct cursor c = cursor_make(text->path, s->name, data, size);
    while (cursor_left(&c) > 8) {
        uint64_t length = cursor_u32(&c);

        if (length == UINT32_MAX)
            length = cursor_u64(&c);
        size_t id_at = cursor_offset(&c);
        if (!length)
            continue;
        if (length < 4 || length > cursor_left(&c))
            break;
        uint32_t id = cursor_u32(&c);
        if (id && id <= id_at) {
            struct cursor at = cursor_make(text->path, s->name, data, size);

            if (cie.offset != id_at - id) {
                cie.offset = id_at - id;
                cursor_seek(&at, cie.offset);
                read_cie(at, s->address, &cie);
            }
            struct cursor fde = c;
            fde.end = fde.start + id_at + length;
            if (cie.good)
                read_fde(text, fde, s->address, &cie, out);
        }
        cursor_seek(&c, id_at + length);
    }
    make_disjoint(out);
}

void frames_deinit(struct frames *f)
{
    vec_deinit(f);
}

const struct frame *frames_find(const struct frames *f, uint64_t address)
{
    return range_find(f, address);
}

void frames_landing_pads(const struct elf *text, const struct frame *frame, struct landing_pads *out)
{
    size_t size;
    const uint8_t *data = frame->lsda ? elf_at(text, frame->lsda, &size) : NULL;

    if (!data)
        return;
    struct cursor c = cursor_make(text->path, ".gcc_except_table", data, size);
    uint8_t start_encoding = cursor_u8(&c);
    uint64_t start = start_encoding == PE_OMIT ? frame->low : encoded(&c, start_encoding, frame->lsda);
    if (cursor_u8(&c) != PE_OMIT)
        cursor_uleb(&c);
    uint8_t encoding = cursor_u8(&c) & 0x0f;
    uint64_t length = cursor_uleb(&c);
    size_t end = cursor_offset(&c) + (length < cursor_left(&c) ? length : cursor_left(&c));
    uint64_t bytes = frame->high - frame->low, before = 0; /* the end of the one before: they ascend */
    for (uint64_t sites = 0; cursor_ok(&c) && cursor_offset(&c) < end && sites <= bytes; sites++) {
        uint64_t low = encoded(&c, encoding, 0), count = encoded(&c, encoding, 0), pad = encoded(&c, encoding, 0);

        cursor_uleb(&c);
        if (low < before || low > bytes || count > bytes - low)
            break;
        before = low + count;
        if (cursor_ok(&c) && pad)
            vec_push(out, (struct landing_pad){frame->low + low, frame->low + low + count, start + pad});
    }
}
