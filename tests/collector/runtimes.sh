#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# OpenMP's runtimes where plugins bring them: each call goes on to the runtime that the loader would have bound it to, and is looked up once. And
# clang's calls, which pass through the collector for the body of the region.
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

# A weak reference is NULL where nobody has what it names: a program took the library for there, because its wrapper was, and called what is not wrapped, or
# ended in the wrapper. In a plugin, which is bound later, the wrappers do what there is to do without a runtime.
cat >"$TMP/weak.c" <<'C'
#include <stdio.h>
#define EACH(X) X(GOMP_parallel) X(GOMP_parallel_start) X(GOMP_parallel_reductions) X(GOMP_task) X(GOMP_taskloop) X(GOMP_taskloop_ull) X(GOMP_teams_reg) \
    X(__kmpc_fork_call) X(ompt_start_tool) X(omp_get_num_threads) X(MPI_Init) X(MPI_Send_c) X(mpi_init_) X(MPI_Comm_rank) X(clCreateContext) X(clFinish) \
    X(poll) X(malloc) X(pthread_create)
#define DECLARE(name) extern int name() __attribute__((weak));
EACH(DECLARE)
#define ROW(name) {#name, (void *)name},
static struct { const char *name; void *at; } table[] = {EACH(ROW)};
#define TOLD(name) printf("%s %d\n", #name, name != 0);
int main(void)
{
    EACH(TOLD)
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
        printf("%s %d\n", table[i].name, table[i].at != 0);
    return 0;
}
C
for linked in "-Wl,-z,now,-z,relro" "-Wl,-z,lazy,-z,norelro" "-Wl,--hash-style=sysv" "-Wl,--no-as-needed -lgomp"; do
    gcc -w -fno-builtin -O1 -fPIE -pie -o "$TMP/weak" "$TMP/weak.c" $linked && "$TMP/weak" >"$TMP/weak.bare"
    for event in CPUTIME ALLOC MPI GPU; do
        record -e $event -- "$TMP/weak"
        check "weak references, $linked, -e $event: as without hq: $(diff "$TMP/weak.bare" "$TMP/out" | tr '\n' ' ')" cmp -s "$TMP/weak.bare" "$TMP/out"
    done
done

cat >"$TMP/plugged.c" <<'C'
#include <stdio.h>
typedef void body_function(void *);
void GOMP_parallel(body_function *, void *, unsigned, unsigned) __attribute__((weak));
void GOMP_task(body_function *, void *, void (*)(void *, void *), long, long, _Bool, unsigned, void **, int, void *) __attribute__((weak));
void GOMP_taskloop(body_function *, void *, void (*)(void *, void *), long, long, unsigned, unsigned long, int, long, long, long) __attribute__((weak));
void GOMP_taskloop_ull(body_function *, void *, void (*)(void *, void *), long, long, unsigned, unsigned long, int, unsigned long long, unsigned long long,
                       unsigned long long) __attribute__((weak));
