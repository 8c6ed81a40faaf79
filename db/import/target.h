/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The target that an importer fills: the model, with the parts that all importers share.
 *
 * Places. A place is where code stands: its procedure, what is inlined and which loops are around, and the line.
 * import_place gives it a number; import_path makes the frame at the end of a call path of such numbers, outermost
 * first. In it the frames of the C runtime above `main` are left out, and those that start a thread become a THREAD
 * root, as in a database of our own measurements, so that databases of different tools can be compared.
 *
 * Alignment. When the files of one database have different formats (by_name), a procedure is its name alone, without
 * arguments: module and file are those of the first file that knows it, lines and loops are left out and inlined
 * procedures count as called, because what only one of the tools knows would split every path in two.
 */
#ifndef HQ_DB_IMPORT_TARGET_H
#define HQ_DB_IMPORT_TARGET_H

#include "common/err.h"
#include "common/intern.h"
#include "common/map.h"
#include "common/vec.h"
#include "db/import/import.h"
#include "db/runtimes.h"
#include "db/model/model.h"
#include "format/measurement.h"

struct import_sum {
    int64_t sum;
    uint64_t count;
};
struct import_metric_row {
    char *event;
    const struct import_format *format;
    uint16_t dimension;
    double scale;
    uint32_t id;
};
struct import_codes {
    uint32_t first, count;
    uint8_t role;
};

struct import {
    struct model *model;
    const struct import_format *format;
    const char *path;        /* of the file being read */
    size_t file, file_count; /* which one it is */
    bool by_name;
    struct intern names; /* scratch for importers: texts by number, over all files */
    /* private from here */
    struct keymap sum_keys; /* profile, metric, frame */
    VEC(struct import_sum) sums;
    struct map procedures; /* by_name: name -> scope + 1 */
    VEC(uint32_t) codes;
    VEC(struct import_codes) places;
    struct keymap place_keys; /* code and role of places with one code */
    VEC(uint32_t) place_of_key;
    VEC(struct import_metric_row) metrics;
    VEC(struct model_profile) profiles;
    VEC(uint32_t) depths;                 /* [frame] */
    VEC(uint64_t) magnitudes;             /* [metric] the sum of its values without their signs */
    VEC(uint64_t) counts;                 /* [metric] of its samples */
    uint64_t records;                     /* of traces */
    VEC(const struct runtime *) runtimes; /* [module] NULL: none */
    VEC(uint8_t) inside;                  /* [frame] enum inside */
    char *problem;
};

/*
 * Returns a sentence, without the place in the file, about what went beyond a limit (limits.h) or does not fit; NULL if
 * nothing did. Nothing is added from then on, so an importer may ask after as many samples as it likes; it adds the
 * place to the message.
 */
static inline const char *import_problem(const struct import *im)
{
    return im->problem;
}

/* One scope of a place, outermost first: SCOPE_PROCEDURE, then SCOPE_INLINE and SCOPE_LOOP in any order. */
struct import_step {
    enum scope_kind kind;
    const char *name;    /* procedures and inlined ones */
    const char *linkage; /* what the linker calls these, NULL unknown; and the symbol's other names, NULL-terminated */
    const char *const *aliases;
    const char *file;    /* of the definition; of the loop itself. NULL unknown */
    uint32_t line;       /* 0 unknown */
    const char *at_file; /* inline: where it was inlined */
    uint32_t at_line;
    uint32_t ordinal; /* loop */
    uint32_t basis;   /* loop: enum loop_basis */
};

struct import_place {
    const char *module; /* NULL unknown */
    uint64_t offset;    /* in the module; 0 unknown */
    const struct import_step *steps;
    size_t count;
    const char *file; /* of the statement; NULL unknown */
    uint32_t line;
};

/* Whether a procedure is one of those at the top of a call path that are not shown, or main itself. */
bool import_is_main(const char *name);
bool import_is_runtime(const char *name);    /* _start, __libc_start_main ... */
bool import_starts_thread(const char *name); /* clone, start_thread ... */

void import_init(struct import *im);
void import_deinit(struct import *im);

/* The number of a place, for import_path and import_frame; one that comes again has the same. */
uint32_t import_place(struct import *im, const struct import_place *place);
/* A procedure of which only the name is known, and perhaps the module. */
uint32_t import_named(struct import *im, const char *name, const char *module);

/* The frame of a place called from `parent` (HQDB_NONE: at the top). */
uint32_t import_frame(struct import *im, uint32_t parent, uint32_t place);
/* Turns a path that is innermost first around. */
void import_reverse(uint32_t *places, size_t count);
/* The frame of a whole path; HQDB_NONE if it is empty. */
uint32_t import_path(struct import *im, const uint32_t *places, size_t count);

/* A metric; the same event of another format, or in another unit, gets a name of its own. Numbers as in hqdb_metric. */
uint32_t import_metric(struct import *im, const char *event, const char *description, enum hqm_dimension dimension,
                       unsigned flags, uint64_t period, double scale);
/* A profile without rank and host; command may be NULL. What else is known can be set until import_finish. */
uint32_t import_profile(struct import *im, uint32_t pid, uint32_t tid, uint32_t thread, const char *command);
struct model_profile *import_profile_at(struct import *im, uint32_t profile);
/* A text that lives as long as the import. */
const char *import_keep(struct import *im, const char *text);
/* A trace record, which also makes the profile last until then. Times that go back are taken as the one before. */
void import_trace(struct import *im, uint32_t profile, uint64_t time_us, uint32_t frame, uint32_t metric,
                  uint32_t weight);
/* Adds; any number of times for the same frame. All values of a metric together must fit into 63 bits. */
void import_value(struct import *im, uint32_t profile, uint32_t metric, uint32_t frame, int64_t sum, uint64_t count);
/* "key: text" among the facts of `info`, once however often it is said. */
void import_fact(struct import *im, const char *key, const char *text);

/* Hands profiles and sums over to the model. */
void import_finish(struct import *im);

/* The scale, a power of ten, with which `total` keeps as many digits as fit; 1 if all values are whole. */
double import_scale(double total, bool whole);

#endif
