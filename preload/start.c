/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/start.h"

#include "preload/signals/entry.h"
#include "preload/export.h"
#include "preload/file/file.h"
#include "preload/walk/find.h"
#include "preload/libc.h"
#include "preload/walk/modules.h"
#include "preload/options.h"
#include "preload/patch/patch.h"
#include "preload/process.h"
#include "preload/raw.h"
#include "preload/reach.h"
#include "preload/signals/signals.h"
#include "preload/sources/source.h"
#include "preload/thread.h"
#include "preload/walk/vdso.h"
#include "preload/weak.h"

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

static void begin(void)
{
    say_prepare();
    real_find_all(libc_find_first);
    weak_forget();
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

/* A handler that a constructor has set up before us waits: it may leave by a jump, fork, or interrupt us as often as we
 * come on by an instruction. What an instruction raises comes at once, as what a filter of system calls does. */
void start_once(void)
{
    const uint64_t waits = ~(uint64_t)(ENTRY_FAULTS | 1 << (SIGTRAP - 1) | 1 << (SIGSYS - 1));
    static bool started;
    uint64_t before;

    if (started)
        return;
    started = true;
    bool blocked = raw_sigmask(SIG_BLOCK, &waits, &before) == 0;
    begin();
    before = waits & ~before;
    if (blocked)
        raw_sigmask(SIG_UNBLOCK, &before, NULL);
}

static __attribute__((constructor)) void start(void)
{
    start_once();
}
