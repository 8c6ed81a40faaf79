/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A load module's file, laid out in our memory as the loader lays it out in a process: so the rooms that read a
 * process's own memory (unwind/) read the file. Where it has no search table for its call frame information (static
 * programs) one is made, of .eh_frame and of .debug_frame (Go).
 */
#ifndef HQ_DB_PERF_IMAGE_H
#define HQ_DB_PERF_IMAGE_H

#include "common/vec.h"
#include "unwind/cfi.h"

struct perf_text { /* an executable segment, in our memory */
    uint64_t start, end;
};

struct perf_load { /* where bytes of the file are: to find the distance between addresses and link addresses */
    uint64_t offset, bytes, address;
    bool text; /* executable */
};

struct perf_image {
    struct code code; /* start: what stands for `low` */
    struct index index;
    uint64_t low, entry;            /* link addresses: the lowest, page aligned; where the program begins */
    uint64_t main;                  /* of the procedure main, by its symbol; 0: not known */
    VEC(struct perf_text) switches; /* link addresses of procedures that go on on another stack: Go's */
    VEC(struct perf_text) texts;
    VEC(struct perf_load) loads;
    uint64_t span, reserved; /* bytes of memory at code.start: of the segments, and all */
};

/* NULL if there is no such file, it is no x86-64 ELF file, or (unless its length is 0) its build-id is another. */
struct perf_image *perf_image_open(const char *path, const uint8_t *build_id, size_t build_id_len);
void perf_image_close(struct perf_image *image);

/* Returns the difference between addresses in an executable mapping of the file and link addresses: an address minus
 * this is a link address. A page of the file that holds the end of one segment and the beginning of the next (lld) is
 * the executable one's there. */
uint64_t perf_image_bias(const struct perf_image *image, uint64_t start, uint64_t offset);

/* Where in the file a link address is; itself if it is in no segment. */
uint64_t perf_image_file_offset(const struct perf_image *image, uint64_t address);

/* A link address in our memory, and back. */
static inline uint64_t perf_image_here(const struct perf_image *image, uint64_t address)
{
    return image->code.start + (address - image->low);
}

/* Is it in an executable segment? `here`: an address in our memory. */
static inline const struct perf_text *perf_image_text(const struct perf_image *image, uint64_t here)
{
    vec_foreach(t, &image->texts)
        if (here >= t->start && here < t->end)
            return t;
    return NULL;
}

#endif
