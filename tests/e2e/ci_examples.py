# SPDX-License-Identifier: BSD-3-Clause
"""The files of examples/ci: the shell steps that stand in them are run in a repository with two branches, in their order, by `sh -e` as the
systems do. The systems' own commands (apt-get, gh, curl) are stubs that write down how they were called. A change that allocates 20 % more
is found and one that does not passes, both to the byte; the comment, the page, JUnit and the exit status are there."""

import re
import xml.etree.ElementTree

from lib import *

TOP = os.environ["TOP"]
STEPS = ["What is needed", "Get hq", "Build both", "Race", "Comment", "Verdict"]


def indented(lines):
    """The block that begins here, without its indentation."""
    width = len(lines[0]) - len(lines[0].lstrip())
    block = []
    for line in lines:
        if line.strip() and len(line) - len(line.lstrip()) < width:
            break
        block.append(line[width:])
    return "\n".join(block)


def steps_of(text, kind):
    lines, steps, name = text.splitlines(), {}, None
    for i, line in enumerate(lines):
        said = re.match(r"\s*(?:- name:|#|//) (.*)", line)
        name = said.group(1) if said and said.group(1) in STEPS else name
        if (kind == "github" and line.strip() == "run: |") or (kind == "gitlab" and line.strip() == "- |"):
            steps[name] = indented(lines[i + 1:])
        if kind == "jenkins" and line.rstrip().endswith("'''") and line.strip() != "'''":
            end = next(k for k in range(i + 1, len(lines)) if lines[k].strip() == "'''")
            steps[name] = indented(lines[i + 1:end])
    return steps


# ---- a program in two branches ----

SOURCE = """
#include <stdlib.h>
static void *volatile kept;
__attribute__((noinline)) static void take(int n) { for (int i = 0; i < n; i++) { kept = malloc(1000); free(kept); } }
int main(void) { take(N); return 0; }
"""
env = dict(os.environ, PATH=f"{TMP}/stubs:" + os.environ["PATH"], GIT_CONFIG_GLOBAL=f"{TMP}/gitconfig", GIT_CONFIG_SYSTEM="/dev/null",
           **{f"GIT_{who}_{what}": v for who in ("AUTHOR", "COMMITTER") for what, v in (("NAME", "t"), ("EMAIL", "t@t"))})


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)
    os.chmod(path, mode)


for stub in ("apt-get", "gh", "curl"):
    write(f"{TMP}/stubs/{stub}", f'#!/bin/sh\necho "{stub} $*" >> {TMP}/called\n', 0o755)
# Events without sampling error, so that the verdict does not depend on the machine.
write(f"{TMP}/prefix/bin/hq", f'#!/bin/sh\nif [ "$1" = race ]; then shift; exec {HQ} race -e ALLOC -n 2 "$@"; fi\nexec {HQ} "$@"\n', 0o755)


def repository(name, n):
    top = f"{TMP}/{name}"
    write(f"{top}/Makefile", "app: app.c\n\tgcc -O1 -g -o app app.c\n")
    write(f"{top}/perf/shares.hq", "procedures\nprocedures of take expect rows = 1\n")
    for branch, amount in (("main", 1000), ("change", n)):
        write(f"{top}/app.c", SOURCE.replace("take(N)", f"take({amount})") + f"/* {branch} */\n")
        for command in ([["init", "-q", "-b", "main"]] if branch == "main" else [["checkout", "-q", "-b", branch]]) + [["add", "-A"], ["commit", "-q", "-m", branch]]:
            check(run("git", *command, cwd=top, env=env)[0] == 0, f"git {command}")
    run("git", "update-ref", "refs/remotes/origin/main", "main", cwd=top, env=env)
    return top


