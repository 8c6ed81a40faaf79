#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Loops of aarch64 binaries, read on any machine: the expectations of tests/structure/loops, with Debian's cross compilers;
and the branches of a large library beside what objdump prints."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

import loops

PREFIX = "aarch64-linux-gnu-"

if not shutil.which(PREFIX + "gcc") or not shutil.which(PREFIX + "g++"):
    print("skipped: no cross compiler for aarch64")
    sys.exit(77)
passed = failed = 0
for path in sorted(glob.glob("tests/structure/loops/*.c") + glob.glob("tests/structure/loops/*.cc")):
    source = loops.Source(path)
    for build in source.builds:
        compiler, _, options = build.partition(" ")
        # Options for one processor and a pass that the cross compiler is built without.
        if compiler not in ("gcc", "g++") or any(option in options for option in ("-march=", "-floop-nest-optimize")):
            continue
        with tempfile.TemporaryDirectory() as tmp:
            p, f = loops.check(source, f"{PREFIX}{compiler} {options}", tmp)
        passed, failed = passed + p, failed + f
with tempfile.TemporaryDirectory() as tmp:
    reader = os.path.join(tmp, "branches")
    subprocess.run(["cc", "-O1", "-I.", "-o", reader, "tests/structure/branches.c", "structure/arch/aarch64.c"], check=True)
    code = subprocess.run([PREFIX + "objdump", "-d", "/usr/aarch64-linux-gnu/lib/libc.so.6"], capture_output=True, check=True).stdout
    result = subprocess.run([reader], input=code, capture_output=True)
    print(result.stdout.decode(), end="")
    passed, failed = passed + (not result.returncode), failed + bool(result.returncode)
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
