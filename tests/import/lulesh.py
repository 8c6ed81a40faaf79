# SPDX-License-Identifier: BSD-3-Clause
"""
The HPCToolkit database ../shared/data/hpctoolkit-lulesh imports with every number that an independent reader found in it, which its
README.md lists. Skipped where the data is not beside the project.
"""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, "tests/db")
from lib import INFO, Database  # noqa: E402
from counting import check, finish

DATA = "../shared/data/hpctoolkit-lulesh"
HQ, TMP = os.environ["HQ"], os.environ["HQ_TEST_TMP"]


def run(*command):
    done = subprocess.run([HQ, *command], capture_output=True, text=True)
    check(done.returncode == 0, f"hq {' '.join(command)}: exit status {done.returncode}: {done.stderr}")
    return done.stdout


def place(text):
    """FILE:LINE as both sides can write it: base name and line, "?" where the line is not known."""
    return os.path.basename(text) if text and not text.endswith(":0") else "?"


def our_name(name):
    """Of a procedure that HPCToolkit names with its module, as its reader does: the module is known, code without a name is called after it."""
    unnamed = re.fullmatch(r"<unknown procedure> (0x[0-9a-f]+) \[(.*)\]", name)
    return f"{unnamed[2]}+{unnamed[1]}" if unnamed else re.sub(r"(@[^ ]*)? \[[^ ]*\.so[.0-9]*\]$", "", name)


def readme_tree(lines):
    """(path, share) of every row of the tree. A path is a tuple of steps; a call or inlined call holds its call site."""
    path = []
    for line in lines:
        found = re.match(r"\s*([\d.]+)% (\s*)(ENTRY|> |\[I\] |loop |line )(.*)", line)
        if not found:
            continue
        share, depth = float(found[1]), len(found[2])
        while path and path[-1][0] >= depth:
            path.pop()
        site = path[-1][1][1] if path and path[-1][1][0] == "line" else None
        name = found[4].strip()
        if found[3] == "> ":
            step = ("call", our_name(name)[:60], site or "?")
        elif found[3] == "[I] ":
            step = ("inline", name[:60], site or "?")
        elif found[3] == "ENTRY":
            step = ("entry", name)
        else:
            step = (found[3].strip(), place(name))
        path.append((depth, step))
        yield tuple(s for _, s in path if s[0] != "line") + ((step,) if step[0] == "line" else ()), share


def our_tree(rows, total):
    """The same of the rows of `tree`, with lines on: the share of a line is its own and that of the calls made from it."""
    shares, lines, path = {}, {}, []
    for row in rows:
        path[row["depth"]:] = []
        value, kind = row["values"][0] or 0, row["kind"]
        if kind == "thread":
            step = ("entry", row["name"])
        elif kind == "procedure":
            site = place(row["callsite"])
            step = ("call", row["name"][:60], site)
        elif kind == "inline":
            step = ("inline", row["name"][:60], place(row["callsite"]))
        elif kind == "loop":
            step = ("loop", place(f"{row['file']}:{row['line'] or 0}"))
        elif kind == "line":
            step = ("line", place(f"{row['file']}:{row['line'] or 0}"))
        else:
            step = (kind,)
        parent = tuple(path)
        path.append(step)
        if kind == "line":
            lines[parent + (step,)] = lines.get(parent + (step,), 0) + value / total * 100
        else:
            shares.setdefault(parent + (step,), []).append(value / total * 100)
            if kind in ("procedure", "inline") and len(parent) > 1:
                key = parent + (("line", step[2]),)
                lines[key] = lines.get(key, 0) + value / total * 100
    return shares, lines


def rebased(rows):
    """Puts the rows of the initial thread below an entry, as HPCToolkit has them."""
    below = False
    for row in rows:
        if row["depth"] == 0:
            below = row["kind"] == "procedure"
            if below:
                yield {"kind": "thread", "name": "main thread", "depth": 0, "values": row["values"], "callsite": None}
        yield {**row, "depth": row["depth"] + below}


if not os.path.exists(DATA):
    print(f"skipped: {DATA} is not there")
    sys.exit(77)
database = f"{TMP}/lulesh.hq"
run("import", DATA, "-o", database)
readme = open(f"{DATA}/README.md").read()

result = json.loads(run(database, "set internals on; set lines on; tree all as json"))
rows = list(rebased(result["rows"]))
total = sum(r["values"][0] for r in rows if r["depth"] == 0)

# A reader that takes the summary profile beside the threads that it sums up finds twice as much.
told = float(re.search(r"root ([\d.]+) s", readme)[1])
check(min(abs(total - told), abs(2 * total - told)) < 1e-4, f"the total {total} is {told}")
profiles = int(re.search(r"; (\d+) profiles", readme)[1])
raw = Database(f"{database}/hq.db")
check(len(raw.profiles) == profiles - 1, "a profile a thread, none for the summary")
contexts = int(re.search(r"; (\d+) contexts", readme)[1])
facts = [raw.text(value) for _, value in raw.records(INFO)]
check(any(f"{contexts} with values" in f for f in facts), f"{contexts} contexts with values: {facts}")
kinds = sum(int(n) for n in re.findall(r": (\d+)", re.search(r"context kinds .*", readme)[0]))
check(any(f.startswith(f"{kinds} ") for f in facts), f"{kinds} contexts in the tree: {facts}")

shares, lines = our_tree(rows, total)
seen = 0
for path, share in readme_tree(readme.split("\n")):
    path = tuple(("call", "instr", "?") if s[:2] == ("call", "instr") else s for s in path)
    if any(s[:2] == ("call", "instr") for s in path):
        # HPCToolkit names the calling instruction only; several stand side by side.
        def matches(ours):
            return len(ours) == len(path) and all(a == b or (b[0] == "call" and b[1] == "instr" and a[0] == "call"
                                                             and "+0x1c" in a[1])
                                                  for a, b in zip(ours, path))
        candidates = [x for ours, found in shares.items() if matches(ours) for x in found]
        candidates += [x for ours, x in lines.items() if matches(ours)]
    else:
        candidates = shares.get(path, []) if path[-1][0] != "line" else [lines.get(path, -1)]
    seen += 1
    check(any(abs(x - share) < 0.0051 for x in candidates), f"{path[-3:]}: {share} % there, {candidates} here")
check(seen > 200, f"only {seen} rows of the README were understood")

# Where the samples themselves lie.
classes = dict(re.findall(r"'(\w+)': ([\d.]+)", re.search(r"self-time classes.*", readme)[0]))
ours = {"self": 0, "noline": 0, "line": 0, "inloop": 0, "ininl": 0}
path = []
for row in rows:
    path[row["depth"]:] = [row["kind"]]
    if row["kind"] != "line":
        continue
    share = row["values"][0] / total * 100
    ours["self"] += share
    ours["line" if row["line"] else "noline"] += share
    within = path[max(i for i, kind in enumerate(path) if kind == "procedure"):]
    ours["inloop"] += share * ("loop" in within)
    ours["ininl"] += share * ("inline" in within)
classes["noline"] = float(classes["noline"]) + float(re.search(r"'lt:instruction': ([\d.]+)", readme)[1])
for name, share in ours.items():
    check(abs(share - float(classes[name])) < 0.0051, f"class {name}: {classes[name]} % there, {share:.3f} % here")
finish()
