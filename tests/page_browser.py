# SPDX-License-Identifier: BSD-3-Clause
"""A browser for tests of the page of `hq report`: opens pages, reads their rows, compares them with what hq prints.

Skipped where there is no chromium, no chromium-driver or no python3-selenium.
"""
import os
import sys

sys.path[:] = [p for p in sys.path if os.path.basename(p) != "e2e"]       # bisect.py there is a test, and a module that selenium wants
import collections
import json
import shutil
import subprocess
import time

from counting import check, finish, seconds

TOP, HQ, TMP, BUILD = (os.environ[v] for v in ("TOP", "HQ", "HQ_TEST_TMP", "BUILD"))
sys.path.append("/usr/lib/python3/dist-packages")        # another python3 may stand before Debian's
try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.keys import Keys
except ImportError:
    print("skipped: there is no python3-selenium")
    sys.exit(77)
if not shutil.which("chromium") or not shutil.which("chromedriver"):
    print("skipped: there is no chromium with its driver")
    sys.exit(77)


def hq(*args, status=0):
    done = subprocess.run([HQ, *args], cwd=TMP, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=seconds(120))
    check(done.returncode == status, f"hq {' '.join(args)}: {done.returncode}, {done.stderr}")
    return done.stdout


def answer(db, query):
    """Rows as hq prints them: [(names from the top, values)]."""
    table = json.loads(hq("--quiet", db, query + " as json"))
    path, rows = [], []
    for row in table["rows"]:
        path[row["depth"]:] = [row["name"]]
        rows.append((tuple(path), tuple(row["values"])))
    return [c["name"] for c in table["columns"]], rows


def browser():
    options = Options()
    for word in ("headless=new", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking",
                 "disable-component-update", "disable-sync", "disable-dev-shm-usage", "force-color-profile=srgb", f"user-data-dir={TMP}/chromium"):
        options.add_argument("--" + word)
    options.binary_location = shutil.which("chromium")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)


def wait(condition, what):
    """Polls: a page is ready when it says so, not after a time."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    check(False, f"waited for {what}")
    return False


driver = browser()


def js(text, *args):
    return driver.execute_script("return " + text, *args)


def size(width, height):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})


# What tests ask of a page, by its own parts.
ASKED = """if (hqPage.app) window.hqPage = ((page) => ({ page,
    csv: () => page.rows.table("csv"), query: () => page.app.query(), state: () => ({...Object.values(page.app).find((v) => v && v.pane && v.view)}), get data() { return page.app.data; },
    set: (change, replace) => page.app.set(change, replace), openAll: () => { const all = page.rows.openAll(); page.table.draw(); return all; },
    boxes: () => page.flame.boxes.map((b) => ({name: b.name, drawn: b.drawn, value: b.value, level: b.up ? -b.level : b.level})), pairs: () => page.messages.pairs(),
    colour: (scope) => page.app.palette.of(scope).rgb, doubts: () => page.rows.visible.map((e) => page.rows.columns.map((c) => page.rows.doubt(c, e))), perProfile: () => page.ranks.values(),
}))(hqPage);"""


def open_page(page, state=""):
    driver.get("about:blank")
    driver.get(f"file://{TMP}/{page}" + (f"#{state}" if state else ""))
    wait(lambda: js("!!window.hqPage"), f"{page} to open")
    driver.execute_script(ASKED)
    errors = [e["message"] for e in driver.get_log("browser") if e["level"] == "SEVERE"]
    check(not errors, f"{page} complains: {errors}")


def page_rows():
    """All rows of the table, from the text that `CSV` copies."""
    import csv
    import io
    lines = list(csv.reader(io.StringIO(js("hqPage.csv()"))))
    path, rows = [], []
    for line in lines[1:]:
        path[int(line[2]):] = [line[0]]
        rows.append((tuple(path), tuple(float(v) if v else None for v in line[5:])))
    return lines[0][5:], rows


def same(db, what, complete=True):
    """What the page shows is what hq answers to the query that the page shows."""
    query = js("hqPage.query()")
    check(js("hqPage.openAll()"), f"{what}: everything opens")
    columns, rows = page_rows()
    names, expected = answer(db, query)
    check([n for n in names if n in columns] == columns, f"{what}, {query}: the columns are {columns}, {names}")
    names = [n for n in names if n in columns]
    pick = [columns.index(n) for n in names]
    whole = json.loads(hq("--quiet", db, query + " as json"))["columns"]
    keep = [i for i, c in enumerate(whole) if c["name"] in names]
    here = collections.Counter((p, tuple(v[i] for i in pick)) for p, v in rows)
    there = collections.Counter((p, tuple(v[i] for i in keep)) for p, v in expected)
    more, less = here - there, there - here
    check(not more and not less, f"{what}, {query}: the page has {list(more.items())[:3]}, hq {list(less.items())[:3]} ({len(rows)}, {len(expected)} rows)")
    check(len(rows) > 0, f"{what}: there are rows")
    return rows


def fixture(name):
    subprocess.run([f"{TOP}/{BUILD}/tools/fixture", f"{TOP}/tests/query/{name}.fixture", f"{TMP}/{name}.hq"], check=True)
