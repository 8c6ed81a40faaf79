#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# How code comes to run: gaps between a program's segments, threads that libraries make before main, stacks that begin in assembly.
. tests/collector/lib.sh
: "${CC:=cc}"

cat >"$TMP/burn.c" <<'C'
#include <time.h>
volatile unsigned long sink;
__attribute__((noinline)) void burn(void)
{
    struct timespec now;
    do {
        for (int i = 0; i < 100000; i++)
            sink += i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (now.tv_sec == 0 && now.tv_nsec < 400000000);
}
C
cat >"$TMP/main.c" <<'C'
void burn(void);
__attribute__((noinline)) void work(void) { burn(); __asm__ volatile(""); }
int main(void) { work(); }
C
cat >"$TMP/early.c" <<'C'
#include <pthread.h>
void burn(void);
static pthread_t thread;
static void *worker(void *nothing) { burn(); return nothing; }
__attribute__((constructor)) static void start(void) { pthread_create(&thread, 0, worker, 0); }
void wait_for_it(void) { pthread_join(thread, 0); }
C
echo 'void wait_for_it(void); int main(void) { wait_for_it(); }' >"$TMP/waits.c"

# Most of the time is to be where it was: what the loader and the collector take before comes on top, more on a slow or busy machine, and where a
# path is lost nothing is there. So four fifths.

# Pages of 2 MiB in the file and of 4 KiB in the kernel leave room between the segments; another program may be mapped without.
for pie in -pie -no-pie; do
    $CC -O1 $pie -fPIE -Wl,-z,max-page-size=0x200000,-z,separate-code -o "$TMP/gaps" "$TMP/main.c" "$TMP/burn.c" || exit 1
    record -e CPUTIME@1000/s -- "$TMP/gaps"
    check "gaps $pie: runs" [ $status = 0 ]
    check "gaps $pie: is measured" holds "$(value samples) > 20"
    check "gaps $pie: full paths" full 99.9
    check "gaps $pie: through main" holds "$(share 'main;work;burn') > 80"
    check "gaps $pie: sound" sound
done

$CC -O1 -pthread -shared -fPIC -o "$TMP/libearly.so" "$TMP/early.c" "$TMP/burn.c" && $CC -O1 -o "$TMP/waits" "$TMP/waits.c" -L"$TMP" -learly -Wl,-rpath,"$TMP" || exit 1
record -e CPUTIME@1000/s -- "$TMP/waits"
check "early thread: runs" [ $status = 0 ]
check "early thread: is known" [ "$(value threads)" = 2 ]
check "early thread: is measured" holds "$(share 'burn') > 80"
check "early thread: sound" sound

# What the program allocates lies where it lies without hq: looking for functions that are not there leaves nothing on its heap. Before glibc 2.34 the
# collector has to open libdl.
cat >"$TMP/heap.c" <<'C'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    for (size_t bytes = 24; bytes < 6000; bytes += bytes / 2)
        printf("%zu at %d\n", bytes, (int)((uintptr_t)malloc(bytes) % 4096));
}
C
if [ "$(printf '%s\n' "$(getconf GNU_LIBC_VERSION)" 'glibc 2.34' | sort -V | head -n 1)" = 'glibc 2.34' ]; then
    $CC -O1 -o "$TMP/heap" "$TMP/heap.c" && "$TMP/heap" >"$TMP/heap.alone" || exit 1
    record -- "$TMP/heap"
    check "heap: is as without" cmp "$TMP/heap.alone" "$TMP/out"
else
    skip "the heap as without: the C library is too old"
fi

# A coroutine as Boost.Context starts it: below its first frame lies an address that nobody has called from, in code without unwind information.
cat >"$TMP/enter.S" <<'S'
        .text
        .globl  enter
        .type   enter, @function
enter:  push    %rbx
        mov     %rsp, %rbx
        lea     .Lback(%rip), %rcx
        mov     %rdi, %rsp
        push    %rcx
        jmp     *%rsi
.Lback: mov     %rbx, %rsp
        pop     %rbx
        ret
        .size   enter, . - enter
        .section .note.GNU-stack,"",@progbits
S
cat >"$TMP/coroutine.c" <<'C'
#include <sys/mman.h>
void burn(void);
void enter(void *stack, void (*function)(void));
__attribute__((noinline)) void body(void) { burn(); __asm__ volatile(""); }
int main(void)
{
    char *stack = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    enter(stack + 65536, body);
}
C
$CC -O1 -o "$TMP/coroutine" "$TMP/coroutine.c" "$TMP/burn.c" "$TMP/enter.S" || exit 1
record -e CPUTIME@1000/s -- "$TMP/coroutine"
check "coroutine: runs" [ $status = 0 ]
check "coroutine: is measured" holds "$(value samples) > 20"
check "coroutine: full paths" full 99.9
check "coroutine: from its start" holds "$(share 'enter;body;burn') > 80"

# The loader as the program, with the program as its argument.
for name in "$PROGRAMS/ends" "$(realpath --relative-to=. "$PROGRAMS/ends")"; do
    record -- /lib64/ld-linux-x86-64.so.2 "$name" return
    check "through the loader: $name runs" [ $status = 7 ]
    check "through the loader: $name has its names" [ "$("$HQ" "$DB" 'procedures where name = work as csv' 2>"$TMP/err" | grep -c work):$(grep -c 'not the file' "$TMP/err")" = 1:0 ]
    check "through the loader: $name is the executable" [ "$("$HQ" "$DB" info 2>/dev/null | grep -c '^executables  *.*/ends')" = 1 ]
done
finish
