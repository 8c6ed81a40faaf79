# SPDX-License-Identifier: BSD-3-Clause
"""hq check --history and hq history: exact amounts whose course is known find their step to the commit and their drift, by names that are
given and by those of git; what is kept is what the program did; and what goes wrong is said."""

import xml.etree.ElementTree

from lib import *

SOURCE = """
#include <stdlib.h>
static void *volatile kept;
__attribute__((noinline)) static void take(int n) { for (int i = 0; i < n; i++) { kept = malloc(1000); free(kept); } }
__attribute__((noinline)) static void others(int n) { for (int i = 0; i < n; i++) { kept = malloc(1000); free(kept); } }
int main(int c, char **v) { (void)c; take(atoi(v[1])); others(100); return 0; }
"""
with open(f"{TMP}/take.c", "w") as f:
    f.write(SOURCE)
check(run("gcc", "-O1", "-g", "-o", "take", "take.c")[0] == 0, "the program is built")
with open(f"{TMP}/q.hq", "w") as f:
    f.write("procedures\n")


def commit(directory, name, n, *more, **options):
    record("run.hq", "./take", n, options=["--force", "-e", "ALLOC"])
    return run(HQ, "check", "run.hq", "q.hq", "--history", directory, *(["--commit", name] if name else []), *more, **options)


# A step in the sixth of ten commits; the values are those of the program.
for i in range(10):
    status, out, err = commit("steps", f"c{i}", 100 if i < 5 else 120)
    check(status == 0 and f"course over {i + 1} commit" in out, f"commit {i}: {status} {out}{err}")
check("alloc_bytes of procedure take: 97.7 KiB -> 117 KiB in c5" in out, f"the step is told by the check:\n{out}")
kept = json.load(open(f"{TMP}/steps/c9.json"))
value_of = {(v["metric"], v["path"]): v for v in kept["values"]}
check(kept["hq_history"] == 1 and kept["commit"] == "c9" and value_of["alloc_bytes", "procedure take"]["value"] == 120 * 1000 and
      value_of["alloc_bytes", "procedure take"]["exact"], f"what is kept: {kept}")
for name in ("z", "y", "x"):
    run(HQ, "check", "run.hq", "q.hq", "--history", "quick", "--commit", name)
out = run(HQ, "history", "quick")[1]
check("3 commits, z to x" in out, f"commits of one second are in the order in which they were checked: {out}")
status, out, err = run(HQ, "history", "steps")
check(status == 0 and "10 commits, c0 to c9" in out and "alloc_bytes of procedure take: 97.7 KiB -> 117 KiB in c5\n" in out, f"hq history: {out}{err}")
check("procedure others" not in out, f"what did not change has no step: {out}")
status, out, err = run(HQ, "history", "steps", "take", "-m", "alloc_bytes")
check(status == 0 and sum(line.startswith("c") for line in out.splitlines()) == 10 and out.rstrip().endswith("in c5"), f"the course of a row: {out}{err}")
bars = [line.count("█") + line.count("#") for line in out.splitlines() if line.startswith("c")]
check(len(set(bars[:5])) == 1 and len(set(bars[5:])) == 1 and bars[5] > bars[4], f"it is drawn: {bars}")
status, out, err = run(HQ, "history", "steps", "take", "--svg", "take.svg")
picture = xml.etree.ElementTree.parse(f"{TMP}/take.svg").getroot()
titles = [t.text for t in picture.iter("{http://www.w3.org/2000/svg}title")]
check(status == 0 and len(titles) == 10 and titles[0] == "c0: 97.7 KiB" and titles[9] == "c9: 117 KiB", f"the picture: {titles} {err}")

# The page has it too, the row that changed first.
status, out, err = run(HQ, "report", "run.hq", "--history", "steps", "-o", "page.html")
import base64
import re
import zlib
page = open(f"{TMP}/page.html").read() if status == 0 else ""
data = zlib.decompress(base64.b64decode(re.search(r'id="data">([^<]*)<', page).group(1)), 31) if page else bytes(12)
answers = json.loads(data[12:12 + int.from_bytes(data[8:12], "little")]).get("answers", []) if page else []
course = next((a for a in answers if a["question"] == "history: alloc_bytes of procedure take"), None)
check(course and [r[0] for r in course["rows"]] == [f"c{i}" for i in range(10)] and [r[5][0] for r in course["rows"]] == [100000] * 5 + [120000] * 5 and
      any("in c5" in n for n in course["notes"]) and b"<svg" in base64.b64decode(course["picture"]), f"the course on the page: {status} {err} {[a['question'] for a in answers]}")
