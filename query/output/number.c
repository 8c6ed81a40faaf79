/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/output/number.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scale {
    double factor;
    const char *unit;
};

static const struct scale seconds[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}, {0, NULL}};
static const struct scale counts[] = {
    {1e18, "E"}, {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "K"}, {1, ""}, {0, NULL},
};
static const struct scale bytes[] = {
    {1152921504606846976.0, "EiB"},
    {1125899906842624.0, "PiB"},
    {1099511627776.0, "TiB"},
    {1073741824.0, "GiB"},
    {1048576.0, "MiB"},
    {1024.0, "KiB"},
    {1, "B"},
    {0, NULL},
};

/* The largest unit of which the value is at least one; the smallest if there is none. */
static struct scale scale_for(const struct scale *scales, double largest)
{
    while (scales[1].unit && largest < scales->factor)
        scales++;
    return *scales;
}

static int decimals_for(double shown)
{
    if (shown >= 1e7 || (shown < 1e-4 && shown > 0))
        return -1;
    if (shown >= 1000)
        return 0;
    if (shown >= 1 || shown == 0)
        return shown >= 100 ? 1 : shown >= 10 ? 2 : 3;
    return 3 - (int)floor(log10(shown));
}

struct number_style number_style_for(enum dim dim, double largest, bool whole)
{
    struct number_style s = {.factor = 1, .unit = "", .base_unit = dim_unit(dim)};
    struct scale scale = {1, ""};

    if (whole && largest < 1e7 && dim != DIM_SECONDS && dim != DIM_BYTES)
        return s;
    if (dim == DIM_SECONDS)
        scale = scale_for(seconds, largest > 0 ? largest : 1);
    else if (dim == DIM_BYTES)
        scale = scale_for(bytes, largest);
    else if (largest >= 1e4)
        scale = scale_for(counts, largest);
    s.factor = scale.factor;
    s.unit = scale.unit;
    s.decimals = dim == DIM_BYTES && scale.factor == 1 && whole ? 0 : decimals_for(largest / scale.factor);
    return s;
}

static void look_at(double value, double *largest, bool *whole)
{
    double v = fabs(value);

    if (!isfinite(v))
        return;
    *largest = v > *largest ? v : *largest;
    *whole = *whole && v == floor(v);
}

/* Inclusive and exclusive, old and new: columns of one metric have one style. */
static bool shares_style(const struct column *a, const struct column *b)
{
    return a == b ||
           (b->type == COLUMN_NUMBER && a->dim == b->dim && a->metric && b->metric && !strcmp(a->metric, b->metric));
}

struct number_style number_style_of(const struct table *t, size_t index)
{
    const struct column *c = &t->columns.data[index];
    double largest = 0;
    bool whole = true;

    for (size_t k = 0; k < t->columns.len; k++) {
        if (!shares_style(c, &t->columns.data[k]))
            continue;
        look_at(t->columns.data[k].total, &largest, &whole);
        for (size_t i = 0; i < t->rows.len; i++)
            look_at(t->rows.data[i].cells[k].number, &largest, &whole);
    }
    struct number_style s = number_style_for(c->dim, largest, whole);
    s.sign = c->marks_sign;
    s.zero = !c->metric && c->scope == SCOPED_NONE && c->dim == DIM_NONE;
    return s;
}

/* A caller may have set a locale with another decimal point. */
static void point_text(char *text)
{
    char *comma = strchr(text, ',');
    if (comma)
        *comma = '.';
}

static bool is_nothing(const char *digits)
{
    return digits[strspn(digits, "-+0.")] == 0;
}

const char *number_text(char text[NUMBER_MAX], const struct number_style *s, double value)
{
    double shown = value / s->factor;
    const char *plus = s->sign && value > 0 ? "+" : "", *unit = s->unit;

    text[0] = 0;
    if (!isfinite(value) || (value == 0 && !s->zero))
        return "";
    if (value == 0)
        snprintf(text, NUMBER_MAX, "0");
    else if (s->decimals >= 0 && fabs(shown) < 1e15)
        snprintf(text, NUMBER_MAX, "%s%.*f", plus, s->decimals, shown);
    else
        snprintf(text, NUMBER_MAX, "%s%.3e", plus, shown);
    if (value != 0 && is_nothing(text)) {
        snprintf(text, NUMBER_MAX, "%s%.*g", plus, fabs(value) < 1 ? 2 : 4, value);
        unit = s->base_unit;
    }
    point_text(text);
    return unit;
}

void percent_text(char text[NUMBER_MAX], double value, double base, bool sign)
{
    text[0] = 0;
    if (!isfinite(value) || !isfinite(base) || value == 0 || base == 0)
        return;
    double p = 100 * value / base;
    const char *plus = sign && p > 0 ? "+" : "";
    if (fabs(p) < 0.05)
        snprintf(text, NUMBER_MAX, p < 0 ? ">-0.1%%" : "<0.1%%");
    else if (fabs(p) < 99999.95)
        snprintf(text, NUMBER_MAX, "%s%.1f%%", plus, p);
    else
        snprintf(text, NUMBER_MAX, "%s%.1e%%", plus, p);
    point_text(text);
}

void exact_text(char text[NUMBER_MAX], double value)
{
    text[0] = 0;
    if (!isfinite(value))
        return;
    if (value == 0)
        value = 0; /* no negative zero */
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, NUMBER_MAX, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    point_text(text);
}

double percent_base(const struct column *c, const struct cell *cell)
{
    return !isnan(cell->base) ? cell->base : c->base != 0 && !isnan(c->base) ? c->base : c->total;
}
