/* SPDX-License-Identifier: BSD-3-Clause */
/* Compression: of ELF sections, and of data that hq packs itself. */
#ifndef HQ_STRUCTURE_UNPACK_H
#define HQ_STRUCTURE_UNPACK_H

#include <stddef.h>
#include <stdint.h>

enum unpack_method { UNPACK_ZLIB, UNPACK_ZSTD, UNPACK_XZ };

/*
 * Returns the unpacked data, exactly `size` bytes in memory of their own, to be freed with unpack_free; NULL if the
 * data is damaged or `size` is more than the method could have packed into `packed_size` bytes. Memory that the data
 * does not fill is never touched.
 */
uint8_t *unpack(enum unpack_method method, const uint8_t *packed, size_t packed_size, uint64_t size);
/* Like unpack, for a whole .xz file, which holds its unpacked size itself: sets *size. */
uint8_t *unpack_xz(const uint8_t *packed, size_t packed_size, size_t *size);
/* Packs data as one zstd frame, to be freed with free(); NULL if that fails. */
uint8_t *pack(const void *data, size_t size, size_t *packed_size);
void unpack_free(uint8_t *data, size_t size);

#endif
