/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops that are left at their top and at their end. `if (found) return` at the end of a body is no condition of the
 * loop; behind `do ... while` it is. The code of both has the same form: they differ in where it leads.
 *
 *! build: gcc -O1 | gcc -O2 | gcc -Os | clang -O1 | clang -O2
 *! find: loops search when gcc|-O1
 *! skip: loops until
 *! decode: loops continuations when gcc -O2
 *! climb: loops down when gcc
 *! climb: source only climbing climbing/down when gcc
 *! expand: loops ever when gcc -Os
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

/* The condition of the loop around it is that of the `break`, too: compilers make one loop of the two. */
__attribute__((noinline)) int climb(const struct entry *e, const int *child, int *parent, int *next, int *when, int now)
{
    int n = 0, node = 0, up, at = e[0].at, end = e[0].kind;

    do {
        while (at < end) { /* @down */
            int to = child[at++];
            if (when[to] != now) {
                when[to] = now;
                next[node] = at;
                parent[to] = node;
                node = to;
                at = e[node].at;
                end = e[node].kind;
            }
        }
        if (next[node] < now) {
            next[node] = now;
            n++;
        }
        up = parent[node];
        if (up == -1)
            break;
        node = up;
        at = next[node];
        end = e[node].kind;
    } while (up != -1); /* @climbing */
    return n;
}

int matches(const char *s, int n);

__attribute__((noinline)) const char *expand(const char *s, int n)
{
    for (;;) { /* @ever */
        int res = matches(s, n + 1);
        if (res)
            return s + res;
        else if (*s == '[')
            s++;
        else
            return 0;
    }
}

__attribute__((noinline)) int matches(const char *s, int n)
{
    return s[n] == ']';
}

int main(int argc, char **argv)
{
    struct entry a[4] = {{argc, 2, a + 1}, {3, 4, a + 2}, {3, 5, a + 3}, {3, 6, a}};

    unsigned value = 0;
    int child[4] = {0}, parent[4] = {-1, -1, -1, -1}, next[4] = {0}, when[4] = {0};

    argc += climb(a, child, parent, next, when, argc) + (expand(argv[0], 0) != 0);
    return find(a, 4) + skip(argv[0], argv[0] + 3) + (decode(argv[0], &value) != 0) + (int)value;
}
