/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of the processor, as PAPI knows them. PAPI is opened when it is asked for; without it there are none. */
#include "repl/record/record.h"

#ifdef HQ_HAVE_PAPI
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <papi.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    void *handle; /* of dlopen */
    __typeof__(&PAPI_library_init) library_init;
    __typeof__(&PAPI_event_name_to_code) event_name_to_code;
    __typeof__(&PAPI_query_event) query_event;
    __typeof__(&PAPI_enum_event) enum_event;
    __typeof__(&PAPI_get_event_info) get_event_info;
    __typeof__(&PAPI_strerror) strerror;
    __typeof__(&PAPI_get_component_info) get_component_info;
    __typeof__(&PAPI_num_components) num_components;
    __typeof__(&PAPI_create_eventset) create_eventset;
    __typeof__(&PAPI_add_event) add_event;
    __typeof__(&PAPI_cleanup_eventset) cleanup_eventset;
    __typeof__(&PAPI_destroy_eventset) destroy_eventset;
} papi;

#define FIND(name) ((papi.name = (__typeof__(papi.name))dlsym(papi.handle, "PAPI_" #name)) != NULL)

/* False with a sentence if there is no usable PAPI. */
static bool open_papi(struct str *why)
{
    if (papi.handle)
        return true;
    papi.handle = dlopen("libpapi.so.7.0", RTLD_NOW);
    if (!papi.handle)
        papi.handle = dlopen("libpapi.so", RTLD_NOW);
    if (!papi.handle || !FIND(library_init) || !FIND(event_name_to_code) || !FIND(query_event) || !FIND(enum_event) ||
        !FIND(get_event_info) || !FIND(strerror) || !FIND(get_component_info) || !FIND(num_components) ||
        !FIND(create_eventset) || !FIND(add_event) || !FIND(cleanup_eventset) || !FIND(destroy_eventset)) {
        str_add(why, "the PAPI library is not installed");
        papi.handle = NULL;
        return false;
    }
    int version = papi.library_init(PAPI_VER_CURRENT);
    if (version != PAPI_VER_CURRENT) {
        str_addf(why, "PAPI does not start: %s", version > 0 ? "it is of another version" : papi.strerror(version));
        papi.handle = NULL;
        return false;
    }
    return true;
}

/*
 * PAPI knows a processor by its model, also where the kernel cannot reach its counters, as in most virtual machines: so
 * the kernel is asked for the one event that every processor has. NULL if it counts it.
 */
static const char *kernel_reason(void)
{
    struct perf_event_attr cycles = {.type = PERF_TYPE_HARDWARE,
                                     .size = sizeof cycles,
                                     .config = PERF_COUNT_HW_CPU_CYCLES,
                                     .disabled = 1,
                                     .exclude_kernel = 1,
                                     .exclude_hv = 1};
    int fd = (int)syscall(SYS_perf_event_open, &cycles, 0, -1, -1, 0ul);

    if (fd >= 0) {
        close(fd);
        return NULL;
    }
    if (errno == EACCES || errno == EPERM)
        return "the kernel forbids it: /proc/sys/kernel/perf_event_paranoid has to be 2 or less";
    return errno == ENOSYS ? "the kernel has no performance counters"
                           : "the kernel reaches no counters of this processor, as in most virtual machines";
}

/* The processor's counters are the component perf_event; where it cannot count it says why. NULL if it can. */
static const char *disabled_reason(void)
{
    for (int i = 0; i < papi.num_components(); i++) {
        const PAPI_component_info_t *info = papi.get_component_info(i);
        if (!info || strcmp(info->name, "perf_event"))
            continue;
        if (info->disabled_reason[0])
            return info->disabled_reason;
        return info->disabled ? "the kernel gives no access to performance counters" : NULL;
    }
    return "it was built without perf_event";
}

/* PAPI_OK if the event can be counted: the kernel takes part in adding it to a set. */
static int try_event(int code)
{
    int set = PAPI_NULL, error = papi.create_eventset(&set);

    if (error != PAPI_OK)
        return error;
    error = papi.add_event(set, code);
    papi.cleanup_eventset(set);
    papi.destroy_eventset(&set);
    return error;
}

void record_counter_problem(const char *name, struct str *why)
{
    const char *reason;
    int code, error;

    if (!open_papi(why))
        return;
    error = papi.event_name_to_code((char *)name, &code);
    if (error == PAPI_OK)
        error = papi.query_event(code);
    bool known = error == PAPI_OK;
    if (known)
        error = try_event(code);
    if (error == PAPI_OK)
        return;
    reason = disabled_reason();
    if (!reason && known)
        reason = kernel_reason();
    if (reason)
        str_addf(why, "PAPI cannot count it here (%s)", reason);
    else
        str_addf(why, "PAPI says \"%s\"", papi.strerror(error));
}

/* Presets that exist on this processor, or native events of component 0; with `tried` those alone that the kernel
 * counts. */
static unsigned list_from(int code, int modifier, bool tried, struct str *out)
{
    PAPI_event_info_t info;
    unsigned count = 0;

    if (papi.enum_event(&code, PAPI_ENUM_FIRST) != PAPI_OK)
        return 0;
    do {
        if (papi.get_event_info(code, &info) != PAPI_OK || info.component_index != 0 ||
            (modifier == PAPI_PRESET_ENUM_AVAIL && !info.count) || (tried && try_event(code) != PAPI_OK))
            continue;
        str_pad(out, info.symbol, 12);
        str_addf(out, " %s\n", info.long_descr);
        count++;
    } while (papi.enum_event(&code, modifier) == PAPI_OK);
    return count;
}

void record_list_counters(struct str *out)
{
    AUTO_STR struct str why = {0}, list = {0};
    const char *reason = NULL;
    unsigned count = 0;

    if (open_papi(&why) && !(reason = disabled_reason())) {
        reason = kernel_reason();
        count = list_from(0 | PAPI_PRESET_MASK, PAPI_PRESET_ENUM_AVAIL, reason != NULL, &list);
        count += list_from(0 | PAPI_NATIVE_MASK, PAPI_ENUM_EVENTS, reason != NULL, &list);
    }
    if (why.len)
        str_addf(out, "Events of the processor: none, because %s.\n", str_cstr(&why));
    else if (reason || !count)
        str_addf(out, "Events of the processor: none, because PAPI cannot count them here (%s).\n",
                 reason ? reason : "it knows no event");
    if (count)
        str_addf(out, "%s; the rate is a count, such as %s:\n%s",
                 reason ? "Events that the kernel counts" : "Events of the processor",
                 reason ? "perf::PAGE-FAULTS@10" : "PAPI_TOT_CYC@1000000", str_cstr(&list));
}

#else

void record_counter_problem(const char *name, struct str *why)
{
    (void)name;
    str_add(why, "hq was built without PAPI");
}

void record_list_counters(struct str *out)
{
    str_add(out, "Events of the processor: none, because hq was built without PAPI.\n");
}

#endif
