/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands that are under way, and the events that the program sets itself. No function calls the driver. */
#ifndef HQ_PRELOAD_GPU_FLIGHTS_H
#define HQ_PRELOAD_GPU_FLIGHTS_H

#include "preload/sources/device.h"

/* A command that is under way. One thread gives it and another ends it, so it shares no cache line with others. */
struct flight {
    struct flight *next; /* of its bucket, or of the free ones */
    struct flight *watched_next;
    uintptr_t event;
    bool ours;    /* the event */
    bool user;    /* it is no command, but an event that the program sets itself */
    bool failed;  /* that was seen before the driver told, if it ever does */
    bool watched; /* the driver calls nobody back: its event is looked at */
    struct device_call call;
    struct hqm_command record;
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct flight) <= 256, "promised in doc/accelerators.md");

/* A cleared one, NULL: there is no memory. Given back by any thread, which waits for nobody. */
struct flight *flight_take(void);
void flight_give_back(struct flight *f);

/* Commands that the program has events of are found by these, while they are linked. */
void flight_link(struct flight *f);
void flight_unlink(struct flight *f);

/* The number of what is linked and has this event, 0: nothing. */
uint32_t flight_number(uintptr_t event, bool *user);

/* Marks a linked command as failed; false: there is none that is not. */
bool flight_fail(uintptr_t event, struct device_call *call);

/* Unlinks the program's own event; NULL: it is not known. */
struct flight *flight_take_user(uintptr_t event);

/* Those whose drivers call nobody back: one is added behind all others; the first one is taken out, NULL: there is
 * none; how many there are. */
void flight_watch(struct flight *f);
struct flight *flight_watched(void);
uint32_t flights_watched(void);

/* Whether a linked command with this event is watched. */
bool flight_is_watched(uintptr_t event);

/* In a forked child: what is under way is the parent's, and nobody holds a lock. */
void flights_forget(void);

#endif
