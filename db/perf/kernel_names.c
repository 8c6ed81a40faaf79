/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of the kernel's procedures that a stream has samples of, kept on the machine where they are known. */
#include "db/perf/convert.h"

#include "common/file.h"
#include "common/mem.h"
#include "common/numbers.h"
#include "db/perf/stream.h"
#include <linux/perf_event.h>
#include <stdlib.h>

struct addresses {
    uint64_t *data;
    size_t len, cap;
};

static void collect(const struct perf_stream *s, struct addresses *out)
{
    struct perf_event e;

    for (size_t i = 0; i < s->records.len; i++) {
        bool kernel = false;

        if (!perf_stream_record(s, i, &e) || e.type != PERF_RECORD_SAMPLE)
            continue;
        for (uint64_t k = 0; k < e.chain_len; k++) {
            uint64_t ip = perf_word(e.chain, k);

            if (ip >= (uint64_t)-4095)
                kernel = ip == (uint64_t)PERF_CONTEXT_KERNEL;
            else if (kernel)
                vec_push(out, ip);
        }
    }
    out->len = numbers_sort(out->data, out->len);
}

void perf_keep_kernel_names(const char *stream)
{
    AUTO_FREE char *directory = file_dirname(stream), *path = NULL;
    struct addresses sampled = {0};
    struct perf_stream s;
    const char *kernel;
    AUTO_ERROR struct hq_error *err = perf_stream_open(stream, &s);
    AUTO_FCLOSE FILE *symbols = fopen("/proc/kallsyms", "re");
    struct file_writer w;

    if (!err)
        collect(&s, &sampled);
    kernel = err ? NULL : perf_stream_text(&s, s.header.pid, "kernel");
    path = xasprintf("%s/" HQS_KERNEL, directory, kernel ? kernel : "");
    if (kernel && symbols && sampled.len && !(err = file_writer_open(&w, path))) {
        perf_stream_write_names(symbols, sampled.data, sampled.len, w.file);
        err = file_writer_commit(&w);
    }
    vec_deinit(&sampled);
    perf_stream_close(&s);
}
