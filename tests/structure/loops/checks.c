/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What does not return is no end of a loop: checks in it, as assert() is, are none of its conditions. A loop whose
 * first line leads there is left in vain (`search`), and so is one of a procedure that does not return.
 *
 *! build: gcc -O1 | gcc -O2 | gcc -O3 | clang -O2
 *! append: loops copied
 *! probe: loops probing when gcc|-O1
 *! probe: source loops slot when gcc|-O1
 *! forever: loops served
 *! search: loops found when gcc|-O2
 */
#include <stdlib.h>
#include <string.h>

struct buffer {
    char *data;
    unsigned long size, room;
};

static inline unsigned long checked(long n)
{
    if (n < 0)
        abort();
    return (unsigned long)n;
}

__attribute__((noinline)) void append(struct buffer *b, const char *from, const char *end)
{
    while (from != end) { /* @copied */
        unsigned long count = checked(end - from);
        if (b->size + count > b->room)
            count = b->room - b->size;
        memcpy(b->data + b->size, from, count);
        b->size += count;
        from += count;
    }
}

__attribute__((noinline)) int probe(const int *slots, unsigned mask, int key)
{
    unsigned at = (unsigned)key & mask, step = 0;

    while (1) {              /* @slot */
        int one = slots[at]; /* @probing */
        if (one == key)
            return (int)at;
        if (one < 0)
            return -1;
        at = (at + ++step) & mask;
        if (step > mask)
            abort();
    }
}

__attribute__((noinline)) void forever(volatile int *n)
{
    while (*n < 1000) /* @served */
        *n = *n + 1;
    exit(*n == 1000 ? 0 : 1);
}

__attribute__((noinline)) int search(const int *slots, int n, int key)
{
    for (int i = 0; i < n; i++) /* @found */
        if (slots[i] == key)
            return i;
    abort();
}

int main(int argc, char **argv)
{
    static int slots[8] = {8, 1, 2, 3, -1, -1, -1, -1};
    static char to[100];
    struct buffer b = {to, 0, sizeof to};
    volatile int n = argc;

    append(&b, argv[0], argv[0] + 1);
    if (probe(slots, 7, argc) + search(slots, 8, argc) < 0)
        return 1;
    forever(&n);
}
