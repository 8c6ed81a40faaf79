#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# A slow and obvious evaluator, which agrees with hq on random programs and random queries.
#
# It knows nothing of trees, ranges or prefix sums: a program is a list of samples, each with its whole call path, and every value is a
# sum over that list by the definitions of the language. REFERENCE_TREES and REFERENCE_SEED in the environment choose more or others.
import json, os, random, subprocess, sys, tempfile
from counting import seconds
from collections import defaultdict

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lib import Evaluator, LENGTH_US, METRICS, Program, Values, owns

TOP = os.environ.get("TOP") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HQ = os.environ.get("HQ", os.path.join(TOP, "hq"))
FIXTURE = os.path.join(TOP, os.environ.get("BUILD", "build"), "tools/fixture")
if not os.path.exists(FIXTURE):
    FIXTURE = os.path.join(TOP, "build/tools/fixture")


# ---- random queries ----

STATISTICS = "mean(cycles), min(cycles), max(cycles), stddev(cycles), count(cycles), imbalance(cycles), p90(cycles)"


NESTED = ("tree", "callers", "flat")
VIEWS = ("tree", "tree", "callers", "callers", "procedures", "loops", "lines", "files", "modules", "flat", "flat", "threads", "explain")


def random_slice(rng, program, names, q):
    kind = rng.choice(["slice", "pattern", "iteration"])
    if kind == "slice":
        return ("slice",) + tuple(sorted(rng.sample(range(0, LENGTH_US + 1), 2)))
    name = rng.choice(names)
    most = max((len(mine) for mine in Evaluator(program, q).visits(name)), default=0)
    return ("iteration", rng.randint(1, most), name) if kind == "iteration" and most else ("pattern", name)


def random_query(rng, program):
    names = sorted({s.name for s in program.scopes if s.kind != "loop"})
    q = {"view": rng.choice(VIEWS)}
    if q["view"] in ("tree", "callers", "procedures", "threads") and rng.random() < 0.5:
        q["of"] = rng.choice(names)
    if rng.random() < 0.2 and program.ranks:
        q["ranks"] = sorted(rng.sample(range(program.ranks), rng.randint(1, program.ranks)))
    if rng.random() < 0.15:
        q["threads"] = sorted(rng.sample(range(3), rng.randint(1, 2)))
    if rng.random() < 0.2:
        q["during"] = random_slice(rng, program, names, q)
    if rng.random() < 0.3:
        q["through"] = [(rng.random() < 0.3, [(rng.choice(names + ["*"]), False)] +
                         [(rng.choice(names + ["*"]), rng.random() < 0.5) for _ in range(rng.randint(0, 2))])
                        for _ in range(rng.randint(1, 2))]
    for word in ("hide", "prune"):
        if rng.random() < 0.15:
            q[word] = rng.sample(names, min(len(names), rng.randint(1, 2)))
    if q["view"] in NESTED and rng.random() < 0.2:
        q["flatten"] = rng.randint(1, 3)
    if q["view"] == "explain":
        q["share"], q["metric"] = rng.randint(1, 100), rng.randrange(2)
    elif q["view"] != "threads" and rng.random() < 0.2:
        q["statistics"] = True
    if (q.get("statistics") or q["view"] == "threads") and rng.random() < 0.5:
        q["per"] = rng.choice(["rank", "host", "thread"])
    if not q.get("statistics") and q["view"] != "explain" and rng.random() < 0.3:
        q["where"] = (rng.randrange(4), rng.choice([">", ">=", "<"]), rng.randint(0, 60))
    return q


def slice_text(during):
    if during[0] == "slice":
        return " during %.6fs..%.6fs" % (during[1] / 1e6, during[2] / 1e6)
    return " during " + ("iteration %d of %s" % during[1:] if during[0] == "iteration" else during[1])


def clause_text(q):
    text = ""
    for negated, steps in q.get("through", []):
        text += (" not" if negated else "") + " through " + "".join(
            ("" if i == 0 else " >> " if far else " > ") + name for i, (name, far) in enumerate(steps))
    for word in ("hide", "prune"):
        text += "".join(" %s %s" % (word, name) for name in q.get(word, []))
    for word in ("ranks", "threads"):
        if q.get(word) is not None:
            text += " %s %s" % (word, ",".join(map(str, q[word])))
    return text


def query_text(q):
    text = q["view"] if q["view"] != "explain" else "explain %d%% of %s" % (q["share"], METRICS[q["metric"]])
    if q.get("of"):
        text += " of " + q["of"]
    text += clause_text(q)
    if q.get("during"):
        text += slice_text(q["during"])
    for word in ("flatten", "per"):
        if q.get(word):
            text += " %s %s" % (word, q[word])
    if q.get("where"):
        slot, op, bound = q["where"]
        text += " where $%d %s %d" % (slot + 1, op, bound)
    if q["view"] != "explain":
        text += " columns " + (STATISTICS if q.get("statistics") else "$1, $2, $3, $4")
    return text + " as json"


