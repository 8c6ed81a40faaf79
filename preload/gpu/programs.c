/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/gpu/programs.h"

#include "common/hash.h"
#include "preload/exact/exact.h"
#include "preload/gpu/handles.h"
#include "preload/lock.h"
#include "preload/raw.h"
#include "preload/sources/device.h"

#include <stdio.h>
#include <string.h>

enum { PROGRAMS = 1024, KERNELS = 8192, NAME = 240, SOURCE_MAX = 4 << 20 };

struct program {
    uintptr_t handle;
    char name[NAME]; /* "program-0123456789abcdef.cl -DTWICE" */
};

struct kernel {
    uintptr_t handle;
    uint64_t command;
    uint32_t epoch; /* + 1, of the process in which it is that */
};

static _Atomic unsigned lock;
static struct program programs[PROGRAMS];
static struct kernel kernels[KERNELS];
static uint32_t kernel_count;

void programs_forget(void)
{
    lock_release(&lock);
}

/* ---- programs ---- */

static void name_program(uintptr_t handle, const char *name)
{
    struct program *p;

    lock_take(&lock);
    p = handle_slot(programs, sizeof *programs, PROGRAMS, handle);
    if (p) {
        p->handle = handle;
        snprintf(p->name, sizeof p->name, "%s", name);
    }
    lock_release(&lock);
}

/* "" if it is not known. */
static void program_name(uintptr_t handle, char *name, size_t size)
{
    const struct program *p;

    lock_take(&lock);
    p = handle_slot(programs, sizeof *programs, PROGRAMS, handle);
    snprintf(name, size, "%s", p && p->handle == handle ? p->name : "");
    lock_release(&lock);
}

/* The texts of a program as one, which need not end with 0; NULL: it is too long. Ended with raw_munmap. */
static char *join(uint32_t count, const char *const *texts, const size_t *lengths, size_t *size)
{
    char *all;

    *size = 0;
    for (uint32_t i = 0; i < count; i++)
        *size += !texts[i] ? 0 : lengths && lengths[i] ? lengths[i] : strlen(texts[i]);
    all = *size && *size <= SOURCE_MAX ? raw_memory(*size) : NULL;
    for (size_t i = 0, at = 0, n; all && i < count; i++, at += n) {
        n = !texts[i] ? 0 : lengths && lengths[i] ? lengths[i] : strlen(texts[i]);
        if (n)
            memcpy(all + at, texts[i], n);
    }
    return all;
}

static void take_source(uintptr_t handle, const uintptr_t *words)
{
    size_t size;
    char name[64], *text = join((uint32_t)words[1], (const char *const *)words[2], (const size_t *)words[3], &size);

    if (!text)
        return name_program(handle, "");
    snprintf(name, sizeof name, "program-%016llx.cl", (unsigned long long)hash_bytes(text, size, 0));
    hq_device_source(name, text, size);
    raw_munmap(text, size);
    name_program(handle, name);
}

static void take_binary(uintptr_t handle, const void *bytes, size_t size)
{
    char name[64];

    snprintf(name, sizeof name, "program-%016llx.bin", (unsigned long long)(bytes ? hash_bytes(bytes, size, 0) : 0));
    name_program(handle, name);
}

/* One that was linked of a single other one is of its source. */
static void take_linked(uintptr_t handle, uint32_t count, const uintptr_t *parts)
{
    char name[NAME], all[64];
    uint64_t hash = count;

    for (uint32_t i = 0; parts && i < count; i++) {
        program_name(parts[i], name, sizeof name);
        hash = hash_combine(hash, hash_str(name));
    }
    snprintf(all, sizeof all, "program-%016llx.linked", (unsigned long long)hash);
    name_program(handle, count == 1 && *name ? name : all);
}

