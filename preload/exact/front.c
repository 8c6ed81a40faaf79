/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/exact/front.h"

#include "preload/sources/exact.h"

#include <stdio.h>

void front_tell(const char *const *names, size_t count, const char *rest)
{
    const char *first = NULL, *whose = NULL;
    char text[400], more[32] = "";
    int own = 0;

    for (size_t i = 0; i < count; i++) {
        const char *front = hq_exact_in_front(names[i]);

        if (!front || (first && front != whose))
            continue;
        own++;
        first = first ? first : names[i];
        whose = front;
    }
    if (!first)
        return;
    if (own > 1)
        snprintf(more, sizeof more, " and %d more", own - 1);
    if (*whose)
        snprintf(text, sizeof text,
                 "%.100s, which is preloaded before the collector, has %s%s: %s; behind the collector in LD_PRELOAD "
                 "it hides none",
                 whose, first, more, rest);
    else
        snprintf(text, sizeof text, "the program has %s%s of its own: %s", first, more, rest);
    hq_exact_warn(text);
}
