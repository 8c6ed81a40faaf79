/* SPDX-License-Identifier: BSD-3-Clause */
/* Gathers what a page tells in words: metrics, profiles, losses, tables that hq answers, the texts of source files. */
#include "common/map.h"
#include "common/units.h"
#include "query/grammar/words.h"
#include "query/choose/helpers.h"
#include "query/choose/metrics.h"
#include "query/output/json.h"
#include "query/report/gather.h"
#include "query/choose/timeline.h"
#include <inttypes.h>
#include <string.h>

enum { SOURCE_FILES = 200 };
#define SOURCE_BYTES (6u << 20) /* of texts; what costs least is left out */

static void add_member(struct gathering *g, const char *name, const char *text)
{
    str_addf(&g->json, "\"%s\":", name);
    json_quote(&g->json, text);
    str_addc(&g->json, ',');
}

static void add_number(struct str *out, double x)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);

    if (!f)
        mem_exhausted();
    json_number(x, f);
    fclose(f);
    str_add(out, text);
    free(text);
}

/* ---- the tables ---- */

struct hq_error *gather_ask(struct gathering *g, const char *text, struct table **out)
{
    bool complete = g->env->complete;

    g->env->complete = true;
    struct hq_error *error = query_ask(g->env, text, out);

    g->env->complete = complete;
    return error;
}

/* A table of words as rows of texts, its name first. */
static struct hq_error *add_words(struct gathering *g, const char *name, const char *question)
{
    struct table *t;

    HQ_TRY(gather_ask(g, question, &t));
    str_addf(&g->json, "\"%s\":[", name);
    vec_foreach(row, &t->rows) {
        str_add(&g->json, row == t->rows.data ? "[" : ",[");
        json_quote(&g->json, row->name);
        for (size_t c = 0; c < t->columns.len; c++)
            if (t->columns.data[c].type == COLUMN_TEXT) {
                str_addc(&g->json, ',');
                json_quote(&g->json, row->cells[c].text);
            }
        str_addc(&g->json, ']');
    }
    str_add(&g->json, "],");
    table_destroy(t);
    return NULL;
}

/* ---- the words of expressions ---- */

/* Functions, units and attributes from the tables of the language, so that the page knows those that hq knows. */
static void add_language(struct gathering *g)
{
    size_t n;
    const struct unit *units = units_all(&n);

    str_add(&g->json, "\"functions\":{");
    for (int i = 0; i < FUNCTION_KINDS; i++) {
        const struct function_word *f = &function_words[i];

        str_addf(&g->json,
                 "%s\"%s\":{\"least\":%u,\"most\":%u,\"statistic\":%d,\"ofNumber\":%d,\"plain\":%d,\"unitless\":%d}",
                 i ? "," : "", f->name, f->min_args, f->max_args, f->statistic, f->of_number != NULL, f->plain_argument,
                 f->plain_result);
    }
    str_add(&g->json, "},\"literals\":{");
    for (size_t i = 0; i < n; i++)
        str_addf(&g->json, "%s\"%s\":[%.17g,%.17g,%d,%d]", i ? "," : "", units[i].name, units[i].times, units[i].over,
                 units[i].dim, units[i].percent);
    str_add(&g->json, "},\"attributes\":[");
    for (int i = 0; i < ATTRIBUTE_KINDS; i++)
        str_addf(&g->json, "%s\"%s\"", i ? "," : "", attribute_words[i].name);
    str_add(&g->json, "],\"meant\":{");
    for (size_t i = 0; metrics_alias(i); i++) {
        size_t m = metrics_find(&g->run.selection, metrics_alias(i), SIDE_HERE);

        str_addf(&g->json, "%s\"%s\":%d", i ? "," : "", metrics_alias(i), m == SIZE_MAX ? -1 : (int)m);
    }
    str_add(&g->json, "},");
}

/* ---- metrics, profiles, losses ---- */

static void add_metrics(struct gathering *g)
{
    const struct selection *s = &g->run.selection;
    static const char *const sides[] = {[SIDE_HERE] = "here", [SIDE_OLD] = "old", [SIDE_DELTA] = "delta"};

    str_add(&g->json, "\"metrics\":[");
    for (size_t i = 0; i < s->measures.len; i++) {
        const struct measure *m = &s->measures.data[i];

        str_add(&g->json, i ? ",{\"name\":" : "{\"name\":");
        json_quote(&g->json, m->name);
        str_add(&g->json, ",\"event\":");
        json_quote(&g->json, m->event);
        str_add(&g->json, ",\"description\":");
        json_quote(&g->json, m->description);
        str_addf(&g->json, ",\"side\":\"%s\",\"dim\":%d,\"flags\":%u,\"period\":%" PRIu64 ",\"here\":%d,\"old\":%d",
                 sides[m->side], m->dim, m->flags, m->period, m->here_measure == SIZE_MAX ? -1 : (int)m->here_measure,
                 m->old_measure == SIZE_MAX ? -1 : (int)m->old_measure);
        str_addf(&g->json, ",\"elapsed\":%d,\"queues\":%d,\"weight\":",
                 m->side == SIDE_HERE && metric_is_elapsed(gather_db(g), m->metric),
                 m->side == SIDE_HERE && db_is_of_devices(gather_db(g), m->metric));
        add_number(&g->json, m->weight);
        str_add(&g->json, ",\"scale\":");
        add_number(&g->json, m->scale);
        str_add(&g->json, ",\"factor\":");
        add_number(&g->json, m->factor);
        str_addc(&g->json, '}');
    }
    str_add(&g->json, "],");
}

