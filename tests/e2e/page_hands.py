#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a hand does on the page of `hq report`: a drag shows what it goes over and ends wherever it is let go, another view keeps what is selected, and a
column has the name that it was given.
"""
import subprocess

from page_browser import BUILD, TMP, TOP, check, driver, finish, fixture, hq, js, open_page, page_rows, same, size, wait, webdriver

# Four ranks take turns of two procedures, a sample each 10 ms.
lines = ["metric CPUTIME seconds 1e-9 10000000 sampled traced", "module m /x/m", "file f m /x/f.c", "proc main f main 1", "proc work f work 5", "proc rest f rest 9"]
for rank in range(4):
    lines.append(f"profile p{rank} rank={rank} host=n pid={rank + 1} start=0 end=1000000")
    path = [f"main:{2 + i % 2} > {('work', 'rest')[i % 2]}:{6 + 4 * (i % 2)}" for i in range(100 - 10 * rank)]
    lines += [f"trace p{rank} {(i + 1) * 10000} CPUTIME 1 {way}" for i, way in enumerate(path)]
    lines += [f"value p{rank} CPUTIME {path.count(way) * 10 ** 7} {path.count(way)} {way}" for way in sorted(set(path))]
with open(f"{TMP}/turns.fixture", "w") as f:
    f.write("\n".join(lines) + "\n")
subprocess.run([f"{TOP}/{BUILD}/tools/fixture", f"{TMP}/turns.fixture", f"{TMP}/turns.hq"], check=True)
for name in ("app", "messages"):
    fixture(name)
for name in ("app", "turns", "messages"):
    hq("report", f"{name}.hq")
size(1280, 800)

# ---- drags ----

BRUSH = """(() => { const [b, c] = ['.brush', 'canvas'].map((s) => document.querySelector('.panebox ' + s)?.getBoundingClientRect());
    return b && b.width ? [b.left - c.left, b.top - c.top, b.width, b.height].map((x) => Math.round(x)).concat(Math.round(c.width), Math.round(c.height)) : null; })()"""


def mouse(kind, x, y, held=1):
    """By pixels of the canvas. Not by webdriver's actions, which let go of a captured pointer between two of them."""
    at = js("(() => { const r = document.querySelector('.panebox canvas').getBoundingClientRect(); return [r.left, r.top]; })()")
    driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": f"mouse{kind}", "x": at[0] + x, "y": at[1] + y, "button": "left" if held else "none", "buttons": 1 if held and kind != "Released" else 0, "clickCount": 1})


def pressed(x, y, to_x, to_y):
    """The mouse is pressed and moved, and stays down: what is marked then."""
    mouse("Pressed", x, y)
    mouse("Moved", to_x, to_y)
    return js(BRUSH)


