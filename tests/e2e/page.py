#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The page of `hq report` in a browser: every number is the one that hq prints for the query that the page shows.

Skipped where there is no chromium, no chromium-driver or no python3-selenium.
"""
import json
import os
import subprocess

from page_browser import ASKED, BUILD, HQ, TMP, TOP, Keys, answer, check, driver, finish, fixture, hq, js, open_page, page_rows, same, size, wait, webdriver

PANES = ("flame", "trace", "ranks", "messages", "answers", "source", "about")
VIEWS = ("tree", "callers", "flat", "procedures", "loops", "lines", "files", "modules")

for name in ("app", "paper", "unlined", "joined", "teams", "phased"):
    fixture(name)
    hq("report", f"{name}.hq")
    open_page(f"{name}.html")
    for view in VIEWS:
        js("hqPage.set(arguments[0])", {"view": view, "lines": view != "callers", "all": True})
        if answer(f"{name}.hq", js("hqPage.query()"))[1]:
            same(f"{name}.hq", f"{name}, {view}")


# ---- selections: everything is derived anew ----

open_page("app.html")
for metric in range(len(js("hqPage.data.metrics"))):
    js("hqPage.set(arguments[0])", {"metric": metric})
    same("app.hq", f"the columns of metric {metric}")
js("hqPage.set({all: true, metric: 0})")
for state in ({"ranks": "1-2"}, {"ranks": "0,3"}, {"ranks": "", "threads": "1"}, {"ranks": "0", "threads": "0"}):
    for view in ("tree", "callers", "procedures", "flat"):
        js("hqPage.set(arguments[0])", {"view": view, "lines": False, **state})
        same("app.hq", f"app {state}, {view}")
js("hqPage.set(arguments[0])", {"ranks": "", "threads": ""})
for column in ("cputime.x", "papi_tot_cyc", "name"):
    for ascending in (False, True):
        js("hqPage.set(arguments[0])", {"view": "procedures", "sort": column, "ascending": ascending})
        rows = same("app.hq", f"sorted by {column}")
        check([r for r in rows] == answer("app.hq", js("hqPage.query()"))[1] or column == "name", f"in the order of {js('hqPage.query()')}: {rows[:3]}")
js("hqPage.set(arguments[0])", {"sort": "", "ascending": False, "view": "procedures", "search": "PMPI", "filter": True})
check(len(same("app.hq", "a filter")) == 2, "a filter leaves what matches")
js("hqPage.set(arguments[0])", {"view": "tree"})
check(any("main" in p for p, _ in same("app.hq", "a filter of the tree")), "and what is above it")
js("hqPage.set(arguments[0])", {"search": "/^(solve|wait)/", "view": "callers"})
same("app.hq", "a filter by a regular expression")
js("hqPage.set(arguments[0])", {"search": "", "filter": False, "view": "tree"})
for name in ("solve", "PMPI_Wait", "axpy"):
    js("""(() => { const d = hqPage.data; for (let c = 1; c < d.contexts; c++)
        if (d.texts[d.scopeShown[d.scope[c]]] === arguments[0]) return hqPage.set({zoom: "c" + c}); })()""", name)
    same("app.hq", f"zoomed to {name}")
js("hqPage.set({zoom: ''})")

# Expressions mean what they mean to hq, to the digit, or are refused with a sentence. They are written as hq prints them.
for text in ("cputime / @cputime", "papi_tot_ins / papi_tot_cyc", "if(papi_tot_cyc > 0, papi_tot_ins / papi_tot_cyc, 0)", "4 * papi_tot_cyc - papi_fp_ops",
             "cputime.x / 1s", "max(cputime.x, 0.01s)", "-cputime", "abs(cputime - cputime.x)", "sqrt(cputime / 1s)", "floor(papi_tot_cyc / 1000)",
             "log(papi_tot_cyc / @papi_tot_cyc)", "2 * cputime", "alloc_bytes / 1024B", "cputime / 0", "min(cputime, cputime.x)", "line", "cputime - cputime.x * 2",
             "(cputime + 1s) / 2", "if(name =~ /^P/, cputime, 0s)", "ceil(papi_tot_cyc / 7)", "cputime > 5%", "not cputime.x > 0.1s", "@cputime"):
    for view in ("procedures", "tree"):
        js("hqPage.set(arguments[0])", {"view": view, "columns": text, "where": "", "sort": ""})
        same("app.hq", f"column {text}, {view}")
        check(answer("app.hq", js("hqPage.query()"))[0][-1] == text and page_rows()[0][-1] == text, f"the column {text} is compared")
js("hqPage.set({columns: ''})")
for text in ("cputime.x > 5%", "cputime > 5% and kind = procedure", "name = solve or name =~ /^PMPI_/", "not name =~ /^P/", "line > 20", "file = main.c", "module = app",
             "kind == \"loop\"", "cputime > 0.1 and not (cputime.x > 50%)", "cputime.x == 0", "papi_tot_ins / papi_tot_cyc > 1", "cputime > 5% or papi_fp_ops > 1K",
             "$2 > 100ms", "name != solve", "cputime.x > 5% * 2", "depth < 2", "kind = inline and line < 10", "name =~ /WAIT/i"):
    for view in ("procedures", "tree"):
        js("hqPage.set(arguments[0])", {"view": view, "where": text})
        if answer("app.hq", js("hqPage.query()"))[1]:
            same("app.hq", f"where {text}, {view}")
        else:
            check(not page_rows()[1], f"nothing holds: where {text}, {view}")
for text, told in (("cputime + papi_tot_cyc > 1", "adds seconds and events"), ("cputime >", "missing"), ("nonsense > 1", "no metric"), ("mean(mean(cputime)) > 1s", "statistic of a statistic"), ("mean(if(line > 9, cputime, 0s)) > 1s", "of the row"), ("rank = 1", "ask hq"),
                   ("name > 1", "text with a number"), ("old.cputime > 1s", "of one run"), ("cputime =~ /x/", "needs a text"), ("1 < 2 < 3", "chain"), ("f(1)", "no function")):
    js("hqPage.set(arguments[0])", {"view": "procedures", "where": text})
    check(told in driver.find_element("css selector", ".state").text, f"{text} is refused: {driver.find_element('css selector', '.state').text}")
js("hqPage.set({where: '', view: 'tree'})")

# ---- a comparison ----

fixture("old")
hq("report", "app.hq", "--compare", "old.hq", "-o", "compared.html")
open_page("compared.html")
for view in ("tree", "callers", "flat", "procedures", "loops"):
    js("hqPage.set({view: arguments[0]})", view)
    same("app.hq", f"compared, {view}")
js("hqPage.set({view: 'lines'})")  # hq refuses it too
check("never by lines" in driver.find_element("css selector", ".table").text and "never by lines" in subprocess.run([HQ, "app.hq", js("hqPage.query()")], cwd=TMP, capture_output=True, text=True).stderr,
      f"lines of two runs are not compared, and the page says so: {driver.find_element('css selector', '.table').text}")
head = js("document.querySelector('.run').textContent")
check("cputime (old " in head, f"the head of a comparison has both totals: {head}")
sorted_by = js("[...document.querySelectorAll('.row.head [aria-sort=descending]')].map((e) => e.textContent)")
check(len(sorted_by) == 1 and sorted_by[0].startswith("delta.cputime\u00a0\u25be"), f"the heading that rows are sorted by, the difference, is marked: {sorted_by}")
CUT = """[...document.querySelectorAll('.row.head .number button')].filter((b) => b.offsetParent && b.scrollWidth > b.clientWidth).map((b) => b.textContent)"""
for width in (1280, 800, 390):
    size(width, 800)
    check(not js(CUT), f"at {width} pixels headings are cut: {js(CUT)}")
size(1280, 800)
for text in ("delta.cputime / old.cputime", "delta.cputime.x"):
    js("hqPage.set(arguments[0])", {"view": "procedures", "columns": text})
    same("app.hq", f"compared, {text}")
js("hqPage.set({columns: '', where: 'delta.cputime > 1%'})")
same("app.hq", "compared, where")
for pane in js("[...document.querySelectorAll('[data-pane]')].map((e) => e.dataset.pane)"):
    js("hqPage.set({pane: arguments[0]})", pane)
js("hqPage.set({columns: '', where: '', view: 'tree', pane: 'flame'})")
check(js("hqPage.boxes().map((b) => b.name)").count("checksum") == 1, "what has vanished is drawn")
hq("report", "app.hq", "--compare", "app.hq", "-o", "itself.html")
open_page("itself.html")
deltas = [i for i, c in enumerate(page_rows()[0]) if c.startswith("delta")]
js("hqPage.openAll()")
check(deltas and all(v[i] == 0 for _, v in page_rows()[1] for i in deltas), "compared with itself nothing changes")
open_page("app.html")

# An address that chooses has the head of the whole run, which stays when the choice goes.
head = js("document.querySelector('.run').textContent")
for state in ("ranks=0", "time=0-20000", "through=main"):
    open_page("app.html", state)
    check(js("document.querySelector('.run').textContent") == head, f"the head of {state} is that of the run, {head}: {js('document.querySelector(`.run`).textContent')}")
open_page("app.html")

# The values of ranks, as `threads` has them.
for name, of in (("solve", "of solve"), (None, "")):
    js("hqPage.set({view: 'procedures', sort: '', selected: ''})")
    if name:
        driver.find_element("xpath", f"//bdi[text()='{name}']").click()
    values = js("hqPage.perProfile().map((v) => [hqPage.data.profiles[v.profile].rank, hqPage.data.profiles[v.profile].thread, v.value])")
    table = json.loads(hq("--quiet", "app.hq", f"threads {of} columns rank, thread, cputime as json"))
    check(sorted(map(tuple, values)) == sorted((-1 if r is None else r, t, v) for r, t, v in (x["values"] for x in table["rows"])),
          f"values by rank of {name}: {values}, {table['rows']}")

# ---- names as `set names` has them: short and never alike, whole in what is copied and told ----

LONG = ("std::map<std::string, int>::emplace_hint_unique<std::string, int>(std::string&&, int&&)",
        *(f"run<main::{{lambda(int)#{i}}}>(main::{{lambda(int)#{i}}}, std::vector<double, std::allocator<double> > const&, std::vector<double, std::allocator<double> > const&)" for i in (1, 2)))
alike = open(f"{TOP}/tests/query/alike.fixture").read() + "".join(
    f'proc long{i} main.cc "{name}" {50 + i}\nvalue p CPUTIME 10 1 main:9 > long{i}:52\n' for i, name in enumerate(LONG))
open(f"{TMP}/alike.txt", "w").write(alike)
subprocess.run([f"{TOP}/{BUILD}/tools/fixture", f"{TMP}/alike.txt", f"{TMP}/alike.hq"], check=True)
whole = {row["name"] for row in json.loads(hq("--quiet", "alike.hq", "procedures as json"))["rows"]}
shown = lambda: js("[...document.querySelectorAll('.body .row .name')].map((e) => e.textContent)")
size(1600, 2000)
for setting in ("auto", "short", "full"):
    hq("report", "alike.hq", f"set names {setting}", "-o", "alike.html", "--force")
    open_page("alike.html", "view=procedures")
    js("hqPage.set({all: true})")
    names, rows = shown(), js("[...document.querySelectorAll('.body .row .scope')].map((e) => e.textContent)")
    check(len(set(rows)) == len(names) == 7 and len(set(names)) == len(whole), f"names {setting}: 7 procedures are told apart: {rows}")
    check(any("_Z5applyIdEvT_" in row for row in rows), f"those of one name by the linker's: {rows}")
    check((set(names) == whole) == (setting == "full"), f"names {setting}: {names}")
    check(all(len(n) <= {"auto": 100, "short": 90, "full": 10000}[setting] for n in names), f"names {setting} are as long as they may be: {names}")
    check({p[-1] for p, _ in page_rows()[1]} == whole, f"names {setting}: what is copied is whole")
    drawn = {b["name"]: b["drawn"] for b in js("hqPage.boxes()")}
    check(setting != "full" or all(n == d for n, d in drawn.items()), f"names {setting} of boxes: {drawn}")
    check(setting != "short" or all(len(d) <= 90 for d in drawn.values()), f"names {setting} of boxes are short: {drawn}")
    check(len(set(drawn.values())) == len(drawn), f"names {setting} of boxes differ: {drawn}")
size(1280, 800)

# ---- a real recording: slices of time ----

hq("record", "-o", "real.hq", "--", f"{os.environ['PROGRAMS']}/parallel")
hq("report", "real.hq", "--with-source")
open_page("real.html")
length = js("hqPage.data.length")
for state in ({}, {"time": f"{length // 4}-{length // 2}"}, {"time": f"{length // 2}-"}):
    for view in ("tree", "procedures", "lines"):
        js("hqPage.set(arguments[0])", {"view": view, "rounds": False, **state})
        same("real.hq", f"a recording {state}, {view}")
js("hqPage.set({time: '', view: 'tree', rounds: true})")
js("hqPage.openAll()")
merged = [(e.split(" \u00d7 ")[0].split()[-1], int(e.split(" \u00d7 ")[1])) for e in js("[...document.querySelectorAll('.body .scope')].map((e) => e.textContent.replace('\u00d7', ' \u00d7').replace(/(\u00d7 \\d+).*/, '$1'))") if "\u00d7" in e]
check(all(f"x {n}" in hq("--quiet", "real.hq", "tree") for _, n in merged), f"a recursion is one row with its rounds: {merged}")

# ---- by hand ----

size(1280, 800)
open_page("app.html")
body = driver.find_element("css selector", "body")
shown = {r.get_attribute("data-index"): [c.get_attribute("data-value") for c in r.find_elements("css selector", "[data-value]")]
         for r in driver.find_elements("css selector", ".body .row")}
rows = page_rows()[1]
check(all([float(v) for v in shown[i]] == list(rows[int(i)][1]) for i in shown) and len(shown) > 5, f"cells hold the numbers: {shown}")
table = hq("--quiet", "app.hq", "procedures limit 3")
js("hqPage.set({view: 'procedures'})")
first = driver.find_element("css selector", "#row-0 .cell.number")
check(all(part in table.splitlines()[2] for part in (first.find_element("css selector", ".value").text, first.find_element("css selector", ".share").text)),
      f"digits as in a terminal: {first.text}, {table}")
js("hqPage.set({view: 'tree'})")
body.send_keys(Keys.ARROW_DOWN)
grid = driver.switch_to.active_element
check(grid.get_attribute("role") == "treegrid", "an arrow leads to the table")
grid.send_keys(Keys.HOME)
check(grid.get_attribute("aria-activedescendant") == "row-0", "Home is the first row")
active = lambda: driver.find_element("id", driver.find_element("css selector", ".table").get_attribute("aria-activedescendant"))
check(active().get_attribute("aria-level") == "1" and active().get_attribute("aria-expanded") == "true", "which tells its level and that it is open")
grid.send_keys(Keys.ARROW_LEFT)
check(active().get_attribute("aria-expanded") == "false" and len(driver.find_elements("css selector", ".body .row")) < len(rows), "Left closes it")
grid.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
check(active().get_attribute("aria-level") == "2" and active().get_attribute("aria-posinset") == "1", "Right opens it and leads to its first row")
grid.send_keys("h")
path = hq("--quiet", "app.hq", "hot path as json")
check(active().find_element("css selector", ".name").text == json.loads(path)["rows"][-1]["name"], f"h is the hot path: {active().text}")
grid.send_keys("f")
check("of @" in js("hqPage.query()"), f"f makes the row the root: {js('hqPage.query()')}")
driver.back()
wait(lambda: "of @" not in js("hqPage.query()"), "Back to take it back")
for column in ("cputime.x", "cputime"):
    grid.send_keys("s")
    check(js("hqPage.query()").endswith(f"sort by {column} desc"), f"s sorts by the next column: {js('hqPage.query()')}")
js("hqPage.set({sort: ''})")
body.send_keys("/")
check(driver.switch_to.active_element.get_attribute("type") == "search", "/ leads to the search")
driver.switch_to.active_element.send_keys("wait", Keys.ENTER)
wait(lambda: "1 of" in driver.find_element("css selector", ".found").text, "what was found to be told")
check(active().find_element("css selector", ".name").text == "PMPI_Wait", f"Enter leads to the costliest: {active().text}")
js("new Promise((done) => setTimeout(done, 100)).then(() => hqPage.set({pane: 'ranks'}))")
check("1 of" in driver.find_element("css selector", ".found").text, f"which of them it is stays known: {driver.find_element('css selector', '.found').text}")
driver.switch_to.active_element.send_keys(Keys.ESCAPE)
driver.switch_to.active_element.send_keys("c")
check(js("hqPage.state().view") == "callers" and active().find_element("css selector", ".name").text == "PMPI_Wait", "c shows its callers")
for number, view in enumerate(VIEWS, 1):
    driver.switch_to.active_element.send_keys(str(number))
    check(js("hqPage.state().view") == view, f"{number} is {view}")
for tab in driver.find_elements("css selector", "[data-pane]"):
    tab.click()
    check(tab.get_attribute("aria-selected") == "true" and driver.find_element("css selector", ".panebox").text is not None, f"{tab.text} shows")
check("PMPI_Wait" in hq("--quiet", "app.hq", js("hqPage.set({view: 'tree'}), hqPage.query()")), "the query is one of hq's")
link = driver.current_url
js("hqPage.set({view: 'flat', ranks: '1'})")
link = driver.current_url
driver.get("about:blank")
driver.get(link)
wait(lambda: js("!!window.hqPage"), "a link to open")
driver.execute_script(ASKED)
check(js("hqPage.query()") == "flat ranks 1 columns cputime, cputime.x", "a link leads to the same state")
for damaged in ("view=nonsense&pane=9&metric=77&zoom=c99999&time=9-1&ranks=x&selected=1.2.3/4&level=-3", "%%%&&==", "zoom=s-1&sort=nonsense"):
    open_page("app.html", damaged)
    check(len(page_rows()[1]) > 0, f"a damaged link shows the whole: {damaged}")

# Roles and names, and that nothing lies over or outside of anything.
unnamed = js("""[...document.querySelectorAll('button,select,input,canvas,[role=tab]')].filter((e) =>
    !(e.getAttribute('aria-label') || e.textContent.trim() || e.title || e.closest('label'))).map((e) => e.outerHTML)""")
check(not unnamed, f"everything that can be used has a name: {unnamed}")
check(not js("""[...document.querySelectorAll('[role=row]')].filter((e) => ![...e.children].every((c) => ['gridcell', 'columnheader'].includes(c.getAttribute('role')))).length"""),
      "rows hold cells")
for width, height in ((1280, 800), (800, 600), (390, 844)):
    size(width, height)
    for pane in PANES:
        js("hqPage.set({pane: arguments[0]})", pane)
        boxes = js("""['header', '.state', '.left .tabs', '.table', '.right .tabs', '.panebox'].map((s) => {
            const r = document.querySelector(s).getBoundingClientRect(); return [s, r.left, r.top, r.right, r.bottom]; })""")
        outside = [b for b in boxes if b[1] < -1 or b[2] < -1 or b[3] > width + 1 or b[4] > height + 1 or b[3] - b[1] < 100 or b[4] - b[2] < 18]
        check(not outside, f"{width} x {height}, {pane}: {outside} lies outside or is too small")
        over = [(a[0], b[0]) for i, a in enumerate(boxes) for b in boxes[i + 1:]
                if min(a[3], b[3]) - max(a[1], b[1]) > 1 and min(a[4], b[4]) - max(a[2], b[2]) > 1]
        check(not over, f"{width} x {height}, {pane}: {over} lie over each other")
        check(js("document.documentElement.scrollWidth") <= width, f"{width} x {height}, {pane}: nothing hangs out")
    # A number that has lost a digit at its column's edge looks like another one.
    for state in ({"all": True}, {"view": "procedures", "columns": "0 - cputime.x / 7\npapi_tot_ins * 1234567\ncputime / (papi_fp_ops * 1000000)"}):
        js("hqPage.set(arguments[0])", state)
        cut = js("""[...document.querySelectorAll('.body .cell.number')].filter((c) => {
            const [a, v, s] = [c, c.children[0], c.children[1]].map((e) => e.getBoundingClientRect());
            return c.children[0].textContent && v.width && (v.left < a.left || v.right > s.left + 1 || s.right > a.right + 1); }).map((c) => c.textContent)""")
        check(not cut, f"{width} x {height}, {state}: {cut} are cut")
    js("hqPage.set(arguments[0])", {"all": False, "view": "tree", "columns": ""})
size(1280, 800)

# ---- the mouse ----

def drag(element, x, y, to_x, to_y):
    """From and to in shares of the element."""
    w, h = element.size["width"], element.size["height"]
    webdriver.ActionChains(driver).move_to_element_with_offset(element, int((x - 0.5) * w), int((y - 0.5) * h)).click_and_hold() \
        .move_to_element_with_offset(element, int((to_x - 0.5) * w), int((to_y - 0.5) * h)).release().perform()


open_page("real.html", "pane=trace&rounds=0")
canvas = driver.find_element("css selector", ".trace canvas")
drag(canvas, 0.4, 0.05, 0.6, 0.05)
check(js("hqPage.state().time") and "during" in js("hqPage.query()"), f"a drag on the trace chooses a time: {js('hqPage.query()')}")
same("real.hq", "a time chosen with the mouse")
canvas.send_keys("x")
check(not js("hqPage.state().time"), "x takes it back")


def finger(kind, *points):
    driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})


# A finger drags as the mouse does, along the time.
driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
at = js("(() => { const r = document.querySelector('.trace canvas').getBoundingClientRect(); return [r.left, r.top + 10, r.width]; })()")
finger("touchStart", (at[0] + 0.4 * at[2], at[1]))
for share in (0.45, 0.5, 0.55, 0.6):
    finger("touchMove", (at[0] + share * at[2], at[1]))
finger("touchEnd")
check(wait(lambda: js("hqPage.state().time"), "a time chosen with a finger"), f"a finger chooses a time: {js('hqPage.query()')}")
driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
# Enlarged twice or more the page scrolls, and both sides keep room.
size(640, 400)
open_page("real.html")
check(all(h >= 150 for h in js("['.table', '.panebox .scroll'].map((s) => document.querySelector(s).clientHeight)")), "an enlarged page leaves room for its table and picture")
check(js("document.documentElement.scrollWidth") <= 640, "and hangs out at no side")
size(1280, 800)
open_page("app.html", "pane=ranks")
drag(driver.find_element("css selector", ".ranks canvas"), 0.65, 0.5, 0.95, 0.5)
check("ranks 2-3" in js("hqPage.query()"), f"a drag on the plot chooses ranks: {js('hqPage.query()')}")
same("app.hq", "ranks chosen with the mouse")
driver.find_element("css selector", ".chip").click()
check(js("hqPage.query()") == "tree columns cputime, cputime.x", "a click on what is chosen takes it back")
js("hqPage.set({pane: 'flame'})")
canvas = driver.find_element("css selector", ".flame canvas")
webdriver.ActionChains(driver).move_to_element_with_offset(canvas, 30 - canvas.size["width"] // 2, 28 - canvas.size["height"] // 2).click().perform()
check(active().find_element("css selector", ".name").text == "main", f"a click on a box of the flame graph selects its row: {active().text}")
webdriver.ActionChains(driver).double_click().perform()
check("of @" in js("hqPage.query()"), "a double click makes it the root")

open_page("paper.html", "view=callers")
js("document.querySelectorAll('.body .row')[0].click()")
driver.find_element("xpath", "//bdi[text()='h']").click()
levels = sorted((b["level"], b["name"], b["value"]) for b in js("hqPage.boxes()"))
check((0, "h", 4) in levels and (-1, "g", 4) in levels and levels[-1][0] > 0, f"of a procedure its callers stand above and what it calls below: {levels}")

# The flame graph in svg: 9 of the 10 cycles are in g, whatever calls it (the worked example of the paper).
hq("paper.hq", 'tree as svg to "flame.svg"')
driver.get(f"file://{TMP}/flame.svg")
boxes = driver.find_elements("css selector", "g.b rect")
boxes[1].click()
check(abs(float(boxes[1].get_attribute("width")) - 1199.5) < 0.01, f"a click makes a box as wide as the picture: {boxes[1].get_attribute('width')}")
webdriver.ActionChains(driver).send_keys(Keys.ESCAPE).perform()
check(abs(float(boxes[1].get_attribute("width")) - 839.5) < 0.01, "Escape leads back")
driver.find_element("css selector", "#told").click()
driver.switch_to.alert.send_keys("g")
driver.switch_to.alert.accept()
check(", 90.0 %: g" in driver.find_element("css selector", "#told").text, f"the share of what is found: {driver.find_element('css selector', '#told').text}")

# The callers of a loop are those of what holds it; nothing breaks on a choice that no profile is of; an event that never came is not what the page begins with.
open_page("app.html", "view=loops")
driver.find_element("css selector", ".body .row .name").click()
driver.find_element("css selector", ".table").send_keys("c")
check(js("hqPage.state().view") == "callers" and active().find_element("css selector", ".name").text == "solve", f"c on a loop of solve shows its callers: {active().text}")
for mode in ("profiles", "depth", "summary"):
    open_page("real.html", f"pane=trace&ranks=7&mode={mode}")
open_page("app.html")
driver.find_element("css selector", "body").send_keys("5sh")
costliest = json.loads(hq("--quiet", "app.hq", "loops sort by cputime.x limit 1 as json"))["rows"][0]["name"]
check(active().find_element("css selector", ".name").text == costliest, f"5 s h is the loop that costs most itself, {costliest}: {active().text}")
fixture("unused")
hq("report", "unused.hq")
open_page("unused.html")
check("columns cputime, cputime.x" in js("hqPage.query()"), f"the page begins with a metric that has a value: {js('hqPage.query()')}")
same("unused.hq", "a metric that has a value")

# ---- names are data ----

HOSTILE = ["</script><script>window.broken=1</script>", "<img src=x onerror=window.broken=1>", "a&amp;b<b>", "x\u202eabc\u2066d", "\u0007bell\u001b[31m", "\u05d0\u05d1\u05d2",
           "`${window.broken=1}`", "javascript:alert(1)", "=cmd()|'x'!A1", "-->", "]]>", "\u2028line", "\ufffe\uffff", "quote'\"\\", "\\"]
text = "metric CPUTIME seconds 0.001 10 sampled traced\ninfo command \"</script><b>\"\nmodule m \"/x/</title><i>.so\"\nfile f m \"/src/</style>.c\"\nproc main f main 1\n"
text += "profile p rank=0 host=\"<b>host</b>\" pid=1 tid=1 command=\"/bin/<i>\" end=1000000\n"
for i, name in enumerate(HOSTILE):
    text += "proc h%d f \"%s\" %d\n" % (i, name.replace("\\", "\\\\").replace('"', '\\"'), 10 + i)
    text += f"value p CPUTIME {10 * (i + 1)} {i + 1} main:2 > h{i}:{10 + i}\n" + f"trace p {1000 * (i + 1)} CPUTIME 1 main:2 > h{i}:{10 + i}\n"
with open(f"{TMP}/hostile.fixture", "w") as f:
    f.write(text)
subprocess.run([f"{TOP}/{BUILD}/tools/fixture", f"{TMP}/hostile.fixture", f"{TMP}/hostile.hq"], check=True)
hq("hostile.hq", 'tree as svg to "hostile.svg"')
driver.get(f"file://{TMP}/hostile.svg")
driver.find_elements("css selector", "g.b rect")[0].click()
check(js("window.broken") is None and len(driver.find_elements("css selector", "g.b")) == len(HOSTILE) + 1, "nor in svg")
hq("report", "hostile.hq", "procedures", "trace")
open_page("hostile.html")
for view in VIEWS:
    for pane in PANES:
        js("hqPage.set(arguments[0])", {"view": view, "pane": pane})
        names = driver.find_elements("css selector", ".body .name")
        if names:
            names[-1].click()
    if view != "loops":
        same("hostile.hq", f"hostile names, {view}")
check(js("window.broken") is None, "no name becomes a program")
check(not js("document.querySelectorAll('.left img, .left b, .left i, .right b, h1 b, .source i').length"), "no name becomes markup")
visible = js("document.body.innerText")
check(not any(c in visible for c in "\u202e\u2066\u001b\u0007\u2028"), "nothing turns or controls the text")
# A name of 10,000 letters leaves room for numbers beside it.
text += "proc long f \"%s\" 99\nvalue p CPUTIME 1000 100 main:2 > long:99\n" % ("L" * 10000)
with open(f"{TMP}/letters.fixture", "w") as f:
    f.write(text)
subprocess.run([f"{TOP}/{BUILD}/tools/fixture", f"{TMP}/letters.fixture", f"{TMP}/letters.hq"], check=True)
hq("report", "letters.hq", "procedures")
for width, height in ((390, 844), (1280, 800)):
    size(width, height)
    open_page("letters.html", "pane=answers")
    edges = js("((b, n) => [b.width, n.left - b.left])(...['.answers .scroll', '.answers tbody th'].map((s) => document.querySelector(s).getBoundingClientRect()))")
    check(edges[1] > edges[0] / 4, f"numbers of an answer are in sight beside long names at {width}: {edges}")
open_page("hostile.html")
js("hqPage.set({view: 'procedures'})")
check("</script>" in js("document.querySelector('.table').innerText"), "they are shown as they are")

# ---- too much for the budget, nothing at all ----

hq("report", "real.hq", "--budget", "30KB", "-o", "thin.html")
open_page("thin.html")
kept = js("hqPage.data.kept")
check(kept["every"] != 1 or os.path.getsize(f"{TMP}/thin.html") <= 300000, f"a budget thins the traces: {kept}")
for view in ("tree", "procedures"):
    js("hqPage.set({view: arguments[0], rounds: false})", view)
    same("real.hq", f"what is not cut stays exact, {view}")
js("hqPage.set({pane: 'about'})")
check("left out" in driver.find_element("css selector", ".about").text or "one record in" in driver.find_element("css selector", ".about").text,
      "the page says what was cut")
subprocess.run([f"{TOP}/{BUILD}/tools/long_traces", "64", "2000", f"{TMP}/long.hq"], check=True)
hq("report", "long.hq", "--budget", "250KB")
open_page("long.html", "time=2000000-5000000&view=procedures")
every = js("hqPage.data.kept.every")
check(every > 1 and os.path.getsize(f"{TMP}/long.html") <= 250000, f"one record in {every} is kept, within the budget")
check("\u2248" in driver.find_element("css selector", ".body .value").text, "a number of a slice of thinned traces is marked")
expected = {path: values for path, values in answer("long.hq", js("hqPage.query()"))[1]}
period = js("hqPage.data.metrics[0].period * hqPage.data.metrics[0].scale")
# 4.5 standard deviations of what was kept: 1 of 100,000 rows by chance.
far = [(p, v, expected[p]) for p, v in page_rows()[1] if abs(v[0] - expected[p][0]) > 4.5 * every * period * (expected[p][0] / period / every + 1) ** 0.5]
check(not far and expected, f"and within its error: {far[:3]}")
js("hqPage.set({time: ''})")
same("long.hq", "the whole of thinned traces is exact")
with open(f"{TMP}/empty.fixture", "w") as f:
    f.write("metric CPUTIME seconds 0.001 10 sampled\nprofile p pid=1 tid=1 end=1\n")
subprocess.run([f"{TOP}/{BUILD}/tools/fixture", f"{TMP}/empty.fixture", f"{TMP}/empty.hq"], check=True)
hq("report", "empty.hq")
open_page("empty.html")
for pane in PANES:
    js("hqPage.set({pane: arguments[0]})", pane)
check("nothing was measured" in driver.find_element("css selector", ".table").text, "an empty database says so")
with open(f"{TMP}/bare.fixture", "w") as f:
    f.write("module m /x/a\nprofile p pid=1 tid=1 end=1\n")
subprocess.run([f"{TOP}/{BUILD}/tools/fixture", f"{TMP}/bare.fixture", f"{TMP}/bare.hq"], check=True)
hq("report", "bare.hq")
open_page("bare.html", "pane=ranks")
driver.find_element("css selector", "body").send_keys("1h5s/x\n")
check(js("hqPage.state().pane") == "about" and "no metric has a value" in driver.find_element("css selector", ".panebox").text, "a database without a metric tells what ran")
with open(f"{TMP}/forty.fixture", "w") as f:
    f.write("".join(f"metric M{i} events 1 10 sampled\n" for i in range(40)) + "module m /x/a\nfile f m /s/a.c\nproc main f main 1\nprofile p tid=1 thread=0\n" +
            "".join(f"value p M{i} {100 + i} 10 main:{i + 1}\n" for i in range(40)))
subprocess.run([f"{TOP}/{BUILD}/tools/fixture", f"{TMP}/forty.fixture", f"{TMP}/forty.hq"], check=True)
hq("report", "forty.hq")
for width in (1280, 390):
    size(width, 800)
    open_page("forty.html", "all=1")
    for far in (0, 1000000):
        js("void (document.querySelector('.table').scrollLeft = arguments[0])", far)
        edge = js("(() => { const t = document.querySelector('.table').getBoundingClientRect(), n = document.querySelector('.body .name').getBoundingClientRect(); return [t.left, n.left, n.right, t.right]; })()")
        check(edge == sorted(edge), f"{width} pixels: the name of a row stays in sight beside 80 columns: {edge}")
same("forty.hq", "forty metrics")
size(1280, 800)
errors = [e["message"] for e in driver.get_log("browser") if e["level"] == "SEVERE"]
check(not errors, f"the page complains: {errors}")

# ---- what other tools wrote ----

with open(f"{TMP}/other.folded", "w") as f:
    f.write("main;foo;bar 10\nmain;foo 5\nmain;baz<b> 3\n")
hq("report", "other.folded", "-o", "other.html")
open_page("other.html")
for view in ("tree", "callers", "flat", "procedures", "modules"):
    js("hqPage.set({view: arguments[0]})", view)
    if answer("other.folded", js("hqPage.query()"))[1]:
        same("other.folded", f"imported, {view}")

# ---- the command ----

program = os.path.getsize(f"{TOP}/{BUILD}/page/page.js") + os.path.getsize(f"{TOP}/{BUILD}/page/page.css")
check(program <= 120000, f"the program has at most 120 kB: {program}")
check(not any(word in open(f"{TMP}/app.html").read().replace("http-equiv", "") for word in ("http:", "https:", "src=")), "the page fetches nothing")
with open(f"{TMP}/mine.html", "w") as f:
    f.write("my own page")
hq("report", "app.hq", "-o", "mine.html", status=2)
check(open(f"{TMP}/mine.html").read() == "my own page", "a file of another kind is not replaced")
hq("report", "app.hq", "-o", "mine.html", "--force")
hq("report", "nowhere.hq", status=3)
hq("report", status=2)
hq("report", "app.hq", "--budget", "much", status=2)
hq("report", "app.hq", "set inline off", "-o", "other.html")
open_page("other.html")
check(js("hqPage.query()") == "set inline off; tree columns cputime, cputime.x", f"the settings of the page are told: {js('hqPage.query()')}")
same("app.hq", "with a setting")

# Pictures for README.md, of what `make demo` has left: HQ_UPDATE=1 tests/run ... tests/e2e/page.py
if os.environ.get("HQ_UPDATE") and os.path.exists(f"{TOP}/demo.html"):
    for picture, pane in (("page", "flame"), ("page-ranks", "ranks"), ("page-trace", "trace&level=4")):
        driver.get("about:blank")
        driver.get(f"file://{TOP}/demo.html#pane={pane}")
        wait(lambda: js("!!window.hqPage"), "the demo's page to open")
        size(1280, 640)
        driver.find_element("xpath", "//bdi[text()='react']").click()
        driver.save_screenshot(f"{TOP}/doc/{picture}.png")

driver.quit()
finish()
