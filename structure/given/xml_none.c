/* SPDX-License-Identifier: BSD-3-Clause */
/* In the place of xml_expat.c where the build found no expat. */
#include "structure/given/xml.h"

struct hq_error *xml_read(const char *path, const struct xml_handler *handler, void *arg)
{
    (void)handler;
    (void)arg;
    return hq_error_new(HQ_USAGE,
                        "%s: this hq was built without expat, so it reads no structure files; install it (package "
                        "libexpat1-dev) and build hq again",
                        path);
}
