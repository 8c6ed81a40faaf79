/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/walk/unwind.h"

#include "preload/hot.h"
#include "preload/file/lane.h"
#include "preload/openmp/marks.h"
#include "preload/patch/original.h"
#include "preload/walk/walk.h"

enum { AHEAD = 12 }; /* frames */

HOT void unwind_registers(const ucontext_t *context, uint64_t reg[CFI_REGISTERS])
{
    arch_registers(context, reg);
    patch_original(reg);
}

/*
 * A faster memo_holds for the case that nothing differs and all lies in [low, high), the part of the stack that can be
 * read: where the frames are regular that follows from the first and the last of them. Words are compared without
 * waiting for the one before. False: not so, or something differs.
 */
static HOT bool memo_holds_at_once(const struct memo *memo, uint32_t count, uint64_t low, uint64_t high)
{
    const struct frame *frames = memo->frames;
    uint64_t different = 0;

    if (count > memo->regular || frames[count].sp < low || frames[0].sp > high)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct frame *f = &frames[i];
        int32_t how = f->how;

        different |= arch_code_address(*(const uint64_t *)(f->sp + (uint64_t)(int64_t)arch_return_at(how))) ^ f->pc;
        if (how & FRAME_BP)
            different |= *(const uint64_t *)(f->sp + (uint64_t)(int64_t)(how & ~7)) ^ f->bp;
    }
    return !different;
}

/* Frame `at` has been noted: does what memo_holds_at_once wants hold for the one outside of it? */
static inline void note_regular(struct memo *memo, uint32_t at)
{
    const struct frame *f = &memo->frames[at ? at - 1 : 0];
    int64_t outer = arch_return_at(f->how), inner = f->how & FRAME_BP ? f->how & ~7 : -8;

    if (memo->regular + 1 == at && !(f->how & FRAME_BARRIER) && outer <= -8 && inner <= -8 &&
        memo->frames[at].sp < f->sp && f->sp - memo->frames[at].sp >= (uint64_t)(outer < inner ? -outer : -inner))
        memo->regular = at;
}

/*
 * Are all words that led from frame `index` of the previous sample to its outermost frame what they were? On failure
 * `index` becomes the first frame beyond the difference.
 */
static HOT bool memo_holds(struct walk *w, uint32_t *index)
{
    const struct frame *frames = w->memo->frames;
    uint64_t value;

    if (memo_holds_at_once(w->memo, *index, w->stack.low, w->stack.high))
        return true;
    for (uint32_t i = *index; i-- > 0;) {
        const struct frame *f = &frames[i];
        bool same = !(f->how & FRAME_BARRIER) &&
                    walk_load(&w->stack, f->sp + (uint64_t)(int64_t)arch_return_at(f->how), &value) &&
                    arch_code_address(value) == f->pc;

        if (same && f->how & FRAME_BP)
            same = walk_load(&w->stack, f->sp + (uint64_t)(int64_t)(f->how & ~7), &value) && value == f->bp;
        if (!same) {
            *index = i;
            return false;
        }
    }
    return true;
}

/* Tries the known causes of a failed walk (a switched stack, an exception under way), and walks on if it was one of
 * them. */
static COLD void walk_behind(struct walk *w)
{
    uint32_t reason = w->partial;

    if (!walk_behind_switch(w) && !walk_behind_exception(w))
        w->partial = reason;
}

