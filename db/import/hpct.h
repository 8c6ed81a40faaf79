/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading HPCToolkit databases, version 4: meta.db, profile.db and trace.db (doc/FORMATS.md of that project, whose
 * words are used here). cct.db holds the same values as profile.db in another order, and is only looked at to see that
 * it belongs to it.
 *
 * The document's rules for readers: structures that may grow are stepped over by the sizes that the file gives; a
 * greater minor version is read as far as it is known, another major version is refused; unknown values of enumerations
 * get a fallback. Offsets and counts are not believed.
 */
#ifndef HQ_DB_IMPORT_HPCT_H
#define HQ_DB_IMPORT_HPCT_H

#include "common/cursor.h"
#include "common/file.h"
#include "common/map.h"
#include "common/vec.h"
#include "db/import/target.h"

struct hpct_file {
    struct file_map map;
};

enum hpct_relation { HPCT_ENCLOSED, HPCT_CALLED, HPCT_INLINED };
enum hpct_lexical { HPCT_FUNCTION, HPCT_LOOP, HPCT_LINE, HPCT_INSTRUCTION, HPCT_UNKNOWN_LEXICAL };

struct hpct_function {
    const char *name, *module, *file;
    uint32_t line;
    uint64_t offset;
};

/* A context, or an entry point; parents come before children. Node 0 is the global context. */
struct hpct_node {
    uint32_t id, parent;
    uint8_t relation, lexical; /* known values only */
    bool is_entry;
    uint16_t entry;    /* its kind: 0 unknown, 1 main thread, 2 application thread */
    const char *name;  /* entry: human-readable */
    uint64_t function; /* offset of the specification + 1; 0 none */
    const char *file;  /* NULL none */
    uint32_t line;
    const char *module; /* NULL none */
    uint64_t offset;
    uint32_t ordinal; /* loop: number within its procedure */
    uint16_t propagation;
    uint32_t depth, scopes; /* contexts above it: all; without a call in between */
};

/*
 * The contexts over which the values of a metric are summed: none (point), all below (execution), or those below that
 * are linked by contexts whose bit of `propagation` is set.
 */
struct hpct_metric {
    const char *name;
    uint16_t id;          /* of the propagated values that are taken */
    uint16_t propagation; /* mask; execution: all bits, point: none */
    bool propagates_always;
};

struct hpct {
    struct import *im;
    struct hpct_file meta, profile, trace;
    const char *title;
    VEC(const char *) kinds; /* names of identifier kinds */
    VEC(struct hpct_metric) metrics;
    VEC(struct hpct_metric) sums; /* the same in summary profiles: sums over the threads */
    VEC(struct hpct_node) nodes;
    VEC(struct hpct_function) functions;
    struct map function_at;   /* offset -> index in functions */
    struct map node_of;       /* context's id -> node */
    uint32_t *frames;         /* [nodes] frame + 1 once it is known */
    VEC(uint32_t) profiles;   /* index in profile.db -> profile; HQDB_NONE for summaries */
    VEC(uint32_t) metric_ids; /* of the import; HQDB_NONE for a metric without values */
    VEC(double) scales;
    uint32_t traced;          /* the metric of the trace */
    uint64_t trace_unit;      /* base units of that metric that a weight of 1 is */
    bool traced_seconds;      /* it is a time */
    struct map node_numbers;  /* identifier of a node -> its number */
    int64_t *traced_totals;   /* [profiles of the import] of the metric that the traces show, in base units */
    uint32_t valued_contexts; /* of the summary profile, which comes first */
};

/* hpctoolkit.c: a cursor over the whole file, at the header of section n (from 0), which has at least `bytes` bytes. */
struct hq_error *hpct_section(const struct hpct_file *f, unsigned n, const char *name, size_t bytes,
                              struct cursor *out);
/* hpctoolkit.c: a cursor at an offset of the file; section is for its errors. */
struct cursor hpct_at(const struct hpct_file *f, const char *section, uint64_t offset);
/* hpctoolkit.c: the text at an offset; the cursor becomes bad if there is none. NULL for offset 0. */
const char *hpct_text(struct cursor *c, uint64_t offset);

/* hpct_meta.c: title, kinds, metrics. hpct_tree.c: nodes and functions. */
struct hq_error *hpct_read_meta(struct hpct *h);
struct hq_error *hpct_read_tree(struct hpct *h);
const struct hpct_function *hpct_function_of(const struct hpct *h, const struct hpct_node *n);

/* hpct_frames.c: the frame whose raw values are those of the node itself. */
uint32_t hpct_frame(struct hpct *h, uint32_t node);
/* The outermost frame above a node that has one. */
uint32_t hpct_outermost(struct hpct *h, uint32_t node);
void hpct_number_loops(struct hpct *h);

/* hpct_values.c: profiles and their values; hpct_trace.c */
struct hq_error *hpct_read_profiles(struct hpct *h);
struct hq_error *hpct_read_trace(struct hpct *h);
/* The median distance of two samples of the trace; 0 if there are none. */

#endif
