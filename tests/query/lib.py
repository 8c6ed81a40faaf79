# SPDX-License-Identifier: BSD-3-Clause
"""Random programs, and a slow and obvious evaluator of what each view shows of them (reference.py)."""
import copy
from collections import defaultdict

METRICS = ["cycles", "misses"]
LENGTH_US = 1000000


class Scope:
    def __init__(self, ident, kind, name, file, line, parent, module):
        self.ident, self.kind, self.name, self.file, self.line, self.parent, self.module = ident, kind, name, file, line, parent, module

    def chain(self):        # from the procedure down to this scope
        return (self.parent.chain() if self.parent else []) + [self]

    def entity(self):       # procedures as people count them
        return (self.name, self.file, self.module)


class Profile:
    def __init__(self, rank, thread, host):
        self.rank, self.thread, self.host = rank, thread, host


class Program:
    """Random scopes, and samples: (profile, metric, value, path, time); a path is a list of rows (scope or 'line', key)."""

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
            self.say("metric", m.upper(), "events", 1, 1, "sampled", "traced")
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
            self.profiles.append(Profile(rank, i % 3 if i else 0, i % 2))
            self.say("profile", "r%d" % i, *(["rank=%d" % rank] if rank >= 0 else []), "pid=%d" % (100 + i), "tid=%d" % (100 + i), "host=h%d" % (i % 2),
                     "thread=%d" % self.profiles[i].thread, "end=%d" % LENGTH_US)
        root = rng.choice(self.procs)
        for time in sorted(rng.sample(range(10, LENGTH_US), rng.randint(1, 25))):
            frames = [self.frame(root)]
            while rng.random() < 0.7 and len(frames) < 7:
                frames.append(self.frame(rng.choice(self.procs)))
            profile, metric, value = rng.randrange(len(self.profiles)), rng.randrange(2), rng.randint(1, 40)
            frames_text = " > ".join("%s:%d" % (s.ident, line) for s, line in frames)
            self.text.append("value r%d %s %d %d %s" % (profile, METRICS[metric].upper(), value, value, frames_text))
            self.text.append("trace r%d %d %s %d %s" % (profile, time, METRICS[metric].upper(), value, frames_text))
            self.samples.append((profile, metric, value, self.rows(frames), time))

    def without_inlined_code(self):
        """`set inline off`: its statements and calls are the host's."""
        other = copy.copy(self)
        other.scopes = [s for s in self.scopes if s.kind != "inline"]
        other.samples = [(p, m, v, [row for row in path if row[0] == "line" or row[0].kind != "inline"], t) for p, m, v, path, t in self.samples]
        return other

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
        self.profiles = [i for i, p in enumerate(program.profiles) if self.has_profile(p)]
        times = self.times()
        timed = [s for s in program.samples if s[0] in self.profiles and (times is None or (s[0], s[4]) in times)]
        self.totals = [sum(s[2] for s in timed if s[1] == m) for m in range(2)]
        self.samples = [(p, m, v, self.edited(path)) for p, m, v, path, _ in timed if self.selected(path)]

    # clauses on samples
    def has_profile(self, profile):
        return ((self.q.get("ranks") is None or profile.rank in self.q["ranks"]) and
                (self.q.get("threads") is None or profile.thread in self.q["threads"]))

    def visits(self, name):
        """Runs of samples of one profile with the name on their path: [profile][visit] -> times."""
        found = []
        for profile in self.profiles:
            inside, mine = False, []
            for p, _, _, path, time in self.program.samples:
                if p != profile:
                    continue
                hit = any(r[0] != "line" and r[0].name == name for r in path)
                if hit and not inside:
                    mine.append([])
                if hit:
                    mine[-1].append((p, time))
                inside = hit
            found.append(mine)
        return found

    def visits_are_doubtful(self, name):
        """In some profile: not nine of ten gaps with three samples, or not nine of ten visits with two, or no gap at all and a call in a loop."""
        def in_loop(path):
            rows = [r[0] for r in path if r[0] != "line"]
            return any(r.name == name and any(o.kind == "loop" for o in rows[:i]) for i, r in enumerate(rows))
        for profile in self.profiles:
            lengths, gaps, length, gap = [], [], 0, None
            own = [s[3] for s in self.program.samples if s[0] == profile]
            for hit in [any(r[0] != "line" and r[0].name == name for r in path) for path in own] + [False]:
                if hit and not length and gap is not None:
                    gaps.append(gap)
                if hit:
                    length, gap = length + 1, 0
                elif length:
                    lengths.append(length)
                    length, gap = 0, 1
                elif gap is not None:
                    gap += 1
            if sum(g < 3 for g in gaps) * 10 > len(gaps) or sum(n < 2 for n in lengths) * 10 > len(lengths):
                return True
            if lengths and not gaps and any(in_loop(path) for path in own):
                return True
        return False

    def times(self):
        """(profile, time) of the samples in the slice; None: all."""
        during = self.q.get("during")
        if not during:
            return None
        if during[0] == "slice":
            return {(s[0], s[4]) for s in self.program.samples if during[1] <= s[4] < during[2]}
        number = during[1] if during[0] == "iteration" else None
        return {at for mine in self.visits(during[-1]) for n, visit in enumerate(mine) if number in (None, n + 1) for at in visit}

    def selected(self, path):
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
        for i, row in enumerate(path):
            if row[0] != "line" and row[0].name in self.q.get("prune", []):
                path = path[:i + 1]
                break
        return [row for row in path if row[0] == "line" or row[0].name not in self.q.get("hide", [])]

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
        name = self.q.get("of")
        return self.ranked(lambda r: (r[0].entity(), ((r[0].name, None),)) if is_call(r) and name in (None, r[0].name) else None, owns)

    def loops(self):
        return self.ranked(lambda r: (r[0].ident, ((r[0].name, None),)) if r[0] != "line" and r[0].kind == "loop" else None, owns)

    def files(self):
        return self.ranked(lambda r: ((r[0].file, r[0].module), ((r[0].file, None),))
                           if r[0] != "line" and r[0].kind == "procedure" else None, owns_frame)

    def modules(self):
        return self.ranked(lambda r: (r[0].module, (("m%d.so" % r[0].module, None),))
                           if r[0] != "line" and r[0].kind == "procedure" else None, owns_frame)

    def lines(self):
        """Statements, and calls, inlined or not, for the line that makes them."""
        table = defaultdict(Values)
        for _, metric, value, path in self.samples:
            inc = [row[1] for row in path if is_call(row) and row[1]]
            exc = [path[-1][1]] if path and path[-1][0] == "line" else []
            add(table, [(k, ((site_text(k), None),)) for k in inc + exc], [(k, ((site_text(k), None),)) for k in exc], metric, value)
        return table

    def flat(self):
        """module > file > procedure > inlined code and loops > lines and calls, by static identity."""
        table = defaultdict(Values)
        for _, metric, value, path in self.samples:
            inc, exc, key, label = set(), [], (), ()
            for i, (scope, call) in enumerate(path):
                if not key and (scope == "line" or scope.kind != "procedure"):
                    continue        # its procedure is hidden, and there is none above
                if scope == "line":
                    inc.add((key + (call,), label + ((site_text(call), None),)))
                    exc.append((key + (call,), label + ((site_text(call), None),)))
                    continue
                if scope.kind == "procedure":
                    if call and key:    # from the scope that makes the call
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

    # statistics over profiles of the inclusive values of the first metric
    def groups(self):
        profiles = self.program.profiles
        per = self.q.get("per", "rank" if any(profiles[i].rank >= 0 for i in self.profiles) else "thread")
        counted = [i for i in self.profiles if profiles[i].rank >= 0] or self.profiles
        groups = defaultdict(list)
        for i in counted:
            p = profiles[i]
            groups[("rank", p.rank) if per == "rank" and p.rank >= 0 else ("host", p.host) if per == "host" else i].append(i)
        return list(groups.values())

    def statistics(self, view):
        samples, whole, per = self.samples, getattr(self, view)(), []
        for group in self.groups():
            self.samples = [s for s in samples if s[0] in group]
            per.append(getattr(self, view)())
        self.samples = samples
        table = {}
        for key in whole:
            x = [t[key].inc[0] if key in t else 0 for t in per]
            n, mean = len(x), sum(x) / len(x) if x else 0
            table[key] = [mean, min(x), max(x), (sum((v - mean) ** 2 for v in x) / n) ** 0.5, sum(v != 0 for v in x),
                          max(x) - mean, percentile(x, 0.9)] if x else None
        return table

    # rows that are profiles: by number of the profile
    def threads(self):
        name, per = self.q.get("of"), self.q.get("per", "thread")
        rows = defaultdict(Values)
        if name and not any(row[0] != "line" and row[0].name == name for s in self.program.samples for row in self.edited(s[3])):
            return rows             # a pattern that matches nothing
        for i in self.profiles:
            rows[self.profile_row(i, per)]
        for profile, metric, value, path in self.samples:
            hits = [i for i, row in enumerate(path) if row[0] != "line" and row[0].name == name]
            if name and not hits:
                continue
            row = rows[self.profile_row(profile, per)]
            row.inc[metric] += value
            row.exc[metric] += value if not name or any(owns(path, i) for i in hits) else 0
        return rows

    def profile_row(self, i, per):
        p = self.program.profiles[i]
        alone = len(self.program.profiles) == 1
        name = ("h%d" % p.host if per == "host" else "rank %d" % p.rank if per == "rank" and p.rank >= 0 else
                "rank %d thread %d" % (p.rank, p.thread) if p.rank >= 0 else
                "thread %d" % p.thread if alone else "process %d thread %d" % (100 + i, p.thread))
        return ((name,) if per != "thread" else (name, i), ((name, None),))

    def own_costs(self, metric):
        """What explain chooses from: exclusive values of the frames of call paths."""
        own = defaultdict(int)
        for _, m, value, path in self.samples:
            calls = [i for i, row in enumerate(path) if is_call(row)]
            if m == metric and calls:
                own[tuple((row[0].ident, row[1]) for row in path[:calls[-1] + 1])] += value
        return sorted((v for v in own.values() if v), reverse=True)


def percentile(values, share):
    values = sorted(values)
    at = share * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (at - low) * (values[high] - values[low])
