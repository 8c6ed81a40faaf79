/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of chrome.c for streams of devices: which threads are such, and what their events are (chrome.h). */
#include "db/import/chrome.h"

#include "common/mem.h"
#include "common/str.h"

#include <stdlib.h>
#include <string.h>

enum { TICK_NS = 1000 }; /* as that of the host's trace */

enum chrome_category chrome_category(const char *text, size_t len)
{
    static const struct {
        const char *name;
        enum chrome_category category;
    } rows[] = {
        {"kernel", CHROME_ON_DEVICE},
        {"Kernel", CHROME_ON_DEVICE}, /* of PyTorch before 1.12 */
        {"gpu_memcpy", CHROME_ON_DEVICE},
        {"Memcpy", CHROME_ON_DEVICE},
        {"gpu_memset", CHROME_ON_DEVICE},
        {"Memset", CHROME_ON_DEVICE},
        {"gpu_user_annotation", CHROME_ABOUT_DEVICE},
        {"Trace", CHROME_WHOLE},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strlen(rows[i].name) == len && !memcmp(rows[i].name, text, len))
            return rows[i].category;
    return CHROME_OTHER;
}

bool chrome_is_device(const char *process)
{
    return !strcmp(process, "COPY") ||
           (str_begins(process, "GPU") && process[3] && strspn(process + 3, "0123456789") == strlen(process + 3));
}

void chrome_queue(struct chrome_devices *d, struct import *im, uint32_t profile, const char *process, uint32_t pid)
{
    const unsigned flags = HQDB_METRIC_EXACT | HQDB_METRIC_DEVICE;
    bool numbered = chrome_is_device(process) && *process == 'G';

    if (!d->is_known) {
        d->time = import_metric(im, "GPU_TIME", "time of commands on devices, from start to end", HQM_DIM_SECONDS,
                                flags | HQDB_METRIC_TRACED | HQDB_METRIC_SPANS, TICK_NS, 1e-9);
        d->commands = import_metric(im, "GPU_COMMANDS", "commands that devices have completed", HQM_DIM_EVENTS,
                                    flags | HQDB_METRIC_NO_COUNTS, 0, 1);
        d->is_known = true;
        import_fact(im, "events", "commands of devices are taken as enqueued when they began");
    }
    model_queue(im->model,
                &(struct hqdb_queue){.profile = profile,
                                     .unit = numbered          ? (uint32_t)strtoul(process + 3, NULL, 10)
                                             : *process == 'C' ? 0
                                                               : pid},
                "GPU");
}

/* Returns the name and kind under which a command is shown, from the names that CUDA's and HIP's tools use; any other
 * name is that of a kernel. */
static char *shown_name(const char *name, uint16_t *kind)
{
    static const struct {
        const char *begins, *shown;
    } rows[] = {
        {"Memcpy HtoD", "[copy to device]"},
        {"Memcpy DtoH", "[copy to host]"},
        {"Memcpy", "[copy on device]"},
        {"Memset", "[fill]"},
        {"CopyHostToDevice", "[copy to device]"},
        {"CopyDeviceToHost", "[copy to host]"},
        {"CopyDeviceToDevice", "[copy on device]"},
        {"FillBuffer", "[fill]"},
    };

    *kind = HQM_COMMAND_COPY;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_begins(name, rows[i].begins))
            return xstrdup(rows[i].shown);
    *kind = HQM_COMMAND_KERNEL;
    return xasprintf("[kernel %s]", name);
}

uint32_t chrome_command(struct chrome_devices *d, struct import *im, uint32_t profile, const char *name, int64_t start,
                        int64_t took)
{
    uint16_t kind;
    AUTO_FREE char *shown = shown_name(name, &kind);
    bool is_new;
    uint64_t *known = map_insert(&d->frames, intern_add(&im->names, name), 0, &is_new);
    const char *aliases[] = {name, NULL};

    if (is_new) {
        uint32_t scope = model_scope(im->model,
                                     &(struct model_scope){.kind = SCOPE_DEVICE,
                                                           .parent = MODEL_ROOT,
                                                           .name = shown,
                                                           .module = HQDB_NONE,
                                                           .aliases = kind == HQM_COMMAND_KERNEL ? aliases : NULL});

        *known = model_frame(im->model, HQDB_NONE, model_code(im->model, HQDB_NONE, 0, scope, scope));
    }
    uint32_t frame = (uint32_t)*known;

    import_value(im, profile, d->time, frame, 0, 1);
    import_value(im, profile, d->commands, frame, 1, 0);
    model_command(im->model, &(struct hqdb_command){.frame = frame,
                                                    .profile = profile,
                                                    .host_profile = HQDB_NONE,
                                                    .kind = kind,
                                                    .called_ns = (uint64_t)start,
                                                    .start_ns = (uint64_t)start,
                                                    .time_ns = (uint64_t)took});
    return frame;
}
