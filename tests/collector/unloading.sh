#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Threads that open and close plugins, each at any time, while all are sampled: the program goes on, and what ran in a plugin has that plugin's name.
. tests/collector/lib.sh
: "${CC:=cc}"

cat >"$TMP/plug.c" <<'C'
#include <time.h>
__attribute__((noinline)) long BURN(long us)
{
    struct timespec from, now;
    long turns = 0;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    do {
        for (int i = 0; i < 1000; i++)
            __asm__ volatile("");
        turns++;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - from.tv_sec) * 1000000 + (now.tv_nsec - from.tv_nsec) / 1000 < us);
    return turns;
}
long entry(long us) { return BURN(us) + 1; }
C
cat >"$TMP/stalls.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
void dlclose_is_done(void);
int dlclose(void *handle)
{
    int (*next)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose"), result = next(handle);

    dlclose_is_done();
    return result;
}
C
for i in 0 1 2 3 4 5 6 7; do $CC -O1 -g -DBURN=burn_$i -shared -fPIC -o "$TMP/plug$i.so" "$TMP/plug.c" || exit 1; done
$CC -O1 -shared -fPIC -o "$TMP/libstalls.so" "$TMP/stalls.c" -ldl || exit 1

# named: samples in the plugins, and those of them below another plugin's caller.
named() {
    paths | awk 'match($3, /call_[0-7]/) { caller = substr($3, RSTART + 5, 1) }
                 match($3, /call_[0-7].*burn_[0-7]/) { n += $1; if (substr($3, RSTART + RLENGTH - 1, 1) != caller) wrong += $1 }
                 END { print n + 0, wrong + 0 }'
}

for way in REALTIME@8000/s CPUTIME@1000/s; do
    record -e $way -- "$PROGRAMS/unloads" "$TMP" 1500
    check "eight threads, $way: runs" [ $status = 0 ]
    check "eight threads, $way: prints" grep -qx done "$TMP/out"
    check "eight threads, $way: is measured, by the right names" holds "$(named | awk '{ print $1 " > 100 && " $2 " == 0" }')"
    check "eight threads, $way: sound" sound
    # Preloaded behind the collector's library: it holds the thread up between the C library's dlclose and ours.
    LD_PRELOAD=$TMP/libstalls.so record -e $way -- "$PROGRAMS/unloads" "$TMP" 0
    check "held up, $way: runs" [ $status = 0 ]
    check "held up, $way: prints" grep -qx done "$TMP/out"
    if grep -q elsewhere "$TMP/out"; then
        skip "held up, $way: the loader has put the second plugin elsewhere"
    else
        check "held up, $way: is measured, by the right names" holds "$(named | awk '{ print $1 " > 10 && " $2 " == 0" }')"
    fi
    check "held up, $way: full paths" full 99
    # A child has no measurement file before its first sample, and nothing of its parent's.
    record -e $way -- "$PROGRAMS/unloads" "$TMP" -1
    check "closed in children, $way: runs" [ $status = 0 ]
    check "closed in children, $way: they end as they would" grep -qx '0 children did not end by themselves' "$TMP/out"
    check "closed in children, $way: the parent is measured on, by the right names" holds "$(named | awk '{ print $1 " > 100 && " $2 " == 0" }')"
done
finish
