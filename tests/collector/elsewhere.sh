#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Where files cannot be mapped, data goes to a directory of the node first, and comes home whoever is killed; a live recording is not replaced.
. tests/collector/lib.sh
: "${CC:=cc}"
export TMPDIR=$TMP/node
mkdir -p "$TMPDIR"

again() { "$READ" "$DB/measurements" >"$TMP/sums" 2>&1; }
left() { find "$TMPDIR" "$TMP/buffer" -mindepth 1 2>/dev/null | wc -l; }
marks() { find "$DB/measurements" -name 'elsewhere-*' | wc -l; }
first() { find "$DB/measurements" "$TMPDIR" "$TMP/buffer" -name '*.hqm' 2>/dev/null | head -n 1; }

# By itself. The probe sees that the directory cannot do it.
$CC -shared -fPIC -O1 -o "$TMP/unmappable.so" tests/collector/unmappable.c -ldl || exit 1
refusing() { UNMAPPABLE=$DB LD_PRELOAD=$TMP/unmappable.so record "$@"; }
for way in return kill; do
    refusing -- "$PROGRAMS/ends" $way
    check "unmappable, $way: one sentence says where the data goes" [ "$(grep -c "cannot be mapped, so the data is written to $TMPDIR/hq-record-" "$TMP/err")" = 1 ]
    check "unmappable, $way: the data arrives" holds "$(value 'sum CPUTIME') > 0.2e9"
    check "unmappable, $way: the line at the end tells of it" grep -Eq '^hq: [0-9]{2,} samples' "$TMP/err"
    check "unmappable, $way: nothing stays" [ "$(left):$(marks)" = 0:0 ]
    check "unmappable, $way: sound" sound
done
record -- "$PROGRAMS/ends" return
check "where files can be mapped nothing is said" [ "$(wc -l <"$TMP/err")" = 1 ]
rm -rf "$DB"
for rank in 0 1; do
    UNMAPPABLE=$DB LD_PRELOAD=$TMP/unmappable.so PMI_RANK=$rank PMIX_NAMESPACE=job "$HQ" record -o "$DB" -- "$PROGRAMS/ends" return 2>>"$TMP/err"
done
again
check "ranks: the data of both arrives" [ "$(value files)" = 2 ]
check "ranks: one of them says so" [ "$(grep -c 'cannot be mapped' "$TMP/err")" = 1 ]

# Ranks share a recording if they are of one launch, whatever scripts and proxies of the launcher are between.
rank() { MPI_LOCALNRANKS=$1 PMI_SIZE=2 PMI_RANK=$2 sh -c '"$@"; true' sh "$HQ" record -o "$DB" -- "$PROGRAMS/ends" return 2>>"$TMP/err"; }
export -f rank
rm -rf "$DB"
rank 2 0
rank 2 1
again
check "ranks that are scripts: the data of both arrives" [ "$(value files)" = 2 ]
proxy() { HQ=$HQ DB=$DB PROGRAMS=$PROGRAMS TMP=$TMP bash -c 'rank 1 "$1"; true' hydra_pmi_proxy "$1" --control-port "here:$2"; }
rm -rf "$DB"
proxy 0 4711
proxy 1 4711
again
check "ranks of two proxies of one launcher: likewise" [ "$(value files)" = 2 ]
proxy 1 4712
again
check "but not of two launchers" [ "$(value files):$(tail -n 1 "$TMP/err" | grep -c 'holds a recording already')" = 2:1 ]

# The launcher's name of a launch joins its ranks, each once: what a rank records next of that name, as from a shell in a step of Slurm, is another recording.
task() { env "$@" "$HQ" record -o "$DB" -- "$PROGRAMS/ends" return 2>>"$TMP/err"; }
for names in "SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID" "SLURM_JOB_ID=7 SLURM_STEP_ID=0 PMIX_NAMESPACE=slurm.pmix.7.0 PMIX_RANK" \
    "PALS_APID=x PALS_RANKID" "FLUX_JOB_ID=f FLUX_TASK_RANK"; do
    rm -rf "$DB"
    # shellcheck disable=SC2086 # several words
    for rank in 0 1 1; do task $names=$rank; done
    again
    check "$names: two ranks, each once" [ "$(value files):$(tail -n 1 "$TMP/err" | grep -c 'holds a recording already')" = 2:1 ]
