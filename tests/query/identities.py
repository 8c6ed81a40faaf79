#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 300
"""What must add up, whatever is asked: random settings and clauses on every fixture, on an HPCToolkit database, and on files of
pprof, callgrind, perf script and folded stacks. Nothing here knows what a value should be, only what it has to be beside others.

IDENTITIES_ROUNDS (1) rounds a database, IDENTITIES_SEED (1; the soak draws it); other databases by name: identities.py [DB...]."""
import csv, glob, io, json, os, random, re, subprocess, sys, tempfile
from counting import seconds
from collections import defaultdict

TOP = os.environ.get("TOP") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HQ = os.environ.get("HQ", os.path.join(TOP, "hq"))
FIXTURE = os.path.join(TOP, os.environ.get("BUILD", "build"), "tools/fixture")
SEED = int(os.environ.get("IDENTITIES_SEED", "1"))
ROUNDS = int(os.environ.get("IDENTITIES_ROUNDS") or 1)
passed = failed = 0


def tell(what, database, context, detail):
    global failed
    failed += 1
    if failed <= 20:
        print(f"FAILED: {what}: {database}: {context}: {detail}")


class Answer:
    """A table as JSON: rows in their order, with the row each of them hangs below."""

    def __init__(self, document):
        self.columns = [c["name"] for c in document["columns"]]
        self.units = [c["unit"] for c in document["columns"]]
        self.total = document.get("total") or []
        self.rows = document["rows"]
        open_rows = []
        for i, row in enumerate(self.rows):
            del open_rows[row["depth"]:]
            row["parent"] = open_rows[-1] if open_rows else None
            open_rows.append(i)

    def top(self):
        return [r for r in self.rows if r["depth"] == 0]


def numbers(rows, column):
    return sum(r["values"][column] or 0 for r in rows)


class Round:
    """The questions of one round, asked in one session for each list of settings, and their answers."""

    def __init__(self, path, name):
        self.path, self.name, self.wanted, self.known = path, name, [], {}

    def ask(self, settings, queries):
        queries = [q for q in queries if (settings, q) not in self.known]
        if not queries:
            return
        text = settings + "; ".join(q + " as json" for q in queries)
        done = subprocess.run([HQ, "--quiet", self.path, text], capture_output=True, text=True, timeout=seconds(120))
        decoder, at, found = json.JSONDecoder(), 0, []
        while at < len(done.stdout.rstrip()):
            document, at = decoder.raw_decode(done.stdout, at)
            found.append(document)
            while at < len(done.stdout) and done.stdout[at].isspace():
                at += 1
        if len(found) != len(queries):
            if len(queries) > 1:
                for q in queries:
                    self.ask(settings, [q])
                return
            self.known[settings, queries[0]] = None if done.returncode == 2 else done.stderr or "no answer"
            return
        for q, document in zip(queries, found):
            self.known[settings, q] = Answer(document)

    def get(self, settings, query):
        """None: the question cannot be asked of this database (status 2)."""
        self.ask(settings, [query])
        answer = self.known[settings, query]
        if isinstance(answer, str):
            tell("an answer", self.name, settings + query, answer.strip()[-300:])
            return None
        return answer


def close(a, b, scale):
    return abs(a - b) <= 1e-9 * max(abs(scale), abs(a), abs(b)) + 1e-9


def equal(what, database, context, a, b, scale=0):
    global passed
    if close(a, b, scale):
        passed += 1
    else:
        tell(what, database, context, f"{a!r} and {b!r}")


def quoted(name):
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


# ---- one database ----

BY_EXCLUSIVE = ("procedures", "flat", "files", "modules", "groups by directory", "groups by module", "groups by runtime")
BY_INCLUSIVE = ("threads", "threads per rank", "threads per host")


