/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of rows: by the sort keys, then by what tells equal ones apart, so that it is the same in every run. */
#include "query/shape/rows.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int order_numbers(double a, double b, bool ascending)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return a == b ? 0 : (a < b) == ascending ? -1 : 1;
}

static int order_texts(const char *a, const char *b, bool ascending)
{
    if (!a || !b)
        return !a - !b;
    int order = strcmp(a, b);

    return ascending ? order : -order;
}

static int order_key(struct run *run, const struct sort_program *key, struct entry *a, struct entry *b)
{
    struct facts fa = {0}, fb = {0};
    char one[PROGRAM_TEXT_ROOM], two[PROGRAM_TEXT_ROOM];

    if (run->binding.uses_attributes) {
        fa = entry_facts(run, a);
        fb = entry_facts(run, b);
    }
    struct point pa = entry_point(run, a, &fa), pb = entry_point(run, b, &fb);

    if (!key->program->is_text)
        return order_numbers(program_number(key->program, &pa), program_number(key->program, &pb), key->ascending);
    return order_texts(program_text(key->program, &pa, one), program_text(key->program, &pb, two), key->ascending);
}

static int order_entries(const void *x, const void *y, void *arg)
{
    struct run *run = arg;
    struct entry *a = *(struct entry *const *)x, *b = *(struct entry *const *)y;
    int order = 0;

    /* Any order will do: nothing is shown of it. */
    if (run_interrupted(run))
        return 0;
    for (size_t i = 0; i < run->sort.len && !order; i++)
        order = order_key(run, &run->sort.data[i], a, b);
    if (!order)
        order = strcmp(entry_name(run, a), entry_name(run, b));
    if (!order)
        order = a->node.call_line != b->node.call_line ? (a->node.call_line < b->node.call_line ? -1 : 1) : 0;
    if (!order)
        order = a->node.profile != b->node.profile ? (a->node.profile < b->node.profile ? -1 : 1) : 0;
    if (!order)
        order = a->node.id != b->node.id ? (a->node.id < b->node.id ? -1 : 1) : 0;
    return order;
}

void rows_sort(struct run *run, struct entry **entries, size_t n)
{
    if (n > 1)
        qsort_r(entries, n, sizeof *entries, order_entries, run);
}
