/* SPDX-License-Identifier: BSD-3-Clause */
/* The consequences of a seccomp filter that the program has installed (confine.c). */
#ifndef HQ_PRELOAD_CONFINE_H
#define HQ_PRELOAD_CONFINE_H

enum {
    /* It would end a thread or a forked child at a system call that the collector makes when these begin: they run
     * unmeasured. */
    CONFINE_BEGINNINGS = 1,
    /* Likewise a program that is executed: it gets no collector. */
    CONFINE_PROGRAMS = 2,
    CONFINE_NUMBER = 4, /* nobody can ask for the number of the process */
    CONFINE_TIMERS = 8, /* no timer can be deleted */
    CONFINE_SAYING = 16 /* nothing can be written to standard error */
};

/* A union of these. What is set stays. Safe to read in signal handlers, and between fork or vfork and exec. */
extern volatile int confined;

/* A child of vfork, which shares these, that has confined the programs that it executes, and nobody else. 0: none. */
extern volatile int confined_child;

#endif