class Checker:
    def __init__(self, path, name, rng):
        self.path, self.name, self.rng = path, name, rng
        self.round = Round(path, name)
        listed = self.round.get("", "metrics")
        self.metrics = [r["name"] for r in listed.rows if isinstance(r["values"][3], (int, float))] if listed else []
        self.metrics = ["metric(%s)" % quoted(m) for m in self.metrics]
        profiles = self.round.get("", "threads columns 0")
        self.ranks = sorted({int(r["name"].split()[1]) for r in profiles.rows if r["name"].startswith("rank ")}) if profiles else []
        self.traced = self.round.get("", "trace summary width 4") is not None
        self.length_ms = self.length() if self.traced else 0

    def length(self):
        """Of the run, as the mistake tells it."""
        told = subprocess.run([HQ, self.path, "procedures during 100000h.."], capture_output=True, text=True).stderr
        return int(float(told.split("it takes ")[1].split(" ")[0]) * 1000) if "it takes " in told else 0

    def instant(self):
        """A share of the run, or a millisecond, at which samples of the fixtures lie."""
        if self.length_ms > 1 and self.rng.random() < 0.5:
            return f"{self.rng.randint(1, self.length_ms - 1)}ms"
        return f"{self.rng.randint(1, 99)}%"

    def columns(self):
        return " columns " + ", ".join("%s, %s.x" % (m, m) for m in self.metrics)

    def settings(self):
        text = ""
        for name in ("inline", "loops", "normalise", "internals", "helpers", "lines"):
            if self.rng.random() < 0.3:
                text += "set %s %s; " % (name, self.rng.choice(("on", "off")))
        return text

    def names(self, settings):
        rows = self.round.get(settings, "procedures columns 0 all")
        return sorted({r["name"] for r in rows.rows if r["name"] and "\n" not in r["name"]}) if rows else []

    def clauses(self, settings, names):
        rng, text = self.rng, ""
        if self.ranks and rng.random() < 0.3:
            text += " ranks " + ",".join(map(str, sorted(rng.sample(self.ranks, rng.randint(1, len(self.ranks))))))
        if self.traced and rng.random() < 0.3:
            a, b = sorted(rng.sample(range(101), 2))
            text += f" during {a}%..{b}%"
        if names and rng.random() < 0.3:
            text += f" {rng.choice(('', 'not '))}through {quoted(rng.choice(names))}"
        # What is hidden counts for what is above it: for nothing that is called, if that is the root, or stands for a path
        # without an outer end.
        tree = self.round.get(settings, "tree columns 0 all")
        tops = {r["name"] for r in tree.rows if r["parent"] is None or tree.rows[r["parent"]]["kind"] == "root"}
        if set(names) - tops and rng.random() < 0.2:
            text += f" {rng.choice(('prune', 'hide'))} {quoted(rng.choice(sorted(set(names) - tops)))}"
        return text

    def run(self):
        if not self.metrics:
            return
        for _ in range(ROUNDS):
            settings = self.settings()
            names = self.names(settings)
            clauses = self.clauses(settings, names)
            if not self.add_up(settings, clauses):
                continue # no profile is chosen, or there is no such time
            self.trees(settings, clauses, names)
            self.parts(settings, clauses, names)
            self.one_procedure(settings, clauses, names)
            self.statistics(settings, clauses, names)
            self.explained(settings, clauses)
            self.formats(settings, clauses)
            self.itself(settings, clauses)
            self.totals(clauses)

    # -- views over one selection --

    def add_up(self, settings, clauses):
        q = lambda view: view + clauses + self.columns() + " all"
        self.round.ask(settings, [q(v) for v in ("tree", "callers") + BY_EXCLUSIVE + BY_INCLUSIVE])
        tree = self.round.get(settings, q("tree"))
        if not tree:
            return False
        procedures = self.round.get(settings, q("procedures"))
        # The total is that of the profiles and the slice, whatever call paths are chosen.
        self.whole = [numbers(procedures.rows, c | 1) for c in range(len(procedures.columns))]
        if "through" not in clauses:
            for c, column in enumerate(tree.columns):
                equal(f"exclusive values add up, {column}", self.name, settings + q("procedures"), self.whole[c], tree.total[c] or 0)
        for view in ("callers",) + BY_EXCLUSIVE + BY_INCLUSIVE:
            answer = self.round.get(settings, q(view))
            if not answer:
                continue
            for c, column in enumerate(answer.columns):
                context = settings + q(view)
                total = answer.total[c] or 0
                equal(f"the total of {view}", self.name, context, total, tree.total[c] or 0)
                if view in BY_INCLUSIVE and "gpu_" in column:
                    continue # what devices did
                if view in BY_EXCLUSIVE and c % 2 or view in BY_INCLUSIVE and not c % 2:
                    equal(f"rows of {view} add up, {column}", self.name, context, numbers(answer.top(), c), self.whole[c])
                for r in answer.rows:
                    if r["values"][c] is not None and total >= 0 and min(0, numbers(answer.rows, c)) >= 0:
                        equal(f"no row is more than all, {column}", self.name, context + ": " + r["name"], max(r["values"][c], total), total)
        self.flat_is_procedures(settings, q)
        self.callers_are_procedures(settings, q)
        return True

    def by_name(self, rows, column):
        sums = defaultdict(float)
        for r in rows:
            sums[r["name"], os.path.basename(r["module"] or ""), r["file"]] += r["values"][column] or 0
        return sums

    def same(self, what, context, a, b, scale):
        for key in set(a) | set(b):
            equal(what, self.name, f"{context}: {key[0]}", a.get(key, 0), b.get(key, 0), scale)

    def flat_is_procedures(self, settings, q):
        flat, procedures = self.round.get(settings, q("flat")), self.round.get(settings, q("procedures"))
        if not flat or not procedures or "inline off" not in settings:
            return
        for c in range(0, len(flat.columns), 2):
            rows = [r for r in flat.rows if r["kind"] == "procedure"]
            mine = [r for r in procedures.rows if r["kind"] == "procedure"]
            self.same("flat beside procedures", settings + q("flat"), self.by_name(rows, c + 1), self.by_name(mine, c + 1), flat.total[c] or 0)

    def callers_are_procedures(self, settings, q):
        callers, procedures = self.round.get(settings, q("callers")), self.round.get(settings, q("procedures"))
        if not callers or not procedures:
            return
        for c in range(len(callers.columns)):
            self.same("callers beside procedures", settings + q("callers"), self.by_name(callers.top(), c), self.by_name(procedures.rows, c),
                      callers.total[c] or 0)

    def trees(self, settings, clauses, names):
        views = ["tree"] + (["tree of " + quoted(self.rng.choice(names))] if names else [])
        for view in views:
            query = view + clauses + self.columns() + " all"
            answer = self.round.get(settings, query)
            if not answer:
                continue
            children = defaultdict(list)
            for r in answer.rows:
                children[r["parent"]].append(r)
            for c in range(0, len(answer.columns), 2):
                if view == "tree":
                    equal("the tops of the tree are all", self.name, settings + query, numbers(answer.top(), c), self.whole[c])
                for i, r in enumerate(answer.rows):
                    if r["kind"] == "line":
                        continue
                    # Exclusive is what is in a scope and not below a call: that of a procedure has its loops and regions in it.
                    lines = any(x["kind"] == "line" for x in children[i])
                    own = 0 if lines else r["values"][c + 1] or 0
                    own -= 0 if lines or r["kind"] == "loop" else sum(x["values"][c + 1] or 0 for x in self.inside(answer, children, i))
                    equal("children and own make the row", self.name, f"{settings}{query}: {r['name']}", numbers(children[i], c) + own,
                          r["values"][c] or 0, answer.total[c] or 0)

    def inside(self, answer, children, i):
        """Scopes of a procedure that are no calls, each with what is its own alone."""
        found = []
        for r in children[i]:
            if r["kind"] in ("loop", "region", "phase") and not r["callsite"]:
                found.append(r)
                found += self.inside(answer, children, answer.rows.index(r)) if r["kind"] == "loop" else []
        return found

    # -- selections that are parts of another --

    def split(self, what, settings, view, one, other, clauses=""):
        queries = [view + clauses + part + self.columns() + " all" for part in ("", one, other)]
        self.round.ask(settings, queries)
        answers = [self.round.get(settings, q) for q in queries]
        if not all(answers):
            return
        for c in range(len(answers[0].columns)):
            column = c | 1 if view in BY_EXCLUSIVE else c
            if view != "tree" or c % 2 == 0:
                whole, a, b = (numbers(x.top(), column) for x in answers)
                equal(what, self.name, settings + queries[1], a + b, whole)
            whole = answers[0].total[c] or 0
            if view in ("procedures", "modules", "files"):
                rows = [self.by_name(x.rows, c) for x in answers]
                both = {k: rows[1].get(k, 0) + rows[2].get(k, 0) for k in set(rows[1]) | set(rows[2])}
                self.same(what + ", each row", settings + queries[1], both, rows[0], whole)

    def parts(self, settings, clauses, names):
        view = self.rng.choice(("procedures", "modules", "files", "tree"))
        if names:
            name = quoted(self.rng.choice(names))
            if "prune" not in clauses and "hide" not in clauses:
                self.split("through and not through", settings, view, " through " + name, " not through " + name, clauses)
        if self.traced and "during" not in clauses:
            at = self.instant()
            queries = [f"{view}{clauses} during {part}{self.columns()} all" for part in ("0%..100%", f"0%..{at}", f"{at}..100%")]
            answers = [self.round.get(settings, q) for q in queries]
            for c in range(len(answers[0].columns)) if all(answers) else []:
                whole, a, b = (x.total[c] or 0 for x in answers)
                equal("slices that adjoin", self.name, settings + queries[1], a + b, whole)
        if len(self.ranks) > 1 and "ranks" not in clauses:
            some = sorted(self.rng.sample(self.ranks, self.rng.randint(1, len(self.ranks) - 1)))
            others = [r for r in self.ranks if r not in some]
            everyone = self.round.get(settings, f"{view}{clauses} ranks {','.join(map(str, self.ranks))}{self.columns()} all")
            if everyone:
                self.split("ranks and the others", settings, view, " ranks " + ",".join(map(str, some)), " ranks " + ",".join(map(str, others)),
                           clauses) if self.all_have_ranks(settings, clauses) else None

    def all_have_ranks(self, settings, clauses):
        rows = self.round.get(settings, "threads columns 0")
        return bool(rows) and all(r["name"].startswith("rank ") for r in rows.rows)

    def one_procedure(self, settings, clauses, names):
        if not names:
            return
        name = quoted(self.rng.choice(names))
        q = lambda view: f"{view} of {name}{clauses}{self.columns()} all"
        answers = {v: self.round.get(settings, q(v)) for v in ("procedures", "callers", "tree", "threads")}
        if not all(answers.values()) or len(answers["procedures"].rows) != 1:
            return
        row = answers["procedures"].rows[0]["values"]
        for c in range(len(row)):
            value = row[c] or 0
            for view in ("callers",) + (("threads",) if "gpu_" not in answers["procedures"].columns[c] else ()) + (("tree",) if c % 2 == 0 else ()):
                equal(f"{view} of a procedure", self.name, settings + q(view), numbers(answers[view].top(), c), value, self.whole[c] or 0)
        for clause in (" limit 1", " sort by name asc", " where 1 > 0"):
            again = self.round.get(settings, f"procedures of {name}{clauses}{clause}{self.columns()}")
            if again and again.rows:
                for c in range(len(row)):
                    equal("the row by another way", self.name, settings + name + clause, again.rows[0]["values"][c] or 0, row[c] or 0)

    # -- statistics, from the profiles one by one --

    def statistics(self, settings, clauses, names):
        if not names or self.name.startswith("devices") or any("gpu_" in m for m in self.metrics):
            return # those of devices are over queues
        name, metric = quoted(self.rng.choice(names)), self.rng.choice(self.metrics)
        per, word = self.rng.choice((("", ""), (" per thread", " per thread"), (" per rank", " per rank"), (" per host", " per host")))
        if not per:
            per = " per rank" if self.ranks else " per thread"
        functions = ("sum", "mean", "min", "max", "stddev", "count", "imbalance", "p50")
        settings += "set helpers on; "
        queries = [f"procedures of {name}{clauses}{word} columns " + ", ".join(f"{f}({metric})" for f in functions),
                   f"threads of {name}{clauses}{per} columns {metric} all", f"threads{clauses}{per} columns {metric} all"]
        row, parts, everybody = (self.round.get(settings, q) for q in queries)
        if not row or not parts or not everybody or len(row.rows) != 1 or None in row.rows[0]["values"][1:]:
            return
        values = sorted([r["values"][0] or 0 for r in parts.rows] + [0] * (len(everybody.rows) - len(parts.rows)))
        n, mean = len(values), sum(values) / len(values)
        wanted = (sum(values), mean, values[0], values[-1], (sum((v - mean) ** 2 for v in values) / n) ** 0.5, sum(v != 0 for v in values),
                  values[-1] - mean, (values[(n - 1) // 2] + values[n // 2]) / 2)
        for f, value, mine in zip(functions, row.rows[0]["values"], wanted):
            equal(f"{f} over profiles", self.name, settings + queries[0], value or 0, mine, values[-1])

    def explained(self, settings, clauses):
        share, metric = self.rng.randint(1, 100), self.rng.choice(self.metrics)
        answer = self.round.get(settings, f"explain {share}% of {metric}{clauses} columns {metric} all")
        if not answer or self.whole[2 * self.metrics.index(metric)] <= 0:
            return
        whole, found = answer.total[0], numbers(answer.top(), 0)
        if "through" not in clauses:
            equal("what explains a share has it", self.name, settings + clauses, min(found, whole * share / 100), whole * share / 100, whole)
        equal("and no more than all", self.name, settings + clauses, max(found, whole), whole, whole)

    # -- forms of one answer --

    def formats(self, settings, clauses):
        query = self.rng.choice(("tree", "procedures", "callers", "flat", "threads", "modules")) + clauses + self.columns() + " all"
        answer = self.round.get(settings, query)
        if not answer:
            return
        for form, delimiter in (("csv", ","), ("tsv", "\t")):
            done = subprocess.run([HQ, "--quiet", self.path, settings + query + " as " + form], capture_output=True, text=True)
            rows = list(csv.reader(io.StringIO(done.stdout), delimiter=delimiter)) if form == "csv" else \
                [line.split("\t") for line in done.stdout.splitlines()]
            equal(f"rows of {form}", self.name, settings + query, len(rows) - 1, len(answer.rows))
            for cells, r in zip(rows[1:], answer.rows):
                for text, value in zip(cells[-len(answer.columns):], r["values"]):
                    equal(f"a value of {form}", self.name, settings + query, float(text) if text else 0, value or 0)
        text = subprocess.run([HQ, "--quiet", self.path, settings + query + " as table"], capture_output=True, text=True).stdout
        shown = [line for line in text.splitlines()[1:] if line.strip() and line.split()[0].isdigit() and line.split()[-1] != "total"]
        if all("\n" not in r["name"] for r in answer.rows):
            equal("rows of the table", self.name, settings + query, len(shown), len(answer.rows))
        folded = subprocess.run([HQ, "--quiet", self.path, settings + "tree" + clauses + " columns " + self.metrics[0] + " as folded"],
                                capture_output=True, text=True)
        lines = [line.rsplit(" ", 1) for line in folded.stdout.splitlines()]
        whole = self.round.get(settings, "tree" + clauses + self.columns() + " all")
        if whole and folded.returncode == 0 and lines and all(len(x) == 2 and x[1].lstrip("-").isdigit() for x in lines):
            unit = {"s": 1e6}.get(whole.units[0], 1)
            difference = abs(sum(int(x[1]) for x in lines) - self.whole[0] * unit)
            equal("folded stacks add up", self.name, settings + "tree" + clauses, 0 if difference <= len(lines) else difference, 0)

    def itself(self, settings, clauses):
        if "during" in clauses:
            return
        view = self.rng.choice(BY_EXCLUSIVE[:4])
        columns = " columns " + ", ".join("%s.x, old.%s.x, delta.%s.x" % (m, m, m) for m in self.metrics)
        query = f"{view}{clauses} compare with {quoted(self.path)}{columns} all"
        answer, alone = self.round.get(settings, query), self.round.get(settings, view + clauses + self.columns() + " all")
        if not answer or not alone:
            return
        for c in range(0, len(answer.columns), 3): # rows that look alike may be one
            equal("a comparison with itself adds up", self.name, settings + query, numbers(answer.top(), c), numbers(alone.top(), c // 3 * 2 + 1))
        for r in answer.rows:
            for c in range(0, len(answer.columns), 3):
                here, old, delta = (x or 0 for x in r["values"][c:c + 3])
                equal("both sides are one", self.name, settings + query, here, old)
                equal("and differ by nothing", self.name, settings + query, delta, 0)

    def totals(self, clauses):
        if "through" in clauses or "prune" in clauses or "hide" in clauses:
            return
        whole = self.round.get("", "procedures" + clauses + self.columns() + " all")
        for name in ("inline", "loops", "normalise", "internals", "lines"):
            for word in ("on", "off"):
                other = self.round.get(f"set {name} {word}; ", "procedures" + clauses + self.columns() + " all")
                if not whole or not other:
                    continue
                for c in range(len(whole.columns)):
                    equal(f"one total with {name} {word}", self.name, clauses, other.total[c] or 0, whole.total[c] or 0)
                    if c % 2:
                        equal(f"one sum with {name} {word}", self.name, clauses, numbers(other.rows, c), whole.total[c] or 0)


# ---- databases ----

FILES = {
    "stacks.folded": "main;solve;axpy 30\nmain;solve;solve;axpy 5\nmain;io;write 12\nmain 3\nworker;axpy 8\nmain;solve 7\n",
    "made.callgrind": "events: Ir Dr\nfl=a.c\nfn=main\n1 10 2\ncfn=solve\ncalls=3 5\n2 300 40\nfn=solve\n5 200 30\ncfi=b.c\ncfn=axpy\n"
                      "calls=9 1\n6 100 10\nfl=b.c\nfn=axpy\n1 100 10\n",
    "made.perf": "".join(f"app {p} 10.{t:06d}: 1000 cycles:\n\t{a:x} {f}+0x4 (/opt/app)\n\t2000 main+0x10 (/opt/app)\n\n"
                         for p, t, a, f in ((7, 100, 0x1000, "solve"), (7, 200, 0x1100, "axpy"), (8, 300, 0x1000, "solve"), (7, 400, 0x2000, "main"))),
}


def databases(directory):
    for path in sorted(glob.glob(os.path.join(TOP, "tests/query/*.fixture"))):
        name = os.path.basename(path)[:-len(".fixture")]
        if re.search(r"^value \S+ \S+ -", open(path).read(), re.M):
            continue  # of values of both signs a part may be more than the whole: signs.test
        if name == "nowhere": # a partial path without any procedure
            continue
        out = os.path.join(directory, name)
        subprocess.run([FIXTURE, path, out], check=True, capture_output=True)
        yield name, out
    for name, text in FILES.items():
        source = os.path.join(directory, name)
        with open(source, "w", encoding="utf-8") as f:
            f.write(text)
        yield name, source
    app = os.path.join(directory, "app.pprof")
    subprocess.run([HQ, "--quiet", os.path.join(directory, "app"), f'tree as pprof to "{app}"'], check=True, capture_output=True)
    yield "app.pprof", app
    for older in sorted(glob.glob(os.path.join(TOP, "tests/older/*/*/hq.db"))):
        yield os.path.relpath(os.path.dirname(older), TOP), os.path.dirname(older)
    lulesh = os.path.join(TOP, "../shared/data/hpctoolkit-lulesh")
    if os.path.isdir(lulesh):
        yield "hpctoolkit-lulesh", lulesh


def main():
    print("IDENTITIES_SEED=%d IDENTITIES_ROUNDS=%d" % (SEED, ROUNDS))
    with tempfile.TemporaryDirectory() as directory:
        listed = [(a, a) for a in sys.argv[1:]] or list(databases(directory))
        for number, (name, path) in enumerate(listed):
            before = passed + failed
            Checker(path, name, random.Random(SEED * 1000 + number)).run()
            if os.environ.get("IDENTITIES_VERBOSE"):
                print(f"{name}: {passed + failed - before}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
