/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/output/guides.h"
#include "common/mem.h"
#include "query/output/paint.h"
#include <limits.h>

static int depth_of(const struct table *t, size_t row)
{
    int depth = t->rows.data[row].depth;
    return depth < 0 ? 0 : depth;
}

/* From the last row upwards: seen[d] tells that a row of depth d follows before any shallower one. */
static void find_siblings(struct guides *g, int max_depth)
{
    bool *seen = xcalloc((size_t)max_depth + 2, sizeof *seen);
    int last = 0;

    for (size_t i = g->table->rows.len; i-- > 0;) {
        int depth = depth_of(g->table, i);
        for (; last > depth; last--)
            seen[last] = false;
        last = depth;
        g->has_next[i] = seen[depth];
        seen[depth] = true;
    }
    free(seen);
}

void guides_init(struct guides *g, const struct table *t, bool lines, int room)
{
    int max_depth = 0;

    for (size_t i = 0; i < t->rows.len; i++)
        if (depth_of(t, i) > max_depth)
            max_depth = depth_of(t, i);
    *g = (struct guides){.table = t, .lines = lines, .step = max_depth <= 24 ? 2 : 1, .deepest = INT_MAX};
    if (room != 0) {
        int columns = room > 64 ? room - 40 : room > 24 ? room / 3 : 8;
        g->step = max_depth * 2 <= columns ? 2 : 1;
        g->deepest = columns / g->step;
    }
    g->open = xcalloc((size_t)max_depth + 2, sizeof *g->open);
    g->has_next = xcalloc(t->rows.len + 1, sizeof *g->has_next);
    find_siblings(g, max_depth);
}

void guides_deinit(struct guides *g)
{
    free(g->open);
    free(g->has_next);
}

static const char *guide_text(const struct guides *g, size_t index, int level, bool utf8)
{
    int depth = depth_of(g->table, index);
    bool goes_on = level < depth ? g->open[level] : g->has_next[index];
    bool only = level == depth && !goes_on && (index == 0 || depth_of(g->table, index - 1) < depth);

    if (!g->lines || only || (level < depth && !goes_on))
        return "  ";
    if (level < depth)
        return utf8 ? "\xe2\x94\x82 " : "| ";
    return goes_on ? (utf8 ? "\xe2\x94\x9c " : "|-") : (utf8 ? "\xe2\x94\x94 " : "`-");
}

int guides_width(const struct guides *g, size_t index)
{
    int depth = depth_of(g->table, index), shown = depth < g->deepest ? depth : g->deepest;

    return shown * g->step + (shown && depth > shown ? snprintf(NULL, 0, "+%d ", depth - shown) : 0);
}

int guides_put(struct guides *g, size_t index, const struct output_options *o, FILE *out)
{
    int depth = depth_of(g->table, index), shown = depth < g->deepest ? depth : g->deepest;

    g->open[depth] = g->has_next[index];
    if (shown == 0)
        return 0;
    paint_on(PAINT_DIM, o, out);
    for (int level = 1; level <= shown; level++) {
        const char *text = guide_text(g, index, level < shown ? level : depth, o->utf8);
        int bytes = (text[0] & 0x80 ? 3 : 1) + g->step - 1;
        fprintf(out, "%.*s", bytes, text);
    }
    if (depth > shown)
        fprintf(out, "+%d ", depth - shown);
    paint_off(PAINT_DIM, o, out);
    return guides_width(g, index);
}
