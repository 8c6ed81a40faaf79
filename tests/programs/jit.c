/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * jit: code written at run time, with frame pointers and without unwind information: below main three of its frames,
 * then work() of this program for 0.3 s; then a loop in such code for as long. With an argument it tells the names of
 * all this in /tmp/perf-PID.map, as just-in-time compilers do: "names"; "old": in a file that was written long ago;
 * "link": behind a symbolic link; "foreign": in a file of another user (root can); "odd": among much that makes no
 * sense. "copy": no code is written, but a page of the program's own file mapped once more and run for 0.3 s.
 */
#include "burn.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef void function(void *argument, void *second);

/*
 * push %rbp; mov %rsp,%rbp; push %rbx; push %rbx; mov %rdi,%rax; mov (%rsi),%rdi; add $8,%rsi; call *%rax; pop %rbx;
 * pop %rbx; pop %rbp; ret: calls its first argument with the first word of the list that is its second, and the rest of
 * the list.
 */
static const unsigned char forward[] = {
    0x55, 0x48, 0x89, 0xe5, 0x53, 0x53, 0x48, 0x89, 0xf8, 0x48, 0x8b,
    0x3e, 0x48, 0x83, 0xc6, 0x08, 0xff, 0xd0, 0x5b, 0x5b, 0x5d, 0xc3,
};
/* push %rbp; mov %rsp,%rbp; 1: dec %rdi; jne 1b; pop %rbp; ret */
static const unsigned char countdown[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3};

static __attribute__((noinline, noipa)) void work(void *unused, void *list)
{
    (void)unused, (void)list;
    burn(0.3);
    __asm__ volatile("");
}

/* Written before it runs, with what lay there before. */
static void tell_names(const char *mode, uintptr_t code)
{
    char path[64], real[80];

    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    snprintf(real, sizeof real, "%s.real", path);
    FILE *map = fopen(strcmp(mode, "link") ? path : real, "w");
    if (!map)
        return;
    if (!strcmp(mode, "odd")) {
        fputs("\n \n0\nzz 10 x\n0 ffffffffffffffff everything\nffffffffffffffff ffffffffffffffff end\n10 0 "
              "nothing\n1234567890abcdef0 8 long\n",
              map);
        for (int i = 0; i < 100000; i++)
            fputc('a', map);
        fputc('\n', map);
    }
    fprintf(map, "%" PRIxPTR " 3000 py::before:/src/before.py\n", code);
    fprintf(map, "%" PRIxPTR " 40 JS:*outer /src/app.js:3:14\n%" PRIxPTR " 40 py::Inner.call:/src/inner.py\n", code,
            code + 64);
    fprintf(map, "%" PRIxPTR " 20 int Plain::name(int)\n", code + 2 * 4096);
    fprintf(map, "0x%" PRIxPTR " 0xb count\033[31mdown\n%" PRIxPTR " 3000 not finished", code + 128, code);
    fclose(map);
    if (!strcmp(mode, "old") &&
        utimensat(AT_FDCWD, path, (struct timespec[]){{.tv_sec = 1000000000}, {.tv_sec = 1000000000}}, 0))
        perror(path);
    if (!strcmp(mode, "link") && symlink(real, path))
        perror(path);
    if (!strcmp(mode, "foreign") && chown(path, 65534, 65534))
        perror(path);
}

/* Of no use of any other place, so that it runs at each. */
static __attribute__((noinline, noipa, aligned(4096))) void copied(unsigned long rounds)
{
    while (rounds-- > 0)
        __asm__ volatile("");
}

static int run_copy(void)
{
    uintptr_t start = 0, end = 0, at = (uintptr_t)copied;
    unsigned long offset = 0;
    char line[4200];
    FILE *maps = fopen("/proc/self/maps", "r");
    int fd = open("/proc/self/exe", O_RDONLY);

    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %lx", &start, &end, &offset) == 3 && at >= start && at < end)
            break;
    if (!maps || fd < 0 || at < start || at >= end)
        return 1;
    fclose(maps);
    void *copy = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (off_t)(offset + (at - start)));
    close(fd);
    if (copy == MAP_FAILED)
        return 1;
    double until = thread_seconds() + 0.3;
    while (thread_seconds() < until)
        ((void (*)(unsigned long))copy)(1000000);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "copy"))
        return run_copy();
    char *code = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    /* forward three times, on two pages, and then work */
    memcpy(code, forward, sizeof forward);
    memcpy(code + 64, forward, sizeof forward);
    memcpy(code + 2 * 4096, forward, sizeof forward);
    memcpy(code + 128, countdown, sizeof countdown);
    if (mprotect(code, 3 * 4096, PROT_READ | PROT_EXEC))
        return 1;
    if (argc > 1)
        tell_names(argv[1], (uintptr_t)code);
    void *list[] = {code + 2 * 4096, (void *)work, NULL, NULL};
    ((function *)code)(code + 64, list);
    double end = thread_seconds() + 0.3;
    while (thread_seconds() < end)
        ((void (*)(unsigned long))(code + 128))(1000000);
    return 0;
}
