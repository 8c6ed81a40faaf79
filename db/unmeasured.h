/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that ran without the collector, as the processes that started them have noted (HOST.unmeasured beside the
 * measurements). */
#ifndef HQ_DB_UNMEASURED_H
#define HQ_DB_UNMEASURED_H

#include <stddef.h>
#include <stdint.h>

struct unmeasured {
    char *text;
    uint64_t times;
}; /* "PATH (REASON)" */
struct unmeasured_list {
    struct unmeasured *data;
    size_t len, cap;
};

/* Those of a directory of measurements, each once, the most frequent first; none where there is no directory. On an
 * error the list is what was read before. */
struct hq_error *unmeasured_read(const char *measurements, struct unmeasured_list *out);
void unmeasured_deinit(struct unmeasured_list *list);

#endif