def execute(kind, steps, n):
    """Runs the steps, in a workspace that has what an earlier run left there (Jenkins keeps it); the status of the last one."""
    top = repository(f"{kind}{n}", n)
    write(f"{top}/base/left", "")
    write(f"{top}/perf.status", "status=1\n")
    base = run("git", "rev-parse", "main", cwd=top, env=env)[1].strip()
    mine = dict(env, APP_BUILD="make app", APP="./app", HQ_GIT="nowhere", HQ_PREFIX=f"{TMP}/prefix", BASE="origin/main", CHANGE_TARGET="main",
                CI_MERGE_REQUEST_DIFF_BASE_SHA=base, HQ_TOKEN="secret", CI_API_V4_URL="https://gitlab.invalid/api/v4", CI_PROJECT_ID="7", CI_MERGE_REQUEST_IID="3", PR="12")
    status = None
    for name in STEPS:
        if name not in steps:
            check(kind == "jenkins" and name == "Comment", f"{kind} has the step {name}: {list(steps)}")
            continue
        status, out, err = run("sh", "-e", "-c", steps[name], cwd=top, env=mine)
        check(status == 0 or name == "Verdict", f"{kind}, {name}: {status} {out[-500:]}{err[-800:]}")
    return top, status, out


taken = set(re.findall(r"^(\w+) [?]?= ", open(f"{TOP}/Makefile").read(), re.M)) | {"CC", "MAKEFLAGS"}
for kind, file in (("github", "github.yml"), ("gitlab", "gitlab-ci.yml"), ("jenkins", "Jenkinsfile")):
    text = open(f"{TOP}/examples/ci/{file}").read()
    steps = steps_of(text, kind)

    # All steps have these variables: none is one that hq's own build takes from its surroundings.
    ours = set(re.findall(r"^ +(\w+)(?:: | = )", text, re.M))
    check({"APP", "HQ_GIT", "HQ_PREFIX"} <= ours and not ours & taken, f"{kind}: what `make` of hq would take for its own: {ours & taken}")
    if os.path.exists(f"{TMP}/called"):
        os.unlink(f"{TMP}/called")
    top, status, out = execute(kind, steps, 1000)
    check(status == 0 and "not ok" not in out and "ok 1" in out, f"{kind}: an equal program passes: {status} {out}")
    top, status, out = execute(kind, steps, 1200)
    check(status == 1 and "+20.0%" in out and "because: " in out, f"{kind}: 20 % more fails: {status} {out}")
    check(open(f"{top}/perf.md").read().startswith("### hq check: ") and "**FAIL**" in open(f"{top}/perf.md").read(), f"{kind}: the comment")
    check(xml.etree.ElementTree.parse(f"{top}/perf.xml").getroot().find(".//failure") is not None, f"{kind}: JUnit")
    check("<html" in open(f"{top}/perf.html").read(500), f"{kind}: the page")
    called = open(f"{TMP}/called").read()
    check("apt-get install" in called, f"{kind}: {called}")
    if kind == "github":
        check("gh pr comment 12 --body-file perf.md" in called, called)
    if kind == "gitlab":
        check("projects/7/merge_requests/3/notes" in called and "body@perf.md" in called, called)

    # Who may not write a comment (a fork, a token that ran out) has the verdict all the same.
    for stub in ("gh", "curl"):
        write(f"{TMP}/refused/{stub}", "#!/bin/sh\nexit 1\n", 0o755)
    if "Comment" in steps:
        refused = dict(env, PATH=f"{TMP}/refused:{env['PATH']}", PR="12", HQ_TOKEN="old", CI_API_V4_URL="x", CI_PROJECT_ID="7", CI_MERGE_REQUEST_IID="3")
        status, out, err = run("sh", "-e", "-c", steps["Comment"], cwd=top, env=refused)
        check(status == 0 and "the comment was refused" in out, f"{kind}: {status} {out} {err}")

    # Without a cache hq is fetched, built and installed.
    for stub in ("git", "make"):
        write(f"{TMP}/fetch/{stub}", f'#!/bin/sh\necho "{stub} $*" >> {TMP}/fetched\n', 0o755)
    status, out, err = run("sh", "-e", "-c", steps["Get hq"], env=dict(env, PATH=f"{TMP}/fetch:{env['PATH']}", HQ_PREFIX=f"{TMP}/none", HQ_GIT="somewhere"))
    fetched = open(f"{TMP}/fetched").read()
    check(status == 0 and "git clone -q --depth 1 somewhere hq-source" in fetched and f"install PREFIX={TMP}/none" in fetched, f"{kind}: {fetched} {err}")
finish()
