/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/record/perf_attributes.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __x86_64__ /* elsewhere record_perf_permitted refuses */
static const uint64_t REGISTERS = 1ull << PERF_REG_X86_AX | 1ull << PERF_REG_X86_BX | 1ull << PERF_REG_X86_CX |
                                  1ull << PERF_REG_X86_DX | 1ull << PERF_REG_X86_SI | 1ull << PERF_REG_X86_DI |
                                  1ull << PERF_REG_X86_BP | 1ull << PERF_REG_X86_SP | 1ull << PERF_REG_X86_IP |
                                  0xffull << PERF_REG_X86_R8;
#else
static const uint64_t REGISTERS = 0;
#endif

int perf_event_begin(struct perf_event_attr *attr, pid_t task, int cpu)
{
    return (int)syscall(SYS_perf_event_open, attr, task, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

struct perf_event_attr perf_attributes(const struct tap_options *o, bool kernel)
{
    struct perf_event_attr attr = {
        .size = sizeof attr,
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .sample_period = o->period_ns,
        .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN,
        .disabled = 1,
        .inherit = 1,
        .exclude_kernel = !kernel,
        .exclude_hv = 1,
        .mmap = 1,
        .mmap2 = 1,
        .comm = 1,
        .comm_exec = 1,
        .task = 1,
        .sample_id_all = 1,
        .watermark = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };

    if (o->stack_bytes) {
        attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
        attr.sample_regs_user = REGISTERS;
        attr.sample_stack_user = o->stack_bytes;
        attr.exclude_callchain_user = 1;
    }
    return attr;
}

void perf_ask_build_ids(struct perf_event_attr *attr, bool ask)
{
    /* The bit `build_id` of the word of flags, which headers before Linux 5.12 do not name. */
    uint8_t *flags = (uint8_t *)attr + offsetof(struct perf_event_attr, read_format) + sizeof attr->read_format;
    uint64_t word;

    memcpy(&word, flags, sizeof word);
    word = ask ? word | 1ull << 34 : word & ~(1ull << 34);
    memcpy(flags, &word, sizeof word);
}

struct hq_error *tap_permitted(bool *kernel)
{
    const struct tap_options options = {.period_ns = 1000000000, .stack_bytes = 1024};

    for (int k = 1; k >= 0; k--) {
        struct perf_event_attr attr = perf_attributes(&options, k);
        int fd = perf_event_begin(&attr, 0, -1);

        *kernel = k;
        if (fd >= 0) {
            close(fd);
            return NULL;
        }
    }
    if (errno == EACCES || errno == EPERM)
        return hq_error_new(HQ_DATA, "the kernel does not permit perf_event here: it takes root, CAP_PERFMON, or "
                                     "kernel.perf_event_paranoid <= 2 (sysctl), and a container that does not forbid "
                                     "the call");
    return hq_error_errno(HQ_DATA, "the kernel has no perf_event (perf_event_open)");
}

struct hq_error *tap_refused(pid_t pid)
{
    return hq_error_new(HQ_DATA, "process %d may not be sampled: it takes root, or that it is one's own", (int)pid);
}
