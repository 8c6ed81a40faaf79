#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# A slow and obvious evaluator, which agrees with hq on random programs and random queries.
#
# It knows nothing of trees, ranges or prefix sums: a program is a list of samples, each with its whole call path, and every value is a
# sum over that list by the definitions of the language. REFERENCE_TREES and REFERENCE_SEED in the environment choose more or others.
# timeout: 300
import json, os, random, subprocess, sys, tempfile
from collections import defaultdict

TOP = os.environ.get("TOP") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HQ = os.environ.get("HQ", os.path.join(TOP, "hq"))
FIXTURE = os.path.join(TOP, os.environ.get("BUILD", "build"), "tools/fixture")
if not os.path.exists(FIXTURE):
    FIXTURE = os.path.join(TOP, "build/tools/fixture")
METRICS = ["cycles", "misses"]


class Scope:
    def __init__(self, ident, kind, name, file, line, parent, module):
        self.ident, self.kind, self.name, self.file, self.line, self.parent, self.module = ident, kind, name, file, line, parent, module

    def chain(self):        # from the procedure down to this scope
        return (self.parent.chain() if self.parent else []) + [self]

    def entity(self):       # procedures as people count them
        return (self.name, self.file, self.module)


class Program:
    """Random scopes, and samples: (profile, metric, value, path); a path is a list of rows (scope or 'line', key)."""

    def __init__(self, rng):
        self.rng, self.text = rng, []
        self.scopes, self.procs, self.loops = [], [], defaultdict(int)
        self.ranks = rng.choice([0, 0, 2, 3])
        self.make_structure()
        self.make_values()

    def say(self, *words):
        self.text.append(" ".join(str(w) if " " not in str(w) else '"%s"' % w for w in words))

    def make_structure(self):
        rng = self.rng
        for m in METRICS:
            self.say("metric", m.upper(), "events", 1, 1, "sampled")
        number = 0
        for m in range(rng.randint(1, 2)):
            self.say("module", "m%d" % m, "/lib/m%d.so" % m)
            for f in range(rng.randint(1, 2)):
                file = "f%d%d.c" % (m, f)
                self.say("file", file, "m%d" % m, file)
                for p in range(rng.randint(1, 3)):
                    name = "p%d" % number
                    number += 1
                    proc = Scope(name, "procedure", name, file, 10 * number, None, m)
                    self.say("proc", name, file, name, proc.line)
                    self.scopes.append(proc)
                    self.procs.append(proc)
                    self.make_inside(proc, 0)

    def make_inside(self, parent, depth):
        rng = self.rng
        for i in range(rng.choice([0, 0, 1, 2])):
            ident = "%s_%d" % (parent.ident, i)
            line = 100 * (depth + 1) + len(self.scopes)
            if rng.random() < 0.5:
                self.loops[parent.chain()[0]] += 1
                scope = Scope(ident, "loop", "loop at %s:%d" % (parent.file, line), parent.file, line, parent, parent.module)
                scope.ordinal = self.loops[parent.chain()[0]]
                self.say("loop", ident, parent.ident, line)
            else:
                callee = rng.choice(["in1", "in2"])
                scope = Scope(ident, "inline", callee, callee + ".h", 3, parent, parent.module)
                self.say("inline", ident, parent.ident, callee, callee + ".h", 3, line)
                scope.call = (parent.file, line)
            self.scopes.append(scope)
            if depth < 2:
                self.make_inside(scope, depth + 1)

    def make_values(self):
        rng = self.rng
        self.samples = []
        self.profiles = []
        for i in range(rng.randint(1, 4)):
            rank = i % self.ranks if self.ranks and not (i == 3) else -1
            self.profiles.append(rank)
            self.say("profile", "r%d" % i, *(["rank=%d" % rank] if rank >= 0 else []), "pid=%d" % (100 + i), "tid=%d" % (100 + i), "host=h%d" % (i % 2))
        root = rng.choice(self.procs)
        for _ in range(rng.randint(1, 25)):
            frames = [self.frame(root)]
            while rng.random() < 0.7 and len(frames) < 7:
                frames.append(self.frame(rng.choice(self.procs)))
            profile, metric, value = rng.randrange(len(self.profiles)), rng.randrange(2), rng.randint(1, 40)
            self.text.append("value r%d %s %d %d %s" % (profile, METRICS[metric].upper(), value, value,
                                                        " > ".join("%s:%d" % (s.ident, line) for s, line in frames)))
            self.samples.append((profile, metric, value, self.rows(frames)))

    def frame(self, proc):
        rng = self.rng
        inside = [s for s in self.scopes if s.chain()[0] is proc]
        return rng.choice(inside), rng.randint(1, 3)

    @staticmethod
    def rows(frames):
        path, site = [], None
        for scope, line in frames:
            for s in scope.chain():
                call = site if s.kind == "procedure" else s.call if s.kind == "inline" else None
                path.append((s, call))
            site = (scope.file, line)
        path.append(("line", site))
        return path