for name, pane, choice in (("turns", "trace", "time"), ("turns", "ranks", "ranks"), ("messages", "messages", "ranks")):
    open_page(f"{name}.html", f"pane={pane}")
    width = js("document.querySelector('.panebox canvas').clientWidth")
    there = pressed(width // 2, 30, width // 2 + 40, 30 + (0 if pane == "trace" else 40))
    check(there and abs(there[2] - 40) <= 2 and there[0] + there[2] <= there[4] and there[1] + there[3] <= there[5], f"{pane}: what a drag goes over is seen: {there}")
    # Over the table, left of the picture: the choice ends at the picture's edge, and nothing is chosen any more where the mouse only moves.
    mouse("Moved", -300, 35)
    beside = js(BRUSH)
    mouse("Released", -300, 35)
    check(beside and beside[0] >= 0 and beside[2] > 100, f"{pane}: beside the picture the mark ends at its edge: {beside}")
    check(js(f"hqPage.state().{choice}"), f"{pane}: a drag that ends beside the picture chooses: {js('hqPage.query()')}")
    check(not js(BRUSH), f"{pane}: then nothing is marked: {js(BRUSH)}")
    same(f"{name}.hq", f"{pane}, a drag that ends beside it")
    js("hqPage.set({time: '', ranks: ''})")
    pressed(width // 2, 30, width // 2 + 1, 30)
    mouse("Released", width // 2 + 1, 30)
    mouse("Moved", width // 2 + 9, 40, 0)
    check(not js(BRUSH), f"{pane}: a mouse that is not pressed marks nothing: {js(BRUSH)}")

# Over several rows of the trace a drag chooses their ranks: these are what is marked, no others.
open_page("turns.html", "pane=trace")
high = js("[...document.querySelectorAll('.trace canvas')].map((c) => c.clientHeight)[0]")
one = pressed(200, 10, 260, 10)
mouse("Released", 260, 10)
js("hqPage.set({time: '', ranks: ''})")
two = pressed(200, 10, 260, 10 + (high - 26) // 4)
mouse("Released", 260, 10 + (high - 26) // 4)
check(one and one[3] >= high - 30 and two and two[3] <= 0.6 * one[3], f"along one row all ranks are marked, over two these: {one}, {two} of {high}")
check(js("hqPage.state().ranks") == "0-1", f"and they are chosen: {js('hqPage.query()')}")

# ---- selection ----

open_page("app.html")
js("hqPage.set({view: 'procedures'})")
picked = driver.find_elements("css selector", ".body .row")[2]
picked.click()
called = js("document.querySelector('.row.active .name').textContent")
for key, view in (("1", "tree"), ("2", "callers"), ("4", "procedures")):
    driver.find_element("css selector", ".table").send_keys(key)
    check(js("hqPage.state().view") == view and js("document.querySelector('.row.active .name')?.textContent") == called, f"{called} is selected in {view}, too: {js('document.querySelector(`.row.active`)?.textContent')}")

# ---- columns with a name ----

js("hqPage.set({view: 'procedures', selected: '', columns: 'share = cputime / @cputime\\nline = 1 - 1'})")
rows = same("app.hq", "columns with names")
check(page_rows()[0][-2:] == ["share", "line"] and {v[-1] for _, v in rows} == {0}, f"a column has the name that it is given: {page_rows()[0]}, {rows[:2]}")
js("hqPage.set({columns: 'line == 1'})")
check("line == 1" in page_rows()[0], "where two signs compare, one names")
js("hqPage.set({columns: 'share = cputime / @cputime', sort: 'cputime / @cputime'})")
same("app.hq", "sorted by a column with a name")

# ---- hover ----

js("hqPage.set({view: 'tree', columns: '', sort: '', pane: 'flame'})")
canvas = driver.find_element("css selector", ".flame canvas")
webdriver.ActionChains(driver).move_to_element_with_offset(canvas, 30 - canvas.size["width"] // 2, 28 - canvas.size["height"] // 2).perform()
told = js("document.querySelector('.tip').textContent")
check("in itself" in told, f"a box tells what it costs itself: {told}")

# Where a deep row is beside many columns, those that stay in sight are whole: 450 ms without its first digit is another number.
for name, times in (("deep", 7), ("before", 5)):
    way = " > ".join(f"p{i}:{i + 2}" for i in range(40))
    with open(f"{TMP}/{name}.fixture", "w") as f:
        f.write("metric CPUTIME seconds 0.001 1 sampled\nmodule m /x/m\nfile f m /x/f.c\n" + "".join(f"proc p{i} f p{i} {i + 1}\n" for i in range(40)) + f"profile p tid=1\nvalue p CPUTIME {times * 111} {times * 111} {way}\n")
    subprocess.run([f"{TOP}/{BUILD}/tools/fixture", f"{TMP}/{name}.fixture", f"{TMP}/{name}.hq"], check=True)
hq("report", "deep.hq", "--compare", "before.hq")
for width in (1280, 1040, 1400):
    size(width, 800)
    open_page("deep.html")
    driver.find_element("css selector", ".table").send_keys("h")
    cut = js("""(() => { const left = document.querySelector('.table').getBoundingClientRect().left;
        return [...document.querySelectorAll('.body .value')].map((v) => [v.getBoundingClientRect(), v.textContent]).filter(([r]) => r.left < left - 1 && r.right > left + 1).map(([, text]) => text); })()""")
    seen = js("(() => { const r = document.querySelector('.row.active .name').getBoundingClientRect(), t = document.querySelector('.table').getBoundingClientRect(); return r.left > t.left && r.right < t.right; })()")
    check(js("document.querySelector('.table').scrollLeft") > 0 and not cut and seen, f"at a width of {width} no number is cut, and the name is seen: {cut}, {seen}, {js('document.querySelector(`.table`).scrollLeft')}")
size(1280, 800)

# The heading of a column of numbers stands above its digits, at the right.
fixture("teams")
hq("report", "teams.hq")
open_page("teams.html", "pane=answers")
wait(lambda: js("document.querySelector('.answers thead th')"), "answers")
apart = js("""[...document.querySelectorAll('.answers thead th')].filter((th, i) => document.querySelector('.answers tbody tr').children[i].className === 'number' && getComputedStyle(th).textAlign !== 'right').map((th) => th.textContent)""")
check(js("document.querySelectorAll('.answers tbody .number').length") and not apart, f"headings of numbers stand at the right: {apart}")
driver.quit()
finish()
