/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O2 -g -pthread -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 */
/*
 * handled KIND: does what few programs do with signal handlers. Prints what comes out of it, which is the same in any
 * run. Without KIND: the names of all of them.
 */
#define _GNU_SOURCE
#include "guest.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STACK = 1 << 20, CODE = 16 };

static sigjmp_buf back;
static char *memory;

static void have_alternate(void)
{
    stack_t stack = {.ss_sp = memory, .ss_size = STACK};

    sigaltstack(&stack, NULL);
}

static void leave(int number, siginfo_t *info, void *context)
{
    (void)info;
    (void)context;
    hits++;
    siglongjmp(back, number);
}

static void *leave_often(void *unused)
{
    have_alternate();
    handle(SIGUSR1, leave, SA_ONSTACK | SA_NODEFER);
    for (int i = 0; i < 20; i++) {
        spin(2);
        if (!sigsetjmp(back, 1))
            raise(SIGUSR1);
    }
    return unused;
}

/* Jumps out of handlers on an alternate stack that lies above the thread's: _FORTIFY_SOURCE asks the kernel for it. */
static void fortified(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, leave_often, NULL);
    pthread_join(thread, NULL);
    printf("left %d times\n", hits);
}

/* More than the collector's alternate stack has. */
static void work(int number)
{
    volatile char room[STACK / 2];

    memset((char *)room, number, sizeof room);
    hits += room[number] == number;
}

/* A handler of its own, as closures are: movabs $work, %rax; jmp *%rax. */
static sighandler_t made(char *code)
{
    void (*to)(int) = work;

    memcpy(code, "\x48\xb8", 2);
    memcpy(code + 2, &to, sizeof to);
    memcpy(code + 10, "\xff\xe0", 2);
    return (sighandler_t)(void *)code;
}

/* Handlers that are made as the program runs, a new one for each signal. */
static void many(void)
{
    enum { COUNT = 1000 };
    char *code = mmap(NULL, COUNT * CODE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sighandler_t before[2] = {SIG_DFL, SIG_DFL};
    int wrong = 0;

    have_alternate();
    for (int i = 0; i < COUNT; i++) {
        int number = i & 1 ? SIGUSR1 : SIGUSR2;
        struct sigaction action = {.sa_handler = made(code + i * CODE),
                                   .sa_flags = SA_ONSTACK | (i & 2 ? SA_RESTART : 0)};
        struct sigaction old;
        if (i % 5 == 0)
            old.sa_handler = signal(number, action.sa_handler);
        else
            sigaction(number, &action, &old);
        wrong += old.sa_handler != before[i & 1];
        before[i & 1] = action.sa_handler;
        raise(number);
        sigaction(number, NULL, &old);
        wrong += old.sa_handler != action.sa_handler;
        spin(1);
    }
    printf("%d handled, %d others told\n", hits, wrong);
}

/* The C library's signal, which ends a program that has no threads. */
static void reserved(void)
{
    spin(50);
    puts("sends it");
    fflush(stdout);
    syscall(SYS_kill, getpid(), 33);
    puts("goes on");
}

static const struct guest kinds[] = {{"fortified", fortified}, {"many", many}, {"reserved", reserved}};

int main(int argc, char **argv)
{
    memory = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return guest_main(argc, argv, kinds, sizeof kinds / sizeof *kinds);
}
