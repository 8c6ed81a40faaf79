#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every test that records a program, at niceness 10 beside four busy loops (BUSY, NICE): none may need a quiet machine.
set -u
cd "$(dirname "$0")/../.." || exit 2
mapfile -t tests < <(grep -lE '(^| )record |record\(|"record"|\$HQ" record' tests/{collector,db,e2e,import,repl}/*.{sh,py} 2>/dev/null | grep -v '/lib\.')
JOBS=${JOBS:-2} BUSY=${BUSY:-4} NICE=${NICE:-10} exec tests/run BUILD="${BUILD:-build}" HQ="${HQ:-./hq}" "${tests[@]}"
