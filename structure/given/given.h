/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Structure that is given from outside: files in the form that `hq structure --xml` writes (doc/structure-file.md),
 * for load modules whose structure a binary does not show, or does not show any more.
 *
 * A file has up to two trees of scopes for each load module: the normalised one, and below RAW that of the machine
 * code; where there is one it stands for both. A scope with addresses holds these; one without holds the lines that it
 * names, which the binary's line table maps. What the file does not tell is taken from the binary.
 *
 * Read once, then read-only: any number of threads may ask at once.
 */
#ifndef HQ_STRUCTURE_GIVEN_GIVEN_H
#define HQ_STRUCTURE_GIVEN_GIVEN_H

#include "common/intern.h"
#include "format/known.h"
#include "structure/known.h"
#include "structure/structure.h"

#define GIVEN_NONE UINT32_MAX

struct given_range {
    uint64_t low, high; /* [low, high) */
};

/* A scope of a file. Parents come before children; groups are none of them. */
struct given_scope {
    struct structure_scope of; /* texts are ids of the file's strings, aliases of its aliases; line: b, or l */
    uint32_t last_line;        /* of loops, statements and procedures: e; 0 none */
    uint32_t first_line;       /* b */
    uint32_t first_child, last_child, next; /* GIVEN_NONE */
    uint32_t first_range, ranges;           /* of the tree's; ranges 0: no addresses */
    unsigned long at;                       /* line of the file */
};

struct given_span { /* code and the innermost scope whose addresses it has */
    uint64_t low, high;
    uint32_t scope;
};

struct given_tree {
    VEC(struct given_scope) scopes;
    VEC(struct given_range) ranges;
    VEC(struct given_span) spans; /* ascending, disjoint */
};

enum { GIVEN_NORMAL, GIVEN_RAW, GIVEN_TREES };

struct given_module {
    char *path; /* the load module's name, as the file gives it */
    uint8_t build_id[64];
    size_t build_id_len; /* 0: none */
    char *note;          /* NULL, or what `structure.note` is to say, without the path */
    struct given_tree trees[GIVEN_TREES];
    bool has[GIVEN_TREES];
    struct known known; /* KNOWN_NOT: the file does not tell */
    const struct given_file *file;
    unsigned long at;
};

struct given_file {
    char *path;
    struct intern strings;
    VEC(uint32_t) aliases;
    VEC(struct given_module *) modules;
};

/* A group of a file: its parts in the query language (`"name", files of "x.c"`), and the line of its first G. */
struct given_group {
    char *name, *parts;
    const char *file;
    unsigned long at;
};

struct given {
    VEC(struct given_file *) files;
    VEC(struct given_group) groups;
    bool by_name;
};

/*
 * Reads structure files. `by_name`: a load module that has no build-id in a file, or another one, is taken by its name
 * (path, or its last component); else one without build-id is an error. Errors name file and line.
 */
struct hq_error *given_open(const char *const *paths, size_t count, bool by_name, struct given **out);
void given_close(struct given *g);
static inline void given_close_at(struct given **g)
{
    given_close(*g);
}

/* Returns the description of a load module of a recording in the given files; NULL if there is none. It belongs to
 * `g`. */
const struct given_module *given_find(const struct given *g, const char *path, const uint8_t *build_id, size_t len);

/* structure_recover() for a given load module; `options` are for what is taken from the binary. */
struct hq_error *given_recover(const struct given_module *m, const char *path, const struct structure_options *options,
                               const uint64_t *addresses, size_t count, struct structure *out); /* given_answer.c */

/* ---- private to the room: given_read.c ---- */

/* Adds what a file says; its path is set. */
struct hq_error *given_read(struct given *g, struct given_file *file);

/* ---- given_spans.c ---- */

/* Makes tree->spans. An error where addresses of scopes that do not lie in each other overlap, or a scope has some that
 * what it lies in has not. */
struct hq_error *given_spans(const char *path, struct given_tree *tree);
/* The innermost scope at an address, GIVEN_NONE. */
uint32_t given_at(const struct given_tree *tree, uint64_t address);

#endif
