/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a database file section by section. It appears in one step when writer_commit is reached: whoever reads
 * meanwhile sees the old file or the new one. After a failed write the rest is ignored; writer_commit reports it.
 */
#ifndef HQ_DB_MODEL_WRITER_H
#define HQ_DB_MODEL_WRITER_H

#include "common/err.h"
#include "format/database.h"
#include <stddef.h>
#include <stdint.h>

struct writer;

/* Errors: HQ_DATA, nothing can be written at `path`; *out is NULL then. */
struct hq_error *writer_open(const char *path, struct writer **out);

/* A whole section. */
void writer_section(struct writer *w, uint32_t tag, uint32_t index, size_t record_size, const void *data, size_t count);

/* A section in pieces; one at a time. The count is its bytes / record_size. */
void writer_begin(struct writer *w, uint32_t tag, uint32_t index, size_t record_size);
void writer_append(struct writer *w, const void *data, size_t bytes);
void writer_end(struct writer *w);

/* Finishes the file, puts it in place, and ends the writer, also on error. */
struct hq_error *writer_commit(struct writer *w, uint64_t sources_key, uint64_t files_key);
/* Removes the temporary file and ends the writer; NULL is allowed. */
void writer_abandon(struct writer *w);

/* The checksum of a section (format/database.h, rule 4). */
uint64_t section_checksum(const void *data, size_t bytes);

#endif
