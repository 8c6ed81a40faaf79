/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/report/report.h"
#include "query/report/bundle.h"
#include "query/report/gather.h"
#include <inttypes.h>
#include <string.h>

#define FRAME_BYTES    1024 /* of HTML around data, program and style */
#define RECORDS_LEAST  1000 /* fewer say nothing about a run */
#define RECORDS_LOOKED 2000000
/* Shares of a metric's total: calls below the first are never looked for, calls above the others never left out. */
#define CUT_LEAST      1e-6
#define CUT_MOST       0.01
#define COARSE_MOST    0.1 /* of values by profile */

/* Everything but the data: the program, its style, the HTML around them. */
static void write_head(FILE *out)
{
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
          /* Nothing is fetched and nothing is sent, whatever names and sources hold. */
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
          "style-src 'unsafe-inline'; img-src data: blob:\">\n"
          "<title>hq report</title>\n<style>\n",
          out);
    fwrite(bundle_style().data, 1, bundle_style().bytes, out);
    fputs("</style>\n</head>\n<body>\n<noscript>This page is a program: it needs JavaScript.</noscript>\n"
          "<script type=\"text/plain\" id=\"data\">",
          out);
}

static void write_tail(FILE *out)
{
    fputs("</script>\n<script>\n", out);
    fwrite(bundle_program().data, 1, bundle_program().bytes, out);
    fputs("</script>\n</body>\n</html>\n", out);
}

static void add_texts(struct gathering *g)
{
    str_add(&g->json, "\"texts\":[");
    for (uint32_t i = 0; i < intern_count(&g->texts); i++) {
        str_add(&g->json, i ? "," : "");
        json_quote(&g->json, intern_str(&g->texts, i));
    }
    str_add(&g->json, "],");
}

/* The bytes that a page of these data has: base 64 of what gzip makes of them. */
static void seal(const struct gathering *g, struct str *out)
{
    AUTO_STR struct str json = {0}, data = {0};

    str_addf(&json, "{%s\"columns\":{%s}}", str_cstr(&g->json), str_cstr(&g->pack.index));
    pack_join(&g->pack, str_cstr(&json), &data);
    str_clear(out);
    pack_base64(&data, out);
}

static struct hq_error *select_all(struct gathering *g)
{
    AUTO_STR struct str text = {0};
    struct script *script;

    str_add(&text, "tree");
    if (g->options->compare) {
        str_add(&text, " compare with ");
        print_quoted(&text, g->options->compare);
    }
    struct source source = {.name = "report", .text = str_cstr(&text), .length = text.len};
    struct hq_error *error = parse_script(&source, NULL, &script);

    if (!error)
        error = selection_make(g->env, &script->statements.data[0].query, &g->run.selection);
    g->run.tree = &g->run.selection.tree;
    g->left_scope = HQDB_NONE;
    script_destroy(script);
    return error;
}

/* ---- what is in the page ---- */

/* The tree and its sums, of calls that cost at least the share; 0: of all. */
static struct hq_error *gather_base(struct gathering *g, double share)
{
    if (share > 0) {
        selection_deinit(&g->run.selection);
        arena_deinit(&g->run.arena);
        g->run = (struct run){.env = g->env};
        str_clear(&g->pack.bytes);
        str_clear(&g->pack.index);
        HQ_TRY(select_all(g));
        for (size_t i = 0; i < g->run.selection.measures.len; i++)
            HQ_TRY(selection_load(&g->run.selection, i));
        small_cut(g, share);
    }
    gather_tree(g);
    HQ_TRY(gather_sums(g));
    add_texts(g);
    return NULL;
}

/* Gathers the parts of the page beside the tree. */
static struct hq_error *gather_rest(struct gathering *g, struct report_result *r, struct str *out)
{
    struct str *json = &g->json;
    size_t length = json->len, bytes = g->pack.bytes.len, index = g->pack.index.len;

    if (r->profiles)
        gather_profiles(g, r->coarse);
    if (r->trace_every)
        HQ_TRY(gather_traces(g, r->trace_every));
    str_addf(json, "\"kept\":{\"records\":%" PRIu64 ",\"every\":%u,\"profiles\":%s,\"coarse\":%.9g,\"cut\":%.9g},",
             r->records, r->trace_every, r->profiles ? "true" : "false", r->coarse, r->cut);
    seal(g, out);
    r->bytes = out->len + bundle_program().bytes + bundle_style().bytes + FRAME_BYTES;
    str_truncate(json, length);
    str_truncate(&g->pack.bytes, bytes);
    str_truncate(&g->pack.index, index);
    return NULL;
}

/* The bytes of a page that the tree takes, with all that is told in words. */
static uint64_t size_of_base(const struct gathering *g)
{
    return pack_size(&g->pack.bytes) + pack_size(&g->json);
}

static uint64_t size_of_profiles(struct gathering *g, double coarse)
{
    size_t bytes = g->pack.bytes.len, index = g->pack.index.len;
    AUTO_STR struct str own = {0};

    gather_profiles(g, coarse);
    str_addn(&own, g->pack.bytes.s + bytes, g->pack.bytes.len - bytes);
    str_truncate(&g->pack.bytes, bytes);
    str_truncate(&g->pack.index, index);
    return pack_size(&own);
}

