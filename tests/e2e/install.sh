#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# `make install` into a staging directory leaves an hq that finds its preload library and works from any directory.
set -eu
make -C "$TOP" --no-print-directory install PREFIX=/opt/hq DESTDIR="$HQ_TEST_TMP/stage" >"$HQ_TEST_TMP/log" 2>&1 ||
    { cat "$HQ_TEST_TMP/log"; exit 1; }
cd "$HQ_TEST_TMP"
hq=$HQ_TEST_TMP/stage/opt/hq/bin/hq
for f in bin/hq include/hq.h; do
    [ -f "stage/opt/hq/$f" ] || { echo "not installed: $f"; exit 1; }
done
"$hq" record -o a.hq -- "$PROGRAMS/split" 0.3 >/dev/null
"$hq" a.hq "procedures of heavy" | grep -q heavy
make -C "$TOP" --no-print-directory uninstall PREFIX=/opt/hq DESTDIR="$HQ_TEST_TMP/stage" >"$HQ_TEST_TMP/log" 2>&1
left=$(find stage -type f)
[ -z "$left" ] || { echo "left after uninstall: $left"; exit 1; }
