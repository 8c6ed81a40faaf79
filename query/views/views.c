/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/views/trace.h"
#include "query/views/views.h"

static const struct view_row rows[] = {
    {VIEW_TREE, SHAPE_TREE, KINDS_PATH, false, tree_roots, tree_children, NULL},
    {VIEW_CALLERS, SHAPE_NESTED, KINDS_PROCEDURE, false,
     callers_roots, callers_children, NULL},
    {VIEW_FLAT, SHAPE_NESTED, KINDS_STATIC, false,
     flat_roots, flat_children, NULL},
    {VIEW_HOT_PATH, SHAPE_PATH, KINDS_PATH, false, tree_roots,
     tree_children, NULL},
    {VIEW_PROCEDURES, SHAPE_LIST, KINDS_STATIC, false, procedures_roots, NULL, NULL},
    {VIEW_LOOPS, SHAPE_LIST, KINDS_STATIC, false, loops_roots, NULL, NULL},
    {VIEW_LINES, SHAPE_LIST, KINDS_STATIC, false, lines_roots, NULL, NULL},
    {VIEW_FILES, SHAPE_LIST, KINDS_STATIC, false, files_roots, NULL, NULL},
    {VIEW_MODULES, SHAPE_LIST, KINDS_STATIC, false, modules_roots, NULL, NULL},
    {VIEW_METRICS, SHAPE_FACTS, 0, false, NULL, NULL, metrics_fill},
    {VIEW_INFO, SHAPE_FACTS, 0, false, NULL, NULL, info_fill},
    {VIEW_TRACE, SHAPE_FACTS, 0, false, NULL, NULL, trace_fill},
    {VIEW_TRACE_DEPTH, SHAPE_FACTS, 0, false, NULL, NULL, trace_depth_fill},
    {VIEW_TRACE_AT, SHAPE_FACTS, 0, false, NULL, NULL, trace_at_fill},
    {VIEW_TRACE_SUMMARY, SHAPE_FACTS, 0, false, NULL, NULL, trace_summary_fill},
    {VIEW_TRACE_IMBALANCE, SHAPE_FACTS, KINDS_PROCEDURE, false, NULL, NULL, trace_imbalance_fill},
    {VIEW_ITERATIONS, SHAPE_FACTS, KINDS_PATH, false, NULL, NULL, iterations_fill},
};

const struct view_row *view_find(enum view_kind kind)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kind == kind)
            return &rows[i];
    return NULL;
}
