/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/history.h"
#include "common/mem.h"
#include <string.h>
#include <sys/stat.h>

/* mkdir -p of the directories above `path`; those made here belong to the user alone. */
static bool make_parents(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        struct stat st;

        *slash = '\0';
        bool there = !mkdir(path, 0700) || (!stat(path, &st) && S_ISDIR(st.st_mode));

        *slash = '/';
        if (!there)
            return false;
    }
    return true;
}

char *history_path(void)
{
    const char *own = getenv("HQ_HISTORY");
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");

    if (own)
        return *own ? xstrdup(own) : NULL;
    /* The XDG rules say that a relative path is to be ignored. */
    char *path = state && *state == '/' ? xasprintf("%s/hq/history", state)
               : home && *home == '/'   ? xasprintf("%s/.local/state/hq/history", home)
                                        : NULL;

    if (path && !make_parents(path)) {
        free(path);
        return NULL;
    }
    return path;
}
