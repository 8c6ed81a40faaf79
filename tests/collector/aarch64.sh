#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# aarch64: what make ARCH=aarch64 builds records programs in QEMU's emulation of a user's process, and the answers are asked here. Timers of CPU time
# arrive there, perf_event does not. Truth is the chain of frame records, which shares no code with the walk, and what the programs can do.
. tests/collector/lib.sh
for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
    command -v $tool >/dev/null && continue
    case $tool in
    *gcc) echo "skipped: no aarch64-linux-gnu-gcc here" ;;
    *) echo "skipped: no qemu-aarch64 here" ;;
    esac
    exit 77
done
export QEMU_LD_PREFIX=/usr/aarch64-linux-gnu
cross=build/collector-aarch64 small=build/hq-collector-aarch64
make --no-print-directory -j2 ARCH=aarch64 CFLAGS="-O2 -g" >"$TMP/out" 2>"$TMP/err"
check "it is built" [ $? = 0 ]
objects=()
for source in preload/*.c preload/{openmp,sources}/*.c preload/arch/aarch64/*.c; do
    [ ! -e "$cross/${source%.c}.o" ] || objects+=("$cross/${source%.c}.o")
done
for source in unwind/*.c unwind/arch/aarch64/*.c; do
    [ ! -e "$cross/preload/${source%.c}.o" ] || objects+=("$cross/preload/${source%.c}.o")
done
aarch64-linux-gnu-gcc -shared -fPIC -std=gnu11 -O2 -D_GNU_SOURCE -include $cross/config.h -I. -fvisibility=hidden -ftls-model=initial-exec -o "$TMP/check.so" \
    tests/collector/check_records.c "${objects[@]}" -Wl,--wrap=unwind
check "the test build is built" [ $? = 0 ]

# compile NAME SOURCE FLAGS: a program of tests/programs.
compile() { aarch64-linux-gnu-gcc -Itests/programs -O2 -g -pthread -rdynamic "${@:3}" -o "$TMP/$1" "tests/programs/$2.c" -ldl; }
# emulate COMMAND...: one recording by the test build.
emulate() {
    rm -rf "$DB" "$TMP/check"
    mkdir -p "$DB/measurements"
    timeout 100 qemu-aarch64 -cpu max -E LD_PRELOAD="$TMP/check.so" -E HQ_CHECK_FILE="$TMP/check" -E HQ_DIR="$DB/measurements" -E HQ_LAUNCH=1 \
        -E HQ_EVENTS=CPUTIME@4000000 "$@" >"$TMP/out" 2>"$TMP/err"
    "$READ" "$DB/measurements" >"$TMP/sums" 2>&1
}
# walks LEAST COMMAND...: every path is that of the records.
walks() {
    local least=$1 name=${2##*/}
    emulate "${@:2}"
    cat "$TMP/check" >>"$TMP/err"
    check "$name: sound files" sound
    check "$name: enough paths are compared" holds "$(awk '$1 == "equal" { print $2 }' "$TMP/check") >= $least"
    check "$name: no path differs" grep -qx 'different 0' "$TMP/check"
    echo "$name: $(head -n 4 "$TMP/check" | tr '\n' ' ')"
}
# grammar: in tests/programs/paths.c two procedures call each other by turns.
grammar() {
    paths | awk '{ p = $3; sub(/^.*;main;/, "main;", p) }
        p ~ /^main;run(;both;(left|right))*(;both(;spend)?)?$/ { good += $1; next }
        $3 ~ /;spend$|;both$|;left$|;right$/ { bad += $1; print p }
        END { print "good", good + 0, "bad", bad + 0; exit !(good > 20 && !bad) }' >"$TMP/grammar"
}
unsigned="-mbranch-protection=none" none="-fno-asynchronous-unwind-tables -fno-unwind-tables"
compile plain adversary $unsigned
compile signed adversary -mbranch-protection=standard
compile silent adversary $unsigned $none
compile paths paths $unsigned
compile paths_signed paths -mbranch-protection=standard
compile paths_silent paths $unsigned $none
compile paths_omitted paths $unsigned -fomit-frame-pointer
compile paths_omitted_silent paths $unsigned -fomit-frame-pointer $none
check "return addresses are signed there" eval 'aarch64-linux-gnu-objdump -d "$TMP/signed" | grep -q paciasp'
for program in plain signed silent; do
    walks 20 "$TMP/$program" 1
done
for program in paths paths_signed paths_silent; do
    walks 20 "$TMP/$program" 0.6
    check "$program: only what the program can call" grammar
done
# Without frame pointers there is no chain: what the program can do tells.
for program in paths_omitted paths_omitted_silent; do
    emulate "$TMP/$program" 0.6
    check "$program: sound files" sound
    check "$program: only what the program can call" grammar
done

# Recorded there, asked here. QEMU starts no programs of its own kind: a script without an interpreter's name does.
printf 'exec qemu-aarch64 "$@"\n' >"$TMP/emulated"
chmod +x "$TMP/emulated"
timeout 100 qemu-aarch64 $small/bin/hq record --force --with-binaries -e CPUTIME@200/s -o "$DB" -- "$TMP/emulated" "$TMP/paths" 1 >"$TMP/out" 2>"$TMP/err"
check "hq record: the program's status" [ $? = 3 ]
check "hq record: the closing line" grep -qE '^hq: [0-9]+ samples, 1 thread, 1 process in ' "$TMP/err"
check "its procedures" eval '"$HQ" "$DB" "procedures of spend" 2>"$TMP/err" | grep -q "spend  paths.c:"'
check "its loops" eval '"$HQ" "$DB" loops 2>"$TMP/err" | grep -q "loop at paths.c:23"'
check "nothing wrong" "$HQ" verify "$DB"
check "--by=perf is refused with a sentence" eval '! qemu-aarch64 $small/bin/hq record --by=perf -o "$TMP/p.hq" -- true 2>"$TMP/err" && grep -q "x86-64 only" "$TMP/err"'
finish
