/* SPDX-License-Identifier: BSD-3-Clause */
/* build: -O1 -g -pthread -rdynamic */
/*
 * unloads DIRECTORY ROUNDS: opens and closes the eight plugins of a directory (DIRECTORY/plug0.so to plug7.so, which
 * are alike in size) in eight threads. Plugin n runs below call_n, so that a sample with another one's name tells
 * itself. With 0 for ROUNDS: while a thread is held up at the end of dlclose, where the plugin is unmapped and the
 * loader has forgotten it, another opens the next one, at the same place, and runs it. It is held up here (`dlclose` of
 * the next library in the order of search is wrapped once more) since programs' own wrappers do that. With -1:
 * children, made by fork and by a bare system call, close a plugin that their parent goes on to run in.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8 };
typedef long entry_function(long);

#define CALLER(n) \
    static __attribute__((noinline)) long call_##n(entry_function *entry, long us) \
    { \
        return entry(us) + n; \
    }
CALLER(0)
CALLER(1)
CALLER(2)
CALLER(3)
CALLER(4)
CALLER(5)
CALLER(6)
CALLER(7)

static long (*const callers[])(entry_function *, long) = {call_0, call_1, call_2, call_3,
                                                          call_4, call_5, call_6, call_7};
static const char *directory;
static long rounds;
static sem_t unmapped, filled;
static void *place;
static volatile bool holding;

static entry_function *open_plugin(long number, void **plugin)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/plug%ld.so", directory, number);
    *plugin = dlopen(path, RTLD_NOW);
    entry_function *entry = *plugin ? (entry_function *)dlsym(*plugin, "entry") : NULL;
    if (!entry) {
        fprintf(stderr, "%s: no plugin\n", path);
        exit(1);
    }
    return entry;
}

static void *open_and_close(void *start)
{
    void *plugin;

    for (long i = (long)start; i < rounds; i++) {
        long number = i * 5 % 8;
        callers[number](open_plugin(number, &plugin), 100);
        dlclose(plugin);
    }
    return NULL;
}

/* libstalls.so calls it behind the C library's dlclose. */
void dlclose_is_done(void);
void dlclose_is_done(void)
{
    if (holding) {
        holding = false;
        sem_post(&unmapped);
        sem_wait(&filled);
    }
}

static void *fill(void *unused)
{
    void *plugin;

    sem_wait(&unmapped);
    entry_function *entry = open_plugin(1, &plugin);
    puts((void *)entry == place ? "at the same place" : "elsewhere");
    callers[1](entry, 300000);
    sem_post(&filled);
    return unused;
}

static void hold_up(void)
{
    pthread_t thread;
    void *plugin;

    sem_init(&unmapped, 0, 0);
    sem_init(&filled, 0, 0);
    pthread_create(&thread, NULL, fill, NULL);
    entry_function *entry = open_plugin(0, &plugin);
    callers[0](entry, 100000);
    place = (void *)entry;
    holding = true;
    dlclose(plugin);
    pthread_join(thread, NULL);
}

static void close_in_children(void)
{
    void *plugin;
    entry_function *entry = open_plugin(0, &plugin);
    int bad = 0;

    callers[0](entry, 100000);
    for (int i = 0; i < 40; i++) {
        int status;
        pid_t child = i % 2 ? fork() : (pid_t)syscall(SYS_fork);

        if (child == 0) {
            dlclose(plugin);
            _exit(3);
        }
        bad += waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 3;
    }
    callers[0](entry, 300000);
    printf("%d children did not end by themselves\n", bad);
}

int main(int count, char **words)
{
    pthread_t thread[THREADS];

    if (count < 3)
        return 2;
    directory = words[1];
    rounds = atol(words[2]);
    if (rounds == 0)
        hold_up();
    if (rounds < 0)
        close_in_children();
    for (long i = 0; i < THREADS && rounds; i++)
        pthread_create(&thread[i], NULL, open_and_close, (void *)(i * 3));
    for (int i = 0; i < THREADS && rounds; i++)
        pthread_join(thread[i], NULL);
    puts("done");
}
