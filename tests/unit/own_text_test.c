/* SPDX-License-Identifier: BSD-3-Clause */
/* The collector's own memcpy and its like beside the C library's, on short texts of few letters at random. */
#include "tests/unit/test.h"

#include <string.h>

#define OWN(type, name, ...) static type own_##name(__VA_ARGS__);
OWN(void *, memcpy, void *restrict, const void *restrict, size_t)
OWN(void *, memmove, void *, const void *, size_t)
OWN(void *, memset, void *, int, size_t)
OWN(int, memcmp, const void *, const void *, size_t)
OWN(size_t, strlen, const char *)
OWN(char *, strcpy, char *restrict, const char *restrict)
OWN(int, strncmp, const char *, const char *, size_t)
OWN(int, strcmp, const char *, const char *)
OWN(char *, strchr, const char *, int)
OWN(char *, strrchr, const char *, int)
OWN(size_t, strspn, const char *, const char *)
OWN(size_t, strcspn, const char *, const char *)
OWN(char *, strstr, const char *, const char *)

/* clang-format off */
#define memcpy own_memcpy
#define memmove own_memmove
#define memset own_memset
#define memcmp own_memcmp
#define strlen own_strlen
#define strcpy own_strcpy
#define strncmp own_strncmp
#define strcmp own_strcmp
#define strchr own_strchr
#define strrchr own_strrchr
#define strspn own_strspn
#define strcspn own_strcspn
#define strstr own_strstr
#include "preload/own_text.c"
#undef memcpy
#undef memmove
#undef memset
#undef memcmp
#undef strlen
#undef strcpy
#undef strncmp
#undef strcmp
#undef strchr
#undef strrchr
#undef strspn
#undef strcspn
#undef strstr
/* clang-format on */

static uint64_t state = 1;

static unsigned below(unsigned limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % limit;
}

/* Of three letters, one of which is no ASCII. */
static void text_at_random(char *text, unsigned most)
{
    unsigned length = below(most + 1);

    for (unsigned i = 0; i < length; i++)
        text[i] = "ab\xf5"[below(3)];
    text[length] = 0;
}

static int sign(int value)
{
    return (value > 0) - (value < 0);
}

TEST(texts)
{
    for (int round = 0; round < 20000; round++) {
        char a[32], b[32], set[4], own[32], libc[32];
        size_t most = below(32);

        text_at_random(a, 20);
        text_at_random(b, below(2) ? 20 : 2);
        text_at_random(set, 3);
        CHECK(own_strlen(a) == strlen(a));
        CHECK(sign(own_strcmp(a, b)) == sign(strcmp(a, b)));
        CHECK(sign(own_strncmp(a, b, most)) == sign(strncmp(a, b, most)));
        CHECK(own_strstr(a, b) == strstr(a, b));
        CHECK(own_strspn(a, set) == strspn(a, set) && own_strcspn(a, set) == strcspn(a, set));
        for (int letter = -11; letter < 0x62; letter += 11) /* the end and \xf5 are among them */
            CHECK(own_strchr(a, letter) == strchr(a, letter) && own_strrchr(a, letter) == strrchr(a, letter));
        CHECK(own_strcpy(own, a) == own && !strcmp(own, strcpy(libc, a)));
    }
}

TEST(memory)
{
    for (int round = 0; round < 20000; round++) {
        char own[64], libc[64];
        size_t bytes = below(30), to = below(30), from = below(30);

        for (size_t i = 0; i < sizeof own; i++)
            own[i] = libc[i] = (char)below(3);
        CHECK(sign(own_memcmp(own + to, own + from, bytes)) == sign(memcmp(own + to, own + from, bytes)));
        CHECK(own_memmove(own + to, own + from, bytes) == own + to);
        memmove(libc + to, libc + from, bytes);
        CHECK(memcmp(own, libc, sizeof own) == 0);
        if (to + bytes <= from || from + bytes <= to) {
            CHECK(own_memcpy(own + to, own + from, bytes) == own + to);
            memcpy(libc + to, libc + from, bytes);
        }
        CHECK(own_memset(own + from, (int)to - 3, bytes) == own + from);
        memset(libc + from, (int)to - 3, bytes);
        CHECK(memcmp(own, libc, sizeof own) == 0);
    }
}

TEST_MAIN
