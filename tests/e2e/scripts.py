# SPDX-License-Identifier: BSD-3-Clause
"""What programs that use hq rely on: `as json` of every view keeps to doc/query-1.schema.json, which finds what is wrong; and what
`hq help scripts` says: its questions, exit statuses, streams and quoting, run by a shell as they stand there."""

import copy
import re
import shlex
import sys

from lib import *

sys.path.append("/usr/lib/python3/dist-packages")        # another python3 may stand before Debian's
import jsonschema  # noqa: E402

TOP = os.environ["TOP"]
SCHEMA = json.load(open(f"{TOP}/doc/query-1.schema.json"))
jsonschema.Draft202012Validator.check_schema(SCHEMA)
validator = jsonschema.Draft202012Validator(SCHEMA)


def wrong(result):
    """The first thing that the schema, or what it cannot say, finds wrong; None if all is well."""
    for error in validator.iter_errors(result):
        return f"{list(error.absolute_path)}: {error.message}"
    n = len(result["columns"])
    if len(result["total"]) != n or any(len(r["values"]) != n or len(r.get("ci", r["values"])) != n for r in result["rows"]):
        return "not as many values as columns"
    return None


SOURCE = """
#include <cstdlib>
#include <vector>
template <class T> __attribute__((noinline)) long work(std::vector<T> v, long n) { for (long i = 0; i < n; i++) v[i % 64] = v[(i * 7) % 64] * 3 + i; return v[5]; }
int main() { std::vector<long> v(64, 1); long s = 0; for (int i = 0; i < 20; i++) s += work<long>(v, 4000000); return s == 42; }
"""
with open(f"{TMP}/app.cc", "w") as f:
    f.write(SOURCE)
check(run("g++", "-O1", "-g", "-o", "app", "app.cc")[0] == 0, "the program is built")
record("DB", "./app", options=["--trace", "-e", "CPUTIME@500/s", "-e", "ALLOC"])
record("OLD", "./app", options=["-e", "CPUTIME@500/s", "-e", "ALLOC"])

# ---- JSON ----

asked = ["procedures", "tree", "callers of main", "flat", "loops", "lines", "files", "modules", "threads", "hot path", "explain 90% of cputime", "info",
         "metrics", "summary", "trace summary", "iterations of work", "tree of nosuch", "source of main", "procedures columns name, share = cputime / @cputime",
         "procedures compare with OLD", "explain 90% of delta compare with OLD", "set ci on; procedures", "set lines on; tree", "regions"]
good = None
for query in asked:
    status, out, err = run(HQ, "DB", query + " as json", "--quiet")
    if status != 0 and "regions" in query:
        continue
    try:
        result = json.loads(out)
    except ValueError as e:
        check(False, f"{query}: status {status}: {e}: {out[:200]}{err[-300:]}")
        continue
    check(wrong(result) is None, f"{query}: {wrong(result)}")
    good = good or result
    if query == "summary":
        number = next(i for i, c in enumerate(result["columns"]) if c["name"] == "number")
        measured = next(r["values"][number] for r in result["rows"] if r["name"] == "measured")
        check(result["columns"][number]["unit"] == "s" and result["total"][number] == measured, f"its numbers have a unit and a total: {result['columns']}")
# The first text that a user sees fits a terminal of 80 columns.
wide = subprocess.run([HQ, "--help"], capture_output=True, text=True, env={**os.environ, "COLUMNS": "80"}).stdout
check(wide and max(map(len, wide.splitlines())) < 80, f"hq --help in 80 columns: {[line for line in wide.splitlines() if len(line) > 79]}")
for what, change in {
    "another version": lambda r: r.update(hq=2),
    "no rows": lambda r: r.pop("rows"),
    "a text for a line": lambda r: r["rows"][0].update(line="12"),
    "an id that is none": lambda r: r["rows"][0].update(id="abc"),
    "a unit that is none": lambda r: r["columns"][0].update(unit="ms"),
    "a row without a depth": lambda r: r["rows"][0].pop("depth"),
    "a value too many": lambda r: r["rows"][0]["values"].append(1),
    "a share in the coverage": lambda r: r["coverage"].update(samples=0.5),
}.items():
    bad = copy.deepcopy(good)
    change(bad)
    check(wrong(bad) is not None, f"the schema finds {what}")
