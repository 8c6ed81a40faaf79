/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names of the rows of baselines and races in messages: as `set names` has it, and never two alike. A row is known
 * by its path, `procedure main > procedure f(int) [_Z1fi]`.
 */
#ifndef HQ_REPL_BASELINE_ROW_PATHS_H
#define HQ_REPL_BASELINE_ROW_PATHS_H

#include "common/arena.h"
#include "common/intern.h"
#include "query/output.h"

/* Private. Zeroed, but for `setting`, is empty. */
struct row_paths {
    enum output_names setting;
    struct intern names; /* those of scopes, with the name for the linker where it says more */
    char **shown;        /* [number in names] */
};

void row_paths_deinit(struct row_paths *p);

/* All paths that may be told are added before the first one is told: what tells two names apart depends on both. */
void row_paths_add(struct row_paths *p, const char *path);
/* Like row_paths_add, for a name alone. */
void row_paths_add_name(struct row_paths *p, const char *name);

/*
 * A path as it is told, in the arena: names short, and of many scopes the first and the last ones; all of it whole
 * under `set names full`. With `calls` no loops on the way, and `main > f` for `procedure main > procedure f`.
 */
const char *row_paths_text(struct row_paths *p, struct arena *arena, const char *path, bool calls);
/* Valid until row_paths_deinit. */
const char *row_paths_name(struct row_paths *p, const char *name);

/* Tells whether scope `i` of a path of `count` scopes is shown, left out, or the first one left out, where the dots
 * stand. */
enum row_paths_place { ROW_PATHS_TOLD, ROW_PATHS_LEFT_OUT, ROW_PATHS_DOTS };
enum row_paths_place row_paths_place(const struct row_paths *p, size_t i, size_t count);

#endif
