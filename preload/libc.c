/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/libc.h"

#include "preload/defined.h"
#include "preload/export.h"
#include "preload/kernel.h"
#include "preload/raw.h"
#include "preload/sources/exact.h"
#include "preload/text.h"
#include "preload/versions.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* How C libraries before 2.34 open what they need themselves. The mark says that the caller may. */
extern void *__libc_dlopen_mode(const char *name, int mode) __attribute__((weak));
extern void *__libc_dlsym(void *handle, const char *name) __attribute__((weak));
enum { LIBC_MAY = (int)0x80000000u };

static struct {
    __typeof__(&dlsym) symbol;
    __typeof__(&dlvsym) versioned;
    __typeof__(&dlopen) open;
    __typeof__(&dladdr1) module_of;
    __typeof__(&dl_iterate_phdr) each;
} loader;

static void *symbol_of(const struct link_map *map, const char *name)
{
    struct defined s = defined_in(map);

    return defined_find(&s, name);
}

/*
 * The C library's own. What the linker gives for the name may be another function of the program that is called so, or
 * one that asks the loader for what comes behind itself, which is ours.
 */
static void *own_symbol(const char *name)
{
    static const char *const libraries[] = {"libc.so.6", "libdl.so.2"};

    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
            void *found = same_text(last_part(map->l_name), libraries[i]) ? symbol_of(map, name) : NULL;

            if (found)
                return found;
        }
    return NULL;
}

static void prepare(void)
{
    void *libdl;

    if (loader.symbol)
        return;
    loader.each = (__typeof__(&dl_iterate_phdr))own_symbol("dl_iterate_phdr");
    loader.open = (__typeof__(&dlopen))own_symbol("dlopen");
    loader.module_of = (__typeof__(&dladdr1))own_symbol("dladdr1");
    loader.versioned = (__typeof__(&dlvsym))own_symbol("dlvsym");
    loader.symbol = (__typeof__(&dlsym))own_symbol("dlsym");
    if (!loader.symbol && __libc_dlopen_mode && __libc_dlsym &&
        (libdl = __libc_dlopen_mode("libdl.so.2", RTLD_NOW | LIBC_MAY))) {
        loader.open = (__typeof__(&dlopen))__libc_dlsym(libdl, "dlopen");
        loader.module_of = (__typeof__(&dladdr1))__libc_dlsym(libdl, "dladdr1");
        loader.versioned = (__typeof__(&dlvsym))__libc_dlsym(libdl, "dlvsym");
        loader.symbol = (__typeof__(&dlsym))__libc_dlsym(libdl, "dlsym");
    }
}

int libc_each_module(int (*each)(struct dl_phdr_info *info, size_t size, void *data), void *data)
{
    prepare();
    return loader.each ? loader.each(each, data) : 0;
}

void libc_setenv(const char *name, const char *value)
{
    __typeof__(&setenv) set = (__typeof__(&setenv))libc_find("setenv");

    if (set)
        set(name, value, 1);
}

void *libc_symbol(void *handle, const char *name)
{
    prepare();
    return version_find(loader.symbol, handle == RTLD_NEXT ? loader.versioned : NULL, handle, name);
}

EXPORT void *hq_exact_dlsym(void)
{
    prepare();
    return (void *)loader.symbol;
}

EXPORT void *hq_exact_dlvsym(void)
{
    prepare();
    return (void *)loader.versioned;
}

void *libc_open(const char *name, int flags)
{
    prepare();
    return loader.open ? loader.open(name, flags) : NULL;
}

