#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the page of `hq report` leaves out to keep its budget, in which order, and that its numbers then are hq's or say by how much they may not be."""
import collections
import os
import re
import subprocess

from page_browser import BUILD, TMP, TOP, answer, check, driver, finish, hq, js, open_page, page_rows, same

LEFT = "[smaller calls, left out]"
program = os.path.getsize(f"{TOP}/{BUILD}/page/page.js") + os.path.getsize(f"{TOP}/{BUILD}/page/page.css")
whole, kept = {}, {}
# Many contexts in few ranks, and few in many.
for name, shape in (("many", ("6", "3000", "3000")), ("wide", ("40", "400", "300"))):
    subprocess.run([f"{TOP}/{BUILD}/tools/spmd", f"{TMP}/{name}.hq", *shape], check=True)
    hq("report", f"{name}.hq", "--quiet", "-o", "whole.html")
    whole[name] = os.path.getsize(f"{TMP}/whole.html") - program
for name, share in (("many", 0.97), ("many", 0.5), ("many", 0.25), ("wide", 0.6), ("wide", 0.35)):
    budget = program + int(whole[name] * share)
    hq("report", f"{name}.hq", "--quiet", "--budget", f"{budget}B", "-o", "cut.html")
    size = os.path.getsize(f"{TMP}/cut.html")
    check(size <= budget, f"within {budget} bytes: {size}")
    open_page("cut.html")
    k = kept[name, share] = js("hqPage.data.kept")
    check(k["every"] != 1, f"traces give way first: {k}")
    check(not k["cut"] or k["coarse"] or k["profiles"], f"then values by profile of small calls, then small calls: {k}")
    js("hqPage.set({pane: 'about', rounds: false})")
    told = driver.find_element("css selector", ".about").text
    check(not re.search(r"\d{9}", told), f"shares are told in three digits: {told[:400]}")
    for word, is_so in (("one record in", k["every"] > 1), ("one value a thread", k["coarse"]), ("are not in this page", k["cut"]), ("single ranks and threads were left out", not k["profiles"])):
        check((word in told) == bool(is_so), f"what was left out is told ({word}): {k}, {told[:400]}")
    for view in ("tree", "procedures", "callers", "modules"):
        for ranks in ("", "1-2"):
            if ranks and not k["profiles"]:
                continue
            js("hqPage.set(arguments[0])", {"view": view, "ranks": ranks, "pane": "flame"})
            js("hqPage.openAll()") if view != "callers" else None
            doubts, rows = js("hqPage.doubts()"), page_rows()[1]
            there, known = collections.Counter(), {}
            for path, values in answer(f"{name}.hq", js("hqPage.query()") + (" depth 1" if view == "callers" else ""))[1]:
                there[path, values] += 1
                known.setdefault(path, []).append(values)
            exact = estimated = 0
            for (path, values), doubt in zip(rows, doubts):
                if path[-1] == LEFT or view == "callers" and len(path) > 1:
                    continue
                if not any(doubt):
                    exact += 1
                    there[path, values] -= 1
                    check(there[path, values] >= 0, f"{name} {share}, {view} {ranks}, exact: {path[-3:]} {values}")
                elif len(known.get(path, [])) == 1:
                    estimated += 1
                    off = [abs((a or 0) - (b or 0)) for a, b in zip(values, known[path][0])]
                    check(all(o <= d + 1e-9 for o, d in zip(off, doubt)), f"{name} {share}, {view} {ranks}, {path[-1]}: off by {off}, said at most {doubt}")
            check(exact or view not in ("tree", "modules") or k["cut"] or view == "modules" and ranks, f"{name} {share}, {view} {ranks}: {exact} exact rows, {estimated} estimated")
            if view == "tree" and not ranks:
                check(not estimated and exact, f"{name} {share}: all of the tree is exact: {estimated} rows are not")
            if view == "procedures" and k["cut"]:
                check(not exact and estimated, f"{name} {share}: of a procedure calls may be missing")
                check("\u2248" in driver.find_element("css selector", ".body .value").text, "and its number is marked")
    if not k["cut"]:
        js("hqPage.set({view: 'procedures', ranks: ''})")
        same(f"{name}.hq", f"{name} {share}: whole columns stay exact")
check(kept["many", 0.97]["profiles"] and not kept["many", 0.97]["coarse"] and kept["many", 0.97]["every"] > 1, f"a little too large: only traces are thinned: {kept}")
check(any(k["coarse"] and not k["cut"] for k in kept.values()) and any(k["cut"] for k in kept.values()), f"all of it was tried: {kept}")

driver.quit()
finish()
