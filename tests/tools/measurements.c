/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * measurements DIR [paths | threads]: checks every rule of format/measurement.h on the files of a directory and prints
 * sums, for the collector's tests. It is written apart from the reader of db/, so that the two check each other.
 *
 * Output, one line each: `KEY VALUE`. With `paths`, one line per cell: COUNT EVENT symbol;symbol;... from the root,
 * named by the dynamic and static symbols of the modules. Exit status 1 and a sentence at the first broken rule.
 */
#include "tests/tools/measurements/reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *path; /* of the file that is read */
struct measurements_total measurements_total;

void measurements_check(bool holds, const char *what)
{
    if (holds)
        return;
    printf("broken %s: %s\n", path, what);
    exit(1);
}

static void check_threads(const struct reader *r, bool paths, bool threads)
{
    const struct hqm_thread *t = (const struct hqm_thread *)r->lane[0].kind[HQM_THREADS].data;
    for (uint32_t i = 0; i < r->lane[0].kind[HQM_THREADS].count; i++) {
        if (!t[i].lane)
            continue;
        measurements_check(t[i].lane < r->lanes, "lane of thread");
        measurements_check(!t[i].creator_lane || (t[i].creator_lane < r->lanes &&
                                                  t[i].creator_node < r->lane[t[i].creator_lane].kind[HQM_NODES].count),
                           "creator");
        measurements_total.threads++;
        measurements_total.created += t[i].creator_lane != 0;
        if (threads) {
            printf("thread %u of %u samples %llu: ", t[i].number, r->header->pid, (unsigned long long)t[i].samples);
            if (t[i].creator_lane && paths)
                measurements_print_node(r, (const struct hqm_node *)r->lane[t[i].creator_lane].kind[HQM_NODES].data,
                                        t[i].creator_node);
            putchar('\n');
        }
    }
}

static void add_header(const struct hqm_header *h)
{
    struct measurements_total *t = &measurements_total;

    t->files++;
    t->bytes += h->allocated;
    t->written += h->header_bytes;
    t->samples += h->samples;
    t->partial += h->partial;
    t->running += h->state == HQM_RUNNING;
    t->ended += h->state == HQM_ENDED;
    t->execed += h->state == HQM_EXECED;
    t->signalled += h->exit_signal != 0;
    t->clock[h->cpu_clock < HQM_CLOCKS ? h->cpu_clock : 0]++;
    t->timer_threads += h->timer_threads;
    t->slowed_threads += h->slowed_threads;
    for (int i = 0; i < HQM_PARTIAL_MAX; i++)
        t->reason[i] += h->partial_by_reason[i];
    for (int i = 0; i < HQM_LOSS_MAX; i++)
        t->loss[i] += h->loss[i];
}

static void check_file(struct reader *r, bool paths, bool threads)
{
    const struct hqm_header *h = r->header = (const struct hqm_header *)r->data;

    measurements_check(r->size >= HQM_ALIGN && memcmp(h->magic, HQM_MAGIC, 8) == 0 && h->major == HQM_MAJOR, "header");
    measurements_read(r);
    measurements_check(r->lanes > 0, "no segments");
    struct column *modules = &r->lane[0].kind[HQM_MODULES], *events = &r->lane[0].kind[HQM_EVENTS],
                  *info = &r->lane[0].kind[HQM_INFO];
    r->modules = (const struct hqm_module *)modules->data;
    r->symbols = calloc(modules->count + 1, sizeof *r->symbols);
    for (uint32_t i = 0; i < modules->count; i++) {
        measurements_text(r, r->modules[i].path);
        if (paths)
            elf_names_open(measurements_text(r, r->modules[i].path), &r->symbols[i]);
    }
    for (uint32_t i = 0; i < events->count && i < 16; i++)
        snprintf(measurements_total.event[i], sizeof measurements_total.event[i], "%s",
                 measurements_text(r, ((const struct hqm_event *)events->data)[i].name));
    for (uint32_t i = 0; i < info->count; i++)
        measurements_text(r, ((const struct hqm_info *)info->data)[i].key),
            measurements_text(r, ((const struct hqm_info *)info->data)[i].value);
    for (uint32_t i = 1; i < r->lanes; i++)
        measurements_check_lane(r, i, paths);
    measurements_check_devices(r);
    check_threads(r, paths, threads);
    add_header(h);
    measurements_total.modules += modules->count;
}

