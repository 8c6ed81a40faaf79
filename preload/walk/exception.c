/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When an exception has found its handler, the C++ runtime (libgcc's uw_install_context) writes the handler's registers
 * over those that its own frame has saved, its return address among them. For the last microsecond before the handler
 * runs no unwind information describes the stack: the frames in between are dead. A program that does little but throw
 * spends one sample in a hundred there.
 *
 * The frames that still stand lie further out. They are found by their return addresses: the innermost word that is
 * one, and from which the unwind information leads to the end of the stack without a fault.
 */
#include "preload/walk/walk.h"

#include <string.h>

enum { WORDS_MAX = 4096 };

static bool in_runtime(const struct frame *frame)
{
    const char *path = frame->module ? modules_get(frame->module)->path : "";

    return strstr(path, "libgcc_s.so") != NULL;
}

/* The outermost of the innermost frames that belong to the runtime; what follows it was guessed from an overwritten
 * word. */
static uint32_t frames_of_runtime(const struct walk *w)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < w->frames && i < 16; i++)
        if (in_runtime(&w->memo->fresh[i]))
            count = i + 1;
    return count;
}

static bool walk_from(struct walk *w, uint64_t pc, uint64_t at)
{
    walk_found_return(w, pc, at);
    w->how = FRAME_BARRIER;
    w->partial = 0;
    return walk_to_end(w);
}

bool walk_behind_exception(struct walk *w)
{
    uint32_t reason = w->partial, kept = frames_of_runtime(w), tried = w->frames;
    uint64_t pc, at = kept && kept < w->frames ? w->memo->fresh[kept].sp : w->reg[CFI_SP];

    if (!kept)
        return false;
    for (int i = 0; i < WORDS_MAX && walk_load(&w->stack, at, &pc); i++, at += 8) {
        pc = arch_code_address(pc);
        w->memo->words_searched++;
        if (!walk_plausible_return(w, pc))
            continue;
        w->frames = kept;
        if (walk_from(w, pc, at))
            return true;
        w->memo->words_searched += w->frames;
    }
    w->frames = tried < kept ? tried : kept;
    w->partial = reason;
    return false;
}

bool walk_behind_zero(struct walk *w)
{
    uint32_t kept = frames_of_runtime(w);

    if (!kept || w->frames > kept + 1)
        return false;
    if (!walk_behind_exception(w))
        w->partial = HQM_PARTIAL_BAD_ADDRESS;
    return true;
}
