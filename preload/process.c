/* SPDX-License-Identifier: BSD-3-Clause */
/* fork, exec and the ways to end: a forked child gets a file of its own when it is first sampled, exec starts anew. */
#include "preload/process.h"

#include "preload/signals/blocked.h"
#include "preload/confine.h"
#include "preload/delay.h"
#include "preload/file/deliver.h"
#include "preload/export.h"
#include "preload/file/file.h"
#include "preload/loader.h"
#include "preload/walk/loose.h"
#include "preload/walk/modules.h"
#include "preload/openmp/changes.h"
#include "preload/openmp/region.h"
#include "preload/phases.h"
#include "preload/options.h"
#include "preload/patch/visits.h"
#include "preload/raw.h"
#include "preload/signals/signals.h"
#include "preload/sources/device.h"
#include "preload/sources/source.h"
#include "preload/thread.h"
#include "preload/unloaded.h"

#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * A page that the kernel empties in every forked child, however it was forked: a child made by a bare system call has
 * not been through after_fork, and must not write into its parent's file.
 */
volatile int *process_page;
unsigned process_forks;
static int own_pid; /* of the process that has this memory; a child of vfork has another */

bool process_is_this(void)
{
    return confined & CONFINE_NUMBER || own_pid == raw_getpid();
}

/* Is this the process that the measurement file belongs to? Not so in a child made by vfork, which shares all memory.
 */
static bool process_is_own(void)
{
    const struct hqm_header *header = file_header();

    return header && (confined & CONFINE_NUMBER || header->pid == (uint32_t)raw_getpid());
}

/* A child that is not measured. Not even what its parent has mapped is given back: that, too, is a system call. */
static void leave(void)
{
    raw_frozen = 1;
    options.active = false;
    self.alive = false;
    self.lane = NULL;
    atomic_store(&file_current_header, NULL);
}

static void after_fork(void)
{
    if (!options.active)
        return;
    changes_watch(NULL);
    *process_page = 1;
    if (confined & CONFINE_BEGINNINGS) {
        leave();
        return;
    }
    own_pid = raw_getpid();
    process_forks++;
    loader_forget();
    modules_forget();
    loose_forget();
    file_forget();
    lane_forget_all();
    regions_forget();
    phases_forget();
    visits_forget();
    device_forget();
    signal_after_fork();
    thread_begin_first();
}

/* Whoever comes first: in another's handler of pthread_atfork a child may create threads before ours is called. */
void process_check(void)
{
    if (options.active && !process_is_known())
        after_fork();
}

bool process_start(void)
{
    void *page = raw_memory(4096);

    if (!page || raw_madvise(page, 4096, MADV_WIPEONFORK) < 0)
        return false;
    process_page = page;
    *process_page = 1;
    own_pid = raw_getpid();
    return pthread_atfork(loader_before_fork, loader_after_fork, process_check) == 0;
}

EXPORT pid_t _Fork(void)
{
    pid_t pid = REAL(_Fork)();

    if (pid == 0)
        after_fork();
    return pid;
}

struct cloned {
    int (*function)(void *);
    void *argument;
};

/* The child has a copy of its parent's stack, so nothing is allocated, nor given back: another thread may have been
 * inside of malloc. */
static int run_clone(void *data)
{
    struct cloned cloned = *(struct cloned *)data;

    after_fork();
    return cloned.function(cloned.argument);
}

/* Without shared memory clone is a fork. With it the child is a thread that the C library does not know: it is not
 * measured. */
EXPORT int clone(int (*function)(void *), void *stack, int flags, void *argument, ...)
{
    struct cloned cloned = {function, argument};
    va_list rest;

    va_start(rest, argument);
    pid_t *parent_id = va_arg(rest, pid_t *);
    void *tls = va_arg(rest, void *);
    pid_t *child_id = va_arg(rest, pid_t *);
    va_end(rest);
    if (!options.active || flags & CLONE_VM || !function)
        return REAL(clone)(function, stack, flags, argument, parent_id, tls, child_id);
    return REAL(clone)(run_clone, stack, flags, &cloned, parent_id, tls, child_id);
}

static __attribute__((destructor)) void at_exit(void)
{
    if (!process_is_own())
        return;
    delay_note_all();
    file_state(HQM_ENDED);
    deliver();
}

EXPORT __attribute__((noreturn)) void _exit(int status)
{
    at_exit();
    REAL(_exit)(status);
    __builtin_unreachable();
}

EXPORT __attribute__((noreturn)) void _Exit(int status)
{
    at_exit();
    REAL(_Exit)(status);
    __builtin_unreachable();
}

EXPORT __attribute__((noreturn)) void quick_exit(int status)
{
    at_exit();
    REAL(quick_exit)(status);
    __builtin_unreachable();
}