/* Walks outwards; returns how many frames of the previous sample stay. */
static HOT __attribute__((noinline)) uint32_t walk_out(struct walk *w)
{
    struct memo *memo = w->memo;
    uint32_t candidate = w->thorough ? 0 : memo->depth;

    for (;;) {
        uint64_t sp = w->reg[CFI_SP];

        while (candidate && memo->frames[candidate - 1].sp < sp)
            candidate--;
        /* A procedure that has not touched the stack, and its caller. */
        if (CFI_LINKS && candidate > 1 && memo->frames[candidate - 1].pc != w->reg[CFI_PC] &&
            memo->frames[candidate - 2].sp == sp)
            candidate--;
        if (candidate && memo->frames[candidate - 1].sp == sp) {
            const struct frame *f = &memo->frames[candidate - 1];
            uint32_t index = candidate - 1;
            if (f->pc == w->reg[CFI_PC] && f->bp == w->reg[CFI_FP] &&
                (f->how & FRAME_EXACT) == (w->how & FRAME_EXACT)) {
                if (memo_holds(w, &index))
                    return candidate;
                candidate = index;
            }
        }
        if (w->frames >= FRAMES_MAX) {
            w->partial = HQM_PARTIAL_TOO_DEEP;
            return 0;
        }
        if (w->reg[CFI_PC] == 0 && w->frames) {
            if (walk_behind_zero(w))
                return 0;
            memo->fresh[w->frames++] = (struct frame){.sp = sp, .bp = w->reg[CFI_FP], .how = w->how};
            return 0;
        }
        switch (walk_step(w)) {
        case STEP_ON: break;
        case STEP_END: return 0;
        case STEP_FAILED: walk_behind(w); return 0;
        case STEP_MORE_REGISTERS: w->unknown = true; return 0;
        }
    }
}

/* The collector itself was interrupted, outside of its guard: that is its own work below what called it, as that inside
 * is (handler.c). */
static COLD bool name_own_work(uint32_t *kind, uint64_t *offset)
{
    uint32_t number = modules_collector();

    *kind = (uint32_t)HQM_NODE_FRAME << HQM_MODULE_BITS | number;
    *offset = 0;
    return number != 0;
}

/* How a frame is named in the tree. False: it has no node of its own, as wrappers between the program and what it calls
 * have none. */
static inline bool name_of(const struct frame *f, bool interrupted, uint32_t *kind, uint64_t *offset)
{
    uint32_t module = f->module;

    *kind = (uint32_t)HQM_NODE_FRAME << HQM_MODULE_BITS | module;
    *offset = f->pc - (module ? modules_base(module) : 0) - (f->how & FRAME_EXACT ? 0 : 1);
    if (module && modules_is_own(module))
        return interrupted && name_own_work(kind, offset);
    return f->pc != 0;
}

/* How many marks lie outside of a frame: their nodes are above it. */
static inline uint32_t marks_outside(uint64_t sp)
{
    uint32_t n = 0;

    while (n < marks.count && marks.mark[n].sp >= sp)
        n++;
    return n;
}

/* Is a mark passed on the way to this frame, and is it still what it was? `kind` and `offset` name its node. */
static COLD bool pass_mark(const struct mark *mark, const struct frame *f, uint32_t *kind, uint64_t *offset)
{
    uint32_t module = f->module;

    *kind = mark->kind << HQM_MODULE_BITS;
    *offset = mark->region;
    return mark->module == MARK_ANY || mark->module == module ||
           (mark->module == MARK_OURS && module && modules_is_own(module));
}

static inline bool mark_ahead(const struct frame *f, uint32_t next)
{
    return next < marks.count && f->sp <= marks.mark[next].sp;
}

HOT struct place unwind_base(struct lane *lane)
{
    const uint32_t kind = (uint32_t)HQM_NODE_PHASE << HQM_MODULE_BITS;
    uint64_t phase = marks.phase;
    uint32_t path = phase ? lane_path(0, kind, phase) : 0;

    return (struct place){phase ? lane_child(lane, 0, path, kind, phase) : 0, path};
}

/* Word by word, which compilers are kept from joining: a load of two words that were stored one by one just now has to
 * wait until both have left the processor's buffer of stores. */
static inline void keep_frame(struct frame *to, const struct frame *from, uint32_t node)
{
    uint64_t pc = from->pc, sp = from->sp, bp = from->bp;
    int32_t how = from->how;

    __asm__("" : "+r"(pc), "+r"(sp), "+r"(bp), "+r"(how));
    *to = (struct frame){pc, sp, bp, {.node = node}, how};
}

