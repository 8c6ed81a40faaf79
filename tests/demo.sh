#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What `make demo` shows: two ranks of hpcc (HPL, FFT and the rest of the HPC Challenge) recorded into ./demo.hq, and four
# questions to it. Each command line is printed as one would type it in this directory.
set -euo pipefail
cd "$(dirname "$0")/.."
top=$PWD

fail() {
    echo "demo: $*" >&2
    exit 1
}
[ -x ./hq ] || fail "./hq is not built; run: make"
program=$(command -v hpcc) || fail "hpcc is not installed; run: make deps"

# hpcc speaks the dialect of the MPI library it was linked with, and the launcher has to match.
mpirun=mpirun
case $(ldd "$program") in
*libmpich*) mpirun=$(command -v mpirun.mpich || command -v mpirun || true) ;;
*libmpi.so*) mpirun=$(command -v mpirun.openmpi || command -v mpirun || true) ;;
esac
[ -n "$mpirun" ] || fail "mpirun is not installed; run: make deps"
if [ "$(readlink -f "$(command -v mpirun)")" = "$(readlink -f "$mpirun")" ]; then mpirun=mpirun; fi
# Open MPI refuses root and more ranks than processors unless told; a container has both.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

# hpcc reads its problem from hpccinf.txt in the current directory and writes its results there.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
sed "s/^2500 /${HQ_DEMO_SIZE:-2500} /" tests/hpccinf.txt >"$scratch/hpccinf.txt"

# show COMMAND...: the command line as typed, with quotes where the shell needs them, then what it does.
show() {
    local line='' word
    for word in "$@"; do
        case $word in
        *[!A-Za-z0-9_./=:@%+-]*) line+=" \"$word\"" ;;
        *) line+=" $word" ;;
        esac
    done
    printf '\n$%s\n' "$line"
}
ask() {
    show ./hq "$@"
    ./hq "$@"
}

rm -rf demo.hq
show ./hq record -o demo.hq -- "$(basename "$mpirun")" -n 2 hpcc
(cd "$scratch" && "$top/hq" record -o "$top/demo.hq" -- "$mpirun" -n 2 hpcc) || fail "the recording failed"

ask demo.hq "info"
ask demo.hq "hot path threshold 30%"
ask demo.hq "procedures limit 10"
ask demo.hq "callers of MPI_* limit 5 depth 3"
printf '\nThe data stays in demo.hq; ./hq demo.hq/ opens a prompt.\n'
