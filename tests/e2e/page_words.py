#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""On the page of `hq report`: statistics over profiles, call paths that are chosen, aliases and attributes, against what hq prints; and that what does not
follow a choice says so.
"""
import base64
import gzip
import json
import os
import re
import subprocess

from counting import seconds
from page_browser import BUILD, HQ, TMP, TOP, Keys, answer, check, driver, finish, fixture, hq, js, open_page, page_rows, same, size

for name in ("app", "old"):
    fixture(name)
hq("report", "app.hq")
size(1280, 800)
open_page("app.html")
cut = js("[...document.querySelectorAll('.facts > *')].filter((e) => e.scrollWidth > e.clientWidth || !e.clientWidth).map((e) => e.textContent)")
check(not cut, f"what ran stands in the head, whole: {cut}")
# A number that has lost a digit at the field's edge looks like another one.
lines = js("new Set([...document.querySelector('.options').children].map((e) => e.offsetTop + e.offsetHeight / 2 >> 3)).size")
check(lines == 1, f"the fields above the table are in one line: {lines}")
js("hqPage.set({ranks: '0-1,2,3', where: 'cputime > 5%'})")
cut = js("[...document.querySelectorAll('.options input')].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.value)")
check(not cut, f"what is chosen can be read in its field: {cut}")
js("hqPage.set({ranks: '', where: ''})")

# Names that the build shortens are the program's alone: neither the browser nor the data have one of them.
short = set(re.search(r"^PAGE_OWN = ((?:.*\\\n)*.*)", open(f"{TOP}/Makefile").read(), re.M)[1].replace("\\", "").split())
packed = gzip.decompress(base64.b64decode(re.search(r'id="?data"?[^>]*>([^<]+)<', open(f"{TMP}/app.html").read())[1]))
known, parts = set(), [json.loads(packed[12:12 + int.from_bytes(packed[8:12], "little")])]
while parts:
    part = parts.pop()
    known |= set(part) if isinstance(part, dict) else set()
    parts += part.values() if isinstance(part, dict) else part if isinstance(part, list) else []
known |= set(js("""[HTMLElement, HTMLInputElement, HTMLSelectElement, HTMLCanvasElement, HTMLAnchorElement, CSSStyleDeclaration, CanvasRenderingContext2D, ImageData, KeyboardEvent, WheelEvent,
    ResizeObserver, Document, Location, Array, Map, Set, String, RegExp, Date, Promise, Blob, Response, URLSearchParams, DataView, Float64Array, Uint8Array, DOMRect, DOMTokenList, Math, JSON].flatMap((c) => {
    const all = Object.getOwnPropertyNames(c); for (let p = c.prototype; p; p = Object.getPrototypeOf(p)) all.push(...Object.getOwnPropertyNames(p)); return all; }).concat(Object.keys(document.body.style))"""))
check(len(short) > 40 and {"metrics", "classList", "fillStyle", "kept"} <= known and not short & known, f"no shortened name is the browser's or the data's: {short & known}")


def close(db, what):
    """As same(), but for the last digits: hq has statistics of whole runs stored as integers."""
    query = js("hqPage.query()")
    check(js("hqPage.openAll()"), f"{what}: everything opens")
    columns, rows = page_rows()
    names, expected = answer(db, query)
    check(columns == names and len(rows) == len(expected) > 0, f"{what}, {query}: {columns}, {names}, {len(rows)} of {len(expected)} rows")
    for here, there in zip(sorted(rows, key=lambda r: (r[0], str(r[1]))), sorted(expected, key=lambda r: (r[0], str(r[1])))):
        off = [(a, b) for a, b in zip(here[1], there[1]) if (a is None) != (b is None) or a is not None and abs(a - b) > 1e-9 * max(abs(a), abs(b), 1e-6)]
        check(here[0] == there[0] and not off, f"{what}, {query}: {here}, {there}")


# Every function of the table: statistics of a metric, of an expression, of a slice, beside other functions; the others of one number and of several.
functions = re.findall(r'\.name = "(\w+)".*?max_args = (\d+)(.*)', open(f"{TOP}/query/grammar/functions.def").read())
statistics = [n for n, _, rest in functions if ".statistic = true" in rest]
check(len(functions) >= 18 and len(statistics) >= 12 and sorted(js("Object.keys(hqPage.data.functions)")) == sorted(n for n, _, _ in functions), f"the page has the functions of hq: {functions}")
plain = {"if": "if(cputime > 1s, 2, 3)", "min": "min(cputime, cputime.x)", "max": "max(cputime, cputime.x)"}
for state in ({}, {"ranks": "1-3"}, {"threads": "0"}):
    js("hqPage.set(arguments[0])", {"view": "procedures", "ranks": "", "threads": "", **state})
    for columns in ("\n".join(f"{n}(cputime)" for n in statistics), "\n".join(f"{n}(papi_tot_ins.x)" for n in statistics if n != "ci"),
                    "mean(cputime.x / cputime)\nmax(cputime) / mean(cputime)\nimbalance(cputime) / 1s\nsum(cputime) + cputime",
                    "\n".join(plain.get(n, f"{n}(cputime / 1s)") for n, _, _ in functions if n not in statistics or n in plain)):
        js("hqPage.set({columns: arguments[0]})", columns)
        close("app.hq", f"{state}")
for view in ("tree", "callers", "flat", "modules"):
    js("hqPage.set(arguments[0])", {"view": view, "ranks": "", "threads": "", "columns": "mean(cputime)\ncount(cputime.x)\nci(cputime)\nci(cputime / @cputime)"})
    close("app.hq", view)
for where in ("imbalance(cputime) > 10ms", "count(cputime) < 4", "max(cputime) > 2 * mean(cputime)"):
    js("hqPage.set(arguments[0])", {"view": "procedures", "columns": "", "where": where})
    if answer("app.hq", js("hqPage.query()"))[1]:
        same("app.hq", where)
    else:
        check(not page_rows()[1], f"nothing holds: {where}")
js("hqPage.set(arguments[0])", {"where": "", "columns": "imbalance(cputime)", "sort": "imbalance(cputime)"})
close("app.hq", "sorted by a statistic")

# Aliases, units and attributes.
js("hqPage.set(arguments[0])", {"sort": "", "columns": "instructions / cycles\ntime\nflops.x\ncputime / 60s\nalloc_bytes / 1000B\npapi_tot_ins * 1000000000000"})
same("app.hq", "aliases and units")
for unit in js("Object.keys(hqPage.data.literals)"):
    js("hqPage.set(arguments[0])", {"columns": f"3{unit}"})
    here, there = page_rows()[1], json.loads(hq("--quiet", "app.hq", f"procedures columns cputime, cputime.x, 3{unit} limit 1 as json"))["rows"]
    check(here[0][1][2] == there[0]["values"][2], f"3{unit}: {here[0]}, {there[0]}")
js("hqPage.set(arguments[0])", {"view": "tree", "columns": ""})
ids = [row["id"][:js("hqPage.data.id(1).length")] for row in json.loads(hq("--quiet", "app.hq", "tree as json"))["rows"][:3]]
for where in (f'id = "{ids[1]}"', 'callsite = "main.c:12"', "callsite =~ /main/", f'id != "{ids[2]}"'):
    js("hqPage.set({where: arguments[0]})", where)
    if answer("app.hq", js("hqPage.query()"))[1]:
        same("app.hq", where)
    else:
        check(not page_rows()[1], f"nothing holds: {where}")
for where in ("rank = 1", "host = x", "waits = 1", "group = x"):
    js("hqPage.set({where: arguments[0]})", where)
    check("ask hq" in driver.find_element("css selector", ".state").text, f"{where} is refused")
js("hqPage.set({where: ''})")

# Call paths.
PATHS = ("solve", "main > solve", "main >> PMPI_Wait", "not solve", "solve >> *", "main > * > axpy", "/^s/ >> /^P/i", "main >> axpy\nnot main > exchange", "* > PMPI_Wait", "PMPI_Wait > main")
for through in PATHS:
    for state in ({"view": "tree"}, {"view": "procedures"}, {"view": "callers", "ranks": "1-2"}, {"view": "tree", "hide": "solve"}, {"view": "flat", "prune": "main"}):
        js("hqPage.set(arguments[0])", {"ranks": "", "hide": "", "prune": "", "through": through, **state})
        if answer("app.hq", js("hqPage.query()"))[1]:
            same("app.hq", f"through {through}, {state}")
        else:
            check(not page_rows()[1], f"through {through}, {state}: hq has no rows")
js("hqPage.set(arguments[0])", {"prune": "", "view": "procedures", "through": "solve", "columns": "mean(cputime)\n@cputime\ncputime / @cputime"})
close("app.hq", "statistics and totals of call paths")
js("hqPage.set({columns: '', view: 'tree'})")
values = js("hqPage.perProfile().map((v) => v.value)")
check(abs(sum(values) - sum(v[0] for p, v in answer("app.hq", "tree depth 1 through solve columns cputime")[1])) < 1e-9, f"values by rank are those of the call paths: {values}")
for damaged in ("main >", "> main", "main solve", "nonsense", "a*b >> c", ""):
    js("hqPage.set({through: arguments[0]})", damaged)
    told = driver.find_element("css selector", ".problem").text
    check((not damaged) == bool(page_rows()[1]) and ("page" in told) == bool(damaged), f"through {damaged}: {told}")
box = driver.find_element("css selector", "[data-field=through]")
box.send_keys("main >> axpy\n")
check("through main >> axpy" in js("hqPage.query()") and "through main >> axpy" in driver.find_element("css selector", ".chips").text, f"a path is typed: {js('hqPage.query()')}")
driver.find_element("css selector", ".chip").click()
check("through" not in js("hqPage.query()"), "and taken back")
hq("report", "app.hq", "--compare", "old.hq", "-o", "compared.html")
open_page("compared.html", "through=solve")
same("app.hq", "compared, through")
js("hqPage.set({through: '', columns: 'mean(cputime)'})")
check("ask hq" in driver.find_element("css selector", ".problem").text, "a comparison has no statistics over profiles")

# What does not follow a choice says so.
fixture("messages")
hq("report", "messages.hq", "threads")
open_page("messages.html")
for pane, state, told in (("answers", {"ranks": "1"}, "ranks 1 does not change it"), ("messages", {"through": "main"}, "through main does not"), ("messages", {"ranks": "1"}, None),
                          ("about", {"threads": "0"}, "threads 0 does not"), ("trace", {"through": "main"}, "through main does not"), ("answers", {}, None), ("answers", {"hide": "main", "ranks": "0"}, "ranks 0, hide main do not")):
    js("hqPage.set(arguments[0])", {"ranks": "", "threads": "", "through": "", "hide": "", "pane": pane, **state})
    text = driver.find_element("css selector", ".panebox").text
    check("traces" in text or (told in text if told else "of the whole run:" not in text), f"{pane} {state}: {text[:300]}")
errors = [e["message"] for e in driver.get_log("browser") if e["level"] == "SEVERE"]
check(not errors, f"the page complains: {errors}")

# The trace has the profiles that hq's has: threads of a runtime's own only where threads are asked for. The head tells what `info` does.
with open(f"{TMP}/helped.txt", "w") as f:
    f.write("info duration \"4.260 s\"\ninfo samples 2365\nmetric REALTIME seconds 0.001 10 sampled traced\nmetric MPI_CALLS events 1 0 exact\nmodule app /src/app\nmodule mpi /lib/libmpi.so.40\n"
            "file a app /src/a.c\nfile m mpi /src/mpi.c\nproc main a main 1\nproc step a step 5\nproc poll m progress 1\nproc loop m progress_loop 9\n")
    for rank in range(2):
        f.write(f"profile p{rank} rank={rank} pid={rank + 7} tid={rank + 7} thread=0 start=0 end=100000\nprofile h{rank} rank={rank} pid={rank + 7} tid={rank + 70} thread=1 start=0 end=100000\n")
        f.write(f"value p{rank} MPI_CALLS 5 5 main:2 > step:6\n")
        for who, path in (("p", "main:2 > step:6"), ("h", "loop:9 > poll:2")):
            f.write(f"value {who}{rank} REALTIME 100 10 {path}\n" + "".join(f"trace {who}{rank} {10000 * t + 5000} REALTIME 1 {path}\n" for t in range(10)))
subprocess.run([f"{TOP}/{BUILD}/tools/fixture", f"{TMP}/helped.txt", f"{TMP}/helped.hq"], check=True)
hq("report", "helped.hq")
for clauses, state in (("", ""), (" threads 1", "&threads=1"), (" threads 0-1", "&threads=0-1")):
    open_page("helped.html", "pane=trace&mode=depth" + state)
    rows = {f"rank {rank}" + (f" thread {thread}" if "0-1" in clauses else "") for rank, thread, _ in (r["values"] for r in json.loads(hq("--quiet", "helped.hq", f"trace level 2{clauses} as json"))["rows"])}
    shown = set(js("[...document.querySelectorAll('[aria-label=profile] option')].map((e) => e.textContent)"))
    check(shown == rows and len(rows) == (4 if "0-1" in clauses else 2), f"the profiles of the trace{clauses}: {shown}, hq has {rows}")
# Ranks are chosen without a mouse, too; what is no list of them chooses nothing.
ranks = driver.find_element("css selector", "[data-field=ranks]")
for keys, expected in (("1-x", ""), ("1", "1"), ("0-1", "0-1"), ("", "")):
    ranks.clear()
    ranks.send_keys(keys, Keys.ENTER)
    check(js("hqPage.state().ranks") == expected, f"the field for ranks takes {keys}: {js('hqPage.state().ranks')}")
# Of a slice of time nothing is known of what was counted without a trace: hq leaves it out or refuses it, and so does the page.
for state, unknown in (({"all": True}, False), ({"metric": 1}, True), ({"columns": "mpi_calls / realtime"}, True), ({"where": "mpi_calls > 1"}, True), ({"where": "realtime > 0"}, False)):
    js("hqPage.set(arguments[0])", {**{"time": "0-50000", "metric": 0, "all": False, "columns": "", "where": "", "pane": "ranks"}, **state})
    query, told = js("hqPage.query()"), js("document.querySelector('.problem').textContent")
    refused = subprocess.run([HQ, "helped.hq", query], cwd=TMP, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=seconds(60)).returncode
    check(("unknown" in told) == unknown and refused == (2 if unknown else 0), f"{query} in a slice: {told}, hq {refused}")
    check(not any("mpi_calls" in c for c in page_rows()[0]) or unknown, f"{query}: no column of what is unknown: {page_rows()[0]}")
    note = js("document.querySelector('.ranks .note').textContent")
    check(("unknown" in note) == ("metric" in state), f"{query}: {note}")
js("hqPage.set(arguments[0])", {"time": "", "metric": 0, "all": False, "columns": "", "where": ""})
head = driver.find_element("css selector", ".run").text
check(head.startswith("2365 samples") and "4.260 s" in head, f"samples and duration are those of info: {head}")

with open(f"{TMP}/told.txt", "w") as f:  # as callgrind's files are: neither samples nor times
    f.write("metric IR events 1 1 exact no_counts\nmodule app /src/app\nfile a app /src/a.c\nproc main a main 1\nprofile p tid=1 thread=0\nvalue p IR 1000 0 main:2\n")
subprocess.run([f"{TOP}/{BUILD}/tools/fixture", f"{TMP}/told.txt", f"{TMP}/told.hq"], check=True)
hq("report", "told.hq")
open_page("told.html")
head = driver.find_element("css selector", ".run").text
check(head.startswith("1 thread; 1000 ir"), f"what a file does not tell is not told as nothing: {head}")

# Beside axes: the ticks of one have one unit and one number of digits, a histogram counts whole threads, and threads of several processes have the process beside them.
with open(f"{TMP}/axes.txt", "w") as f:
    f.write(f'info "{"what is told of threads " * 5}" 5\n')
    f.write("metric CPUTIME seconds 0.001 10 sampled traced\nmodule app /src/app\nfile a app /src/a.c\nproc main a main 1\n")
    for i in range(4):
        f.write(f"profile p{i} pid={7 + i // 2} tid={7 + i} thread={i % 2} command=/opt/app start=0 end=1000000\nvalue p{i} CPUTIME {100 + 50 * i} 10 main:2\n")
        f.write("".join(f"trace p{i} {100000 * t} CPUTIME 1 main:2\n" for t in range(1, 11)))
subprocess.run([f"{TOP}/{BUILD}/tools/fixture", f"{TMP}/axes.txt", f"{TMP}/axes.hq"], check=True)
hq("report", "axes.hq")
open_page("axes.html")


def written(state):
    return js("""((texts, own) => { CanvasRenderingContext2D.prototype.fillText = (text) => texts.push(text); hqPage.set(arguments[0]); CanvasRenderingContext2D.prototype.fillText = own; return texts; })
        ([], CanvasRenderingContext2D.prototype.fillText)""", state)


ticks = [re.fullmatch(r"(?:\d+(?:\.(\d+))?)(\D+)", t) for t in written({"pane": "trace", "mode": "profiles"}) if t[0].isdigit() and t != "0"]
check(len(ticks) > 3 and all(ticks) and len({(len(t[1] or ''), t[2]) for t in ticks}) == 1, f"ticks of a time axis: {[t and t[0] for t in ticks]}")
texts = written({"pane": "ranks", "plot": "histogram"})
check("1" in texts and not any(re.fullmatch(r"\d+\.\d+", t) for t in texts), f"a histogram counts whole threads: {texts}")
told = {plot: js("(hqPage.set({plot: arguments[0]}), document.querySelector('.ranks .note').textContent)", plot) for plot in ("histogram", "order")}
check("mean" in told["histogram"] and not re.search("dashed|Orange", told["histogram"]) and all(w in told["order"] for w in ("dashed", "Orange")), f"what stands below a plot is about it: {told}")
check("balance" not in told["order"] and "thread 1 (app)" in told["order"], f"threads of several processes promise no balance, and tell their program: {told['order']}")
texts = written({"plot": "sorted"}) and written({"plot": "order"})
check("process thread" in texts and [t for t in texts if re.fullmatch(r"\d \d", t)] == ["7 0", "7 1", "8 0", "8 1"], f"threads of several processes: {texts}")
driver.find_element("css selector", "body").send_keys("h")
for mode in ("profiles", "summary"):
    texts = written({"pane": "trace", "mode": mode})
    check(({"0%", "50%", "100%"} <= set(texts)) == (mode == "summary"), f"shares stand beside a summary: {texts}")
    told = js("document.querySelector('.trace .legend').textContent")
    check(("underlined" in told) == (mode == "profiles"), f"the legend of {mode} tells what is underlined there: {told}")
js("hqPage.set({pane: 'about'})")
widths = js("[...document.querySelectorAll('.about tr')].map((r) => r.lastChild.offsetWidth / r.offsetWidth)")
check(len(widths) > 5 and min(widths) > 0.5, f"a long name of a fact leaves room for it: {widths}")
# The keys stand below facts; who asks for them sees them, and scrolls on by keys.
for width, height in ((800, 600), (390, 844), (1280, 800)):
    size(width, height)
    js("hqPage.set({pane: 'flame'})")
    driver.find_element("css selector", "body").send_keys("?")
    keys = js("((k, p) => [k.top, k.bottom, p.top, p.bottom, document.activeElement.className])(...['.keys', '.about'].map((s) => document.querySelector(s).getBoundingClientRect()))")
    check(max(keys[0], keys[2]) < min(keys[1], keys[3]) - 60 and keys[4] == "pane about", f"? shows the keys at {width} x {height}: {keys}")
for width, height in ((800, 600), (390, 844)):
    size(width, height)
    for mode in ("profiles", "summary"):
        js("hqPage.set({pane: 'trace', mode: arguments[0]})", mode)
        room = js("['canvas', '.scroll'].map((s) => document.querySelector('.trace ' + s).clientHeight)")
        check(40 < room[0] <= room[1], f"{mode} of four threads and their axis need no scrolling at {width}x{height}: {room}")
for chosen in ("modules", "tree"):
    js("hqPage.set({view: arguments[0]})", chosen)
    edges = js("(({ left, right }) => [left, right, innerWidth])(document.querySelector(`[data-view=${arguments[0]}]`).getBoundingClientRect())", chosen)
    check(-1 < edges[0] < edges[1] < edges[2] + 1, f"the chosen tab is in sight on a phone, {chosen}: {edges}")
# Where a trace is one of spans a slice has the part of each that lies in it, and an instant shows the one around it. A statement is no root.
fixture("devices_trace")
with open(f"{TMP}/spans.json", "w") as f:
    json.dump([{"ph": "X", "name": n, "ts": a, "dur": d, "pid": 1, "tid": 1} for n, a, d in (("outer", 0, 100), ("inner", 20, 30), ("last", 140, 60))], f)
hq("import", "spans.json", "-o", "spans.hq", "--quiet")
# Spans counted in tens of nanoseconds, which slices cut: the parts are no whole numbers of the unit that the page counts in.
lines = ["metric WALL seconds 1e-9 10 exact traced spans", "module app /opt/app", "file main.c app main.c", "proc main main.c main 1", *(f"proc f{i} main.c f{i} {10 * i + 10}" for i in range(20))]
for thread in range(4):
    lines.append(f"profile t{thread} host=a pid=10 tid={10 + thread} thread={thread} command=/opt/app end=4000")
    for i in range(20):
        lines += [f"value t{thread} WALL {10 * (700 * (i + 1) + 3)} 1 main:2 > f{i}:3", f"trace t{thread} {3 * thread + 7 * (i + 1) * (i + 2) // 2} WALL {700 * (i + 1) + 3} main:2 > f{i}:3"]
with open(f"{TMP}/parts.fixture", "w") as f:
    f.write("\n".join(lines) + "\n")
subprocess.run([f"{os.environ['BUILD']}/tools/fixture", f"{TMP}/parts.fixture", f"{TMP}/parts.hq"], cwd=os.environ["TOP"], check=True)
size(1280, 800)
for name, times in (("devices_trace", ("0-1000", "2248-3862", "1000-")), ("parts", ("100-703", "231-1222", "401-")), ("spans", ("10-30", "30-160", "50-60", "100-140", "20-"))):
    hq("report", f"{name}.hq")
    open_page(f"{name}.html")
    for time in times:
        for view in ("tree", "procedures"):
            js("hqPage.set(arguments[0])", {"view": view, "all": True, "time": time})
            if answer(f"{name}.hq", js("hqPage.query()"))[1]:
                same(f"{name}.hq", f"a slice of spans, {name} {time} {view}")
js("hqPage.set(arguments[0])", {"time": "", "pane": "trace", "mode": "profiles", "level": 2})
named = r"(outer|inner|last|no samples)"
shares = dict(re.findall(named + r"[a-z:, A-Z]* (\d+\.\d)%", js("document.querySelector('.trace .legend').innerText").replace("\n", " ")))
there = dict((n, s) for s, n in re.findall(r"(\d+\.\d)%  " + named, hq("--quiet", "spans.hq", "trace level 2 width 1000")))
check(len(shares) == 4 and shares.keys() == there.keys() and all(abs(float(shares[n]) - float(s)) < 1 for n, s in there.items()), f"shares of the cells of a trace, blank ones too: {shares}, hq {there}")
js("hqPage.set({view: 'tree', lines: true, pane: 'flame', level: 0})")
js("hqPage.openAll()")
driver.find_element("css selector", "body").send_keys(Keys.END, "f")
check("null" not in js("hqPage.query()"), f"what the language cannot name is no root: {js('hqPage.query()')}")
open_page("axes.html")
size(390, 844)
js("hqPage.set({time: '0-900000', threads: '0-1', through: 'main', where: 'cputime > 1%'})")
edges = js("[...document.querySelectorAll('.chip, .query, #copy-query')].map((e) => [e.getBoundingClientRect(), e.parentElement.getBoundingClientRect()]).map(([a, b]) => [a.left >= 0, a.right <= innerWidth, a.bottom <= b.bottom + 1, a.width > 30])")
check(len(edges) == 6 and all(all(e) for e in edges), f"what is chosen is in sight on a phone: {edges}")
js("hqPage.set({time: '', threads: '', through: '', where: ''})")
js("hqPage.set({pane: 'flame', plot: 'order'})")

# Of many columns those that pass below the names do not show beside their heading.
size(390, 844)
open_page("app.html", "all=1&view=callers")
heads = js("((h) => [h.offsetHeight, h.querySelector('.scope').offsetHeight])(document.querySelector('.row.head'))")
check(js("document.querySelector('.table').classList.contains('many')") and heads[1] >= heads[0] - 2, f"the heading of names is as high as the row: {heads}")
check("balance" in js("(hqPage.set({pane: 'ranks'}), document.querySelector('.ranks .note').textContent)"), "ranks are alike: balance is told")
size(1280, 800)

# Orange is more than chance: two samples more than eight are not.
for samples, orange in ((8, 0), (800, 1)):
    with open(f"{TMP}/uneven.fixture", "w") as f:
        f.write("metric CPUTIME seconds 0.001 1 sampled\nmodule m /x/m\nfile f m /x/f.c\nproc main f main 1\n")
        f.write("".join(f"profile p{i} tid={i + 1} thread={i}\nvalue p{i} CPUTIME {n} {n} main:2\n" for i, n in enumerate([samples] * 3 + [samples * 5 // 4])))
    subprocess.run([f"{TOP}/{BUILD}/tools/fixture", f"{TMP}/uneven.fixture", f"{TMP}/uneven.hq"], check=True)
    hq("report", "uneven.hq", "--force")
    open_page("uneven.html")
    drawn = js("""((colours, own) => { CanvasRenderingContext2D.prototype.fillRect = function () { colours.push(this.fillStyle); }; hqPage.set({pane: 'ranks'}); CanvasRenderingContext2D.prototype.fillRect = own; return colours; })
        ([], CanvasRenderingContext2D.prototype.fillRect)""")
    check(len(drawn) == 4 and drawn.count("#d55e00") == orange, f"{samples} samples and a quarter more: {drawn}")

driver.quit()
finish()
