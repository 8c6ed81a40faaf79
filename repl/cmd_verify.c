/* SPDX-License-Identifier: BSD-3-Clause */
/* `hq verify`: is a database whole? */
#include "repl/command.h"

#include "common/log.h"
#include "common/progress.h"
#include "db/db.h"
#include "db/facts.h"

#include <stdio.h>

static const struct opt options[] = {{.name = "quiet", .help = "say only what is wrong; no progress"}, {0}};

static struct hq_error *verify(const char *path, bool quiet)
{
    struct db *db;
    struct hq_error *err;

    struct progress progress;

    HQ_TRY(db_open(path, &db));
    progress_start(&progress, "verifying", 0, false);
    err = db_verify(db);
    progress_finish(&progress);
    if (!err && facts_damaged(db))
        err = hq_error_new(HQ_DATA,
                           "%s is whole, but the measurements that it was made of are damaged: `hq %s info` "
                           "says which",
                           db->path, path);
    if (!err && !quiet)
        printf("%s: whole; %zu profile%s, %zu contexts, %zu metric%s\n", db->path, db->profile_count,
               db->profile_count == 1 ? "" : "s", db->context_count, db->metric_count,
               db->metric_count == 1 ? "" : "s");
    db_close(db);
    return err;
}

static int run(const struct opt_args *args)
{
    bool quiet = opt_flag(args, "quiet", false);
    int status = HQ_OK;

    log_set_level(quiet ? LEVEL_QUIET : LEVEL_NORMAL);
    if (!args->operands.len)
        return command_usage("verify", "name a database");
    for (size_t i = 0; i < args->operands.len; i++)
        status = exit_worse(status, command_fail("verify", verify(args->operands.data[i], quiet)));
    return status;
}

const struct command cmd_verify = {
    .cmd =
        {
            .name = "verify",
            .usage = "DB...",
            .summary = "check every checksum and number of a database",
            .description = "Opening a database checks only its header, so that it costs the same for any size; "
                           "questions read no more than they need and never "
                           "crash on damage. This command reads all of it: the checksum of every section, every index, "
                           "and that the values of the "
                           "profiles add up to the sums. Exit status 3 if something is wrong.",
            .options = options,
        },
    .run = run,
};
