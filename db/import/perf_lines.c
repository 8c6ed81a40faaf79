/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/import/perf.h"

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

/* 4711, 4711/4712: the number of a thread alone is the number of its process too. */
static const char *parse_ids(const char *p, uint32_t *pid, uint32_t *tid)
{
    char *end;

    if (!is_digit(*p))
        return NULL;
    *pid = *tid = (uint32_t)strtoul(p, &end, 10);
    if (*end == '/' && is_digit(end[1]))
        *tid = (uint32_t)strtoul(end + 1, &end, 10);
    return end;
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

/* "     250000 cpu-clock:u: ": a number if there is one, then a word that ends in a colon before a space or the end. */
static const char *parse_event(const char *p, struct perf_header *h)
{
    size_t n = strspn(p, "0123456789");

    if (n && (p[n] == ' ' || p[n] == '\t')) {
        h->period = strtoull(p, NULL, 10);
        h->has_period = true;
        p = skip_spaces(p + n);
    }
    h->event = p;
    h->event_len = strcspn(p, " \t");
    if (h->event_len < 2 || p[h->event_len - 1] != ':' || is_digit(*p))
        return NULL;
    h->event_len--;
    return skip_spaces(p + h->event_len + 1);
}

/* What follows the command: ids [cpu] time: period event:. The ids are there unless -F left them out. */
static bool parse_after_command(const char *p, struct perf_header *h)
{
    const char *next = parse_ids(p, &h->pid, &h->tid);

    if (!next || (*next != ' ' && *next != '\t'))
        return false;
    p = skip_spaces(next);
    if (*p == '[' && is_digit(p[1]) && (next = strchr(p, ']')))
        p = skip_spaces(next + 1);
    next = parse_time(p, &h->time);
    if (next)
        p = skip_spaces(next);
    h->rest = parse_event(p, h);
    return h->rest != NULL;
}

bool perf_parse_header(const char *line, struct perf_header *out)
{
    const char *start = skip_spaces(line);

    /* The command may hold spaces and digits: the first split behind which all the rest fits is the right one. */
    for (const char *p = start; *p;) {
        p += strcspn(p, " \t");
        const char *fields = skip_spaces(p);

        *out = (struct perf_header){.command = start, .command_len = (size_t)(p - start), .time = -1};
        if (p > start && parse_after_command(fields, out))
            return true;
        p = fields;
    }
    return false;
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
        out->module_len = (size_t)(end - group) - 2;
        end = group - 1;
    }
    out->inlined = out->module_len == 7 && memcmp(out->module, "inlined", 7) == 0;
    out->name_len = (size_t)(end - out->name);
    const char *plus = memrchr(out->name, '+', out->name_len);

    if (plus && plus > out->name && strncmp(plus, "+0x", 3) == 0 &&
        strspn(plus + 3, "0123456789abcdef") == (size_t)(end - plus) - 3)
        out->name_len = (size_t)(plus - out->name);
    return out->name_len > 0;
}

bool perf_parse_source(const char *line, const char **file, size_t *file_len, uint32_t *number)
{
    const char *p = skip_spaces(line), *colon = strrchr(p, ':');
    char *end;

    if (p == line)
        return false;
    /* prog[1030]: the module again, where no line is known. */
    if (*p && p[strlen(p) - 1] == ']' && strchr(p, '[') > p) {
        *file_len = *number = 0;
        return true;
    }
    if (!colon || colon == p || !is_digit(colon[1]))
        return false;
    *number = (uint32_t)strtoul(colon + 1, &end, 10);
    *file = p;
    *file_len = (size_t)(colon - p);
    return !*end || strncmp(end, " (", 2) == 0;
}
