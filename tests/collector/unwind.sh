#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Call paths are those of a full walk by libunwind, sample by sample, on programs that try to break the memory of the previous one.
. tests/collector/lib.sh
grep -qs dl_find_object /usr/include/dlfcn.h || { skip "the oracle asks the loader for modules as glibc can from 2.35 on"; finish; }

: "${CC:=cc}"
objects=()
for source in preload/*.c preload/{file,openmp,patch,signals,sources,waits,walk}/*.c preload/arch/*/*.c; do
    [ ! -e "$BUILD/${source%.c}.o" ] || objects+=("$BUILD/${source%.c}.o")
done
for source in unwind/*.c unwind/arch/*/*.c; do
    [ ! -e "$BUILD/preload/${source%.c}.o" ] || objects+=("$BUILD/preload/${source%.c}.o")
done
$CC -shared -fPIC -std=gnu11 -O2 -D_GNU_SOURCE -include "$BUILD/config.h" -I. -fvisibility=hidden -ftls-model=initial-exec -o "$TMP/check.so" \
    tests/collector/check_unwind.c "${objects[@]}" -Wl,--wrap=unwind_interrupted -lunwind || exit 1

# The same without the loader's answers, as with C libraries before 2.35.
$CC -c -fPIC -std=gnu11 -O2 -D_GNU_SOURCE -include "$BUILD/config.h" -I. -fvisibility=hidden -DHQ_FIND_BY_MAPPINGS -o "$TMP/find.o" preload/walk/find.c &&
    $CC -shared -fPIC -std=gnu11 -O2 -D_GNU_SOURCE -include "$BUILD/config.h" -I. -fvisibility=hidden -ftls-model=initial-exec -o "$TMP/mappings.so" \
        tests/collector/check_unwind.c "${objects[@]/#*\/find.o/$TMP/find.o}" -Wl,--wrap=unwind_interrupted -lunwind || exit 1
LIBRARY=$TMP/check.so

# compare SECONDS COMMAND...: runs it with the test build; sums in $TMP/check.
compare() {
    rm -rf "$DB" "$TMP/check"
    mkdir -p "$DB/measurements"
    HQ_CHECK_FILE=$TMP/check HQ_DIR=$DB/measurements HQ_LAUNCH=1 HQ_EVENTS=${EVENT:-CPUTIME@1000000} LD_PRELOAD=$LIBRARY \
        "$@" >"$TMP/out" 2>"$TMP/err"
    status=$?
    "$READ" "$DB/measurements" >"$TMP/sums" 2>&1
    cat "$TMP/check" >>"$TMP/err" 2>/dev/null || touch "$TMP/check"
}
counted() { awk -v k="$1" '$1 == k { n += $2 } END { print n + 0 }' "$TMP/check"; }

run() {
    local name=$1 least=$2
    shift 2
    compare "$@"
    check "$name runs" [ $status = 0 ]
    check "$name: enough samples" holds "$(counted equal) >= $least"
    check "$name: no path differs" [ "$(counted different)" = 0 ]
    # How often libunwind loses its way depends on where the time falls (in the loader, mostly), so on the machine: it has
    # to be able to judge most samples, no more.
    check "$name: libunwind finds the end of most stacks" holds "$(counted lost) <= 0.25 * $(counted equal)"
    check "$name: all are full" holds "$(counted partial) <= 0.001 * $(counted equal)"
    echo "$name: equal $(counted equal), lost $(counted lost), partial $(counted partial), different $(counted different)"
}
# The signals of CPU clocks come at the kernel's tick, 100 to 1000 times a second; a timer of elapsed time is as fast as asked.
export EVENT=REALTIME@500000
run adversary 300 "$PROGRAMS/adversary" 2
run plugins 300 "$PROGRAMS/adversary" 2 "$PROGRAMS"
run exceptions 300 "$PROGRAMS/throws" 1
run red_zone 300 "$PROGRAMS/redzone" 1
run threads 50 "$PROGRAMS/threads" 200 4 5000
run python 100 /usr/bin/python3 -c 'import time
while time.process_time() < 1: sum(i * i for i in range(100000))'
LIBRARY=$TMP/mappings.so
run "plugins by mappings" 300 "$PROGRAMS/adversary" 2 "$PROGRAMS"
run "threads by mappings" 50 "$PROGRAMS/threads" 200 4 5000
finish
