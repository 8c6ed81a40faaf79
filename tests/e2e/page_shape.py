#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""On the page of `hq report`: scopes hidden and pruned, views flattened, and the threshold of the hot path, against what hq prints."""
import json
import os
import subprocess

from counting import seconds
from page_browser import BUILD, HQ, Keys, TMP, TOP, answer, check, driver, finish, fixture, hq, js, open_page, page_rows, same, size


def pattern_of(name):
    return js("""(() => { const d = hqPage.data; for (let c = 1; c < d.contexts; c++)
        if (d.texts[d.scopeShown[d.scope[c]]] === arguments[0] && d.kind[c] !== 5) return "@" + d.id(c); })()""", name)


size(1280, 800)
for name in ("app", "recursion", "linkage", "old", "swapped", "swapped_old"):
    fixture(name)
    hq("report", f"{name}.hq")
open_page("app.html")
loop = js("hqPage.data.texts[hqPage.data.scopeShown[hqPage.data.scope[hqPage.data.kind.indexOf(4)]]]")
js("hqPage.set({all: true})")
for state in ({"hide": '"solve"'}, {"prune": '"solve"'}, {"hide": "/^(P|w)/"}, {"prune": "/o/"}, {"hide": "/c:|::/"}, {"prune": "/WAIT/i"}, {"hide": '"main"\n"axpy"'}, {"hide": '"axpy"', "prune": '"PMPI_Wait"'},
              {"hide": pattern_of("solve")}, {"prune": pattern_of("solve")}, {"hide": f'"{loop}"'}, {"hide": "/loop at/"}, {"prune": pattern_of(loop)}):
    for view in ("tree", "callers", "flat", "procedures", "loops", "lines"):
        for lines in (False, True) if view == "tree" else (False,):
            js("hqPage.set(arguments[0])", {"hide": "", "prune": "", "view": view, "lines": lines, **state})
            if answer("app.hq", js("hqPage.query()"))[1]:
                same("app.hq", f"{state}, {view}")
            else:
                check(not page_rows()[1], f"{state}, {view}: hq has no rows")
js("hqPage.set({hide: 'solve', prune: '', view: 'tree', ranks: '1-2'})")
same("app.hq", "hidden, of some ranks")
js("hqPage.set({hide: 'nonsense', ranks: ''})")
check("nothing on the page is called nonsense" in driver.find_element("css selector", ".state").text, "a pattern of nothing is told")
js("hqPage.set({hide: ''})")
for depth in (1, 2, 3, 9):
    for view in ("tree", "flat", "callers"):
        js("hqPage.set(arguments[0])", {"view": view, "flatten": depth})
        same("app.hq", f"flattened {depth} times, {view}")
js("hqPage.set({view: 'flat', flatten: 1, where: 'cputime.x > 5%'})")
same("app.hq", "flattened and filtered")
for name, hidden in (("recursion", None), ("linkage", None)):
    open_page(f"{name}.html")
    names = js("[...new Set([...hqPage.data.scopeName].filter((_, s) => hqPage.data.scopeKind[s] === 2 && hqPage.data.instances(s).length).map((t) => hqPage.data.texts[t]))]")
    for hidden in names[:4]:
        for how in ("hide", "prune"):
            js("hqPage.set(arguments[0])", {"hide": "", "prune": "", "rounds": False, "view": "tree", how: json.dumps(hidden)})
            if answer(f"{name}.hq", js("hqPage.query()"))[1]:
                same(f"{name}.hq", f"{name}, {how} {hidden}")

# The name of a member without its class means the members of all classes: hq knows them, the page refuses. Regular expressions meet it.
with open(f"{TMP}/members.txt", "w") as f:
    f.write("metric CPUTIME seconds 0.001 10 sampled\nmodule app /opt/app\nfile a app /src/a.cc\nproc main a main 1\nproc one a A::run() 10 run other\nproc two a B::run() 20\n"
            "profile p tid=1 end=1000000\nvalue p CPUTIME 100 10 main:2 > one:11\nvalue p CPUTIME 300 30 main:3 > two:21\n")
subprocess.run([f"{TOP}/{BUILD}/tools/fixture", f"{TMP}/members.txt", f"{TMP}/members.hq"], check=True)
hq("report", "members.hq")
open_page("members.html")
for through, told in (("run", True), ("other", False), ("/^run$/", False), ("/^ru/", False)):
    js("hqPage.set({through: arguments[0]})", through)
    check(("nothing on the page" in driver.find_element("css selector", ".state").text) == told, f"through {through} is refused: {told}")
    if not told:
        check(len(same("members.hq", f"through {through}")) == 2, f"through {through} is one of them")

# By hand: keys, chips, Back, and the threshold.
open_page("app.html")
grid = driver.find_element("css selector", ".table")
active = lambda: driver.find_element("id", grid.get_attribute("aria-activedescendant"))
for threshold in (10, 50, 90):
    js("hqPage.set({threshold: arguments[0], selected: ''})", threshold)
    grid.send_keys("7", "1", "h")
    path = json.loads(hq("--quiet", "app.hq", f"hot path threshold {threshold}% as json"))["rows"]
    check(active().find_element("css selector", ".name").text == path[-1]["name"], f"the hot path at {threshold} %: {active().text}, {path[-1]}")
