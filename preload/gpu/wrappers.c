/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How calls of OpenCL come to us, in two ways. A loader of drivers that has layers (ocl-icd since 2.3, Khronos') is
 * given this library as one, by OPENCL_LAYERS: it passes all calls by, also those of programs that open libOpenCL.so by
 * dlopen. With any other, the program finds the functions here, before libOpenCL.so's. Where the layer is called these
 * pass through.
 */
#include "preload/exact/exact.h"
#include "preload/gpu/flights.h"
#include "preload/gpu/opencl.h"
#include "preload/gpu/programs.h"
#include "preload/gpu/queues.h"
#include "preload/words.h"

#include <stdlib.h>
#include <string.h>

int clGetLayerInfo(uint32_t property, size_t size, void *value, size_t *needed);
int clInitLayer(uint32_t entries, void *const *target, uint32_t *entries_here, void *const **layer);

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))

static const char *const function_names[FUNCTIONS] = {
#define OTHER(name)        [CL_##name] = #name,
#define COMMAND(name, ...) [CL_##name] = #name,
#define WATCHED(name, ...) [CL_##name] = #name,
#include "preload/gpu/calls.def"
};

static _Atomic(void *) behind[FUNCTIONS]; /* libOpenCL.so's functions, and drivers' of extensions */
static void *target[FUNCTIONS_OF_TABLE];  /* what a loader has given its layer */
static _Atomic(const void *) somewhere;   /* in the loader */
static _Atomic int layered;

uintptr_t cl_invoke(void *function, const uintptr_t *w, unsigned count)
{
    typedef uintptr_t few(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
    typedef uintptr_t some(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                           uintptr_t, uintptr_t);
    typedef uintptr_t many(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                           uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

    if (count <= 6)
        return ((few *)function)(w[0], w[1], w[2], w[3], w[4], w[5]);
    if (count <= 10)
        return ((some *)function)(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9]);
    return ((many *)function)(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13]);
}

/* libOpenCL.so's own function; one that was loaded for a plugin alone is found behind `caller`. */
static void *behind_us(enum function f, const void *caller)
{
    void *address = atomic_load_explicit(&behind[f], memory_order_relaxed);

    if (address)
        return address;
    address = real_lookup(&behind[f], function_names[f]);
    if (!address && caller) {
        address = hq_exact_behind_call(caller, function_names[f]);
        atomic_store_explicit(&behind[f], address, memory_order_relaxed);
    }
    return address;
}

void *cl_below(enum function f)
{
    return f < FUNCTIONS_OF_TABLE && atomic_load(&layered) ? target[f] : behind_us(f, atomic_load(&somewhere));
}

static void *const extensions[FUNCTIONS];

const void *cl_entry(enum function f)
{
    if (extensions[f])
        return extensions[f]; /* the driver's has no name that says what it is */
    return behind_us(f, atomic_load(&somewhere));
}

bool cl_get(enum function f, uintptr_t object, unsigned property, void *value, size_t size)
{
    const uintptr_t words[6] = {object, property, size, (uintptr_t)value};
    void *below = cl_below(f);

    return below && (int)cl_invoke(below, words, 5) == CL_SUCCESS;
}

/* In a forked child: threads of the parent that held locks are not here, nor do its commands end here. */
static void forget_parent(void)
{
    static _Atomic unsigned known;
    unsigned epoch = hq_exact_epoch();

    if (atomic_load_explicit(&known, memory_order_relaxed) == epoch)
        return;
    atomic_store(&known, epoch);
    flights_forget();
    queues_forget();
    programs_forget();
}

static uintptr_t called(enum function f, uintptr_t *words, unsigned count, void *below)
{
    uintptr_t result;

    if (EVENT("GPU_COMMANDS") < 0)
        return cl_invoke(below, words, count);
    forget_parent();
    if (f == CL_clGetExtensionFunctionAddress || f == CL_clGetExtensionFunctionAddressForPlatform)
        return extension_address(f, words, below);
    commands_look(false);
    result = command_rows[f].name ? command_enqueued(f, words, below) : call_watched(f, words, below);
    commands_look(f == CL_clFinish || f == CL_clWaitForEvents);
    return result;
}

