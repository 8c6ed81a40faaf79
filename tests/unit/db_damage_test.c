/* SPDX-License-Identifier: BSD-3-Clause */
/* Damaged databases: every changed byte of a section is found by `hq verify`, and nothing of it crashes a reader. */
#include "common/file.h"
#include "common/mem.h"
#include "db/db.h"
#include "tests/unit/db_walk.h"
#include "tests/unit/mutate.h"
#include "tests/unit/test.h"
#include <sys/mman.h>

enum { CAP = 1 << 16 };

/* `path` is a file in memory: tens of thousands of files on a disk would take minutes. */
struct damage {
    char *directory, *path;
    int fd;
    size_t size;
    _Alignas(8) uint8_t original[CAP];
    _Alignas(8) uint8_t data[CAP];
};

static struct damage *make_damage(void)
{
    struct damage *d = calloc(1, sizeof *d);
    struct file_map map = {0};

    d->directory = test_tmpdir();
    d->path = file_join(d->directory, "hq.db");
    CHECK_OK(db_walk_sample(d->path));
    CHECK_OK(file_map_open(d->path, &map));
    d->size = map.size < CAP ? map.size : CAP;
    memcpy(d->original, map.data, d->size);
    file_map_close(&map);
    free(d->path);
    d->fd = memfd_create("damaged", 0);
    d->path = xasprintf("/proc/self/fd/%d", d->fd);
    return d;
}

static void free_damage(struct damage **d)
{
    CHECK_OK(file_remove_tree((*d)->directory));
    free((*d)->directory);
    close((*d)->fd);
    free((*d)->path);
    free(*d);
}

static struct hq_error *read_bytes(struct damage *d, const uint8_t *data, size_t size)
{
    CHECK(!ftruncate(d->fd, 0) && pwrite(d->fd, data, size, 0) == (ssize_t)size);
    return db_walk_file(d->path);
}

static void check_sentence(const struct hq_error *err, const char *path)
{
    CHECK_EQ_INT(err->status, HQ_DATA);
    CHECK(!strncmp(err->message, path, strlen(path)));
    CHECK(!strchr(err->message, '\n'));
}

TEST(whole)
{
    AUTO(free_damage) struct damage *d = make_damage();

    CHECK_OK(read_bytes(d, d->original, d->size));
}

TEST(every_byte_of_a_section_counts)
{
    AUTO(free_damage) struct damage *d = make_damage();
    struct hqdb_header h;
    const struct hqdb_section *table;

    memcpy(&h, d->original, sizeof h);
    table = (const struct hqdb_section *)(d->original + h.section_table);
    for (uint32_t s = 0; s < h.section_count; s++) {
        for (uint64_t i = 0; i < table[s].bytes; i++) {
            struct hq_error *err;

            memcpy(d->data, d->original, d->size);
            d->data[table[s].offset + i] ^= (uint8_t)(1u << (i % 8));
            err = read_bytes(d, d->data, d->size);
            if (err)
                check_sentence(err, d->path);
            else
                TEST_FAIL("byte %llu of section %u may be changed", (unsigned long long)i, table[s].tag);
            hq_error_free(err);
        }
    }
}

TEST(every_byte_of_the_header_and_table_is_safe)
{
    AUTO(free_damage) struct damage *d = make_damage();

    for (size_t i = 0; i < d->size; i++) {
        for (int bit = 0; bit < 8; bit += 3) {
            struct hq_error *err;

            memcpy(d->data, d->original, d->size);
            d->data[i] ^= (uint8_t)(1u << bit);
            err = read_bytes(d, d->data, d->size);
            if (err)
                check_sentence(err, d->path);
            hq_error_free(err);
        }
    }
}

