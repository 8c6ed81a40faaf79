/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/guard.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/temporary.h"
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The handler walks the list without a lock, so guards are used again but never freed. */
struct guard {
    struct guard *next;
    uintptr_t start; /* 0: free */
    size_t size;
    const char *path;
    enum guard_policy policy;
    bool broken;
};

static struct guard *guards;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct sigaction before;

static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return;
}

static void end(const struct guard *g)
{
    temporary_remove_all();
    say("hq: ");
    say(g->path);
    say(": was cut short by somebody while it was read\n");
    _exit(HQ_DATA);
}

static bool fill_with_zeros(struct guard *g, uintptr_t address)
{
    uintptr_t page = address & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);

    if (mmap((void *)page, g->start + g->size - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
        MAP_FAILED)
        return false;
    __atomic_store_n(&g->broken, true, __ATOMIC_RELEASE);
    return true;
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    uintptr_t address = (uintptr_t)info->si_addr;

    (void)context;
    for (struct guard *g = __atomic_load_n(&guards, __ATOMIC_ACQUIRE); g; g = g->next) {
        uintptr_t start = __atomic_load_n(&g->start, __ATOMIC_ACQUIRE);

        if (!start || address < start || address - start >= g->size)
            continue;
        if (g->policy == GUARD_END)
            end(g);
        if (fill_with_zeros(g, address))
            return;
    }
    /* Not ours: the same access again, with what was there before us. */
    sigaction(number, &before, NULL);
}

static void install(void)
{
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_NODEFER};

    sigaction(SIGBUS, &action, &before);
}

struct guard *guard_add(const void *data, size_t size, const char *path, enum guard_policy policy)
{
    struct guard *g;

    pthread_once(&once, install);
    pthread_mutex_lock(&lock);
    for (g = guards; g && g->start; g = g->next)
        ;
    bool is_new = !g;
    if (is_new)
        g = xcalloc(1, sizeof *g);
    g->size = size;
    g->path = path;
    g->policy = policy;
    g->broken = false;
    __atomic_store_n(&g->start, (uintptr_t)data, __ATOMIC_RELEASE);
    if (is_new) {
        g->next = guards;
        __atomic_store_n(&guards, g, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return g;
}

bool guard_is_broken(const struct guard *g)
{
    return g && __atomic_load_n(&g->broken, __ATOMIC_ACQUIRE);
}

void guard_remove(struct guard *g)
{
    if (!g)
        return;
    pthread_mutex_lock(&lock);
    __atomic_store_n(&g->start, 0, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}
