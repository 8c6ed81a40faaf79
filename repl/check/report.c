/* SPDX-License-Identifier: BSD-3-Clause */
/* The reports of `hq check`: TAP, JUnit XML, Markdown (check.h). */
#include "common/file.h"
#include "common/mem.h"
#include "common/progress.h"
#include "repl/check/check.h"
#include <string.h>
#include <unistd.h>

void checks_deinit(struct checks *c)
{
    vec_foreach(one, &c->all)
        vec_deinit(&one->lines);
    vec_deinit(&c->all);
    arena_deinit(&c->arena);
}

size_t checks_count(const struct checks *c, enum check_outcome outcome)
{
    size_t n = 0;

    vec_foreach(one, &c->all)
        n += one->outcome == outcome;
    return n;
}

/* "1 of 5 checks failed, 1 inconclusive" */
static const char *checks_summary(const struct checks *c, struct arena *arena)
{
    size_t n = c->all.len, failed = checks_count(c, CHECK_FAIL), open = checks_count(c, CHECK_INCONCLUSIVE),
           wrong = checks_count(c, CHECK_ERROR);
    AUTO_STR struct str s = {0};

    if (!n)
        return "nothing was checked";
    if (failed + open + wrong == 0)
        return n == 1 ? "the check passed" : arena_printf(arena, "all %zu checks passed", n);
    str_addf(&s, "%zu of %zu check%s failed", failed, n, n == 1 ? "" : "s");
    if (open)
        str_addf(&s, ", %zu inconclusive", open);
    if (wrong)
        str_addf(&s, ", %zu could not be run", wrong);
    return arena_strdup(arena, str_cstr(&s));
}

/* ---- TAP ---- */

void tap_begin(FILE *out)
{
    fputs("TAP version 13\n", out);
}

static void tap_text(const char *text, FILE *out)
{
    for (; *text; text++) {
        if (*text == '#' || *text == '\\')
            fputc('\\', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
}

/* A result that too few samples leave open is TODO in TAP: it is shown and does not fail the run. */
void tap_point(const struct check *c, size_t number, FILE *out)
{
    static const char *const severity[] = {"pass", "fail", "inconclusive", "error"};
    AUTO_FREE char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);

    if (!to)
        return;
    fprintf(to, "%s %zu - ", c->outcome == CHECK_PASS ? "ok" : "not ok", number);
    tap_text(c->file, to);
    if (c->line)
        fprintf(to, ":%u", c->line);
    fputs(": ", to);
    tap_text(c->name, to);
    fputs(c->outcome == CHECK_INCONCLUSIVE ? " # TODO inconclusive\n" : "\n", to);
    if (c->lines.len) {
        fprintf(to, "  ---\n  severity: %s\n  message: |\n", severity[c->outcome]);
        vec_foreach(line, &c->lines)
            fprintf(to, "    %s\n", *line);
        fputs("  ...\n", to);
    }
    fclose(to);
    text[length - 1] = 0;
    progress_hide();
    utf8_tell_line(text, out);
    fflush(out);
}

void tap_end(const struct checks *c, FILE *out)
{
    AUTO(arena_deinit) struct arena arena = {0};

    fprintf(out, "1..%zu\n# %s\n", c->all.len, checks_summary(c, &arena));
    fflush(out);
}

void tap_bail_out(const char *why, FILE *out)
{
    AUTO_FREE char *line = xasprintf("Bail out! %.*s", (int)strcspn(why, "\n"), why);

    utf8_tell_line(line, out);
    fflush(out);
}

/* ---- to a file ---- */

static struct hq_error *write_report(const char *path, const struct str *text)
{
    struct file_writer w;

    if (!strcmp(path, "-")) {
        fwrite(str_cstr(text), 1, text->len, stdout);
        return fflush(stdout) ? hq_error_errno(HQ_DATA, "cannot write the report") : NULL;
    }
    HQ_TRY(file_writer_open(&w, path));
    file_writer_write(&w, str_cstr(text), text->len);
    return file_writer_commit(&w);
}

/* ---- JUnit XML: a test suite per file of queries ---- */

/* In the form that Ant's schema and that of Jenkins have: in the order of the elements, and with all that either wants.
 */

static void xml_lines(const struct check *c, struct str *out)
{
    for (size_t i = 0; i < c->lines.len; i++) {
        xml_escape(out, i ? "\n" : "");
        xml_escape(out, c->lines.data[i]);
    }
}

static void junit_name(const struct check *c, struct str *out)
{
    if (c->line)
        str_addf(out, "line %u: ", c->line);
    xml_escape(out, c->name);
}

static void junit_case(const struct check *c, struct str *out)
{
    static const char *const tags[] = {NULL, "failure", "skipped", "error"}, *const types[] = {NULL, "failed",
                                                                                               "inconclusive", "error"};

    str_add(out, "    <testcase classname=\"");
    xml_escape(out, c->file);
    str_add(out, "\" name=\"");
    junit_name(c, out);
    str_addf(out, "\" time=\"%.3f\"", c->seconds);
    if (c->outcome == CHECK_PASS) {
        str_add(out, "/>\n");
        return;
    }
    str_addf(out, ">\n      <%s type=\"%s\" message=\"", tags[c->outcome], types[c->outcome]);
    xml_escape(out, c->lines.len ? c->lines.data[0] : "");
    str_add(out, "\">");
    xml_lines(c, out);
    str_addf(out, "</%s>\n    </testcase>\n", tags[c->outcome]);
}

/* A test that passed has no place for what it found: that is the output of its suite. */
static void junit_passed(const struct checks *c, const char *file, struct str *out)
{
    str_add(out, "    <system-out>");
    vec_foreach(one, &c->all)
        if (!strcmp(one->file, file) && one->outcome == CHECK_PASS && one->lines.len) {
            junit_name(one, out);
            str_add(out, "\n");
            xml_lines(one, out);
            str_add(out, "\n");
        }
    str_add(out, "</system-out>\n    <system-err/>\n");
}

static void junit_place(const struct checks *c, struct str *out)
{
    char host[256] = "", began[sizeof "2000-01-01T00:00:00"] = "";
    struct tm tm;

    gethostname(host, sizeof host - 1);
    str_add(out, " hostname=\"");
    xml_escape(out, *host ? host : "localhost");
    if (gmtime_r(&c->began, &tm))
        strftime(began, sizeof began, "%Y-%m-%dT%H:%M:%S", &tm);
    str_addf(out, "\" timestamp=\"%s\"", began);
}

static void junit_suite(const struct checks *c, const char *file, size_t id, struct str *out)
{
    AUTO_FREE char *directory = file_dirname(file);
    size_t counts[CHECK_OUTCOMES] = {0}, n = 0;
    double seconds = 0;

    vec_foreach(one, &c->all)
        if (!strcmp(one->file, file)) {
            counts[one->outcome]++;
            seconds += one->seconds;
            n++;
        }
    str_addf(out, "  <testsuite id=\"%zu\" name=\"", id);
    xml_escape(out, file);
    str_add(out, "\" package=\"");
    xml_escape(out, directory);
    str_addf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\"", n,
             counts[CHECK_FAIL], counts[CHECK_ERROR], counts[CHECK_INCONCLUSIVE], seconds);
    junit_place(c, out);
    str_add(out, ">\n    <properties/>\n");
    vec_foreach(one, &c->all)
        if (!strcmp(one->file, file))
            junit_case(one, out);
    junit_passed(c, file, out);
    str_add(out, "  </testsuite>\n");
}

