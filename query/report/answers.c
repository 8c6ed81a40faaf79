/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers that the page shows as hq gave them: parallel regions, what is alike, phases as one, and the questions that
 * the user put. Digits and pictures are made here, so the page has none of its own. And who sent how much to whom.
 */
#include "common/mem.h"
#include "common/str.h"
#include "query/output.h"
#include "query/output/heat.h"
#include "query/output/json.h"
#include "query/output/number.h"
#include "query/output/text.h"
#include "query/report/gather.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
    ROWS_MOST = 1000,      /* of an answer */
    PAIRS_MOST = 60000,    /* of ranks */
    PHASES_MOST = 4,       /* that are folded unasked */
    OPENED_MOST = 100000,  /* counts of parallel regions, by profile and call path */
    RECORDS_MOST = 4000000 /* of traces: more are not looked through unasked */
};

static void add_number(struct str *out, double x)
{
    char text[NUMBER_MAX];

    exact_text(text, x);
    str_add(out, *text ? text : "null");
}

/* ---- one answer ---- */

static void add_notes(struct gathering *g, const struct table *t, bool cut)
{
    str_add(&g->json, ",\"notes\":[");
    vec_foreach(note, &t->notes) {
        str_add(&g->json, note == t->notes.data ? "" : ",");
        json_quote(&g->json, *note);
    }
    if (cut)
        str_addf(&g->json, "%s\"the first %d of %zu rows; hq prints all\"", t->notes.len ? "," : "", ROWS_MOST,
                 t->rows.len);
    str_add(&g->json, "]");
}

static void put_picture(struct gathering *g, const char *text, size_t size)
{
    str_add(&g->json, ",\"picture\":\"");
    base64_add(&g->json, text, size);
    str_add(&g->json, "\"");
}

/* The picture that `as svg` makes of it; nothing where there is none, or one that is for another place (flame graphs).
 */
static void add_picture(struct gathering *g, const struct table *t)
{
    const struct output_options o = {.utf8 = true, .names = NAMES_SHORT};
    char *text = NULL;
    size_t size = 0;

    if (!t->picture && !t->chart && !(heat_is_for(t) && t->rows.len))
        return;
    FILE *f = open_memstream(&text, &size);

    if (!f)
        mem_exhausted();
    AUTO_ERROR struct hq_error *error = output_write(output_find("svg"), t, &o, f);

    fclose(f);
    AUTO_FREE char *owned = text;

    if (error)
        return;
    put_picture(g, owned, size);
}

/* Adds the text that people read in a cell: "9.62 s", "41.3%". */
static void add_cell(struct gathering *g, const struct column *c, const struct number_style *style,
                     const struct cell *cell)
{
    char text[NUMBER_MAX];
    AUTO_STR struct str shown = {0};

    if (c->type == COLUMN_TEXT) {
        json_quote(&g->json, cell->text ? cell->text : "");
        return;
    }
    const char *unit = number_text(text, style, cell->number);

    str_addf(&shown, "%s%s%s", text, *unit ? " " : "", unit);
    percent_text(text, cell->number, percent_base(c, cell), c->marks_sign);
    if (*text)
        str_addf(&shown, "  %s", text);
    str_addc(&g->json, '[');
    add_number(&g->json, cell->number);
    str_addc(&g->json, ',');
    json_quote(&g->json, str_cstr(&shown));
    str_addc(&g->json, ']');
}

static void add_columns(struct gathering *g, const struct table *t, struct number_style *styles)
{
    str_add(&g->json, ",\"columns\":[");
    for (size_t c = 0; c < t->columns.len; c++) {
        str_add(&g->json, c ? "," : "");
        json_quote(&g->json, t->columns.data[c].name);
        if (t->columns.data[c].type == COLUMN_NUMBER)
            styles[c] = number_style_of(t, c);
    }
    str_add(&g->json, "]");
}

/* [name, place, kind, depth, id, cell ...] */
static void add_rows(struct gathering *g, const struct table *t, const struct number_style *styles)
{
    AUTO_FREE const struct row **outer = outer_rows(t);
    struct label l;
    char id[TABLE_ID_TEXT];

    str_add(&g->json, ",\"rows\":[");
    for (size_t i = 0; i < t->rows.len && i < ROWS_MOST; i++) {
        const struct row *r = &t->rows.data[i];
        AUTO_STR struct str name = {0};

        label_of(t, r, outer[i], &l);
        str_addf(&name, "%s%s%s", l.prefix, l.name, l.suffix);
        str_add(&g->json, i ? ",[" : "[");
        json_quote(&g->json, str_cstr(&name));
        str_addc(&g->json, ',');
        json_quote(&g->json, l.place);
        table_id_text(id, r->id);
        str_addf(&g->json, ",%d,%d,\"%s\"", r->kind, r->depth, id);
        for (size_t c = 0; c < t->columns.len; c++) {
            str_addc(&g->json, ',');
            add_cell(g, &t->columns.data[c], &styles[c], &r->cells[c]);
        }
        str_addc(&g->json, ']');
    }
    str_add(&g->json, "]");
}