void __kmpc_fork_call(void *, int, void (*)(int *, int *, ...), ...) __attribute__((weak));
static long sum;
static void body(void *data) { sum += *(int *)data; }
static void micro(int *thread, int *team, int *a, long b, long c, long d, long e, long f) { sum += *thread + *team + *a + b + c + d + e + f; }
struct arguments { long start, end; struct arguments *self; };
static void loop(void *data)
{
    struct arguments *a = data;
    for (long i = a->start; i != a->end; i += a->start < a->end ? 1 : -1)
        sum += a->self == a ? 1000000 : 0;
}
static void copy(void *to, void *from)
{
    struct arguments *a = to;
    *a = *(struct arguments *)from;
    a->self = (unsigned long)a % 64 ? 0 : a;
}
void plugged(void)
{
    int one = 1;
    struct arguments a = {0, 1, &a};
    if (GOMP_parallel)
        GOMP_parallel(body, &one, 2, 0);
    else
        sum += 1;
    if (__kmpc_fork_call)
        __kmpc_fork_call(NULL, 6, (void (*)(int *, int *, ...))micro, &one, 10l, 100l, 1000l, 10000l, 100000l);
    else
        sum += 111111;
    if (GOMP_task) {
        GOMP_task(loop, &a, NULL, sizeof a, 8, 1, 0, NULL, 0, NULL);
        GOMP_task(loop, &a, copy, sizeof a, 64, 1, 0, NULL, 0, NULL);
        GOMP_taskloop(loop, &a, NULL, sizeof a, 8, 0, 0, 0, 5, 8, 1);
        GOMP_taskloop(loop, &a, copy, sizeof a, 64, 0, 0, 0, 8, 5, -1);
        GOMP_taskloop(loop, &a, NULL, sizeof a, 8, 0, 0, 0, 8, 5, 1);
        GOMP_taskloop_ull(loop, &a, NULL, sizeof a, 8, 1 << 8, 0, 0, 5, 8, 1);
        GOMP_taskloop_ull(loop, &a, NULL, sizeof a, 8, 0, 0, 0, 5, 8, 1);
    } else {
        sum += 11000000;
    }
    printf("%ld\n", sum);
}
C
printf '%s\n' '#include <dlfcn.h>' 'int main(int n, char **v) { void *p = dlopen(v[1], RTLD_NOW); ((void (*)(void))dlsym(p, "plugged"))(); return n - 2; }' >"$TMP/plugs.c"
gcc -O1 -shared -fPIC -o "$TMP/plugged.so" "$TMP/plugged.c" && gcc -o "$TMP/plugs" "$TMP/plugs.c" && "$TMP/plugs" "$TMP/plugged.so" >"$TMP/plugged.bare"
LIMIT=20 record -- "$TMP/plugs" "$TMP/plugged.so"
check "weak references of a plugin without a runtime: it is right: $status $(cat "$TMP/out")" [ "$status $(cat "$TMP/out")" = "0 $(cat "$TMP/plugged.bare")" ]

# What a plugin opened with RTLD_DEEPBIND calls is found past hq: its worker is not measured, which is told.
cat >"$TMP/deep.c" <<'C'
#include "burn.h"
void deep(void)
{
#pragma omp parallel num_threads(2)
    burn(0.4);
}
C
printf '%s\n' '#define _GNU_SOURCE' '#include <dlfcn.h>' 'int main(int n, char **v) { void *p = dlopen(v[1], RTLD_NOW | RTLD_DEEPBIND); ((void (*)(void))dlsym(p, "deep"))(); return n - 2; }' >"$TMP/deepens.c"
gcc -O2 -g -fopenmp -shared -fPIC -Itests/programs -o "$TMP/deep.so" "$TMP/deep.c" && gcc -o "$TMP/deepens" "$TMP/deepens.c"
record -e CPUTIME@500/s -- "$TMP/deepens" "$TMP/deep.so"
check "RTLD_DEEPBIND: it is told what is not measured, and why: $(cat "$TMP/err")" grep -q 'in no sample: 0.4[0-9]* s in threads .*RTLD_DEEPBIND' "$TMP/err"

# What clang calls has arguments of any number: those in registers, of both kinds, and on the stack arrive. The runtime is one that prints them.
cat >"$TMP/prints.c" <<'C'
#include <stdarg.h>
#include <stdio.h>
void __kmpc_fork_call(void *place, int count, void *body, ...)
{
    va_list more;
    va_start(more, body);
    printf("%p %d %d:", place, count, body != 0);
    for (int i = 0; i < count; i++)
        if (i % 3 == 2)
            printf(" %g", va_arg(more, double));
        else
            printf(" %ld", va_arg(more, long));
    puts("");
    va_end(more);
}
C
cat >"$TMP/calls.c" <<'C'
void __kmpc_fork_call(void *place, int count, void *body, ...);
static void body(void) {}
int main(void)
{
    for (int i = 0; i < 2; i++)
        __kmpc_fork_call((void *)0x1234, 15, (void *)body, 1l, 2l, 3.5, 4l, 5l, 6.5, 7l, 8l, 9.5, 10l, 11l, 12.5, 13l, 14l, 15.5);
    return 0;
}
C
gcc -O1 -shared -fPIC -o "$TMP/libprints.so" "$TMP/prints.c" && gcc -O1 -o "$TMP/calls" "$TMP/calls.c" -L"$TMP" -lprints
record -- "$TMP/calls"
check "arguments in registers and on the stack: $(head -1 "$TMP/out")" [ "$(cat "$TMP/out")" = "$("$TMP/calls")" ]

