/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the files of the view `fold`: its rows (fold.c) and its pictures (fold_draw.c). */
#ifndef HQ_QUERY_VIEWS_FOLD_H
#define HQ_QUERY_VIEWS_FOLD_H

#include "query/views/folded.h"

/* As chart of the run's table, in its arena. side[1], of `compare with`, is drawn below side[0] on the same scales;
 * NULL without. database: what that is called. */
void fold_draw(const struct folded *const side[2], const char *database);

#endif
