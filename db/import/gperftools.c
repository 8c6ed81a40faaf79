/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPU profiles of gperftools (its doc/cpuprofile-fileformat.html): words of the profiled machine, 64 bits and little
 * endian here, then the text of /proc/self/maps. A header 0, 3, 0, period in microseconds, 0; records of a count, a
 * number of addresses and the addresses, innermost first; a trailer 0, 1, 0. Names come from the binaries, where they
 * still are.
 */
#include "common/cursor.h"
#include "db/import/addresses.h"
#include "db/import/formats.h"
#include "db/import/input.h"
#include "db/import/target.h"
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#define SIZE_MOST ((size_t)1 << 30)
enum { DEPTH_MAX = 4096 };

struct mapping {
    uint64_t start, end, offset;
    const char *path;
};

struct gperftools {
    struct import *im;
    struct addresses addresses;
    VEC(struct mapping) mappings;
    VEC(uint32_t) path; /* numbers of addresses */
};

bool gperftools_sniff(const struct import_probe *p)
{
    uint64_t head[5];

    if (p->is_dir || p->len < sizeof head)
        return false;
    memcpy(head, p->text, sizeof head);
    return head[0] == 0 && head[1] == 3 && head[2] == 0 && head[3] && head[3] < UINT32_MAX && head[4] == 0;
}

/* "7f00-7f10 r-xp 00001000 08:01 123   /lib/libc.so.6" */
static void read_mapping(struct gperftools *g, const char *line)
{
    struct mapping m = {0};
    int at = 0;

    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*4s %" SCNx64 " %*s %*s %n", &m.start, &m.end, &m.offset, &at) < 3 ||
        !at)
        return;
    if (line[at] == '/') {
        m.path = import_keep(g->im, line + at);
        vec_push(&g->mappings, m);
    }
}

static void read_mappings(struct gperftools *g, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        AUTO_FREE char *line = xstrndup(text, n);

        read_mapping(g, line);
        text += n + (text[n] == '\n');
    }
}

static uint32_t address_number(struct gperftools *g, uint64_t address)
{
    vec_foreach(m, &g->mappings)
        if (address >= m->start && address < m->end)
            return addresses_add(&g->addresses, m->path, address - m->start + m->offset);
    return addresses_add(&g->addresses, NULL, address);
}

/* Goes through the records; the first time only to collect addresses, then with their places. */
static struct hq_error *each_record(struct gperftools *g, struct cursor *c, bool give, uint32_t profile,
                                    uint32_t metric, uint64_t period_us)
{
    for (;;) {
        uint64_t count = cursor_u64(c), depth = cursor_u64(c);

        if (cursor_ok(c) && depth > DEPTH_MAX)
            cursor_fail(c, "has a record with too many addresses");
        const uint8_t *addresses = cursor_array(c, depth, 8);

        HQ_TRY(cursor_error(c));
        struct cursor list = cursor_make(c->file, c->section, addresses, depth * 8);

        vec_clear(&g->path);
        for (uint64_t i = 0; i < depth; i++) {
            uint64_t address = cursor_u64(&list);

            if (!count && !address && depth == 1)
                return NULL;
            /* All but the first are return addresses: the call is just before. */
            uint32_t number = address_number(g, i && address ? address - 1 : address);

            vec_push(&g->path, give ? g->addresses.places.data[number] : number);
        }
        if (!give)
            continue;
        if (count > INT64_MAX / (period_us * 1000)) {
            cursor_fail(c, "has a count that is out of range");
            return cursor_error(c);
        }
        import_reverse(g->path.data, g->path.len);
        uint32_t frame = import_path(g->im, g->path.data, g->path.len);

        if (frame == HQDB_NONE)
            frame = model_root_frame(g->im->model, SCOPE_PARTIAL, "partial: no call path");
        import_value(g->im, profile, metric, frame, (int64_t)(count * period_us * 1000), count);
        if (import_problem(g->im))
            return hq_error_new(HQ_DATA, "%s: the record that ends at byte %zu: %s", c->file, cursor_offset(c),
                                import_problem(g->im));
    }
}

static struct hq_error *take(struct gperftools *g, const char *path, const struct str *data)
{
    struct import_probe probe = {.path = path, .text = str_cstr(data), .len = data->len};

    if (!gperftools_sniff(&probe))
        return hq_error_new(HQ_DATA, "%s does not begin as a 64-bit CPU profile of gperftools does", path);
    struct stat st;
    struct cursor c = cursor_make(path, "records", data->s, data->len);

    cursor_skip(&c, 3 * 8);
    uint64_t period_us = cursor_u64(&c);

    cursor_skip(&c, 8);
    struct cursor again = c;

    /* The mappings stand behind the records, which must be understood to find them. */
    HQ_TRY(each_record(g, &c, false, 0, 0, period_us));
    read_mappings(g, (const char *)c.at);
    addresses_deinit(&g->addresses);
    addresses_init(&g->addresses);
    g->addresses.recorded = stat(path, &st) ? 0 : (int64_t)st.st_mtime;
    c = again;
    HQ_TRY(each_record(g, &c, false, 0, 0, period_us));
    HQ_TRY(addresses_resolve(&g->addresses, g->im));
    uint32_t metric = import_metric(g->im, "CPUTIME", "sampled by gperftools", HQM_DIM_SECONDS, HQDB_METRIC_SAMPLED,
                                    period_us * 1000, 1e-9);

    return each_record(g, &again, true, import_profile(g->im, 0, 0, 0, NULL), metric, period_us);
}

struct hq_error *gperftools_read(struct import *im, const char *path)
{
    AUTO_INPUT struct input in = {0};
    AUTO_STR struct str data = {0};
    struct gperftools g = {.im = im};

    HQ_TRY(input_open(&in, path));
    HQ_TRY(input_whole(&in, &data, SIZE_MOST));
    addresses_init(&g.addresses);
    struct hq_error *error = take(&g, path, &data);

    addresses_deinit(&g.addresses);
    vec_deinit(&g.mappings);
    vec_deinit(&g.path);
    return error;
}
