/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device's clock against the host's, over all of a run. No command is given to the device for it: of each command it
 * is known that it was queued while the host was in the call that enqueued it, and had ended when the host saw that;
 * where the device's clock can be read, instants of the host's before and after that are known too. So the difference
 * of the clocks is bounded at these instants; what is taken is the straight line that keeps most away from all bounds.
 */
#ifndef HQ_DB_BUILD_DEVICE_CLOCK_H
#define HQ_DB_BUILD_DEVICE_CLOCK_H

#include "common/vec.h"

#include <stdint.h>

struct device_bound {
    double at, difference; /* ns, from the origins of the clock */
};

struct device_clock {
    uint64_t host, device;                        /* origins: instants of the two clocks that the others count from */
    VEC(struct device_bound) low, high;           /* the difference is not below, not above: by commands */
    VEC(struct device_bound) read_low, read_high; /* by readings */
    double first, last;
    double offset, slope; /* host - device, without the origins, at 0, and by ns of the device */
    double error;         /* ns: how far it may be off at either end */
};

/* A command as it was seen. Times as in struct hqm_command. */
void device_clock_bound(struct device_clock *c, uint64_t called, uint64_t returned, uint64_t queued, uint64_t end,
                        uint64_t seen);

/* The device's clock was read between two instants of the host's. */
void device_clock_pair(struct device_clock *c, uint64_t before, uint64_t after, uint64_t device);

/* Finds the line, when all bounds are there. Readings that no line can have together with the commands are left out;
 * bounds of commands that contradict each other give the line that is wrong by least. */
void device_clock_fit(struct device_clock *c);

/* An instant of the device on the host's clock, in ns. */
uint64_t device_clock_host(const struct device_clock *c, uint64_t device_ns);

void device_clock_deinit(struct device_clock *c);

#endif
