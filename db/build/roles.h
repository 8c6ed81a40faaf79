/* SPDX-License-Identifier: BSD-3-Clause */
/* The roles of procedures at the top of call paths: frames above main, and above the first procedure of a thread, are
 * not shown. */
#ifndef HQ_DB_BUILD_ROLES_H
#define HQ_DB_BUILD_ROLES_H

enum role {
    ROLE_PLAIN,
    ROLE_MAIN,
    ROLE_START,        /* what calls main: _start, __libc_start_main */
    ROLE_THREAD_START, /* clone, start_thread */
    ROLE_UNNAMED,      /* stripped: could be any of these. Never of role_of */
};

/* By its name, as the linker or another tool has it. */
enum role role_of(const char *name);

#endif
