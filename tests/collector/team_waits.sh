#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Where a thread of a team waits for the other it is shown to wait, whichever construct it waits in, by gcc and by clang. What
# waited in the collection of a copyprivate, a taskloop or libomp's reductions was shown as scheduling.
. tests/collector/lib.sh
export OMP_CANCELLATION=true OMP_WAIT_POLICY=passive

# waits PROGRAM RUNTIME: of 4 naps of 0.05 s at least half are waited for, however late threads come.
waits() {
    local name wait least waited
    record -e REALTIME@500/s -- "$1" 0.05
    check "$2: the program runs as ever" [ $status = 0 ]
    "$HQ" "$DB" 'tree all columns kind, realtime.x as csv' 2>>"$TMP/err" | sed '1d; s/\r$//' >"$TMP/tree"
    check "$2: each construct is told" [ "$(wc -l <"$TMP/out")" = 24 ]
    while IFS=, read -r name wait least; do
        waited=$(awk -F, -v of="$name" -v wait="$wait" '$3 ~ /^at_/ { here = $3 == of } here && $3 == wait && $2 == "wait" { s += $NF } END { print s + 0 }' "$TMP/tree")
        check "$2: $name waits ($waited s of $least s in $wait)" holds "$waited >= 0.5 * $least"
    done <"$TMP/out"
    check "$2: the verifier finds nothing" "$HQ" verify "$DB"
}
waits "$PROGRAMS/team_waits" libgomp

# A runtime that was built here and not stripped has names for its insides, to which its entries go on by a jump: that one waits
# at a barrier there is none the less known. Debian's has none; here each function without a name gets one.
runtime=$(ldd "$PROGRAMS/team_waits" | awk '/libgomp/ { print $3 }')
mkdir "$TMP/named"
cat >"$TMP/name.py" <<'P'
import re, struct, subprocess, sys

source, target = sys.argv[1:]


def told(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


text = re.search(r" \.text +PROGBITS +([0-9a-f]+)", told("readelf", "-SW", source))
base = int(text.group(1), 16)
known = {int(line.split()[0], 16) for line in told("nm", "-D", source).splitlines() if line[0] != " "}
found = re.findall(r"FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)", told("readelf", "--debug-dump=frames", source))
size = {int(a, 16): int(b, 16) - int(a, 16) for a, b in found if int(a, 16) >= base and int(a, 16) not in known}
adds = [x for a in size for x in ("--add-symbol", "gomp_%x=.text:%#x,function,local" % (a, a - base))]
subprocess.run(["objcopy", *adds, source, target], check=True)
data = bytearray(open(target, "rb").read())
sections, count = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<H", data, 60)[0]
for at in range(sections, sections + 64 * count, 64):
    kind, offset, length = struct.unpack_from("<I", data, at + 4)[0], *struct.unpack_from("<QQ", data, at + 24)
    for symbol in range(offset, offset + length, 24) if kind == 2 else ():  # SHT_SYMTAB
        struct.pack_into("<Q", data, symbol + 16, size.get(struct.unpack_from("<Q", data, symbol + 8)[0], 0))
open(target, "wb").write(data)
P
if [ "$(uname -m)" = x86_64 ] && python3 "$TMP/name.py" "$runtime" "$TMP/named/${runtime##*/}"; then
    check "libgomp with names: they are there" [ "$(nm "$TMP/named/${runtime##*/}" | grep -c gomp_)" -gt 100 ]
    LD_LIBRARY_PATH=$TMP/named waits "$PROGRAMS/team_waits" "libgomp with names"
else
    skip "libgomp cannot be given names here"
fi
if clang -O2 -g -fopenmp -o "$TMP/team_waits" tests/programs/team_waits.c 2>"$TMP/err"; then
    waits "$TMP/team_waits" libomp
else
    skip "there is no clang with libomp"
fi
finish
