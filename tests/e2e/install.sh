#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# `make install` into a staging directory, both with a space in their names, leaves an hq that finds its preload library and works from any directory, also from one with a space in its name.
set -eu
stage="$HQ_TEST_TMP/a stage/opt/my hq"
make -C "$TOP" --no-print-directory install PREFIX="/opt/my hq" DESTDIR="$HQ_TEST_TMP/a stage" >"$HQ_TEST_TMP/log" 2>&1 ||
    { cat "$HQ_TEST_TMP/log"; exit 1; }
cd "$HQ_TEST_TMP"
hq=$stage/bin/hq
for f in bin/hq include/hq.h; do
    [ -f "$stage/$f" ] || { echo "not installed: $f"; exit 1; }
done
"$hq" record -o a.hq -- "$PROGRAMS/split" 0.3 >/dev/null
"$hq" a.hq "procedures of heavy" | grep -q heavy
# LD_PRELOAD separates what it loads by spaces and colons.
mkdir "my: programs"
cp "$stage/bin/hq" "$stage"/lib/hq/*.so "my: programs"
"./my: programs/hq" record -e CPUTIME -e ALLOC -o "my data.hq" -- "$PROGRAMS/split" 0.3 >/dev/null
"./my: programs/hq" "my data.hq" "procedures of heavy" | grep -q heavy
status=0
XDG_CACHE_HOME="$PWD/my: programs" "./my: programs/hq" record -o b.hq -- true 2>err || status=$?
[ $status = 3 ] && grep -q 'set XDG_CACHE_HOME' err || { cat err; exit 1; }
# Who has no home, as services have none, is told so, too: the second path is the directory that could not be made.
status=0
env -u XDG_CACHE_HOME HOME=/dev/null/home "./my: programs/hq" record -o b.hq -- true 2>err || status=$?
[ $status = 3 ] && grep -q 'set XDG_CACHE_HOME.*: /dev/null' err || { cat err; exit 1; }
make -C "$TOP" --no-print-directory uninstall PREFIX="/opt/my hq" DESTDIR="$HQ_TEST_TMP/a stage" >"$HQ_TEST_TMP/log" 2>&1
left=$(find "$HQ_TEST_TMP/a stage" ! -type d)
[ -z "$left" ] || { echo "left after uninstall: $left"; exit 1; }