static void add_profiles(struct gathering *g)
{
    AUTO(map_deinit) struct map processes = {0};

    const struct db *db = gather_db(g);
    struct selection *s = &g->run.selection;
    struct timeline time = timeline_of(db);

    selection_find_helpers(s);
    str_addf(&g->json, "\"length\":%" PRIu64 ",\"profiles\":[", time.length_us);
    for (uint32_t i = 0; i < db->profile_count; i++) {
        const struct hqdb_profile *p = &db->profiles[i];

        str_addf(&g->json, "%s[%d,%u,%u,%u,%u,%" PRId64 ",%" PRIu64 ",%" PRIu64 ",%d,%d,%" PRIu64 "]", i ? "," : "",
                 p->rank, p->thread, p->pid, intern_add(&g->texts, db_string(db, p->host)),
                 intern_add(&g->texts, db_string(db, p->command)), timeline_offset(&time, i), timeline_start(&time, i),
                 timeline_end(&time, i), s->helpers.of ? s->helpers.of[i] : STANDS_IN, db_is_queue(db, i),
                 *map_insert(&processes, helpers_process(p), i, NULL));
    }
    str_add(&g->json, "],\"losses\":[");
    for (size_t i = 0; i < db->loss_count; i++) {
        str_addf(&g->json, "%s[%u,%" PRIu64 ",", i ? "," : "", db->losses[i].partial, db->losses[i].count);
        json_quote(&g->json, db_string(db, db->losses[i].reason));
        str_addc(&g->json, ']');
    }
    str_add(&g->json, "],");
}

/* ---- source texts, as `source of` finds them ---- */

static bool held(const struct db *db, const char *path)
{
    for (size_t i = 0; i < db->source_count; i++)
        if (!strcmp(db_string(db, db->sources[i].path), path))
            return true;
    return false;
}

static size_t text_column(const struct table *t)
{
    for (size_t c = 0; c < t->columns.len; c++)
        if (t->columns.data[c].beside)
            return c;
    return SIZE_MAX;
}

/* {"file":TEXT,"notes":[...],"lines":[[NUMBER,"text"],...]} */
static void add_lines(struct gathering *g, const char *path, const struct table *t)
{
    size_t column = text_column(t);

    str_addf(&g->json, "{\"file\":%u,\"notes\":[", intern_add(&g->texts, path));
    vec_foreach(note, &t->notes) {
        str_add(&g->json, note == t->notes.data ? "" : ",");
        json_quote(&g->json, *note);
    }
    str_add(&g->json, "],\"lines\":[");
    const char *separator = "";

    vec_foreach(row, &t->rows) {
        if (column == SIZE_MAX || !row->line || !row->cells[column].text)
            continue;
        str_addf(&g->json, "%s[%u,", separator, row->line);
        json_quote(&g->json, row->cells[column].text);
        str_addc(&g->json, ']');
        separator = ",";
    }
    str_add(&g->json, "]}");
}

static struct hq_error *add_source(struct gathering *g, const char *path)
{
    AUTO_STR struct str question = {0};
    struct table *t;

    str_add(&question, "source of ");
    print_quoted(&question, path);
    HQ_TRY(gather_ask(g, str_cstr(&question), &t));
    add_lines(g, path, t);
    table_destroy(t);
    return NULL;
}

static struct hq_error *add_sources(struct gathering *g)
{
    struct table *files;
    struct hq_error *error = NULL;
    size_t start = g->json.len, n = 0;
    bool any = false;

    str_add(&g->json, "\"sources\":[");
    if (!g->options->compare && (g->options->with_source || gather_db(g)->source_count)) {
        HQ_TRY(gather_ask(g, "files", &files));
        for (size_t i = 0; i < files->rows.len && n < SOURCE_FILES && g->json.len - start < SOURCE_BYTES && !error;
             i++) {
            const char *path = files->rows.data[i].name;

            if (*path != '/' || (!g->options->with_source && !held(gather_db(g), path)))
                continue;
            str_add(&g->json, any ? "," : "");
            any = true;
            n++;
            error = add_source(g, path);
        }
        table_destroy(files);
    }
    str_add(&g->json, "],");
    return error;
}

struct hq_error *gather_facts(struct gathering *g)
{
    add_member(g, "version", HQ_VERSION);
    add_member(g, "name", g->options->name);
    add_member(g, "settings", g->options->settings);
    add_member(g, "names", setting_words[SETTING_NAMES].words[query_setting(g->env, SETTING_NAMES)]);
    add_member(g, "compare", g->options->compare);
    add_language(g);
    add_metrics(g);
    add_profiles(g);
    HQ_TRY(add_words(g, "summary", "summary"));
    HQ_TRY(add_words(g, "info", "info"));
    HQ_TRY(gather_answers(g));
    return add_sources(g);
}
