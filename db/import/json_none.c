/* SPDX-License-Identifier: BSD-3-Clause */
/* In the place of json_yajl.c where the build found no yajl. */
#include "db/import/json.h"

struct hq_error *json_walk(const char *path, bool open_array, const struct json_handler *handler, void *arg)
{
    (void)open_array;
    (void)handler;
    (void)arg;
    return hq_error_new(HQ_USAGE,
                        "%s: this hq was built without yajl, so it reads no JSON; install it (package "
                        "libyajl-dev) and build hq again",
                        path);
}
