#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Recursions on the page of `hq report` are folded as hq folds them for people: rows, rounds and numbers, line by line against hq's text."""
import json
import re

from page_browser import check, driver, finish, fixture, hq, js, open_page, size

# A line as hq prints it, without its number, the lines of the tree and the place; as on paper, every row.
ROWS = """(() => { window.dispatchEvent(new Event('beforeprint')); const rows = [...document.querySelectorAll('.body .row')].map((row) => [...row.querySelectorAll('.value, .share, .inlined, .name, .mark')]
    .map((e) => e.className === 'mark' ? e.textContent.replace('\u00d7', '(x') + ')' : e.textContent).filter(Boolean).join(' ')); window.dispatchEvent(new Event('afterprint')); return rows; })()"""


def printed(db, query):
    rows = [re.sub(r"^ *\d+ ", "", line) for line in hq("--quiet", db, query).splitlines() if re.match(r" *\d+  ", line) and not line.endswith("  total")]
    return [re.sub(r"[\u2502\u251c\u2514 ]+", " ", re.sub(r"  \[[^\]]*\]$| \(recursive\)", "", row)).strip() for row in rows]


size(1280, 800)
for name in ("rounds", "recursion"):
    fixture(name)
    hq("report", f"{name}.hq")
    for state in ("view=tree", "view=callers", "view=tree&ranks=1", "view=tree&prune=leaf", "view=tree&lines=1", "view=flat"):
        open_page(f"{name}.html", state)
        check(js("hqPage.openAll()"), f"{name} {state}: everything opens")
        query, here = js("hqPage.query()"), js(ROWS)
        there = printed(f"{name}.hq", query)
        check(here == there and (any("(x" in row for row in here) or "flat" in state or "lines" in state or "ranks" in state and name != "rounds"), f"{name}, {query}: the page has {here}, hq {there}")
open_page("rounds.html", "rounds=0")
js("hqPage.openAll()")
check(len(js(ROWS)) > 30 and not any("(x" in row for row in js(ROWS)), f"each round is a row if that is wanted: {js(ROWS)}")
open_page("rounds.html", "where=cputime+%3E+1%25")
check(not any("(x" in row for row in js(ROWS)), f"conditions look at single rounds: {js(ROWS)}")
# A context of a later round is found in the row of its scope, and what is below the last one in its own.
open_page("rounds.html")
for name, place in (("even", 3), ("walk", 2), ("leaf", 0)):
    found = js("""(({ page, data }, name) => [...data.scope.keys()].filter((c) => data.texts[data.scopeName[data.scope[c]]] === name).map((c) => page.rows.ofContext(c).name))(hqPage, arguments[0])""", name)
    check(len(found) > place and set(found) == {name}, f"rows of all contexts of {name}: {found}")
# f on the row of a loop that is folded makes its outermost round the root.
js("hqPage.openAll()")
driver.find_element("xpath", "//bdi[text()='loop at a.c:52']").click()
driver.find_element("css selector", ".table").send_keys("f")
check(js("hqPage.state().zoom")[:1] == "c" and "loop at a.c:52" in js(ROWS)[0], f"a folded loop is a root: {js('hqPage.query()')}, {js(ROWS)[:1]}")

# A flame graph that grows beyond its pane scrolls down, not aside as well.
size(800, 600)
open_page("recursion.html", "through=nosuch")
js("hqPage.set({through: ''})")
room = js("(e => [e.scrollHeight, e.clientHeight, e.scrollWidth, e.clientWidth])(document.querySelector('.flame .scroll'))")
check(room[0] > room[1] and room[2] == room[3], f"the flame graph has room beside its scroll bar: {room}")
size(1280, 800)

# A loop whose line is inferred says so.
fixture("loop_lines")
hq("report", "loop_lines.hq")
open_page("loop_lines.html", "view=loops")
known = {row["name"]: row.get("line_from") != "debug information" for row in json.loads(hq("--quiet", "loop_lines.hq", "loops as json"))["rows"]}
marked = js("[...document.querySelectorAll('.body .row')].map((e) => [e.querySelector('.name').textContent, e.querySelector('.mark')?.textContent ?? ''])")
check(len(marked) == len(known) == 6 and all(mark == ("" if known[name] else "line \u2248") for name, mark in marked), f"lines that are inferred are marked: {marked}, {known}")
driver.quit()
finish()
