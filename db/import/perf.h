/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lines of `perf script`. A sample is a header, its frames innermost first, and an empty line:
 *
 *     lulesh 4711/4712 [001] 12345.678901:     250000 cpu-clock:u:
 *             55d0c2a41b3e CalcForce+0x1e (/home/u/lulesh)
 *       lulesh.cc:1044
 *
 * Without call chains it is one line, the frame behind the event. Fields that were not asked for (-F) may be missing;
 * those that hq has no use for (addresses of data, flags, registers, what tracepoints print) stand behind the event or
 * in lines of their own behind the frames.
 */
#ifndef HQ_DB_IMPORT_PERF_H
#define HQ_DB_IMPORT_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_header {
    const char *command;
    size_t command_len;
    bool has_ids;
    uint32_t pid, tid; /* pid: 0 if only the thread is printed, as perf does by itself */
    double time;       /* seconds; negative: not there */
    uint64_t period;
    bool has_period;
    const char *event;
    size_t event_len; /* NULL: not there */
    const char *rest; /* what stands behind all this */
};

struct perf_frame {
    uint64_t address;
    const char *name;
    size_t name_len; /* without +0xoffset */
    const char *module;
    size_t module_len;
    bool inlined;
};

/* False if the line is not what it should be. */
bool perf_parse_header(const char *line, struct perf_header *out); /* perf_lines.c */
bool perf_parse_frame(const char *line, struct perf_frame *out);
/* Was a part of the line lost? `modules`: other frames of the file name theirs. */
bool perf_frame_torn(const struct perf_frame *frame, bool modules);
/* Parses the text behind the event: the frame at its end, if there is one. */
bool perf_parse_last_frame(const char *text, struct perf_frame *out);
/* FILE:LINE, as -F +srcline prints it below a frame. */
bool perf_parse_source(const char *line, const char **file, size_t *file_len, uint32_t *number);

#endif
