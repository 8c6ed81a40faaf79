#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Loops as the source has them: hand-written expectations beside the loops of tests/structure/loops/*.

In comments of a source (behind *!, /*! or !!):

    build: COMMAND | COMMAND ...         compilers and options; every expectation is checked with each; may go on in
                                         another such line
    PROCEDURE: loops a b b/c             exactly these loops, as paths of tags (or lines), outermost first
    PROCEDURE: only a b                  no loops but these
    PROCEDURE: count N                   that many loops
    PROCEDURE: TAG in a/b                the statement in the line of TAG is in that loop and nowhere else
    PROCEDURE: inline NAME in a/b        NAME is inlined into that loop
    ... when REGEX                       only for commands that match
    PROCEDURE: source RULE               instead of the rules of this kind for it where hq has the source at hand

Every build is looked at twice: by the binary alone (HQ_SOURCES=no), and with the source.

A tag is @name in a comment at the end of its line.

What compilers do to loops, and where it is expected: nested, inlined, vectorised with a remainder, computed goto, jump tables,
irreducible (nests.c, transformed.c); unrolled, peeled, distributed, interchanged and jammed, OpenMP bodies, cold parts
(transformed.c); fused, and two loops of one line (fused.c); array statements (arrays.f90); exceptions (exceptions.cc);
spread over threads (lines.c, shared.c); code of others in them (moved.c), given the place of others (misplaced.c); left at their top and end (leaves.c); in front of which an error is raised (noreturn.c, ends.c); DO loops (do.f90); a condition that is threaded away (threaded.c); checks that do not return (checks.c); turned so that a condition of the body is the way round (turned.c).
"""
import glob
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

HQ = os.environ.get("HQ", "./hq")


def kind_of(rule):
    """Rules about all loops of a procedure are of one kind, those about a statement are of that statement's."""
    return "loops" if rule[0] in ("loops", "only") else rule[0]


class Source:
    def __init__(self, path):
        self.path, self.tags, self.rules, self.builds = path, {}, [], []
        for number, line in enumerate(open(path), 1):
            for tag in re.findall(r"@(\w+)", line):
                self.tags[number] = tag
            m = re.match(r"\s*(?:/?\*!|!!)\s*(.*?)\s*(?:\*/)?$", line)
            if not m or not m.group(1):
                continue
            if m.group(1).startswith("build:"):
                self.builds += [b.strip() for b in m.group(1)[6:].split("|")]
                continue
            text, _, when = m.group(1).partition(" when ")
            name, _, rule = text.rpartition(": ")
            self.rules.append((name.strip(), rule.split(), when.strip(), number))

    def rules_for(self, build, sources):
        """What is to hold for a build, the rules of sources in the place of those that they replace."""
        rules = [r for r in self.rules if not r[2] or re.search(r[2], build)]
        mended = {(name, kind_of(rule[1:])) for name, rule, _, _ in rules if rule[0] == "source"}
        for name, rule, _, number in rules:
            if rule[0] == "source" and sources:
                yield name, rule[1:], number
            elif rule[0] != "source" and not (sources and (name, kind_of(rule)) in mended):
                yield name, rule, number


class Procedure:
    """Loop paths, statements by tag, inlined procedures by name."""

    def __init__(self, source, element):
        self.loops, self.places, self.inlines = [], {}, {}
        self.walk(source, element, ())

    def walk(self, source, element, path):
        for child in element:
            if child.tag == "L":
                inner = path + (source.tags.get(int(child.get("l")), child.get("l") if child.get("l") != "0" else "?"),)
                self.loops.append("/".join(inner))
                self.walk(source, child, inner)
            elif child.tag == "I":
                self.inlines.setdefault(child.get("n"), set()).add("/".join(path))
                self.note(source, int(child.get("b")), path)
                self.walk(source, child, path)
            elif child.tag == "S" and "f" not in child.attrib:
                for line in range(int(child.get("b")), int(child.get("e")) + 1):
                    self.note(source, line, path)

    def note(self, source, line, path):
        if line in source.tags:
            self.places.setdefault(source.tags[line], set()).add("/".join(path))


