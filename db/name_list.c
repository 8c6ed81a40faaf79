/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/name_list.h"
#include "common/file.h"
#include "common/names.h"
#include "common/vec.h"
#include "db/model/canon.h"
#include "db/db_file.h"
#include "db/model/writer.h"
#include <stdlib.h>
#include <string.h>

static bool is_of(enum hqdb_names sort, uint32_t kind)
{
    switch (sort) {
    case HQDB_NAMES_PROCEDURES: return kind == SCOPE_PROCEDURE || kind == SCOPE_INLINE;
    case HQDB_NAMES_FILES: return kind == SCOPE_FILE;
    case HQDB_NAMES_MODULES: return kind == SCOPE_MODULE;
    default: return false;
    }
}

static void push(struct names *out, struct hqdb_name n, const char *part, size_t len)
{
    memcpy(n.part, part, len < sizeof n.part ? len : sizeof n.part);
    vec_push(out, n);
}

static void push_parts(struct names *out, struct hqdb_name n, const char *name, enum hqdb_names sort)
{
    const char *last = file_basename(name), *whole = name;
    size_t len = strlen(last);

    if (sort == HQDB_NAMES_PROCEDURES) {
        last = name_last(name, &len);
        whole = name_split(name).name;
    }
    push(out, n, last, last == name ? 0 : len);
    if (whole != name && whole != last)
        push(out, n, whole, strlen(whole));
}

/* Costs stand beside their scopes, for sorting looks at them often. */
struct costly {
    int64_t cost;
    uint32_t scope;
};

static int costliest_first(const void *pa, const void *pb)
{
    const struct costly *a = pa, *b = pb;

    return a->cost != b->cost ? (a->cost < b->cost) - (a->cost > b->cost)
                              : (a->scope > b->scope) - (a->scope < b->scope);
}

void names_list(const struct hqdb_scope *scopes, size_t count, const char *strings, size_t bytes,
                const struct hqdb_statistics *statistics, enum hqdb_names sort, struct names *out)
{
    VEC(struct costly) found = {0};
    AUTO_FREE uint8_t *seen = xcalloc(bytes / 8 + 1, 1);

    *out = (struct names){0};
    for (size_t i = 0; i < count; i++)
        if (is_of(sort, scopes[i].kind) && scopes[i].name < bytes && strings[scopes[i].name])
            vec_push(&found, (struct costly){statistics ? statistics[i].sum : 0, (uint32_t)i});
    vec_sort(&found, costliest_first);
    vec_foreach(f, &found) {
        struct hqdb_name n = {.sum = f->cost, .name = scopes[f->scope].name};

        if (seen[n.name / 8] >> n.name % 8 & 1)
            continue;
        seen[n.name / 8] |= (uint8_t)(1 << n.name % 8);
        push_parts(out, n, strings + n.name, sort);
    }
    vec_deinit(&found);
}

struct db_names names_of(const struct db *db, enum hqdb_names sort, struct names *own)
{
    const struct db_file *f = db->file;

    *own = (struct names){0};
    if (f->names[sort].data)
        return f->names[sort];
    names_list(db->scopes, db->scope_count, (const char *)f->strings.data, f->strings.len,
               db->metric_count ? f->scope_statistics[0] : NULL, sort, own);
    return (struct db_names){own->data, own->len};
}

/* The first text that does not come before the prefix; with `beyond` also not before what begins with it. */
static uint32_t first_text(const struct db_bytes *strings, const char *prefix, bool beyond)
{
    size_t low = 0, high = strings->len, length = strlen(prefix);

    while (low < high) {
        size_t at = low + (high - low) / 2;

        while (at > low && strings->data[at - 1])
            at--;
        int order = strncmp((const char *)strings->data + at, prefix, length);

        if (order < 0 || (beyond && !order))
            low = at + strlen((const char *)strings->data + at) + 1;
        else
            high = at;
    }
    return (uint32_t)low;
}

struct db_range names_range(const struct db *db, const char *prefix)
{
    const struct db_bytes *strings = &db->file->strings;

    return (struct db_range){first_text(strings, prefix, false), first_text(strings, prefix, true)};
}

void names_write(const struct canon *c, const struct hqdb_statistics *statistics, struct writer *w)
{
    for (enum hqdb_names sort = 0; sort < HQDB_NAMES_SORTS; sort++) {
        struct names names;

        names_list(c->scopes, c->scope_count, c->strings, c->string_bytes, statistics, sort, &names);
        writer_section(w, HQDB_NAMES, sort, sizeof *names.data, names.data, names.len);
        vec_deinit(&names);
    }
}