# ---- definitions ----

def is_call(row):
    return row[0] != "line" and row[0].kind in ("procedure", "inline")


def owns(path, i):
    """Whether a sample with this path counts for the exclusive value of its row i."""
    if path[i][0] == "line":
        return True
    if path[i][0].kind == "loop":
        return i + 1 == len(path) or path[i + 1][0] == "line"
    return not any(is_call(row) for row in path[i + 1:])


def owns_frame(path, i):
    """The same with inlined code: for files and load modules."""
    return not any(row[0] != "line" and row[0].kind == "procedure" for row in path[i + 1:])


def site_text(site):
    return "%s:%d" % site if site else None


def row_name(row):
    return "%s:%d" % row[1] if row[0] == "line" else row[0].name


class Values:
    def __init__(self):
        self.inc, self.exc = [0, 0], [0, 0]

    def cells(self):
        return [self.inc[0], self.exc[0], self.inc[1], self.exc[1]]


def add(table, keys_inc, keys_exc, metric, value):
    for key in set(keys_inc):
        table[key].inc[metric] += value
    for key in keys_exc:
        table[key].exc[metric] += value


class Evaluator:
    """Each view gives {tuple of (name, call site) from the top row: values}."""

    def __init__(self, program, query):
        self.program, self.q = program, query
        self.samples = [s for s in program.samples if self.selected(s)]
        self.samples = [(p, m, v, self.edited(path)) for p, m, v, path in self.samples]

    # clauses on samples
    def selected(self, sample):
        profile, _, _, path = sample
        if self.q.get("ranks") is not None and self.program.profiles[profile] not in self.q["ranks"]:
            return False
        for negated, steps in self.q.get("through", []):
            if self.path_matches(path, steps) == negated:
                return False
        return True

    @staticmethod
    def path_matches(path, steps):
        rows = [r for r in path if r[0] != "line"]

        def match_from(i, k):       # step k matched row i
            if k + 1 == len(steps):
                return True
            for j in range(i + 1, len(rows)):
                name, far = steps[k + 1]
                hit = rows[j][0].name == name if name != "*" else is_call(rows[j])
                between = rows[i + 1:j]
                if hit and (far or not any(r[0].kind == "procedure" for r in between)) and match_from(j, k + 1):
                    return True
            return False
        return any((steps[0][0] == "*" and is_call(r) or r[0].name == steps[0][0]) and match_from(i, 0) for i, r in enumerate(rows))

    def edited(self, path):
        if self.q.get("prune"):
            for i, row in enumerate(path):
                if row[0] != "line" and row[0].name == self.q["prune"]:
                    path = path[:i + 1]
                    break
        if self.q.get("hide"):
            path = [row for row in path if row[0] == "line" or row[0].name != self.q["hide"]]
        return path

    # views
    def tree(self):
        table, name = defaultdict(Values), self.q.get("of")
        for _, metric, value, path in self.samples:
            start = 0
            if name:
                hits = [i for i, row in enumerate(path) if row[0] != "line" and row[0].name == name]
                if not hits:
                    continue
                start = hits[0]
            for i in range(start, len(path)):
                if path[i][0] == "line":
                    continue
                key = tuple((row[0].ident, row[1]) for row in path[start:i + 1])
                if name:
                    key = ("of",) + key[1:]
                label = tuple((row_name(row), site_text(row[1])) for row in path[start:i + 1])
                add(table, [(key, label)] if not name else [(key, (("of", None),) + label[1:])],
                    [(key, label) if not name else (key, (("of", None),) + label[1:])] if owns(path, i) else [], metric, value)
        return table

    def callers(self):
        table = defaultdict(Values)
        for _, metric, value, path in self.samples:
            inc, exc = [], []
            for i, row in enumerate(path):
                if not is_call(row) or (self.q.get("of") and row[0].name != self.q["of"]):
                    continue
                key, label, at = [row[0].entity()], [(row[0].name, None)], row
                keys = [(tuple(key), tuple(label))]
                for j in range(i - 1, -1, -1):
                    if not is_call(path[j]):
                        continue
                    key.append((path[j][0].entity(), at[1]))
                    label.append((path[j][0].name, site_text(at[1])))
                    keys.append((tuple(key), tuple(label)))
                    at = path[j]
                inc += keys
                exc += keys if owns(path, i) else []
            add(table, inc, exc, metric, value)
        return table

    def ranked(self, key_of, owner):
        table = defaultdict(Values)
        for _, metric, value, path in self.samples:
            inc, exc = [], []
            for i, row in enumerate(path):
                key = key_of(row)
                if key is not None:
                    inc.append(key)
                    if owner(path, i):
                        exc.append(key)
            add(table, inc, exc, metric, value)
        return table

    def procedures(self):
        return self.ranked(lambda r: (r[0].entity(), ((r[0].name, None),)) if is_call(r) else None, owns)

    def loops(self):
        return self.ranked(lambda r: (r[0].ident, ((r[0].name, None),)) if r[0] != "line" and r[0].kind == "loop" else None, owns)

    def files(self):
        return self.ranked(lambda r: ((r[0].file, r[0].module), ((r[0].file, None),))
                           if r[0] != "line" and r[0].kind == "procedure" else None, owns_frame)

    def modules(self):
        return self.ranked(lambda r: (r[0].module, (("m%d.so" % r[0].module, None),))
                           if r[0] != "line" and r[0].kind == "procedure" else None, owns_frame)

    def lines(self):
        """Statements, and calls for the line that makes them; only lines that are statements somewhere are rows: all are."""
        table = defaultdict(Values)
        for _, metric, value, path in self.samples:
            inc = [row[1] for row in path if is_call(row) and row[0].kind == "procedure" and row[1]]
            inc += [row[1] for row in path if is_call(row) and row[0].kind == "inline" and row[1] in self.statements()]
            exc = [path[-1][1]] if path[-1][0] == "line" else []
            add(table, [(k, ((site_text(k), None),)) for k in inc + exc], [(k, ((site_text(k), None),)) for k in exc], metric, value)
        return table

    def flat(self):
        """module > file > procedure > inlined code and loops > lines and calls, by static identity."""
        table = defaultdict(Values)
        for _, metric, value, path in self.samples:
            inc, exc, key, label = set(), [], (), ()
            for i, (scope, call) in enumerate(path):
                if scope == "line":
                    inc.add((key + (call,), label + ((site_text(call), None),)))
                    exc.append((key + (call,), label + ((site_text(call), None),)))
                    continue
                if scope.kind == "procedure":
                    if call:        # from the scope that makes the call
                        inc.add((key + (call,), label + ((site_text(call), None),)))
                        inc.add((key + ((scope.ident, call),), label + ((scope.name, site_text(call)),)))
                    places = [("m%d.so" % scope.module, scope.module), (scope.file, scope.file), (scope.name, scope.ident)]
                    key, label = (), ()
                    for name, part in places:
                        key, label = key + (part,), label + ((name, None),)
                        inc.add((key, label))
                        if owns_frame(path, i) if len(key) < 3 else owns(path, i):
                            exc.append((key, label))
                    continue
                key, label = key + (scope.ident,), label + ((scope.name, None),)
                inc.add((key, label))
                if owns(path, i):
                    exc.append((key, label))
            add(table, inc, exc, metric, value)
        return table

    def statements(self):
        if not hasattr(self, "known"):
            self.known = set()
            for _, _, _, path in self.program.samples:
                self.known.add(path[-1][1])
                self.known.update(row[1] for row in path if row[0] != "line" and row[0].kind == "procedure" and row[1])
        return self.known

    # statistics over profiles of an inclusive value of the first metric
    def statistics(self):
        selected = [i for i, r in enumerate(self.program.profiles) if self.q.get("ranks") is None or r in self.q["ranks"]]
        if any(self.program.profiles[i] >= 0 for i in selected):
            selected = [i for i in selected if self.program.profiles[i] >= 0]
        per = defaultdict(lambda: defaultdict(int))
        for profile, metric, value, path in self.samples:
            for key in {(r[0].entity(), ((r[0].name, None),)) for r in path if is_call(r)}:
                if metric == 0:
                    per[key][profile] += value
                else:
                    per[key][profile] += 0
        table = {}
        for key, values in per.items():
            x = [values.get(i, 0) for i in selected]
            n, mean = len(x), sum(x) / len(x) if x else 0
            table[key] = [mean, min(x), max(x), (sum((v - mean) ** 2 for v in x) / n) ** 0.5, sum(v != 0 for v in x),
                          (max(x) - mean) * n, percentile(x, 0.9)] if x else None
        return table


