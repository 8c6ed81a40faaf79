#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Procedures where nothing tells of them: no debug information, no symbols, no unwind tables.

This project's own code is compiled without unwind tables and stripped; the symbols of the file before stripping are the
truth. At 2,000 random addresses the procedure that hq finds must begin where the symbol does; bound: 95 % (what is
missed has neither a prologue nor a clear end before it). `hq structure` must list them.

An exported label of assembly has no size: where the file is stripped it names its own procedure, not what follows.
"""
import bisect
import glob
import os
import random
import shutil
import subprocess
import sys
import tempfile

HQ, BUILD = os.environ.get("HQ", "./hq"), os.environ.get("BUILD", "build")
COUNT = 2000
BOUND = 0.95


def symbols(path):
    out = subprocess.run(["nm", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    return sorted({int(f[0], 16) for f in map(str.split, out.splitlines()) if f[1] in "tTwW"})


def text(path):
    for line in subprocess.run(["readelf", "-SW", path], capture_output=True, text=True).stdout.splitlines():
        f = line.replace("[ ", "[").split()
        if len(f) > 5 and f[1] == ".text":
            return int(f[3], 16), int(f[5], 16)
    raise SystemExit(f"{path}: no .text")


def check(name, full, stripped):
    starts, (low, size) = symbols(full), text(full)
    rng = random.Random(7)
    addresses = [low + rng.randrange(size) for _ in range(COUNT)]
    out = subprocess.run([f"{BUILD}/tools/structure_places", stripped], input="\n".join("%x" % a for a in addresses),
                         capture_output=True, text=True, check=True).stdout.splitlines()
    right = 0
    for address, line in zip(addresses, out):
        found = line.split("procedure ")[1].rpartition("+")[2]
        right += found.startswith("0x") and int(found, 16) == starts[bisect.bisect_right(starts, address) - 1]
    listed = subprocess.run([HQ, "structure", stripped], capture_output=True, text=True, check=True).stdout
    count = sum(line.startswith("    ") and not line.startswith("     ") for line in listed.splitlines())
    good = right >= BOUND * COUNT and count >= 0.8 * len(starts)
    print(f"{'ok' if good else 'not ok'} {name}: {100 * right / COUNT:.1f} % of {COUNT} addresses, "
          f"{count} procedures listed of {len(starts)}")
    return good


ASSEMBLY = """
.macro begin name
.p2align 4
\\name:
.endm
.text
.globl named, last
begin named
 mov $40, %ecx
1: dec %ecx
 jz 2f
 jmp 1b
 .p2align 4
2: ret
begin hidden
 xor %eax, %eax
 ret
begin other
 mov $30, %ecx
3: dec %ecx
 jnz 3b
 ret
begin last
 ret
"""


def check_labels(tmp):
    if os.uname().machine != "x86_64":
        return True
    full, stripped = f"{tmp}/labels", f"{tmp}/labels.stripped"
    with open(f"{tmp}/labels.s", "w") as f:
        f.write(ASSEMBLY)
    subprocess.run(["gcc", "-shared", "-nostdlib", "-o", full, f"{tmp}/labels.s"], check=True)
    subprocess.run(["strip", "-o", stripped, full], check=True)
    places = {f[2]: int(f[0], 16) for f in (line.split() for line in subprocess.run(
        ["nm", full], capture_output=True, text=True, check=True).stdout.splitlines()) if len(f) == 3}
    good = True
    for name, offset, want in (("named", 0, "named"), ("named", 16, "named"), ("hidden", 2, None), ("other", 7, None),
                               ("last", 0, "last")):
        line = subprocess.run([f"{BUILD}/tools/structure_places", stripped], input="%x" % (places[name] + offset),
                              capture_output=True, text=True, check=True).stdout
        found = line.split("procedure ")[1].split()[0]
        right = found == want if want else found.endswith("+0x%x" % places[name])
        print(f"{'ok' if right else 'not ok'} exported labels: {name} + {offset} lies in {found}")
        good &= right
    return good


PARTS = """
void far(int) __attribute__((cold));
int near(int);
#define PROCEDURE(name, at)             \\
    int name(int n)                     \\
    {                                   \\
        int sum = 0;                    \\
        for (int i = 0; i < n; i++) {   \\
            if (near(i) == at) {        \\
                far(i);                 \\
                far(sum);               \\
            }                           \\
            sum += near(sum + i);       \\
        }                               \\
        return sum;                     \\
    }
PROCEDURE(first, 1)
PROCEDURE(second, 2)
"""


def check_parts(tmp):
    """What gcc places elsewhere, without debug information: by its name, and by unwind information alone."""
    full, good = f"{tmp}/parts", True
    with open(f"{tmp}/parts.c", "w") as f:
        f.write(PARTS)
    subprocess.run(["gcc", "-O2", "-fPIC", "-shared", "-o", full, f"{tmp}/parts.c"], check=True)
    subprocess.run(["strip", "-o", f"{tmp}/parts.stripped", full], check=True)
    places = {f[2]: int(f[0], 16) for f in (line.split() for line in subprocess.run(
        ["nm", full], capture_output=True, text=True, check=True).stdout.splitlines()) if len(f) == 3}
    cold = {name: places[f"{name}.cold"] for name in ("first", "second")}
    for path in (full, f"{tmp}/parts.stripped"):
        out = subprocess.run([f"{BUILD}/tools/structure_places", path], input="".join("%x\n" % a for a in cold.values()),
                             capture_output=True, text=True, check=True).stdout.splitlines()
        for name, line in zip(cold, out):
            right = line.endswith(f"procedure {name}") and "\tloop " in line
            print(f"{'ok' if right else 'not ok'} {os.path.basename(path)}: the part of {name} lies in its loop: {line}")
            good &= right
    return good


def main():
    good = True
    sources = glob.glob("common/*.c") + glob.glob("query/grammar/*.c")
    gold = " -fuse-ld=gold" if shutil.which("ld.gold") else ""  # Debian 13 has no gold by itself
    with tempfile.TemporaryDirectory() as tmp:
        for build in ("gcc -O2", "clang -O2", f"gcc -O3 -ffunction-sections{gold}"):
            full, stripped = f"{tmp}/full", f"{tmp}/stripped"
            subprocess.run([*build.split(), "-std=gnu11", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-asynchronous-unwind-tables",
                            "-fno-unwind-tables", "-D_GNU_SOURCE", "-I.", "-w", "-include", f"{BUILD}/config.h", "-o", full, *sources],
                           check=True)
            subprocess.run(["strip", "-R", ".eh_frame", "-R", ".eh_frame_hdr", "-o", stripped, full], check=True)
            good &= check(build, full, stripped)
        good &= check_labels(tmp)
        good &= check_parts(tmp)
    return 0 if good else 1


sys.exit(main())