static void print_totals(void)
{
    const struct measurements_total *t = &measurements_total;

    printf("files %llu\nsamples %llu\npartial %llu\n", (unsigned long long)t->files, (unsigned long long)t->samples,
           (unsigned long long)t->partial);
    printf("nodes %llu\ncells %llu\ntrace %llu\n", (unsigned long long)t->nodes, (unsigned long long)t->cells,
           (unsigned long long)t->trace);
    printf("threads %llu\ncreated %llu\nlanes %llu\nmodules %llu\nbytes %llu\nwritten %llu\n",
           (unsigned long long)t->threads, (unsigned long long)t->created, (unsigned long long)t->lanes,
           (unsigned long long)t->modules, (unsigned long long)t->bytes, (unsigned long long)t->written);
    printf("running %llu\nended %llu\nexeced %llu\nsignalled %llu\n", (unsigned long long)t->running,
           (unsigned long long)t->ended, (unsigned long long)t->execed, (unsigned long long)t->signalled);
    printf("regions %llu\nentries %llu\nmarks %llu\ncounts %llu\n", (unsigned long long)t->regions,
           (unsigned long long)t->entries, (unsigned long long)t->marks, (unsigned long long)t->counts);
    printf("commands %llu\ndevice-ns %llu\nreadings %llu\n", (unsigned long long)t->commands,
           (unsigned long long)t->device_ns, (unsigned long long)t->readings);
    printf("timer-clock %llu\nperf-clock %llu\nuser-clock %llu\ntimer-threads %llu\nslowed-threads %llu\n",
           (unsigned long long)t->clock[HQM_CLOCK_TIMER], (unsigned long long)t->clock[HQM_CLOCK_PERF],
           (unsigned long long)t->clock[HQM_CLOCK_PERF_USER], (unsigned long long)t->timer_threads,
           (unsigned long long)t->slowed_threads);
    for (int i = 0; i < 16; i++)
        if (t->event[i][0])
            printf("sum %s %llu\ncount %s %llu\n", t->event[i], (unsigned long long)t->sum[i], t->event[i],
                   (unsigned long long)t->count[i]);
    for (int i = 0; i < HQM_PARTIAL_MAX; i++)
        if (t->reason[i])
            printf("reason %d %llu\n", i, (unsigned long long)t->reason[i]);
    for (int i = 0; i < HQM_LOSS_MAX; i++)
        if (t->loss[i])
            printf("loss %d %llu\n", i, (unsigned long long)t->loss[i]);
}

int main(int argc, char **argv)
{
    bool paths = argc > 2 && !strcmp(argv[2], "paths"), threads = argc > 2 && !strcmp(argv[2], "threads");
    DIR *directory = argc > 1 ? opendir(argv[1]) : NULL;
    struct dirent *entry;
    static char name[4096];

    path = argc > 1 ? argv[1] : "?";
    measurements_check(directory, "no such directory");
    while ((entry = readdir(directory))) {
        struct reader r = {0};
        struct stat st;
        if (!strstr(entry->d_name, HQM_SUFFIX))
            continue;
        snprintf(name, sizeof name, "%s/%s", argv[1], entry->d_name);
        path = name;
        int fd = open(name, O_RDONLY);
        measurements_check(fd >= 0 && fstat(fd, &st) == 0, "cannot be opened");
        r.size = (size_t)st.st_size;
        r.data = mmap(NULL, r.size ? r.size : 1, PROT_READ, MAP_PRIVATE, fd, 0);
        close(fd);
        measurements_check(r.data != MAP_FAILED, "cannot be mapped");
        /* Killed before it had begun: the magic is written last. */
        if (r.size == 0 || (r.size >= 8 && memcmp(r.data, "\0\0\0\0\0\0\0", 8) == 0))
            continue;
        check_file(&r, paths || threads, threads);
        munmap(r.data, r.size);
    }
    if (!paths && !threads)
        print_totals();
    return 0;
}
