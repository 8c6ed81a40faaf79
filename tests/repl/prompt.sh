#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The prompt through a pseudo terminal: every *.pty script here, in a directory with the database good.hq.
set -u
cd "$HQ_TEST_TMP" || exit 1
"$HQ" record -o good.hq -- "$PROGRAMS/split" 0.5 >/dev/null 2>&1 && "$HQ" --quiet good.hq info >/dev/null ||
    { echo "cannot make a database"; exit 1; }
export PATH=$(dirname "$HQ"):$PATH TERM=xterm
unset NO_COLOR XDG_STATE_HOME PAGER EDITOR VISUAL
export HQ_PAGER= HQ_HISTORY=
exec "$TOP/$BUILD/tools/pty" "$TOP"/tests/repl/*.pty
