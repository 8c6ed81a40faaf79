/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a register set to a node of the calling context tree.
 *
 * Frames are found with cached recipes (recipe.h). The walk is a function of the program counter, the stack and frame
 * pointers, the stack words it reads, and the unwind information. So the part of the previous sample that can be used
 * again ([tracing], section 3: "it is only necessary to unwind procedure frames that are new") is found strictly:
 * when the walk arrives at a frame with the same three registers as a frame of the previous sample, and every word that
 * was read from there outwards is unchanged, the rest of the path and its nodes are the same. Frames found in any
 * other way than by two words of the stack (signal frames, expressions) end that proof.
 *
 * Memory is read only inside the stack: the thread's own, or, on coroutine and alternate stacks, pages that the kernel
 * has just confirmed to be readable. Safe in signal handlers; no locks.
 */
#ifndef HQ_PRELOAD_WALK_UNWIND_H
#define HQ_PRELOAD_WALK_UNWIND_H

#include "preload/walk/recipe.h"

#include <ucontext.h>

struct lane;

enum { FRAMES_MAX = 8192 };

/* A frame of the previous sample, the outermost first. */
struct frame {
    uint64_t pc, sp, bp;
    union {
        uint32_t module; /* of a frame that was walked just now */
        uint32_t node;   /* of one that has its place in the tree */
    };
    int32_t how; /* FRAME_* and the distance of the word that bp came from */
};

/* `how`: distances are multiples of 8, so the low bits are free. */
enum { FRAME_EXACT = 1, FRAME_BARRIER = 2, FRAME_BP = 4 };

/* A node of a lane, and its path (lane_path). */
#define NO_NODE UINT32_MAX
struct place {
    uint32_t node, path;
};

struct memo {
    struct frame *frames, *fresh; /* FRAMES_MAX + 2 each */
    uint32_t *paths;              /* of the nodes of `frames` (lane_path) */
    uint32_t depth, generation;
    /* Of so many of the outermost frames each word that led there lies between the stack pointers of the next frame and
     * its own, and none was found otherwise. */
    uint32_t regular;
    struct cfi *cfi;       /* scratch */
    struct follow *follow; /* likewise, rarely touched; where code is followed */
    uint64_t hits, frames_reused, frames_walked, words_searched;
};

/* Where the sample was, NO_NODE if there is no space. `partial` is set to the reason (enum hqm_partial) or 0. */
struct place unwind(struct lane *lane, const uint64_t reg[CFI_REGISTERS], uint64_t stack_low, uint64_t stack_high,
                    uint32_t *partial);

/* Like unwind, for what a sample interrupted: there the collector's own code is a node below what called it, while it
 * has none where the collector asks for where it was called. */
struct place unwind_interrupted(struct lane *lane, const uint64_t reg[CFI_REGISTERS], uint64_t stack_low,
                                uint64_t stack_high, uint32_t *partial);

/*
 * Like unwind, for the caller of a function, whose frame is at `frame_pointer`: the place of the call. Only the
 * registers that are kept in a frame are known there: NO_NODE if others are needed.
 */
struct place unwind_caller(struct lane *lane, const uint64_t *frame_pointer, uint64_t stack_low, uint64_t stack_high,
                           uint32_t *partial);

/* Of the code that the signal has interrupted; where an instruction was replaced (patch/), of the original. */
void unwind_registers(const ucontext_t *context, uint64_t reg[CFI_REGISTERS]);

/* Below which node the paths of the thread begin: the phase that it is in, else the root. */
struct place unwind_base(struct lane *lane);

/* The next sample of the lane is another thread's: nothing of the previous one holds. */
void unwind_forget(struct lane *lane);

#endif