const struct link_map *libc_module_of(const void *address)
{
    struct link_map *map = NULL;
    Dl_info info;

    prepare();
    return loader.module_of && loader.module_of(address, &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

void *libc_behind(const void *address, const char *name)
{
    const struct link_map *map = libc_module_of(address);
    void *handle = map ? libc_open(map->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL, *found;

    if (!handle)
        return NULL;
    found = libc_symbol(handle, name);
    REAL(dlclose)(handle); /* nothing goes away that our own would have to look for */
    return found;
}

struct search {
    const char *name;
    void *found;
};

static int look_in(struct dl_phdr_info *info, size_t size, void *data)
{
    struct link_map map = defined_module(info);
    struct search *search = data;

    (void)size;
    if (map.l_ld && !defined_by_us(&map))
        search->found = symbol_of(&map, search->name);
    return search->found != NULL;
}

void *libc_behind_call(const void *address, const char *name)
{
    struct search search = {name, libc_behind(address, name)};
    const struct link_map *map = search.found ? libc_module_of(search.found) : NULL;

    if (!map || defined_by_us(map)) {
        search.found = NULL;
        libc_each_module(look_in, &search);
    }
    return search.found;
}

EXPORT void *hq_exact_behind_call(const void *address, const char *name)
{
    return libc_behind_call(address, name);
}

EXPORT void *hq_exact_symbol(const void *address, const char *name)
{
    void *found = libc_symbol(RTLD_DEFAULT, name);

    return found ? found : libc_behind(address, name);
}

EXPORT const char *hq_exact_in_front(const char *name)
{
    for (const struct link_map *map = _r_debug.r_map; map && !defined_by_us(map); map = map->l_next) {
        struct defined symbols = defined_in(map);

        if (defined_find(&symbols, name))
            return last_part(map->l_name);
    }
    return NULL;
}

EXPORT bool hq_exact_wanted_by_program(const char *name)
{
    struct defined program = defined_in(_r_debug.r_map);

    return defined_wants(&program, name);
}

EXPORT bool hq_exact_together(const void *first, const void *second)
{
    const struct link_map *map = first && second ? libc_module_of(first) : NULL;

    return map && map == libc_module_of(second);
}

EXPORT const char *hq_exact_module(const void *address)
{
    const struct link_map *map = libc_module_of(address);

    return map ? last_part(map->l_name) : NULL;
}

const char *libc_error(int error)
{
    static struct real real REAL_TABLE = {"strerrordesc_np", NULL};
    const char *(*describe)(int) = (const char *(*)(int))atomic_load(&real.found);
    const char *text = describe ? describe(error) : strerror(error);

    return text ? text : "unknown error";
}

/* Functions that programs may find by name because we wrap them, although the C library does not have them. */
static int no_execveat(int fd, const char *path, char *const arguments[], char *const environment[], int flags)
{
    return (int)syscall(SYS_execveat, fd, path, arguments, environment, flags);
}

static int no_epoll_pwait2(int fd, struct epoll_event *events, int count, const struct timespec *limit,
                           const sigset_t *mask)
{
    return (int)syscall(SYS_epoll_pwait2, fd, events, count, limit, mask, 8);
}

static int no_Fork(void)
{
    return (int)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static int no_function(void)
{
    errno = ENOSYS;
    return -1;
}

static const struct {
    const char *name;
    void *function;
} substitutes[] = {
    {"execveat", no_execveat},      {"_Fork", no_Fork},
    {"getaddrinfo_a", no_function}, {"epoll_pwait2", no_epoll_pwait2},
    {"sem_clockwait", no_function},
};

/* A plugin brought the library, and its references are ours since we come first. */
EXPORT void *hq_exact_beside(const char *name)
{
    static const char *const libraries[] = {"libpthread.so.0", "libdl.so.2", "librt.so.1", "libanl.so.1"};
    void *found;

    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        void *handle = libc_open(libraries[i], RTLD_LAZY | RTLD_NOLOAD);

        if (handle && (found = libc_symbol(handle, name)))
            return found;
    }
    return NULL;
}

void *libc_find(const char *name)
{
    void *found = libc_symbol(RTLD_NEXT, name);

    return found ? found : hq_exact_beside(name);
}

void libc_find_missing(void)
{
    real_find_all(libc_find);
}

void *real_next(const char *name)
{
    return libc_symbol(RTLD_NEXT, name);
}

static bool is_this_library(const struct link_map *map)
{
    return map->l_ld == _DYNAMIC;
}

void *libc_find_first(const char *name)
{
    return defined_elsewhere(name, is_this_library) ? real_next(name) : NULL;
}

void *real_lookup(_Atomic(void *) *where, const char *name)
{
    void *address = libc_find(name);

    for (size_t i = 0; !address && i < sizeof substitutes / sizeof *substitutes; i++)
        if (same_text(name, substitutes[i].name))
            address = substitutes[i].function;
    atomic_store_explicit(where, address, memory_order_relaxed);
    return address;
}
