#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 900
# aarch64: what make ARCH=aarch64 builds records programs in QEMU's emulation of a user's process, and the answers are asked here. Timers
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
for source in preload/*.c preload/{file,openmp,signals,sources,waits,walk}/*.c preload/arch/aarch64/*.c; do
    [ ! -e "$cross/${source%.c}.o" ] || objects+=("$cross/${source%.c}.o")
done
for source in unwind/*.c unwind/arch/aarch64/*.c; do
    [ ! -e "$cross/preload/${source%.c}.o" ] || objects+=("$cross/preload/${source%.c}.o")
done
aarch64-linux-gnu-gcc -shared -fPIC -std=gnu11 -O2 -D_GNU_SOURCE -include $cross/config.h -I. -fvisibility=hidden -ftls-model=initial-exec -o "$TMP/check.so" \
    tests/collector/check_records.c "${objects[@]}" -Wl,--wrap=unwind_interrupted
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
    walks 20 "$TMP/$program" 3 # of these samples few are in what has records
done
for program in paths paths_signed paths_silent; do
    walks 20 "$TMP/$program" 0.6
    check "$program: only what the program can call" grammar
done
# At first calls the loader's own information is two words off, and no procedure of the program is in the linker's stubs: main calls outer, and that
# inner, whose call is looked up by the loader each time.
first_calls() {
    paths | awk '{ p = $3 } !/;main(;|$)/ { start += $1; next }
        { sub(/^.*;main/, "main", p); gsub(/;[^;]*\+0x[0-9a-f]+/, ";*", p) }
        p ~ /^main;outer;inner(;\*)*$/ { good += $1; next }
        p ~ /^main(;outer)?(;\*|;find|;thread_seconds)*$/ && $3 !~ /ld-linux/ { other += $1; next }
        p ~ /^main(;\*|;find|;thread_seconds)*$/ && early + $1 < 4 { early += $1; next }
        { bad += $1; print }
        END { print "good", good + 0, "other", other + 0, "start", start + early, "bad", bad + 0; exit !(good > 20 && !bad) }' >"$TMP/grammar"
}
for program in lazy lazy_signed lazy_silent lazy_omitted lazy_omitted_silent; do
    flags=$unsigned
    case $program in *signed) flags=-mbranch-protection=standard ;; *omitted*) flags="$flags -fomit-frame-pointer" ;; esac
    case $program in *silent) flags="$flags $none" ;; esac
    compile $program lazy -Wl,-z,lazy,-z,norelro $flags
    case $program in *omitted*) emulate "$TMP/$program" 0.6 ;; *) walks 20 "$TMP/$program" 0.6 ;; esac
    check "$program: whole paths" [ "$(value partial)" = 0 ]
    check "$program: only what the program calls" first_calls
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
# there EVENTS COMMAND...: hq record there.
there() {
    timeout 100 qemu-aarch64 -cpu max $small/bin/hq record --force --with-binaries $1 -o "$DB" -- "$TMP/emulated" "${@:2}" >"$TMP/out" 2>"$TMP/err"
    status=$?
    "$READ" "$DB/measurements" >"$TMP/sums" 2>&1
}
seconds() { "$HQ" "$DB" "procedures where name == '$1' as csv" 2>"$TMP/asked" | awk -F, '$3 == "'"$1"'" { n = $9 } END { printf "%.4f\n", n + 0 }'; }
told() { awk -v k="$1" '$1 == k { print $2 }' "$TMP/out"; }
# about A B: they differ by no more than a twentieth of B and a tenth of a second.
about() { holds "($1) - ($2) <= 0.05 * ($2) + 0.1 && ($2) - ($1) <= 0.05 * ($2) + 0.1"; }

# In swapcontext, between the stacks: x30 is another address than its caller's, which the context has.
there "-e CPUTIME@250/s" "$TMP/plain" 2
read -r first bytes <<<"$(aarch64-linux-gnu-nm -DS "$QEMU_LD_PREFIX/lib/libc.so.6" | awk '$4 ~ /^swapcontext@/ { print $1, $2 }')"
paths | awk -v first=$((16#$first)) -v bytes=$((16#$bytes)) '
    function inside(frame) { return frame ~ /^libc.so.6\+0x/ && (at = hex(substr(frame, 13)) - first) >= 0 && at < bytes }
    function hex(digits, i, n) { for (i = 1; i <= length(digits); i++) n = n * 16 + index("123456789abcdef", substr(digits, i, 1)); return n + 0 }
    { n = split($3, frame, ";") }
    !inside(frame[n]) { next }
    $3 ~ /^partial/ { partial += $1; print }
    frame[n - 1] == "coroutine_body" || (frame[n - 1] == "coroutines" && frame[n - 2] == "main") { whole += $1 }
    { all += $1 }
    END { print "of", all + 0, "in swapcontext are whole", whole + 0, "and partial", partial + 0; exit !(whole > 0 && whole == all) }' >"$TMP/swapped"
check "every path from swapcontext is whole: $(tail -n 1 "$TMP/swapped")" [ $? = 0 ]

# Waits under REALTIME: the program knows how long.
for program in idle interrupts amounts openmp; do
    compile $program $program -Ipreload $([ $program = openmp ] && echo -fopenmp)
done
for how in cond poll raw; do
    there "-e REALTIME@500/s" "$TMP/idle" crowd $how 10 0.1
    check "$how: sound files" sound
    check "$how: $(seconds waits) of $(told waited) s of waiting" about "$(seconds waits)" "$(told waited)"
done
there "-e REALTIME@500/s" "$TMP/idle" bursts futex
check "bursts: $(seconds works) of $(told worked) s of work" about "$(seconds works)" "$(told worked)"
check "bursts: $(seconds waits) of $(told waited) s of waiting" about "$(seconds waits)" "$(told waited)"
there "-e REALTIME@500/s" "$TMP/idle" handler
check "handler: $(seconds works) of $(told worked) s of work" about "$(seconds works)" "$(told worked)"

# No call ends early that does not without hq; of what the program prints of its own accord the number of milliseconds differs. How long a socket may
# wait is asked of the kernel, for which QEMU 10 answers nothing, with success.
printf '%s\n' '#include <sys/socket.h>' '#include <sys/time.h>' 'int main(void) { struct timeval t = {1, 0}; socklen_t bytes = sizeof t; int s[2];' \
    'socketpair(AF_UNIX, SOCK_STREAM, 0, s); setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &t, bytes); t.tv_sec = 0;' \
    'return getsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &t, &bytes) || t.tv_sec != 1; }' >"$TMP/limit.c"
aarch64-linux-gnu-gcc -o "$TMP/limit" "$TMP/limit.c"
if qemu-aarch64 "$TMP/limit"; then
    qemu-aarch64 -cpu max "$TMP/interrupts" >"$TMP/printed" 2>"$TMP/err"
    alone=$?
    sed 's/ after .*//' "$TMP/printed" >"$TMP/alone"
    there "-e REALTIME@500/s" "$TMP/interrupts"
    sed 's/ after .*//' "$TMP/out" >"$TMP/measured"
    check "the calls are all tried ($alone), and as well as alone" [ $alone -lt 128 -a $status = $alone ]
    check "no call ends early that would not alone" diff "$TMP/alone" "$TMP/measured"
