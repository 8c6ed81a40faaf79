/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes, labels, levels and rows of the pictures of traces (trace.h). */
#include "common/hash.h"
#include "common/str.h"
#include "query/grammar/parse.h"
#include "query/measure/values.h"
#include "query/picture/palette.h"
#include "query/views/trace.h"
#include <math.h>
#include <string.h>

#define PLAIN_WIDTH 100u /* of a picture in a text file */
#define SVG_WIDTH   1200u
#define SVG_HEIGHT  800u
#define MOST_CELLS  16000000u

static bool is_format(const struct run *run, const char *name)
{
    return run->query->as && !strcmp(run->query->as->format, name);
}

uint32_t trace_width(const struct run *run, uint32_t used)
{
    uint32_t terminal = run->env->width > used + 21 ? run->env->width - used - 1 : 20;
    uint32_t width = run->query->width       ? run->query->width
                     : is_format(run, "svg") ? SVG_WIDTH
                     : run->env->width       ? terminal
                                             : PLAIN_WIDTH;

    return width < MOST_CELLS ? width : MOST_CELLS;
}

uint32_t trace_height(const struct run *run, uint32_t otherwise)
{
    uint32_t terminal = run->env->height > 24 ? run->env->height - 14 : 10;
    uint32_t height = run->query->height      ? run->query->height
                      : is_format(run, "svg") ? SVG_HEIGHT
                      : run->env->height      ? terminal
                                              : otherwise;
    uint32_t most = MOST_CELLS / trace_width(run, 0);

    return height < most ? height : most ? most : 1;
}

bool trace_wants_rows(const struct run *run)
{
    if (!run->query->as)
        return run->env->complete;
    return !is_format(run, "table") && !is_format(run, "tree") && !is_format(run, "svg");
}

const char *trace_blank(const struct trace *t)
{
    return t->run->selection.sliced && t->run->query->samples.during->kind != DURING_SLICE
               ? "not in the slice, idle, or not on a CPU"
               : "no samples: idle, or not on a CPU";
}

const char *trace_label(const struct trace *t, uint32_t profile, struct arena *arena)
{
    const struct db *db = t->time.db;
    const struct hqdb_profile *p = &db->profiles[profile];
    bool queue = db_is_queue(db, profile);
    uint32_t number = p->thread & ~HQDB_QUEUE;
    const char *thread = t->threads ? arena_printf(arena, queue ? " queue %u" : " thread %u", number) : "";
    if (p->rank >= 0)
        return arena_printf(arena, "rank %d%s", p->rank, thread);
    if (t->processes && p->pid)
        return arena_printf(arena, "%s %u%s", path_base(db_string(db, p->command)), p->pid, thread);
    return arena_printf(arena, queue ? "queue %u" : "thread %u", number);
}

struct node node_of_visit(struct run *run, const struct trace *t, const struct visit *v, const char *of,
                          const double *slots)
{
    struct node n = node_of_slots(slots);

    n.profile = v->profile;
    n.id = hash_combine(hash_combine(hash_str(of), v->profile), v->number);
    n.name = arena_printf(&run->arena, "%s #%u%s%s", trace_label(t, v->profile, &run->arena), v->number,
                          v->cut ? " (cut)" : "", run->doubt ? " (uncertain)" : "");
    return n;
}

/* ---- levels ---- */

static bool is_level(const struct tree *tree, uint32_t c)
{
    enum scope_kind kind = tree_kind(tree, c);
    return scope_is_called(kind) || kind == SCOPE_INLINE || kind == SCOPE_REGION || kind == SCOPE_PHASE;
}

/* The innermost procedure at or above a context. */
static uint32_t procedure_of(const struct tree *tree, uint32_t c)
{
    while (c != HQDB_NONE && !is_level(tree, c))
        c = tree_parent(tree, c);
    return c;
}

uint32_t trace_depth(const struct tree *tree, uint32_t context)
{
    uint32_t depth = 0;

    for (uint32_t c = procedure_of(tree, context); c != HQDB_NONE; c = procedure_of(tree, tree_parent(tree, c)))
        depth++;
    return depth;
}

uint32_t trace_ancestor(const struct tree *tree, uint32_t context, uint32_t level)
{
    uint32_t depth = trace_depth(tree, context), c = procedure_of(tree, context);

    for (; depth > level; depth--)
        c = procedure_of(tree, tree_parent(tree, c));
    if (c == HQDB_NONE) /* a thread or a partial path without a procedure */
        for (c = context; tree_kind(tree, c) == SCOPE_LINE && tree_parent(tree, c) != HQDB_NONE;)
            c = tree_parent(tree, c);
    return c;
}

/* ---- which level shows most ---- */

