# SPDX-License-Identifier: BSD-3-Clause
"""What every test in Python ends with: checks that are counted. tests/run puts this directory on the path."""
import sys

passed = failed = 0


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
