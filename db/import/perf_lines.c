/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of lines of `perf script`: header, frame, source place (perf.h). */
#include "db/import/perf.h"
#include "common/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_spaces(const char *p)
{
    return p + strspn(p, " \t");
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* 4711/4712 is a process and its thread, a number alone a thread. The idle task may be -1. */
static const char *parse_ids(const char *p, struct perf_header *h)
{
    char *end;

    p += str_begins(p, "-1 ");
    if (!is_digit(*p))
        return NULL;
    h->tid = (uint32_t)strtoul(p, &end, 10);
    if (*end == '/' && is_digit(end[1])) {
        h->pid = h->tid;
        h->tid = (uint32_t)strtoul(end + 1, &end, 10);
    }
    return *end && *end != ' ' && *end != '\t' ? NULL : end;
}

/* 12345.678901: */
static const char *parse_time(const char *p, double *time)
{
    size_t n = strspn(p, "0123456789");

    if (!n || p[n] != '.' || !is_digit(p[n + 1]))
        return NULL;
    n += 1 + strspn(p + n + 1, "0123456789");
    if (p[n] != ':')
        return NULL;
    *time = strtod(p, NULL);
    return p + n + 1;
}

/* Ten columns wide, at least: a number that stands closer behind the ids is a part of the command and they are the next
 * one. */
static const char *parse_period(const char *p, const char *behind_ids, struct perf_header *h)
{
    size_t n = strspn(p, "0123456789");

    if (!n || (p[n] && p[n] != ' ' && p[n] != '\t') || (behind_ids && p + n - behind_ids <= 10))
        return p;
    h->period = strtoull(p, NULL, 10);
    h->has_period = true;
    return skip_spaces(p + n);
}

/* A word that ends in a colon before a space or the end. */
static const char *parse_event(const char *p, struct perf_header *h)
{
    size_t n = strcspn(p, " \t");

    if (n < 2 || p[n - 1] != ':' || is_digit(*p))
        return NULL;
    h->event = p;
    h->event_len = n - 1;
    return skip_spaces(p + n);
}

/* K, U, HKb ...: what -F +misc prints. */
static const char *skip_misc(const char *p)
{
    size_t n = strspn(p, "HKUGghMECSDJRPTukb");

    return n && n <= 3 && (p[n] == ' ' || p[n] == '\t') ? skip_spaces(p + n) : p;
}

/* Parses the rest of a head behind the command: ids [cpu] misc time: period event:, any of which may be missing. */
static void parse_after_command(const char *p, struct perf_header *h)
{
    const char *next = parse_ids(p, h), *behind_ids = next, *start;

    h->has_ids = next != NULL;
    if (next)
        p = skip_spaces(next);
    start = p;
    if (*p == '[' && is_digit(p[1]) && (next = strchr(p, ']')))
        p = skip_spaces(next + 1);
    p = skip_misc(p);
    next = parse_time(p, &h->time);
    if (next)
        p = skip_spaces(next);
    p = parse_period(p, p == start ? behind_ids : NULL, h);
    next = parse_event(p, h);
    h->rest = next ? next : p;
}

/* Ids and event are what tells a header from other text; with less there must be nothing else that is not understood.
 */
static bool is_header(const struct perf_header *h)
{
    struct perf_frame frame;

    if (h->has_ids && h->event)
        return true;
    if (h->event)
        return h->time >= 0 || (!*h->rest && !memmem(h->command, h->command_len, ": ", 2));
    return (h->has_ids || h->time >= 0) && (!*h->rest || perf_parse_frame(h->rest, &frame));
}

bool perf_parse_header(const char *line, struct perf_header *out)
{
    const char *start = skip_spaces(line);
    struct perf_header best = {0};

    /*
     * The command may hold spaces and digits, or be missing: the first split behind which everything stands is the
     * right one, or else the first behind which nothing is left.
     */
    for (const char *p = start, *fields = start; *fields; fields = skip_spaces(p)) {
        *out = (struct perf_header){.command = start, .command_len = (size_t)(p - start), .time = -1};
        parse_after_command(fields, out);
        if (is_header(out) && out->event && (out->has_ids || (p == start && out->time >= 0)))
            return true;
        if (is_header(out) && (!best.command || (*best.rest && !*out->rest)))
            best = *out;
        p = fields + strcspn(fields, " \t");
    }
    *out = best;
    return best.command != NULL;
}

/* Without `+0xOFFSET`, of the symbol, or of the file by -F +dsoff. */
static size_t without_offset(const char *text, size_t len)
{
    const char *plus = memrchr(text, '+', len), *end = text + len;

    return plus && plus > text && end - plus > 3 && str_begins(plus, "+0x") &&
                   strspn(plus + 3, "0123456789abcdef") == (size_t)(end - plus) - 3
               ? (size_t)(plus - text)
               : len;
}

/* The opening parenthesis of the group that ends the line. */
static const char *last_group(const char *line, const char *end)
{
    int open = 0;

    for (const char *p = end; p-- > line;) {
        if (*p == ')')
            open++;
        else if (*p == '(' && --open == 0)
            return p;
    }
    return NULL;
}

bool perf_parse_frame(const char *line, struct perf_frame *out)
{
    const char *p = skip_spaces(line), *end = p + strlen(p);
    char *after;

    *out = (struct perf_frame){0};
    if (!isxdigit((unsigned char)*p))
        return false;
    out->address = strtoull(p, &after, 16);
    if (*after != ' ' && *after != '\t')
        return false;
    out->name = skip_spaces(after);
    while (end > out->name && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    const char *group = end > out->name && end[-1] == ')' ? last_group(out->name, end) : NULL;

    if (group && group > out->name && group[-1] == ' ') {
        out->module = group + 1;
        out->module_len = without_offset(group + 1, (size_t)(end - group) - 2);
        end = group - 1;
    }
    out->inlined = out->module_len == 7 && memcmp(out->module, "inlined", 7) == 0;
    out->name_len = without_offset(out->name, (size_t)(end - out->name));
    return out->name_len > 0;
}

/* perf ends the line of each frame with its module, if it prints modules at all. */
bool perf_frame_torn(const struct perf_frame *frame, bool modules)
{
    const char *p = frame->name, *end = p + frame->name_len;
    size_t len = strlen(p);

    while (len && (p[len - 1] == ' ' || p[len - 1] == '\t'))
        len--;
    bool closed = p[len - 1] == ')'; /* or a path with a parenthesis of its own */

    if (!frame->module && !closed && modules)
        return true;
    while ((frame->module || !closed) && (p = memmem(p, (size_t)(end - p), "+0x", 3))) {
        p += 3;
        p += strspn(p, "0123456789abcdef");
        if (p < end && str_begins(p, " ("))
            return true;
    }
    return false;
}

/* An address is padded to 16 digits, so that two spaces stand before it unless it has all of them. */
bool perf_parse_last_frame(const char *text, struct perf_frame *out)
{
    struct perf_frame frame;
    bool any = false;

    for (const char *p = text; *p; p = skip_spaces(p + strcspn(p, " \t"))) {
        bool wide = p - text < 2 || strspn(p, "0123456789abcdef") == 16 || (p[-1] == ' ' && p[-2] == ' ');

        if (wide && perf_parse_frame(p, &frame)) {
            *out = frame;
            any = true;
        }
    }
    return any;
}

bool perf_parse_source(const char *line, const char **file, size_t *file_len, uint32_t *number)
{
    const char *p = skip_spaces(line), *colon = strrchr(p, ':');
    char *end;

    if (p == line)
        return false;
    /* prog[1030], [kernel.kallsyms][ffffffff81]: the module again, where no line is known. */
    if (*p && p[strlen(p) - 1] == ']' && strchr(p, '[')) {
        *file_len = *number = 0;
        return true;
    }
    if (!colon || colon == p || !is_digit(colon[1]))
        return false;
    *number = (uint32_t)strtoul(colon + 1, &end, 10);
    *file = p;
    *file_len = (size_t)(colon - p);
    return !*end || str_begins(end, " (");
}
