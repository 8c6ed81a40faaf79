#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""States of the page that nobody thought of: each is made at random, always the same ones, and has the numbers that hq prints to its query."""
import json
import random
import subprocess

from page_browser import BUILD, TMP, TOP, answer, check, driver, finish, fixture, hq, js, open_page, page_rows, same, size

STATES = 10
random.seed(17)
size(1280, 800)
compared = 0
for name in ("app", "phased", "marked", "devices_trace", "joined", "recursion", "teams", "alike"):
    fixture(name)
    hq("report", f"{name}.hq")
    open_page(f"{name}.html")
    metric = js("hqPage.data.metrics[0].name")
    end = js("hqPage.data.length")
    called = js("[...new Set([...Array(hqPage.data.scopes).keys()].filter((s) => [2, 3].includes(hqPage.data.scopeKind[s]) && hqPage.data.instances(s).length).map((s) => hqPage.data.texts[hqPage.data.scopeName[s]]))]")
    for _ in range(STATES):
        some = lambda of, often=0.2: random.choice(of) if random.random() < often else ""
        procedure = lambda: json.dumps(random.choice(called))
        begin = random.randrange(max(1, end))
        state = {
            "view": random.choice(("tree", "callers", "flat", "procedures", "loops", "lines", "files", "modules")), "rounds": False, "all": random.random() < 0.5,
            "lines": random.random() < 0.3, "sort": "", "ranks": some(("0", "1-2", "0,3")), "threads": some(("0", "0-1")), "time": some((f"{begin}-{begin + 1 + random.randrange(max(1, end))}", f"{begin}-")),
            "through": some((procedure(), "not " + procedure()), 0.15), "prune": some((procedure(), "/[aeo]/", "/:1/"), 0.15), "hide": some((procedure(), "/l/"), 0.15),
            "where": some((f"{metric} > 1%", "kind = loop", "depth < 3"), 0.2), "columns": some((f"{metric} / @{metric}", f"mean({metric})"), 0.2),
            "flatten": random.choice((0, 0, 0, 1, 2)), "zoom": "", "search": "", "filter": False,
        }
        if state["view"] not in ("tree", "callers", "flat"):
            state["flatten"] = 0
        js("hqPage.set(arguments[0])", state)
        if js("document.querySelector('.problem').textContent"):
            continue
        query = js("hqPage.query()")
        if answer(f"{name}.hq", query)[1]:
            same(f"{name}.hq", f"{name} {state}")
            compared += 1
check(compared >= 3 * STATES, f"so many states have rows: {compared}")

# Sums of both signs over 2^53, where a browser has no odd numbers: they keep their sign, and are marked although their sum is small.
WAYS = "main:2 > up:11", "main:3 > down:21"
lines = ["metric BIG events 1 10 exact", "module app /opt/app", "file a app /src/a.c", "proc main a main 1", "proc up a up 10", "proc down a down 20"]
for rank, amounts in enumerate(((10 ** 18, -10 ** 18 + 1000), (-3, 4503599627370497), (5, -9007199254740993))):
    lines += [f"profile p{rank} rank={rank} host=n pid={rank + 1} tid={rank + 1} end=4000", *(f"value p{rank} BIG {x} 1 {way}" for way, x in zip(WAYS, amounts))]
with open(f"{TMP}/large.fixture", "w") as f:
    f.write("\n".join(lines) + "\n")
subprocess.run([f"{TOP}/{BUILD}/tools/fixture", f"{TMP}/large.fixture", f"{TMP}/large.hq"], check=True)
hq("report", "large.hq")
open_page("large.html")
for ranks in ("", "0", "1", "2", "1-2"):
    for view in ("tree", "procedures", "lines", "modules"):
        js("hqPage.set(arguments[0])", {"view": view, "ranks": ranks})
        values = lambda rows: {p: v for p, v in rows}
        check(js("hqPage.openAll()"), "large sums open")
        here, there = values(page_rows()[1]), values(answer("large.hq", js("hqPage.query()"))[1])
        near = here.keys() == there.keys() and all(abs(x - y) <= 256 for p in there for x, y in zip(here[p], there[p]))
        check(near and there, f"sums over 2^53 but for their last digits, {view} of ranks {ranks}: {here}, {there}")
        marks = [e.text for e in driver.find_elements("css selector", ".body .value") if e.text]
        check(marks and all(m.startswith("\u2248") for m in marks), f"they are marked: {marks}")

driver.quit()
finish()
