/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/build/roles.h"

#include <stddef.h>
#include <string.h>

/* A name that ends with * stands for all that begin so: versions and copies (__libc_start_main@@GLIBC_2.34). */
static const struct {
    const char *name;
    enum role role;
} rows[] = {
    {"main", ROLE_MAIN},
    {"_start", ROLE_START},
    {"__libc_start_main*", ROLE_START},
    {"__libc_start_call_main*", ROLE_START},
    {"generic_start_main*", ROLE_START},
    {"libc_start_main_stage2", ROLE_START}, /* musl's */
    {"_start_c", ROLE_START},
    {"(below main)", ROLE_START}, /* valgrind's word */
    {"start_thread", ROLE_THREAD_START},
    {"thread_start", ROLE_THREAD_START},
    {"clone", ROLE_THREAD_START},
    {"clone3", ROLE_THREAD_START},
    {"__clone", ROLE_THREAD_START},
    {"__clone3", ROLE_THREAD_START},
    {"__GI___clone", ROLE_THREAD_START},
    {"__GI___clone3", ROLE_THREAD_START},
};

enum role role_of(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = strlen(rows[i].name);

        if (rows[i].name[n - 1] == '*' ? !strncmp(rows[i].name, name, n - 1) : !strcmp(rows[i].name, name))
            return rows[i].role;
    }
    return ROLE_PLAIN;
}
