#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Structure files: what is written can be read, and says the same as the binary; files by hand; wrong files.

    exact       the database built from the file of a binary is, byte for byte, the one built from the binary, with the binary
                there and without it; at random addresses of large binaries both chains are the same in all they say
    valid       xmllint, which shares no code with hq, finds the files valid by doc/structure-file.rng
    by hand     loops given for a stripped procedure, and for lines that the line table maps, have the samples that lie there
"""
import os
import re
import shutil
import subprocess

from counting import check, finish

HQ, BUILD, TMP, TOP = os.environ["HQ"], os.environ["BUILD"], os.environ["HQ_TEST_TMP"], os.environ["TOP"]
SCHEMA = f"{TOP}/doc/structure-file.rng"
os.chdir(TMP)

C = """#include <stdlib.h>
#include <string.h>
static double w[4096];
static inline double one(double x) { for (int k = 0; k < 40; k++) x = x * 0.999 + k; return x; }
__attribute__((noinline)) double kernel(int n) {
    double s = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < 4096; j++)
            s += w[j] * i;
        s += one(s);
    }
    return s;
}
static int by(const void *a, const void *b) { double x = *(double *)a, y = *(double *)b; return x < y ? -1 : x > y; }
int main(void) {
    double t = 0;
    for (int r = 0; r < 60; r++) {
        for (int i = 0; i < 4096; i++) w[i] = (i * 7919 + r) % 4099;
        t += kernel(500);
        qsort(w, 4096, sizeof *w, by);
    }
    return t == 1.5;
}
"""
CC = """#include <algorithm>
#include <map>
#include <string>
#include <vector>
template <class F> static long apply(int n, F f) { long s = 0; for (int i = 0; i < n; i++) s += f(i); return s; }
int main() {
    std::map<std::string, long> m;
    std::vector<long> v;
    for (int r = 0; r < 60; r++) {
        apply(2000, [&](int i) { return m[std::to_string(i % 300 + r)] += i; });
        apply(20000, [&](int i) { v.push_back(i * 7919L % 4099); return 1L; });
        std::sort(v.begin(), v.end());
        v.clear();
    }
    return m.size() == 7;
}
"""
F = """program p
  implicit none
  real(8) :: a(400, 400), b(400, 400)
  integer :: i, j, k
  a = 1
  do k = 1, 60
    !$omp parallel do private(i)
    do j = 2, 399
      do i = 2, 399
        b(i, j) = 0.25 * (a(i-1, j) + a(i+1, j) + a(i, j-1) + a(i, j+1))
      end do
    end do
    a = b + k
  end do
  print *, sum(a)
