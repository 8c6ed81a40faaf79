/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of profile.proto: strings, types, mappings, locations, functions (pprof.h). */
#include "db/import/pprof.h"

static struct pprof_type read_type(struct cursor *c)
{
    struct pprof_type t = {0};
    struct wire_field f;

    while (wire_next(c, &f)) {
        if (f.number == 1)
            t.type = f.value;
        else if (f.number == 2)
            t.unit = f.value;
    }
    return t;
}

static void read_mapping(struct pprof *p, struct cursor *c)
{
    struct pprof_mapping m = {0};
    struct wire_field f;
    uint64_t id = 0;

    while (wire_next(c, &f)) {
        switch (f.number) {
        case 1: id = f.value; break;
        case 2: m.start = f.value; break;
        case 3: m.limit = f.value; break;
        case 4: m.offset = f.value; break;
        case 5: m.file = f.value; break;
        case 6: m.build_id = f.value; break;
        }
    }
    map_put(&p->mapping_of, id, p->mappings.len);
    vec_push(&p->mappings, m);
}

static void read_function(struct pprof *p, struct cursor *c)
{
    struct pprof_function x = {0};
    struct wire_field f;
    uint64_t id = 0, system_name = 0;

    while (wire_next(c, &f)) {
        switch (f.number) {
        case 1: id = f.value; break;
        case 2: x.name = f.value; break;
        case 3: system_name = f.value; break;
        case 4: x.file = f.value; break;
        case 5: x.line = f.value; break;
        }
    }
    if (!x.name)
        x.name = system_name;
    map_put(&p->function_of, id, p->functions.len);
    vec_push(&p->functions, x);
}

static void read_line(struct pprof *p, struct cursor *c)
{
    struct pprof_line l = {0};
    struct wire_field f;

    while (wire_next(c, &f)) {
        if (f.number == 1)
            l.function = f.value;
        else if (f.number == 2)
            l.line = f.value < UINT32_MAX ? (uint32_t)f.value : 0;
    }
    vec_push(&p->lines, l);
}

static void read_location(struct pprof *p, struct cursor *c)
{
    struct pprof_location l = {.first_line = (uint32_t)p->lines.len};
    struct wire_field f;
    uint64_t id = 0;

    while (wire_next(c, &f)) {
        switch (f.number) {
        case 1: id = f.value; break;
        case 2: l.mapping = f.value; break;
        case 3: l.address = f.value; break;
        case 4:
            if (f.type == WIRE_BYTES)
                read_line(p, &f.bytes);
            if (f.type == WIRE_BYTES && !cursor_ok(&f.bytes))
                cursor_fail(c, f.bytes.problem);
            break;
        }
    }
    l.line_count = (uint32_t)p->lines.len - l.first_line;
    map_put(&p->location_of, id, p->locations.len);
    vec_push(&p->locations, l);
}

static void read_message(struct pprof *p, uint32_t number, struct cursor *c)
{
    switch (number) {
    case PROFILE_SAMPLE_TYPE: vec_push(&p->types, read_type(c)); break;
    case PROFILE_MAPPING: read_mapping(p, c); break;
    case PROFILE_LOCATION: read_location(p, c); break;
    case PROFILE_FUNCTION: read_function(p, c); break;
    case PROFILE_STRING: vec_push(&p->strings, (struct pprof_text){(const char *)c->at, cursor_left(c)}); break;
    case PROFILE_PERIOD_TYPE: p->period_type = read_type(c); break;
    }
}

struct hq_error *pprof_tables(struct pprof *p, const char *path, const void *data, size_t size)
{
    struct wire_field f;

    p->all = cursor_make(path, "Profile", data, size);
    struct cursor c = p->all;

    while (wire_next(&c, &f)) {
        if (f.type == WIRE_BYTES) {
            read_message(p, f.number, &f.bytes);
            HQ_TRY(cursor_error(&f.bytes));
        } else if (f.number == PROFILE_PERIOD) {
            p->period = f.value;
        } else if (f.number == PROFILE_DEFAULT_TYPE) {
            p->default_type = f.value;
        } else if (f.number == PROFILE_TIME) {
            p->time_ns = f.value;
        } else if (f.number == PROFILE_DURATION) {
            p->duration_ns = f.value;
        }
    }
    return cursor_error(&c);
}

void pprof_deinit(struct pprof *p)
{
    vec_deinit(&p->strings);
    vec_deinit(&p->types);
    vec_deinit(&p->functions);
    vec_deinit(&p->mappings);
    vec_deinit(&p->locations);
    vec_deinit(&p->lines);
    map_deinit(&p->function_of);
    map_deinit(&p->mapping_of);
    map_deinit(&p->location_of);
}

struct pprof_text pprof_string(const struct pprof *p, uint64_t number)
{
    return number < p->strings.len ? p->strings.data[number] : (struct pprof_text){"", 0};
}
