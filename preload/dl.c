/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dlclose: what was learnt about the code that went away must not be used for what is loaded there next. dlopen is not
 * wrapped: new modules are found when they are first sampled, and a wrapper would change whose RUNPATH is searched.
 */
#include "preload/export.h"
#include "preload/walk/modules.h"
#include "preload/openmp/runtime.h"
#include "preload/options.h"
#include "preload/process.h"

#include <dlfcn.h>

EXPORT int dlclose(void *handle)
{
    process_check(); /* else a child of a bare system call would tell its parent's file what it has closed */
    bool active = options.active;

    if (active)
        modules_closing();
    runtime_forget();
    int result = REAL(dlclose)(handle);
    runtime_forget();
    if (active)
        modules_refresh();
    return result;
}