def percentile(values, share):
    values = sorted(values)
    at = share * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (at - low) * (values[high] - values[low])


# ---- random queries ----

STATISTICS = "mean(cycles), min(cycles), max(cycles), stddev(cycles), count(cycles), imbalance(cycles), p90(cycles)"


def random_query(rng, program):
    names = sorted({s.name for s in program.scopes if s.kind != "loop"})
    q = {"view": rng.choice(["tree", "tree", "callers", "callers", "procedures", "loops", "lines", "files", "modules", "flat", "flat", "statistics"])}
    if q["view"] in ("tree", "callers") and rng.random() < 0.5:
        q["of"] = rng.choice(names)
    if rng.random() < 0.3:
        q["through"] = [(rng.random() < 0.3, [(rng.choice(names + ["*"]), False)] +
                         [(rng.choice(names + ["*"]), rng.random() < 0.5) for _ in range(rng.randint(0, 2))])
                        for _ in range(rng.randint(1, 2))]
    if q["view"] in ("tree", "callers", "procedures") and rng.random() < 0.2:
        q["hide" if rng.random() < 0.5 else "prune"] = rng.choice(names)
    if rng.random() < 0.2 and program.ranks:
        q["ranks"] = sorted(rng.sample(range(program.ranks), rng.randint(1, program.ranks)))
    if q["view"] != "statistics" and rng.random() < 0.3:
        q["where"] = (rng.randrange(4), rng.choice([">", ">=", "<"]), rng.randint(0, 60))
    return q


