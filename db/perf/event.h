/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One record of perf_event_open(2), as the kernel writes it: of hq's own streams (format/stream.h) and of perf.data.
 * Nothing in it is believed: what does not fit the record's length makes it none. Texts and arrays point into the
 * record.
 */
#ifndef HQ_DB_PERF_EVENT_H
#define HQ_DB_PERF_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_layout { /* of struct perf_event_attr */
    uint64_t sample_type, read_format, registers /* sample_regs_user */, branches /* branch_sample_type */;
    bool sample_id_all;
};

enum { PERF_BUILD_ID = 20 };

/* Definitions of <linux/perf_event.h> since Linux 5.12 and 6.0: where hq is built the header may be older than the
 * kernel that it runs on. */
enum { PERF_MISC_BUILD_ID = 1 << 14, PERF_READ_LOST = 1 << 4 };

struct perf_event {
    uint32_t type; /* PERF_RECORD_* */
    uint16_t misc;
    uint32_t pid, tid;
    uint64_t time, id;
    /* PERF_RECORD_SAMPLE */
    uint64_t ip, period;
    const uint8_t *chain; /* chain_len words */
    uint64_t chain_len;
    uint64_t abi; /* of the registers: 0 none, 1 32 bits, 2 64 bits */
    const uint8_t *registers;
    const uint8_t *stack; /* stack_size bytes, of which the first stack_used are the stack's */
    uint64_t stack_size, stack_used;
    /* PERF_RECORD_MMAP, MMAP2 */
    uint64_t start, length, offset;
    bool executable;
    const char *path;
    uint8_t build_id[PERF_BUILD_ID];
    uint8_t build_id_len; /* 0: none */
    /* PERF_RECORD_COMM */
    const char *name;
    bool exec;
    /* PERF_RECORD_FORK, EXIT */
    uint32_t parent_pid, parent_tid;
    /* PERF_RECORD_LOST, LOST_SAMPLES */
    uint64_t lost;
};

/* A word of `chain` or `registers`. */
static inline uint64_t perf_word(const uint8_t *words, uint64_t i)
{
    uint64_t value;

    __builtin_memcpy(&value, words + 8 * i, 8);
    return value;
}

/* The length of the record at `at`, its header included; 0 if there is no whole record any more. */
size_t perf_event_size(const uint8_t *at, const uint8_t *end);

/* `record` is of that length. False: it is damaged. Of types that are not known only the header is read. */
bool perf_event_read(const struct perf_layout *layout, const uint8_t *record, size_t size, struct perf_event *out);

/* A record's time alone; 0 if it has none. */
uint64_t perf_event_time(const struct perf_layout *layout, const uint8_t *record, size_t size);

#endif