static uintptr_t called_by_program(enum function f, uintptr_t *words, unsigned count, const void *caller)
{
    void *below = behind_us(f, caller);

    if (!below) /* a weak reference was not NULL because of us */
        return strncmp(function_names[f], "clCreate", 8) && strncmp(function_names[f], "clGetExtension", 14)
                   ? (uintptr_t)(intptr_t)CL_FAILED
                   : 0;
    if (atomic_load(&layered) && f < FUNCTIONS_OF_TABLE && f != CL_clGetExtensionFunctionAddress)
        return cl_invoke(below, words, count);
    if (f < FUNCTIONS_OF_TABLE)
        atomic_store(&somewhere, below);
    return called(f, words, count, below);
}

#define WRAP_EXTENSION(name, n) \
    uintptr_t name(P##n); \
    EXPORT uintptr_t name(P##n) \
    { \
        uintptr_t words[CL_WORDS] = {A##n}; \
        return called_by_program(CL_##name, words, n, CALLER); \
    }
#define WRAP(name, n) \
    WRAP_EXTENSION(name, n) \
    static uintptr_t layer_##name(P##n) \
    { \
        uintptr_t words[CL_WORDS] = {A##n}; \
        return called(CL_##name, words, n, target[CL_##name]); \
    }
#define COMMAND(name, words, ...)   WRAP(name, words)
#define WATCHED(name, words)        WRAP(name, words)
#define EXTENSION(name, words, ...) WRAP_EXTENSION(name, words)
#define EXTENSION_WATCHED           WRAP_EXTENSION
#include "preload/gpu/calls.def"

/* ---- Extensions ---- */

static void *const extensions[FUNCTIONS] = {
#define EXTENSION(name, ...)         [CL_##name] = name,
#define EXTENSION_WATCHED(name, ...) [CL_##name] = name,
#include "preload/gpu/calls.def"
};

/* Returns the address of an extension's function. If two drivers have the same function, only the first one's is
 * seen. */
uintptr_t extension_address(enum function f, uintptr_t *words, void *below)
{
    bool of_platform = f == CL_clGetExtensionFunctionAddressForPlatform;
    uintptr_t address = cl_invoke(below, words, of_platform ? 2 : 1);
    const char *name = (const char *)words[of_platform];
    enum function e = FUNCTIONS_OF_TABLE;

    if (!address || !name)
        return address;
    while (e < FUNCTIONS && strcmp(name, function_names[e]))
        e++;
    if (e == FUNCTIONS || address == (uintptr_t)extensions[e])
        return address;
    void *first = NULL;
    if (!atomic_compare_exchange_strong(&behind[e], &first, (void *)address) && first != (void *)address)
        return address;
    return (uintptr_t)extensions[e];
}

/* ---- The layer ---- */

EXPORT int clGetLayerInfo(uint32_t property, size_t size, void *value, size_t *needed)
{
    static const char name[] = "hq";
    uint32_t version = CL_LAYER_API_100;
    const void *answer = property == CL_LAYER_NAME ? (const void *)name : &version;
    size_t bytes = property == CL_LAYER_NAME ? sizeof name : sizeof version;

    if ((property != CL_LAYER_API_VERSION && property != CL_LAYER_NAME) || (value && size < bytes))
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, answer, bytes);
    if (needed)
        *needed = bytes;
    return CL_SUCCESS;
}

EXPORT int clInitLayer(uint32_t entries, void *const *table, uint32_t *entries_here, void *const **layer)
{
    static void *functions[FUNCTIONS_OF_TABLE] = {
#define COMMAND(name, ...) [CL_##name] = layer_##name,
#define WATCHED(name, ...) [CL_##name] = layer_##name,
#define EXTENSION(...)
#define EXTENSION_WATCHED(...)
#include "preload/gpu/calls.def"
    };

    if (!table || !entries_here || !layer)
        return CL_INVALID_VALUE;
    for (uint32_t i = 0; i < FUNCTIONS_OF_TABLE; i++) {
        target[i] = i < entries ? table[i] : NULL;
        if (!functions[i] || !target[i])
            functions[i] = target[i];
    }
    *entries_here = entries < FUNCTIONS_OF_TABLE ? entries : FUNCTIONS_OF_TABLE;
    *layer = functions;
    atomic_store(&somewhere, CALLER);
    atomic_store(&layered, 1);
    return CL_SUCCESS;
}
