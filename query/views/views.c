/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/views/trace.h"
#include "query/views/views.h"

static const struct view_row rows[] = {
    {.kind = VIEW_TREE, .shape = SHAPE_TREE, .of_kinds = KINDS_PATH, .roots = tree_roots, .children = tree_children},
    {.kind = VIEW_CALLERS, .shape = SHAPE_NESTED, .of_kinds = KINDS_PROCEDURE, .roots = callers_roots, .children = callers_children},
    {.kind = VIEW_FLAT, .shape = SHAPE_NESTED, .of_kinds = KINDS_STATIC, .roots = flat_roots, .children = flat_children},
    {.kind = VIEW_HOT_PATH, .shape = SHAPE_PATH, .of_kinds = KINDS_PATH, .roots = tree_roots, .children = tree_children},
    {.kind = VIEW_PROCEDURES, .shape = SHAPE_LIST, .of_kinds = KINDS_STATIC, .roots = procedures_roots},
    {.kind = VIEW_LOOPS, .shape = SHAPE_LIST, .of_kinds = KINDS_STATIC, .roots = loops_roots},
    {.kind = VIEW_LINES, .shape = SHAPE_LIST, .of_kinds = KINDS_STATIC, .roots = lines_roots},
    {.kind = VIEW_FILES, .shape = SHAPE_LIST, .of_kinds = KINDS_STATIC, .roots = files_roots},
    {.kind = VIEW_MODULES, .shape = SHAPE_LIST, .of_kinds = KINDS_STATIC, .roots = modules_roots},
    {.kind = VIEW_SOURCE, .shape = SHAPE_LIST, .of_kinds = KINDS_STATIC & ~KIND_BIT(SCOPE_LINE), .beside = "source", .in_order = true,
     .roots = source_roots},
    {.kind = VIEW_THREADS, .shape = SHAPE_LIST, .of_kinds = KINDS_PATH, .of_profiles = true, .roots = threads_roots},
    {.kind = VIEW_PROFILES, .shape = SHAPE_LIST, .of_profiles = true, .beside = "process", .in_order = true, .roots = profiles_roots},
    {.kind = VIEW_EXPLAIN, .shape = SHAPE_LIST, .in_order = true, .roots = explain_roots},
    {.kind = VIEW_METRICS, .shape = SHAPE_FACTS, .fill = metrics_fill},
    {.kind = VIEW_INFO, .shape = SHAPE_FACTS, .fill = info_fill},
    {.kind = VIEW_TRACE, .shape = SHAPE_FACTS, .fill = trace_fill},
    {.kind = VIEW_TRACE_DEPTH, .shape = SHAPE_FACTS, .fill = trace_depth_fill},
    {.kind = VIEW_TRACE_AT, .shape = SHAPE_FACTS, .fill = trace_at_fill},
    {.kind = VIEW_TRACE_SUMMARY, .shape = SHAPE_FACTS, .fill = trace_summary_fill},
    {.kind = VIEW_TRACE_IMBALANCE, .shape = SHAPE_FACTS, .of_kinds = KINDS_PROCEDURE, .fill = trace_imbalance_fill},
    {.kind = VIEW_ITERATIONS, .shape = SHAPE_LIST, .of_kinds = KINDS_PATH, .of_profiles = true, .in_order = true,
     .beside = "largest child", .prepare = iterations_prepare, .roots = iterations_roots},
};

const struct view_row *view_find(enum view_kind kind)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kind == kind)
            return &rows[i];
    return NULL;
}
