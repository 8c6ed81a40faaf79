/* SPDX-License-Identifier: BSD-3-Clause */
/* The structure cache: same answers with it as without, whatever lies in it, and with several writers at once. */
#include "tests/unit/test.h"
#include "common/kept.h"
#include "common/file.h"
#include "structure/cache.h"
#include "structure/structure.h"
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT 2000

/* Addresses in this program's code, different ones for every `lot`. */
static void pick(uint64_t *addresses, unsigned lot)
{
    uint64_t start = (uint64_t)(uintptr_t)structure_recover;
    struct link_map *map;
    Dl_info info;

    if (dladdr1((void *)structure_recover, &info, (void **)&map, RTLD_DL_LINKMAP))
        start -= map->l_addr;
    for (unsigned i = 0; i < COUNT; i++)
        addresses[i] = start + (uint64_t)i * 37 + lot * 5003;
}

static void add_chain(struct str *out, const struct structure *s, uint32_t at)
{
    for (; at != STRUCTURE_NONE; at = s->scopes.data[at].parent) {
        const struct structure_scope *c = &s->scopes.data[at];

        str_addf(out, "%d %s (%s) %s:%u %s:%u #%u %llx", c->kind, intern_str(&s->strings, c->name),
                 intern_str(&s->strings, c->linkage), intern_str(&s->strings, c->file), c->line,
                 intern_str(&s->strings, c->call_file), c->call_line, c->ordinal, (unsigned long long)c->address);
        for (uint32_t i = 0; i < c->alias_count; i++)
            str_addf(out, " =%s", intern_str(&s->strings, s->aliases.data[c->first_alias + i]));
        str_addc(out, '|');
    }
    str_addc(out, '\n');
}

/* Everything that recovery says of the addresses in this program or a copy of it, as text. */
static char *recover_file(const char *path, const char *cache, unsigned lot)
{
    struct structure_options options = {.inlines = true, .loops = true, .cache_dir = cache};
    uint64_t addresses[COUNT];
    struct structure s;
    struct str out = {0};

    pick(addresses, lot);
    hq_error_free(structure_recover(path, &options, addresses, COUNT, &s));
    for (size_t i = 0; i < s.places.len; i++) {
        add_chain(&out, &s, s.places.data[i].raw);
        add_chain(&out, &s, s.places.data[i].normal);
    }
    if (s.note)
        str_add(&out, s.note);
    structure_deinit(&s);
    return str_steal(&out);
}

static char *recover(const char *cache, unsigned lot)
{
    return recover_file("/proc/self/exe", cache, lot);
}

static void check_same(const char *cache, unsigned lot)
{
    AUTO_FREE char *with = recover(cache, lot), *without = recover(NULL, lot);

    CHECK(strlen(without) > COUNT);
    CHECK(!strcmp(with, without));
}

/* The only file of the cache that holds structure. */
static char *cache_file(const char *cache)
{
    AUTO_FREE char *directory = file_join(cache, "structure");
    DIR *d = opendir(directory);
    char *found = NULL;

    for (struct dirent *e; d && (e = readdir(d));) {
        size_t len = strlen(e->d_name);

        if (len < 4 || strcmp(e->d_name + len - 4, ".hqs"))
            continue;
        CHECK(!found);
        free(found);
        found = file_join(directory, e->d_name);
    }
    if (d)
        closedir(d);
    return found;
}

TEST(answers_are_the_same_with_a_cache)
{
    AUTO_FREE char *cache = test_tmpdir();

    check_same(cache, 0);
    check_same(cache, 0);
    check_same(cache, 1);
    check_same(cache, 0);
    check_same(cache, 1);
    CHECK_OK(file_remove_tree(cache));
}