if ! clang -O1 -g -shared -fPIC -fopenmp -DNAME=three -o "$TMP/three.so" "$TMP/plugin.c" 2>"$TMP/err"; then
    skip "there is no clang with libomp"
    finish
fi
plugins "libomp" '15 2 3;8 3 52;' "$TMP/three.so" three
record -- "$TMP/opens" 50 "$TMP/one.so" one "$TMP/three.so" three "$TMP/two.so" two
check "three runtimes: each computes what it does alone" [ "$(sort "$TMP/out" | uniq -c | awk '{ printf "%s ", $1 }')" = "3 6 " ]

# What a procedure opens by several jumps is as many regions, each of its procedure and with its line, also where no sample fell into it.
cat >"$TMP/jumps.c" <<'C'
static int x[64];
__attribute__((noinline)) static void last(int *p)
{
#pragma omp parallel num_threads(1)
    p[0]++;
}
__attribute__((noinline)) static void chained(int *p)
{
    if (p) {
        last(p);
        return;
    }
#pragma omp parallel num_threads(1)
    x[3]++;
}
__attribute__((noinline)) static void either(int which)
{
    if (which) {
#pragma omp parallel num_threads(1)
        x[1]++;
    } else {
#pragma omp parallel num_threads(1)
        x[2]++;
    }
}
int main(void)
{
    for (int i = 0; i < 300; i++) {
        chained(x);
        either(i % 3 == 0);
    }
    return x[0] != 300 || x[1] != 100 || x[2] != 200;
}
C
clang -O2 -g -fopenmp -o "$TMP/jumps" "$TMP/jumps.c"
record -- "$TMP/jumps"
check "jumps: the program runs as ever" [ "$status" = 0 ]
rows 'regions all sort by line columns line, entries' | awk -F, '{ print $(NF - 1), $NF }' | tr '\n' ';' >"$TMP/regions"
check "jumps: line and entries of each region: $(cat "$TMP/regions")" [ "$(cat "$TMP/regions")" = "4 300;19 100;22 200;" ]
for of in last:1 either:2 chained:0 main:0; do
    check "jumps: regions of ${of%:*}" [ "$(rows "regions of ${of%:*} all columns entries" | grep -c region)" = "${of#*:}" ]
done

# Arguments arrive, in registers and on the stack, whatever they are.
cat >"$TMP/passes.cc" <<'C'
#include <cstdio>
#include <omp.h>
template <int N> long many(long a, double b, float c, bool d, const char *text)
{
    long sum = 0, v0 = a, v1 = a + 1, v2 = a + 2, v3 = a + 3, v4 = a + 4, v5 = a + 5, v6 = a + 6, v7 = a + 7, v8 = a + 8, v9 = a + 9;
    double w0 = b, w1 = b + 1, w2 = b + 2, w3 = b + 3, w4 = b + 4, w5 = b + 5;
#pragma omp parallel num_threads(N) firstprivate(a, b, c, d, text, v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, w0, w1, w2, w3, w4, w5) reduction(+ : sum)
    sum += v0 + v1 * 2 + v2 * 3 + v3 * 4 + v4 * 5 + v5 * 6 + v6 * 7 + v7 * 8 + v8 * 9 + v9 * 10 + (long)(w0 + 2 * w1 + 3 * w2 + 4 * w3 + 5 * w4 + 6 * w5) + (long)(b + c) + d + text[0] + a;
    return sum;
}
int main()
{
    printf("%ld %ld %ld\n", many<1>(1, 2.5, 3.25f, true, "x"), many<2>(7, -2.5, 1e6f, false, "y"), many<3>(-1, 0, 0, true, "z"));
    long leagues = 0;
#pragma omp teams num_teams(2) thread_limit(1) reduction(+ : leagues)
    leagues += omp_get_team_num() + 1;
    printf("%d\n", leagues >= 1);
}
C
for level in -O0 -O2; do
    clang++ $level -g -fopenmp -o "$TMP/passes" "$TMP/passes.cc"
    record -- "$TMP/passes"
    check "arguments, $level: $(tr '\n' ' ' <"$TMP/out")" [ "$(cat "$TMP/out")" = "$("$TMP/passes")" ]
