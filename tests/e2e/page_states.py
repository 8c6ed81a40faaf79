#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""States of the page that nobody thought of: each is made at random, always the same ones, and has the numbers that hq prints to its query."""
import json
import random

from page_browser import answer, check, driver, finish, fixture, hq, js, open_page, same, size

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
            "through": some((procedure(), "not " + procedure()), 0.15), "prune": some((procedure(),), 0.15), "hide": some((procedure(),), 0.15),
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

driver.quit()
finish()