done
# shellcheck disable=SC2086
env $names=1 "$HQ" record --force -o "$DB" -- "$PROGRAMS/ends" return 2>>"$TMP/err"
# shellcheck disable=SC2086
env $names=0 "$HQ" record --force -o "$DB" -- "$PROGRAMS/ends" return 2>>"$TMP/err"
again
check "and with --force they make it anew" [ "$(value files)" = 2 ]
rm -rf "$DB"
env FLUX_JOB_ID=f FLUX_TASK_RANK=0 "$HQ" record -o "$DB" -- "$TMP/nothing" 2>>"$TMP/err"
task FLUX_JOB_ID=f FLUX_TASK_RANK=0
again
check "what could not be started does not count" [ "$(value files)" = 1 ]
for variables in "MPI_LOCALNRANKS=1 PMI_RANK=3" "FLUX_JOB_ID=f FLUX_TASK_RANK=3"; do
    rm -rf "$DB"
    # shellcheck disable=SC2086
    task ${variables/#MPI/SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=0 PMIX_NAMESPACE=slurm.pmix.7.0 PMIX_RANK=0 MPI}
    "$HQ" "$DB" 'threads per rank columns rank' >"$TMP/out" 2>&1
    check "$variables: rank 3" grep -Eq '(^| )rank 3( |$)' "$TMP/out"
done

# A real file system of that kind.
mkdir -p "$TMP/branch" "$TMP/fuse"
if command -v mergerfs >/dev/null && [ -w /dev/fuse ] && mergerfs -o cache.files=off "$TMP/branch" "$TMP/fuse" 2>/dev/null; then
    "$HQ" record -o "$TMP/fuse/db" -- "$PROGRAMS/ends" return >"$TMP/out" 2>"$TMP/err"
    check "FUSE: the program ends as it would" [ $? = 7 ]
    check "FUSE: one sentence" [ "$(grep -c 'cannot be mapped' "$TMP/err")" = 1 ]
    "$READ" "$TMP/branch/db/measurements" >"$TMP/sums" 2>&1
    check "FUSE: the data arrives" holds "$(value 'sum CPUTIME') > 0.2e9"
    check "FUSE: nothing stays" [ "$(left)" = 0 ]
    check "FUSE: the database is made and read there" [ "$("$HQ" "$TMP/fuse/db" 'procedures limit 3 as csv' 2>/dev/null | grep -c ',procedure,work,')" = 1 ]
    fusermount3 -u "$TMP/fuse" 2>/dev/null || fusermount -u "$TMP/fuse" 2>/dev/null || umount "$TMP/fuse"
else
    skip "no FUSE file system can be mounted here"
fi

# Everybody is killed: the next use of the recording brings the data home.
rm -rf "$DB"
held "$HQ" record --buffer "$TMP/buffer" -o "$DB" -- "$PROGRAMS/paths" 20 1 2>"$TMP/err"
until [ -n "$(first)" ] && [ "$("$READ" "$(dirname "$(first)")" | awk '$1 == "samples" { print $2 }')" -gt 5 ]; do :; done
"$HQ" record --force -o "$DB" -- true 2>"$TMP/err"
check "a live recording is not replaced" [ "$?:$(grep -c 'still runs' "$TMP/err")" = 2:1 ]
order all KILL
ended
check "killed: a mark tells where the data is" [ "$(marks)" = 1 ]
"$HQ" "$DB" info >"$TMP/out" 2>"$TMP/err"
check "killed: the next use fetches it" [ "$?:$(left):$(marks)" = 0:0:0 ]
check "killed: and it is there" grep -Eq '^samples +[1-9]' "$TMP/out"

# A daemon goes on when the command has ended.
held sh -c '"$@"; echo $? >"$0"' "$TMP/recorded" "$HQ" record --force -o "$DB" --buffer "$TMP/buffer" -- \
    sh -c '"$0" 30 1 </dev/null >/dev/null 2>&1 & echo $!; until [ -e "$1/goes" ]; do :; done' "$PROGRAMS/paths" "$TMP" >"$TMP/out" 2>"$TMP/err"
until [ -s "$TMP/out" ]; do :; done
daemon=$(cat "$TMP/out")
# The shell that became the daemon may have a file, too, if it was sampled.
goes() { for file in "$TMP"/buffer/*/*-"$daemon"-*.hqm; do [ "$(cat "/proc/$daemon/comm"):$(od -An -tu4 -j32 -N4 "$file" | tr -d ' ')" != paths:1 ] || return 0; done; return 1; }
until goes 2>/dev/null; do :; done
touch "$TMP/goes"
until [ -s "$TMP/recorded" ]; do :; done
check "daemon: what runs on is named" grep -q 'processes still run, so 1 of the files stay' "$TMP/err"
"$HQ" record --force -o "$DB" -- true 2>"$TMP/err"
check "daemon: its recording is not replaced" [ "$?:$(grep -c 'still runs and writes to' "$TMP/err")" = 2:1 ]
"$HQ" build "$DB" >"$TMP/out" 2>"$TMP/err"
check "daemon: a build leaves its file to it" grep -q 'processes that still run write to' "$TMP/err"
order "$daemon" TERM
ended
"$HQ" build "$DB" >"$TMP/out" 2>"$TMP/err"
again
check "daemon: then it is fetched" [ "$(find "$DB/measurements" -name "*-$daemon-*.hqm" | sed 1q | wc -l):$(left):$(marks)" = 1:0:0 ]
check "daemon: sound" sound

# Processes on other nodes bring their files themselves. HQ_NODE is where hq record ran.
far() { record --buffer "$TMP/buffer" -- env HQ_NODE=far "HQ_DIR=$TMPDIR/hq-record-far" "$@"; }
far sh -c '"$0" return; exec "$0" fork' "$PROGRAMS/ends"
check "far: files come home" holds "$(value 'sum CPUTIME') > 0.2e9 && $(value files) >= 3"
check "far: nothing stays there" [ "$(left):$(marks)" = 0:0 ]
check "far: sound" sound
record --buffer "$TMP/buffer" -- env "HQ_DIR=$TMPDIR/hq-record-late" "$PROGRAMS/ends" return
check "late: where the directory has gone, too" holds "$(value 'sum CPUTIME') > 0.2e9 && $(left) + $(marks) == 0"
# The other threads go on while the file is copied: a record in the copy names nothing that is not in it.
record -e CPUTIME@5000/s --buffer "$TMP/buffer" -- env HQ_NODE=far "HQ_DIR=$TMPDIR/hq-record-far" "$PROGRAMS/paths" 0.5 3 leave
check "far: threads that run on while the file is copied" sound
far sh -c '"$0" kill; true' "$PROGRAMS/ends"
check "far: a killed process leaves a mark" [ "$(marks)" = 1 ]
mark=$(find "$DB/measurements" -name 'elsewhere-*')
sed -i '1s/.*/far/' "$mark"
"$HQ" "$DB" info >"$TMP/out" 2>"$TMP/err"
check "far: other hosts are told where the data is" grep -q "is still in $TMPDIR/hq-record-far on far" "$TMP/err"
"$HQ" record --force -o "$DB" -- true 2>"$TMP/err"
check "far: and do not replace it" [ "$?:$(grep -c 'on far, and its program may still run' "$TMP/err")" = 2:1 ]
# A mark that came with somebody's recording must not carry off other files.
mkdir -p "$TMP/hq-record-precious" "$TMP/precious"
touch "$TMP/hq-record-precious/letter" "$TMP/precious/a-1-0.hqm"
for place in hq-record-precious precious; do
    printf '%s\n%s\n' "$(hostname)" "$TMP/$place" >"$mark"
    "$HQ" "$DB" info >"$TMP/out" 2>"$TMP/err"
    check "a mark that names $place takes nothing" [ "$(find "$TMP/$place" -type f | wc -l)" = 1 ]
done
rm "$mark"

# Another host's process that has just given a sign of life.
record -- "$PROGRAMS/ends" return
file=$(first)
mv "$file" "$DB/measurements/far-${file##*/}"
printf '\1' | dd of="$DB/measurements/far-${file##*/}" bs=1 seek=32 conv=notrunc 2>/dev/null
"$HQ" record --force -o "$DB" -- true 2>"$TMP/err"
check "a process on another host that was alive is not overwritten" [ "$?:$(grep -c 'still running on another host' "$TMP/err")" = 2:1 ]
printf '\0\0\0\0\0\0\0\0' | dd of="$DB/measurements/far-${file##*/}" bs=1 seek=40 conv=notrunc 2>/dev/null
"$HQ" record --force -o "$DB" -- true 2>"$TMP/err"
check "one that gave no sign for long is" [ $? = 0 ]
finish