def query_text(q):
    text = "procedures" if q["view"] == "statistics" else q["view"]
    if q.get("of"):
        text += " of " + q["of"]
    for negated, steps in q.get("through", []):
        text += (" not" if negated else "") + " through " + "".join(
            ("" if i == 0 else " >> " if far else " > ") + name for i, (name, far) in enumerate(steps))
    for word in ("hide", "prune"):
        if q.get(word):
            text += " %s %s" % (word, q[word])
    if q.get("ranks") is not None:
        text += " ranks " + ",".join(map(str, q["ranks"]))
    if q.get("where"):
        slot, op, bound = q["where"]
        text += " where $%d %s %d" % (slot + 1, op, bound)
    return text + (" columns " + STATISTICS if q["view"] == "statistics" else " columns $1, $2, $3, $4") + " as json"


def holds(q, cells):
    slot, op, bound = q["where"]
    return cells[slot] > bound if op == ">" else cells[slot] >= bound if op == ">=" else cells[slot] < bound


def merge_labels(table):
    """Rows as a list, because different rows may have the same names: (label, values)."""
    return [(label, v.cells() if isinstance(v, Values) else v) for (key, label), v in table.items()]


def expected_rows(program, q):
    table = getattr(Evaluator(program, q), q["view"])()
    rows = merge_labels(table)
    if q["view"] != "statistics":
        rows = [(l, c) for l, c in rows if any(c) or not (q.get("through") or q.get("ranks") or q.get("hide") or q.get("prune"))]
    if not q.get("where"):
        return rows
    # The keys decide who is whose ancestor, not the labels.
    keep = set()
    for (key, label), v in table.items():
        if holds(q, v.cells()) and any(v.cells()):
            for n in range(1, len(key) + 1 if isinstance(key, tuple) and len(label) > 1 else 2):
                keep.add(key[:n] if len(label) > 1 else key)
    return [(label, v.cells()) for (key, label), v in table.items() if key in keep]


def shown_rows(document):
    rows, path = [], []
    for row in document["rows"]:
        site = row["callsite"]
        path = path[:row["depth"]] + [(row["name"], site)]
        rows.append((tuple(path), row["values"]))
    return rows


def comparable(rows, q):
    out = []
    for label, cells in rows:
        if q["view"] == "flat":
            pass
        elif q["view"] == "callers" or q["view"] == "tree":
            label = tuple((("of", None) if i == 0 and q.get("of") else (name, site)) for i, (name, site) in enumerate(label))
        else:
            label = tuple((name, None) for name, _ in label)
        if q["view"] == "callers":
            label = tuple((name if i or not q.get("of") else "of", site if i else None) for i, (name, site) in enumerate(label))
        out.append((label, tuple(round(c, 9) if c is not None else None for c in cells)))
    return sorted(out, key=repr)


def check_order(document):
    """Siblings stand in descending order of the first metric."""
    last = {}
    for row in document["rows"]:
        depth = row["depth"]
        for d in [d for d in last if d > depth]:
            del last[d]
        if depth in last and row["values"][0] > last[depth]:
            return False
        last[depth] = row["values"][0]
    return True


