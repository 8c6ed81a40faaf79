/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/thread.h"

#include "preload/signals/altstack.h"
#include "preload/signals/blocked.h"
#include "preload/confine.h"
#include "preload/counts.h"
#include "preload/delay.h"
#include "preload/export.h"
#include "preload/handler.h"
#include "preload/libc.h"
#include "preload/patch/visits.h"
#include "preload/raw.h"
#include "preload/reach.h"
#include "preload/signals/signals.h"
#include "preload/sources/source.h"
#include "preload/start.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>

__thread struct thread self __attribute__((tls_model("initial-exec")));

static _Atomic uint32_t threads; /* numbers given out */
static pthread_key_t ending;
static bool have_key, others_begin;

/* Looked up before a thread begins, when a lock of the loader's harms nobody. Where these are in libpthread a program
 * without it has one thread alone. */
static struct {
    __typeof__(&pthread_getattr_np) getattr;
    __typeof__(&pthread_attr_getstack) getstack;
    __typeof__(&pthread_attr_setstacksize) setstacksize;
    __typeof__(&pthread_attr_getstacksize) getstacksize;
    __typeof__(&pthread_attr_getguardsize) getguardsize;
    __typeof__(&pthread_setspecific) setspecific;
    __typeof__(&pthread_self) self;
    __typeof__(&pthread_attr_destroy) destroy;
    __typeof__(&pthread_attr_init) init;
    __typeof__(&pthread_create) create;
} pthread;

extern void *__libc_stack_end;

/* The stack of a thread that is to be created: `bytes` that end at `end`, 0: where its record lies. Without bytes the
 * thread asks. */
struct room {
    uint64_t end, bytes;
};

static void note_thread(struct lane *lane)
{
    struct claim claim;
    struct hqm_thread *record = file_claim(HQM_THREADS, 1, &claim);

    lane->thread = record;
    if (!record)
        return;
    record->number = self.number;
    record->tid = (uint32_t)raw_gettid();
    record->creator = self.creator;
    record->creator_lane = self.creator_lane;
    record->creator_node = self.creator_node;
    record->start_us = self.start_us;
    record->lane = lane->number;
    file_publish(&claim);
}

struct lane *thread_lane(void)
{
    if (!self.lane && file_ready()) {
        self.lane = lane_take();
        if (self.lane) {
            note_thread(self.lane);
            self.lane->owner = self.number;
            counts_begin();
            if (options.trace)
                lane_trace(self.lane, self.number, HQM_TRACE_THREAD, 1, file_now_us());
        }
    }
    return self.lane;
}

void thread_mark(uint32_t node, unsigned mark, uint64_t now_us)
{
    if (!options.trace || !self.lane)
        return;
    if (!lane_trace(self.lane, node, HQM_TRACE_MARK, mark, now_us))
        file_lost(HQM_LOSS_TRACE, 1);
    if (options.counted)
        counts_note(now_us);
}

void guard_leave_at(struct place place)
{
    if (self.missed_any)
        sample_missed(place);
    guard_leave();
}

struct place thread_here(void)
{
    uint64_t reg[CFI_REGISTERS] = {0}, low, high;
    struct lane *lane = thread_lane();
    uint32_t partial;

    if (!lane)
        return (struct place){NO_NODE, 0};
    arch_registers_here(reg);
    thread_stack(reg[CFI_SP], &low, &high);
    return unwind(lane, reg, low, high, &partial);
}

struct place thread_caller(const uint64_t *frame_pointer)
{
    struct place place = {NO_NODE, 0};
    struct lane *lane = thread_lane();
    uint64_t low, high;
    uint32_t partial;

    if (lane) {
        thread_stack((uint64_t)frame_pointer, &low, &high);
        place = unwind_caller(lane, frame_pointer, low, high, &partial);
    }
    return lane && place.node == NO_NODE ? thread_here() : place;
}

/* The kernel lets the initial stack grow to its limit; beyond that it counts as a foreign stack, which works too. */
static void find_first_stack(void)
{
    struct rlimit limit;
    uint64_t size = 8 << 20;

    if (raw_getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < 1 << 30)
        size = limit.rlim_cur;
    self.stack_high = ((uint64_t)__libc_stack_end | 4095) + 1;
    self.stack_low = self.stack_high - size;
}

/*
 * A thread that somebody else's pthread_create begins (ThreadSanitizer's in the program) comes here before that one
 * knows it, so nothing of the program's may be called, and pthread_getattr_np calls malloc. The C library's record of
 * the thread is in the last pages of the stack, the program's frames are below it. Where the stack begins is known
 * roughly: its deepest eighth counts as a foreign one, which works too.
 */
static void find_stack_of(const struct room *room)
{
    self.stack_high = room->end ? room->end : (uint64_t)pthread.self();
    self.stack_low = self.stack_high - room->bytes + room->bytes / 8;
}

