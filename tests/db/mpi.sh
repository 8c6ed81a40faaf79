#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A build split over MPI ranks gives the file that one process makes, with MPICH and with Open MPI.
. tests/db/lib.sh

"$BUILD/tools/spmd" "$TMP/spmd" 300 300 300
"$BUILD/tools/spmd" "$TMP/few" 2 100 100
"$HQ" record -o "$TMP/threads" -- "$PROGRAMS/threads" >/dev/null 2>&1
cp "$TMP/threads/measurements/"*.hqm "$TMP/spmd/measurements/"
echo nonsense >"$TMP/spmd/measurements/bad.hqm"
check "alone" "$HQ" build -o "$TMP/alone.db" "$TMP/spmd"
check "few alone" "$HQ" build -o "$TMP/few.db" "$TMP/few"
for mpi in mpich openmpi; do
    if ! command -v mpirun.$mpi >/dev/null || [ ! -e "libhqmpi-$mpi.so" ]; then
        skipped=$((skipped + 1))
        echo "skipped: $mpi is not here"
        continue
    fi
    for n in 2 3 5; do
        check "$n ranks of $mpi" timeout 60 mpirun.$mpi -n $n "$HQ" build -j 1 -o "$TMP/$mpi.$n.db" "$TMP/spmd"
        check "$n ranks of $mpi make the same file" cmp "$TMP/alone.db" "$TMP/$mpi.$n.db"
    done
    check "more ranks of $mpi than files" timeout 60 mpirun.$mpi -n 4 "$HQ" build -o "$TMP/$mpi.few.db" "$TMP/few"
    check "make the same file" cmp "$TMP/few.db" "$TMP/$mpi.few.db"
    check "nothing to do" timeout 60 mpirun.$mpi -n 2 "$HQ" build -o "$TMP/$mpi.few.db" "$TMP/few"
    timeout 60 mpirun.$mpi -n 3 "$HQ" build "$TMP/nothing" >"$TMP/out" 2>&1
    status=$?
    check "an error ends all ranks" test $status = 3 -o $status = 1
    check "and is told" grep -q "nothing: there is no such directory" "$TMP/out"
    timeout 60 mpirun.$mpi -n 3 "$HQ" build -o /proc/nothing/x.db "$TMP/few" >"$TMP/out" 2>&1
    status=$?
    check "so does one in the midst of it" test $status != 0 -a $status != 124
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