/* picture: its own, svg, instead of the one that the table makes; NULL none. */
static void add_answer(struct gathering *g, const char *question, const struct table *t, const char *picture)
{
    AUTO_FREE struct number_style *styles = xcalloc(t->columns.len + 1, sizeof *styles);

    if (str_cstr(&g->json)[g->json.len - 1] != '[')
        str_addc(&g->json, ',');
    str_add(&g->json, "{\"question\":");
    json_quote(&g->json, question);
    add_columns(g, t, styles);
    add_rows(g, t, styles);
    add_notes(g, t, t->rows.len > ROWS_MOST);
    if (picture)
        put_picture(g, picture, strlen(picture));
    else
        add_picture(g, t);
    str_addc(&g->json, '}');
}

/* Adds the reason, in the answer's place, why it could not be read. */
static void add_unread(struct gathering *g, const char *question, const struct hq_error *error)
{
    if (str_cstr(&g->json)[g->json.len - 1] != '[')
        str_addc(&g->json, ',');
    str_add(&g->json, "{\"question\":");
    json_quote(&g->json, question);
    str_add(&g->json, ",\"columns\":[],\"rows\":[],\"notes\":[");
    json_quote(&g->json, error->message);
    str_add(&g->json, "]}");
}

/* Adds the answer to a question that the user has not asked: it is left out where hq has no answer to it, unless the
 * database is damaged. */
static void try(struct gathering *g, const char *question)
{
    struct table *t = NULL;
    AUTO_ERROR struct hq_error *error = gather_ask(g, question, &t);

    if (error && error->status == HQ_DATA)
        add_unread(g, question, error);
    if (error)
        return;
    if (t && t->rows.len)
        add_answer(g, question, t, NULL);
    table_destroy(t);
}

/* ---- which ones ---- */

static void try_phases(struct gathering *g)
{
    const struct tree *t = g->run.tree;
    AUTO_STR struct str question = {0};
    unsigned n = 0;

    for (uint32_t s = 0; s < t->scope_count && n < PHASES_MOST; s++) {
        if (tree_scope(t, s)->kind != SCOPE_PHASE || !tree_instances(t, s).len)
            continue;
        str_clear(&question);
        str_add(&question, "fold of phase ");
        const char *name = tree_text(t, tree_scope(t, s)->name);

        print_quoted(&question, !str_begins(name, "phase ") ? name : name + 6); /* "phase step" */
        try(g, str_cstr(&question));
        n++;
    }
}

/* ---- messages ---- */

static size_t column_named(const struct table *t, const char *name)
{
    for (size_t c = 0; c < t->columns.len; c++)
        if (!strcmp(t->columns.data[c].name, name))
            return c;
    return SIZE_MAX;
}

/* [sender, receiver, bytes, messages, elapsed, received, received_bytes] of each pair; -1: a rank that is not known. */
static struct hq_error *add_messages(struct gathering *g)
{
    static const char *const names[] = {"sender",  "receiver", "bytes",         "messages",
                                        "elapsed", "received", "received_bytes"};
    struct table *t = NULL;
    bool any = !g->options->compare && gather_db(g)->message_count > 0;

    if (any)
        HQ_TRY(gather_ask(g, "messages", &t));
    str_addf(&g->json, "\"pairs\":%zu,\"messages\":[", any ? t->rows.len : 0);
    for (size_t i = 0; any && i < t->rows.len && i < PAIRS_MOST; i++) {
        for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
            size_t c = column_named(t, names[n]);
            double x = c == SIZE_MAX ? NAN : t->rows.data[i].cells[c].number;

            str_add(&g->json, n ? "," : i ? ",[" : "[");
            add_number(&g->json, isnan(x) ? n < 2 ? -1 : 0 : x);
        }
        str_addc(&g->json, ']');
    }
    str_add(&g->json, "],");
    table_destroy(t);
    return NULL;
}

/* [scope, profile, entries, nanoseconds] of each parallel region where it was opened: `regions` of some ranks or
 * threads are made of them. None where there are too many. */
static void add_opened(struct gathering *g)
{
    const struct db *db = gather_db(g);
    const struct tree *t = g->run.tree;
    bool fits = !g->options->compare && g->left_scope == HQDB_NONE && db->region_count <= OPENED_MOST, any = false;

    str_add(&g->json, fits ? "\"opened\":[" : "\"opened\":null,");
    for (size_t i = 0; fits && i < db->region_count; i++) {
        const struct hqdb_region *r = &db->regions[i];

        if (r->frame >= db->frame_count || r->profile >= db->profile_count)
            continue;
        uint32_t scope = tree_scope_of(t, db_frame_context(db, r->frame));

        if (!tree_has_team(t, scope))
            continue;
        str_addf(&g->json, "%s[%u,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%u]", any ? "," : "", scope, r->profile,
                 r->entries, r->elapsed_ns, r->threads, r->largest);
        any = true;
    }
    str_add(&g->json, fits ? "]," : "");
}

struct hq_error *gather_answers(struct gathering *g)
{
    const struct report_options *o = g->options;

    HQ_TRY(add_messages(g));
    add_opened(g);
    str_add(&g->json, "\"answers\":[");
    for (size_t i = 0; i < o->question_count; i++) {
        struct table *t = NULL;

        HQ_TRY(gather_ask(g, o->questions[i], &t));
        add_answer(g, o->questions[i], t, NULL);
        table_destroy(t);
    }
    for (size_t i = 0; i < o->answer_count; i++)
        add_answer(g, o->answers[i].title, o->answers[i].table, o->answers[i].picture);
    if (!o->compare) {
        try(g, "regions");
        if (gather_trace_records(g) <= RECORDS_MOST) {
            try_phases(g);
            try(g, "clusters of phases");
        }
    }
    str_add(&g->json, "],");
    return NULL;
}
