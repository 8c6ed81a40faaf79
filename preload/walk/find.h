/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which load module holds an address, asked in a signal handler. glibc answers that without a lock from 2.35 on
 * (_dl_find_object). Before, the kernel's list of mappings does (loose.h): the program headers of a file stand where it
 * begins in memory. So one collector serves both; it asks the loader where it can.
 */
#ifndef HQ_PRELOAD_WALK_FIND_H
#define HQ_PRELOAD_WALK_FIND_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct object {
    uint64_t base, start, end; /* link address 0 is at base; mapped range */
    const uint8_t *eh_frame_hdr;
    const struct link_map *map; /* NULL: the loader was not asked */
};

/* Once, before any other; not in signal handlers. */
void find_prepare(void);

/* Does the loader answer? Else a question may take a reading of the kernel's list, and answers are worth keeping. */
bool find_is_quick(void);

/* False if the address is in no module. Safe in signal handlers. */
bool find_object(uint64_t address, struct object *object);

/*
 * Likewise, where other threads may unload the module meanwhile: only where it begins and ends is told, for the
 * loader's record of it, and its memory, can go away at any instant. Where the loader answers alone.
 */
bool find_extent(uint64_t address, struct object *object);

/* From what dl_iterate_phdr gives. False if nothing of it is loaded. */
bool find_object_of(const struct dl_phdr_info *info, struct object *object);

/* The loader's name of the module, or the file's; in `path` where it must be put somewhere. */
const char *find_name(const struct object *object, char *path, size_t room);

#endif
