#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Each Debian that hq is for, from nothing: `make check-in`. SUITES and TARGET choose; of Debian 11 some of the tests' packages are not there, so the tests that need no others run.
# Needs root, debootstrap and hours.
set -u
if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
    echo "skipped: other Debians are made by root and debootstrap"
    exit 0
fi
passed=0 failed=0
for suite in ${SUITES:-bullseye bookworm trixie}; do
    case $suite in bullseye) target='tests programs check-fast' ;; *) target=check ;; esac
    log=build/check-in-$suite.log
    if ${MAKE:-make} --no-print-directory check-in SUITE="$suite" TARGET="${TARGET:-$target}" >"$log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: Debian $suite, told in $log"
        tail -5 "$log"
    fi
done
echo "debians: $passed passed, $failed failed"
[ $failed = 0 ]
