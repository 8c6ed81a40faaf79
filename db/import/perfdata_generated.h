/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of code that lies in no file, as just-in-time compilers tell them in /tmp/perf-PID.map, for a perf.data: it
 * keeps none of them. /tmp belongs to everybody, and numbers of processes are used again, so a map is believed if it is
 * a regular file that belongs to the owner of the perf.data (or to root), and was last written while that was recorded.
 */
#ifndef HQ_DB_IMPORT_PERFDATA_GENERATED_H
#define HQ_DB_IMPORT_PERFDATA_GENERATED_H

#include "db/perf_map.h"

enum perfdata_map { PERFDATA_MAP_NONE, PERFDATA_MAP_OTHER, PERFDATA_MAP_UNREAD, PERFDATA_MAP_READ };

/*
 * The names that the map of a process has for these addresses, which are sorted, each there once. `path` is the
 * perf.data, `span_ns` the time between its first and last sample. Returns PERFDATA_MAP_OTHER for a map that is not
 * believed. `out` holds no names then, and is ended with perf_map_deinit in any case.
 */
enum perfdata_map perfdata_generated(const char *path, uint64_t span_ns, uint32_t pid, const uint64_t *addresses,
                                     size_t count, struct perf_map *out);

#endif