/*
 * Puts the fresh frames inside the kept ones, with their nodes. Where the tree is large, no node of it is in the
 * processor's caches, and each is looked for below its parent: so all are asked for some frames ahead, by their paths.
 */
static HOT struct place insert(struct lane *lane, struct walk *w, uint32_t kept)
{
    struct memo *memo = &lane->memo;
    struct place here = kept ? (struct place){memo->frames[kept - 1].node, memo->paths[kept - 1]} : unwind_base(lane);
    uint32_t kind, ahead, first = kept, paths = w->frames, mark = 0, mark_of_path = 0;
    uint64_t offset;

    if (kept && marks.count)
        mark = mark_of_path = marks_outside(memo->frames[kept - 1].sp);
    if (w->partial && here.node != NO_NODE) {
        kind = (uint32_t)HQM_NODE_PARTIAL << HQM_MODULE_BITS;
        here.path = lane_path(here.path, kind, w->partial);
        here.node = lane_child(lane, here.node, here.path, kind, w->partial);
    }
    ahead = here.path;
    if (memo->regular >= kept)
        memo->regular = kept ? kept - 1 : 0;
    for (uint32_t i = w->frames; i-- > 0 && here.node != NO_NODE;) {
        const struct frame *f = &memo->fresh[i];

        for (; paths && paths + AHEAD > i; paths--) {
            for (; mark_ahead(&memo->fresh[paths - 1], mark_of_path); mark_of_path++)
                if (pass_mark(&marks.mark[mark_of_path], &memo->fresh[paths - 1], &kind, &offset))
                    ahead = lane_path(ahead, kind, offset);
            if (name_of(&memo->fresh[paths - 1], paths == 1 && w->interrupted, &kind, &offset)) {
                ahead = lane_path(ahead, kind, offset);
                lane_child_prefetch(lane, ahead);
            }
            memo->paths[first++] = ahead;
        }
        for (; mark_ahead(f, mark) && here.node != NO_NODE; mark++)
            if (pass_mark(&marks.mark[mark], f, &kind, &offset))
                here.path = lane_path(here.path, kind, offset),
                here.node = lane_child(lane, here.node, here.path, kind, offset);
        here.path = memo->paths[kept];
        if (here.node != NO_NODE && name_of(f, i == 0 && w->interrupted, &kind, &offset))
            here.node = lane_child(lane, here.node, here.path, kind, offset);
        keep_frame(&memo->frames[kept], f, here.node);
        note_regular(memo, kept++);
    }
    memo->depth = w->partial || here.node == NO_NODE ? 0 : kept;
    return here;
}

static COLD uint32_t walk_thoroughly(struct walk *w, const uint64_t reg[CFI_REGISTERS], uint64_t low, uint64_t high)
{
    w->thorough = true;
    walk_start(w, w->memo, reg, low, high);
    return walk_out(w);
}

/* Of the previous sample only the frames outside of the marks that have come or gone since keep their nodes. */
static void forget_changed(struct memo *memo, uint64_t low, uint64_t high)
{
    uint64_t changed = marks.changed;

    if (changed > marks.gone)
        marks.gone = changed; /* before it is forgotten: the handler may come between the two */
    atomic_signal_fence(memory_order_seq_cst);
    marks.changed = 0;
    if (memo->depth && (memo->frames[memo->depth - 1].sp < low || memo->frames[memo->depth - 1].sp >= high))
        memo->depth = 0; /* on another stack */
    while (memo->depth && memo->frames[memo->depth - 1].sp <= changed)
        memo->depth--;
}

/* Before a walk: what does not hold any more of the previous one is forgotten. */
static inline void freshen(struct memo *memo, uint64_t low, uint64_t high)
{
    uint32_t times = atomic_load_explicit(&modules_unloading.times, memory_order_acquire);

    if (memo->generation != times || atomic_load_explicit(&modules_unloading.closing, memory_order_acquire)) {
        memo->generation = times;
        memo->depth = 0;
        cfi_forget(memo->cfi);
    }
    if (marks.waiting)
        marks_settle();
    if (marks.changed)
        forget_changed(memo, low, high);
}

