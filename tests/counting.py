# SPDX-License-Identifier: BSD-3-Clause
"""What every test in Python ends with: checks that are counted. tests/run puts this directory on the path."""
import os
import sys

passed = failed = 0


def seconds(quiet):
    """A limit of time for one command, which takes so long at most on a machine that does nothing else: tests/run says how crowded it is."""
    return quiet * max(100, int(os.environ.get("HQ_TEST_CROWD", 100))) / 100


def check(condition, what):
    """Counts one check; `what` says what should have held, with the figures."""
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print(f"FAILED: {what}")


def finish():
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)