static void find_stack(const struct room *room)
{
    pthread_attr_t attributes;
    void *low;
    size_t bytes;

    if (room->bytes) {
        find_stack_of(room);
        return;
    }
    if (!have_key || pthread.getattr(pthread.self(), &attributes) != 0)
        return;
    if (pthread.getstack(&attributes, &low, &bytes) == 0) {
        self.stack_low = (uint64_t)low;
        self.stack_high = (uint64_t)low + bytes;
    }
    pthread.destroy(&attributes);
}

static void begin(struct altstack_place *place)
{
    uint64_t mask = 0;

    reach_begin();
    raw_sigmask(SIG_BLOCK, NULL, &mask);
    self.blocks_bus = mask & CUT_BIT;
    bool opened = cut_open();
    self.start_us = file_now_us();
    self.alive = true;
    self.busy = 0;
    self.stack = stacks_add(self.stack_low, self.stack_high);
    altstack_begin(place);
    signal_retake();
    signal_unblock();
    sources_start();
    cut_close(opened);
}

/* This thread ends: its sources stop and its lane is free for others. */
static void thread_end(void)
{
    if (!self.alive)
        return;
    bool opened = cut_open();
    sources_stop();
    self.busy = 1;
    self.alive = false;
    stacks_remove(self.stack);
    altstack_end();
    visits_forget();
    if (self.lane) {
        delay_end();
        if (self.lane->thread) {
            self.lane->thread->samples = self.samples;
            self.lane->thread->end_us = file_now_us();
        }
        lane_return(self.lane);
        self.lane = NULL;
    }
    cut_close(opened);
    reach_end();
}

/* Destructors run in rounds while there are values: waiting for a later one lets the program's own be measured. */
static void on_end(void *round)
{
    if ((intptr_t)round < 3)
        pthread.setspecific(ending, (void *)((intptr_t)round + 1));
    else
        thread_end();
}

static void *on_nothing(void *unused)
{
    return unused;
}

static void find_pthread(void)
{
    __typeof__(&pthread_key_create) create_key = have_key ? NULL : libc_find("pthread_key_create");

    if (!create_key)
        return;
    pthread.getattr = libc_find("pthread_getattr_np");
    pthread.getstack = libc_find("pthread_attr_getstack");
    pthread.setstacksize = libc_find("pthread_attr_setstacksize");
    pthread.getstacksize = libc_find("pthread_attr_getstacksize");
    pthread.getguardsize = libc_find("pthread_attr_getguardsize");
    pthread.setspecific = libc_find("pthread_setspecific");
    pthread.self = libc_find("pthread_self");
    pthread.destroy = libc_find("pthread_attr_destroy");
    pthread.init = libc_find("pthread_attr_init");
    pthread.create = libc_find("pthread_create");
    others_begin = libc_symbol(RTLD_DEFAULT, "pthread_create") != (void *)pthread_create;
    have_key = pthread.self && pthread.destroy && pthread.getattr && pthread.getstack && pthread.setstacksize &&
               pthread.setspecific && create_key(&ending, on_end) == 0;
}

void thread_have_handlers_set_up(void)
{
    pthread_attr_t attributes;
    pthread_t none;

    if (!have_key || !pthread.init || !pthread.create || pthread.init(&attributes) != 0)
        return;
    if (pthread.setstacksize(&attributes, (size_t)1 << 62) == 0 && pthread.create(&none, &attributes, on_nothing, NULL))
        signal_retake();
    pthread.destroy(&attributes);
}

void thread_begin_first(void)
{
    bool forked = self.alive;

    find_pthread();
    atomic_store(&threads, 1);
    self.number = self.creator = self.creator_lane = self.creator_node = 0;
    self.alone = true;
    self.lane = NULL;
    self.samples = 0;
    self.rest_until = 0;
    sources_forget();
    if (!forked)
        find_first_stack();
    stacks_forget();
    delay_begin();
    begin(altstack.memory ? NULL : altstack_take());
}

uint32_t thread_count(void)
{
    return atomic_load(&threads);
}

