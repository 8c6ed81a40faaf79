/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/units.h"
#include "common/mem.h"
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double KI = 1024;

/* clang-format off */
static const struct unit units[] = {
    {"%", 1, 100, DIM_NONE, true},
    {"ns", 1, 1e9, DIM_SECONDS, false}, {"us", 1, 1e6, DIM_SECONDS, false}, {"\xc2\xb5s", 1, 1e6, DIM_SECONDS, false},
    {"\xce\xbcs", 1, 1e6, DIM_SECONDS, false}, {"ms", 1, 1e3, DIM_SECONDS, false}, {"s", 1, 1, DIM_SECONDS, false},
    {"min", 60, 1, DIM_SECONDS, false}, {"h", 3600, 1, DIM_SECONDS, false}, {"d", 86400, 1, DIM_SECONDS, false},
    {"B", 1, 1, DIM_BYTES, false}, {"KB", 1e3, 1, DIM_BYTES, false}, {"kB", 1e3, 1, DIM_BYTES, false},
    {"MB", 1e6, 1, DIM_BYTES, false}, {"GB", 1e9, 1, DIM_BYTES, false}, {"TB", 1e12, 1, DIM_BYTES, false},
    {"KiB", 0x1p10, 1, DIM_BYTES, false}, {"MiB", 0x1p20, 1, DIM_BYTES, false}, {"GiB", 0x1p30, 1, DIM_BYTES, false},
    {"TiB", 0x1p40, 1, DIM_BYTES, false},
    {"K", 1e3, 1, DIM_NONE, false}, {"k", 1e3, 1, DIM_NONE, false}, {"M", 1e6, 1, DIM_NONE, false},
    {"G", 1e9, 1, DIM_NONE, false}, {"T", 1e12, 1, DIM_NONE, false},
};
/* clang-format on */

static const char unit_list[] = "ns us ms s min h d, B KB MB GB TB KiB MiB GiB TiB, K M G T, or %";

const struct unit *units_all(size_t *count)
{
    *count = sizeof units / sizeof *units;
    return units;
}

static size_t scan_digits(const char *s)
{
    return strspn(s, "0123456789");
}

static size_t scan_number(const char *s)
{
    size_t whole = scan_digits(s), n = whole;

    if (s[n] == '.') {
        size_t fraction = scan_digits(s + n + 1);

        if (!whole && !fraction)
            return 0;
        if (fraction)
            n += 1 + fraction;
    }
    if (n && (s[n] == 'e' || s[n] == 'E')) {
        size_t sign = s[n + 1] == '+' || s[n + 1] == '-';
        size_t exponent = scan_digits(s + n + 1 + sign);

        if (exponent)
            n += 1 + sign + exponent;
    }
    return n;
}

size_t units_scan(const char *s)
{
    size_t n = scan_number(s);

    if (n)
        while (isalpha((unsigned char)s[n]) || s[n] == '%' || (unsigned char)s[n] >= 0x80)
            n++;
    return n;
}

static const struct unit *find_unit(const char *name)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(units[i].name, name))
            return &units[i];
    return NULL;
}

/* Smaller than what has all digits: it would be 0, or another number. */
static bool is_too_small(const char *s, size_t n, double x)
{
    size_t mantissa = strcspn(s, "eE");

    return fabs(x) < DBL_MIN && strcspn(s, "123456789") < (mantissa < n ? mantissa : n);
}

struct hq_error *units_parse(const char *s, struct quantity *out)
{
    size_t n = scan_number(s);
    double x = n ? strtod(s, NULL) : 0;
    const struct unit *u = NULL;

    *out = (struct quantity){0};
    if (!n)
        return hq_error_new(HQ_USAGE, "\"%s\" is not a number; write one like 10, 2.5, 1e6, 10%% or 200ms", s);
    if (s[n] && !(u = find_unit(s + n)))
        return hq_error_new(HQ_USAGE, "\"%s\" has the unknown unit \"%s\"; the units are %s", s, s + n, unit_list);
    if (u)
        *out = (struct quantity){x * u->times / u->over, u->dim, u->percent};
    else
        out->value = x;
    if (!isfinite(out->value))
        return hq_error_new(HQ_USAGE, "\"%s\" is too large a number", s);
    if (is_too_small(s, n, out->value))
        return hq_error_new(HQ_USAGE, "\"%s\" is too small a number; 0 is one", s);
    return NULL;
}

struct hq_error *units_parse_n(const char *s, size_t n, struct quantity *out)
{
    AUTO_FREE char *text = xstrndup(s, n);

    return units_parse(text, out);
}

struct hq_error *units_parse_seconds(const char *s, double *out)
{
    struct quantity q;

    HQ_TRY(units_parse(s, &q));
    if (q.percent || (q.dim != DIM_SECONDS && q.dim != DIM_NONE))
        return hq_error_new(HQ_USAGE, "\"%s\" is not a time; write one like 1.5s, 200ms or 3min", s);
    *out = q.value;
    return NULL;
}

