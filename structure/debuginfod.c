/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/debuginfod.h"
#include "common/log.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

/* The declarations of elfutils/debuginfod.h, so that its development package is not needed to build. */
typedef struct debuginfod_client client;
typedef client *begin_fn(void);
typedef int find_fn(client *, const unsigned char *build_id, int size, char **path);
typedef void end_fn(client *);

static char *ask(void *library, const uint8_t *build_id, size_t size)
{
    begin_fn *begin = (begin_fn *)dlsym(library, "debuginfod_begin");
    find_fn *find = (find_fn *)dlsym(library, "debuginfod_find_debuginfo");
    end_fn *end = (end_fn *)dlsym(library, "debuginfod_end");
    char *path = NULL;
    client *c = begin && find && end ? begin() : NULL;

    if (!c)
        return NULL;
    int fd = find(c, build_id, (int)size, &path);
    if (fd >= 0)
        close(fd);
    end(c);
    return path;
}

char *debuginfod_find(const uint8_t *build_id, size_t size)
{
    const char *urls = getenv("DEBUGINFOD_URLS");

    if (!urls || !*urls || !size || size > 64)
        return NULL;
    void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        log_hint("DEBUGINFOD_URLS is set, but libdebuginfod.so.1 (package libdebuginfod1) is not installed");
        return NULL;
    }
    char *path = ask(library, build_id, size);
    dlclose(library);
    return path;
}
