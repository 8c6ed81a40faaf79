/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/delay.h"

#include "preload/raw.h"
#include "preload/text.h"
#include "preload/thread.h"

#include <stdatomic.h>

static struct {
    uint64_t before_ns;                  /* of the initial thread */
    _Atomic uint64_t ended_ns, ended_us; /* of threads that have ended: their delay, and how long they lasted */
} all;

/* A thread that lived for less has missed too little for three more system calls, a tenth of what it costs. */
enum { WORTH_US = 1000 };

static bool read_delay(uint32_t tid, uint64_t *ns)
{
    char path[64], text[80];
    const char *end = path + sizeof path, *at;

    append(append_number(append(path, end, "/proc/self/task/"), end, tid), end, "/schedstat");
    int fd = raw_open(path, O_RDONLY | O_CLOEXEC, 0);
    long bytes = fd < 0 ? 0 : raw_read(fd, text, sizeof text - 1);

    if (fd >= 0)
        raw_close(fd);
    if (bytes <= 0)
        return false;
    text[bytes] = 0;
    read_number(text, &at); /* how long it ran */
    if (*at != ' ')
        return false;
    *ns = read_number(at + 1, &at);
    return *at == ' ';
}

/* Adds what a thread has had until now. */
static void add(const struct hqm_thread *thread, uint64_t *ns, uint64_t *us)
{
    uint64_t delay, now = file_now_us();

    if (!read_delay(thread->tid, &delay))
        return;
    if (thread->number == 0)
        delay -= delay > all.before_ns ? all.before_ns : delay;
    *ns += delay;
    *us += now > thread->start_us ? now - thread->start_us : 0;
}

void delay_begin(void)
{
    all.before_ns = 0;
    atomic_store(&all.ended_ns, 0);
    atomic_store(&all.ended_us, 0);
    if (!raw_frozen)
        read_delay((uint32_t)raw_gettid(), &all.before_ns);
}

void delay_end(void)
{
    uint64_t ns = 0, us = 0;

    if (raw_frozen || !self.lane->thread || file_now_us() < self.lane->thread->start_us + WORTH_US)
        return;
    add(self.lane->thread, &ns, &us);
    atomic_fetch_add(&all.ended_ns, ns);
    atomic_fetch_add(&all.ended_us, us);
}

void delay_note_all(void)
{
    struct hqm_header *header = file_header();
    uint64_t ns = atomic_load(&all.ended_ns), us = atomic_load(&all.ended_us);
    const struct hqm_thread *thread;

    if (!header)
        return;
    bool opened = cut_open();
    for (uint32_t i = 0; !raw_frozen && lane_thread(i, &thread); i++)
        if (thread)
            add(thread, &ns, &us);
    header->delay_ns = ns;
    header->delay_of_us = us;
    cut_close(opened);
}
