# SPDX-License-Identifier: BSD-3-Clause
# Shared by the tests of builds. Sourced; runs in the top directory.
set -u
HQ=$(realpath "$HQ")
TMP=$HQ_TEST_TMP
. tests/held.sh
passed=0 failed=0 skipped=0

# check WHAT COMMAND...: what the command prints is shown if it fails.
check() {
    local name=$1
    shift
    if "$@" >"$TMP/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $name ($*)"
        sed 's/^/  | /' "$TMP/log" | head -20
    fi
}