def holds(q, cells):
    slot, op, bound = q["where"]
    return cells[slot] > bound if op == ">" else cells[slot] >= bound if op == ">=" else cells[slot] < bound


def merge_labels(table):
    """Rows as a list, because different rows may have the same names: (label, values)."""
    return [(label, v.cells() if isinstance(v, Values) else v) for (key, label), v in table.items()]


def flattened(table):
    """Each top row is replaced by its children; one without any stays."""
    parents = {key[0][:1] for key in table if len(key[0]) > 1}
    return {(((key[0], key[1]),) + key[2:], label[1:]) if len(key) > 1 else (key, label): v
            for (key, label), v in table.items() if len(key) > 1 or key not in parents}


def expected_rows(program, q):
    evaluator = Evaluator(program, q)
    table = evaluator.statistics(q["view"]) if q.get("statistics") else getattr(evaluator, q["view"])()
    for _ in range(q.get("flatten", 0)):
        table = flattened(table)
    rows = merge_labels(table)
    if not q.get("where"):
        return rows
    # The keys decide who is whose ancestor, not the labels.
    keep = set()
    nested = q["view"] in NESTED
    for (key, label), v in table.items():
        if holds(q, v.cells()) and (any(v.cells()) or q["view"] == "threads"):
            for n in range(1, len(key) + 1 if nested else 2):
                keep.add(key[:n] if nested else key)
    return [(label, v.cells()) for (key, label), v in table.items() if key in keep]


def check_explain(program, q, document):
    """The values in order: which of two equal contexts comes first is hq's choice."""
    evaluator, column = Evaluator(program, q), [row["values"][0] for row in document["rows"]]
    own, whole = evaluator.own_costs(q["metric"]), sum(v for _, m, v, _ in evaluator.samples if m == q["metric"])
    expected, covered = [], 0
    for value in own:
        if covered >= whole * q["share"] / 100:
            break
        expected.append(value)
        covered += value
    return [] if column == expected else ["  expected %s\n  but got %s" % (expected, column)]


def shown_rows(document):
    rows, path = [], []
    for row in document["rows"]:
        site = row["callsite"]
        path = path[:row["depth"]] + [(row["name"], site)]
        rows.append((tuple(path), row["values"]))
    return rows


def comparable(rows, q):
    out, nested = [], q["view"] in NESTED
    for label, cells in rows:
        if not nested:
            label = tuple((name, None) for name, _ in label)
        elif q["view"] == "tree" and q.get("flatten") and len(label) == 1 and label[0][0] in ("of", q.get("of")):
            label = (("of", None),)     # it has no children
        elif q["view"] != "flat" and not q.get("flatten"):      # a top row of callers is no call; that of a pattern has its names
            label = tuple(("of" if i == 0 and q.get("of") else name, site if i or q["view"] == "tree" and not q.get("of") else None)
                          for i, (name, site) in enumerate(label))
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

def loop_calls(program, q):
    """{(procedure, loop ordinal): what is called in it, inlined or not}, in all samples, as far as it is shown."""
    calls = defaultdict(set)
    for _, _, _, path in Evaluator(program, {word: q[word] for word in ("hide", "prune") if word in q}).samples:
        scopes = [r[0] for r in path if r[0] != "line"]
        for above, s in zip(scopes, scopes[1:]):
            if above.kind == "loop" and s.kind != "loop":
                calls[above.chain()[0].name, above.ordinal].add(s.name)
    return calls


def crossed(programs, q):
    """Procedures of which a loop calls nothing that it calls on the other side, and something that another loop of theirs calls there."""
    sides = [loop_calls(program, q) for program in programs]
    return {loop[0] for here, there in (sides, sides[::-1]) for loop, callees in here.items() if loop in there and not callees & there[loop]
            and any(callees & others for other, others in there.items() if other[0] == loop[0])}


def aligned(program, q, without):
    """Rows by kind, name and loop ordinal within their procedure: {key: [inclusive, exclusive]} of the first metric. What lies in loops
    of the procedures `without` is their own."""
    table = defaultdict(lambda: [0, 0])

    def is_left_out(scope):
        return scope.kind == "loop" and scope.chain()[0].name in without

    for _, metric, value, path in Evaluator(program, q).samples:
        path = [r for r in path if r[0] == "line" or not is_left_out(r[0])]
        rows = [(i, r[0]) for i, r in enumerate(path) if r[0] != "line"]
        for n, (i, _) in enumerate(rows):
            key = tuple(tuple((x.kind, x.ordinal if x.kind == "loop" else x.name) for x in s.chain() if not is_left_out(x)) for _, s in rows[:n + 1])
            if metric == 0:
                table[key][0] += value
                table[key][1] += value if owns(path, i) else 0
            else:
                table[key]      # it is there, with nothing of the first metric
    return table