check(answers and "take" in answers[0]["question"], f"what changed is first: {answers and answers[0]['question']}")
status, out, err = run(HQ, "report", "run.hq", "--history", "nowhere", "-o", "none.html")
check(status == 2 and "holds no history" in err, f"no history: {status} {err}")

# The same commit again replaces its values, and keeps its place.
commit("steps", "c2", 100)
status, out, err = run(HQ, "history", "steps", "take")
check([line.split()[0] for line in out.splitlines() if line.startswith("c")][:10] == [f"c{i}" for i in range(10)] or "c2" in out, f"order: {out}")
check(len(os.listdir(f"{TMP}/steps")) == 10, "a commit has one file")

# 1 % more in each commit: no single one shows it.
for i in range(12):
    commit("drift", f"d{i:02}", 1000 + 10 * i)
status, out, err = run(HQ, "history", "drift")
check("alloc_bytes of procedure take: 977 KiB -> 1.06 MiB, little by little from d00 to d11 (12 commits)" in out, f"a drift is told as one: {out}")

# A step of shares where the processor became another one says so, and one of amounts does where there are more processors.
def kept(directory, i, share, machine, exact=False):
    os.makedirs(f"{TMP}/{directory}", exist_ok=True)
    value = {"query": "procedures", "metric": "cputime", "path": "procedure f", "share": share, "value": 1000 * share, "samples": 100000, "unit": "s", "exact": exact}
    with open(f"{TMP}/{directory}/m{i}.json", "w") as f:
        json.dump({"hq_history": 1, "commit": f"m{i}", "order": 100 + i, "number": i + 1, "machine": f"{machine}, Linux 6.1.0", "values": [value]}, f)


for directory, exact, machines, told in (("other", False, ("A, 2 processors", "B, 2 processors"), True), ("counted", True, ("A, 2 processors", "B, 2 processors"), False),
                                         ("more", True, ("A, 2 processors", "A, 4 processors"), True), ("alike", False, ("A, 2 processors", "A, 2 processors"), False)):
    for i in range(12):
        kept(directory, i, 0.3 + 0.001 * (i % 2) if i < 6 else 0.4 + 0.001 * (i % 2), machines[i >= 6], exact)
    out = run(HQ, "history", directory)[1]
    check(" in m6" in out and ("from m6 on it was measured on another machine" in out) == told, f"{directory}: {out}")
machine = json.load(open(f"{TMP}/steps/c9.json")).get("machine", "")
check(f"{os.cpu_count()} processor" in machine, f"the machine is kept: {machine}")

# Commits are called what git calls them.
env = dict(os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null",
           **{f"GIT_{who}_{what}": v for who in ("AUTHOR", "COMMITTER") for what, v in (("NAME", "t"), ("EMAIL", "t@t"), ("DATE", "2020-01-02T03:04:05Z"))})
os.makedirs(f"{TMP}/repository")
for command in (["git", "init", "-q"], ["git", "commit", "-q", "--allow-empty", "-m", "first"]):
    check(run(*command, cwd=f"{TMP}/repository", env=env)[0] == 0, " ".join(command))
head = run("git", "rev-parse", "--short", "HEAD", cwd=f"{TMP}/repository", env=env)[1].strip()
status, out, err = run(HQ, "check", f"{TMP}/run.hq", f"{TMP}/q.hq", "--history", "h", cwd=f"{TMP}/repository", env=env)
check(status == 0 and json.load(open(f"{TMP}/repository/h/{head}.json"))["order"] == 1577934245, f"the commit of git: {status} {err}")

# Commits of one second, as a rebase makes them, are in git's order, and not in that of their names; where git has not all of them their
# order is not known, and that is said.
names = [head]
for i in range(5):
    check(run("git", "commit", "-q", "--allow-empty", "-m", f"commit {i}", cwd=f"{TMP}/repository", env=env)[0] == 0, "git commit")
    names.append(run("git", "rev-parse", "--short", "HEAD", cwd=f"{TMP}/repository", env=env)[1].strip())
    run(HQ, "check", f"{TMP}/run.hq", f"{TMP}/q.hq", "--history", "h", cwd=f"{TMP}/repository", env=env)
