/* SPDX-License-Identifier: BSD-3-Clause */
/* A binary with all that structure recovery reads of it: code, separate debug information, symbols, frames, linkage
 * table. */
#ifndef HQ_STRUCTURE_IMAGE_H
#define HQ_STRUCTURE_IMAGE_H

#include "structure/debugfile.h"
#include "structure/dwarf/dwarf.h"
#include "structure/frames.h"
#include "structure/gap.h"
#include "structure/plt.h"
#include "structure/source/sources.h"
#include "structure/structure.h"
#include "structure/symbols.h"

struct image {
    struct elf *text;
    struct debug_file files;
    struct dwarf *dwarf; /* NULL without debug information */
    struct symbols symbols;
    struct frames frames;
    struct plt plt;
    struct gaps *gaps;       /* its memory of what was looked at */
    struct sources *sources; /* NULL: not wanted */
    char *problem;           /* NULL, or a clause on what cannot be read */
};

/* Opens the files and reads nothing yet; ended with image_close. `servers`: also asks debuginfod for debug information.
 * "[vdso]", also as linux-vdso.so.1, is the image that the kernel maps into this process. */
struct hq_error *image_open(const char *path, bool servers, struct image *out);
/* Reads symbols, frames, stubs and the list of units. */
void image_read(struct image *image);
/* Reads symbols and frames: what tells procedures of a file whose debug information is not asked. */
void image_read_code(struct image *image);
void image_close(struct image *image);

/* Whether the file has the build-id that the options expect; true if they expect none. */
bool image_is_expected(const struct elf *text, const struct structure_options *options);
/* Returns the error that one of the files was changed while it was read; NULL if none was. */
struct hq_error *image_changed(const struct image *image);
/* One sentence for users, or NULL; to be freed. */
char *image_note(const struct image *image);

#endif
