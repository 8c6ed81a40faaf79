/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/output/formats.h"
#include "common/apart.h"
#include "query/output/plain.h"
#include "query/output/text.h"
#include "common/str.h"
#include "common/suggest.h"
#include "query/grammar/parse.h"
#include <inttypes.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

const struct output_format output_formats[] = {
#define FORMAT(format, text, ...) {.name = #format, .summary = text, .write = format##_write, ##__VA_ARGS__},
#include "query/output/formats.def"
#undef FORMAT
    {0},
};

const struct output_format *output_find(const char *name)
{
    for (const struct output_format *f = output_formats; f->name; f++)
        if (!strcasecmp(f->name, name))
            return f;
    return NULL;
}

/* Names that people have for formats, and how they get what they mean. */
static const struct {
    const char *words, *here;
} elsewhere[] = {
    {" flame flamegraph flamegraphs png pdf image picture jpg ", "write as svg to FILE, which a browser shows"},
    {" html web page ", "write as svg to FILE, or the whole page in the shell: hq report DB"},
    {" text txt plain ascii ", "write as table"},
    {" xml yaml yml ", "write as json"},
    {" excel xls xlsx ods spreadsheet ", "write as csv to FILE"},
    {" md ", "write as markdown"},
    {" chart bars barchart histogram graphic ", "write as plot"},
    {" flat list ", "write as table"},
    {" perfetto ctf trace catapult firefox ", "write as chrome to FILE"},
    {" cachegrind kcachegrind qcachegrind ", "write as callgrind to FILE"},
    {" graph graphviz gv ", "write as dot to FILE"},
    {" stacks collapsed stackcollapse ", "write as folded to FILE"},
    {" proto protobuf pb ", "write as pprof to FILE"},
};

static const char *find_elsewhere(const char *format)
{
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (suggest_lists(elsewhere[i].words, format))
            return elsewhere[i].here;
    return NULL;
}

struct hq_error *output_unknown(const struct output_spec *as)
{
    AUTO_STR struct str advice = {0};
    struct suggest near;

    const char *here = find_elsewhere(as->format);

    if (here)
        return place_error(&as->format_place, here, "there is no output format `%s`", as->format);
    suggest_init(&near, as->format, 1);
    str_add(&advice, "formats:");
    for (const struct output_format *f = output_formats; f->name; f++) {
        suggest_add(&near, f->name);
        str_addf(&advice, " %s", f->name);
    }
    suggest_text(&near, &advice);
    return place_error(&as->format_place, str_cstr(&advice), "there is no output format `%s`", as->format);
}

static enum output_colours colours_of_terminal(void)
{
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM"), *depth = getenv("COLORTERM");

    if ((none && none[0]) || !term || !term[0] || !strcmp(term, "dumb"))
        return COLOURS_NONE;
    if (depth && (strstr(depth, "truecolor") || strstr(depth, "24bit")))
        return COLOURS_TRUE;
    return strstr(term, "256") ? COLOURS_256 : COLOURS_BASIC;
}

/* COLUMNS and LINES count for a terminal that does not tell its size; COLUMNS in pipes, too, where it is exported. */
static unsigned size_from(const char *variable, unsigned told, unsigned otherwise)
{
    const char *text = getenv(variable);
    char *end = NULL;
    long n = text ? strtol(text, &end, 10) : 0;

    return told ? told : n > 0 && n < 10000 && !*end ? (unsigned)n : otherwise;
}

void output_detect(struct output_options *o, FILE *out)
{
    struct winsize size = {0};

    *o = (struct output_options){.utf8 = !strcasecmp(nl_langinfo(CODESET), "UTF-8")};
    o->width = size_from("COLUMNS", 0, 0);
    if (!isatty(fileno(out)))
        return;
    if (ioctl(fileno(out), TIOCGWINSZ, &size))
        size.ws_col = size.ws_row = 0;
    o->terminal = true;
    o->width = size_from("COLUMNS", size.ws_col, 80);
    o->height = size_from("LINES", size.ws_row, 24);
    o->colours = colours_of_terminal();
}

/* [row] the names of a table's rows in so many columns each, NULL where it is the whole. The caller frees each of them
 * and the array. */
static char **table_short_names(const struct table *t, size_t room, const char *dots)
{
    struct shown_name *names = xcalloc(t->rows.len + 1, sizeof *names);
    char **shown = xcalloc(t->rows.len + 1, sizeof *shown);

    for (size_t i = 0; i < t->rows.len; i++)
        names[i] = (struct shown_name){.name = t->rows.data[i].name, .room = room};
    names_show(names, t->rows.len, dots);
    for (size_t i = 0; i < t->rows.len; i++) {
        bool same = !strcmp(names[i].shown, names[i].name);

        shown[i] = same ? NULL : names[i].shown;
        if (same)
            free(names[i].shown);
    }
    free(names);
    return shown;
}

/* Its rows show short names, which the caller frees (drop_names). */
static struct table with_short_names(const struct table *t)
{
    char **names = table_short_names(t, NAME_SHORT, text_dots(true));
    struct table copy = *t;

    copy.rows.data = xmalloc((t->rows.len + 1) * sizeof *copy.rows.data);
    for (size_t i = 0; i < t->rows.len; i++) {
        copy.rows.data[i] = t->rows.data[i];
        copy.rows.data[i].shown = names[i];
    }
    free(names);
    return copy;
}

static void drop_names(struct table *copy)
{
    for (size_t i = 0; i < copy->rows.len; i++)
        free((char *)copy->rows.data[i].shown);
    free(copy->rows.data);
}

struct hq_error *output_write(const struct output_format *format, const struct table *t, const struct output_options *o,
                              FILE *out)
{
    bool as_it_is = !o->terminal || format->for_terminals;
    bool shortens = o->names == NAMES_SHORT && !format->full_names && !format->for_terminals;
    struct table copy = shortens ? with_short_names(t) : *t;
    struct hq_error *error = as_it_is ? format->write(&copy, o, out) : plain_write(format, &copy, o, out);

    if (shortens)
        drop_names(&copy);
    HQ_TRY(error);
    if (fflush(out) || ferror(out))
        return hq_error_errno(HQ_DATA, "cannot write the result");
    return NULL;
}

/* "12001 of 12345 samples shown, 344 filtered, 3 partial call paths"; false if the coverage is not known. */
static bool output_coverage(const struct table *t, char *text, size_t size)
{
    const struct coverage *c = &t->coverage;

    if (!c->known)
        return false;
    int len = snprintf(text, size, "%" PRId64 " of %" PRId64 " samples shown", c->shown, c->samples);
    if (c->filtered && len > 0 && (size_t)len < size)
        len += snprintf(text + len, size - (size_t)len, ", %" PRId64 " filtered", c->filtered);
    if (c->partial && len > 0 && (size_t)len < size)
        snprintf(text + len, size - (size_t)len, ", %" PRId64 " with a partial call path", c->partial);
    return true;
}

void output_notes(const struct table *t, FILE *err)
{
    char text[160];

    for (size_t i = 0; i < t->notes.len; i++)
        utf8_put_line(t->notes.data[i], err);
    if (output_coverage(t, text, sizeof text))
        fprintf(err, "%s\n", text);
}
