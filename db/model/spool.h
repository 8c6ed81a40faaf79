/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes that are kept for later: in memory while they are few, then in an unnamed temporary file. */
#ifndef HQ_DB_MODEL_SPOOL_H
#define HQ_DB_MODEL_SPOOL_H

#include "common/err.h"
#include "db/coded.h"

struct spool {
    const char *directory; /* not owned; of the temporary file */
    struct bytes buffer;   /* private: not yet in the file */
    int fd;                /* private: -1 while all is in memory */
    uint64_t bytes;        /* appended so far */
    void *map;             /* private */
};

void spool_init(struct spool *s, const char *directory);
void spool_deinit(struct spool *s);
/* Copies the bytes. HQ_DATA: no room in the directory. */
struct hq_error *spool_append(struct spool *s, const void *data, size_t bytes);
/* All bytes in one piece, until the next append or the end. */
struct hq_error *spool_read(struct spool *s, const uint8_t **out);

/* `bytes` of them from `at` on, without mapping the whole; nothing is appended afterwards. */
struct hq_error *spool_copy(struct spool *s, uint64_t at, void *out, size_t bytes);

#endif
