/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/views/views.h"

static const struct view_row *const rows[VIEW_KINDS] = {
#define VIEW(kind, row, ...) [VIEW_##kind] = &view_##row,
#include "query/grammar/views.def"
#undef VIEW
};

const struct view_row *view_find(enum view_kind kind)
{
    return rows[kind];
}
