/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of import_formats[]: each pair is one file of this directory, which documents what it takes from its format. */
#ifndef HQ_DB_IMPORT_FORMATS_H
#define HQ_DB_IMPORT_FORMATS_H

#include "db/import/import.h"

bool folded_sniff(const struct import_probe *p);
struct hq_error *folded_read(struct import *im, const char *path);
bool hpctoolkit_sniff(const struct import_probe *p);
struct hq_error *hpctoolkit_read(struct import *im, const char *path);
bool perf_sniff(const struct import_probe *p);
struct hq_error *perf_read(struct import *im, const char *path);
bool pprof_sniff(const struct import_probe *p);
struct hq_error *pprof_read(struct import *im, const char *path);
bool speedscope_sniff(const struct import_probe *p);
struct hq_error *speedscope_read(struct import *im, const char *path);
bool chrome_sniff(const struct import_probe *p);
struct hq_error *chrome_read(struct import *im, const char *path);
bool callgrind_sniff(const struct import_probe *p);
struct hq_error *callgrind_read(struct import *im, const char *path);
bool gperftools_sniff(const struct import_probe *p);
struct hq_error *gperftools_read(struct import *im, const char *path);

/* ---- for sniffers ---- */

/* The next line of the probe from *at on, false at the end; a last line that may be cut off is none. */
bool probe_line(const struct import_probe *p, size_t *at, const char **line, size_t *len);

#endif
