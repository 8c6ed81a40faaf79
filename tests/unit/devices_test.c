/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues of devices in measurement files that are as they should be, or damaged. */
#include "common/file.h"
#include "common/mem.h"
#include "db/build/process.h"
#include "tests/unit/test.h"

static const char TEXTS[] = "\0one device\0another device";
enum { ONE = 1, ANOTHER = 12 };

/* As many queues, the first with this number, one device each or two in turns. */
struct file {
    uint32_t first, count;
    bool unlike;
};

static size_t put(uint8_t *to, uint16_t kind, uint16_t record_size, uint32_t first, uint32_t count)
{
    size_t bytes = sizeof(struct hqm_segment) + (size_t)count * record_size;
    struct hqm_segment head = {.magic = HQM_SEGMENT_MAGIC,
                               .kind = kind,
                               .record_size = record_size,
                               .first = first,
                               .bytes = (bytes + HQM_ALIGN - 1) / HQM_ALIGN * HQM_ALIGN,
                               .capacity = count,
                               .count = count};

    memcpy(to, &head, sizeof head);
    return (size_t)head.bytes;
}

static bool write_file(const char *path, const struct file *f)
{
    size_t room = 3 * HQM_ALIGN + (size_t)f->count * sizeof(struct hqm_queue), size = HQM_ALIGN;
    AUTO_FREE uint8_t *data = xcalloc(room, 1);
    struct hqm_header header = {.magic = HQM_MAGIC, .major = HQM_MAJOR, .minor = HQM_MINOR, .header_bytes = HQM_ALIGN};
    struct hqm_queue *queues;
    FILE *out = fopen(path, "wb");
    bool whole;

    memcpy(data, &header, sizeof header);
    memcpy(data + size + sizeof(struct hqm_segment), TEXTS, sizeof TEXTS);
    size += put(data + size, HQM_STRINGS, 1, 0, sizeof TEXTS);
    queues = (struct hqm_queue *)(data + size + sizeof(struct hqm_segment));
    for (uint32_t i = 0; i < f->count; i++)
        queues[i] = (struct hqm_queue){.device = i % 2 && !f->unlike ? ANOTHER : ONE, .unit = f->unlike ? i : 0};
    size += put(data + size, HQM_QUEUES, sizeof *queues, f->first, f->count);
    whole = out && fwrite(data, size, 1, out) == 1;
    return out && fclose(out) == 0 && whole;
}

/* Fills `p`, whose file is gone then. */
static bool scan(const struct file *f, struct process *p)
{
    struct calltree tree;
    struct hq_error *error;
    char path[] = "devices.hqm";

    CHECK(write_file(path, f));
    calltree_init(&tree);
    error = process_scan(path, &tree, p);
    calltree_deinit(&tree);
    remove(path);
    if (error)
        TEST_FAIL("%s", error->message);
    hq_error_free(error);
    return !error;
}

TEST(every_queue_has_its_device)
{
    struct process p;

    CHECK_OR_RETURN(scan(&(struct file){.count = 4}, &p));
    CHECK(!p.damaged);
    CHECK_EQ_INT(p.queue_count, 4);
    CHECK_EQ_STR(p.queues[2].device, "one device");
    CHECK_EQ_STR(p.queues[3].device, "another device");
    process_deinit(&p);
}

/* A record that was claimed and not written is a queue of which no more is known. */
TEST(lost_queues_of_a_gap)
{
    struct process p;

    CHECK_OR_RETURN(scan(&(struct file){.first = 3, .count = 2}, &p));
    CHECK_EQ_INT(p.queue_count, 5);
    CHECK_EQ_STR(p.queues[0].device, "unknown device");
    CHECK_EQ_STR(p.queues[4].device, "another device");
    process_deinit(&p);
}

/* The gap before such a number would fill all memory. */
TEST(numbers_that_no_file_of_this_size_has)
{
    const uint32_t firsts[] = {20000, UINT32_MAX - 2};

    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
        struct process p;

        CHECK_OR_RETURN(scan(&(struct file){.first = firsts[i], .count = 2}, &p));
        CHECK(p.damaged);
        CHECK_EQ_INT(p.queue_count, 0);
        process_deinit(&p);
        if (test_failures) /* the next would take the machine's memory */
            return;
    }
}

/* Each held against all before it, these have no end within a test's time. */
TEST(a_million_devices)
{
    struct process p;

    CHECK_OR_RETURN(scan(&(struct file){.count = 1000000, .unlike = true}, &p));
    CHECK(!p.damaged);
    CHECK_EQ_INT(p.queue_count, 1000000);
    process_deinit(&p);
}

TEST_MAIN
