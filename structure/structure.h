/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The static structure of one load module: file > procedure > inlined procedures and loops > line.
 *
 * structure_recover() answers for a set of addresses (link-time virtual addresses, as measurements hold
 * them) and reads only what those need. The result is a pure function of the binary, and of its sources where these are
 * at hand as they were when it was built (source/sources.h): the chain of an address does not depend on which other
 * addresses were asked for.
 */
#ifndef HQ_STRUCTURE_STRUCTURE_H
#define HQ_STRUCTURE_STRUCTURE_H

#include "common/err.h"
#include "common/intern.h"
#include "common/vec.h"
#include "format/scope.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STRUCTURE_NONE UINT32_MAX

struct given_module;

/*
 * A scope. Parents come before children in the array. Texts are ids in structure.strings.
 * The chain of a line, innermost first: line, then loops and inlined procedures, procedure, file.
 * (The module is the whole structure and no scope of its own.)
 */
struct structure_scope {
    enum scope_kind kind; /* FILE, PROCEDURE, INLINE, LOOP, LINE */
    uint32_t parent;      /* index, STRUCTURE_NONE for a file */
    uint32_t name;        /* procedure, inline: demangled name, whole; file: path as compiled; else 0 */
    uint32_t linkage;     /* procedure, inline: its name for the linker (_ZN1A1fEv), 0 none known */
    uint32_t file;        /* path: of the definition; of the loop or line itself (may differ from the host's) */
    uint32_t line;        /* 0 unknown */
    uint32_t call_file;   /* inline: where it was inlined */
    uint32_t call_line;
    uint32_t ordinal;     /* loop: number within its procedure, stable for a binary; procedure: how many loops it has
                             after normalisation, 0 none or not known; else 0 */
    uint32_t basis;       /* loop: enum loop_basis; else 0 */
    uint64_t address;     /* procedure: entry; loop: header; else 0. In link-time addresses */
    uint32_t first_alias; /* procedure: further symbol names (linkage names, aliases such as PMPI_Wait) */
    uint32_t alias_count;
};

struct structure_place { /* of one asked address, or piece of code */
    uint32_t raw;        /* LINE scope as the machine code has it */
    uint32_t normal;     /* LINE scope after normalisation ([hpcview], section 3) */
};

struct structure_code { /* [low, high) */
    uint64_t low, high;
};

struct structure {
    struct intern strings;
    VEC(struct structure_scope) scopes;
    VEC(uint32_t) aliases;              /* string ids */
    VEC(struct structure_place) places; /* one per asked address, in the order asked */
    VEC(struct structure_code) code;    /* [place] where it is, ascending, disjoint; only with options.code */
    char *build_id;                     /* of the file, in hex, with options.code; NULL: it has none */
    char *note;  /* NULL, or one sentence on what could not be read (stripped, unreadable debug info, replaced file) */
    bool unread; /* there was no file to read, or another one: addresses stand for all names, and the note says why */
};

struct structure_options {
    const uint8_t *build_id; /* expected, NULL if unknown; a file with another one is not used, and the note says so */
    size_t build_id_len;
    const char *cache_dir; /* NULL: no cache */
    bool inlines, loops;   /* what to recover beyond procedures and lines */
    bool code;             /* structure_whole: say where the places are; no two of them hold the same address then */
    const struct given_module *given; /* structure_recover: structure from outside that comes first (given.h); NULL */
};

/*
 * Recovers the structure around `count` addresses of the binary at `path`. `out` is initialised here and
 * is to be freed with structure_deinit. A binary that is missing, unreadable or replaced is no error:
 * every address then lies in a procedure named after module and address (libfoo.so.1+0x1234), and `note` says why. A
 * path of "[vdso]" is the kernel's image in this process. Code whose source is unknown lies in a file named
 * "<unknown file>"; a LINE scope of line 0 is a statement without a known line, and a loop without a line is told by
 * its address.
 * Thread-safe: different calls may run at once.
 */
struct hq_error *structure_recover(const char *path, const struct structure_options *options, const uint64_t *addresses,
                                   size_t count, struct structure *out);
void structure_deinit(struct structure *s);

/*
 * The whole structure of a binary, every procedure, for `hq structure FILE`. There is one place for every piece of
 * code: code in a row that lies in the same statement. Errors: the file cannot be read.
 */
/* whole.c */
struct hq_error *structure_whole(const char *path, const struct structure_options *options, struct structure *out);

/* Demangles a C++ or Rust symbol, NULL if it is none, or if it stands for more text, or takes longer to read, than any
 * real one: `gave_up` tells. Caller frees. */
char *structure_demangle(const char *symbol); /* demangle.c */
char *structure_demangle_within(const char *symbol, bool *gave_up);

#endif
