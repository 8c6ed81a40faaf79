/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/prompt/line_history.h"
#include "common/file.h"
#include "common/mem.h"

char *history_path(void)
{
    const char *own = getenv("HQ_HISTORY");

    if (own)
        return *own && !file_is_other(own) ? xstrdup(own) : NULL;
    AUTO_FREE char *dir = file_state_dir();

    if (!dir)
        return NULL;
    struct hq_error *error = file_make_dirs(dir);

    if (error) {
        hq_error_free(error);
        return NULL;
    }
    AUTO_FREE char *path = file_join(dir, "history");

    return file_is_other(path) ? NULL : MEM_STEAL(path);
}