for here, old in (("app", "old"), ("old", "app"), ("swapped", "swapped_old"), ("swapped_old", "swapped")):
    hq("report", f"{here}.hq", "--compare", f"{old}.hq", "-o", "changed.html")
    for threshold in (10, 50, 90):
        open_page("changed.html", f"threshold={threshold}")
        grid = driver.find_element("css selector", ".table")
        grid.send_keys("h")
        path = json.loads(hq("--quiet", f"{here}.hq", f"hot path threshold {threshold}% compare with '{old}.hq' as json"))["rows"]
        end = js("document.querySelector('.body .name').textContent") if path[-1]["kind"] == "root" else path[-1]["name"]  # the program is no row
        check(active().find_element("css selector", ".name").text == end, f"the path of the change of {here} at {threshold} %: {active().text}, {path[-1]}")
open_page("app.html")
grid = driver.find_element("css selector", ".table")
driver.find_element("xpath", "//bdi[text()='solve']").click()
grid.send_keys("d")
check('hide "solve"' in js("hqPage.query()") and not driver.find_elements("xpath", "//section[@class='left']//bdi[text()='solve']"), f"d hides: {js('hqPage.query()')}")
same("app.hq", "hidden by a key")
driver.back()
check("hide" not in js("hqPage.query()"), "Back takes it back")
driver.find_element("xpath", "//bdi[text()='solve']").click()
driver.find_element("xpath", "//button[text()='prune']").click()
check('prune "solve"' in js("hqPage.query()"), f"a button prunes: {js('hqPage.query()')}")
same("app.hq", "pruned by a button")
for pane in js("[...document.querySelectorAll('[data-pane]')].map((e) => e.dataset.pane)"):
    js("hqPage.set({pane: arguments[0]})", pane)
driver.find_element("css selector", ".chip").click()
check("prune" not in js("hqPage.query()"), "a click on it takes it back")

# A recording: slices of time, and what is not of this run.
hq("record", "-o", "real.hq", "--", f"{os.environ['PROGRAMS']}/parallel")
hq("report", "real.hq")
open_page("real.html")
length = js("hqPage.data.length")
name = js("hqPage.data.texts[hqPage.data.scopeName[hqPage.data.scope[2]]]")
js("hqPage.set(arguments[0])", {"time": f"{length // 4}-{length // 2}", "hide": json.dumps(name), "rounds": False})
same("real.hq", f"a slice of time without {name}")

# What devices did: rows of a kind of their own, which begin with a call.
gpu = f"{os.environ['PROGRAMS']}/opencl_known"
os.environ.update(POCL_CACHE_DIR=f"{TMP}/kernels", OCL_ICD_VENDORS="/etc/OpenCL/vendors")
if os.path.exists(gpu) and subprocess.run([HQ, "record", "-e", "GPU", "-e", "CPUTIME", "-o", "gpu.hq", "--", gpu, "times", "kinds"], cwd=TMP, capture_output=True, timeout=seconds(120)).returncode == 0:
    hq("report", "gpu.hq")
    open_page("gpu.html")
    for view in ("tree", "callers", "flat", "procedures", "modules"):
        js("hqPage.set(arguments[0])", {"view": view, "all": True, "rounds": False, "where": "gpu_commands > 0"})
        rows = same("gpu.hq", f"devices, {view}")
        check(view in ("flat", "modules") or any("[copy to device]" in path for path, _ in rows), f"devices, {view}: {rows[:3]}")

hq("report", "app.hq", "--compare", "app.hq", "-o", "both.html")
open_page("both.html", "hide=main")
check("hide" not in js("hqPage.query()"), "of a comparison nothing is hidden")
errors = [e["message"] for e in driver.get_log("browser") if e["level"] == "SEVERE"]
check(not errors, f"the page complains: {errors}")

# `c` brings the procedure to the upper edge: its callers below it are in sight.
with open(f"{TMP}/long.fixture", "w") as f:
    f.write("metric CPUTIME seconds 0.001 1 sampled\nmodule m /x/m\nfile f m /x/f.c\nproc main f main 1\nprofile p tid=1 thread=0\n")
    f.write("".join(f"proc p{i} f p{i} {i + 2}\nvalue p CPUTIME {400 - i} {400 - i} main:1 > p{i}:{i + 2}\n" for i in range(200)))
subprocess.run([f"{TOP}/{BUILD}/tools/fixture", f"{TMP}/long.fixture", f"{TMP}/long.hq"], check=True)
hq("report", "long.hq")
open_page("long.html", "view=procedures")
driver.find_element("css selector", ".body .row").click()
driver.switch_to.active_element.send_keys(Keys.ARROW_DOWN * 90 + "c")
seen = js("[...document.querySelectorAll('.body .row')].map((r) => [r.getBoundingClientRect().bottom, r.querySelector('.name').textContent, r.getAttribute('aria-selected')])")
at = [s[2] for s in seen].index("true")
check(seen[at][1] == "p89" and seen[at + 1][1] == "main" and seen[at + 1][0] < 400, f"callers are in sight: {seen[at:at + 2]}")

driver.quit()
finish()