more = copy.deepcopy(good)
more["rows"][0]["later"] = more["later"] = 1
check(wrong(more) is None, "fields of later versions are allowed")

# ---- hq help scripts ----

status, help_text, _ = run(HQ, "help", "scripts")
check(status == 0 and "doc/query-1.schema.json" in help_text, "hq help scripts")
check(run(HQ, "help", "scripts")[1].count("\n") < 50, "it is one page")
env = dict(os.environ, PATH=os.path.dirname(HQ) + ":" + os.environ["PATH"])
questions = re.findall(r"^ *(\d+) .*? (hq .*?)(?:  |$)", help_text, re.M)
check([int(n) for n, _ in questions] == list(range(1, 11)), f"ten questions: {questions}")
for number, command in questions:
    command = command.replace("NAME", "work").replace("hq NEW", "hq DB")
    status, out, err = run("sh", "-c", command, env=env)
    check(status == 0 and out.strip(), f"question {number}, {command}: {status} {err[-300:]}")
    if "as json" in command:
        check(wrong(json.loads(out)) is None, f"question {number}: {out[:300]}")
    if number == "1":
        result = json.loads(out)
        seconds = next(r["values"][0] for r in ask("DB", "info")["rows"] if r["name"] == "cputime")
        check(abs(result["total"][0] - seconds) < 1e-9 and result["columns"][0]["unit"] == "s", f"the total is that of info: {result['total']} {seconds}")
    if number == "9":
        check(out.split()[-1] in ("1", "4"), f"question 9 prints the status: {out}")
    if number == "10":
        check(all("ci" in r for r in json.loads(out)["rows"]), "question 10 has intervals")

for command, want in (("hq DB 'procedures of work expect cputime < 99.99%' --quiet", 0), ("hq DB 'procedures of work expect cputime < 1%' --quiet", 1),
                      ("hq DB 'no such view'", 2), ("hq nosuch.hq procedures", 3)):
    status, out, err = run("sh", "-c", command, env=env)
    check(status == want or (want == 0 and status == 4), f"{command}: {status}, not {want}: {err}")
status, out, err = run("sh", "-c", "hq DB 'procedures as json' --quiet", env=env)
check(status == 0 and err == "" and json.loads(out), "with --quiet nothing but the answer")
status, out, err = run("sh", "-c", "hq DB 'no such view as json'", env=env)
check(status == 2 and out == "" and err, "errors are on standard error alone")

# ---- quoting ----

name = find(ask("DB", "procedures"), "long work<long>(std::vector<long, std::allocator<long> >, long)") or \
    next(r for r in ask("DB", "procedures")["rows"] if "work<long>" in r["name"])
full = name["name"].replace("\\", "\\\\").replace('"', '\\"')
by_name = run("sh", "-c", "hq DB " + shlex.quote(f'procedures of "{full}" as json'), env=env)
check(by_name[0] == 0 and [r["name"] for r in json.loads(by_name[1])["rows"]] == [name["name"]], f"a name in quotes: {by_name}")
example = re.search(r"hq DB 'callers of .*'", help_text).group()
check('\\"' not in example, "the page shows the quotes as they are typed")
check(run("sh", "-c", example, env=env)[0] == 0, f"the quoted example runs: {example}")
context = ask("DB", "tree")["rows"][0]["id"]
check(json.loads(run("sh", "-c", f"hq DB 'tree of @{context} as json'", env=env)[1])["rows"], "an id needs no quotes")
check(run(HQ, "DB", "-D", f"procedure={name['name']}", "-q", "inside")[0] == 0, "a name as a parameter")
many = subprocess.run([HQ, "DB", "-f", "-"], input="procedures as json to a.json; tree as json to b.json", text=True, cwd=TMP)
check(many.returncode == 0 and all(wrong(json.load(open(f"{TMP}/{n}.json"))) is None for n in "ab"), "many questions of one hq")
finish()
