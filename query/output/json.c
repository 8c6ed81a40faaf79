/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `as json`: version 1 (doc/output.md). Rows in display order, depth gives the nesting, numbers in the column's unit
 * with as many digits as it takes to read back the same, null for what is missing. A row has "ci" only where intervals
 * were asked for.
 */
#include "query/output/formats.h"
#include "query/output/json.h"
#include "query/output/number.h"
#include "query/output/text.h"
#include "common/mem.h"
#include "common/str.h"
#include <inttypes.h>
#include <math.h>

void json_text(const char *text, FILE *out)
{
    AUTO_STR struct str quoted = {0};

    json_quote(&quoted, text);
    fwrite(str_cstr(&quoted), 1, quoted.len, out);
}

void json_number(double value, FILE *out)
{
    char text[NUMBER_MAX];
    exact_text(text, value);
    fputs(text[0] ? text : "null", out);
}

static const char *scope_name(enum column_scope scope)
{
    return scope == SCOPED_INCLUSIVE ? "inclusive" : scope == SCOPED_EXCLUSIVE ? "exclusive" : NULL;
}

static void put_columns(const struct table *t, FILE *out)
{
    fputs(" \"columns\":[", out);
    for (size_t i = 0; i < t->columns.len; i++) {
        const struct column *c = &t->columns.data[i];
        const char *unit = c->type != COLUMN_NUMBER ? "" : c->dim == DIM_EVENTS ? "events" : dim_unit(c->dim);
        fputs(i ? ",\n  {\"name\":" : "\n  {\"name\":", out);
        json_text(c->name, out);
        fputs(",\"metric\":", out);
        json_text(c->metric, out);
        fputs(",\"scope\":", out);
        json_text(c->type == COLUMN_NUMBER ? scope_name(c->scope) : NULL, out);
        fputs(",\"unit\":", out);
        json_text(unit[0] ? unit : NULL, out);
        fputc('}', out);
    }
    fputs("],\n", out);
}

/* Writes the total of each column, in the order of the values. */
static void put_total(const struct table *t, FILE *out)
{
    fputs(" \"total\":[", out);
    for (size_t i = 0; i < t->columns.len; i++) {
        const struct column *c = &t->columns.data[i];

        fputs(i ? "," : "", out);
        json_number(c->type == COLUMN_NUMBER && !c->no_total ? c->total : NAN, out);
    }
    fputs("],\n", out);
}

static void put_values(const struct table *t, const struct row *r, FILE *out)
{
    bool ci = false;

    fputs(",\"values\":[", out);
    for (size_t i = 0; i < t->columns.len; i++) {
        if (i)
            fputc(',', out);
        if (t->columns.data[i].type == COLUMN_TEXT && isnan(r->cells[i].number))
            json_text(r->cells[i].text && *r->cells[i].text ? r->cells[i].text : NULL, out);
        else
            json_number(r->cells[i].number, out);
        ci = ci || (t->columns.data[i].type == COLUMN_NUMBER && !isnan(r->cells[i].ci));
    }
    fputc(']', out);
    for (size_t i = 0; ci && i < t->columns.len; i++) {
        fputs(i ? "," : ",\"ci\":[", out);
        json_number(t->columns.data[i].type == COLUMN_NUMBER ? r->cells[i].ci : NAN, out);
    }
    if (ci)
        fputc(']', out);
}

static void put_call_site(const struct row *r, FILE *out)
{
    AUTO_FREE char *text = !r->call_file  ? NULL
                           : r->call_line ? xasprintf("%s:%u", r->call_file, r->call_line)
                                          : xstrdup(r->call_file);
    fputs(",\"callsite\":", out);
    json_text(text, out);
}

static void put_row(const struct table *t, const struct row *r, FILE *out)
{
    char id[TABLE_ID_TEXT] = "", own[ROW_NAME_MAX];

    if (r->id)
        table_id_text(id, r->id);
    fputs("  {\"id\":", out);
    json_text(r->id ? id : NULL, out);
    fputs(",\"kind\":", out);
    json_text(scope_kind_name(r->kind), out);
    fputs(",\"name\":", out);
    json_text(row_name(r, own), out);
    fputs(",\"module\":", out);
    json_text(r->module, out);
    fputs(",\"file\":", out);
    json_text(r->file, out);
    fputs(",\"line\":", out);
    json_number(r->line ? r->line : NAN, out);
    if (r->basis)
        fprintf(out, ",\"line_from\":\"%s\"", r->basis == LOOP_BY_SOURCE ? "source" : "debug information");
    put_call_site(r, out);
    if (r->apart) {
        fputs(",\"apart\":", out);
        json_text(r->apart, out);
    }
    fprintf(out, ",\"depth\":%d", r->depth);
    put_values(t, r, out);
    fputc('}', out);
}

struct hq_error *json_write(const struct table *t, const struct output_options *o, FILE *out)
{
    const struct coverage *c = &t->coverage;
    const char *separator = "\n";

    (void)o;
    fputs("{\"hq\":1, \"query\":", out);
    json_text(t->query, out);
    fputs(", \"view\":", out);
    json_text(t->view, out);
    fputs(",\n", out);
    put_columns(t, out);
    put_total(t, out);
    fputs(" \"rows\":[", out);
    for (size_t i = 0; i < t->rows.len; i++) {
        if (t->rows.data[i].flags & ROW_FOLDED)
            continue;
        fputs(separator, out);
        put_row(t, &t->rows.data[i], out);
        separator = ",\n";
    }
    fputs("],\n \"coverage\":", out);
    if (c->known)
        fprintf(out, "{\"samples\":%" PRId64 ",\"shown\":%" PRId64 ",\"filtered\":%" PRId64 ",\"partial\":%" PRId64 "}",
                c->samples, c->shown, c->filtered, c->partial);
    else
        fputs("null", out);
    fputs("}\n", out);
    return NULL;
}
