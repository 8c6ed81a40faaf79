/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Load modules: what is mapped where, for the unwinder and for the measurement file.
 *
 * Modules are found when a sample first meets them (find.h); those present at the start are noted then. Two threads
 * that meet a new module at once may note it twice, which does no harm. A module stays in the table when it is
 * unloaded: loaded again at the same place it gets its number back.
 */
#ifndef HQ_PRELOAD_WALK_MODULES_H
#define HQ_PRELOAD_WALK_MODULES_H

#include "unwind/cfi.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MODULES_NOTED = 8192, MODULE_TEXTS = 4 };

struct module {
    uint64_t base, start, end; /* link address 0 is at base; mapped range */
    uint32_t flags;            /* HQM_MODULE_* */
    const char *path;
    bool lasts;    /* there before the program began: not unloaded, as a rule */
    uint32_t seen; /* the latest refresh that found it */
    bool doubted;  /* something was unloaded: to be compared with what is there when a sample next meets it */
    const uint8_t *eh_frame_hdr;
    struct index index;
    struct {
        uint64_t start, end;
        bool writable;
    } text[MODULE_TEXTS]; /* executable segments */
    uint64_t load_us, unload_us;
    uint64_t file_size, file_mtime_ns;
    uint8_t build_id_len, build_id[31];
    void *record; /* struct hqm_module in the measurement file */
};

/* Not in signal handlers: notes all modules that are loaded. */
void modules_start(void);

/*
 * Not in signal handlers: around a dlclose, of which the second notes which modules are gone. Others open and close
 * libraries too, so nothing of a module is read here; and what one call unmaps another thread may have filled and
 * sampled before the call returns, so meanwhile nothing is kept that is known of modules which may go.
 */
void modules_closing(void);
void modules_refresh(void);

/* Calls of dlclose: how often one began or ended, and how many are under way. */
extern struct modules_unloading {
    _Atomic uint32_t times, closing;
} modules_unloading;

/* Can the module be gone, and another in its place, at the next sample? */
bool modules_may_go(uint32_t number);

/* In a forked child: what other threads were about is not done here. */
void modules_forget(void);

/* False if the address is in no module (or in one that cannot be noted: counted as a loss). Safe in signal handlers. */
bool modules_find(uint64_t address, struct code *code);

/* For code in no module: the number of a module that has the same file elsewhere, 0: there is none. Names are those of
 * the file then; for the unwinder the code stays in no module. Safe in signal handlers. */
uint32_t modules_copy(uint64_t address);

/* The module with this number; numbers come from modules_find. */
const struct module *modules_get(uint32_t number);

/* Does the address lie in an executable segment of the module? */
bool modules_is_text(uint32_t number, uint64_t address);

/* The base of each module, a multiple of the page size, with MODULES_OWN set if it is the collector's: one cache line
 * holds eight modules. */
enum { MODULES_OWN = 1 };
extern uint64_t modules_bases[];

static inline uint64_t modules_base(uint32_t number)
{
    return __atomic_load_n(&modules_bases[number - 1], __ATOMIC_RELAXED) & ~(uint64_t)MODULES_OWN;
}

static inline bool modules_is_own(uint32_t number)
{
    return __atomic_load_n(&modules_bases[number - 1], __ATOMIC_RELAXED) & MODULES_OWN;
}

/* The number of the collector's own library, 0 if it has none. */
uint32_t modules_collector(void);

/* Writes a record for every module into a new measurement file. */
void modules_describe(void);

#endif