static inline struct place finish(struct lane *lane, struct walk *w, uint32_t kept, uint32_t *partial)
{
    lane->memo.hits += kept > 0;
    lane->memo.frames_reused += kept;
    lane->memo.frames_walked += w->frames;
    *partial = w->partial;
    return insert(lane, w, kept);
}

static HOT __attribute__((noinline)) struct place unwind_from(struct lane *lane, const uint64_t reg[CFI_REGISTERS],
                                                              uint64_t low, uint64_t high, uint32_t *partial,
                                                              bool interrupted)
{
    uint32_t kept;
    struct walk w;

    freshen(&lane->memo, low, high);
    w.thorough = false;
    w.interrupted = interrupted;
    walk_start(&w, &lane->memo, reg, low, high);
    kept = walk_out(&w);
    if (w.unknown || (kept + w.frames > FRAMES_MAX && !w.partial))
        kept = walk_thoroughly(&w, reg, low, high);
    return finish(lane, &w, kept, partial);
}

HOT struct place unwind(struct lane *lane, const uint64_t reg[CFI_REGISTERS], uint64_t low, uint64_t high,
                        uint32_t *partial)
{
    return unwind_from(lane, reg, low, high, partial, false);
}

HOT struct place unwind_interrupted(struct lane *lane, const uint64_t reg[CFI_REGISTERS], uint64_t low, uint64_t high,
                                    uint32_t *partial)
{
    return unwind_from(lane, reg, low, high, partial, true);
}

/* The place of the caller, if it is a frame of the previous walk from which outwards nothing has changed; what was
 * inside of it is forgotten. */
static inline struct place known_caller(struct memo *memo, const uint64_t *frame_pointer, uint64_t low, uint64_t high)
{
    uint64_t sp = (uint64_t)(frame_pointer + 2);
    uint32_t depth = memo->depth;
    const struct frame *f;

    while (depth && memo->frames[depth - 1].sp < sp)
        depth--;
    if (!depth)
        return (struct place){NO_NODE, 0};
    f = &memo->frames[depth - 1];
    if (f->sp != sp || f->pc != arch_code_address(frame_pointer[1]) || f->bp != frame_pointer[0] ||
        f->how & FRAME_EXACT || !memo_holds_at_once(memo, depth - 1, low, high))
        return (struct place){NO_NODE, 0};
    memo->depth = depth;
    memo->hits++;
    memo->frames_reused += depth;
    return (struct place){f->node, memo->paths[depth - 1]};
}

static __attribute__((noinline)) struct place walk_from_caller(struct lane *lane, const uint64_t *frame_pointer,
                                                               uint64_t low, uint64_t high, uint32_t *partial)
{
    const uint64_t reg[CFI_REGISTERS] = {[CFI_FP] = frame_pointer[0],
                                         [CFI_PC] = arch_code_address(frame_pointer[1]),
                                         [CFI_SP] = (uint64_t)(frame_pointer + 2)};
    uint32_t kept;
    struct walk w;

    w.thorough = w.interrupted = false;
    walk_start(&w, &lane->memo, reg, low, high);
    w.known = WALK_BEHIND_RECORD;
    w.how = 0;
    kept = walk_out(&w);
    if (w.unknown || kept + w.frames > FRAMES_MAX)
        return (struct place){NO_NODE, 0};
    return finish(lane, &w, kept, partial);
}

struct place unwind_caller(struct lane *lane, const uint64_t *frame_pointer, uint64_t low, uint64_t high,
                           uint32_t *partial)
{
    struct place known;

    *partial = 0;
    freshen(&lane->memo, low, high);
    known = known_caller(&lane->memo, frame_pointer, low, high);
    return known.node != NO_NODE ? known : walk_from_caller(lane, frame_pointer, low, high, partial);
}

void unwind_forget(struct lane *lane)
{
    lane->memo.depth = 0;
}