else
    skip "this QEMU does not tell the time limits of sockets"
fi

# Exact events: what the program does is known, and what the C library adds to it is small.
there "-e ALLOC" "$TMP/amounts" alloc
check "ALLOC: bytes" holds "$(value 'sum ALLOC_BYTES') >= 402000 && $(value 'sum ALLOC_BYTES') < 412000"
check "ALLOC: by call path" [ "$(paths | awk '$2 == "ALLOC_CALLS" && $3 ~ /leaked;[^;]*$/ { n += $1 } END { print n }')" = 40 ]
there "-e IO" "$TMP/amounts" io
check "IO: bytes written and read" [ "$(value 'sum IO_WRITE') $(value 'sum IO_READ')" = "409600 409600" ]
there "-e LOCK" "$TMP/amounts" lock
check "LOCK: time blocked" holds "$(value 'sum LOCK_WAIT') > 0.15e9 && $(value 'count LOCK_WAIT') < 10"
OMP_CANCELLATION=true there "-e CPUTIME@250/s" "$TMP/openmp" 0.02
check "regions: as many as the program opened" [ "$(value entries)" = "$(tail -1 "$TMP/out")" ]
check "regions: no work of a team outside of its region" eval '! paths | grep burn | grep -vE "inside:|wait:|;main;|;foreign;"'
check "regions: their entries are asked here" [ "$("$HQ" "$DB" "regions columns entries as csv" 2>"$TMP/asked" | awk -F, 'NR > 1 { n += $NF } END { print n }')" = "$(tail -1 "$TMP/out")" ]
check "regions: nothing wrong" "$HQ" verify "$DB"
# Who opens a region, or allocates, is known where no frame has a record, too.
compile openmp_omitted openmp -Ipreload -fopenmp -fomit-frame-pointer
compile amounts_omitted amounts -Ipreload -fomit-frame-pointer
OMP_CANCELLATION=true there "-e CPUTIME@250/s" "$TMP/openmp_omitted" 0.02
check "regions without frame pointers: their callers" eval '"$HQ" "$DB" "tree depth 2" >"$TMP/tree" 2>&1 && grep -q main "$TMP/tree" && ! grep partial "$TMP/tree"'
there "-e ALLOC" "$TMP/amounts_omitted" alloc
check "ALLOC without frame pointers: its callers" eval 'paths | grep -q ";leaked" && ! paths | grep ";leaked" | grep partial'
check "--by=perf is refused with a sentence" eval '! qemu-aarch64 $small/bin/hq record --by=perf -o "$TMP/p.hq" -- true 2>"$TMP/err" && grep -q "x86-64 only" "$TMP/err"'
finish