struct hq_error *units_parse_count(const char *s, uint64_t *out)
{
    struct quantity q;

    HQ_TRY(units_parse(s, &q));
    if (q.percent || q.dim == DIM_SECONDS || q.value < 1 || q.value >= 0x1p63 || q.value != floor(q.value))
        return hq_error_new(HQ_USAGE, "\"%s\" is not a whole number above 0; write one like 1000, 1e6 or 4K", s);
    *out = (uint64_t)q.value;
    /* Digits alone are exact beyond 2^53 too. */
    if (s[scan_digits(s)] == '\0')
        *out = strtoull(s, NULL, 10);
    return NULL;
}

/* The number before "/s", "Hz" and the like, or 0 if s is not a rate. */
static double parse_rate(const char *s)
{
    static const struct {
        const char *suffix;
        double times;
    } rates[] = {
        {"/s", 1}, {"K/s", 1e3}, {"k/s", 1e3}, {"M/s", 1e6}, {"Hz", 1},
        {"hz", 1}, {"kHz", 1e3}, {"KHz", 1e3}, {"MHz", 1e6},
    };
    size_t n = scan_number(s);

    for (size_t i = 0; n && i < sizeof rates / sizeof *rates; i++)
        if (!strcmp(s + n, rates[i].suffix))
            return strtod(s, NULL) * rates[i].times;
    return 0;
}

struct hq_error *units_parse_period(const char *s, uint64_t *period_ns)
{
    double rate = parse_rate(s), ns = rate > 0 ? 1e9 / rate : 0;

    if (!(rate > 0)) {
        struct quantity q;
        AUTO_ERROR struct hq_error *err = units_parse(s, &q);

        if (!err && q.dim == DIM_SECONDS)
            ns = q.value * 1e9;
    }
    ns = round(ns);
    if (!(ns >= 1 && ns < 0x1p63))
        return hq_error_new(HQ_USAGE, "\"%s\" is neither a rate like 200/s nor a period like 5ms", s);
    *period_ns = (uint64_t)ns;
    return NULL;
}

/* Rounded to three digits before the unit is chosen, so that 999.9 ms becomes 1 s and not 1000 ms. */
static double round3(double x)
{
    char text[UNITS_TEXT];

    snprintf(text, sizeof text, "%.3g", x);
    return strtod(text, NULL);
}

static char *format_seconds(char *out, double x)
{
    double r = fabs(round3(x));
    const char *unit = r >= 1 ? "s" : r >= 1e-3 ? "ms" : r >= 1e-6 ? "us" : "ns";
    double scaled = r >= 1 ? x : r >= 1e-3 ? x * 1e3 : r >= 1e-6 ? x * 1e6 : x * 1e9;

    if (x == 0)
        snprintf(out, UNITS_TEXT, "0 s");
    else if (r >= 1000 && r < 1e6)
        snprintf(out, UNITS_TEXT, "%.0f s", x);
    else
        snprintf(out, UNITS_TEXT, "%.3g %s", scaled, unit);
    return out;
}

static char *format_bytes(char *out, double x)
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t i = 0;

    for (; i + 1 < sizeof names / sizeof *names && fabs(x) >= KI - 0.5; i++)
        x /= KI;
    if (fabs(x) >= 999.5 && fabs(x) < KI)
        snprintf(out, UNITS_TEXT, "%.0f %s", x, names[i]);
    else
        snprintf(out, UNITS_TEXT, "%.3g %s", x, names[i]);
    return out;
}

static char *format_plain(char *out, double x)
{
    double a = fabs(x);

    if (a < 1e6 && (x == floor(x) || a >= 999.5))
        snprintf(out, UNITS_TEXT, "%.0f", x);
    else
        snprintf(out, UNITS_TEXT, "%.3g", x);
    return out;
}

char *units_format(char out[UNITS_TEXT], double value, enum dim dim)
{
    out[0] = '\0';
    if (!isfinite(value))
        return out;
    if (value == 0)
        value = 0; /* no "-0" */
    switch (dim) {
    case DIM_SECONDS: return format_seconds(out, value);
    case DIM_BYTES: return format_bytes(out, value);
    default: return format_plain(out, value);
    }
}

char *units_format_counted(char out[UNITS_TEXT], double value, enum dim dim)
{
    if (dim == DIM_SECONDS || !(fabs(value) < 1e9) || value != floor(value))
        return units_format(out, value, dim);
    snprintf(out, UNITS_TEXT, "%.0f%s", value + 0.0, dim == DIM_BYTES ? " B" : "");
    return out;
}

const char *dim_unit(enum dim dim)
{
    return dim == DIM_SECONDS ? "s" : dim == DIM_BYTES ? "B" : "";
}

const char *dim_name(enum dim dim)
{
    switch (dim) {
    case DIM_SECONDS: return "seconds";
    case DIM_BYTES: return "bytes";
    case DIM_EVENTS: return "events";
    default: return "a plain number";
    }
}
