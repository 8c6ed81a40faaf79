/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stream that is plain or compressed by gzip (RFC 1952), of one member or several. Unlike zlib's gzread, what stands
 * behind a member and is none is told: a damaged second member is no end of the file.
 */
#ifndef HQ_DB_IMPORT_GUNZIP_H
#define HQ_DB_IMPORT_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

enum gunzip_state { GUNZIP_OK, GUNZIP_UNREADABLE, GUNZIP_CUT, GUNZIP_DAMAGED, GUNZIP_NO_MEMBER };

struct gunzip {
    uint64_t taken; /* bytes of the file that were used so far */
    uint64_t given; /* bytes of its contents */
    int fd;         /* private, as all below; owned */
    z_stream z;
    unsigned char *buffer;
    uint64_t read;
    bool begun, packed, inside, ended;
};

/* Takes the descriptor, also if it fails, for want of memory. Ends with gunzip_close. */
bool gunzip_open(struct gunzip *g, int fd);
void gunzip_close(struct gunzip *g);

/* Up to n bytes; *got is 0 at the end and on errors. GUNZIP_UNREADABLE leaves errno. */
enum gunzip_state gunzip_read(struct gunzip *g, void *data, size_t n, size_t *got);

#endif
