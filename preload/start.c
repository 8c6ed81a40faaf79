/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/start.h"

#include "preload/export.h"
#include "preload/file.h"
#include "preload/find.h"
#include "preload/libc.h"
#include "preload/modules.h"
#include "preload/options.h"
#include "preload/patch/patch.h"
#include "preload/process.h"
#include "preload/raw.h"
#include "preload/reach.h"
#include "preload/signals.h"
#include "preload/sources/source.h"
#include "preload/thread.h"
#include "preload/vdso.h"

#include <stdlib.h>
#include <string.h>

/* Said once per launch: the children of this process inherit the mark. */
static void complain(int error)
{
    if (!getenv("HQ_TOLD"))
        say("cannot write measurements in ", options.directory, ": ", libc_error(error),
            "; the program runs unmeasured (--buffer DIR writes elsewhere first)", NULL);
    libc_setenv("HQ_TOLD", "1");
}

void start_once(void)
{
    static bool started;

    if (started)
        return;
    started = true;
    say_prepare();
    real_find_all(libc_find_first);
    if (!options_read())
        return;
    options.active = false;
    if (!signal_may_be_handled()) {
        if (!getenv("HQ_TOLD"))
            say("a filter of system calls forbids signal handlers; the program runs unmeasured", NULL);
        libc_setenv("HQ_TOLD", "1");
        return;
    }
    reach_prepare();
    vdso_find_clock();
    if (!sources_prepare())
        return;
    if (!file_ready()) {
        complain(file_error());
        return;
    }
    find_prepare();
    modules_start();
    vdso_keep();
    if (!process_start()) {
        say("there is no memory for the collector; the program runs unmeasured", NULL);
        return;
    }
    options.active = true;
    patch_prepare();
    signal_start();
    thread_begin_first();
    patch_start();
}

static __attribute__((constructor)) void start(void)
{
    start_once();
}
