/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of C++ and Rust as people write them (structure.h), by libiberty, within limits: a symbol of 253 bytes can
 * stand for gigabytes of text (substitutions of substitutions), or for a search that never ends without printing a
 * byte.
 *
 * Where the library is given a function to print through it keeps everything on the stack: no heap, no lock, no state.
 * So it is left by a jump when the text is too long, or when a timer of the thread's CPU time says that it has taken
 * too long. Rust's part uses the heap now and then: it is left only from within the function that prints.
 */
#include "structure/structure.h"
#include "common/mem.h"
#include "common/str.h"
#include <ctype.h>
#include <errno.h>
#include <libiberty/demangle.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    SYMBOL_MOST = 65536,       /* bytes of a symbol */
    TEXT_MOST = 100000,        /* bytes of what it stands for */
    TIME_MOST_MS = 200,        /* of CPU time */
    GIVEN_UP_MOST = 50,        /* symbols: from then on suspicious ones are not tried */
    SUSPICIOUS_REFERENCES = 8, /* fewer cannot multiply to much */
    SYMBOL_LONG = 1000,        /* the library refuses longer ones unless told that there is stack enough for them */
    STACK_BYTES = 256 << 20,   /* for the longest symbol, nested as deep as it can be; only what is used is real */
};

struct attempt {
    const char *symbol;
    int options;
    bool rust;
    char *text; /* [TEXT_MOST + 1] */
    size_t length;
    sigjmp_buf end;
    bool good, gave_up;
};

static _Thread_local struct attempt *current; /* what the timer ends; NULL: nothing */
static atomic_uint given_up;

/* ---- one attempt ---- */

static void print(const char *text, size_t n, void *arg)
{
    struct attempt *a = arg;

    if (n > TEXT_MOST - a->length)
        siglongjmp(a->end, 1);
    memcpy(a->text + a->length, text, n);
    a->length += n;
}

static void on_timer(int signal)
{
    struct attempt *a = current;

    (void)signal;
    if (a)
        siglongjmp(a->end, 1);
}

static void handle_timer(void)
{
    /* Not blocked in its handler, because that is left by a jump. */
    struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_NODEFER | SA_RESTART};

    sigaction(SIGVTALRM, &action, NULL);
}

static bool start_timer(timer_t *timer)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGVTALRM};
    struct itimerspec limit = {.it_value = {0, TIME_MOST_MS * 1000000L}};

    sigset_t ours;

    pthread_once(&once, handle_timer);
    sigemptyset(&ours);
    sigaddset(&ours, SIGVTALRM);
    pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid); /* glibc has no other name for it before 2.42 */
    return !timer_create(CLOCK_THREAD_CPUTIME_ID, &event, timer) && !timer_settime(*timer, 0, &limit, NULL);
}

static void attempt(struct attempt *a, bool timed)
{
    timer_t timer;
    volatile bool has_timer = timed && start_timer(&timer);

    /* Where no timer can be had (`ulimit -i 0`) nothing would end it. */
    if ((timed && !has_timer) || sigsetjmp(a->end, 0)) {
        a->gave_up = true;
    } else {
        current = has_timer && !a->rust ? a : NULL;
        a->good = a->rust ? rust_demangle_callback(a->symbol, a->options, print, a)
                          : cplus_demangle_v3_callback(a->symbol, a->options, print, a);
    }
    current = NULL;
    if (has_timer)
        timer_delete(timer);
}

static void *attempt_on_large_stack(void *arg)
{
    attempt(arg, true);
    return NULL;
}

/* Where no thread can be made the name is not read. */
static void attempt_long(struct attempt *a)
{
    pthread_attr_t attributes;
    pthread_t thread;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    a->options |= DMGL_NO_RECURSE_LIMIT;
    if (pthread_create(&thread, &attributes, attempt_on_large_stack, a)) {
        a->gave_up = true;
        errno = 0; /* that there is no room for so large a stack says nothing about what comes next */
    } else {
        pthread_join(thread, NULL);
    }
    pthread_attr_destroy(&attributes);
}

/* ---- symbols ---- */

/* Whether a symbol has very many references to its earlier parts, which may hold references themselves. */
static bool is_suspicious(const char *symbol)
{
    unsigned references = 0;

    for (const char *s = symbol; *s; s++)
        references += strchr("STB", *s) &&
                      (isdigit((unsigned char)s[1]) || isupper((unsigned char)s[1]) || s[1] == '_');
    return references >= SUSPICIOUS_REFERENCES;
}

static char *read_symbol(const char *symbol, bool rust, bool *gave_up)
{
    AUTO_FREE char *text = xmalloc(TEXT_MOST + 1);
    struct attempt a = {.symbol = symbol, .options = DMGL_PARAMS | DMGL_ANSI, .rust = rust, .text = text};
    bool suspicious = is_suspicious(symbol), is_long = strlen(symbol) > SYMBOL_LONG;

    if ((suspicious || is_long) && atomic_load(&given_up) >= GIVEN_UP_MOST)
        a.gave_up = true;
    else if (is_long && !rust)
        attempt_long(&a);
    else
        attempt(&a, suspicious);
    if (a.gave_up) {
        atomic_fetch_add(&given_up, 1);
        *gave_up = true;
        return NULL;
    }
    return a.good ? xstrndup(text, a.length) : NULL;
}

/* gfortran: __module_MOD_procedure */
static char *fortran(const char *symbol)
{
    const char *mark = !str_begins(symbol, "__") ? NULL : strstr(symbol, "_MOD_");

    if (!mark || mark == symbol + 2 || !mark[5])
        return NULL;
    return xasprintf("%.*s::%s", (int)(mark - symbol - 2), symbol + 2, mark + 5);
}

/*
 * flang: _Q, M module, S submodules, F procedures that hold it, P procedure; what is written in a main program has an F
 * without a name. Names are lower case. Variables and types, which end otherwise, are left alone.
 */
static char *flang(const char *symbol)
{
    static const char lower[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    AUTO_STR struct str text = {0};

    for (const char *s = symbol + 2; strchr("MSFP", *s) && *s;) {
        size_t n = strspn(s + 1, lower);

        if ((!n && *s != 'F') || (*s == 'P') != !s[1 + n])
            return NULL;
        if (n)
            str_addf(&text, "%s%.*s", text.len ? "::" : "", (int)n, s + 1);
        if (*s == 'P')
            return xstrdup(str_cstr(&text));
        s += 1 + n;
    }
    return NULL;
}

char *structure_demangle_within(const char *symbol, bool *gave_up)
{
    char *text;

    *gave_up = false;
    if (symbol[0] != '_')
        return NULL;
    if (symbol[1] == '_' && symbol[2] != 'Z' && symbol[2] != 'R')
        return fortran(symbol);
    if (symbol[1] == 'Q')
        return flang(symbol);
    if (symbol[1] != 'Z' && symbol[1] != 'R' && symbol[1] != '_')
        return NULL;
    if (strnlen(symbol, SYMBOL_MOST) == SYMBOL_MOST) {
        *gave_up = true;
        return NULL;
    }
    text = read_symbol(symbol, true, gave_up);
    return text || *gave_up ? text : read_symbol(symbol, false, gave_up);
}

char *structure_demangle(const char *symbol)
{
    bool gave_up;

    return structure_demangle_within(symbol, &gave_up);
}