done
# To look a function up, as after each unloading, is the collector's own work: no cost of the procedure that opens the region.
cat >"$TMP/unloads.c" <<'C'
#include <dlfcn.h>
#include <time.h>
int main(int argc, char **argv)
{
    struct timespec now;
    do {
        void *library = dlopen(argv[argc - 1], RTLD_NOW);
        if (!library || dlclose(library))
            return 1;
#pragma omp parallel num_threads(1)
        __asm__ volatile("");
    } while (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now), now.tv_sec == 0 && now.tv_nsec < 500000000);
    return 0;
}
C
echo 'int nothing;' >"$TMP/nothing.c"
gcc -shared -fPIC -o "$TMP/libnothing.so" "$TMP/nothing.c" && gcc -O1 -g -fopenmp -o "$TMP/unloads" "$TMP/unloads.c" -ldl
record -e CPUTIME@1000/s -- "$TMP/unloads" "$TMP/libnothing.so"
check "looking up: the program runs as ever" [ $status = 0 ]
check "looking up: it is told as hq's own" holds "$(rows 'procedures of "[hq: measuring]" columns cputime' | awk -F, '{ print $NF + 0 }') > 0"
check "looking up: it is nobody else's ($(rows 'procedures of /^(_dl_addr|dlsym)$/ columns cputime' | tr '\n' ' '))" [ -z "$(rows 'procedures of /^(_dl_addr|dlsym)$/')" ]
# A region's line is that of its directive, also where gcc has moved the code of a line below to its entry.
cat >"$TMP/directive.c" <<'C'
#include "burn.h"
int noted, times[3];
__attribute__((noinline)) void work(int x, int y) { burn(0.02 * x + 0.01 * y); }
__attribute__((noinline)) void run(int n, int m)
{
#pragma omp parallel firstprivate(m) private(n) num_threads(2)
    {

        if (noted) {
#pragma omp master
            times[0]++;
        }
        for (n = 0; n < 2; n++)
            work(1, m);
        if (noted)
            times[1]++;
    }
#pragma omp parallel num_threads(2)

    work(1, 1);
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp task firstprivate(m)

    {
        work(1, m);
        __asm__ volatile("");
    }
}
int main(int argc, char **argv) { run(1, argc); return argv == 0; }
C
gcc -O3 -g -fopenmp -Itests/programs -o "$TMP/directive" "$TMP/directive.c"
record -e CPUTIME@500/s -- "$TMP/directive"
rows 'regions all sort by line columns line, entries' | awk -F, '{ printf "%s %s;", $(NF - 1), $NF }' >"$TMP/regions"
check "directives: the lines of regions are theirs ($(cat "$TMP/regions"))" [ "$(cat "$TMP/regions")" = "6 1;18 1;21 1;" ]
check "directives: and a task's" [ "$(rows 'procedures where name =~ /^task/' | cut -d, -f3,6)" = "task at directive.c:23,23" ]
# In Fortran a region is one of the procedure that it is written in, whatever the linker calls that: of the main program, of one in a module, of one
# contained in that, of one in no module, inlined or not.
if command -v gfortran >/dev/null; then
    cat >"$TMP/fortran.f90" <<'F'
module kept
contains
  subroutine work(n)
    integer :: n, i
    real(8), save :: a(3000000)
    !$omp parallel do
    do i = 1, 3000000
      a(i) = sqrt(real(i + n, 8)) * a(i)
    end do
    call inner
  contains
    subroutine inner
      !$omp parallel do
      do i = 1, 3000000
        a(i) = sqrt(real(i + n, 8)) + a(i)
      end do
    end subroutine
  end subroutine
