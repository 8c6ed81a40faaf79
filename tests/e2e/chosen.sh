#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Procedures of which the loader takes the one for the processor (STT_GNU_IFUNC, as memcpy): they are found by the name
# that the program calls them by, and a check of such a name never passes where nothing says which procedure it became.
set -u
cd "$HQ_TEST_TMP" || exit 1
passed=0 failed=0

# holds WHAT STATUS PATTERN COMMAND...: its status, and what it prints
holds() {
    local what=$1 status=$2 pattern=$3
    shift 3
    "$@" >out 2>&1
    if [ $? = "$status" ] && grep -q -- "$pattern" out; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\n' "$what"
        cat out
    fi
}

cat >chosen.c <<'C'
#include <time.h>
volatile unsigned sink;
#define BODY(n) { for (unsigned i = 0; i < (n); i++) sink = sink * 3 + i; }
__attribute__((noinline, used)) static void __work_sse2(void) BODY(20000)
__attribute__((noinline, used)) static void work_generic(void) BODY(10)
__attribute__((noinline, used)) static void rest_generic(void) BODY(10)
static void (*pick(void))(void) { return __work_sse2; }
static void (*pick_rest(void))(void) { return rest_generic; }
void work(void) __attribute__((ifunc("pick")));
void rest(void) __attribute__((ifunc("pick_rest")));
static double now(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
int main(int argc, char **argv) { if (argc > 1) rest(); for (double start = now(); now() < start + 0.3;) work(); return argv == 0; }
C
if ! gcc -O1 -g -o chosen chosen.c || ! strip -o stripped chosen; then
    echo "skipped: no compiler that knows the attribute ifunc"
    exit 77
fi
"$HQ" record -o c.hq -- ./chosen 2>/dev/null || exit 1
"$HQ" record -o s.hq -- ./stripped 2>/dev/null || exit 1

holds "the procedure has its own name" 0 '__work_sse2' "$HQ" c.hq "procedures of __work_sse2 expect rows = 1"
holds "and that which the program calls" 0 '__work_sse2' "$HQ" c.hq "procedures of work expect rows = 1"
holds "one that was not called is known" 0 'is in the program, but has no sample' "$HQ" c.hq "procedures of rest expect cputime < 60%"
holds "without symbols nothing says which one it became" 4 'nothing matches' "$HQ" s.hq "procedures of work expect cputime < 60%"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
