/* SPDX-License-Identifier: BSD-3-Clause */
/* `hq cache`: what the user's cache holds. */
#include "common/file.h"
#include "common/suggest.h"
#include "common/kept.h"
#include "common/mem.h"
#include "common/units.h"
#include "repl/command.h"
#include <time.h>

static const struct opt options[] = {{.name = "clear", .help = "remove all of it; what is needed again is made again"},
                                     {0}};

static struct hq_error *show(const char *cache, const struct kept_part *part)
{
    struct kept_sum s;
    char size[UNITS_TEXT], day[32] = "";
    struct tm tm;

    HQ_TRY(kept_look(cache, part, &s));
    time_t oldest = (time_t)s.oldest;
    if (s.files && localtime_r(&oldest, &tm))
        strftime(day, sizeof day, ", used since %Y-%m-%d", &tm);
    printf("%-10s  %5zu file%s  %10s  %s%s\n", part->directory, s.files, s.files == 1 ? " " : "s",
           units_format(size, (double)s.bytes, DIM_BYTES), part->what, day);
    return NULL;
}

static int run(const struct opt_args *args)
{
    AUTO_FREE char *cache = file_cache_dir();
    char most[UNITS_TEXT], size[UNITS_TEXT];
    uint64_t cleared = 0;
    struct hq_error *err = NULL;

    if (args->operands.len)
        return command_usage("cache",
                             suggest_lists(" clear clean rm remove delete ", args->operands.data[0])
                                 ? "%s is too much: --clear removes what is kept"
                                 : "%s is too much: it takes no operands",
                             args->operands.data[0]);
    if (!cache)
        return command_fail("cache",
                            hq_error_new(HQ_DATA, "there is no cache: neither XDG_CACHE_HOME nor HOME is set"));
    if (opt_flag(args, "clear", false)) {
        for (const struct kept_part *p = kept_parts; p->directory && !err; p++)
            err = kept_clear(cache, p, &cleared);
        printf("%s of %s removed\n", units_format(size, (double)cleared, DIM_BYTES), cache);
        return err ? command_fail("cache", err) : HQ_OK;
    }
    printf("%s, at most %s (HQ_CACHE_MAX)\n", cache, units_format(most, (double)kept_most(), DIM_BYTES));
    for (const struct kept_part *p = kept_parts; p->directory && !err; p++)
        err = show(cache, p);
    return err ? command_fail("cache", err) : HQ_OK;
}

const struct command cmd_cache = {
    .cmd =
        {
            .name = "cache",
            .usage = "[--clear]",
            .summary = "what is kept to be faster the next time, or remove it",
            .description = "hq keeps the structure of binaries, what it imported for `hq FILE QUERY`, and databases of "
                           "recordings in directories that cannot be written to, in $XDG_CACHE_HOME/hq (~/.cache/hq). "
                           "When it is more than HQ_CACHE_MAX (4GiB), what was used longest ago is removed.",
            .examples = "  hq cache\n  hq cache --clear\n  HQ_CACHE_MAX=500MB hq big.perf.txt procedures\n",
            .options = options,
        },
    .run = run,
};
