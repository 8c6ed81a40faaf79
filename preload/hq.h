/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For programs that want to choose what `hq record` measures:
 *
 *     #include <hq.h>
 *     hq_stop();  read_input();  hq_start();  compute();
 *
 * `hq record --stopped` begins with measurement stopped. Both calls concern the whole process and may be made in any
 * thread. Nothing is linked: without the collector each call is a test of a pointer that is NULL.
 */
#ifndef HQ_H
#define HQ_H

#ifdef __cplusplus
extern "C" {
#endif

extern void hq_collector_start(void) __attribute__((weak));
extern void hq_collector_stop(void) __attribute__((weak));

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

#ifdef __cplusplus
}
#endif

#endif
