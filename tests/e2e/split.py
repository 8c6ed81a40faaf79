# SPDX-License-Identifier: BSD-3-Clause
"""A program with a known split of CPU time has that split in tree, callers and flat, within three standard deviations."""

from lib import *

out, err = record("split.hq", f"{PROGRAMS}/split", 4)
truth = {name: float(seconds) for name, seconds in (line.split() for line in out.splitlines())}
spent = sum(truth.values())
truth["shared"] = truth["left"] + truth["right"]
whole = total("split.hq")

tree = ask("split.hq", "tree")
n = samples(tree)
check(n >= 4 * 200 * 0.7, f"4 s at 200/s gave {n} samples")
near_share(whole / spent, 1, n, "all CPU time is accounted for", slack=0.06)  # starting takes a tenth of a second of a slow processor

procedures = ask("split.hq", "procedures")
for name in ("heavy", "shared", "recurse", "left", "right"):
    row = find(procedures, name)
    check(row is not None, f"procedures has {name}")
    if row:
        near_share(value(procedures, row, "cputime") / whole, truth[name] / spent, n, f"procedures: {name}")

for name in ("heavy", "left", "right", "recurse"):
    row = next((r for r in tree["rows"] if r["name"] == name), None)
    check(row is not None, f"tree has {name}")
    if row:
        near_share(value(tree, row, "cputime") / whole, truth[name] / spent, n, f"tree: {name}")
levels = [r["depth"] for r in tree["rows"] if r["name"] == "recurse"]
check(len(levels) == 5 and levels == list(range(levels[0], levels[0] + 5)), f"tree nests five levels of recurse: depths {levels}")

flat = ask("split.hq", "flat")
for name in ("heavy", "shared", "recurse"):
    row = next((r for r in flat["rows"] if r["name"] == name and r["kind"] == "procedure"), None)
    check(row is not None, f"flat has {name}")
    if row:
        near_share(value(flat, row, "cputime.x") / whole, truth[name] / spent, n, f"flat: {name}")

callers = ask("split.hq", "callers of shared")
root = callers["rows"][0] if callers["rows"] else None
check(root is not None and root["name"] == "shared" and root["depth"] == 0, "callers of shared begins with shared")
for name in ("left", "right"):
    row = next((r for r in callers["rows"] if r["name"] == name and r["depth"] == 1), None)
    check(row is not None, f"callers of shared has {name} below it")
    if row:
        near_share(value(callers, row, "cputime") / whole, truth[name] / spent, n, f"callers of shared: {name}")

recurse = ask("split.hq", "callers of recurse")
if recurse["rows"]:
    near_share(value(recurse, recurse["rows"][0], "cputime") / whole, truth["recurse"] / spent, n, "callers of recurse counts recursion once")

full_paths("split.hq", 0.99, "split")
nothing_above_total("split.hq", "split")
finish()
