#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every call lies in the loops whose code holds it, in none more and none fewer, whatever normalisation does.

The second source is the code as objdump prints it: dominators by iteration (Cooper, Harvey, Kennedy, "A simple, fast
dominance algorithm", 2001), and of each edge to a dominator the natural loop. Of every call instruction in procedures that
it can follow (no indirect jumps, no exceptions, no cold parts, reducible)

    raw         the headers of the loops around it are those of its natural loops
    normalised  its chain is the raw one, loops of one name directly inside one another taken as one

On this project's own code and the programs of tests/structure/loops by several compilers, or on the binaries that are given as
arguments; those need symbols.
"""
import collections
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

HQ, BUILD = os.environ.get("HQ", "./hq"), os.environ.get("BUILD", "build")
NO_RETURN = {"__stack_chk_fail", "abort", "exit", "__assert_fail", "_exit", "_gfortran_stop_string", "_gfortran_error_stop_string",
             "_gfortran_os_error_at", "_gfortran_runtime_error_at", "_gfortran_runtime_error", "_gfortran_stop_numeric", "__chk_fail"}
EXCEPTIONS = re.compile(r"_Unwind_Resume|__cxa_|_ZSt9terminatev|__clang_call_terminate|_ZSt\d+__throw|_Jv_|longjmp")


def procedures(path):
    """(address, name) -> [(address, length, mnemonic, operands)]"""
    found, current = collections.defaultdict(list), None
    out = subprocess.run(["objdump", "-d", "-w", path], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        head = re.match(r"([0-9a-f]+) <(.*)>:", line)
        insn = re.match(r"\s+([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*\t(?:bnd |notrack |data16 |cs |rex\S* )*(\S+)\s*(.*)", line)
        if head:
            current = int(head.group(1), 16), head.group(2)
        elif insn and current:
            found[current].append((int(insn.group(1), 16), len(insn.group(2)) // 3, insn.group(3), insn.group(4)))
    return found


def callee(operands):
    m = re.search(r"<([^>@+]+)", operands)
    return m.group(1) if m and "*" not in operands else None


def edges(code, no_return):
    """Successors of each instruction, and whether control may leave; None if there is an indirect jump."""
    number = {insn[0]: i for i, insn in enumerate(code)}
    out, leaves = [], False
    for i, (_, _, name, operands) in enumerate(code):
        to, on = [], not name.startswith(("jmp", "ret", "ud2", "hlt"))
        leaves |= name.startswith("ret")
        if name.startswith("j"):
            if "*" in operands:
                return None, True
            to.append(number.get(int(operands.split()[0].split(",")[0], 16)))
            leaves |= to[-1] is None
        elif name.startswith("call"):
            on = callee(operands) not in no_return
        to.append(i + 1 if on and i + 1 < len(code) else None)
        leaves |= on and i + 1 == len(code)
        out.append([t for t in to if t is not None])
    return out, leaves


def postorder(successors):
    order, seen, work = [], {0}, [(0, 0)]
    while work:
        at, k = work.pop()
        if k == len(successors[at]):
            order.append(at)
            continue
        work.append((at, k + 1))
        if successors[at][k] not in seen:
            seen.add(successors[at][k])
            work.append((successors[at][k], 0))
    return order


def reaches_end(code, no_return, seen):
    """Whether a path from the entry returns or leaves the procedure, but for one of which it is known that it does not return."""
    number = {insn[0] for insn in code}
    for i in seen:
        name, operands = code[i][2], code[i][3]
        leaves = name.startswith("j") and int(operands.split()[0].split(",")[0], 16) not in number
        if name.startswith("ret") or (leaves and not (name.startswith("jmp") and callee(operands) in no_return)):
            return True
    return False


def no_return_procedures(found):
    """Those that surely do not return, beginning with the known ones."""
    known = set(NO_RETURN)
    while True:
        more = set()
        for (_, name), code in found.items():
            if name in known or "@" in name:
                continue
            successors, _ = edges(code, known)
            if successors and not reaches_end(code, known, postorder(successors)):
                more.add(name)
        if not more:
            return known
        known |= more


def natural_loops(successors):
    """header -> set of instructions; None if a cycle has several entries."""
    order = postorder(successors)
    rank = {at: i for i, at in enumerate(order)}
    before = collections.defaultdict(list)
    for at in order:
        for to in successors[at]:
            before[to].append(at)
    dominator, changed = {0: 0}, True

    def common(a, b):
        while a != b:
            while rank[a] < rank[b]:
                a = dominator[a]
            while rank[b] < rank[a]:
                b = dominator[b]
        return a

    while changed:
        changed = False
        for at in reversed(order[:-1]):
            new = None
            for p in before[at]:
                if p in dominator:
                    new = p if new is None else common(p, new)
            if dominator.get(at) != new:
                dominator[at] = new
                changed = True
    loops = {}
    for at in order:
        for to in successors[at]:
            if rank[to] < rank[at]:
                continue
            x = at
            while x != to and x != 0:
                x = dominator[x]
            if x != to:
                return None
            body, work = loops.setdefault(to, {to}), [at]
            while work:
                x = work.pop()
                if x not in body:
                    body.add(x)
                    work += before[x]
    return loops


def chains(path, addresses, normal):
    """For each address its scopes, innermost first, without the line: (kind, text, header)."""
    command = [f"{BUILD}/tools/structure_places"] + (["--normal"] if normal else []) + [path]
    out = subprocess.run(command, input="\n".join(f"{a:x}" for a in addresses), capture_output=True, text=True, check=True).stdout
    found = []
    for line in out.splitlines():
        chain = []
        for scope in line.split("\t")[2:]:
            kind, _, text = scope.partition(" ")
            name, _, header = text.rpartition("@") if kind == "loop" else (text, "", "")
            chain.append((kind, name, int(header, 16) if header else 0))
        found.append(chain)
    return found


def collapsed(chain):
    """A loop directly inside one of the same name is that one; without a line it has no name."""
    out = []
    for kind, text, header in chain:
        named = kind == "loop" and not text.endswith(":0")
        if not (named and out and out[-1][:2] == (kind, text)):
            out.append((kind, text, 0 if kind != "loop" or named else header))
    return out


def check(name, path, at_least):
    found = procedures(path)
    no_return = no_return_procedures(found)
    split = {f.partition(".cold")[0] for _, f in found if ".cold" in f}
    calls, irreducible, count, in_loops = [], 0, 0, 0
    for (_, f), code in found.items():
        if ".cold" in f or f in split or "@plt" in f or f.startswith("."):
            continue
        if any(insn[2].startswith("call") and EXCEPTIONS.search(insn[3]) for insn in code):
            continue
        successors, _ = edges(code, no_return)
        loops = natural_loops(successors) if successors else None
        if loops is None:
            irreducible += bool(successors)
            continue
        count += 1
        reached = set(postorder(successors))
        for i, (address, length, mnemonic, _) in enumerate(code):
            if mnemonic.startswith("call") and i in reached:
                headers = {code[h][0] for h, body in loops.items() if i in body}
                in_loops += bool(headers)
                calls.append((f, address, address + length - 1, headers))
    wrong = []
    raw, normal = chains(path, [c[2] for c in calls], False), chains(path, [c[2] for c in calls], True)
    first = chains(path, [c[1] for c in calls], True)
    for (f, address, _, headers), r, n, n1 in zip(calls, raw, normal, first):
        if {s[2] for s in r if s[0] == "loop"} != headers:
            wrong.append(f"{f}+{address:x}: raw loops {[hex(s[2]) for s in r if s[0] == 'loop']}, not {[hex(h) for h in sorted(headers)]}")
        elif [s[:2] for s in n] != [s[:2] for s in collapsed(r)] or n != n1:
            wrong.append(f"{f}+{address:x}: {n} of {r}")
    good = not wrong and in_loops >= at_least
    print(f"{'ok' if good else 'not ok'} {name}: {len(calls)} calls, {in_loops} in loops, of {count} procedures ({irreducible} irreducible); "
          f"{len(wrong)} elsewhere")
    for text in wrong[:10]:
        print(f"# {text}")
    return good


def main():
    if len(sys.argv) > 1:
        return 0 if all([check(path, path, 0) for path in sys.argv[1:]]) else 1
    own, good = glob.glob("common/*.c") + glob.glob("query/grammar/*.c"), True
    project = ["-std=gnu11", "-g", "-fPIC", "-shared", "-D_GNU_SOURCE", "-I.", "-w", "-include", f"{BUILD}/config.h"]
    loops = "tests/structure/loops/"
    with tempfile.TemporaryDirectory() as tmp:
        for build, at_least in (("gcc -O3", 200), ("clang -O2", 200)):
            subprocess.run([*build.split(), *project, "-o", f"{tmp}/x.so", *own], check=True)
            good &= check(build, f"{tmp}/x.so", at_least)
        for source, builds in (("calls.c", ("gcc -O2 -fopenmp", "gcc -O3 -fopenmp", "clang -O2", "clang -O3", "gcc -O1", "gcc -O0")),
                               ("calls.f90", ("gfortran -O2 -fopenmp -fno-inline", "gfortran -O3 -fopenmp -fno-inline")),
                               ("calls.cc", ("g++ -O2", "g++ -O3", "clang++ -O2"))):
            for build in builds:
                subprocess.run([*shlex.split(build), "-g", "-w", *(["-J", tmp] if "fortran" in build else []), "-o", f"{tmp}/x",
                                loops + source], check=True)
                good &= check(f"{source} {build}", f"{tmp}/x", 4)
    return 0 if good else 1


sys.exit(main())