struct hq_error *check_junit_write(const struct checks *c, const char *path)
{
    AUTO_STR struct str out = {0};
    size_t suites = 0;

    str_add(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for (size_t i = 0; i < c->all.len; i++) {
        const char *file = c->all.data[i].file;
        bool seen = false;

        for (size_t k = 0; k < i; k++)
            seen |= !strcmp(c->all.data[k].file, file);
        if (!seen)
            junit_suite(c, file, suites++, &out);
    }
    str_add(&out, "</testsuites>\n");
    return write_report(path, &out);
}

/* ---- Markdown, for a pull request ---- */

/* In a cell of a table, as code or plain. */
static void markdown_cell(struct str *out, const char *text, bool code)
{
    str_add(out, code ? "<code>" : "");
    for (; *text; text++) {
        const char *safe = *text == '<'    ? "&lt;"
                           : *text == '>'  ? "&gt;"
                           : *text == '&'  ? "&amp;"
                           : *text == '|'  ? "\\|"
                           : *text == '*'  ? "\\*"
                           : *text == '_'  ? "\\_"
                           : *text == '`'  ? "\\`"
                           : *text == '\n' ? "<br>"
                                           : NULL;

        if (safe)
            str_add(out, safe);
        else
            str_addc(out, *text);
    }
    str_add(out, code ? "</code>" : "");
}

static void markdown_row(const struct check *c, struct str *out)
{
    static const char *const words[] = {"pass", "**FAIL**", "inconclusive", "**error**"};

    str_addf(out, "| %s | ", words[c->outcome]);
    markdown_cell(out, c->file, false);
    if (c->line)
        str_addf(out, ":%u", c->line);
    str_add(out, " ");
    markdown_cell(out, c->name, true);
    str_add(out, " | ");
    for (size_t i = 0; i < c->lines.len; i++) {
        str_add(out, i ? "<br>" : "");
        markdown_cell(out, c->lines.data[i], false);
    }
    str_add(out, " |\n");
}

struct hq_error *check_markdown_write(const struct checks *c, const char *path)
{
    static const enum check_outcome order[] = {CHECK_ERROR, CHECK_FAIL, CHECK_INCONCLUSIVE, CHECK_PASS};
    AUTO(arena_deinit) struct arena arena = {0};
    AUTO_STR struct str out = {0};

    str_addf(&out, "### hq check: %s\n\n| | check | |\n|---|---|---|\n", checks_summary(c, &arena));
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        vec_foreach(one, &c->all)
            if (one->outcome == order[i])
                markdown_row(one, &out);
    return write_report(path, &out);
}
