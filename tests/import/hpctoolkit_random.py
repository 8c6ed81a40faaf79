# SPDX-License-Identifier: BSD-3-Clause
"""
HPCToolkit databases of every shape that their format allows (support/hpct_made.py): every value, call path, thread and trace record of the
import is compared with what was written. HQ_SEED=N tries database N alone.
"""
import collections
import os
import subprocess
import sys

sys.path[:0] = ["tests/db", "tests/import/support"]
from lib import CODES, FRAMES, SCOPES, VALUE_INDEX, Database  # noqa: E402
from counting import check, finish  # noqa: E402
from hpct_made import INLINE, PARTIAL, PROCEDURE, THREAD, Made  # noqa: E402

HQ, TMP = os.environ["HQ"], os.environ["HQ_TEST_TMP"]


class Imported(Database):
    def __init__(self, path):
        super().__init__(path)
        self.value_index, self.scopes = self.records(VALUE_INDEX), self.records(SCOPES)
        self.codes, self.frames, self.paths = self.records(CODES), self.records(FRAMES), {}

    def chain(self, scope):
        steps = []
        while True:
            kind, parent, name, file, line, *_ = self.scopes[scope]
            if kind in (THREAD, PARTIAL):
                return ((kind, self.text(name)),)
            place = (self.text(file), line)
            steps.append((kind, self.text(name), *place) if kind in (PROCEDURE, INLINE) else (kind, *place))
            scope = parent
            if kind == PROCEDURE:
                return tuple(reversed(steps))

    def path(self, frame):
        if frame not in self.paths:
            parent, code = self.frames[frame]
            self.paths[frame] = (self.path(parent) if parent != 0xFFFFFFFF else ()) + (self.chain(self.codes[code][2]),)
        return self.paths[frame]

    def profile_values(self, p):
        found = collections.Counter()
        for m, (_, event, _, _, _, _, scale) in enumerate(self.metrics):
            for frame, _, total in self.values(p, m):
                found[self.text(event), self.path(frame)] += total * scale
        return found


def hq(*command):
    return subprocess.run([HQ, *command], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def rounded(counter):
    return sorted((*key, round(value, 6)) for key, value in counter.items())


def try_one(seed):
    made = Made(seed)
    directory, output = made.save(f"{TMP}/{seed}.hpct"), f"{TMP}/{seed}.hq"
    # Where there are no threads, the sums over them are what there is.
    profiles = [([p], made.profiles[p][0] or []) for p in made.threads] or [(made.measured, [])]
    wanted = [rounded(made.expected_values(p, not made.threads)) for p, _ in profiles]
    done = hq("import", directory, "-o", output)
    if not any(wanted):
        check(done.returncode == 3 and "holds no samples" in done.stderr, f"seed {seed}: {done.stderr}")
        return
    check(done.returncode == 0, f"seed {seed}: {done.stderr}")
    if done.returncode:
        return
    db = Imported(f"{output}/hq.db")
    check(len(db.profiles) == len(profiles), f"seed {seed}: {len(db.profiles)} profiles of {len(profiles)}")
    check(len({(p[0], p[1]) for p in db.profiles}) == len(db.profiles), f"seed {seed}: two profiles with one rank and thread")
    # A profile is told by its rank and thread; those that are no threads of a rank by their values.
    got, order = {}, {}
    for i, p in enumerate(db.profiles):
        got.setdefault(p[0], []).append((p[1], i, rounded(db.profile_values(i))))
    for (ps, who), want in zip(profiles, wanted):
        ids = {kind: number for kind, number, _ in who}
        rows = [r for r in got.get(ids.get("RANK", -1), []) if (r[0] == ids["THREAD"] if "THREAD" in ids else True) and r[2] == want]
        check(bool(rows), f"seed {seed}: profile {ps} {ids}: {want[:3]}... is not among {[(r[0], r[2][:3]) for r in got.get(ids.get('RANK', -1), [])]}")
        order[ps[0]] = [r[1] for r in rows]
    compare_traces(seed, made, db, order)
    # Where some have ranks, a trace is that of the ranks.
    shown = {db.profiles[p][0] >= 0 for p, *_ in db.trace()}
    done = hq(output, "tree; procedures; profiles; info; threads" + ("; trace height 3" if max(shown, default=-1) == any(p[0] >= 0 for p in db.profiles) else ""))
    check(done.returncode == 0, f"seed {seed}: {done.stderr}")


def compare_traces(seed, made, db, order):
    """A record holds until the next one, the last one as long as most do; its span ends where the next begins."""
    times = [time for p, records in made.traces for time, _ in records]
    lines, weights = collections.defaultdict(list), collections.defaultdict(int)
    for profile, time, frame, _, weight in db.trace():
        lines[profile].append((time, db.path(frame) if weight else None))
        weights[profile] += weight
    distances = sorted(b - a for p, records in made.traces if not made.profiles[p][1]
                       for (a, c), (b, _) in zip(records, records[1:]) if c is not None and not c.hidden)
    usual = distances[len(distances) // 2] if distances else 0
    for p, records in made.traces:
        if made.profiles[p][1]:
            continue
        spans = [((time - min(times)) // 1000, (end - min(times)) // 1000, made.path(c) if c and not c.hidden else None)
                 for (time, c), end in zip(records, [time for time, _ in records[1:]] + [records[-1][0] + usual if records else 0])]
        while spans and not spans[0][2]:
            spans.pop(0)
        want = [(spans[0][0], None)] + [(end, path) for _, end, path in spans] if spans else []
        # A thread without values has spans of no weight.
        fits = [lines[i] == want or (not weights[i] and [t for t, _ in lines[i]] == [t for t, _ in want]) for i in order[p]]
        check(any(fits), f"seed {seed}: trace of profile {p}: {want[:2]}... is not {[lines[i][:2] for i in order[p]]}")


seeds = [int(os.environ["HQ_SEED"])] if "HQ_SEED" in os.environ else range(60)
for number in seeds:
    try_one(number)
finish()