def holds(p, rule):
    kind, rest = rule[0], rule[1:]
    if kind == "loops":
        return sorted(p.loops) == sorted(rest), sorted(p.loops)
    if kind == "only":
        return set(p.loops) <= set(rest), sorted(p.loops)
    if kind == "count":
        return len(p.loops) == int(rest[0]), sorted(p.loops)
    if kind == "inline":
        return rest[2] in p.inlines.get(rest[0], set()), p.inlines
    return p.places.get(kind, set()) == {rest[1]}, sorted(p.places.get(kind, {"nowhere"}))


GCC_14 = {("threaded.c", "cycle"), ("threaded.c", "main"), ("arrays.f90", "fields::planes"), ("do.f90", "kernels::moments"),
          ("do.f90", "kernels::spread_out._omp_fn.0"), ("do.f90", "kernels::products"), ("do.f90", "smooth"),
          ("directives.f90", "kernels::whole._omp_fn.0"), ("directives.f90", "kernels::single_line._omp_fn.0"),
          ("directives.f90", "kernels::steps._omp_fn.0"), ("goto.f90", "back::sort"), ("goto.f90", "back::both"), ("parts.c", "nest")}
CLANG_19 = {("turned.c", "alike"), ("turned.c", "twice")}


def is_known(path, procedure, build):
    """From gcc 14 on a loop whose condition is threaded away has the line of the loop in it, DO loops of gfortran that of another or of the
    statement in it or of their directive, the outer one of two triangular loops at -O3 that of an inner one, a GOTO two loops, one of
    two of `do concurrent` the line of its statement, and one dealt out for aarch64 that of the procedure's end; from clang 19 on two turned loops that of a statement (doc/portability.md). Most are
    right where the source is at hand."""
    version = int(subprocess.run([build.split()[0], "-dumpversion"], capture_output=True, text=True, check=False).stdout.split(".")[0] or 0)
    known, since = (GCC_14, 14) if re.search("gcc|gfortran", build) else (CLANG_19, 19)
    return version >= since and (os.path.basename(path), procedure) in known


def check(source, build, tmp):
    binary = os.path.join(tmp, "program")
    modules = [f"-J{tmp}"] if build.startswith("gfortran") else []
    subprocess.run([*build.split(), *modules, "-g", "-w", "-o", binary, source.path, "-lm"], check=True, cwd=os.getcwd())
    passed = failed = 0
    for sources in (False, True):
        environment = {**os.environ, "HQ_SOURCES": "yes" if sources else "no"}
        out = subprocess.run([HQ, "structure", "--xml", binary], capture_output=True, text=True, check=True, env=environment).stdout
        p, f = compare(source, build, sources, {e.get("n"): e for e in ET.fromstring(out).iterfind("LM/F/P")})
        passed, failed = passed + p, failed + f
    return passed, failed


def compare(source, build, sources, procedures):
    passed = failed = 0
    for name, rule, line in source.rules_for(build, sources):
        if name in procedures:
            good, got = holds(Procedure(source, procedures[name]), rule)
        else:
            good, got = False, "no such procedure"
        if not good and is_known(source.path, name, build):
            print(f"known to be wrong with this gcc: {source.path}:{line} [{build}] {name}: {' '.join(rule)}: got {got}")
            continue
        passed, failed = passed + good, failed + (not good)
        if not good:
            print(f"not ok {source.path}:{line} [{build}]{' with the source' if sources else ''} {name}: {' '.join(rule)}: got {got}")
    return passed, failed


def is_other(build):
    """gcc 14 makes other nests of what is fused here, and gives lines within a macro to what comes of it."""
    version = subprocess.run(["gcc", "-dumpversion"], capture_output=True, text=True).stdout.split(".")[0]
    return "-floop-nest-optimize" in build and int(version or 0) >= 14


def main():
    passed = failed = 0
    for path in sorted(glob.glob("tests/structure/loops/*")):
        source = Source(path)
        for build in source.builds:
            if is_other(build):
                print(f"not expected of this gcc: {path} by {build}")
                continue
            with tempfile.TemporaryDirectory() as tmp:
                p, f = check(source, build, tmp)
            passed, failed = passed + p, failed + f
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
