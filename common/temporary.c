/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/temporary.h"
#include "common/file.h"
#include "common/mem.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 1000, HOST_ROOM = 72, MINUTE = 60, DAY = 86400 };

/* Handlers walk the list without a lock, so nodes are used again but never freed, and once a handler walks it no name
 * is freed either. */
struct temporary {
    struct temporary *next;
    char *path;  /* NULL: free */
    pid_t owner; /* a child that is forked has the list too */
};

static struct temporary *temporaries;
static bool ending; /* a handler walks the list, or has */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char *own_host(char host[HOST_ROOM])
{
    if (gethostname(host, HOST_ROOM))
        host[0] = 0;
    host[HOST_ROOM - 1] = 0;
    for (char *s = host; *s; s++)
        *s = *s == '/' ? '_' : *s;
    return host;
}

static struct temporary *note(char *path)
{
    struct temporary *t;

    pthread_mutex_lock(&lock);
    for (t = temporaries; t && t->path; t = t->next)
        ;
    bool is_new = !t;
    if (is_new)
        t = xcalloc(1, sizeof *t);
    t->owner = getpid();
    __atomic_store_n(&t->path, path, __ATOMIC_RELEASE);
    if (is_new) {
        t->next = temporaries;
        __atomic_store_n(&temporaries, t, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return t;
}

static void forget(struct temporary *t)
{
    char *path = t->path;

    /* In one order with temporary_remove_all: it finds no name here, or `ending` is seen. */
    __atomic_store_n(&t->path, NULL, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&ending, __ATOMIC_SEQ_CST))
        free(path);
}

/* The name says whose it is, so that what a killed writer left can be told. Not mkstemp: it makes files that only the
 * owner may read, and asking for the umask is not thread-safe. */
int temporary_open(const char *target, struct temporary **out)
{
    char host[HOST_ROOM];

    for (int i = 0; i < TRIES; i++) {
        struct temporary *t = note(xasprintf("%s" FILE_TEMPORARY "%d.%d.%s", target, (int)getpid(), i, own_host(host)));
        int fd = open(t->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

        if (fd >= 0) {
            *out = t;
            return fd;
        }
        int why = errno;

        forget(t);
        errno = why;
        if (why != EEXIST)
            break;
    }
    return -1;
}

int temporary_rename(struct temporary *t, const char *target)
{
    int rc = rename(t->path, target);

    if (!rc)
        forget(t);
    return rc;
}

void temporary_remove(struct temporary *t)
{
    if (!t)
        return;
    unlink(t->path);
    forget(t);
}

void temporary_remove_all(void)
{
    int why = errno;
    pid_t self = getpid();

    __atomic_store_n(&ending, true, __ATOMIC_SEQ_CST);
    for (struct temporary *t = __atomic_load_n(&temporaries, __ATOMIC_ACQUIRE); t; t = t->next) {
        const char *path = __atomic_load_n(&t->path, __ATOMIC_SEQ_CST);

        if (path && t->owner == self)
            unlink(path);
    }
    errno = why;
}

/* The signal comes again when this returns, without a handler. */
static void on_end(int number)
{
    temporary_remove_all();
    raise(number);
}

void temporary_catch_signals(void)
{
    static const int ends[] = {SIGHUP, SIGINT, SIGTERM, SIGXCPU};
    struct sigaction action = {.sa_handler = on_end, .sa_flags = (int)SA_RESETHAND}, before;

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (!sigaction(ends[i], NULL, &before) && before.sa_handler == SIG_DFL)
            sigaction(ends[i], &action, NULL);
}

bool temporary_is_left(const char *rest, const struct stat *st)
{
    time_t age = time(NULL) - st->st_mtime;
    char host[HOST_ROOM];
    int pid = 0, used = 0;

    if (!S_ISREG(st->st_mode) || sscanf(rest, "%d.%*d.%n", &pid, &used) != 1 || pid <= 0 || !used)
        return false;
    return age > DAY || (age > MINUTE && !strcmp(rest + used, own_host(host)) && kill(pid, 0) && errno == ESRCH);
}

/* Of files whose names have `part` in them: at the beginning, or anywhere. */
static void remove_left(const char *directory, const char *part, bool anywhere)
{
    DIR *dir = opendir(directory);
    struct stat st;

    for (const struct dirent *e; dir && (e = readdir(dir));) {
        const char *at = strstr(e->d_name, part);

        if (at && (anywhere || at == e->d_name) && !fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
            temporary_is_left(at + strlen(part), &st))
            unlinkat(dirfd(dir), e->d_name, 0);
    }
    if (dir)
        closedir(dir);
}

void temporary_remove_left(const char *target)
{
    AUTO_FREE char *directory = file_dirname(target);
    AUTO_FREE char *part = xasprintf("%s" FILE_TEMPORARY, file_basename(target));

    remove_left(directory, part, false);
}

void temporary_remove_left_in(const char *directory, const char *suffix)
{
    AUTO_FREE char *part = xasprintf("%s" FILE_TEMPORARY, suffix);

    remove_left(directory, part, true);
}