/* A signal of ours that is still pending would reach the new program, which has no handler for it. */
bool process_before_exec(void)
{
    if (!options.active || !process_is_known())
        return false;
    if (!process_is_this()) {
        blocked_before_exec(); /* its mask is its own */
        return false;
    }
    delay_note_all();
    file_state(HQM_EXECED);
    if (self.alive)
        sources_stop();
    blocked_before_exec();
    return true;
}

void process_after_failed_exec(void)
{
    blocked_after_exec();
    file_state(HQM_RUNNING);
    if (self.alive)
        sources_start();
}

/* `environment`, or what unloaded.h makes of it, on the stack: this may run in a child of vfork. */
#define SUITABLE(path, search, environment) \
    char *const *suitable = environment; \
    struct unloaded room_ = unloaded_note(path, search, suitable); \
    char *words_[room_.words + 1], text_[room_.bytes + 1]; \
    if (room_.words) \
    suitable = unloaded_without(suitable, words_, text_)

/* exec comes back only if it failed. The call gets its environment from `suitable`. */
#define EXEC(path, search, environment, call) \
    do { \
        int result_; \
        SUITABLE(path, search, environment); \
        bool own_ = process_before_exec(); \
        result_ = call; \
        if (own_) \
            process_after_failed_exec(); \
        return result_; \
    } while (0)

EXPORT int execve(const char *path, char *const arguments[], char *const environment[])
{
    EXEC(path, false, environment, REAL(execve)(path, arguments, suitable));
}

EXPORT int execv(const char *path, char *const arguments[])
{
    EXEC(path, false, __environ, REAL(execve)(path, arguments, suitable));
}

EXPORT int execvp(const char *file, char *const arguments[])
{
    EXEC(file, true, __environ, REAL(execvpe)(file, arguments, suitable));
}

EXPORT int execvpe(const char *file, char *const arguments[], char *const environment[])
{
    EXEC(file, true, environment, REAL(execvpe)(file, arguments, suitable));
}

EXPORT int fexecve(int fd, char *const arguments[], char *const environment[])
{
    EXEC(NULL, false, environment, REAL(fexecve)(fd, arguments, suitable));
}

EXPORT int execveat(int fd, const char *path, char *const arguments[], char *const environment[], int flags)
{
    EXEC(NULL, false, environment, REAL(execveat)(fd, path, arguments, suitable, flags));
}

static size_t count_arguments(va_list arguments)
{
    size_t count = 1;

    while (va_arg(arguments, char *))
        count++;
    return count;
}

/* The arguments of execl and its like as an array on the stack: these may run in a child of vfork. */
#define COLLECT(first, vector, environment) \
    va_list list_; \
    va_start(list_, first); \
    size_t count_ = count_arguments(list_); \
    va_end(list_); \
    char *vector[count_ + 1]; \
    va_start(list_, first); \
    vector[0] = (char *)first; \
    for (size_t i_ = 1; i_ <= count_; i_++) \
        vector[i_] = va_arg(list_, char *); \
    environment; \
    va_end(list_)

EXPORT int execl(const char *path, const char *first, ...)
{
    COLLECT(first, arguments, (void)0);
    EXEC(path, false, __environ, REAL(execve)(path, arguments, suitable));
}

EXPORT int execlp(const char *file, const char *first, ...)
{
    COLLECT(first, arguments, (void)0);
    EXEC(file, true, __environ, REAL(execvpe)(file, arguments, suitable));
}

EXPORT int execle(const char *path, const char *first, ...)
{
    char *const *environment;

    COLLECT(first, arguments, environment = va_arg(list_, char *const *));
    EXEC(path, false, environment, REAL(execve)(path, arguments, suitable));
}

#define HANDING_ON(call) \
    ({ \
        blocked_before_exec(); \
        __auto_type result_ = call; \
        blocked_after_exec(); \
        result_; \
    })

EXPORT int posix_spawn(pid_t *restrict pid, const char *restrict path,
                       const posix_spawn_file_actions_t *restrict actions, const posix_spawnattr_t *restrict attributes,
                       char *const arguments[restrict], char *const environment[restrict])
{
    SUITABLE(path, false, environment);
    return HANDING_ON(REAL(posix_spawn)(pid, path, actions, attributes, arguments, suitable));
}

EXPORT int posix_spawnp(pid_t *restrict pid, const char *restrict file,
                        const posix_spawn_file_actions_t *restrict actions,
                        const posix_spawnattr_t *restrict attributes, char *const arguments[restrict],
                        char *const environment[restrict])
{
    SUITABLE(file, true, environment);
    return HANDING_ON(REAL(posix_spawnp)(pid, file, actions, attributes, arguments, suitable));
}

/* The C library makes the child by itself, with the mask that the kernel knows of. */
EXPORT int system(const char *command)
{
    return HANDING_ON(REAL(system)(command));
}

EXPORT FILE *popen(const char *command, const char *type)
{
    return HANDING_ON(REAL(popen)(command, type));
}
