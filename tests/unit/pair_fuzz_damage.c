/* SPDX-License-Identifier: BSD-3-Clause */
/* Damage to a database file by what its bytes mean. */
#include "db/model/writer.h"
#include "format/database.h"
#include "tests/unit/db_walk.h"
#include "tests/unit/mutate.h"
#include "tests/unit/pair_fuzz.h"

static uint64_t below(uint64_t *state, uint64_t n)
{
    return n ? mutate_random(state) % n : 0;
}

static bool section_at(const uint8_t *data, size_t size, uint64_t i, struct hqdb_section *s)
{
    struct hqdb_header h;

    memcpy(&h, data, sizeof h);
    if (h.section_table > size || i >= h.section_count || (i + 1) * sizeof *s > size - h.section_table)
        return false;
    memcpy(s, data + h.section_table + i * sizeof *s, sizeof *s);
    return s->offset <= size && s->bytes <= size - s->offset && s->record_size && s->count <= s->bytes / s->record_size;
}

static uint64_t section_count(const uint8_t *data)
{
    struct hqdb_header h;

    memcpy(&h, data, sizeof h);
    return h.section_count;
}

static void put_section(uint8_t *data, uint64_t i, const struct hqdb_section *s)
{
    struct hqdb_header h;

    memcpy(&h, data, sizeof h);
    memcpy(data + h.section_table + i * sizeof *s, s, sizeof *s);
}

static void damage_text(uint8_t *text, uint64_t room, uint64_t *state)
{
    static const char *const words[] = {"\x1b[31m", "\n",     "\xff\xfe",     "<script>", "\"",  "%n%s",
                                        "\xc2\x9b", "=cmd()", "\xe2\x80\xae", "\\",       "]]>", "--"};
    const char *word = words[below(state, sizeof words / sizeof *words)];

    if (strlen(word) < room)
        memcpy(text, word, strlen(word));
}

/* A field of 4 or 8 bytes of one record becomes an edge, an index, its neighbour, or that of another record. */
static void damage_field(uint8_t *data, const struct hqdb_section *s, uint64_t *state)
{
    static const uint64_t edges[] = {0,
                                     1,
                                     0x7f,
                                     0xffff,
                                     0x7fffffff,
                                     0x80000000,
                                     0xfffffffe,
                                     0xffffffff,
                                     0x100000000,
                                     INT64_MAX,
                                     (uint64_t)INT64_MIN,
                                     (uint64_t)1 << 62,
                                     UINT64_MAX,
                                     0x7ff0000000000000,
                                     0x7ff8000000000000,
                                     0x7fefffffffffffff};
    size_t width = s->record_size >= 8 && below(state, 2) ? 8 : s->record_size >= 4 ? 4 : 1;
    size_t at = below(state, s->record_size / width) * width;
    uint8_t *field = data + s->offset + below(state, s->count) * s->record_size + at;
    uint64_t value = 0;

    memcpy(&value, field, width);
    switch (below(state, 6)) {
    case 0: value = edges[below(state, sizeof edges / sizeof *edges)]; break;
    case 1: value = below(state, s->count + 2); break;
    case 2: value += below(state, 9) - 4; break;
    case 3: memcpy(&value, data + s->offset + below(state, s->count) * s->record_size + at, width); break;
    case 4: value = below(state, 300); break;
    default: value = mutate_random(state) >> below(state, 64);
    }
    memcpy(field, &value, width);
}

/* Sections that overlap, are short, empty, twice or of another kind; pages that a power cut left as zeros. */
static void damage_section(uint8_t *data, size_t size, uint64_t *state)
{
    uint64_t i = below(state, section_count(data));
    struct hqdb_section s, other;

    if (!section_at(data, size, i, &s) || !section_at(data, size, below(state, section_count(data)), &other))
        return;
    switch (below(state, 6)) {
    case 0: s.offset = other.offset; break;
    case 1:
        s.offset = other.offset;
        s.count = other.bytes / s.record_size;
        s.bytes = s.count * s.record_size;
        break;
    case 2:
        s.count = below(state, s.count + 1);
        s.bytes = s.count * s.record_size;
        break;
    case 3:
        s.tag = other.tag;
        s.index = other.index + (uint32_t)below(state, 2);
        break;
    case 4: s.count = s.bytes = 0; break;
    default: {
        uint64_t from = below(state, s.bytes + 1);

        memset(data + s.offset + from, 0, s.bytes - from < 256 ? s.bytes - from : 256);
        return;
    }
    }
    put_section(data, i, &s);
}

void pair_fuzz_damage(uint8_t *data, size_t size, uint64_t *state)
{
    struct hqdb_section s;

    if (below(state, 8) == 0) {
        damage_section(data, size, state);
        return;
    }
    if (!section_at(data, size, below(state, section_count(data)), &s) || !s.count)
        return;
    if (s.tag == HQDB_STRINGS || s.tag == HQDB_SOURCE_TEXT) {
        uint64_t from = below(state, s.count);

        damage_text(data + s.offset + from, s.count - from, state);
    } else {
        damage_field(data, &s, state);
    }
}

void pair_fuzz_mend(uint8_t *data, size_t size)
{
    struct hqdb_section s;

    for (uint64_t i = 0; i < section_count(data); i++)
        if (section_at(data, size, i, &s)) {
            s.checksum = section_checksum(data + s.offset, s.bytes);
            put_section(data, i, &s);
        }
    db_walk_mend(data, size);
}