uintptr_t program_create(enum function f, uintptr_t *words, void *below)
{
    unsigned count = f == CL_clCreateProgramWithBinary ? 7 : f == CL_clCreateProgramWithIL ? 4 : 5;
    uintptr_t made = cl_invoke(below, words, count);

    if (!made)
        return made;
    if (f == CL_clCreateProgramWithSource)
        take_source(made, words);
    else if (f == CL_clCreateProgramWithBinary)
        take_binary(made, *(const void *const *)words[4], *(const size_t *)words[3]);
    else if (f == CL_clCreateProgramWithIL)
        take_binary(made, (const void *)words[1], words[2]);
    else
        name_program(made, "built-in");
    return made;
}

static void add_options(uintptr_t handle, const char *options)
{
    char name[NAME], whole[NAME];

    program_name(handle, name, sizeof name);
    name[strcspn(name, " ")] = 0;
    options += options ? strspn(options, " \t\n") : 0;
    if (!*name || !options || !*options)
        return name_program(handle, name);
    /* The end of long options is replaced by a hash. */
    if (snprintf(whole, sizeof whole, "%s %s", name, options) >= NAME)
        snprintf(whole, sizeof whole, "%.60s %.100s... %016llx", name, options, (unsigned long long)hash_str(options));
    name_program(handle, whole);
}

uintptr_t program_build(enum function f, uintptr_t *words, void *below)
{
    uintptr_t result = host_time(f, words, below, f == CL_clBuildProgram ? 6 : 9, EVENT("GPU_BUILD"));

    if (f == CL_clLinkProgram && result)
        take_linked(result, (uint32_t)words[4], (const uintptr_t *)words[5]);
    if (f != CL_clLinkProgram || result)
        add_options(f == CL_clLinkProgram ? result : words[0], (const char *)words[3]);
    return result;
}

/* ---- kernels ---- */

/* When the table is nearly full it is emptied: what is not there is asked for. */
static void note_kernel(uintptr_t handle, uint64_t command)
{
    struct kernel *k;

    lock_take(&lock);
    if (kernel_count > KERNELS / 4 * 3) {
        memset(kernels, 0, sizeof kernels);
        kernel_count = 0;
    }
    k = handle_slot(kernels, sizeof *kernels, KERNELS, handle);
    if (k) {
        kernel_count += k->handle != handle;
        *k = (struct kernel){handle, command, hq_exact_epoch() + 1};
    }
    lock_release(&lock);
}

static uint64_t describe_kernel(uintptr_t kernel)
{
    char name[224] = "", shown[256], program[NAME] = "";
    uintptr_t of = 0;
    uint64_t command;

    if (CL(clGetKernelInfo, kernel, CL_KERNEL_NAME, sizeof name, (uintptr_t)name, 0) != CL_SUCCESS)
        return hq_device_command("[kernel]", 0);
    if (cl_get(CL_clGetKernelInfo, kernel, CL_KERNEL_PROGRAM, &of, sizeof of))
        program_name(of, program, sizeof program);
    snprintf(shown, sizeof shown, "[kernel %s]", name);
    command = hq_device_command(shown, *program ? hq_device_program(program) : 0);
    if (command)
        note_kernel(kernel, command);
    return command;
}

uint64_t kernel_command(uintptr_t kernel)
{
    const struct kernel *k;
    uint64_t command = 0;

    lock_take(&lock);
    k = handle_slot(kernels, sizeof *kernels, KERNELS, kernel);
    if (k && k->handle == kernel && k->epoch == hq_exact_epoch() + 1)
        command = k->command;
    lock_release(&lock);
    return command ? command : describe_kernel(kernel);
}

/* A new one may have the handle of one that is gone. */
uintptr_t kernel_create(enum function f, uintptr_t *words, void *below)
{
    uint32_t count = 0;
    uintptr_t result;

    if (f != CL_clCreateKernelsInProgram) {
        result = cl_invoke(below, words, f == CL_clCreateKernel ? 3 : 2);
        if (result)
            describe_kernel(result);
        return result;
    }
    words[3] = words[3] ? words[3] : (uintptr_t)&count;
    result = cl_invoke(below, words, 4);
    for (uint32_t i = 0; (int)result == CL_SUCCESS && words[2] && i < *(uint32_t *)words[3]; i++)
        describe_kernel(((const uintptr_t *)words[2])[i]);
    return result;
}
