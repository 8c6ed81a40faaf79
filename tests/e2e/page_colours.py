#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Colours of pictures: the largest procedures of a load module can be told apart, and a procedure has one in all of them."""
import math
import random
import re
import subprocess

from page_browser import BUILD, TMP, TOP, check, driver, finish, hq, js, open_page, size

MODULES = {"program": "/opt/bin/app", "library": "/opt/lib/libwork.so", "MPI": "/usr/lib/libmpi.so.40", "OpenMP": "/usr/lib/libgomp.so.1", "system": "/lib/libc.so.6"}
LARGE = 8
APART = {"system": 6}      # greys lie closer
random.seed(17)
LETTERS = "abcdefghijklmnopqrstuvwxyz_"


def linear(c):
    return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4


def lab(rgb):
    """L*a*b* of CIE 1976 by the white of D65."""
    r, g, b = (linear(c / 255) for c in rgb)
    x, y, z = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505, 0.2126 * r + 0.7152 * g + 0.0722 * b, (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.0891
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def nearest(names, colours):
    return min((math.dist(lab(colours[a]), lab(colours[b])), a, b) for i, a in enumerate(names) for b in names[:i])


def database(name, costs):
    """main calls all procedures; costs: {family: {procedure: samples}}."""
    lines = ["metric CPUTIME seconds 0.001 10 sampled"]
    for family, path in MODULES.items():
        lines += [f"module {family} {path}", f"file {family}.c {family} /src/{family}.c"]
        lines += [f"proc {p} {family}.c {p} 10" for p in costs[family]] + (["proc main program.c main 1"] if family == "program" else [])
    lines += ["profile one tid=1 command=/opt/bin/app end=1000000"]
    lines += [f"value one CPUTIME {10 * n} {n} main:2 > {p}:11" for of in costs.values() for p, n in of.items()]
    with open(f"{TMP}/{name}.txt", "w") as f:
        f.write("\n".join(lines) + "\n")
    subprocess.run([f"{TOP}/{BUILD}/tools/fixture", f"{TMP}/{name}.txt", f"{TMP}/{name}.hq"], check=True)


def drawn(db, query):
    fills = re.findall(r'<title>(\w+)\n(?:called[^<]*\n)?[^<]*</title><rect [^>]*fill="#([0-9a-f]{6})"', hq("--quiet", db, query + " as svg"))
    return {n: tuple(bytes.fromhex(c)) for n, c in fills}


def names(n):
    return ["".join(random.choices(LETTERS, k=random.randint(4, 20))) + "x" for _ in range(n)]


size(1280, 800)
first = []
for round in range(6):
    costs = {family: {p: 400 - 30 * i for i, p in enumerate(names(12))} for family in MODULES}
    database(f"one{round}", costs)
    # Another run: costs differ by less than a twentieth.
    database(f"again{round}", {family: {p: round + n + random.randint(-n // 20, n // 20) for p, n in of.items()} for family, of in costs.items()})
    fills = drawn(f"one{round}.hq", "tree")
    for family, of in costs.items():
        apart, least = APART.get(family, 7.5), nearest(list(of)[:LARGE], fills)
        check(least[0] >= apart, f"the largest procedures of {family} are apart by {apart}: {least}")
    other = drawn(f"again{round}.hq", "tree")
    largest = [p for of in costs.values() for p in list(of)[:LARGE]]
    same = [p for p in largest if fills[p] == other.get(p)]
    check(len(same) >= 0.9 * len(largest), f"another run has the colours of this one: {len(same)} of {len(largest)}")
    for query in ("tree where cputime > 1%", "flat depth 3", "set inline off; tree"):
        part = drawn(f"one{round}.hq", query)
        check(len(part) > 10 and all(fills[n] == c for n, c in part.items() if n in fills), f"{query}: a procedure has one colour: {[(n, c, fills[n]) for n, c in part.items() if fills.get(n, c) != c]}")
    first = first or largest
    legend = re.findall(r'fill="#([0-9a-f]{6})"/><text [^>]*>([\w ]+)</text>\n', hq("--quiet", f"one{round}.hq", "tree as svg"))
    legend = {n: tuple(bytes.fromhex(c)) for c, n in legend}
    check(set(legend) == set(MODULES), f"the legend names the owners of what is drawn: {legend}")
    if round > 1:
        continue
    hq("report", f"one{round}.hq")
    open_page(f"one{round}.html")
    for dark in (False, True):
        page = {n: tuple(c) for n, c in js("((p) => [...Array(hqPage.data.scopes).keys()].map((s) => [hqPage.data.texts[hqPage.data.scopeShown[s]], p.of(s).rgb]))(new hqPage.page.app.palette.constructor(hqPage.data, arguments[0]))", dark)}
        for family, of in costs.items():
            least = nearest(list(of)[:LARGE], page)
            check(least[0] >= 0.78 * APART.get(family, 7.5), f"on the page, dark {dark}, those of {family} are apart: {least}")
        told = js("[...document.querySelectorAll('.flame .legend > span')].map((e) => [e.textContent, getComputedStyle(e.firstChild).backgroundColor.match(/\\d+/g).map(Number)])")
        check(len(told) == len(legend) and all(max(abs(x - y) for x, y in zip(legend[n], c)) <= 1 for n, c in told), f"the page has the legend of svg: {told}, {legend}")
        check(dark or all(max(abs(x - y) for x, y in zip(page[p], fills[p])) <= 1 for p in fills if p in page), "the page has the colours of svg")

# The program is what was executed, also where its main is on no call path.
with open(f"{TMP}/one0.txt") as f, open(f"{TMP}/left.txt", "w") as g:
    g.write(f.read().replace("proc main program.c main 1", "proc begin program.c begin 1").replace("main:2", "begin:2"))
subprocess.run([f"{TOP}/{BUILD}/tools/fixture", f"{TMP}/left.txt", f"{TMP}/left.hq"], check=True)
with_main, without = drawn("one0.hq", "tree"), drawn("left.hq", "tree")
check("begin" in without and all(with_main[p] == without[p] for p in first), "whose code it is does not depend on main")

# Where the system forces its colours, those of a legend stay, and what is chosen can be told from what is not.
FORCED = """((style) => ({
    legend: [...document.querySelectorAll('.flame .legend i')].map((e) => style(e).backgroundColor),
    twists: [...document.querySelectorAll('.twist.closed, .twist.open')].map((e) => style(e, '::before').borderTopColor === style(e, '::before').borderLeftColor),
    edges: ['[aria-pressed=true]', '[role=tab][aria-selected=true]', '.row.active'].map((s) => style(document.querySelector(s)).outlineStyle),
    others: ['[aria-pressed=false]', '[role=tab][aria-selected=false]', '.row:not(.active)'].map((s) => style(document.querySelector(s)).outlineStyle)}))(getComputedStyle)"""
for scheme in ("light", "dark"):
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "forced-colors", "value": "active"}, {"name": "prefers-color-scheme", "value": scheme}]})
    open_page("one1.html", "pane=flame")
    driver.find_element("css selector", "body").send_keys("h")
    look = js(FORCED)
    check(len(set(look["legend"])) == len(look["legend"]) > 1, f"forced colours, {scheme}: a legend tells colours apart: {look['legend']}")
    check(look["twists"] and not any(look["twists"]), f"forced colours, {scheme}: what is open or closed is a triangle")
    check(set(look["edges"]) == {"solid"} and set(look["others"]) == {"none"}, f"forced colours, {scheme}: what is chosen has an edge: {look}")

finish()
