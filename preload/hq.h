/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For programs that want to choose what `hq record` measures, and to say what they are at:
 *
 *     #include <hq.h>
 *     hq_stop();  read_input();  hq_start();  compute();
 *     hq_phase_begin("solve");  ...  hq_phase_end();
 *
 * `hq record --stopped` begins with measurement stopped. hq_start and hq_stop concern the whole process and may be made
 * in any thread. Nothing is linked: without the collector each call is a test of a pointer that is NULL.
 *
 * A phase is one of the calling thread: what it does until the matching hq_phase_end. Phases nest, and an end closes
 * the one that was begun last. The name is copied; a process may have 1024 different ones. The two calls need not be
 * made in one procedure. hq shows a phase as a scope on the call path, below the one that is common to the first call
 * and to what was done in the phase; its visits are counted and timed exactly (doc/phases.md). Not for signal handlers.
 *
 * In C++ an object lasts as long as its block, however that is left:
 *
 *     hq_phase phase("solve");
 *
 * Fortran: hq.f90 beside this file.
 */
#ifndef HQ_H
#define HQ_H

#ifdef __cplusplus
extern "C" {
#endif

extern void hq_collector_start(void) __attribute__((weak));
extern void hq_collector_stop(void) __attribute__((weak));
extern void hq_collector_phase_begin(const char *name) __attribute__((weak));
extern void hq_collector_phase_end(void) __attribute__((weak));

static inline void hq_start(void)
{
    if (hq_collector_start)
        hq_collector_start();
}

static inline void hq_stop(void)
{
    if (hq_collector_stop)
        hq_collector_stop();
}

static inline void hq_phase_begin(const char *name)
{
    if (hq_collector_phase_begin)
        hq_collector_phase_begin(name);
}

static inline void hq_phase_end(void)
{
    if (hq_collector_phase_end)
        hq_collector_phase_end();
}

#ifdef __cplusplus
}

class hq_phase
{
  public:
    explicit hq_phase(const char *name)
    {
        hq_phase_begin(name);
    }
    ~hq_phase()
    {
        hq_phase_end();
    }
    hq_phase(const hq_phase &) = delete;
    hq_phase &operator=(const hq_phase &) = delete;
};
#endif

#endif