end program
"""
RECURSION = """#include <stdlib.h>
struct list { struct list *next; double x; };
double walk(const struct list *l, double s)
{
    if (!l)
        return s;
    double x = l->x;
    for (volatile int k = 0; k < 30; k++) x = x * 0.5 + 1;
    return 1 + walk(l->next, s + x);
}
int main(void)
{
    struct list *all = NULL;
    double t = 0;
    for (int i = 0; i < 1000; i++) { struct list *n = malloc(sizeof *n); n->next = all; n->x = i; all = n; }
    for (int r = 0; r < 2000; r++) t += walk(all, r);
    return t == 1;
}
"""


def run(*words, status=0):
    done = subprocess.run(words, capture_output=True, text=True, errors="surrogateescape")
    check(done.returncode == status, f"{' '.join(words)}: status {done.returncode}, not {status}: {done.stderr}")
    return done


def write(name, text):
    with open(name, "wb") as f:
        f.write(text if isinstance(text, bytes) else text.encode())


def structure(binary, name, *words):
    write(name, subprocess.run([HQ, "structure", "--xml", binary, *words], capture_output=True, check=True).stdout)


def valid(name):
    done = subprocess.run(["xmllint", "--huge", "--noout", "--relaxng", SCHEMA, name], capture_output=True, text=True)
    check(done.returncode == 0, f"{name} is valid: {done.stderr[:500]}")


def build(recording, name, *words, status=0):
    done = run(HQ, "build", "-o", name, *words, recording, status=status)
    return done.stderr


def same(a, b, what):
    check(open(a, "rb").read() == open(b, "rb").read(), f"{what}: the databases are the same")


def costs(csv):
    """The inclusive cost of the first row."""
    rows = [line.split(",") for line in csv.splitlines()]
    return rows[1][rows[0].index("cputime")] if len(rows) > 1 else csv


def ask(db, query):
    return run(HQ, db, query).stdout


def exact(name, command, stripped=False):
    binary = f"./{name}"
    run(*command, "-o", binary)
    if stripped:
        run("strip", binary)
    run(HQ, "record", "-e", "CPUTIME@1000/s", "-o", f"{name}.hq", "--", binary)
    structure(binary, f"{name}.xml")
    valid(f"{name}.xml")
    build(f"{name}.hq", f"{name}.1.db")
    build(f"{name}.hq", f"{name}.2.db", "--structure", f"{name}.xml")
    same(f"{name}.1.db", f"{name}.2.db", name)
    os.rename(binary, "away")
    build(f"{name}.hq", f"{name}.3.db", "--structure", f"{name}.xml")
    same(f"{name}.1.db", f"{name}.3.db", f"{name} without the binary")
    os.rename("away", binary)
    raw = "set normalise off; set inline off; tree all as csv"
    check(ask(f"{name}.1.db", raw) == ask(f"{name}.3.db", raw), f"{name}: the raw tree is the same")


write("a.c", C)
write("b.cc", CC)
write("f.f90", F)
write("r.c", RECURSION)
exact("gcc", ["gcc", "-O2", "-g", "a.c"])
exact("gcc0", ["gcc", "-O0", "-g", "-ffunction-sections", "a.c"])
exact("clang", ["clang", "-O2", "-g", "a.c"])
exact("plus", ["g++", "-O2", "-g", "b.cc"])
exact("fortran", ["gfortran", "-O2", "-g", "-fopenmp", "f.f90"])
exact("bare", ["gcc", "-O2", "a.c"], stripped=True)

# ---- large binaries, at random addresses; names of every byte ----
for n, binary in enumerate([HQ, "/usr/bin/python3", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"]):
    binary = os.path.realpath(binary)
    structure(binary, "large.xml")
    valid("large.xml")
    done = run(f"{TOP}/{BUILD}/tools/structure_given", binary, "large.xml", "3000", str(n))
    check("3000 addresses, 0 differ" in done.stdout, f"{binary}: {done.stdout[:2000]}")
odd = b"odd \x01\xff\\\xc3\xa9\"<&'>.c"
write(odd, C)
run("gcc", "-O1", "-g", os.fsdecode(odd), "-o", "odd")
structure("./odd", "odd.xml")
valid("odd.xml")
run(HQ, "record", "-o", "odd.hq", "--", "./odd")
build("odd.hq", "odd.1.db")
build("odd.hq", "odd.2.db", "--structure", "odd.xml")
same("odd.1.db", "odd.2.db", "a path of odd bytes")
check(b"odd \\x01\\xff\\\\\xc3\xa9&quot;&lt;&amp;&apos;&gt;.c" in open("odd.xml", "rb").read(), "odd bytes have their spelling")

# ---- by hand: loops of a stripped procedure ----
run("gcc", "-O2", "a.c", "-o", "hand")
symbols = subprocess.run(["nm", "-S", "hand"], capture_output=True, text=True, check=True).stdout
start, size = (int(x, 16) for x in re.search(r"^(\w+) (\w+) \w kernel$", symbols, re.M).groups())
build_id = re.search(r"Build ID: (\w+)", subprocess.run(["readelf", "-n", "hand"], capture_output=True, text=True).stdout).group(1)
run("strip", "hand")
run(HQ, "record", "-e", "CPUTIME@1000/s", "-o", "hand.hq", "--", "./hand")
HAND = f"""<PGM n="hand">
<LM n="hand" id="{build_id}">
<F n="/src/kernel.f90">
<P n="kernel" b="100" v="0x{start:x}-0x{start + size:x}">
<G n="hot"><L b="110" e="140" v="0x{start:x}-0x{start + size:x}"><S b="120" e="120" v="0x{start:x}-0x{start + size:x}"/></L></G>
</P>
</F>
</LM>
</PGM>
"""
write("hand.xml", HAND)
valid("hand.xml")
build("hand.hq", "hand.1.db")
build("hand.hq", "hand.2.db", "--structure", "hand.xml")
before = ask("hand.1.db", f'procedures of "hand+0x{start:x}" as csv')
loop = ask("hand.2.db", 'loops of kernel as csv')
check("loop at kernel.f90:110" in loop, f"a loop by hand appears: {loop}")
check(costs(before) == costs(loop), f"with all samples of the procedure: {before} {loop}")
for view in ("groups", "info"):
    check("hand.xml:5" in ask("hand.2.db", view), f"{view} says where a group of the file is defined")
inside = ask("hand.2.db", "groups as csv")
check(costs(inside) == costs(loop), f"a group of the file has what its member has: {inside}")
check("hot" not in ask("hand.1.db", "groups"), "no group without the file")
check("hot" in ask("hand.2.db", "set groups off; groups"), "groups of the database stay")
own = run(HQ, "hand.2.db", "group hot = main; groups").stdout
check("hand.xml" not in own, f"a definition of the session goes before: {own}")

# ---- by hand: lines that the line table maps, as in the paper's figure ----
run("gcc", "-O0", "-g", "r.c", "-o", "rec")
run(HQ, "record", "-e", "CPUTIME@1000/s", "-o", "rec.hq", "--", "./rec")
write("rec.xml", '<PGM n="rec"><F n="r.c"><P n="walk" b="3"><L b="5" e="9"><S b="6" e="9"/></L></P></F></PGM>')
valid("rec.xml")
check("no build-id" in build("rec.hq", "rec.2.db", "--structure", "rec.xml", status=3), "by name only when said")
build("rec.hq", "rec.1.db")
build("rec.hq", "rec.2.db", "--structure", "rec.xml", "--structure-by-name")
loops = ask("rec.2.db", "loops as csv")
check("loop at r.c:5" in loops and "loop at r.c:5" not in ask("rec.1.db", "loops as csv"), f"a recursion is a loop: {loops}")
both = [ask(f"rec.{i}.db", "procedures of walk as csv") for i in (1, 2)]
check(len(both[0].splitlines()) == len(both[1].splitlines()) == 2 and costs(both[0]) == costs(both[1]), f"what walk costs stays: {both}")

# ---- wrong files, each with its line and its reason ----
LM = '<PGM>\n<LM n="hand" id="%s">\n<F n="x.c">\n%s\n</F>\n</LM>\n</PGM>\n'
WRONG = [
    ("<PGM>", 1, "no XML"),
    ("<X/>", 1, "outermost element is X"),
    ("<!DOCTYPE PGM [<!ENTITY a 'b'>]>\n<PGM/>", 1, "document type"),
    ("<PGM>\n<LM/></PGM>", 2, "LM needs the attribute n"),
    ("<PGM>\n<LM n='a' id='xy'/></PGM>", 2, "is no build-id"),
    ("<PGM>\n<LM n='a' id='ab' q='1'/></PGM>", 2, "LM has no attribute q"),
    ("<PGM version='2'/>", 1, "version 2"),
    ("<PGM>\n<LM n='a' id='ab'/><LM n='b' id='ab'/></PGM>", 2, "given already"),
    ("<PGM>\n<LM n='a' id='ab'/>\n<RAW/></PGM>", 3, "no LM around it"),
    (LM % ("ab", "text"), 4, "text between the elements"),
    (LM % ("ab", "<Q/>"), 4, "no element Q"),
    (LM % ("ab", "<F n='y.c'/>"), 4, "F cannot stand within F"),
    (LM % ("ab", "<L v='0x1-0x2'/>"), 4, "code lies in procedures"),
    (LM % ("ab", "<P n='p' v='0x10'/>"), 4, "no range of addresses"),
    (LM % ("ab", "<P n='p' v='0x20-0x10'/>"), 4, "is empty"),
    (LM % ("ab", "<P n='p' b='x'/>"), 4, "is no number"),
    (LM % ("ab", "<P n='p'><S b='3' e='2'/></P>"), 4, "the last line (e) stands before the first"),
    (LM % ("ab", "<P n='\\y'/>"), 4, "behind a backslash"),
    (LM % ("ab", "<P n='p' v='0x10-0x20'>\n<L v='0x18-0x28'/></P>"), 5, "do not lie within those of line 4"),
    (LM % ("ab", "<P n='p' v='0x10-0x20'/>\n<P n='q' v='0x18-0x28'/>"), 5, "those of line 4"),
    (LM % ("ab", "<G n='a'><G n='b'><G n='a'/></G></G>"), 4, "holds itself"),
    ("<PGM>" + "<G n='a'>" * 6000, 1, "holds itself"),
    (LM % ("ab", "<P n='p'>" + "<L b='1'>" * 6000), 4, "more than 5000 deep"),
]
for text, line, reason in WRONG:
    write("wrong.xml", text)
    said = build("hand.hq", "wrong.db", "--structure", "wrong.xml", status=3)
    check(f"wrong.xml:{line}: " in said and reason in said, f"line {line}, {reason}: {said!r} for {text[:200]!r}")
write("other.xml", HAND.replace(build_id, "ab" * 20))
said = build("hand.hq", "other.db", "--structure", "other.xml", status=3)
check(f"another build-id, {build_id}" in said, f"of another build: {said}")
said = build("hand.hq", "both.db", "--structure", "hand.xml", "--structure", "other.xml")
check("is not used" in said, f"one that fits and one that does not: {said}")
build("hand.hq", "other.db", "--structure", "other.xml", "--structure-by-name")
check("kernel.f90:110" in ask("other.db", "loops"), "by name when said")
said = run(HQ, "structure", "--xml", "--raw", "./hand", status=2).stderr
check("has both" in said, f"--raw: {said}")

finish()
