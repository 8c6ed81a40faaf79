/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A test build of the collector: linked with --wrap=unwind_interrupted, it walks every sampled stack a second time with
 * libunwind, without any cache, and compares all frames. The sums go to the file HQ_CHECK_FILE names, with the first
 * differences.
 *
 * libunwind finds unwind tables by dl_iterate_phdr, which takes the loader's lock and so must not be called in a signal
 * handler: here it is answered from _dl_find_object, for the address that libunwind's callback data begins with.
 */
#define UNW_LOCAL_ONLY
#include "preload/export.h"
#include "preload/file/lane.h"
#include "preload/thread.h"

#include <dlfcn.h>
#include <elf.h>
#include <libunwind.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

static __thread int comparing __attribute__((tls_model("initial-exec")));
static __thread ucontext_t context __attribute__((tls_model("initial-exec")));
static _Atomic unsigned long equal, lost, partial, different;
static struct {
    uint64_t ours[64], theirs[64];
    unsigned our_count, their_count;
} first[4];
static _Atomic unsigned firsts;

EXPORT int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
    struct dl_find_object found;
    struct dl_phdr_info info = {0};

    if (!comparing)
        return REAL(dl_iterate_phdr)(callback, data);
    if (_dl_find_object(*(void **)data, &found) != 0)
        return 0;
    const Elf64_Ehdr *elf = found.dlfo_map_start;
    info.dlpi_addr = found.dlfo_link_map->l_addr;
    info.dlpi_name = found.dlfo_link_map->l_name;
    info.dlpi_phdr = (const Elf64_Phdr *)((const char *)elf + elf->e_phoff);
    info.dlpi_phnum = elf->e_phnum;
    return callback(&info, sizeof info, data);
}

static unsigned walk(const uint64_t reg[CFI_REGISTERS], uint64_t *frames, unsigned room)
{
    static const uint8_t order[CFI_REGISTERS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                                 REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                                 REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    unw_cursor_t cursor;
    unw_word_t ip;
    unsigned count = 0;

    for (int i = 0; i < CFI_REGISTERS; i++)
        context.uc_mcontext.gregs[order[i]] = (greg_t)reg[i];
    if (unw_init_local2(&cursor, &context, UNW_INIT_SIGNAL_FRAME) < 0)
        return 0;
    do {
        unw_get_reg(&cursor, UNW_REG_IP, &ip);
        if (ip)
            frames[count++] = ip;
    } while (count < room && unw_step(&cursor) > 0);
    return count;
}

static int is_end(struct lane *lane, uint64_t ip, int foreign)
{
    struct code code;

    if (recipe_find(ip - 1, lane->memo.cfi).kind == RECIPE_END)
        return 1;
    /* the bottom of a coroutine; on a thread's own stack it is where libunwind went astray, while an exception
     * overwrites return addresses */
    return foreign && modules_find(ip, &code) && cfi_find(ip, &code, lane->memo.cfi) && lane->memo.cfi->start == ip;
}

/* From code without unwind information libunwind steps by a guess, by %rbp: out of deregister_tm_clones, which
 * crtbegin.o brings into every library, it goes past __do_global_dtors_aux. */
static int guesses_from(struct lane *lane, const uint64_t *theirs, unsigned at)
{
    struct code code;
    uint64_t address = theirs[at] - (at > 0);

    return modules_find(address, &code) && !cfi_find(address, &code, lane->memo.cfi);
}

struct place __real_unwind_interrupted(struct lane *, const uint64_t *, uint64_t, uint64_t, uint32_t *);
struct place __wrap_unwind_interrupted(struct lane *, const uint64_t *, uint64_t, uint64_t, uint32_t *);

struct place __wrap_unwind_interrupted(struct lane *lane, const uint64_t *reg, uint64_t low, uint64_t high,
                                       uint32_t *why)
{
    static __thread uint64_t theirs[512] __attribute__((tls_model("initial-exec")));
    struct place place = __real_unwind_interrupted(lane, reg, low, high, why);
    uint32_t depth = lane->memo.depth;
    const struct frame *frames = lane->memo.frames;

    comparing = 1;
    unsigned count = walk(reg, theirs, 512), same = 0, strange = *why;
    comparing = 0;
    if (*why || place.node == NO_NODE) {
        partial++;
        depth = 0;
    } else {
        uint32_t outermost = depth && frames[0].pc == 0;
        while (same < count && same < depth - outermost && frames[depth - 1 - same].pc == theirs[same])
            same++;
        if (same == count && same == depth - outermost)
            equal++;
        else if (count == 0 || !is_end(lane, theirs[count - 1], reg[CFI_SP] < low || reg[CFI_SP] >= high))
            lost++; /* libunwind did not find the end of the stack */
        else if (same > 0 && guesses_from(lane, theirs, same - 1))
            lost++; /* nor does it know the way there */
        else
            strange = 1, different++;
    }
    if (strange) {
        unsigned n = firsts++;
        if (n < 4) {
            first[n].their_count = count < 64 ? count : 64;
            first[n].our_count = depth < 64 ? depth : 64;
            for (unsigned i = 0; i < first[n].their_count; i++)
                first[n].theirs[i] = theirs[i];
            for (unsigned i = 0; i < first[n].our_count; i++)
                first[n].ours[i] = frames[depth - 1 - i].pc;
        }
    }
    return place;
}

static void print_frames(FILE *file, const char *who, const uint64_t *frames, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        Dl_info info;
        const char *name = dladdr((void *)frames[i], &info) && info.dli_sname ? info.dli_sname : "?";
        fprintf(file, "# %s %u %#lx %s\n", who, i, (unsigned long)frames[i], name);
    }
}

static __attribute__((constructor)) void set(void)
{
    unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_NONE);
}

static __attribute__((destructor)) void report(void)
{
    const char *name = getenv("HQ_CHECK_FILE");
    FILE *file = name ? fopen(name, "a") : NULL;

    if (!file)
        return;
    fprintf(file, "equal %lu\nlost %lu\npartial %lu\ndifferent %lu\n", equal, lost, partial, different);
    for (unsigned n = 0; n < firsts && n < 4; n++) {
        print_frames(file, "ours", first[n].ours, first[n].our_count);
        print_frames(file, "theirs", first[n].theirs, first[n].their_count);
    }
    fclose(file);
}
