/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 64-bit hashes for tables, identities and checksums. The results are stored on disk, so they never change: the same
 * bytes give the same value on every machine and in every version. Not a defence against somebody who makes collisions
 * on purpose.
 *
 * hash_u64 is the finaliser of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA
 * 2014, with Stafford's constants "mix 13"). hash_bytes folds 64 x 64 -> 128 bit products of 16 bytes a step; the
 * constants are odd numbers from the binary expansions of the golden ratio and of the square roots of 2 and 3. Usable
 * in signal handlers: no memory, no state.
 */
#ifndef HQ_COMMON_HASH_H
#define HQ_COMMON_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_K0 0x9e3779b97f4a7c15ull
#define HASH_K1 0x6a09e667f3bcc909ull
#define HASH_K2 0xbb67ae8584caa73bull

/* A bijection. */
static inline uint64_t hash_u64(uint64_t x)
{
    x += HASH_K0;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

/* The hash of a sequence: h = hash_combine(h, next). Order matters. */
static inline uint64_t hash_combine(uint64_t h, uint64_t next)
{
    return hash_u64(h * HASH_K2 + hash_u64(next));
}

static inline uint64_t hash_load_(const unsigned char *p)
{
    uint64_t x;

    memcpy(&x, p, sizeof x);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    return x;
}

/* The old state is added back, so that an unlucky zero factor does not forget what came before. */
static inline uint64_t hash_step_(uint64_t h, uint64_t a, uint64_t b)
{
    unsigned __int128 m = (unsigned __int128)(a ^ HASH_K1) * (b ^ h);

    return ((h << 23) | (h >> 41)) + ((uint64_t)m ^ (uint64_t)(m >> 64));
}

/* Hash or checksum of n bytes. data may be NULL if n is 0. */
static inline uint64_t hash_bytes(const void *data, size_t n, uint64_t seed)
{
    const unsigned char *p = data;
    uint64_t h = hash_u64(seed ^ HASH_K2);
    uint64_t g = ~h;
    unsigned char tail[16] = {0};
    size_t left = n;

    /* Two chains, because the multiplications of one wait for each other. */
    for (; left >= 32; left -= 32, p += 32) {
        h = hash_step_(h, hash_load_(p), hash_load_(p + 8));
        g = hash_step_(g, hash_load_(p + 16), hash_load_(p + 24));
    }
    h += hash_u64(g);
    for (; left >= 16; left -= 16, p += 16)
        h = hash_step_(h, hash_load_(p), hash_load_(p + 8));
    if (left) {
        memcpy(tail, p, left);
        h = hash_step_(h, hash_load_(tail), hash_load_(tail + 8));
    }
    return hash_combine(h, n);
}

/* Returns the hash of a string without its NUL; equal to hash_bytes(s, strlen(s), 0). */
static inline uint64_t hash_str(const char *s)
{
    return hash_bytes(s, strlen(s), 0);
}

#endif
