# SPDX-License-Identifier: BSD-3-Clause
"""The names of the procedures of recorded load modules, with or without samples, against those that nm prints."""
import os
import subprocess
import sys

sys.path.insert(0, "tests/db")
from lib import MODULES, Database  # noqa: E402
from counting import check, finish

HQ, tmp = os.environ["HQ"], os.environ["HQ_TEST_TMP"]
NOT, EXPORTED, SYMBOLS, ALL = range(4)
SOURCE = f"{tmp}/names.cc"
with open(SOURCE, "w") as file:
    file.write("""
#include <cstdlib>
namespace n {
template <class T> static inline T only_inlined(T x) { return x * 3 + 1; }
struct shape { virtual ~shape() {} virtual double area() const; };
double shape::area() const { return only_inlined(2.0) * std::atoi("3"); }
}
extern "C" int not_called(int x) { return x; }
static void __attribute__((noinline)) part(volatile int *x) { for (int i = 0; i < 1000; i++) *x += i; }
int main() { volatile int x = 0; for (int i = 0; i < 20000; i++) part(&x); return n::shape().area() < 0; }
""")


def recorded(name, *flags, strip=None, hide=False):
    program, database = f"{tmp}/{name}", f"{tmp}/{name}.hq"
    subprocess.run(["g++", "-O2", *flags, SOURCE, "-o", program], check=True)
    if strip:
        subprocess.run(["strip", strip, program], check=True)
    subprocess.run([HQ, "record", "-o", database, "--", program], check=True, capture_output=True)
    if hide:
        os.rename(program, program + ".hidden")
    subprocess.run([HQ, "build", database], check=True, capture_output=True)
    db = Database(database + "/hq.db")
    paths = [db.text(m[0]) for m in db.records(MODULES)]
    return {paths[module]: (state, names) for module, state, names in db.known()}, program


def symbols(path):
    """Defined procedures by nm, without versions and what compilers put behind the names of parts; but for names that stand for one of
    several (i): they are known only where these are."""
    found = set()
    for table in ([], ["-D"]):
        out = subprocess.run(["nm", "--defined-only", *table, path], capture_output=True, text=True).stdout
        for line in out.splitlines():
            words = line.split()
            if len(words) == 3 and words[1] in "TtWw" and words[2] != "data_start":
                found.add(words[2].split("@")[0].split(".cold")[0].split(".part.")[0].split(".isra.")[0])
    return found


known, program = recorded("whole", "-g")
state, names = known[program]
check(state == ALL and names == sorted(set(names), key=lambda n: n.encode()), "with debug information everything is known, in order")
check(symbols(program) <= set(names), f"all of nm's are there: {symbols(program) - set(names)}")
check(any("only_inlined" in n for n in names), "and what was inlined everywhere")
check("no_such_name" not in names and "printf" not in names, "and nothing else")
for library, (state, names) in known.items():
    if library != program:
        check(state != NOT and symbols(library) <= set(names), f"{library}: {sorted(symbols(library) - set(names))[:5]}")

known, program = recorded("plain")
state, names = known[program]
check(state == SYMBOLS and set(names) == symbols(program), f"symbols alone: {set(names) ^ symbols(program)}")
known, program = recorded("stripped", "-rdynamic", strip="-s")
state, names = known[program]
check(state == EXPORTED and "not_called" in names and not any("part" in n for n in names), f"what a stripped program exports: {names}")
known, program = recorded("gone", hide=True)
check(program not in known, "of a file that is not there nothing is known")
finish()
