/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for the buckets of unwind/index.h, had in signal handlers. */
#include "preload/raw.h"
#include "unwind/index.h"

void *index_memory(size_t bytes)
{
    return raw_memory(bytes);
}

void index_give_back(void *memory, size_t bytes)
{
    raw_munmap(memory, bytes);
}
