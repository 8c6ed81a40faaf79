/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O1 -g -fopenmp -pthread */
/*
 * rude KIND: leaves parallel regions and tasks, or comes to them, in ways that a runtime does not care for. Prints what
 * comes out of it, which is the same in any run; ends by a signal or with a status of its own.
 */
#include <omp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { JUMPS = 20 };

static jmp_buf back;
static sigjmp_buf back_from_handler;
static const char *self;

static __attribute__((noinline)) void work(int thousands)
{
    static _Thread_local volatile unsigned x;

    for (int i = 0; i < thousands * 1000; i++)
        x = x * 7 + 1;
}

static __attribute__((noinline)) int region(int threads)
{
    int sum = 0;

#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
        work(200);
        sum += omp_get_thread_num() + 1;
    }
    return sum;
}

static int child_status(pid_t child)
{
    int status = 0;

    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

/* ---- the end of the process within a region ---- */

static void ends_by_exit(void)
{
#pragma omp parallel num_threads(2)
    {
        work(100);
        if (omp_get_thread_num() == 0)
            exit(3);
        work(1000);
    }
}

static void worker_ends_by_exit(void)
{
#pragma omp parallel num_threads(2)
    {
        work(100);
        if (omp_get_thread_num() == 1)
            exit(4);
        work(1000);
    }
}

static void ends_at_once(void)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp single
        _exit(6);
    }
}

static void ends_by_abort(void)
{
#pragma omp parallel num_threads(2)
    {
        work(100);
#pragma omp critical
        abort();
    }
}

static void ends_by_segv(void)
{
#pragma omp parallel num_threads(2)
    {
        work(100);
        raise(SIGSEGV);
    }
}

static void ends_in_a_task(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 4; i++) {
#pragma omp task
        {
            work(50);
            if (i == 3)
                exit(11);
        }
    }
}

static void ends_by_exec(void)
{
#pragma omp parallel num_threads(2)
    {
        work(50);
        if (omp_get_thread_num() == 0)
            execl(self, self, "foreign", (char *)0);
        work(50);
    }
}

static void at_the_end(void)
{
    printf("at the end %d\n", region(2));
    fflush(stdout);
}

static void opens_at_the_end(void)
{
    atexit(at_the_end);
}

/* ---- jumps ---- */

static void jumps_out(void)
{
    for (volatile int i = 0; i < JUMPS; i++)
        if (!setjmp(back)) {
#pragma omp parallel num_threads(1)
            {
                work(20);
                longjmp(back, 1);
            }
        }
}

static void jump_from_region(int signal)
{
    (void)signal;
#pragma omp parallel num_threads(1)
    {
        work(20);
        siglongjmp(back_from_handler, 1);
    }
}

static void jump(int signal)
{
    (void)signal;
    siglongjmp(back_from_handler, 1);
}

static void handler_jumps_out_of_its_own(void)
{
    signal(SIGUSR1, jump_from_region);
    for (volatile int i = 0; i < JUMPS; i++)
        if (!sigsetjmp(back_from_handler, 1))
            raise(SIGUSR1);
}

static void handler_jumps_out(void)
{
    signal(SIGUSR1, jump);
    for (volatile int i = 0; i < JUMPS; i++)
        if (!sigsetjmp(back_from_handler, 1)) {
#pragma omp parallel num_threads(1)
            {
                work(20);
                raise(SIGUSR1);
            }
        }
}

static void open_in_handler(int signal)
{
    (void)signal;
    printf("in the handler %d\n", region(2));
}

static void handler_opens(void)
{
    signal(SIGUSR1, open_in_handler);
    for (int i = 0; i < 3; i++)
        raise(SIGUSR1);
}

/* ---- threads and processes ---- */

static void *leave(void *unused)
{
    (void)unused;
#pragma omp parallel num_threads(1)
    {
        work(100);
        pthread_exit((void *)5L);
    }
    return NULL;
}

static void threads_leave(void)
{
    pthread_t thread;
    void *result;

    for (int i = 0; i < 3; i++) {
        pthread_create(&thread, NULL, leave, NULL);
        pthread_join(thread, &result);
        printf("left with %ld\n", (long)result);
    }
}

static void *open_some(void *unused)
{
    long sum = 0;

    (void)unused;
    for (int i = 0; i < 3; i++)
        sum += region(2);
    return (void *)sum;
}

static void foreign_threads(void)
{
    pthread_t thread[4];
    void *result;

    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, open_some, NULL);
    for (int i = 0; i < 4; i++) {
        pthread_join(thread[i], &result);
        printf("foreign %ld\n", (long)result);
    }
}

static void forks_in_region(void)
{
#pragma omp parallel num_threads(2)
    {
        work(50);
        if (omp_get_thread_num() == 0) {
            pid_t child = fork();

            if (!child) {
                work(50);
                _exit(7);
            }
            printf("child %d\n", child_status(child));
        }
        work(50);
    }
}

static void forks_in_a_task(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 4; i++) {
#pragma omp task
        {
            work(50);
            if (i == 2) {
                pid_t child = fork();

                if (!child) {
                    work(50);
                    _exit(9);
                }
                printf("child %d\n", child_status(child));
            }
        }
    }
}

static void child_opens(void)
{
    pid_t child = fork();

    if (!child)
        _exit(region(1));
    printf("child %d\n", child_status(child));
}

/* ---- nesting ---- */

static int deep(int more)
{
    int sum = 1;

    if (!more)
        return 1;
#pragma omp parallel num_threads(1) reduction(+ : sum)
    {
        work(1);
        sum += deep(more - 1);
    }
    return sum;
}

static void nests_deep(void)
{
    omp_set_max_active_levels(50);
    printf("deep %d\n", deep(40));
}

static void teams(void)
{
    int opened = 0, sum = 0;

#pragma omp teams num_teams(3) thread_limit(2) reduction(+ : opened)
    {
        int inner = 0;

#pragma omp parallel reduction(+ : inner)
        {
            work(50);
            inner++;
        }
        opened += inner > 0;
    }
#pragma omp teams distribute parallel for reduction(+ : sum)
    for (int i = 0; i < 1000; i++)
        sum += i;
    printf("teams %d %d\n", opened, sum);
}

static void nothing(void)
{
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } kinds[] = {
        {"nothing", nothing},
        {"exit", ends_by_exit},
        {"exit-worker", worker_ends_by_exit},
        {"_exit", ends_at_once},
        {"abort", ends_by_abort},
        {"segv", ends_by_segv},
        {"exit-task", ends_in_a_task},
        {"exec", ends_by_exec},
        {"atexit", opens_at_the_end},
        {"longjmp", jumps_out},
        {"handler-region-jumps", handler_jumps_out_of_its_own},
        {"handler-jumps", handler_jumps_out},
        {"handler-opens", handler_opens},
        {"pthread_exit", threads_leave},
        {"foreign", foreign_threads},
        {"fork", forks_in_region},
        {"fork-task", forks_in_a_task},
        {"child-opens", child_opens},
        {"deep", nests_deep},
        {"teams", teams},
    };

    self = argv[0];
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (argc < 2)
            printf("%s\n", kinds[i].name);
        if (argc > 1 && !strcmp(argv[1], kinds[i].name)) {
            printf("before %d\n", region(2));
            kinds[i].run();
            printf("after %d\n", region(3));
        }
    }
    return 0;
}
