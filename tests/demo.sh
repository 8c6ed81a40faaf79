#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What `make demo` shows: two ranks with two threads each of examples/flame.c recorded into ./demo.hq, five questions that lead to what is
# wrong with it, and the page. Each command line is printed as one would type it in this directory.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "demo: $*" >&2
    exit 1
}
[ -x ./hq ] || fail "./hq is not built; run: make"
compiler=$(command -v mpicc || true)
[ -n "$compiler" ] || fail "mpicc is not installed; run: make deps"

# show COMMAND...: the command line as typed, with quotes where the shell needs them.
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
run() {
    show "$@"
    "$@"
}
# ask WHY QUESTION
ask() {
    printf '\n# %s' "$1"
    run ./hq demo.hq "$2"
}

mkdir -p build
run mpicc -O2 -g -fopenmp -o build/flame examples/flame.c -lm

# The launcher has to speak the dialect of the library that mpicc links.
mpirun=mpirun
case $(ldd build/flame) in
*libmpich*) mpirun=$(command -v mpirun.mpich || command -v mpirun || true) ;;
*libmpi.so*) mpirun=$(command -v mpirun.openmpi || command -v mpirun || true) ;;
esac
[ -n "$mpirun" ] || fail "mpirun is not installed; run: make deps"
if [ "$(readlink -f "$(command -v mpirun)")" = "$(readlink -f "$mpirun")" ]; then mpirun=mpirun; fi
# Open MPI refuses root and more ranks than processors unless told; a container has both.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMP_NUM_THREADS=2

rm -rf demo.hq demo.html
run ./hq record -o demo.hq -- "$mpirun" -n 2 build/flame ${HQ_DEMO_STEPS:-200} || fail "the recording failed"

ask "Where does the time go, and how even is it?" summary
ask "Which loop is it?" "loops sort by cputime.x limit 4"
ask "Does every rank do as much of it?" "threads of react per rank"
ask "Where does the other rank wait for it, and for how much of its time?" "callers of MPI_Allreduce ranks 1 depth 4"
ask "What in it takes the time?" "source of burn"
printf '\n# The first rank has all of the flame: burn() takes 24 steps for a cell that burns and one for any other.\n'
run ./hq report demo.hq --with-source
printf '\nOpen demo.html in a browser, or ask on: ./hq demo.hq\n'
