/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that are part of the program: EMBED(name, path) defines `struct embedded name(void)`, the bytes of the file as
 * the compiler found it, from the directory where the build runs. The object has to be made anew if the file changes:
 * that stands in the Makefile.
 */
#ifndef HQ_COMMON_EMBED_H
#define HQ_COMMON_EMBED_H

#include <stddef.h>

struct embedded {
    const char *data;
    size_t bytes;
};

#define EMBED(name, path) \
    __asm__(".section .rodata\n" #name "_begin:\n.incbin \"" path "\"\n" #name "_end:\n.previous\n"); \
    extern const char name##_begin[], name##_end[]; \
    struct embedded name(void) \
    { \
        return (struct embedded){name##_begin, (size_t)(name##_end - name##_begin)}; \
    }

#endif
