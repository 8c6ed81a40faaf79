#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Groups against sums over raw call paths: random programs (recursive, inlined code, loops), random groups that overlap and hold each other.
#
# What is inclusive and exclusive is decided here for each sample by its whole path, as doc/language.md has it. REFERENCE_TREES and
# REFERENCE_SEED in the environment choose more or others.
import json, os, random, subprocess, sys, tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from counting import seconds
from lib import Evaluator, METRICS, Program, Values, is_call
from reference import FIXTURE, HQ, clause_text, documents

COLUMNS = "columns $1, $2, $3, $4"


def random_groups(rng, program):
    """{name: parts}; a part is (kind, what)."""
    names = sorted({s.name for s in program.scopes})
    files, inside = sorted({s.file for s in program.scopes}), sorted({s.name for s in program.scopes if s.kind != "loop"})
    groups = {}
    for n in range(rng.randint(1, 6)):
        parts = []
        for _ in range(rng.randint(1, 3)):
            kind = rng.choice(["scope", "scope", "file", "module", "loops", "lines", "group"])
            if kind == "group" and n:
                parts.append((kind, "g%d" % rng.randrange(n)))
            elif kind == "file":
                parts.append((kind, rng.choice([f for f in files if not f.startswith("in")])))
            elif kind == "module":
                parts.append((kind, rng.choice(sorted({s.module for s in program.scopes}))))
            elif kind == "loops":
                parts.append((kind, rng.choice(inside)))
            elif kind == "lines":
                first = rng.choice([1, 1, 100, 200])
                parts.append((kind, (rng.choice(files), first, first + rng.choice([0, 1, 2, 10, 150]))))
            else:
                parts.append(("scope", rng.choice(names)))
        groups["g%d" % n] = parts
    return groups


def part_text(kind, what):
    return {"scope": '"%s"', "file": 'files of "%s"', "module": 'modules of "m%s.so"', "loops": "loops of %s", "group": "group %s",
            "lines": 'lines %s of "%s"'}[kind] % (what if kind != "lines" else ("%d-%d" % what[1:] if what[1] != what[2] else what[1], what[0]))


def file_text(rng, groups):
    """In any order: a group may stand below the one that holds it."""
    lines = ["group %s = %s" % (name, ", ".join(part_text(*p) for p in parts)) for name, parts in groups.items()]
    rng.shuffle(lines)
    return "-- random\n" + "\n".join(lines) + "\n"


def all_parts(groups, name):
    out = []
    for kind, what in groups[name]:
        out += all_parts(groups, what) if kind == "group" else [(kind, what)]
    return out


def is_line(site, what):
    return site is not None and site[0] == what[0] and what[1] <= site[1] <= what[2]


def is_named(row, kind, what):
    """A scope, loop or statement of the path that is a member itself."""
    if kind == "lines":
        return row[0] == "line" and is_line(row[1], what)
    if row[0] == "line":
        return False
    if kind == "loops":
        return row[0].kind == "loop" and any(s.name == what for s in row[0].chain())
    return kind == "scope" and row[0].name == what


def is_frame(row, kind, what):
    """A procedure of a file or load module that is a member."""
    return row[0] != "line" and row[0].kind == "procedure" and (kind == "file" and row[0].file == what or kind == "module" and row[0].module == what)


def passes(path, parts):
    return any(is_named(row, *p) or is_frame(row, *p) or p[0] == "lines" and is_call(row) and is_line(row[1], p[1]) for row in path for p in parts)


def is_exclusive(path, parts):
    calls = [i for i, row in enumerate(path) if is_call(row)]
    procedures = [row for row in path if row[0] != "line" and row[0].kind == "procedure"]
    inner = path[calls[-1]:] if calls else path
    return any(is_named(row, *p) for row in inner for p in parts) or any(is_frame(procedures[-1], *p) for p in parts if procedures)


def expected(evaluator, parts):
    table = {name: Values() for name in list(parts) + ["[no group]"]}
    for _, metric, value, path in evaluator.samples:
        for name in parts:
            table[name].inc[metric] += value if passes(path, parts[name]) else 0
            table[name].exc[metric] += value if is_exclusive(path, parts[name]) else 0
        table["[no group]"].exc[metric] += 0 if any(is_exclusive(path, p) for p in parts.values()) else value
    return {name: v.cells() for name, v in table.items() if any(v.cells())}


def rows(document, depth=0):
    return {r["name"]: [round(v) if v is not None else 0 for v in r["values"]] for r in document["rows"] if r["depth"] == depth}