def documents(text):
    decoder, at, found = json.JSONDecoder(), 0, []
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        document, at = decoder.raw_decode(text, at)
        found.append(document)
    return found


# ---- comparisons ----

def aligned(program):
    """Rows by kind, name and loop ordinal: {key: [inclusive, exclusive]} of the first metric."""
    table = defaultdict(lambda: [0, 0])
    for _, metric, value, path in program.samples:
        rows = [(i, r[0]) for i, r in enumerate(path) if r[0] != "line"]
        for n, (i, _) in enumerate(rows):
            key = tuple((s.kind, s.ordinal if s.kind == "loop" else s.name) for _, s in rows[:n + 1])
            if metric == 0:
                table[key][0] += value
                table[key][1] += value if owns(path, i) else 0
            else:
                table[key]      # it is there, with nothing of the first metric
    return table


def expected_comparison(here, old):
    a, b = aligned(here), aligned(old)
    return sorted((tuple("loop" if kind == "loop" else name for kind, name in key), a[key][0], b[key][0], a[key][0] - b[key][0],
                   a[key][1] - b[key][1]) for key in set(a) | set(b))


def check_comparison(seed, directory):
    """Two programs that share names: values of both sides, and the change of every scope."""
    programs, dbs = [], []
    for n in (seed, seed + 100000):
        programs.append(Program(random.Random(n)))
        dbs.append(os.path.join(directory, "compare%d" % n))
        with open(dbs[-1] + ".fixture", "w") as f:
            f.write("\n".join(programs[-1].text) + "\n")
        subprocess.run([FIXTURE, dbs[-1] + ".fixture", dbs[-1]], check=True)
    query = "tree all columns cycles, old.cycles, delta.cycles, delta.cycles.x compare with '%s' as json"
    done = subprocess.run([HQ, "--quiet", dbs[0], query % dbs[1], query % dbs[0]], capture_output=True, text=True, timeout=60)
    if done.returncode:
        return ["seed %d: comparison: %s" % (seed, done.stderr)]
    both, same = documents(done.stdout)
    got = sorted((tuple("loop" if name.startswith("loop at") else name for name, _ in label),) + tuple(round(v) for v in values)
                 for label, values in shown_rows(both))
    wrong = []
    if got != expected_comparison(*programs):
        wrong.append("seed %d: comparison: missing %s, too much %s" % (
            seed, [r for r in expected_comparison(*programs) if r not in got][:4], [r for r in got if r not in expected_comparison(*programs)][:4]))
    if any(values[2] or values[3] for _, values in shown_rows(same)):
        wrong.append("seed %d: a database compared with itself is not all zeros" % seed)
    return wrong


def check_program(seed, directory, queries):
    rng = random.Random(seed)
    program = Program(rng)
    source, db = os.path.join(directory, "%d.fixture" % seed), os.path.join(directory, str(seed))
    with open(source, "w") as f:
        f.write("\n".join(program.text) + "\n")
    subprocess.run([FIXTURE, source, db], check=True)
    wanted = [random_query(rng, program) for _ in range(queries)]
    done = subprocess.run([HQ, "--quiet", db] + [query_text(q) for q in wanted], capture_output=True, text=True, timeout=120)
    if done.returncode:
        return 0, ["seed %d: status %d: %s" % (seed, done.returncode, done.stderr[-2000:])]
    wrong = []
    found = documents(done.stdout)
    if len(found) != len(wanted):
        return 0, ["seed %d: %d answers to %d queries" % (seed, len(found), len(wanted))]
    for q, document in zip(wanted, found):
        expected, got = comparable(expected_rows(program, q), q), comparable(shown_rows(document), q)
        if expected != got or not (q["view"] == "statistics" or check_order(document)):
            wrong.append("seed %d: %s\n  missing %s\n  too much %s" % (
                seed, query_text(q), [r for r in expected if r not in got][:4], [r for r in got if r not in expected][:4]))
    return len(wanted) - len(wrong), wrong


def main():
    trees, first = int(os.environ.get("REFERENCE_TREES", "120")), int(os.environ.get("REFERENCE_SEED", "1"))
    passed, wrong = 0, []
    with tempfile.TemporaryDirectory(prefix="hq-reference.") as directory:
        for seed in range(first, first + trees):
            good, bad = check_program(seed, directory, 60)
            unlike = check_comparison(seed, directory)
            passed, wrong = passed + good + (not unlike), wrong + bad + unlike
    for line in wrong[:20]:
        print(line)
    print("%d passed, %d failed" % (passed, len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