/* A file that is made later begins with the count. */
static void note_number(void)
{
    struct hqm_header *header = file_header();
    uint64_t count = header ? __atomic_load_n(&header->threads, __ATOMIC_RELAXED) : UINT64_MAX;

    while (count <= self.number && !__atomic_compare_exchange_n(&header->threads, &count, self.number + 1ull, true,
                                                                __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* One of the two routines: C11's return a number. */
struct beginning {
    void *(*routine)(void *);
    thrd_start_t routine_c11;
    void *argument;
    struct altstack_place *place;
    struct room room;
    uint32_t number;
    struct origin origin;
    bool blocks; /* SIGTRAP, as its creator does */
};
_Static_assert(sizeof(struct beginning) <= ALTSTACK_NOTE, "the place of an alternate stack has room for it");

static void begin_created(const struct beginning *beginning)
{
    self.number = beginning->number;
    self.creator = beginning->origin.creator;
    self.creator_lane = beginning->origin.lane;
    self.creator_node = beginning->origin.node;
    blocked_begin(beginning->blocks);
    find_stack(&beginning->room);
    if (have_key)
        pthread.setspecific(ending, (void *)1);
    note_number();
    begin(beginning->place);
}

static void *run(void *data)
{
    struct beginning beginning = *(struct beginning *)data;

    begin_created(&beginning);
    if (beginning.routine_c11)
        return (void *)(uintptr_t)beginning.routine_c11(beginning.argument);
    return beginning.routine(beginning.argument);
}

/* May the calling thread create one that is measured? Then the guard is up. */
static bool enter_creation(void)
{
    if (!have_key) {
        find_pthread();
        libc_find_missing();
    }
    start_once();
    process_check();
    return options.active && self.alive && !(confined & CONFINE_BEGINNINGS) && guard_enter();
}

static struct origin origin_of(struct place here)
{
    return here.node == NO_NODE ? (struct origin){.creator = self.number}
                                : (struct origin){self.number, self.lane->number, here.node};
}

/* Returns what a new thread of the program is to know at its start; NULL if it is not measured. */
static struct beginning *make_beginning(void)
{
    if (!enter_creation())
        return NULL;
    struct place here = thread_here();
    struct altstack_place *place = altstack_take();
    struct beginning *beginning = place ? altstack_note(place) : NULL;

    if (beginning)
        *beginning = (struct beginning){
            .number = atomic_fetch_add(&threads, 1), .origin = origin_of(here), .blocks = blocked_is(), .place = place};
    guard_leave_at(here);
    return beginning;
}

bool thread_creates(struct origin *origin, struct place *here)
{
    if (!enter_creation())
        return false;
    *here = thread_here();
    *origin = origin_of(*here);
    self.alone = false;
    return true;
}

void thread_begin(const struct origin *origin)
{
    uint64_t mask = 0;

    if (self.alive || !options.active || (confined & CONFINE_BEGINNINGS))
        return;
    raw_sigmask(SIG_BLOCK, NULL, &mask);
    begin_created(&(struct beginning){.number = atomic_fetch_add(&threads, 1),
                                      .origin = *origin,
                                      .blocks = mask >> (SIGTRAP - 1) & 1,
                                      .place = altstack_take()});
}

enum { SMALL_STACK = 256 << 10, OURS_ON_STACK = 4096 };

/* The C library takes thread-local storage, ours too, from the stack of a thread: a small one becomes larger by that,
 * if it is not the program's own memory, which reads as one that ends at address 0. `copy` shares what lies behind the
 * attributes. */
static const pthread_attr_t *with_room(const pthread_attr_t *attributes, pthread_attr_t *copy)
{
    void *low;
    size_t bytes;

    if (!attributes || !have_key || pthread.getstack(attributes, &low, &bytes) != 0 || (uint64_t)low + bytes != 0 ||
        !bytes || bytes >= SMALL_STACK)
        return attributes;
    *copy = *attributes;
    return pthread.setstacksize(copy, bytes + OURS_ON_STACK) == 0 ? copy : attributes;
}

static struct room room_of(const pthread_attr_t *attributes)
{
    struct room room = {0, 0};
    pthread_attr_t usual;
    size_t bytes, guard;
    void *low;

    if (!attributes && (!pthread.init || pthread.init(&usual) != 0))
        return room;
    const pthread_attr_t *asked = attributes ? attributes : &usual;
    if (pthread.getstack(asked, &low, &bytes) == 0 && bytes && (uint64_t)low + bytes != 0)
        room = (struct room){(uint64_t)low + bytes, bytes};
    else if (pthread.getstacksize && pthread.getguardsize && pthread.getstacksize(asked, &bytes) == 0 &&
             pthread.getguardsize(asked, &guard) == 0 && bytes > guard)
        room.bytes = (bytes & ~UINT64_C(4095)) - ((guard + 4095) & ~UINT64_C(4095));
    if (!attributes)
        pthread.destroy(&usual);
    return room;
}

static int create(pthread_t *thread, const pthread_attr_t *attributes, struct beginning *beginning)
{
    pthread_attr_t copy;

    self.alone = false;
    attributes = with_room(attributes, &copy);
    if (others_begin && have_key)
        beginning->room = room_of(attributes);
    int error = REAL(pthread_create)(thread, attributes, run, beginning);
    signal_retake();
    if (error)
        altstack_give_back(beginning->place);
    return error;
}

static int unmeasured(int result)
{
    signal_retake();
    return result;
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *), void *argument)
{
    struct beginning *beginning = make_beginning();

    if (!beginning)
        return unmeasured(REAL(pthread_create)(thread, attributes, routine, argument));
    beginning->routine = routine;
    beginning->argument = argument;
    return create(thread, attributes, beginning);
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t routine, void *argument)
{
    struct beginning *beginning = make_beginning();

    if (!beginning)
        return unmeasured(REAL(thrd_create)(thread, routine, argument));
    beginning->routine_c11 = routine;
    beginning->argument = argument;
    int error = create(thread, NULL, beginning);
    return error == 0 ? thrd_success : error == ENOMEM ? thrd_nomem : thrd_error;
}
