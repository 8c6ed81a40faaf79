/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A test build of the collector for aarch64: linked with --wrap=unwind_interrupted, it walks every sampled stack a
 * second time by the chain of frame records alone, which the programs of the test keep, and compares all return
 * addresses. The sums go to the file that HQ_CHECK_FILE names, with the first differences. What the chain cannot tell
 * is left out and counted: paths through a signal, and other stacks than the thread's own. The innermost procedure may
 * have no record (yet), and the loader's code for a first call makes none: who called has a return address more.
 */
#include "preload/file/lane.h"
#include "preload/thread.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 4096 };

static _Atomic unsigned long equal, partial, other, different;
static uint64_t first_ours[MOST], first_records[MOST];
static uint32_t first_count[2];

struct place __real_unwind_interrupted(struct lane *lane, const uint64_t reg[CFI_REGISTERS], uint64_t low,
                                       uint64_t high, uint32_t *reason);
struct place __wrap_unwind_interrupted(struct lane *lane, const uint64_t reg[CFI_REGISTERS], uint64_t low,
                                       uint64_t high, uint32_t *reason);

static uint32_t chain(uint64_t fp, uint64_t low, uint64_t high, uint64_t *to)
{
    uint32_t count = 0;

    while (fp >= low && fp + 16 <= high && fp % 16 == 0 && count < MOST) {
        const uint64_t *record = (const uint64_t *)fp;

        if (record[1])
            to[count++] = arch_code_address(record[1]);
        if (record[0] <= fp)
            break;
        fp = record[0];
    }
    return count;
}

/* Behind the loader's call that finds the function: mov x16, x0. */
static bool in_first_call(uint64_t address)
{
    return *(const uint32_t *)address == 0xaa0003f0;
}

static bool same(const struct memo *memo, const uint64_t *records, uint32_t count)
{
    uint32_t callers = memo->depth - 1, more = 0, less;

    for (uint32_t i = 0; i < count; i++)
        more += in_first_call(records[i]);
    less = callers - more - count;
    if (less > 1 && (less > 2 || !in_first_call(memo->frames[callers - 1].pc)))
        return false;
    for (uint32_t i = 0, at = less; i < count; i++, at++) {
        if (memo->frames[callers - 1 - at].pc != records[i])
            return false;
        at += in_first_call(records[i]);
    }
    return true;
}

struct place __wrap_unwind_interrupted(struct lane *lane, const uint64_t reg[CFI_REGISTERS], uint64_t low,
                                       uint64_t high, uint32_t *reason)
{
    static __thread uint64_t records[MOST] __attribute__((tls_model("initial-exec")));
    struct place place = __real_unwind_interrupted(lane, reg, low, high, reason);
    const struct memo *memo = &lane->memo;
    bool signals = false;

    for (uint32_t i = 0; i + 1 < memo->depth; i++)
        signals |= memo->frames[i].how & FRAME_EXACT;
    if (reg[CFI_SP] < low || reg[CFI_SP] >= high || signals) {
        other++;
    } else if (*reason || !memo->depth) {
        partial++;
    } else {
        uint32_t count = chain(reg[CFI_FP], reg[CFI_SP], high, records);

        if (same(memo, records, count)) {
            equal++;
        } else if (different++ == 0) {
            first_count[0] = memo->depth < MOST ? memo->depth : MOST;
            first_count[1] = count;
            for (uint32_t i = 0; i < first_count[0]; i++)
                first_ours[i] = memo->frames[memo->depth - 1 - i].pc;
            for (uint32_t i = 0; i < count; i++)
                first_records[i] = records[i];
        }
    }
    return place;
}

static __attribute__((destructor)) void tell(void)
{
    const char *path = getenv("HQ_CHECK_FILE");
    FILE *out = path ? fopen(path, "w") : NULL;

    if (!out)
        return;
    fprintf(out, "equal %lu\npartial %lu\nother %lu\ndifferent %lu\n", equal, partial, other, different);
    for (uint32_t i = 0; i < first_count[0] || i < first_count[1]; i++)
        fprintf(out, "first %lx %lx\n", i < first_count[0] ? first_ours[i] : 0,
                i < first_count[1] ? first_records[i] : 0);
    fclose(out);
}