def expected_comparison(here, old, q):
    without = crossed((here, old), q)
    a, b, x = aligned(here, q, without), aligned(old, q, without), q.get("scaled", 1)
    return sorted((tuple("loop" if chain[-1][0] == "loop" else chain[-1][1] for chain in key), a[key][0], x * b[key][0], a[key][0] - x * b[key][0],
                   a[key][1] - x * b[key][1]) for key in set(a) | set(b))


def check_comparison(seed, directory):
    """Two programs that share names: values of both sides, and the change of every scope."""
    programs, dbs, rng = [], [], random.Random(seed)
    for n in (seed, seed + 100000):
        programs.append(Program(random.Random(n)))
        dbs.append(os.path.join(directory, "compare%d" % n))
        with open(dbs[-1] + ".fixture", "w") as f:
            f.write("\n".join(programs[-1].text) + "\n")
        subprocess.run([FIXTURE, dbs[-1] + ".fixture", dbs[-1]], check=True)
    clauses = [{}] + [{k: v for k, v in random_query(rng, programs[0]).items() if k in ("through", "hide", "prune", "ranks", "threads")}
                      for _ in range(4)]
    for q in clauses[2:]:
        q["scaled"] = rng.randint(2, 5)
    query = "tree all columns cycles, old.cycles, delta.cycles, delta.cycles.x compare with '%s'%s%s as json"
    asked = [query % (db, clause_text(q), " scaled by %d" % q["scaled"] if q.get("scaled") else "") for q in clauses for db in (dbs[1], dbs[0])]
    done = subprocess.run([HQ, "--quiet", dbs[0]] + asked, capture_output=True, text=True, timeout=seconds(60))
    if done.returncode:
        return ["seed %d: comparison: %s" % (seed, done.stderr)]
    found, wrong = documents(done.stdout), []
    for q, both, same in zip(clauses, found[::2], found[1::2]):
        got = sorted((tuple("loop" if name.startswith("loop at") else name for name, _ in label),) + tuple(round(v) for v in values)
                     for label, values in shown_rows(both))
        expected = expected_comparison(*programs, q)
        if got != expected:
            wrong.append("seed %d: comparison%s: missing %s, too much %s" % (
                seed, clause_text(q), [r for r in expected if r not in got][:4], [r for r in got if r not in expected][:4]))
        if not q.get("scaled") and any(values[2] or values[3] for _, values in shown_rows(same)):
            wrong.append("seed %d: a database compared with itself is not all zeros" % seed)
    return wrong


def refused(program, seed, db, q, first):
    """A visit that is not known by its number is refused."""
    done = subprocess.run([HQ, "--quiet", db] + first + [query_text(q)], capture_output=True, text=True, timeout=seconds(120))
    fine = done.returncode == 2 and "which visit is number" in done.stderr
    return [] if fine else ["seed %d: %s\n  is not refused: status %d: %s" % (seed, query_text(q), done.returncode, done.stderr)]


def check_queries(program, seed, db, wanted, first):
    """What is wrong with the answers to some queries, after the statements `first`."""
    doubtful = [q for q in wanted if q.get("during", "?")[0] == "iteration" and Evaluator(program, q).visits_are_doubtful(q["during"][-1])]
    if doubtful:
        return sum((refused(program, seed, db, q, first) for q in doubtful), []) + \
            check_queries(program, seed, db, [q for q in wanted if q not in doubtful], first)
    done = subprocess.run([HQ, "--quiet", db] + first + [query_text(q) for q in wanted], capture_output=True, text=True, timeout=seconds(120))
    if done.returncode:
        return ["seed %d: status %d: %s" % (seed, done.returncode, done.stderr[-2000:])]
    wrong = []
    found = documents(done.stdout)
    if len(found) != len(wanted):
        return ["seed %d: %d answers to %d queries" % (seed, len(found), len(wanted))]
    for q, document in zip(wanted, found):
        said = "seed %d: %s%s\n" % (seed, "".join(s + "; " for s in first), query_text(q))
        if q["view"] == "explain":
            wrong += [said + text for text in check_explain(program, q, document)]
            continue
        expected, got = comparable(expected_rows(program, q), q), comparable(shown_rows(document), q)
        if expected != got or not (q.get("statistics") or check_order(document)):
            wrong.append(said + "  missing %s\n  too much %s" % ([r for r in expected if r not in got][:4], [r for r in got if r not in expected][:4]))
    return wrong


def check_program(seed, directory, queries):
    rng = random.Random(seed)
    program = Program(rng)
    source, db = os.path.join(directory, "%d.fixture" % seed), os.path.join(directory, str(seed))
    with open(source, "w") as f:
        f.write("\n".join(program.text) + "\n")
    subprocess.run([FIXTURE, source, db], check=True)
    wrong = check_queries(program, seed, db, [random_query(rng, program) for _ in range(queries)], [])
    folded = program.without_inlined_code()
    wrong += check_queries(folded, seed, db, [random_query(rng, folded) for _ in range(queries // 4)], ["set inline off"])
    return queries + queries // 4 - len(wrong), wrong


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
