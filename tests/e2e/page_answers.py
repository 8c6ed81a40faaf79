#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the page of `hq report` shows beside the tree: messages as a heat map, and answers as hq gave them."""
import colorsys
import json
import re
import subprocess

from counting import seconds
from page_browser import HQ, TMP, check, driver, finish, fixture, hq, js, open_page, size, webdriver

fixture("messages")
hq("report", "messages.hq", "messages sort by messages", "threads of MPI_Send")
size(1280, 800)
open_page("messages.html", "pane=messages")
for ranks in ("", "0", "1-2", "3"):
    js("hqPage.set({ranks: arguments[0]})", ranks)
    names = ("sender", "receiver", "bytes", "messages", "elapsed", "received", "received_bytes")
    there = json.loads(hq("--quiet", "messages.hq", "messages" + (f" ranks {ranks}" if ranks else "") + " columns " + ", ".join(names) + " as json"))["rows"]
    here = sorted(tuple(p) for p in js("hqPage.pairs()"))
    check(here == sorted(tuple((-1 if i < 2 else 0) if v is None else v for i, v in enumerate(r["values"])) for r in there) and here, f"messages of ranks {ranks}: {here}, {there}")
js("hqPage.set({ranks: ''})")
canvas = driver.find_element("css selector", ".messages canvas")
webdriver.ActionChains(driver).move_to_element_with_offset(canvas, 46 + 60 - canvas.size["width"] // 2, 22 + 20 - canvas.size["height"] // 2).click().perform()
check(js("hqPage.state().ranks") == "0-1", f"a click on the cell of two ranks chooses them: {js('hqPage.state().ranks')}")


def answered(db, question, clauses=""):
    """A table under Answers has the rows and numbers of hq, behind the clauses for what is chosen."""
    shown = js("hqPage.data.answers[hqPage.state().answer].question")
    check(shown == question, f"the answer is to {question}: {shown}")
    edge = js("[...document.querySelectorAll('.answers tbody th')].every((e) => getComputedStyle(e).backgroundImage.includes('1px'))")
    check(edge, f"{shown}: an edge stands where the names cover numbers (collapsed borders draw no shadow of a cell)")
    rows = js("""[...document.querySelectorAll('.answers tbody tr')].map((r) => [r.querySelector('th bdi').textContent, [...r.querySelectorAll('[data-value]')].map((c) => c.dataset.value)])""")
    table, heads = json.loads(hq("--quiet", db, question + clauses + " as json")), js("[...document.querySelectorAll('.answers thead button')].map((e) => e.textContent.replace(/ [\u25b4\u25be]$/, ''))")
    kept = [i for i, c in enumerate(table["columns"]) if c["name"] in heads]
    check(not any(r["values"][i] for r in table["rows"] for i in range(len(table["columns"])) if i not in kept), f"{question}{clauses}: only what has no value is left out of {heads}")
    there = [(r["name"], [r["values"][i] for i in kept if not isinstance(r["values"][i], str)]) for r in table["rows"]]
    check(rows and [(n, [float(v) if v else None for v in values]) for n, values in rows] == there, f"{question}{clauses}: {rows[:2]}, {there[:2]}")


for i, question in enumerate(("messages sort by messages", "threads of MPI_Send")):
    js("hqPage.set(arguments[0])", {"pane": "answers", "answer": i})
    answered("messages.hq", question)
check(not js("[...document.querySelectorAll('[data-pane]')].some((e) => e.dataset.pane === 'folds')"), "there are the panes that have something")
js("hqPage.set({answer: 0, ranks: ''})")
check(js("document.querySelector('.answers img').decode().then(() => document.querySelector('.answers img').naturalWidth > 100)"), "the picture of an answer is drawn")
driver.find_element("css selector", ".answers thead button").click()
numbers = [float(e.get_attribute("data-value") or "-inf") for e in driver.find_elements("css selector", ".answers tbody tr td:first-child")]
check(numbers == sorted(numbers, reverse=True) and len(numbers) > 2, f"a click on a heading sorts: {numbers}")
def hq_notes(db, question):
    return subprocess.run([HQ, db, question + " as json"], cwd=TMP, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=seconds(60)).stderr.splitlines()


# Regions follow the ranks and threads that are chosen, to the digit; a time they do not, and say so.
for name in ("teams", "regions", "scarce", "aimed"):
    fixture(name)
    hq("report", f"{name}.hq")
    open_page(f"{name}.html", "pane=answers")
    for chosen in ({"ranks": "0"}, {"ranks": "1"}, {"ranks": "0-1"}, {"ranks": "", "threads": "1"}, {"ranks": "1", "threads": "0"}):
        js("hqPage.set(arguments[0])", chosen)
        clauses = "".join(f" {k} {v}" for k, v in chosen.items() if v)
        if name == "teams" or "ranks" not in clauses:
            answered(f"{name}.hq", "regions", clauses)
            check("whole run" not in driver.find_element("css selector", ".answers").text, f"regions{clauses} are of what was chosen")
            told = [line for line in hq_notes(f"{name}.hq", "regions" + clauses) if "too few samples" in line]
            notes = js("[...document.querySelectorAll('.answers .scroll .note')].map((e) => e.textContent)")
            check([n for n in notes if "too few samples" in n] == told, f"regions{clauses} say how sure they are: {notes}, {told}")
open_page("aimed.html")
kinds = js("[...document.querySelectorAll('.scope [title]')].map((e) => e.title).map((t) => t.split('\\n')[0])")
check("target region target at a.c:10" in kinds and "parallel region parallel region at a.c:12" in kinds, f"a target region is no parallel region: {kinds}")
open_page("scarce.html", "pane=answers")
js("hqPage.set({ranks: '', threads: '0', hide: 'main'})")
check("whole run" in driver.find_element("css selector", ".answers").text, "regions say what does not change them")
# In a low pane what hq noted leaves the rows their room; in a high one it is open.
open_page("scarce.html", "pane=answers")
noted = js("[...document.querySelectorAll('.answers details')].map((e) => [e.open, e.querySelectorAll('p').length])")
check(noted == [[True, len(hq_notes("scarce.hq", "regions"))]] and noted[0][1] > 0, f"notes are open: {noted}")
size(800, 600)
open_page("scarce.html", "pane=answers")
top = js("document.querySelector('.answers thead').getBoundingClientRect().top - document.querySelector('.answers .scroll').getBoundingClientRect().top")
check(not js("document.querySelector('.answers details').open") and top < 40, f"at 800 x 600 the table begins at the top: {top}")
driver.find_element("css selector", ".answers summary").click()
check(driver.find_element("css selector", ".answers details p").is_displayed(), "and notes open by a click")
size(1280, 800)

# Thousands of ranks that no range holds: what is told of them is short, and what is copied is whole.
many = ",".join(str(r) for r in range(0, 9000, 2))
fixture("marked")
hq("report", "marked.hq")
open_page("marked.html", "pane=answers")
for pane in ("answers", "about"):
    js("hqPage.set(arguments[0])", {"ranks": many, "pane": pane, "answer": 0})
    told = js("[...document.querySelectorAll('.panebox .warn')].map((e) => [e.innerText.length, e.querySelector('code') ? e.textContent.length : 0, e.clientHeight])")
    check(told and all(h < 160 and (whole or n < 300) for n, whole, h in told), f"{pane}: what the choice of thousands of ranks does not change takes little room: {told}")
check(js("[...document.querySelectorAll('.chip')].every((e) => e.textContent.length < 60)"), "a chip is short")
js("hqPage.set({pane: 'answers'})")
for command in (js("hqPage.page.app.command(hqPage.query())"), js("document.querySelector('.answers code').textContent")):
    few = command.replace(many, "0")
    both = [subprocess.run(["bash", "-c", c.replace("hq marked.hq", f"{HQ} --quiet marked.hq", 1)[:-1] + " as csv'"], cwd=TMP, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=seconds(60)) for c in (command, few)]
    check(many in command and both[0].returncode == 0 and both[0].stdout == both[1].stdout != "", f"the command of {len(command)} letters answers: {both[0].stderr[:300]}, {few}")
# More than the 128 kB that a word of a command line may have comes through standard input.
lots = ",".join(str(r) for r in range(0, 80000, 2))
js("hqPage.set({ranks: arguments[0]})", lots)
command = js("hqPage.page.app.command(hqPage.query())")
done = subprocess.run(["bash"], input=command.replace("hq marked.hq", f"{HQ} --quiet marked.hq", 1), cwd=TMP, capture_output=True, text=True, timeout=seconds(60))
check(lots in command and len(command) > 2**17 and done.returncode == 0 and "main" in done.stdout, f"a command of {len(command)} letters answers: {done.stderr[:300]}")

open_page("marked.html", "pane=answers")
asked = js("hqPage.data.answers.map((a) => a.question)")
check("fold of phase \"step\"" in asked and "clusters of phases" in asked, f"folds and clusters are asked unasked: {asked}")
check(js("hqPage.data.answers.every((a) => a.picture)"), "and have pictures")
for i, question in enumerate(asked):
    js("hqPage.set(arguments[0])", {"answer": i, "ranks": "0", "time": f"0-{js('hqPage.data.length')}"})
    if question.startswith(("fold", "clusters")):
        command = driver.find_element("css selector", ".answers code").text
        check(command.startswith("hq marked.hq '") and command.endswith("'"), f"what does not follow says which question does: {command}")
        done = subprocess.run([HQ, "--quiet", "marked.hq", command[len("hq marked.hq '"):-1]], cwd=TMP, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=seconds(60))
        told = driver.find_element("css selector", ".answers .warn").text
        check("not change it. The page has the answer alone, not the visits that it is made of. Of what is chosen" in told, f"and why it does not follow: {told}")
        check("ranks 0" in command and "during" in command and done.returncode == 0, f"{command}: {done.returncode}: {done.stderr}")
    # Beside other panes that are of what is chosen nothing of the whole run passes for it: one opens it.
    rows, followed = driver.find_element("css selector", ".answers .scroll"), question == "regions"
    check(rows.is_displayed() == followed, f"{question}: the answer of the whole run is folded away beside a choice")
    if not followed:
        driver.find_element("css selector", ".answers details summary").click()
        check(rows.is_displayed(), f"{question}: and opens by a click")
# Of other questions too, with what chooses call paths, unless they are of visits or choose for themselves.
hq("report", "marked.hq", "procedures limit 9", 'iterations of phase "step"', "threads of solve", "info", "procedures during 0s..1s", "-o", "given.html")
open_page("given.html", "pane=answers&ranks=0&hide=helper")
told = []
for i in range(5):
    js("hqPage.set(arguments[0])", {"answer": i})
    command = js("document.querySelector('.answers code')?.textContent ?? ''")
    told.append(command[len("hq marked.hq '"):-1])
    check(not command or hq("--quiet", "marked.hq", told[-1]), f"{command}: is answered")
check(told == ["procedures limit 9 ranks 0 hide helper", 'iterations of phase "step" ranks 0', "threads of solve ranks 0 hide helper", "", ""], f"the questions of what is chosen: {told}")
# That question, with the settings of the page, is about the bursts in the slice: as many as the list of all has there.
question = 'clusters of phases of phase "step"'
hq("report", "marked.hq", "set inline off", question, question + " ranks 0", "-o", "chosen.html")
open_page("chosen.html", "pane=answers")
length, bursts = js("hqPage.data.length"), json.loads(hq("--quiet", "marked.hq", "phases of phase \"step\" columns start, length, rank as json"))["rows"]
which = lambda text: js("hqPage.data.answers.findIndex((a) => a.question === arguments[0])", text)
for ranks, a, b in (("0", 0.2, 0.5), ("1", 0.1, 0.3), ("0-1", 0.45, 0.9)):
    js("hqPage.set(arguments[0])", {"answer": which(question), "ranks": ranks, "time": f"{round(a * length)}-{round(b * length)}"})
    command = driver.find_element("css selector", ".answers code").text
    check(command.startswith("hq marked.hq 'set inline off; " + question), f"the command has the page's settings: {command}")
    rows = json.loads(hq("--quiet", "marked.hq", command[len("hq marked.hq '"):-1] + " as json"))["rows"]
    inside = [r for r in bursts if str(r["values"][2]) in ranks.split("-") and r["values"][0] * 1e6 < round(b * length) and (r["values"][0] + r["values"][1]) * 1e6 > round(a * length)]
    check(sum(r["values"][0] for r in rows) == len(inside) > 0, f"{command}: {rows}, {len(inside)} of {len(bursts)} bursts")
js("hqPage.set(arguments[0])", {"answer": which(question + " ranks 0")})
check(not driver.find_elements("css selector", ".answers code") and "whole run" in driver.find_element("css selector", ".answers .warn").text, "a question that chooses ranks itself takes no other ones")
open_page("marked.html", "pane=answers")
js("hqPage.set({answer: 0, ranks: '', time: ''})")
check("pane=answers" in driver.current_url and js("document.querySelector('.answers img').decode().then(() => true)"), "which are drawn")
hq("report", "marked.hq", "procedures as csv", status=2)
hq("report", "marked.hq", "messages of", status=2)
fixture("app")
hq("report", "app.hq")
open_page("app.html")
check(not js("[...document.querySelectorAll('[data-pane]')].some((e) => ['messages', 'answers'].includes(e.dataset.pane))"), "what there is nothing of has no pane")

# One palette: a procedure has the same colour in svg, and what waits has the hue of waiting.
js("hqPage.set({pane: 'flame'})")
hq("app.hq", 'tree as svg to "tree.svg"')
fills = dict(re.findall(r'<title>(?:\[I\] )?([^<\n]*)\n(?:called[^<]*\n)?[^<]*</title><rect [^>]*fill="#([0-9a-f]{6})"', open(f"{TMP}/tree.svg").read()))
drawn = dict(js("[...Array(hqPage.data.scopes).keys()].filter((s) => hqPage.data.instances(s).length).map((s) => [hqPage.data.texts[hqPage.data.scopeShown[s]], hqPage.colour(s)])"))
far = [(n, f, drawn[n]) for n, f in fills.items() if n in drawn and max(abs(int(f[2 * i:2 * i + 2], 16) - drawn[n][i]) for i in range(3)) > 1]
check(not far and len(set(fills) & set(drawn)) > 5, f"svg and page have the same colours: {far}, {fills}")
hues = {n: colorsys.rgb_to_hls(*(c / 255 for c in drawn[n]))[0] * 360 for n in ("PMPI_Wait", "main", "malloc") if n in drawn}
check(abs(hues["PMPI_Wait"] - 18) < 10 and abs(hues["main"] - 205) < 38, f"the hue tells whose code it is: {hues}")

# What is written on a box can be read, in light and in dark: the contrast of WCAG 2, which wants 4.5 and 3 for large text.
def luminance(rgb):
    return sum(w * (c / 3294.6 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4) for w, c in zip((0.2126, 0.7152, 0.0722), rgb))


for dark in (False, True):
    boxes = js("((p, dark) => [...Array(hqPage.data.scopes).keys()].map((s) => new p.constructor(hqPage.data, dark).of(s)))(hqPage.page.app.palette, arguments[0])", dark)
    poor = [(b, c) for b in boxes for c in [(1.05 / (luminance(b["rgb"]) + 0.05)) if b["text"] == "#fff" else (luminance(b["rgb"]) + 0.05) / 0.05] if c < 4.5]
    check(boxes and not poor, f"names on boxes can be read, dark {dark}: {poor}")
# And what is written elsewhere, with something found, chosen and told; a field's hint too.
WRITTEN = """(() => {
  const parts = (text) => (([r, g, b, a = 1]) => [r, g, b, a])(text.match(/[\\d.]+/g).map(Number)), over = ([r, g, b, a], under) => [r, g, b].map((x, i) => x * a + under[i] * (1 - a));
  const back = (e) => e ? over(parts(getComputedStyle(e).backgroundColor), back(e.parentElement)) : [255, 255, 255];
  const all = [...document.querySelectorAll('body *')].filter((e) => e.offsetParent && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())).map((e) => [e, getComputedStyle(e).color])
    .concat([...document.querySelectorAll('input')].map((e) => [e, getComputedStyle(e, '::placeholder').color]));
  return all.map(([e, colour]) => [e.className || e.tagName, (e.textContent || e.placeholder).slice(0, 20), over(parts(colour), back(e)), back(e)]); })()"""
open_page("app.html", "search=solve&through=main&where=cputime+%3E+0&selected=c1")
for theme in ("light", "dark"):
    if js("document.documentElement.dataset.theme") != theme:
        driver.find_element("css selector", "[aria-label='light or dark']").click()
    for pane in ("flame", "trace", "about"):
        js("hqPage.set({pane: arguments[0]})", pane)
        written = js(WRITTEN)
        poor = [(*what, round(c, 2)) for *what, ink, paper in written for a, b in [sorted((luminance(ink), luminance(paper)))] for c in [(b + 0.05) / (a + 0.05)] if c < 4.5]
        check(len(written) > 60 and not poor, f"what is written can be read, {theme} {pane}: {poor}")

# A comparison is coloured by change: 72 of 30 samples is more, 108 of 90 chance; what has vanished is drawn.
fixture("old")
hq("app.hq", 'tree of main compare with "old.hq" as svg to "change.svg"')
fills = dict(re.findall(r'<title>([^<\n]*)\n(?:called[^<]*\n)?[^<]*</title><rect [^>]*fill="#([0-9a-f]{6})"', open(f"{TMP}/change.svg").read()))
hue = lambda n: round(colorsys.rgb_to_hls(*(int(fills[n][i:i + 2], 16) for i in (0, 2, 4)))[0] * 360)
check(abs(hue("exchange") - 24) < 3 and abs(hue("checksum") - 210) < 3 and fills["solve"] == "cccccc", f"orange is more, blue less, grey chance: {fills}")

# A part of the database that is damaged is told in the place of the answer that needs it; what the page itself needs ends it.
fixture("marked")
whole = open(f"{TMP}/marked.hq/hq.db", "rb").read()


def damage(section):
    for at in range(0, len(whole), 8):
        with open(f"{TMP}/marked.hq/hq.db", "wb") as f:
            f.write(whole[:at] + bytes(b ^ 0x55 for b in whole[at:at + 8]) + whole[at + 8:])
        if f"section {section} has" in subprocess.run([HQ, "verify", "marked.hq"], cwd=TMP, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=seconds(60)).stderr:
            return


for section in ("trace", "values"):
    damage(section)
    done = subprocess.run([HQ, "report", "marked.hq", "--force"], cwd=TMP, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=seconds(60))
    check(done.returncode == 3 and f"a part of it ({section}) is not as it was written" in done.stderr, f"a page of damaged {section}: {done.returncode}, {done.stderr}")
damage("marks")
hq("report", "marked.hq", "--force")
open_page("marked.html", "pane=answers")
check("a part of it (marks) is not as it was written" in driver.find_element("css selector", ".panebox").text, f"damage is told: {driver.find_element('css selector', '.panebox').text[:300]}")

driver.quit()
finish()
