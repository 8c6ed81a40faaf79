/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of the processor, as PAPI knows them. PAPI is opened when it is asked for; without it there are none. */
#include "repl/record.h"

#ifdef HQ_HAVE_PAPI
#include <dlfcn.h>
#include <papi.h>
#include <string.h>

static struct {
    void *handle;              /* of dlopen */
    __typeof__(&PAPI_library_init) library_init;
    __typeof__(&PAPI_event_name_to_code) event_name_to_code;
    __typeof__(&PAPI_query_event) query_event;
    __typeof__(&PAPI_enum_event) enum_event;
    __typeof__(&PAPI_get_event_info) get_event_info;
    __typeof__(&PAPI_strerror) strerror;
    __typeof__(&PAPI_get_component_info) get_component_info;
    __typeof__(&PAPI_num_components) num_components;
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
        !FIND(get_event_info) || !FIND(strerror) || !FIND(get_component_info) || !FIND(num_components)) {
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

/* The processor's counters are the component perf_event; where it cannot count it says why. */
static const char *disabled_reason(void)
{
    for (int i = 0; i < papi.num_components(); i++) {
        const PAPI_component_info_t *info = papi.get_component_info(i);
        if (!info || strcmp(info->name, "perf_event") != 0)
            continue;
        if (info->disabled_reason[0])
            return info->disabled_reason;
        return info->disabled ? "the kernel gives no access to performance counters" : NULL;
    }
    return "it was built without perf_event";
}

void record_counter_problem(const char *name, struct str *why)
{
    int code, error;

    if (!open_papi(why))
        return;
    error = papi.event_name_to_code((char *)name, &code);
    if (error == PAPI_OK)
        error = papi.query_event(code);
    if (error == PAPI_OK)
        return;
    if (disabled_reason())
        str_addf(why, "PAPI can count nothing here (%s)", disabled_reason());
    else
        str_addf(why, "PAPI says \"%s\"", papi.strerror(error));
}

/* Presets that exist on this processor, or native events of component 0. */
static unsigned list_from(int code, int modifier, struct str *out)
{
    PAPI_event_info_t info;
    unsigned count = 0;

    if (papi.enum_event(&code, PAPI_ENUM_FIRST) != PAPI_OK)
        return 0;
    do {
        if (papi.get_event_info(code, &info) != PAPI_OK || info.component_index != 0 ||
            (modifier == PAPI_PRESET_ENUM_AVAIL && !info.count))
            continue;
        str_pad(out, info.symbol, 12);
        str_addf(out, " %s\n", info.long_descr);
        count++;
    } while (papi.enum_event(&code, modifier) == PAPI_OK);
    return count;
}

void record_list_counters(struct str *out)
{
    AUTO_STR struct str why = { 0 }, list = { 0 };
    unsigned count = 0;

    if (open_papi(&why) && !disabled_reason()) {
        count = list_from(0 | PAPI_PRESET_MASK, PAPI_PRESET_ENUM_AVAIL, &list);
        count += list_from(0 | PAPI_NATIVE_MASK, PAPI_ENUM_EVENTS, &list);
    }
    if (count)
        str_addf(out, "Events of the processor; the rate is a count, such as PAPI_TOT_CYC@1000000:\n%s", str_cstr(&list));
    else if (why.len)
        str_addf(out, "Events of the processor: none, because %s.\n", str_cstr(&why));
    else
        str_addf(out, "Events of the processor: none, because PAPI can count nothing here (%s).\n",
                 disabled_reason() ? disabled_reason() : "it knows no event");
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
