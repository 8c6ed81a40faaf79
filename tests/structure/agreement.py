#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Inline stacks and lines agree with llvm-symbolizer.

10,000 random addresses each of the C library (separate debug file, by build-id), of this project's own code
compiled by gcc and by clang, and of a C++ program. An address agrees if the number of frames, and file and line
of every frame, are the same. Bound: 98.5 %. timeout: 900

    agreement.py [-v] [FILE...]      these instead: binaries, or C sources to be compiled by gcc and clang at -O2;
                                     FILE=OTHER: llvm-symbolizer is asked about OTHER, which has the same code
                                     (it misreads range lists of gcc's split DWARF 5: ask it about the same build without);
                                     -v shows the first ten places where the two differ
"""
import functools
import glob
import json
import os
import random
import subprocess
import sys
import tempfile

BUILD = os.environ.get("BUILD", "build")
COUNT = 10000
BOUND = 0.985

CXX = r"""
#include <algorithm>
#include <cstdio>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
struct shape { virtual ~shape() {} virtual double area() const = 0; };
struct square : shape { double a; square(double x) : a(x) {} double area() const override { return a * a; } };
template <class K> static double total(const std::map<K, std::vector<double>> &m) {
    double sum = 0;
    for (auto &row : m)
        for (double x : row.second)
            sum += x;
    return sum;
}
int main(int argc, char **argv) {
    std::map<std::string, std::vector<double>> rows;
    std::unordered_map<int, std::string> names;
    for (int i = 0; i < argc * 100; i++) {
        std::ostringstream key;
        key << "row" << i % 17;
        rows[key.str()].push_back(square(i).area());
        names[i] = key.str();
    }
    for (auto &row : rows)
        std::sort(row.second.begin(), row.second.end(), [](double a, double b) { return a > b; });
    std::regex digits("[0-9]+");
    int found = 0;
    for (auto &name : names)
        found += std::regex_search(name.second, digits);
    try {
        std::printf("%f %d %s\n", total(rows), found, rows.at(argv[0]).empty() ? "" : argv[0]);
    } catch (const std::out_of_range &) {
        std::puts("none");
    }
}
"""


def text_ranges(path):
    """Address ranges of functions, from the symbol table that nm can see, else .text."""
    out = subprocess.run(["nm", "-S", "--defined-only", path], capture_output=True, text=True).stdout
    ranges = []
    for line in out.splitlines():
        f = line.split()
        if len(f) == 4 and f[2] in "tTwW" and int(f[1], 16):
            ranges.append((int(f[0], 16), int(f[1], 16)))
    if ranges:
        return sorted(set(ranges))
    for line in subprocess.run(["readelf", "-SW", path], capture_output=True, text=True).stdout.splitlines():
        f = line.replace("[ ", "[").split()
        if len(f) > 5 and f[1] == ".text":
            return [(int(f[3], 16), int(f[5], 16))]
    raise SystemExit(f"{path}: no code found")


def pick(path):
    rng = random.Random(20240601)
    ranges = text_ranges(path)
    weights = [n for _, n in ranges]
    return tuple(a + rng.randrange(n) for a, n in rng.choices(ranges, weights, k=COUNT))


def ours(path, addresses):
    text = "\n".join("%x" % a for a in addresses)
    out = subprocess.run([f"{BUILD}/tools/structure_places", path], input=text, capture_output=True, text=True, check=True)
    stacks = []
    for line in out.stdout.splitlines():
        stack, place = [], None
        for scope in line.split("\t")[1:]:
            kind, rest = scope.split(" ", 1)
            if kind == "line":
                place = rest
            elif kind in ("inline", "procedure"):
                stack.append(place)
                place = rest.rsplit("@", 1)[-1]
        stacks.append([split(p) for p in stack])
    return stacks


def split(place):
    file, line = place.rsplit(":", 1)
    return os.path.basename(file), int(line)


@functools.lru_cache(1)
def theirs(path, addresses):
    text = "\n".join("0x%x" % a for a in addresses)
    roots = [f"--debug-file-directory={d}" for d in os.environ.get("HQ_DEBUG_PATH", "").split(":") if d]
    out = subprocess.run(["llvm-symbolizer", f"--obj={path}", "-i", "--output-style=JSON", *roots], input=text,
                         capture_output=True, text=True, check=True)
    stacks = []
    for line in out.stdout.splitlines():
        stacks.append([(os.path.basename(s["FileName"]), s["Line"]) for s in json.loads(line)["Symbol"]])
    return stacks


def check(name, path, other=None):
    addresses = pick(path)
    ok = shown = known = inlined = 0
    for address, a, b in zip(addresses, ours(path, addresses), theirs(other or path, addresses)):
        # Line 0 means unknown: then the name of a file means nothing.
        a = [x if x[1] else ("", 0) for x in a]
        b = [x if x[1] else ("", 0) for x in b]
        known, inlined = known + bool(b[0][1]), inlined + (len(b) > 1)
        if a == b:
            ok += 1
        elif shown < 10 and "-v" in sys.argv:
            shown += 1
            print(f"# {name} {address:x}: {a} is {b} to llvm-symbolizer")
    good = ok >= BOUND * COUNT
    print(f"{'ok' if good else 'not ok'} {name}: {100 * ok / COUNT:.2f} % of {COUNT} addresses agree "
          f"({known} have a line, {inlined} lie in inlined code)")
    return good


def build_apart(compiler, flags, sources, where):
    """Each source on its own, then linked: split debug information comes to lie beside the objects."""
    os.mkdir(where)
    objects = [f"{where}/{os.path.basename(source)}.o" for source in sources]
    for source, out in zip(sources, objects):
        subprocess.run([compiler, "-std=gnu11", "-O2", *flags, "-c", "-o", out, source], check=True)
    subprocess.run([compiler, "-shared", "-o", f"{where}/s.so", *objects], check=True)
    return f"{where}/s.so"


def check_split(tmp, compiler, version, flags, sources):
    """Split debug information, then a package of it, against the same build in one piece."""
    name, where = f"own code, {compiler} -O2 -gsplit-dwarf -gdwarf-{version}", f"{tmp}/{compiler}-{version}"
    flags = [f for f in flags if f != "-shared"] + [f"-gdwarf-{version}"]
    whole = build_apart(compiler, flags, sources, where + "-whole")
    split = build_apart(compiler, [*flags, "-gsplit-dwarf"], sources, where)
    good = check(name, split, whole)
    if (compiler, version) == ("gcc", 5):
        return good     # llvm-dwp 14 never ends on some of these, depending on the sources
    subprocess.run(["llvm-dwp", "-e", split, "-o", f"{split}.dwp"], check=True)
    for dwo in glob.glob(f"{where}/*.dwo"):
        os.remove(dwo)
    return check(f"{name}, packed", split, whole) and good


def check_files(paths, tmp):
    good = True
    for path in paths:
        if not path.endswith(".c"):
            path, _, other = path.partition("=")
            good &= check(path, path, other)
            continue
        for compiler in ("gcc", "clang"):
            out = f"{tmp}/{compiler}.so"
            subprocess.run([compiler, "-O2", "-g", "-fPIC", "-shared", "-w", "-o", out, path], check=True)
            good &= check(f"{path}, {compiler} -O2", out)
    return 0 if good else 1


def main():
    good = True
    with tempfile.TemporaryDirectory() as tmp:
        given = [a for a in sys.argv[1:] if a != "-v"]
        if given:
            return check_files(given, tmp)
        sources = sorted(glob.glob("common/*.c") + glob.glob("query/grammar/*.c"))[::3]
        flags = ["-g", "-fPIC", "-shared", "-D_GNU_SOURCE", "-I.", "-w", "-include", f"{BUILD}/config.h"]
        for compiler, level in (("gcc", "-O2"), ("gcc", "-O3"), ("clang", "-O2")):
            out = f"{tmp}/{compiler}{level}.so"
            subprocess.run([compiler, "-std=gnu11", level, *flags, "-o", out, *sources], check=True)
            good &= check(f"own code, {compiler} {level}", out)
        for compiler in ("gcc", "clang"):
            for version in (4, 5):
                good &= check_split(tmp, compiler, version, flags, sources[::3])
        with open(f"{tmp}/x.cc", "w") as f:
            f.write(CXX)
        for compiler in ("g++", "clang++"):
            out = f"{tmp}/{compiler}"
            subprocess.run([compiler, "-std=c++17", "-O2", "-g", "-o", out, f"{tmp}/x.cc"], check=True)
            good &= check(f"C++, {compiler} -O2", out)
        good &= check("C library", os.path.realpath("/lib/x86_64-linux-gnu/libc.so.6"))
    return 0 if good else 1


sys.exit(main())
