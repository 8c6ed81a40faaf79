/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Other tools' data as a database. A format is one file of db/import/ and one row of its formats.def; files are told
 * apart by looking at them. doc/import.md says what is taken from each format and what is left blank.
 *
 * Files that may be compressed by gzip are read either way. Bad input gives HQ_DATA and one sentence with the place in
 * the file; then nothing is written.
 */
#ifndef HQ_DB_IMPORT_IMPORT_H
#define HQ_DB_IMPORT_IMPORT_H

#include "common/err.h"
#include "db/build/build.h"
#include <stdbool.h>
#include <stddef.h>

struct import;

/* The beginning of a file, uncompressed, for the sniffers. */
struct import_probe {
    const char *path;
    bool is_dir;      /* then there is no text */
    const char *text; /* ends with NUL, which is not part of it */
    size_t len;
    bool whole;  /* the text is the whole file */
    bool binary; /* there is a NUL among the text */
};

struct import_format {
    const char *name; /* what `hq import FORMAT` takes */
    const char *summary;
    bool (*sniff)(const struct import_probe *p);
    struct hq_error *(*read)(struct import *im, const char *path);
};

extern const struct import_format import_formats[]; /* ends with a NULL name */

/* NULL if there is none of this name (in any case). */
const struct import_format *import_find(const char *name);

struct import_file {
    const char *path;                   /* - is standard input: needs a format */
    const struct import_format *format; /* NULL: by looking */
};

/*
 * Reads all files into one database: `output` is a directory, in which hq.db is written, or the file itself if
 * it ends in .db. Of several formats the trees are aligned by the names of procedures: see target.h.
 * HQ_USAGE if the directory holds measurements, or is something else.
 */
struct hq_error *import_files(const struct import_file *files, size_t count, const char *output);

/*
 * Opens whatever a user may name: a database or measurement directory as db_prepare does, and any other tool's file
 * or directory by importing it into the user's cache, unless that was done before and the file has not changed since.
 */
struct hq_error *import_prepare(const char *path, const struct build_options *options,
                                struct db **out); /* import_prepare.c */

#endif
