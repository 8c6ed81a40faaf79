/* SPDX-License-Identifier: BSD-3-Clause */
/* The runs of each side of a set as one database (runs.h). */
#include "common/file.h"
#include "common/mem.h"
#include "db/build/build.h"
#include "repl/gate/runs.h"

static struct hq_error *join_side(const struct run_set *set, enum run_side side)
{
    AUTO_FREE char *joined = run_set_joined(set->directory, side), *written = NULL;
    VEC(const char *) inputs = {0};
    struct build_options options = {.output = joined, .force = true};

    vec_foreach(r, &set->runs)
        if (r->side == side)
            vec_push(&inputs, r->path);
    struct hq_error *error = inputs.len ? db_build(inputs.data, inputs.len, &options, &written) : NULL;

    vec_deinit(&inputs);
    return error;
}

struct hq_error *run_set_join(const struct run_set *set)
{
    HQ_TRY(join_side(set, RUN_OLD));
    return join_side(set, RUN_NEW);
}
