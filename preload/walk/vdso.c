/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/walk/vdso.h"

#include "preload/file/beside.h"
#include "preload/export.h"
#include "preload/libc.h"
#include "preload/walk/modules.h"
#include "preload/raw.h"
#include "preload/sources/exact.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

static int ask_kernel(clockid_t clock, struct timespec *now)
{
    return (int)raw_syscall(SYS_clock_gettime, clock, (long)now, 0, 0, 0, 0);
}

/* Until the vDSO is found, and where there is none, the kernel. */
int (*vdso_clock_gettime)(clockid_t, struct timespec *) = ask_kernel;

EXPORT uint64_t hq_exact_now(void)
{
    return vdso_clock_ns(CLOCK_MONOTONIC);
}

void vdso_leave_clock(void)
{
    vdso_clock_gettime = ask_kernel;
}

/* Of programs that were executed by one that has forbidden it. */
static bool is_forbidden(void)
{
    int state = PR_TSC_ENABLE;

    return raw_syscall(SYS_prctl, PR_GET_TSC, (long)&state, 0, 0, 0, 0) == 0 && state != PR_TSC_ENABLE;
}

void vdso_find_clock(void)
{
    if (is_forbidden()) {
        vdso_leave_clock();
        return;
    }
    void *vdso = libc_open("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *function = vdso ? libc_symbol(vdso, ARCH_VDSO_CLOCK) : NULL;

    if (function)
        vdso_clock_gettime = (int (*)(clockid_t, struct timespec *))function;
}

/* vdso-BUILDID.so */
static void name(const struct module *module, char *path, size_t room)
{
    size_t length = (size_t)snprintf(path, room, "vdso-");

    for (unsigned i = 0; i < module->build_id_len && length + 8 < room; i++)
        length += (size_t)snprintf(path + length, room - length, "%02x", module->build_id[i]);
    snprintf(path + length, room - length, ".so");
}

void vdso_keep(void)
{
    char path[96];
    uint64_t address = __getauxval(AT_SYSINFO_EHDR);
    struct code code;
    const struct module *module;

    if (!address || !modules_find(address, &code))
        return;
    module = modules_get(code.module);
    name(module, path, sizeof path);
    /* Whole pages: the section headers lie behind what is loaded. */
    beside_keep(path, (const void *)module->start, (module->end - module->start + 4095) & ~4095ull);
}
