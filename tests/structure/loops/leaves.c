/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops that are left at their top and at their end. `if (found) return` at the end of a body is no condition of the
 * loop; behind `do ... while` it is. The code of both has the same form: they differ in where it leads.
 *
 *! build: gcc -O1 | gcc -O2 | gcc -Os | clang -O1 | clang -O2
 *! find: loops search when gcc|-O1
 *! skip: loops until
 *! decode: loops continuations when gcc -O2
 */
struct entry {
    int kind, at;
    struct entry *next;
};

__attribute__((noinline)) int find(struct entry *e, int n)
{
    while (n-- > 0) { /* @search */
        struct entry *one = &e[n];
        if (one->kind != 3)
            return one->at + 1;
    }
    return 0;
}

__attribute__((noinline)) int skip(const char *p, const char *end)
{
    int n = 0;

    do {
        if (p == end)
            break;
        n += *p++ == '%';
    } while (*p != ']'); /* @until */
    return n;
}

/* The first continuation of the code leaves at its top, the condition of the loop at its end. */
__attribute__((noinline)) const char *decode(const char *s, unsigned *value)
{
    unsigned c = (unsigned char)s[0], result = 0;
    int count = 0;

    for (; c & 0x40; c <<= 1) { /* @continuations */
        unsigned next = (unsigned char)s[++count];
        if ((next & 0xC0) != 0x80)
            return 0;
        result = result << 6 | (next & 0x3F);
    }
    *value = result | (c & 0x7F) << (count * 5);
    return s + count + 1;
}

int main(int argc, char **argv)
{
    struct entry a[4] = {{argc, 2, a + 1}, {3, 4, a + 2}, {3, 5, a + 3}, {3, 6, a}};

    unsigned value = 0;

    return find(a, 4) + skip(argv[0], argv[0] + 3) + (decode(argv[0], &value) != 0) + (int)value;
}