/* Cells of each (row, context), as row << 32 | context. */
static uint64_t count_contexts(const struct trace *t, struct map *contexts, uint32_t *deepest)
{
    uint64_t cells = 0;

    for (uint32_t y = 0; y < t->shown_count; y++)
        for (uint32_t x = 0; x < t->width; x++) {
            uint32_t cell = t->contexts[(size_t)y * t->width + x];
            bool is_new;
            if (!cell)
                continue;
            ++*map_insert(contexts, (uint64_t)y << 32 | (cell - 1), 0, &is_new);
            cells++;
            uint32_t depth = is_new ? trace_depth(t->run->tree, cell - 1) : 0;
            *deepest = depth > *deepest ? depth : *deepest;
        }
    return cells;
}

/* How many cells show the procedure that fills most of their row. */
static uint64_t monotonous(const struct trace *t, const struct map *contexts, uint32_t level, struct map *scratch,
                           uint64_t *largest)
{
    uint64_t key, cells, sum = 0;

    map_clear(scratch);
    memset(largest, 0, t->shown_count * sizeof *largest);
    for (size_t pos = 0; map_next(contexts, &pos, &key, &cells);) {
        uint32_t row = (uint32_t)(key >> 32), c = trace_ancestor(t->run->tree, (uint32_t)key, level);
        uint64_t *count = map_insert(scratch, key >> 32 << 32 | tree_scope_of(t->run->tree, c), 0, NULL);
        *count += cells;
        largest[row] = *count > largest[row] ? *count : largest[row];
    }
    for (uint32_t y = 0; y < t->shown_count; y++)
        sum += largest[y];
    return sum;
}

uint32_t trace_level(const struct trace *t)
{
    AUTO_FREE uint64_t *largest = xcalloc(t->shown_count + 1, sizeof *largest);
    struct map contexts = {0}, scratch = {0};
    uint64_t least = UINT64_MAX;
    uint32_t best = 1, deepest = 1;

    if (t->run->query->level)
        return t->run->query->level;
    uint64_t cells = count_contexts(t, &contexts, &deepest);
    for (uint32_t level = 1; level <= deepest && level <= 100; level++) {
        uint64_t same = monotonous(t, &contexts, level, &scratch, largest);
        if (same < least) {
            least = same;
            best = level;
        }
        if (same <= cells * 7 / 10)
            break;
    }
    map_deinit(&contexts);
    map_deinit(&scratch);
    return best;
}

/* ---- items and rows ---- */

static void add_path(const struct tree *tree, uint32_t c, struct arena *arena, struct str *out)
{
    uint32_t caller = procedure_of(tree, tree_parent(tree, c));

    if (caller != HQDB_NONE) {
        add_path(tree, caller, arena, out);
        str_add(out, " > ");
    }
    str_add(out, tree_scope_name(tree, tree_scope_of(tree, c), arena));
}

uint32_t trace_item(struct trace *t, struct picture *p, uint32_t context)
{
    const struct tree *tree = t->run->tree;
    bool is_new;
    uint64_t *item = map_insert(&t->items, context, 0, &is_new);

    if (is_new) {
        AUTO_STR struct str path = {0};
        add_path(tree, context, p->arena, &path);
        uint32_t name = picture_name(p, tree_scope_name(tree, tree_scope_of(tree, context), p->arena),
                                     values_tint(t->run, tree_scope_of(tree, context)));
        *item = picture_item(p, name, arena_strdup(p->arena, str_cstr(&path)));
    }
    return (uint32_t)*item;
}

void trace_column(struct table *table, const char *name, enum dim dim)
{
    vec_push(&table->columns, (struct column){.name = name, .scope = SCOPED_NONE, .dim = dim, .total = NAN});
}

struct row *trace_row(struct table *table, const struct tree *tree, uint32_t context)
{
    const struct hqdb_context *c = tree_context(tree, context);
    const struct hqdb_scope *scope = tree_scope(tree, tree_scope_of(tree, context));
    struct row *r = table_add_row(table);

    r->id = c->id;
    r->kind = scope->kind;
    r->name = tree_scope_name(tree, tree_scope_of(tree, context), &table->arena);
    r->module = tree_module_name(tree, tree_scope_of(tree, context));
    r->file = *tree_text(tree, scope->file) ? tree_text(tree, scope->file) : NULL;
    r->line = scope->line;
    return r;
}

bool trace_is_of_devices(struct run *run, const uint8_t *mark)
{
    bool host = false, device = false;

    for (uint32_t c = 0; c < run->tree->context_count; c++)
        if (mark[c])
            *(tree_kind(run->tree, c) == SCOPE_DEVICE ? &device : &host) = true;
    if (host && device)
        run_note(run, "visits of threads alone: for commands of devices that match too, name their row as "
                      "\"[kernel NAME]\"");
    return device && !host;
}

const char *trace_device_hint(struct run *run)
{
    const struct pattern *asked = run->query->view.of;
    AUTO_FREE uint8_t *mark = asked ? matches_mark(&run->of, run->tree) : NULL;

    if (!mark || !trace_is_of_devices(run, mark))
        return NULL;
    const char *of = print_pattern(&run->arena, asked);

    return arena_printf(&run->arena,
                        "%s is a command of a device, which runs in no thread, and nothing inside of it is sampled: "
                        "`iterations of %s` lists its runs",
                        of, of);
}