TEST(cut_off_anywhere)
{
    AUTO(free_damage) struct damage *d = make_damage();

    for (size_t size = 0; size < d->size; size += size < 300 ? 1 : 37) {
        struct hq_error *err = read_bytes(d, d->original, size);

        if (err)
            check_sentence(err, d->path);
        else
            TEST_FAIL("%zu of %zu bytes are accepted", size, d->size);
        hq_error_free(err);
    }
}

/* The same records, of another size, behind the end. */
static void resize_records(struct damage *d, uint32_t tag, size_t from, size_t to)
{
    struct hqdb_header h;
    struct hqdb_section *table;

    memset(d->data, 0, CAP);
    memcpy(d->data, d->original, d->size);
    memcpy(&h, d->data, sizeof h);
    table = (struct hqdb_section *)(d->data + h.section_table);
    for (uint32_t s = 0; s < h.section_count; s++) {
        uint8_t *end = d->data + (d->size + 15) / 16 * 16;

        if (table[s].tag != tag)
            continue;
        CHECK_EQ_INT(table[s].record_size, from);
        for (uint64_t i = 0; i < table[s].count; i++)
            memcpy(end + to * i, d->original + table[s].offset + from * i, from < to ? from : to);
        table[s].offset = (uint64_t)(end - d->data);
        table[s].record_size = (uint32_t)to;
        table[s].bytes = to * table[s].count;
        d->size = table[s].offset + table[s].bytes;
    }
    h.minor = 1;
    h.file_size = d->size;
    h.table_checksum = hash_bytes(table, h.section_count * sizeof *table, 0);
    memcpy(d->data, &h, sizeof h);
    hq_error_free(read_bytes(d, d->data, d->size));
}

/* Records that are longer in a later minor version are read as far as they are known. */
TEST(longer_records)
{
    AUTO(free_damage) struct damage *d = make_damage();
    struct db *db = NULL;

    resize_records(d, HQDB_METRICS, 32, 40);
    CHECK_OK(db_open(d->path, &db));
    if (db) {
        CHECK_EQ_INT(db->metric_count, 2);
        CHECK_EQ_STR(db_string(db, db->metrics[1].name), "bytes");
    }
    db_close(db);
}

/* Regions had no teams at first. */
TEST(shorter_records)
{
    AUTO(free_damage) struct damage *d = make_damage();
    struct db *db = NULL;

    resize_records(d, HQDB_REGIONS, 48, 32);
    CHECK_OK(db_open(d->path, &db));
    if (db) {
        CHECK_EQ_INT(db->region_count, 1);
        CHECK_EQ_INT(db->regions[0].entries, 7);
        CHECK_EQ_INT(db->regions[0].elapsed_ns, 1000);
        CHECK_EQ_INT(db->regions[0].largest, 0);
    }
    db_close(db);
    resize_records(d, HQDB_METRICS, 32, 24);
    CHECK_ERROR(db_open(d->path, &db), HQ_DATA, "records that are too short");
}

TEST(random_damage)
{
    AUTO(free_damage) struct damage *d = make_damage();

    for (uint64_t seed = 0; seed < 3000; seed++) {
        uint64_t state = seed * 1000;
        size_t size;
        struct hq_error *err;

        memcpy(d->data, d->original, d->size);
        size = mutate(d->data, d->size, &state);
        err = read_bytes(d, d->data, size);
        if (err)
            check_sentence(err, d->path);
        hq_error_free(err);
    }
}

TEST(what_is_no_database)
{
    AUTO(free_damage) struct damage *d = make_damage();
    AUTO_FREE char *missing = file_join(d->directory, "nothing");
    struct db *db;

    CHECK_ERROR(read_bytes(d, (const uint8_t *)"hello, world", 12), HQ_DATA, "this is not an hq database");
    CHECK_ERROR(db_open(missing, &db), HQ_DATA, "nothing");
    memcpy(d->data, d->original, d->size);
    d->data[8] = 9;
    CHECK_ERROR(read_bytes(d, d->data, d->size), HQ_DATA, "format version 9");
}

TEST_MAIN
