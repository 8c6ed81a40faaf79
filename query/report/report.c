/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/report/report.h"
#include "query/report/bundle.h"
#include "query/report/gather.h"
#include <inttypes.h>
#include <string.h>

#define FRAME_BYTES   1024 /* of HTML around data, program and style */
#define RECORDS_LEAST 1000 /* fewer say nothing about a run */

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
    script_destroy(script);
    return error;
}

/* What gives way next: more of the traces, all of them, the values of single profiles. False: nothing is left to give.
 */
static bool thin(struct report_result *r, uint64_t budget, uint64_t records)
{
    uint64_t times = r->bytes / budget + 1;

    if (r->trace_every) {
        uint64_t every = r->trace_every * (times > 2 ? times : 2);

        r->trace_every = records / every < RECORDS_LEAST ? 0 : (uint32_t)every;
        return true;
    }
    if (!r->profiles)
        return false;
    r->profiles = false;
    return true;
}

/* What a tighter budget leaves out, once more with less of it until the page is small enough. */
static struct hq_error *gather_within(struct gathering *g, struct report_result *r, struct str *out)
{
    size_t json = g->json.len, bytes = g->pack.bytes.len, index = g->pack.index.len;
    uint64_t records = g->options->compare ? 0 : gather_trace_records(g);

    *r = (struct report_result){.records = records, .trace_every = records ? 1 : 0, .profiles = !g->options->compare};
    for (;;) {
        if (r->profiles)
            gather_profiles(g);
        if (r->trace_every)
            HQ_TRY(gather_traces(g, r->trace_every));
        str_addf(&g->json, "\"kept\":{\"records\":%" PRIu64 ",\"every\":%u,\"profiles\":%s},", records, r->trace_every,
                 r->profiles ? "true" : "false");
        seal(g, out);
        r->bytes = out->len + bundle_program().bytes + bundle_style().bytes + FRAME_BYTES;
        if (!g->options->budget || r->bytes <= g->options->budget || !thin(r, g->options->budget, records))
            return NULL;
        str_truncate(&g->json, json);
        str_truncate(&g->pack.bytes, bytes);
        str_truncate(&g->pack.index, index);
    }
}

static struct hq_error *gather(struct gathering *g, struct report_result *r, struct str *out)
{
    gather_tree(g);
    HQ_TRY(gather_sums(g));
    HQ_TRY(gather_facts(g));
    add_texts(g);
    return gather_within(g, r, out);
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
    gathering_deinit(&g);
    if (error)
        return error;
    write_head(out);
    fwrite(data.s, 1, data.len, out);
    write_tail(out);
    return ferror(out) ? hq_error_new(HQ_DATA, "the page could not be written") : NULL;
}