end module
subroutine plain(n)
  integer :: n, i
  real(8), save :: a(3000000)
  !$omp parallel do
  do i = 1, 3000000
    a(i) = sqrt(real(i + n, 8)) * a(i)
  end do
end subroutine
program all
  use kept
  real(8), save :: a(3000000)
  do j = 1, 8
    call work(j)
    call plain(j)
    !$omp parallel do
    do i = 1, 3000000
      a(i) = sqrt(real(i + j, 8)) * a(i)
    end do
  end do
end program
F
    for level in -O0 -O1; do
        gfortran $level -g -fopenmp -J"$TMP" -o "$TMP/fortran" "$TMP/fortran.f90"
        OMP_NUM_THREADS=2 record -e CPUTIME@500/s -- "$TMP/fortran"
        rows 'regions all sort by line' | awk -F, '{ sub(/.*:/, "", $NF); printf "%s %s %s;", $6, $10, $NF }' >"$TMP/regions"
        check "Fortran, $level: regions and their procedures ($(cat "$TMP/regions"))" [ "$(cat "$TMP/regions")" = "6 8 work;13 8 inner;23 8 plain;34 8 all;" ]
        rows 'procedures all' | awk -F, '$3 ~ /^(MAIN__|plain_|inner[.]0)$/ { print $3 }' >"$TMP/linked"
        check "Fortran, $level: names of the linker are none of procedures ($(cat "$TMP/linked"))" [ ! -s "$TMP/linked" ]
    done
else
    skip "there is no gfortran"
fi
# A loop that gcc made parallel by itself is one of its procedure, too, in C and in C++.
cat >"$TMP/itself.c" <<'C'
static double a[3000000];
__attribute__((noinline)) void scale(double f)
{
    for (int i = 0; i < 3000000; i++)
        a[i] = a[i] * f + (double)i;
}
int main(void)
{
    for (int k = 0; k < 40; k++)
        scale(1.01);
    return (int)a[7] & 0;
}
C
for language in c c++; do
    gcc -x $language -O2 -g -ftree-parallelize-loops=2 -o "$TMP/itself" "$TMP/itself.c"
    record -e CPUTIME@500/s -- "$TMP/itself"
    rows 'regions all' | awk -F, '{ sub(/\(.*/, "", $NF); printf "%s %s %s", $6, $10, $NF }' >"$TMP/regions"
    check "parallel by itself, $language: the region ($(cat "$TMP/regions"))" [ "$(cat "$TMP/regions")" = "4 40 scale" ]
    check "parallel by itself, $language: its body is no procedure" [ -z "$(rows 'procedures where name =~ /loopfn/ all')" ]
done
# Without optimisation clang writes a region as two procedures, of which one calls the other: the second was a task below the region.
cat >"$TMP/plain.c" <<'C'
#include "burn.h"
void host(double s)
{
    int x = 0;
#pragma omp parallel num_threads(2) reduction(+ : x)
    {
        burn(s);
        x++;
    }
#pragma omp parallel for num_threads(2) schedule(dynamic)
    for (int i = 0; i < 4; i++)
        burn(s / 4);
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task
        burn(s);
    }
}
int main(void)
{
    for (int i = 0; i < 4; i++)
        host(0.02);
    return 0;
}
C
for compiler in gcc clang; do
    $compiler -O0 -g -fopenmp -Itests/programs -o "$TMP/plain" "$TMP/plain.c"
    record -e CPUTIME@500/s -- "$TMP/plain"
    rows 'tree of host all columns kind' | awk -F, '$2 == "region" || $3 ~ /^task/ || $3 ~ /outlined|omp_fn/ { print $3 }' | sort | tr '\n' ';' >"$TMP/rows"
    check "$compiler -O0: three regions and a task ($(cat "$TMP/rows"))" [ "$(cat "$TMP/rows")" = "parallel region at plain.c:10;parallel region at plain.c:13;parallel region at plain.c:5;task at plain.c:16;" ]
done
finish
