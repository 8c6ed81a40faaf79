/* SPDX-License-Identifier: BSD-3-Clause */
/* Recognises files that no importer reads, and advises what to do with them. */
#ifndef HQ_DB_IMPORT_MISTAKES_H
#define HQ_DB_IMPORT_MISTAKES_H

#include "db/import/import.h"

/* HQ_DATA about what is known of the file; NULL if nothing is. */
struct hq_error *mistake_of(const struct import_probe *p);

#endif
