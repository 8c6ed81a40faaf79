/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/report/bundle.h"

#ifdef HQ_PAGE /* the directory where the build has put the two */

EMBED(bundle_program, HQ_PAGE "/page.js")
EMBED(bundle_style, HQ_PAGE "/page.css")

#else

struct embedded bundle_program(void)
{
    return (struct embedded){0};
}

struct embedded bundle_style(void)
{
    return (struct embedded){0};
}

#endif
