/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of the C library and the kernel, by the tables of what waits and of what is memory or input and output; and
 * names that only look so. */
#include "query/pattern/system.h"
#include "common/mem.h"
#include "common/names.h"
#include "tests/unit/test.h"
#include <string.h>

/* The first row that matches, "" if none does. */
static const char *row(const char *name, bool known, bool groups)
{
    static const struct {
        const char *match;
        int where;
    } waits[] =
        {
#define WAITS(match, where, for_) {match, where},
#include "query/pattern/waits.def"
        },
      calls[] = {
#define CALL(match, where, group) {match, where},
#include "query/measure/runtime_groups.def"
      };
    AUTO_FREE char *folded = name_folded(name);
    size_t count = groups ? sizeof calls / sizeof *calls : sizeof waits / sizeof *waits;

    for (size_t i = 0; i < count; i++) {
        const char *match = groups ? calls[i].match : waits[i].match;

        if ((groups ? calls[i].where : waits[i].where) == SYSTEM && system_name(match, folded, known))
            return match;
    }
    return "";
}

static bool waits(const char *name, bool known)
{
    return *row(name, known, false);
}

static bool grouped(const char *name, bool known)
{
    return *row(name, known, true);
}

TEST(what_the_c_library_and_the_kernel_call_it)
{
    static const char *const both[] = {"read",
                                       "__read",
                                       "__GI___libc_read",
                                       "__libc_read",
                                       "fread",
                                       "_IO_fread",
                                       "pread64",
                                       "__pread64_nocancel",
                                       "write",
                                       "__GI___libc_write",
                                       "fwrite",
                                       "poll",
                                       "__poll",
                                       "ppoll",
                                       "select",
                                       "__select",
                                       "pselect64",
                                       "recv",
                                       "__libc_recv",
                                       "accept4",
                                       "__connect",
                                       "__sendto",
                                       "fsync",
                                       "fdatasync",
                                       "readv"};
    static const char *const of_waits[] = {"__lll_lock_wait",
                                           "__lll_lock_wait_private",
                                           "futex_wait",
                                           "__futex_abstimed_wait_common64",
                                           "pthread_mutex_lock",
                                           "__pthread_mutex_lock@GLIBC_2.2.5",
                                           "___pthread_mutex_lock",
                                           "pthread_cond_wait@@GLIBC_2.3.2",
                                           "__pthread_clockjoin_ex",
                                           "clock_nanosleep",
                                           "__GI___clock_nanosleep",
                                           "usleep",
                                           "__wait4",
                                           "waitpid",
                                           "epoll_wait",
                                           "__GI_epoll_wait",
                                           "epoll_pwait2",
                                           "sem_wait@@GLIBC_2.2.5",
                                           "__new_sem_wait_slow64.constprop.0",
                                           "sigtimedwait"};
    static const char *const of_groups[] = {"malloc",
                                            "__libc_malloc",
                                            "_int_malloc",
                                            "malloc_consolidate",
                                            "reallocarray",
                                            "cfree",
                                            "sbrk",
                                            "__brk",
                                            "memcpy",
                                            "__memmove_avx_unaligned_erms",
                                            "__memset_evex_unaligned_erms",
                                            "wmemset",
                                            "__mempcpy",
                                            "fopen",
                                            "fopen64",
                                            "__openat64_nocancel",
                                            "fclose",
                                            "lseek",
                                            "fprintf",
                                            "vsnprintf",
                                            "__printf_chk",
                                            "_IO_file_xsputn",
                                            "fstat64"};
    static const char *const of_kernel[] = {"ksys_read",   "vfs_write",       "__x64_sys_poll",
                                            "do_sys_poll", "ext4_file_write", "do_futex"};

    for (size_t i = 0; i < sizeof both / sizeof *both; i++)
        for (int known = 0; known < 2; known++) {
            CHECK_EQ_STR(waits(both[i], known) ? both[i] : "does not wait", both[i]);
            CHECK_EQ_STR(grouped(both[i], known) ? both[i] : "in no group", both[i]);
        }
    for (size_t i = 0; i < sizeof of_waits / sizeof *of_waits; i++)
        for (int known = 0; known < 2; known++)
            CHECK_EQ_STR(waits(of_waits[i], known) ? of_waits[i] : "does not wait", of_waits[i]);
    for (size_t i = 0; i < sizeof of_groups / sizeof *of_groups; i++)
        for (int known = 0; known < 2; known++)
            CHECK_EQ_STR(grouped(of_groups[i], known) ? of_groups[i] : "in no group", of_groups[i]);
    for (size_t i = 0; i < sizeof of_kernel / sizeof *of_kernel; i++)
        CHECK_EQ_STR(waits(of_kernel[i], true) ? of_kernel[i] : "does not wait", of_kernel[i]);
}

TEST(what_only_ends_like_it)
{
    static const char *const never[] = {
        "start_thread", "kthread",   "my_thread", "std::thread", "spread", "worker_thread", "execute_native_thread",
        "dlopen",       "dlclose",   "overwrite", "rewrite",     "bread",  "deselect",      "resend",
        "async",        "disconnect"};
    static const char *const programs[] = {"mesh_read",         "read_mesh",    "state_write",  "task_poll",
                                           "pollute",           "pivot_select", "select_pivot", "accept_move",
                                           "metropolis_accept", "halo_send",    "tree_connect", "seek_root",
                                           "truncate_basis",    "is_lock_free", "grid_close",   "valve_open"};

    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        for (int known = 0; known < 2; known++) {
            CHECK_EQ_STR(row(never[i], known, false), "");
            CHECK_EQ_STR(row(never[i], known, true), "");
        }
    /* Those of programs whose load modules are not known. */
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        CHECK_EQ_STR(row(programs[i], false, false), "");
        CHECK_EQ_STR(row(programs[i], false, true), "");
    }
}

TEST(names_of_any_length)
{
    char name[20000];

    memset(name, '_', sizeof name);
    memcpy(name + sizeof name - 5, "read", 5);
    CHECK(!system_name("*read", name, true));
    CHECK(!system_name("*read", "", true));
    CHECK(system_name("read", "read", false));
    CHECK(!system_name("read", "pread", true));
}

TEST_MAIN
