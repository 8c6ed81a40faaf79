/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells what a load module (modules.h) is: what its image in memory says of itself, and which file it is of. Safe in
 * signal handlers, by several threads at once: no locks, and memory that is kept is heap.h's.
 */
#ifndef HQ_PRELOAD_WALK_MODULE_FILE_H
#define HQ_PRELOAD_WALK_MODULE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module;

/* From the program headers at `start`: executable segments and build-id. They are in memory when the first segment
 * holds the start of the file, as linkers lay it out; else nothing is filled in. */
void module_read_headers(struct module *module);

/*
 * From the program headers of a file that begins at `image`, whose link address 0 is at `base`: range, texts and
 * build-id. For one that the loader is still about to open and tells nobody of. False: no file begins there.
 */
bool module_of_image(uint64_t image, uint64_t base, struct module *out);

/* The absolute path of the file that the loader knows as `name`: it knows the program by an empty name, and files that
 * were opened by a relative path by that. Kept for ever; NULL: no memory. While another thread is about it, it is
 * `name` as it is. */
const char *module_path(const struct module *module, const char *name);

/* In a forked child: what other threads were about is not done here. */
void module_path_forget(void);

/* The size of the file at `path`, and when it was changed; nothing, if it is not there. */
void module_read_status(struct module *module);

/*
 * The length of the program's path, which is not ended by a NUL; 0 if it cannot be had. Where the loader itself was
 * run, with the program as its argument (as bundled programs do), the kernel knows only the loader; the C library has
 * the argument.
 */
long module_program_path(char *path, size_t bytes);

#endif
