/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The C library's functions that look at memory alone, for the collector itself: the linker takes these, which no other
 * library sees. A program may have its own by these names, a sanitizer's, which tells of accesses that it takes for
 * unordered, or cannot be called before it knows the thread.
 *
 * The loops hold something that compilers do not see through, or they would make calls of these very functions of them.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define KEEP(x) __asm__ volatile("" : "+r"(x))

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    char *t = to;
    const char *f = from;

    for (; bytes >= 32; bytes -= 32, t += 32, f += 32) {
        __builtin_memcpy(t, f, 32);
        KEEP(bytes);
    }
    for (; bytes >= 8; bytes -= 8, t += 8, f += 8) {
        __builtin_memcpy(t, f, 8);
        KEEP(bytes);
    }
    for (; bytes; bytes--) {
        *t++ = *f++;
        KEEP(bytes);
    }
    return to;
}

void *memmove(void *to, const void *from, size_t bytes)
{
    char *t = to;
    const char *f = from;

    for (size_t i = 0; t < f && i < bytes; i++) {
        t[i] = f[i];
        KEEP(i);
    }
    while (t > f && bytes) {
        bytes--;
        t[bytes] = f[bytes];
        KEEP(bytes);
    }
    return to;
}

void *memset(void *to, int value, size_t bytes)
{
    const uint64_t word = (unsigned char)value * UINT64_C(0x0101010101010101);
    char *t = to;

    for (; bytes >= 32; bytes -= 32, t += 32) {
        __builtin_memcpy(t, (uint64_t[]){word, word, word, word}, 32);
        KEEP(bytes);
    }
    for (; bytes; bytes--) {
        *t++ = (char)value;
        KEEP(bytes);
    }
    return to;
}

int memcmp(const void *one, const void *other, size_t bytes)
{
    const unsigned char *a = one, *b = other;

    for (; bytes; bytes--, a++, b++) {
        if (*a != *b)
            return *a - *b;
        KEEP(bytes);
    }
    return 0;
}

size_t strlen(const char *text)
{
    size_t length = 0;

    while (text[length]) {
        length++;
        KEEP(length);
    }
    return length;
}

char *strcpy(char *restrict to, const char *restrict from)
{
    return memcpy(to, from, strlen(from) + 1);
}

int strncmp(const char *one, const char *other, size_t most)
{
    const unsigned char *a = (const unsigned char *)one, *b = (const unsigned char *)other;

    for (; most; most--, a++, b++) {
        if (*a != *b || !*a)
            return *a - *b;
        KEEP(most);
    }
    return 0;
}

int strcmp(const char *one, const char *other)
{
    return strncmp(one, other, SIZE_MAX);
}

char *strchr(const char *text, int wanted)
{
    for (; *text != (char)wanted; text++) {
        if (!*text)
            return NULL;
        KEEP(text);
    }
    return (char *)text;
}

char *strrchr(const char *text, int wanted)
{
    const char *end = text + strlen(text);

    for (; *end != (char)wanted; end--) {
        if (end == text)
            return NULL;
        KEEP(end);
    }
    return (char *)end;
}

static size_t span(const char *text, const char *set, bool inside)
{
    size_t length = 0;

    while (text[length] && (strchr(set, text[length]) != NULL) == inside) {
        length++;
        KEEP(length);
    }
    return length;
}

size_t strspn(const char *text, const char *set)
{
    return span(text, set, true);
}

size_t strcspn(const char *text, const char *set)
{
    return span(text, set, false);
}

char *strstr(const char *text, const char *wanted)
{
    size_t length = strlen(wanted);

    for (; strncmp(text, wanted, length); text++) {
        if (!*text)
            return NULL;
        KEEP(text);
    }
    return (char *)text;
}
