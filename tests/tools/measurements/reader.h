/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of tests/tools/measurements.c: a file of the collector, the tables that its segments make, and what is
 * added up over all files.
 */
#ifndef TESTS_TOOLS_MEASUREMENTS_READER_H
#define TESTS_TOOLS_MEASUREMENTS_READER_H

#include "format/measurement.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct column {
    char *data;
    uint32_t count, size;
};

struct lane {
    struct column kind[HQM_KINDS];
};

struct reader {
    char *data;
    size_t size;
    const struct hqm_header *header;
    struct lane *lane; /* 0: what belongs to none */
    uint32_t lanes;
    const struct hqm_module *modules;
    struct elf_names *symbols; /* of each module */
};

extern struct measurements_total {
    uint64_t files, samples, partial, nodes, cells, trace, threads, modules, lanes, bytes, written, created, ended,
        execed, running, signalled, regions, entries, marks, counts, commands, device_ns, readings, clock[HQM_CLOCKS],
        timer_threads, slowed_threads;
    uint64_t sum[16], count[16], reason[HQM_PARTIAL_MAX], loss[HQM_LOSS_MAX];
    char event[16][64];
} measurements_total;

/* Ends the program with a sentence that names the file, if a rule is broken. */
void measurements_check(bool holds, const char *what);

/* segments.c: fills in the lanes. A text by its offset in the file's strings. */
void measurements_read(struct reader *r);
const char *measurements_text(const struct reader *r, uint32_t offset);

/* lanes.c: every rule for what a lane holds, which is added to the totals; with `paths` its cells are printed. */
void measurements_check_lane(struct reader *r, uint32_t number, bool paths);
void measurements_print_node(const struct reader *r, const struct hqm_node *nodes, uint32_t n);

/* devices.c: every rule for commands of devices, and the waits of the host for them. */
void measurements_check_devices(const struct reader *r);

/* elf_names.c: enough for test programs. */
struct elf_names {
    char *data;
    const Elf64_Sym *table[2];
    size_t count[2];
    const char *names[2];
};
void elf_names_open(const char *file, struct elf_names *s); /* without any, if the file cannot be read */
const char *elf_names_at(const struct elf_names *s, uint64_t offset);

#endif
