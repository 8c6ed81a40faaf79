#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# MPI programs get right results under the collector, with each MPI there is, both clocks, started from outside and rank by rank.
. tests/collector/lib.sh
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
for kind in openmpi mpich; do
    if ! command -v mpicc.$kind >/dev/null || ! mpicc.$kind -O1 -g -o "$TMP/$kind" tests/soak/mpi_check.c; then
        skip "there is no $kind"
        continue
    fi
    for event in CPUTIME@500/s REALTIME@1000/s; do
        record -e $event -- mpirun.$kind -n 2 "$TMP/$kind" 3
        check "$kind, $event, from outside: right results" [ $status = 0 ]
        check "$kind, $event, from outside: full paths" full 99.9
        check "$kind, $event, from outside: sound" sound
        rm -rf "$DB"
        timeout 100 mpirun.$kind -n 2 "$HQ" record -e $event -o "$DB" -- "$TMP/$kind" 3 >"$TMP/out" 2>"$TMP/err"
        check "$kind, $event, rank by rank: right results" [ $? = 0 ]
        "$READ" "$DB/measurements" >"$TMP/sums" 2>&1
        check "$kind, $event, rank by rank: both are there" [ "$(value files)" = 2 ]
        check "$kind, $event, rank by rank: full paths" full 99.9
        check "$kind, $event, rank by rank: sound" sound
        echo "$kind, $event: $(value samples) samples, $(value partial) partial"
    done
done
finish
