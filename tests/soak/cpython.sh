#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# CPython's own tests of signals, threads, time, processes and system calls pass under the collector, with both clocks.
# PYTHON names an interpreter that has its test suite (Debian: libpython3.VERSION-testsuite).
. tests/collector/lib.sh
python=${PYTHON:-/usr/bin/python3}
tests='test_signal test_threadsignals test_time test_select test_fork1 test_thread test_poll test_selectors test_posix test_faulthandler'
if ! "$python" -c 'import test.test_signal' 2>/dev/null; then
    skip "$python has no test suite"
    finish
fi
for event in CPUTIME@500/s REALTIME@500/s; do
    timeout 900 "$HQ" record --force -e $event -o "$DB" -- "$python" -m test -j1 $tests >"$TMP/out" 2>"$TMP/err"
    check "CPython's tests under $event" [ $? = 0 ]
    "$READ" "$DB/measurements" >"$TMP/sums" 2>&1
    check "sound" sound
    check "full paths" full 99.5
    tail -n 3 "$TMP/out"
done
finish
