#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Call paths through assembly without unwind information: the right ones where they are known, full ones in programs that are made of it.
. tests/collector/lib.sh
cd "$TMP" || exit 1

names='leaf pushes locals framed aligned saved nested outer tail tail_to_c computed branching exchanged'
record -e REALTIME@20000/s -- "$PROGRAMS/assembly" 2
check "assembly runs" [ "$status" = 0 ]
check "every path is full" full 99.9
paths | awk -v names="$names" '
    BEGIN {
        n = split(names, name, " ")
        inner["nested"] = "nested(;helper)?"; inner["outer"] = "outer(;helper|;back)?"; inner["tail"] = "tail|leaf"; inner["tail_to_c"] = "tail_to_c|back"
    }
    $3 !~ /;round_of_all/ { next }
    {
        sub(/.*;main;/, "", $3)
        right = $3 ~ /^round_of_all$/
        for (i = 1; i <= n; i++) {
            here = name[i] in inner ? inner[name[i]] : name[i]
            if ($3 ~ "^round_of_all;from_" name[i] "(;(" here ")|(;litter)+)?$")
                right = 1
            if ($3 ~ "^round_of_all;from_" name[i] ";(" here ")$")
                met[name[i]] += $1
        }
        if (right) good += $1; else { bad += $1; print "wrong: " $3 }
    }
    END { for (i = 1; i <= n; i++) print "met", name[i], met[name[i]] + 0; print "good", good + 0; print "bad", bad + 0 }' >seen
tail -n 20 seen
check "no path is a wrong one" [ "$(awk '$1 == "bad" { print $2 }' seen)" = 0 ]
check "procedures of every shape were met" [ "$(awk '$1 == "met" && $3 > 0' seen | wc -l)" = "$(wc -w <<<"$names")" ]

if command -v x264 >/dev/null && command -v aomenc >/dev/null && command -v dav1d >/dev/null; then
    /usr/bin/python3 -c 'import random, sys
out = sys.stdout.buffer
out.write(b"YUV4MPEG2 W320 H240 F25:1 Ip A1:1 C420jpeg\n")
noise = random.Random(1).randbytes(320 * 240 * 2)
for frame in range(24):
    out.write(b"FRAME\n" + bytes((x + frame * 5 >> 1) + (noise[y * 320 + x + frame * 777] >> 3) & 255 for y in range(240) for x in range(320)) + noise[: 320 * 120])' >in.y4m
    # aomenc 1 (Debian 11) is always slow.
    aomenc --quiet --cpu-used=8 --rt --limit=12 --ivf -o in.ivf in.y4m >/dev/null 2>&1 ||
        aomenc --quiet --cpu-used=8 --limit=6 --ivf -o in.ivf in.y4m >/dev/null 2>&1
    for command in 'x264 --quiet --threads 1 -o out.264 in.y4m' 'dav1d -q -i in.ivf --muxer null -o -'; do
        record -e REALTIME@4000/s -- $command
        check "$command: runs" [ "$status" = 0 ]
        # One in a hundred, and three standard deviations of so many, may be partial.
        n=$(value samples)
        check "$command: the paths are full" holds "$n > 0 && $(value partial) <= 0.01 * $n + 3 * sqrt(0.01 * $n)"
        echo "${command%% *}: $(value samples) samples, $(value partial) partial"
    done
else
    skip "x264, dav1d or aomenc is not installed"
fi
finish
