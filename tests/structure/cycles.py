#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Outermost loops are the cycles of the code, counted by somebody else.

Of every procedure without indirect jumps and cold parts, the strongly connected components with a cycle in what objdump
prints are counted (Tarjan, SIAM J. Comput. 1(2), 1972): `hq structure --raw` must find as many outermost loops. On this
project's own code, or on the binaries that are given as arguments; those need symbols, and no debug information: with it
a loop stands in the raw structure wherever code in it is of another inlined procedure.
"""
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

HQ, BUILD = os.environ.get("HQ", "./hq"), os.environ.get("BUILD", "build")
NO_RETURN = {"__stack_chk_fail", "abort", "exit", "__assert_fail", "_exit", "mem_exhausted"}


def procedures(path):
    """(address, name) -> [(address, mnemonic, operands)]"""
    found, current = collections.defaultdict(list), None
    out = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        head = re.match(r"([0-9a-f]+) <(.*)>:", line)
        insn = re.match(r"\s+([0-9a-f]+):\s+(?:bnd |notrack )?(\S+)\s*(.*)", line)
        if head:
            current = int(head.group(1), 16), head.group(2)
        elif insn and current:
            found[current].append((int(insn.group(1), 16), insn.group(2), insn.group(3)))
    return found


def edges(code):
    """Successors of each instruction; None if there is an indirect jump."""
    number = {address: i for i, (address, _, _) in enumerate(code)}
    out = []
    for i, (_, name, operands) in enumerate(code):
        to, on = [], not name.startswith(("jmp", "ret", "ud2", "hlt"))
        if name.startswith("j"):
            if operands.startswith("*"):
                return None
            to.append(number.get(int(operands.split()[0], 16)))
        elif name.startswith("call"):
            callee = re.search(r"<([^>@+]+)", operands)
            on = not (callee and callee.group(1) in NO_RETURN)
        to.append(i + 1 if on and i + 1 < len(code) else None)
        out.append([t for t in to if t is not None])
    return out


def cycles(successors):
    number, low, stack, found = {0: 0}, {0: 0}, [0], 0
    waiting, work = {0}, [(0, 0)]
    while work:
        at, k = work.pop()
        if k < len(successors[at]):
            to = successors[at][k]
            work.append((at, k + 1))
            if to not in number:
                number[to] = low[to] = len(number)
                stack.append(to)
                waiting.add(to)
                work.append((to, 0))
            elif to in waiting:
                low[at] = min(low[at], number[to])
            continue
        if low[at] == number[at]:
            part = [stack.pop()]
            while part[-1] != at:
                part.append(stack.pop())
            waiting -= set(part)
            found += len(part) > 1 or at in successors[at]
        if work:
            low[work[-1][0]] = min(low[work[-1][0]], low[at])
    return found


def outermost_loops(path):
    found, procedure, depth = collections.Counter(), None, None
    out = subprocess.run([HQ, "structure", "--raw", path], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        indent = len(line) - len(line.lstrip())
        if indent == 4:
            procedure = int(line.rsplit("0x", 1)[1], 16)
        if depth is not None and indent <= depth:
            depth = None
        if depth is None and line.lstrip().startswith("loop at"):
            found[procedure] += 1
            depth = indent
    return found


def check(name, path):
    code, loops = procedures(path), outermost_loops(path)
    split = {f.partition(".cold")[0] for _, f in code if ".cold" in f}
    wrong, count = [], 0
    for (address, f), instructions in code.items():
        successors = None if ".cold" in f or f in split or "@plt" in f or f.startswith(".") else edges(instructions)
        if successors is None:
            continue
        count += 1
        if cycles(successors) != loops[address]:
            wrong.append(f"{f} has {cycles(successors)}, not {loops[address]}")
    good = not wrong and count > 100
    print(f"{'ok' if good else 'not ok'} {name}: {count} procedures, {len(wrong)} with another number of loops")
    for text in wrong[:10]:
        print(f"# {text}")
    return good


def main():
    if len(sys.argv) > 1:
        return 0 if all([check(path, path) for path in sys.argv[1:]]) else 1
    sources, good = glob.glob("common/*.c") + glob.glob("query/grammar/*.c"), True
    with tempfile.TemporaryDirectory() as tmp:
        for build in ("gcc -O2", "gcc -O3", "clang -O2"):
            subprocess.run([*build.split(), "-std=gnu11", "-fPIC", "-shared", "-D_GNU_SOURCE", "-I.", "-w", "-include",
                            f"{BUILD}/config.h", "-o", f"{tmp}/x.so", *sources], check=True)
            good &= check(build, f"{tmp}/x.so")
    return 0 if good else 1


sys.exit(main())
