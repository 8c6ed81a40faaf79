/* SPDX-License-Identifier: BSD-3-Clause */
/* The devices that `-e GPU` can measure. OpenCL is opened when it is asked for; no header of it is needed. */
#include "repl/record/record.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/wait.h>

enum { PLATFORMS = 16, DEVICES = 64, PLATFORM_NAME = 0x902, DEVICE_NAME = 0x102b, DEVICE_VERSION = 0x102f };
#define ANY_TYPE 0xffffffffu

typedef int get_platforms(uint32_t, void **, uint32_t *);
typedef int get_devices(void *, uint64_t, uint32_t, void **, uint32_t *);
typedef int get_text(void *, uint32_t, size_t, void *, size_t *);

static void list(int to)
{
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
    get_platforms *platforms_of = library ? (get_platforms *)dlsym(library, "clGetPlatformIDs") : NULL;
    get_devices *devices_of = library ? (get_devices *)dlsym(library, "clGetDeviceIDs") : NULL;
    get_text *of_platform = library ? (get_text *)dlsym(library, "clGetPlatformInfo") : NULL;
    get_text *of_device = library ? (get_text *)dlsym(library, "clGetDeviceInfo") : NULL;
    void *platforms[PLATFORMS], *devices[DEVICES];
    uint32_t count = 0, n;

    if (!platforms_of || !devices_of || !of_platform || !of_device || platforms_of(PLATFORMS, platforms, &count))
        return;
    for (uint32_t p = 0; p < count && p < PLATFORMS; p++) {
        char platform[256] = "", name[256], version[256];

        of_platform(platforms[p], PLATFORM_NAME, sizeof platform - 1, platform, NULL);
        n = 0;
        devices_of(platforms[p], ANY_TYPE, DEVICES, devices, &n);
        for (uint32_t d = 0; d < n && d < DEVICES; d++) {
            *name = *version = 0;
            of_device(devices[d], DEVICE_NAME, sizeof name - 1, name, NULL);
            of_device(devices[d], DEVICE_VERSION, sizeof version - 1, version, NULL);
            dprintf(to, "  device %u: %s (%s, %s)\n", d, name, platform, version);
        }
    }
}

/* Drivers write where they like, start threads, and may end the process that they are loaded into. */
void record_list_devices(struct str *out)
{
    char text[4096];
    int ends[2], null;
    ssize_t n;
    size_t before;
    pid_t child;

    str_add(out, "Devices that GPU measures, by OpenCL:\n");
    before = out->len;
    if (pipe2(ends, O_CLOEXEC))
        return;
    fflush(NULL);
    child = fork();
    if (!child) {
        null = open("/dev/null", O_RDWR);
        for (int fd = 0; fd < 3; fd++)
            dup2(null, fd);
        list(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    while (child > 0 && ((n = read(ends[0], text, sizeof text)) > 0 || (n < 0 && errno == EINTR)))
        str_addn(out, text, n > 0 ? (size_t)n : 0);
    close(ends[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (out->len == before)
        str_add(out, "  none (is a loader of OpenCL, and a driver, installed?)\n");
}
