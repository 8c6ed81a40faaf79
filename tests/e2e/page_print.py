#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The page of `hq report` on paper: the table with all of its rows and the picture, in light colours, and the screen as it was after it."""
from page_browser import HQ, TMP, check, driver, finish, fixture, hq, js, open_page, size

PAPER = 718  # pixels between the margins of A4

fixture("app")
fixture("old")
fixture("messages")
fixture("marked")


def media(kind, dark):
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": kind, "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})


LOOK = """(() => {
    const box = (e) => { const r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
    const text = (e) => { const range = document.createRange(); range.selectNodeContents(e); return box(range); };
    return {
        rows: [...document.querySelectorAll('.body .row')].map(box), names: [...document.querySelectorAll('.body .row .name')].map(text),
        pane: box(document.querySelector('.panebox')), pictures: [...document.querySelectorAll('.panebox canvas, .panebox img')].map(box),
        query: box(document.querySelector('.query')), long: document.querySelector('.query').scrollWidth > document.querySelector('.query').clientWidth + 1,
        answers: [...document.querySelectorAll('.panebox tbody tr, .panebox .legend')].map(box), visible: window.hqPage.page.rows.visible.length,
        ink: getComputedStyle(document.body).color, colours: hqPage.page.app.palette.dark, wide: document.documentElement.scrollWidth};
})()"""


def printed(page, state, dark=False):
    """The layout on paper, once it was looked at."""
    media("screen", dark)
    size(1280, 800)
    open_page(page, state)
    js("hqPage.openAll()")
    media("print", dark)
    size(PAPER, 1000)
    driver.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    look, what = js(LOOK), f"{page}#{state}{' dark' if dark else ''}"
    check(len(look["rows"]) == min(2000, look["visible"]) > 0, f"{what}: {len(look['rows'])} of {look['visible']} rows are printed")
    check(all(b[3] - b[1] >= 15 for b in look["rows"]) and all(a[3] <= b[1] + 1 for a, b in zip(look["rows"], look["rows"][1:])), f"{what}: rows stand below each other: {look['rows'][:3]}")
    check(all(n[2] <= PAPER for n in look["names"]), f"{what}: names end on the paper: {max(look['names'], key=lambda n: n[2])}")
    check(look["pane"][1] >= look["rows"][-1][3], f"{what}: the picture is below the table: {look['pane']}, {look['rows'][-1]}")
    check(all(b[0] >= 0 and b[2] <= PAPER + 1 and b[3] - b[1] > 60 and b[3] <= look["pane"][3] + 1 for b in look["pictures"]), f"{what}: pictures are whole: {look['pictures']}, {look['pane']}")
    check(all(b[3] <= look["pane"][3] + 1 for b in look["answers"]), f"{what}: tables and legends are whole")
    check(not look["long"] and look["query"][2] <= PAPER, f"{what}: the query is whole")
    check(look["ink"] == "rgb(27, 27, 27)" and not look["colours"], f"{what}: dark letters on white: {look['ink']}")
    # And back.
    driver.execute_script("window.dispatchEvent(new Event('afterprint'))")
    media("screen", dark)
    size(1280, 800)
    check(js("document.documentElement.dataset.theme") == ("dark" if dark else "light"), f"{what}: the screen is as it was")
    check(js("new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(document.querySelectorAll('.body .row').length))))") < 60, f"{what}: only rows on the screen are elements")
    return look


def told(page, state):
    """The line above a picture on paper: what it is of, without the controls."""
    media("screen", False)
    open_page(page, state)
    media("print", False)
    bar = js("((b) => [b.innerText, [...b.querySelectorAll('select')].filter((e) => e.checkVisibility()).map((e) => e.selectedOptions[0].text), b.querySelectorAll('button, input').length - [...b.querySelectorAll('button, input')].filter((e) => !e.checkVisibility()).length])(document.querySelector('.panebox .bar') || document.createElement('p'))")
    hints = js("[...document.querySelectorAll('.panebox *')].filter((e) => !e.children.length && e.checkVisibility() && /Drag|Click|double click/.test(e.textContent)).map((e) => e.textContent)")
    check(not hints, f"{page}#{state}: what a mouse does is not said on paper: {hints}")
    media("screen", False)
    hints = js("[...document.querySelectorAll('.panebox .hint')].filter((e) => e.checkVisibility() && /Drag|Click/.test(e.textContent)).length")
    check(hints == 1, f"{page}#{state}: it is on the screen: {hints}")
    return bar


hq("report", "app.hq", "--with-source")
for pane in ("flame", "trace", "ranks", "source", "about"):
    printed("app.html", f"pane={pane}&all=1" if pane == "ranks" else f"pane={pane}", pane == "flame")
bar = told("app.html", "pane=ranks&plot=sorted&ranks=0-1")
check("cputime of the program" in bar[0] and bar[1] == ["sorted"] and not bar[2], f"values by rank say on paper what they are of: {bar}")
told("app.html", "pane=flame")
hq("report", "app.hq", "--compare", "old.hq", "-o", "compared.html")
printed("compared.html", "")
hq("report", "messages.hq", "messages")
printed("messages.html", "pane=messages", True)
told("messages.html", "pane=messages")
printed("messages.html", "pane=answers")
# Notes that a low window folds are whole on paper.
hq("report", "marked.hq")
told("marked.html", "pane=trace")
size(800, 600)
open_page("marked.html", "pane=answers")
NOTES = "[...document.querySelectorAll('.answers details p')].map((e) => e.checkVisibility({contentVisibilityAuto: true}) && e.getBoundingClientRect().height > 0)"
driver.execute_script("window.dispatchEvent(new Event('beforeprint'))")
check(js(NOTES) and all(js(NOTES)), f"notes are printed: {js(NOTES)}")
driver.execute_script("window.dispatchEvent(new Event('afterprint'))")
check(not any(js(NOTES)), f"and folded again: {js(NOTES)}")
check(len(printed("marked.html", "pane=answers", True)["pictures"]) == 1, "an answer's picture is printed")

driver.quit()
finish()
