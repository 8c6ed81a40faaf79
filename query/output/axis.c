/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/output/axis.h"
#include <math.h>
#include <stdio.h>

struct axis axis_make(const struct picture *p, unsigned most)
{
    struct axis a = {.from = p->from, .to = p->to, .step = picture_step(p->from, p->to, most)};
    struct number_style s = number_style_for(DIM_SECONDS, fabs(p->to), false);

    a.factor = s.factor;
    a.unit = s.unit;
    double digits = -floor(log10(a.step / a.factor) + 1e-9);
    a.decimals = digits > 0 ? (int)digits : 0;
    return a;
}

bool axis_mark(const struct axis *a, unsigned i, double *time)
{
    *time = (ceil(a->from / a->step - 1e-9) + i) * a->step;
    return *time <= a->to + 1e-9 * a->step;
}

void axis_text(char text[NUMBER_MAX], const struct axis *a, double time)
{
    double shown = time / a->factor;

    snprintf(text, NUMBER_MAX, "%.*f %s", a->decimals, fabs(shown) < 1e-12 ? 0 : shown, a->unit);
}
