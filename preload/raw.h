/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System calls without libc: they do not touch errno, are no cancellation points, and are not the functions that the
 * measured program, or this library, may have interposed. Each returns the kernel's value, -errno on failure.
 * Everything here may be called from a signal handler.
 */
#ifndef HQ_PRELOAD_RAW_H
#define HQ_PRELOAD_RAW_H

#include "preload/arch/arch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>

/* Newer processors have only the calls that name a directory, too. */
#ifdef SYS_open
enum { RAW_OPEN = SYS_open, RAW_STAT = SYS_stat, RAW_READLINK = SYS_readlink };
#define RAW_CALL(name, at, ...) raw_syscall(SYS_##name, __VA_ARGS__, 0, 0)
#else
enum { RAW_OPEN = SYS_openat, RAW_STAT = SYS_newfstatat, RAW_READLINK = SYS_readlinkat };
#define RAW_CALL(name, at, ...) raw_syscall(SYS_##at, AT_FDCWD, __VA_ARGS__, 0)
#endif

static inline int raw_open(const char *path, int flags, int mode)
{
    return (int)RAW_CALL(open, openat, (long)path, flags, mode, 0);
}

static inline int raw_close(int fd)
{
    return (int)raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

static inline long raw_read(int fd, void *buffer, size_t bytes)
{
    return raw_syscall(SYS_read, fd, (long)buffer, (long)bytes, 0, 0, 0);
}

static inline long raw_write(int fd, const void *buffer, size_t bytes)
{
    return raw_syscall(SYS_write, fd, (long)buffer, (long)bytes, 0, 0, 0);
}

static inline int raw_stat(const char *path, struct stat *status)
{
    return (int)RAW_CALL(stat, newfstatat, (long)path, (long)status, 0, 0);
}

static inline int raw_fstat(int fd, struct stat *status)
{
    return (int)raw_syscall(SYS_fstat, fd, (long)status, 0, 0, 0, 0);
}

static inline int raw_mkdir(const char *path, int mode)
{
    return (int)RAW_CALL(mkdir, mkdirat, (long)path, mode, 0, 0);
}

static inline int raw_unlink(const char *path)
{
    return (int)RAW_CALL(unlink, unlinkat, (long)path, 0, 0, 0);
}

static inline int raw_rmdir(const char *path)
{
#ifdef SYS_rmdir
    return (int)raw_syscall(SYS_rmdir, (long)path, 0, 0, 0, 0, 0);
#else
    return (int)raw_syscall(SYS_unlinkat, AT_FDCWD, (long)path, AT_REMOVEDIR, 0, 0, 0);
#endif
}

static inline int raw_rename(const char *from, const char *to)
{
#ifdef SYS_rename
    return (int)raw_syscall(SYS_rename, (long)from, (long)to, 0, 0, 0, 0);
#else
    return (int)raw_syscall(SYS_renameat2, AT_FDCWD, (long)from, AT_FDCWD, (long)to, 0, 0);
#endif
}

/* The length, without a zero behind it. */
static inline long raw_readlink(const char *path, char *to, size_t room)
{
    return RAW_CALL(readlink, readlinkat, (long)path, (long)to, (long)room, 0);
}

static inline int raw_fallocate(int fd, uint64_t offset, uint64_t bytes)
{
    return (int)raw_syscall(SYS_fallocate, fd, 0, (long)offset, (long)bytes, 0, 0);
}

/* Where `bytes` may be mapped apart from what the program maps; 0 where the kernel is to decide (nest.c). */
uint64_t raw_nest(size_t bytes);

static inline int raw_mmap_at(size_t bytes, int protection, int flags, int fd, uint64_t offset, void **address)
{
    long result = raw_syscall(SYS_mmap, (long)raw_nest(bytes), (long)bytes, protection, flags, fd, (long)offset);
    bool failed = result < 0 && result > -4096;

    *address = failed ? NULL : (void *)result;
    return failed ? (int)result : 0;
}

/* As the C library has it: -1 and errno on failure. For wrappers that allocators call while they begin: to look up the
 * next function allocates before glibc 2.34. */
static inline long raw_as_libc(long result)
{
    if (result < 0 && result > -4096) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

/* NULL on failure. */
static inline void *raw_mmap(size_t bytes, int protection, int flags, int fd, uint64_t offset)
{
    void *address;

    raw_mmap_at(bytes, protection, flags, fd, offset, &address);
    return address;
}

static inline void raw_munmap(void *address, size_t bytes)
{
    raw_syscall(SYS_munmap, (long)address, (long)bytes, 0, 0, 0, 0);
}

static inline int raw_madvise(void *address, size_t bytes, int advice)
{
    return (int)raw_syscall(SYS_madvise, (long)address, (long)bytes, advice, 0, 0, 0);
}

static inline int raw_getpid(void)
{
    return (int)raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

static inline int raw_getppid(void)
{
    return (int)raw_syscall(SYS_getppid, 0, 0, 0, 0, 0, 0);
}

static inline int raw_gettid(void)
{
    return (int)raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

static inline int raw_getrlimit(int resource, struct rlimit *limit)
{
    return (int)raw_syscall(SYS_prlimit64, 0, resource, 0, (long)limit, 0, 0);
}

/* POSIX's, but not ISO C's: a program may have its own. */
static inline int raw_uname(struct utsname *names)
{
    return (int)raw_syscall(SYS_uname, (long)names, 0, 0, 0, 0, 0);
}

static inline int raw_getsockopt(int fd, int level, int option, void *value, socklen_t *bytes)
{
    return (int)raw_syscall(SYS_getsockopt, fd, level, option, (long)value, (long)bytes, 0);
}

static inline int raw_setsockopt(int fd, int level, int option, const void *value, socklen_t bytes)
{
    return (int)raw_syscall(SYS_setsockopt, fd, level, option, (long)value, (long)bytes, 0);
}

/* Nanoseconds of a clock, by a system call: those of CPU time, and any where the vDSO is not to be used. */
static inline int64_t raw_cpu_time(clockid_t clock)
{
    struct timespec now = {0};

    raw_syscall(SYS_clock_gettime, clock, (long)&now, 0, 0, 0, 0);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* A signal mask as the kernel sees it: bit n-1 is signal n. */
static inline int raw_sigmask(int how, const uint64_t *set, uint64_t *old)
{
    return (int)raw_syscall(SYS_rt_sigprocmask, how, (long)set, (long)old, 8, 0, 0);
}

/* The action for a signal, in the kernel's layout. Of raw_sigaction either pointer may be NULL. */
struct raw_action {
    uint64_t handler, flags, restorer, mask;
};

static inline int raw_sigaction(int number, const struct raw_action *action, struct raw_action *old)
{
    return (int)raw_syscall(SYS_rt_sigaction, number, (long)action, (long)old, 8, 0, 0);
}

/*
 * Can the 8 bytes at `address` be read? The kernel reads the set before it looks at `how`: EFAULT if it cannot, EINVAL
 * for this `how` if it can. Nothing changes either way.
 */
extern volatile int raw_frozen; /* the program has given up its right to most system calls (confine.c) */

static inline int raw_readable(uint64_t address)
{
    return !raw_frozen && address && raw_syscall(SYS_rt_sigprocmask, ~0L, (long)address, 0, 8, 0, 0) != -EFAULT;
}

/* Before a lock that another thread holds is tried again. */
static inline void raw_yield(void)
{
    if (!raw_frozen)
        raw_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

/* Like these, of what the program gives to a call: while nothing can be asked it is believed. Writing puts the thread's
 * mask there. */
static inline bool raw_given(const void *address)
{
    return raw_frozen || raw_readable((uint64_t)address);
}

static inline bool raw_writable(uint64_t address)
{
    return raw_frozen || raw_syscall(SYS_rt_sigprocmask, 0, 0, (long)address, 8, 0, 0) != -EFAULT;
}

/* Anonymous zeroed memory, given to the process only as it is touched; NULL if there is none. */
static inline void *raw_memory(size_t bytes)
{
    return raw_frozen ? NULL
                      : raw_mmap(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

#endif
