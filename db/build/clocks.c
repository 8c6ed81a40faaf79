/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/build/clocks.h"
#include "common/file.h"
#include "common/str.h"
#include "common/units.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 16 << 20, LONGEST_OFFSET_S = 100000000 };

struct line {
    const char *file;
    unsigned number;
    char *kind, *name, *offset, *rest;
};

static struct hq_error *wrong(const struct line *l, const char *what)
{
    return hq_error_new(HQ_USAGE,
                        "%s:%u: %s; a line is `host NAME OFFSET` or `rank NUMBER OFFSET`, like `host node2 -1.5ms`",
                        l->file, l->number, what);
}

static struct hq_error *parse_offset(const struct line *l, int64_t *ns)
{
    bool minus = l->offset[0] == '-';
    double seconds;
    struct hq_error *err = units_parse_seconds(l->offset + (minus || l->offset[0] == '+'), &seconds);

    if (err)
        return hq_error_prefix(err, "%s:%u", l->file, l->number);
    if (!(seconds <= LONGEST_OFFSET_S))
        return wrong(l, "this offset is longer than three years");
    *ns = llround((minus ? -seconds : seconds) * 1e9);
    return NULL;
}

static bool is_meant(const struct line *l, const struct process *p, long rank)
{
    return l->kind[0] == 'h' ? !strcmp(p->host, l->name) : p->header.rank == rank;
}

static struct hq_error *apply_line(const struct line *l, struct process *processes, size_t count)
{
    bool is_rank = !strcmp(l->kind, "rank"), any = false;
    char *end = "";
    int64_t ns = 0;

    if (!is_rank && strcmp(l->kind, "host"))
        return wrong(l, "this is neither a host nor a rank");
    if (!l->name || !l->offset || l->rest[strspn(l->rest, " \t\r")])
        return wrong(l, "there are not three words");
    long rank = is_rank ? strtol(l->name, &end, 10) : 0;
    if (*end || rank < 0)
        return wrong(l, "this is no number of a rank");
    HQ_TRY(parse_offset(l, &ns));
    for (size_t i = 0; i < count; i++)
        if (is_meant(l, &processes[i], rank)) {
            processes[i].header.start_realtime_ns += (uint64_t)ns;
            any = true;
        }
    return any ? NULL
               : hq_error_new(HQ_USAGE, "%s:%u: there is no %s %s in these measurements", l->file, l->number, l->kind,
                              l->name);
}

struct hq_error *clocks_apply(const char *file, struct process *processes, size_t count)
{
    AUTO_STR struct str text = {0};
    struct line l = {.file = file};

    HQ_TRY(file_read(file, &text, MOST_BYTES));
    for (char *at = text.s, *next; at; at = next) {
        next = strchr(at, '\n');
        if (next)
            *next++ = 0;
        at[strcspn(at, "#")] = 0;
        l.number++;
        l.kind = strtok_r(at, " \t\r", &l.rest);
        if (!l.kind)
            continue;
        l.name = strtok_r(NULL, " \t\r", &l.rest);
        l.offset = l.name ? strtok_r(NULL, " \t\r", &l.rest) : NULL;
        HQ_TRY(apply_line(&l, processes, count));
    }
    return NULL;
}