def procedures_in(program, q, parts):
    """Those with values in the selection that are in a group in any call path, selected or not."""
    all_of_them = Evaluator(program, {k: v for k, v in q.items() if k == "prune"})
    members = {path[i][0].entity() for _, _, _, path in all_of_them.samples for i in range(len(path))
               if is_call(path[i]) and is_exclusive(path[:i + 1], parts)}
    return members & {row[0].entity() for _, _, _, path in Evaluator(program, q).samples for row in path if is_call(row)}


def check(seed, directory):
    rng = random.Random(seed)
    program = Program(rng)
    groups = random_groups(rng, program)
    db, file = os.path.join(directory, "db%d" % seed), os.path.join(directory, "%d.groups" % seed)
    with open(db + ".fixture", "w") as f:
        f.write("\n".join(program.text) + "\n")
    with open(file, "w") as f:
        f.write(file_text(rng, groups))
    subprocess.run([FIXTURE, db + ".fixture", db], check=True)
    q = {}
    if rng.random() < 0.4:
        q["through"] = [(rng.random() < 0.3, [(rng.choice(program.procs).name, False)])]
    if rng.random() < 0.2 and program.ranks:
        q["ranks"] = [0]
    if rng.random() < 0.2:
        q["prune"] = [rng.choice(program.procs).name]
    clauses, name = clause_text(q), rng.choice(sorted(groups))
    asked = ["groups%s all %s as json" % (clauses, COLUMNS), "flat by group%s all %s as json" % (clauses, COLUMNS),
             "groups by module%s all %s as json" % (clauses, COLUMNS), "modules%s all %s as json" % (clauses, COLUMNS),
             "groups by directory%s all %s as json" % (clauses, COLUMNS), "groups by runtime%s all %s as json" % (clauses, COLUMNS),
             "procedures where group = %s%s all %s as json" % (name, clauses, COLUMNS)]
    wrong = []
    for settings, shown in ([], program), (["set inline off"], program.without_inlined_code()):
        parts = {g: [p for p in all_parts(groups, g) if not settings or p not in (("loops", "in1"), ("loops", "in2"))] for g in groups}
        wrong += compare(seed, db, file, shown, q, parts, name, settings, asked)
    return wrong


def compare(seed, db, file, program, q, parts, name, settings, asked):
    done = subprocess.run([HQ, "--quiet", "--groups", file, db] + settings + asked, capture_output=True, text=True, timeout=seconds(60))
    if done.returncode:
        return ["seed %d: status %d: %s" % (seed, done.returncode, done.stderr)]
    said = "seed %d: %s\n%s" % (seed, "; ".join(settings), open(file).read())
    evaluator, wrong, found = Evaluator(program, q), [], documents(done.stdout)
    right = expected(evaluator, parts)
    for n, got in enumerate(map(rows, found[:2])):
        rest = {name: v[1::2] for name, v in got.items() if name == "[no group]"}
        if {k: v for k, v in got.items() if k not in rest} != {k: v for k, v in right.items() if k != "[no group]"}:
            wrong.append("%s%s: expected %s\n  but got %s" % (said, asked[n], right, got))
        if n and any(rest.get("[no group]", [0, 0])) and rest["[no group]"] != right.get("[no group]", [0] * 4)[1::2]:
            wrong.append("%s%s: expected %s outside\n  but got %s" % (said, asked[n], right.get("[no group]"), rest))
        if n and "[no group]" in right and "[no group]" not in rest:
            wrong.append("%s%s: what is in no group is missing" % (said, asked[n]))
    if rows(found[2]) != rows(found[3]):
        wrong.append("%s%s: %s\n  but modules: %s" % (said, asked[2], rows(found[2]), rows(found[3])))
    totals = [sum(s[2] for s in evaluator.samples if s[1] == m) for m in range(2)]
    for n in (2, 4, 5):
        sums = [sum(v[2 * m + 1] for v in rows(found[n]).values()) for m in range(2)]
        if sums != totals:
            wrong.append("%s%s adds up to %s, not to %s" % (said, asked[n], sums, totals))
    members = procedures_in(program, q, parts[name])
    if sorted(r["name"] for r in found[6]["rows"]) != sorted(e[0] for e in members):
        wrong.append("%s%s: expected %s\n  but got %s" % (said, asked[6], sorted(members), [r["name"] for r in found[6]["rows"]]))
    return wrong


def main():
    first, count = int(os.environ.get("REFERENCE_SEED", "1")), int(os.environ.get("REFERENCE_TREES", "40"))
    with tempfile.TemporaryDirectory(prefix="hq-groups-") as directory:
        wrong = sum((check(seed, directory) for seed in range(first, first + count)), [])
    for text in wrong[:3]:
        print(text)
    print("%d programs, %d wrong" % (count, len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
