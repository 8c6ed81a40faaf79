#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Plugins that end with a call of what they alone have loaded: compilers make a jump of it, so that it comes from the program, which does not find it. Regions
# were run by one thread then, and calls of MPI failed. And plugins in each other's place.
. tests/collector/lib.sh

rows() { "$HQ" "$DB" "$1 as csv" 2>>"$TMP/err" | sed '1d; s/\r$//'; }

cat >"$TMP/plugin.c" <<'C'
#include <omp.h>
static int most, tasks;
void region(void)
{
#pragma omp parallel num_threads(3)
    if (omp_get_num_threads() > most && !omp_get_thread_num())
        most = omp_get_num_threads();
}
static void many(void)
{
#pragma omp for
    for (int i = 0; i < 8; i++)
#pragma omp task
#pragma omp atomic
        tasks++;
}
void loop(void)
{
#pragma omp parallel num_threads(2)
    many();
}
int sums(void) { return most * 1000 + tasks; }
C
sed '1,3s/^/\n/' "$TMP/plugin.c" >"$TMP/later.c"
cat >"$TMP/opens.c" <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **plugins)
{
    for (int i = 1; i < count; i++) {
        void *plugin = dlopen(plugins[i], RTLD_NOW);
        /* Runtimes must not go while their threads wait in them. */
        dlopen("libgomp.so.1", RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
        dlopen("libomp.so.5", RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
        void (*region)(void) = (void (*)(void))dlsym(plugin, "region"), (*loop)(void) = (void (*)(void))dlsym(plugin, "loop");
        for (int k = 0; k < 4 + i; k++)
            region();
        for (int k = 0; k < 2 + i; k++)
            loop();
        printf("%d\n", ((int (*)(void))dlsym(plugin, "sums"))());
        fprintf(stderr, "at %p\n", (void *)region);
        dlclose(plugin);
    }
    return 0;
}
C
gcc -O1 -o "$TMP/opens" "$TMP/opens.c" -ldl
for compiler in gcc clang; do
    if ! "$compiler" -O2 -g -shared -fPIC -fopenmp -o "$TMP/plugin.so" "$TMP/plugin.c" 2>/dev/null; then
        skip "there is no $compiler with OpenMP"
        continue
    fi
    "$compiler" -O2 -g -shared -fPIC -fopenmp -o "$TMP/later.so" "$TMP/later.c"
    record -- "$TMP/opens" "$TMP/plugin.so" "$TMP/later.so"
    check "$compiler: the plugins' teams and tasks: $(tr '\n' ' ' <"$TMP/out")" [ "$(tr '\n' ' ' <"$TMP/out")" = "3024 3032 " ]
    check "$compiler: the second plugin lies where the first did: $(grep '^at' "$TMP/err" | tr '\n' ' ')" [ "$(grep '^at' "$TMP/err" | sort -u | wc -l)" = 1 ]
    rows 'regions all columns entries, team sort by file, line' | awk -F, '{ print $3, $(NF - 1), $NF }' | sort | tr '\n' ';' >"$TMP/regions"
    check "$compiler: regions, entries and teams: $(cat "$TMP/regions")" \
        [ "$(cat "$TMP/regions")" = "parallel region at later.c:22 4 2;parallel region at later.c:8 6 3;parallel region at plugin.c:19 3 2;parallel region at plugin.c:5 5 3;" ]
done

# A library's constructor comes before the collector begins: the first region of one was in no region, and its worker beside the program.
cat >"$TMP/early.c" <<'C'
#include "burn.h"
__attribute__((constructor)) static void early(void)
{
#pragma omp parallel num_threads(2)
    burn(0.04);
}
__attribute__((destructor)) static void late(void)
{
#pragma omp parallel num_threads(2)
    burn(0.04);
}
void used(void) {}
C
echo 'void used(void); int main(void) { used(); return 0; }' >"$TMP/uses.c"
for compiler in gcc clang; do
    "$compiler" -O2 -g -shared -fPIC -fopenmp -Itests/programs -o "$TMP/libearly.so" "$TMP/early.c" 2>/dev/null || continue
    gcc -o "$TMP/uses" "$TMP/uses.c" -L"$TMP" -learly -Wl,-rpath,"$TMP"
    record -e CPUTIME@1000/s -- "$TMP/uses"
    rows 'regions all columns entries, team sort by line' | awk -F, '{ print $3, $(NF - 1), $NF }' | tr '\n' ';' >"$TMP/regions"
    check "$compiler: regions of a library's constructor and destructor: $(cat "$TMP/regions")" \
        [ "$(cat "$TMP/regions")" = "parallel region at early.c:4 1 2;parallel region at early.c:9 1 2;" ]
    { rows 'procedures of burn columns cputime'; rows 'regions all columns work'; } | awk -F, '{ n[NR] = $NF } END { print n[1], n[2] + n[3] }' >"$TMP/work"
    check "$compiler: their work is in them (of $(cat "$TMP/work") s)" holds "$(awk '{ print $1 " - " $2 }' "$TMP/work") <= 0.005"
done

cat >"$TMP/mpi.c" <<'C'
#include <mpi.h>
int begins(void) { return MPI_Init(0, 0); }
int waits(void) { return MPI_Barrier(MPI_COMM_WORLD); }
int ends(void) { return MPI_Finalize(); }
C
cat >"$TMP/calls.c" <<'C'
#include <dlfcn.h>
int main(int count, char **plugins)
{
    void *plugin = dlopen(plugins[1], RTLD_NOW);
    int failed = ((int (*)(void))dlsym(plugin, "begins"))();

    for (int i = 0; i < 5; i++)
        failed |= ((int (*)(void))dlsym(plugin, "waits"))();
    return failed | ((int (*)(void))dlsym(plugin, "ends"))();
}
C
gcc -O1 -o "$TMP/calls" "$TMP/calls.c" -ldl
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for mpi in openmpi mpich; do
    if ! mpicc.$mpi -O2 -shared -fPIC -o "$TMP/mpi.so" "$TMP/mpi.c" 2>/dev/null; then
        skip "there is no $mpi"
        continue
    fi
    "$TMP/calls" "$TMP/mpi.so" >"$TMP/out" 2>&1 || continue # it cannot be opened for a plugin alone here
    record -e MPI -- "$TMP/calls" "$TMP/mpi.so"
    check "$mpi: calls of a plugin succeed" [ "$status" = 0 ]
    check "$mpi: and are counted" [ "$(rows 'procedures of MPI_Barrier columns mpi_calls.x' | awk -F, '{ print $NF }')" = 5 ]
done
finish