check(names != sorted(names), f"the names are not in the order of the commits: {names}")
out = run(HQ, "history", "repository/h")[1]
check(f"6 commits, {names[0]} to {names[-1]}" in out and "same time" not in out, f"commits of one second: {out}")
out = run(HQ, "history", "repository/h", "take")[1]
check([line.split()[0] for line in out.splitlines() if line.split()[:1] and line.split()[0] in names][:6] == names, f"commits of one second: {names}\n{out}")
check("as many before" not in out, f"commits of one branch: {out}")
run("cp", "-r", "repository", "amended")
check(run("git", "commit", "-q", "--amend", "--allow-empty", "-m", "another", cwd=f"{TMP}/amended", env=env)[0] == 0, "git commit --amend")
run(HQ, "check", f"{TMP}/run.hq", f"{TMP}/q.hq", "--history", "h", cwd=f"{TMP}/amended", env=env)
out = run(HQ, "history", "amended/h")[1]
check("7 commits" in out and "1 commit has as many before it as the one behind" in out and "same time" not in out, f"a commit that was replaced: {out}")
check(run("git", "clone", "-q", "--depth", "2", f"file://{TMP}/repository", "shallow", env=env)[0] == 0, "git clone")
for back in ("HEAD~1", "HEAD"):
    run("git", "checkout", "-q", "--detach", f"origin/HEAD{back[4:]}", cwd=f"{TMP}/shallow", env=env)
    run(HQ, "check", f"{TMP}/run.hq", f"{TMP}/q.hq", "--history", "h", cwd=f"{TMP}/shallow", env=env)
out = run(HQ, "history", "shallow/h")[1]
check("2 commits" in out and "1 commit is of the same time as the one behind" in out, f"a clone without all commits: {out}")

# A commit has one file, however far a clone shortens its name.
for length in (12, 7, 40):
    run("git", "config", "core.abbrev", str(length), cwd=f"{TMP}/repository", env=env)
    run(HQ, "check", f"{TMP}/run.hq", f"{TMP}/q.hq", "--history", "lengths", cwd=f"{TMP}/repository", env=env)
check([len(n) for n in os.listdir(f"{TMP}/repository/lengths")] == [12 + len(".json")], f"names of one commit: {os.listdir(f'{TMP}/repository/lengths')}")

# Many at once: a file a commit, and of one commit all queries, whoever asks them.
for i in range(8):
    with open(f"{TMP}/q{i}.hq", "w") as f:
        f.write(f"procedures columns alloc_bytes * {i + 1}, alloc_bytes\n")
started = [subprocess.Popen([HQ, "check", "run.hq", f"q{i}.hq", "--history", "crowded", "--commit", commit], cwd=TMP, stdout=subprocess.DEVNULL)
           for i in range(8) for commit in ("same", f"own{i}")]
check(all(p.wait() == 0 for p in started), "sixteen checks at once")
check(sorted(os.listdir(f"{TMP}/crowded")) == sorted(["same.json"] + [f"own{i}.json" for i in range(8)]), f"their files: {os.listdir(f'{TMP}/crowded')}")
kept = {v["query"] for v in json.load(open(f"{TMP}/crowded/same.json"))["values"]}
check(len(kept) == 8, f"of eight queries of one commit eight are kept, not {len(kept)}")

# Mistakes.
with open(f"{TMP}/drift/broken.json", "w") as f:
    f.write('{"hq_history":1,"commit":')
for words, want, part in (
    (["check", "run.hq", "q.hq", "--history", "new"], 2, "say --commit NAME"),
    (["check", "run.hq", "q.hq", "--history", "new", "--commit", "a/b"], 2, "--commit takes a name"),
    (["check", "run.hq", "q.hq", "--commit", "a"], 2, "--history DIR"),
    (["history"], 2, "the directory is missing"),
    (["history", "nosuch"], 2, "holds no history"),
    (["history", "steps", "nosuch"], 2, "no row `nosuch`"),
    (["history", "steps", "--svg", "x"], 2, "name it behind the directory"),
    (["history", "drift"], 3, "broken.json"),
):
    status, out, err = run(HQ, *words, env=dict(os.environ, GIT_DIR="/nonexistent"))
    check(status == want and part in err + out, f"{' '.join(words)}: {status} {err}{out}")
finish()
