/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of formats.def: each pair is one file of this directory, which says what it takes from its format.
 * sniff: does the file look like this format? It may look at the path and the beginning of the text. read: fills the
 * model (target.h).
 */
#ifndef HQ_DB_IMPORT_FORMATS_H
#define HQ_DB_IMPORT_FORMATS_H

#include "db/import/import.h"

#define FORMAT(format, ...) \
    bool format##_sniff(const struct import_probe *p); \
    struct hq_error *format##_read(struct import *im, const char *path);
#include "db/import/formats.def"
#undef FORMAT

/* ---- for sniffers ---- */

/* The next line of the probe from *at on, false at the end; a last line that may be cut off is none. */
bool probe_line(const struct import_probe *p, size_t *at, const char **line, size_t *len); /* import.c */

#endif