/* Estimates the size of all traces from one record in `every`. */
static struct hq_error *size_of_traces(struct gathering *g, uint32_t every, uint64_t *size)
{
    size_t bytes = g->pack.bytes.len, index = g->pack.index.len;
    AUTO_STR struct str own = {0};

    HQ_TRY(gather_traces(g, every));
    str_addn(&own, g->pack.bytes.s + bytes, g->pack.bytes.len - bytes);
    str_truncate(&g->pack.bytes, bytes);
    str_truncate(&g->pack.index, index);
    *size = pack_size(&own) * every;
    return NULL;
}

/* ---- what gives way ---- */

/* The share of calls that are left out of the tree where it alone takes most of the room. */
static struct hq_error *thin_tree(struct gathering *g, struct report_result *r, size_t facts, uint64_t room,
                                  uint64_t *size)
{
    uint64_t most = room / 4 * 3;

    *size = size_of_base(g);
    for (double share = CUT_LEAST; *size > most && share <= CUT_MOST; share *= 3) {
        str_truncate(&g->json, facts);
        r->cut = share;
        HQ_TRY(gather_base(g, share));
        *size = size_of_base(g);
    }
    return NULL;
}

/* The share of calls whose values by profile are one value. */
static uint64_t thin_profiles(struct gathering *g, struct report_result *r, uint64_t room)
{
    uint64_t size = size_of_profiles(g, r->coarse);

    for (double share = r->cut > 0 ? r->cut : CUT_LEAST; size > room && share <= COARSE_MOST; share *= 3) {
        r->coarse = share;
        size = size_of_profiles(g, share);
    }
    if (size <= room)
        return size;
    r->profiles = false;
    r->coarse = 0;
    return 0;
}

/* One record in so many of the traces, in the room that is left. */
static struct hq_error *thin_traces(struct gathering *g, struct report_result *r, uint64_t room)
{
    uint64_t size, every = r->records / RECORDS_LOOKED + 1;

    r->trace_every = 0;
    if (!room || r->records < RECORDS_LEAST)
        return NULL;
    HQ_TRY(size_of_traces(g, (uint32_t)every, &size));
    every = size / room + (size % room != 0);
    r->trace_every = r->records / (every ? every : 1) < RECORDS_LEAST ? 0 : every > 1 ? (uint32_t)every : 1;
    return NULL;
}

static struct hq_error *thin(struct gathering *g, struct report_result *r, size_t facts, struct str *out)
{
    uint64_t frame = bundle_program().bytes + bundle_style().bytes + FRAME_BYTES, budget = g->options->budget;
    uint64_t room = budget > frame ? (budget - frame) / 100 * 98 : 0, size = 0, profiles = 0;

    if (room)
        HQ_TRY(thin_tree(g, r, facts, room, &size));
    room = room > size ? room - size : 0;
    if (r->profiles)
        profiles = room ? thin_profiles(g, r, room) : (r->profiles = false, 0);
    HQ_TRY(thin_traces(g, r, room - profiles));
    for (;;) { /* sizes are those of parts: the whole may be a little larger */
        HQ_TRY(gather_rest(g, r, out));
        if (r->bytes <= budget || !r->trace_every)
            return NULL;
        r->trace_every += r->trace_every / 8 + 1;
        if (r->records / r->trace_every < RECORDS_LEAST)
            r->trace_every = 0;
    }
}

static struct hq_error *gather(struct gathering *g, struct report_result *r, struct str *out)
{
    HQ_TRY(gather_facts(g));
    size_t facts = g->json.len;
    uint64_t records = g->options->compare ? 0 : gather_trace_records(g), budget = g->options->budget;

    *r = (struct report_result){.records = records, .trace_every = records ? 1 : 0, .profiles = !g->options->compare};
    HQ_TRY(gather_base(g, 0));
    if (!budget || records / 2 < budget) { /* a record takes more than a byte or two */
        HQ_TRY(gather_rest(g, r, out));
        if (!budget || r->bytes <= budget)
            return NULL;
    }
    return thin(g, r, facts, out);
}

static void gathering_deinit(struct gathering *g)
{
    selection_deinit(&g->run.selection);
    arena_deinit(&g->run.arena);
    intern_deinit(&g->texts);
    pack_deinit(&g->pack);
    str_deinit(&g->json);
}

struct hq_error *report_write(struct query_env *env, const struct report_options *o, FILE *out,
                              struct report_result *done)
{
    struct gathering g = {.env = env, .options = o, .run = {.env = env}};
    struct report_result result;
    AUTO_STR struct str data = {0};

    if (!bundle_program().bytes)
        return hq_error_new(HQ_USAGE, "this hq was built without the program of the page: install esbuild (package "
                                      "esbuild; `make deps` does) and build it again");
    intern_init(&g.texts);
    struct hq_error *error = select_all(&g);

    if (!error)
        error = gather(&g, done ? done : &result, &data);
    /* Only answers read marks, and say themselves if they could not. */
    if (!error)
        error = db_damage_beside_marks(env->db);
    gathering_deinit(&g);
    if (error)
        return error;
    write_head(out);
    fwrite(data.s, 1, data.len, out);
    write_tail(out);
    return ferror(out) ? hq_error_errno(HQ_DATA, "the page cannot be written") : NULL;
}
