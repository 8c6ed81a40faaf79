#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# OpenMP's runtimes where plugins bring them: each call goes on to the runtime that the loader would have bound it to, and is looked up once.
. tests/collector/lib.sh

rows() { "$HQ" "$DB" "$1 as csv" 2>>"$TMP/err" | sed '1d; s/\r$//'; }

cat >"$TMP/plugin.c" <<'C'
#include <omp.h>
#include <stdio.h>
void NAME(int rounds)
{
    int numbers = 0, teams = 0;
    long sum = 0;
    for (int i = 0; i < rounds; i++) {
#pragma omp parallel num_threads(3) reduction(+ : numbers)
        {
            numbers += omp_get_thread_num();
#pragma omp single
            teams += omp_get_num_threads();
        }
    }
#pragma omp parallel for reduction(+ : sum) num_threads(2)
    for (int i = 0; i < 1000; i++)
        sum += i;
    printf("%d %d %ld\n", numbers, teams, sum);
}
C
cat >"$TMP/opens.c" <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **argument)
{
    for (int i = 2; i + 1 < count; i += 2) {
        void *plugin = dlopen(argument[i], RTLD_NOW | RTLD_LOCAL);
        void (*function)(int) = plugin ? (void (*)(int))dlsym(plugin, argument[i + 1]) : NULL;

        if (!function)
            return 1;
        function(atoi(argument[1]));
        function(1);
        fflush(stdout);
        dlclose(dlopen("libm.so.6", RTLD_NOW));
        function(1);
    }
    return 0;
}
C
gcc -O1 -o "$TMP/opens" "$TMP/opens.c" -ldl
gcc -O1 -g -shared -fPIC -fopenmp -DNAME=one -o "$TMP/one.so" "$TMP/plugin.c"
gcc -O1 -g -shared -fPIC -fopenmp -DNAME=two -o "$TMP/two.so" "$TMP/plugin.c"
# A runtime of its own for the second: the same code by another name.
LC_ALL=C sed -i 's/libgomp\.so\.1/libgomq.so.1/g' "$TMP/two.so"
LC_ALL=C sed 's/libgomp\.so\.1/libgomq.so.1/g' "$(realpath "$(gcc -print-file-name=libgomp.so.1)")" >"$TMP/libgomq.so.1"
export LD_LIBRARY_PATH=$TMP${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# plugins NAME WANTED ARGUMENTS...: they compute what they do alone, and regions are as many, of so large teams.
plugins() {
    local name=$1 wanted=$2
    shift 2
    record -- "$TMP/opens" 50 "$@"
    check "$name: the plugins compute what they do alone" [ "$(cat "$TMP/out")" = "$("$TMP/opens" 50 "$@")" ]
    check "$name: and are right" [ "$(sort -u "$TMP/out" | tr '\n' ';')" = "150 150 499500;3 3 499500;" ]
    rows 'regions all columns line, team, entries' | awk -F, '{ print $(NF - 2), $(NF - 1), $NF }' | sort | tr '\n' ';' >"$TMP/regions"
    check "$name: their regions, by line, team, entries: $(cat "$TMP/regions")" [ "$(cat "$TMP/regions")" = "$wanted" ]
}
plugins "one runtime" '15 2 3;8 3 52;' "$TMP/one.so" one
plugins "two runtimes" '15 2 3;15 2 3;8 3 52;8 3 52;' "$TMP/one.so" one "$TMP/two.so" two

# Each lookup would take a hundred times as long as a region. The loader tells of those that it makes.
LD_DEBUG=symbols LD_DEBUG_OUTPUT=$TMP/lookups record -- "$TMP/opens" 50 "$TMP/one.so" one
cat "$TMP"/lookups* | grep -c 'symbol=GOMP_parallel;.*file=.*libgomp' >"$TMP/count"
check "it is looked up once for a place that calls, not for each region ($(cat "$TMP/count"))" holds "$(cat "$TMP/count") >= 1 && $(cat "$TMP/count") <= 6"
rm -f "$TMP"/lookups*

# A weak reference where there is no runtime never came back.
cat >"$TMP/weak.c" <<'C'
#include <stdio.h>
void GOMP_parallel(void (*)(void *), void *, unsigned, unsigned) __attribute__((weak));
void __kmpc_fork_call(void *, int, void (*)(int *, int *, ...), ...) __attribute__((weak));
static int sum;
static void body(void *data) { sum += *(int *)data; }
static void micro(int *thread, int *team, int *a, long b, long c, long d, long e, long f) { sum += *thread + *team + *a + b + c + d + e + f; }
int main(void)
{
    int one = 1;
    if (GOMP_parallel)
        GOMP_parallel(body, &one, 2, 0);
    else
        sum += 1;
    if (__kmpc_fork_call)
        __kmpc_fork_call(NULL, 6, (void (*)(int *, int *, ...))micro, &one, 10l, 100l, 1000l, 10000l, 100000l);
    else
        sum += 111111;
    printf("%d\n", sum);
    return 0;
}
C
gcc -O1 -fPIE -pie -o "$TMP/weak" "$TMP/weak.c"
LIMIT=20 record -- "$TMP/weak"
check "weak references without a runtime: the program ends, and is right" [ "$status $(cat "$TMP/out")" = "0 111112" ]

if ! clang -O1 -g -shared -fPIC -fopenmp -DNAME=three -o "$TMP/three.so" "$TMP/plugin.c" 2>"$TMP/err"; then
    skip "there is no clang with libomp"
    finish
fi
plugins "libomp" '15 2 3;8 3 52;' "$TMP/three.so" three
record -- "$TMP/opens" 50 "$TMP/one.so" one "$TMP/three.so" three "$TMP/two.so" two
check "three runtimes: each computes what it does alone" [ "$(sort "$TMP/out" | uniq -c | awk '{ printf "%s ", $1 }')" = "3 6 " ]

finish
