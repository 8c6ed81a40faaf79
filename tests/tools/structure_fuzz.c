/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * structure_fuzz COUNT SEED FILE...: recovers the structure of COUNT damaged copies of the files: truncated, with bits
 * flipped, with numbers replaced by extreme ones, mostly where headers and debug information are. A crash, a sanitizer
 * report or more than 10 s of CPU for one copy fails, and the copy is kept as structure-fuzz-NUMBER in the current
 * directory. Of BINARY.dwp, a package of split debug information, copies are damaged and found beside the binary.
 */
#include "common/file.h"
#include "common/mem.h"
#include "structure/structure.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define BATCH 200 /* copies in one process: a crash costs only the rest of its batch */

/* libdwarf loses a few bytes when it gives up on a damaged file. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libdwarf";
}

static uint64_t state;

static uint64_t next_random(void)
{
    uint64_t x = state += 0x9e3779b97f4a7c15ull;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

static size_t below(size_t n)
{
    return n ? next_random() % n : 0;
}

/* A random section of those that are read, or a header table. */
static void pick_target(const uint8_t *data, size_t size, size_t *start, size_t *len)
{
    Elf64_Ehdr h;
    Elf64_Shdr s;

    memcpy(&h, data, sizeof h);
    *start = 0;
    *len = size;
    size_t choice = below(16);
    if (choice == 0)
        *len = sizeof h;
    else if (choice == 1)
        *start = h.e_shoff, *len = h.e_shnum * sizeof s;
    else if (choice == 2)
        *start = h.e_phoff, *len = h.e_phnum * sizeof(Elf64_Phdr);
    else if (choice < 15 && h.e_shnum) {
        memcpy(&s, data + h.e_shoff + below(h.e_shnum) * sizeof s, sizeof s);
        if (s.sh_type != SHT_NOBITS && s.sh_size)
            *start = s.sh_offset, *len = s.sh_size;
    }
}

static void damage(uint8_t *data, size_t size)
{
    static const uint64_t extremes[] = {
        0, 1, 0x7f, 0x80, 0xff, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffffffffff0, UINT64_MAX};
    static const size_t widths[] = {1, 2, 4, 8};
    size_t start, len;

    pick_target(data, size, &start, &len);
    for (size_t n = 1 + below(8); n > 0; n--) {
        size_t at = start + below(len);

        if (below(2)) {
            data[at] ^= (uint8_t)(1u << below(8));
        } else {
            uint64_t value = extremes[below(10)];
            size_t width = widths[below(4)];

            memcpy(data + at, &value, width <= size - at ? width : size - at);
        }
    }
}

/* The damaged copy as a file in memory. */
static int make_copy(const struct file_map *map, uint64_t seed)
{
    int fd = memfd_create("mutant", MFD_CLOEXEC);
    uint8_t *data = malloc(map->size);

    state = seed;
    memcpy(data, map->data, map->size);
    size_t size = below(4) ? map->size : below(map->size);
    if (size == map->size || below(2))
        damage(data, map->size);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        exit(3);
    free(data);
    return fd;
}

/* Where recovery is to look: the copy itself, or for a package a name of the binary that the copy lies beside. */
static void name_copy(const struct file_map *map, int fd, char *path, size_t size)
{
    size_t len = strlen(map->path);

    snprintf(path, size, "/proc/self/fd/%d", fd);
    if (len < 4 || strcmp(map->path + len - 4, ".dwp"))
        return;
    AUTO_FREE char *binary = xstrndup(map->path, len - 4);
    unlink("fuzzed");
    unlink("fuzzed.dwp");
    if (symlink(binary, "fuzzed") || symlink(path, "fuzzed.dwp"))
        exit(3);
    snprintf(path, size, "fuzzed");
}

static void try_one(const struct file_map *map, uint64_t seed)
{
    struct structure_options options = {.inlines = true, .loops = true};
    int fd = make_copy(map, seed);
    uint64_t addresses[16];
    struct structure s;
    char path[64];

    name_copy(map, fd, path, sizeof path);
    for (int i = 0; i < 16; i++)
        addresses[i] = i % 2 ? below(0x10000) : next_random();
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value = {.tv_sec = 10}}, NULL);
    hq_error_free(structure_recover(path, &options, addresses, 16, &s));
    structure_deinit(&s);
    struct hq_error *err = structure_whole(path, &options, &s);
    if (!err)
        structure_deinit(&s);
    hq_error_free(err);
    close(fd);
}

static void keep(const struct file_map *map, uint64_t seed, uint64_t number)
{
    char name[64], buffer[65536];
    int from = make_copy(map, seed), to;
    ssize_t n;

    snprintf(name, sizeof name, "structure-fuzz-%llu", (unsigned long long)number);
    to = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    lseek(from, 0, SEEK_SET);
    while (to >= 0 && (n = read(from, buffer, sizeof buffer)) > 0)
        if (write(to, buffer, (size_t)n) != n)
            break;
    close(from);
    close(to);
    fprintf(stderr, "copy %llu of %s fails; kept as %s\n", (unsigned long long)number, map->path, name);
}

/* Runs copies from `first` on in a child; returns how many were tried, and *failed if the last one failed. */
static uint64_t run_batch(const struct file_map *maps, size_t files, uint64_t seed, uint64_t first, uint64_t count,
                          bool *failed)
{
    uint64_t *progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = 0;

    *progress = 0;
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        for (uint64_t i = 0; i < count; i++) {
            *progress = i;
            try_one(&maps[(first + i) % files], seed + first + i);
        }
        exit(0);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    uint64_t at = *progress;
    munmap(progress, sizeof *progress);
    *failed = !WIFEXITED(status) || WEXITSTATUS(status);
    if (*failed)
        keep(&maps[(first + at) % files], seed + first + at, first + at);
    return *failed ? at + 1 : count;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    uint64_t count = strtoull(argv[1], NULL, 10), seed = strtoull(argv[2], NULL, 10) * 1000003, failures = 0;
    size_t files = (size_t)argc - 3;
    struct file_map maps[64];

    if (files > 64)
        return 2;
    for (size_t i = 0; i < files; i++) {
        AUTO_ERROR struct hq_error *err = file_map_open(argv[3 + i], &maps[i]);

        if (err) {
            fprintf(stderr, "%s\n", err->message);
            return 3;
        }
    }
    for (uint64_t i = 0; i < count && failures < 20;) {
        bool failed;

        i += run_batch(maps, files, seed, i, count - i < BATCH ? count - i : BATCH, &failed);
        failures += failed;
    }
    for (size_t i = 0; i < files; i++)
        file_map_close(&maps[i]);
    printf("%llu of %llu damaged files failed\n", (unsigned long long)failures, (unsigned long long)count);
    return failures != 0;
}