TEST(a_damaged_file_is_as_good_as_none)
{
    AUTO_FREE char *cache = test_tmpdir();

    free(recover(cache, 0));
    AUTO_FREE char *path = cache_file(cache);
    CHECK_OR_RETURN(path);
    for (int round = 0; round < 12; round++) {
        FILE *f = fopen(path, "r+");

        CHECK_OR_RETURN(f);
        fseek(f, 0, SEEK_END);
        long size = ftell(f);
        if (round % 3 == 0)
            CHECK(!ftruncate(fileno(f), size * round / 12));
        else
            fseek(f, (size - 1) * round / 12, SEEK_SET), fputc(round * 37 + 255, f);
        fclose(f);
        check_same(cache, 0);
    }
    CHECK_OK(file_remove_tree(cache));
}

TEST(several_writers_do_not_harm_each_other)
{
    AUTO_FREE char *cache = test_tmpdir();
    int status;

    fflush(NULL);
    for (unsigned i = 0; i < 8; i++)
        if (!fork()) {
            AUTO_FREE char *with = recover(cache, i % 4), *without = recover(NULL, i % 4);

            _exit(!!strcmp(with, without));
        }
    for (int i = 0; i < 8; i++)
        CHECK(wait(&status) > 0 && WIFEXITED(status) && !WEXITSTATUS(status));
    for (unsigned lot = 0; lot < 4; lot++)
        check_same(cache, lot);
    CHECK_OK(file_remove_tree(cache));
}

TEST(a_binary_without_build_id_is_known_by_its_file)
{
    AUTO_FREE char *cache = test_tmpdir(), *copy = file_join(cache, "copy");
    AUTO_FREE char *command = xasprintf("objcopy -R .note.gnu.build-id /proc/%d/exe %s", (int)getpid(), copy);
    AUTO_FREE char *strip = xasprintf("strip %s", copy);

    CHECK_OR_RETURN(!system(command));
    AUTO_FREE char *first = recover_file(copy, cache, 0), *file = cache_file(cache);
    CHECK(file && strstr(file, "file-"));
    AUTO_FREE char *again = recover_file(copy, cache, 0);
    CHECK(!strcmp(first, again));
    /* Another file in its place has another structure. */
    CHECK_OR_RETURN(!system(strip));
    AUTO_FREE char *stripped = recover_file(copy, NULL, 0), *cached = recover_file(copy, cache, 0);
    CHECK(strcmp(stripped, first));
    CHECK(!strcmp(stripped, cached));
    CHECK_OK(file_remove_tree(cache));
}

static char *old_file(const char *directory, const char *name, int days)
{
    static const char zeros[100000];
    char *path = file_join(directory, name);
    struct timespec then = {.tv_sec = time(NULL) - days * 86400}, times[2] = {then, then};
    FILE *f = fopen(path, "w");

    if (f)
        CHECK(fwrite(zeros, 1, sizeof zeros, f) == sizeof zeros && !fclose(f));
    CHECK(!utimensat(AT_FDCWD, path, times, 0));
    return path;
}

TEST(what_was_used_longest_ago_is_removed_where_files_are_too_many)
{
    AUTO_FREE char *directory = test_tmpdir();
    char *paths[10];

    for (int i = 0; i < 10; i++) {
        AUTO_FREE char *name = xasprintf("%d.hqs", i);

        paths[i] = old_file(directory, name, i + 2);
    }
    AUTO_FREE char *other = old_file(directory, "lock", 400), *dead = old_file(directory, "x.hqs.tmp.1.0", 400);
    AUTO_FREE char *alive = old_file(directory, "y.hqs.tmp.1.0", 0);
    /* What is used again is young again. */
    kept_note_use(paths[9]);
    kept_trim(directory, ".hqs", 2000000);
    CHECK(file_exists(paths[8]));
    CHECK(!file_exists(dead) && file_exists(alive) && file_exists(other));
    kept_trim(directory, ".hqs", 600000);
    CHECK(file_exists(paths[9]) && file_exists(paths[0]) && file_exists(paths[1]));
    CHECK(!file_exists(paths[8]) && !file_exists(paths[7]) && !file_exists(paths[6]) && !file_exists(paths[5]));
    for (int i = 0; i < 10; i++)
        free(paths[i]);
    CHECK_OK(file_remove_tree(directory));
}

TEST(a_cache_that_cannot_be_written_is_no_error)
{
    check_same("/proc/no/such/directory", 0);
}

TEST_MAIN
