/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O1 -g -fno-builtin -w */
/*
 * Has functions of its own that are called as POSIX functions are, which ISO C leaves to programs, and that do
 * something else: whoever else calls one ends the program. Prints a number, and exits with 7 as a shell.
 */
#include <stdint.h>

#define OWN(name) \
    void name(void) \
    { \
        __builtin_trap(); \
    }

/* What the collector wraps or uses. */
OWN(mmap)
OWN(munmap)
OWN(mprotect)
OWN(mremap)
OWN(read)
OWN(write)
OWN(recv)
OWN(recvfrom)
OWN(poll)
OWN(ppoll)
OWN(epoll_pwait)
OWN(nanosleep)
OWN(clock_nanosleep)
OWN(sigaction)
OWN(sigprocmask)
OWN(sigaltstack)
OWN(sigsuspend)
OWN(sigtimedwait)
OWN(sigpause)
OWN(sysv_signal)
OWN(syscall)
OWN(execve)
OWN(prctl)
OWN(timer_create)
OWN(dlclose)
OWN(clock_gettime)
OWN(dl_iterate_phdr)
OWN(dladdr1)
OWN(dlopen)
OWN(dlsym)
OWN(dlvsym)
OWN(getauxval)
OWN(getsockopt)
OWN(setsockopt)
OWN(pthread_attr_destroy)
OWN(pthread_self)
OWN(setenv)
OWN(sigaddset)
OWN(sigdelset)
OWN(sigemptyset)
OWN(sigismember)
OWN(uname)
/* And what else it asks the kernel for. */
OWN(open)
OWN(close)
OWN(stat)
OWN(getpid)
OWN(gettid)
OWN(getcwd)
OWN(readlink)
OWN(fallocate)
OWN(ftruncate)
OWN(madvise)
OWN(getrusage)
OWN(prlimit)
OWN(timer_settime)
OWN(kill)
OWN(tgkill)
OWN(sched_yield)
/* And what a sanitizer has of its own of ISO C. */
OWN(memcpy)
OWN(memmove)
OWN(memset)
OWN(memcmp)
OWN(strlen)
OWN(strcpy)
OWN(strncmp)
OWN(strcmp)
OWN(strchr)
OWN(strrchr)
OWN(strspn)
OWN(strcspn)
OWN(strstr)

int environ = 3, program_invocation_name = 5;

int printf(const char *format, ...);
int fflush(void *stream);
int execv(const char *path, char *const arguments[]);

int main(void)
{
    uint64_t x = 1;

    for (long i = 0; i < 300000000; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        __asm__ volatile("" : "+r"(x));
    }
    printf("%llx\n", (unsigned long long)x);
    fflush(0);
    execv("/bin/sh", (char *[]){"sh", "-c", "exit 7", 0});
    return 8;
}
