# SPDX-License-Identifier: BSD-3-Clause
"""
`-e GPU` against the program's own event times and amounts, to the nanosecond; as a layer of the loader, and as wrappers where there is none; what the program
sees of its queues is what it sees without hq.
"""
import re

from lib import *

KNOWN = f"{PROGRAMS}/opencl_known"
METRICS = "gpu_time, gpu_kernel, gpu_copy, gpu_commands, gpu_bytes, gpu_items"
# Compiled kernels stay in the test's own folder, and the compiler's processes are measured as little as can be.
ENVIRONMENT = {**os.environ, "POCL_CACHE_DIR": f"{TMP}/kernels", "OCL_ICD_VENDORS": "/etc/OpenCL/vendors"}


def told(out):
    """What processes of the program say of their own events, as {who: {name: number}}."""
    said = {}
    for w in map(str.split, out.splitlines()):
        said[w[0]] = {w[i]: int(w[i + 1]) for i in range(1, len(w), 2)}
    return said


def measured(db, where=""):
    rows = ask(db, f"tree depth 1 {where} columns {METRICS}")["rows"]
    names = ("time", "kernel", "copy", "commands", "bytes", "items")
    sums = [sum(r["values"][i] or 0 for r in rows if r["depth"] == 0) for i in range(len(names))]
    return {n: round(sums[i] * 1e9) if i < 3 else round(sums[i]) for i, n in enumerate(names)}


def compare(what, db, out):
    expected = {}
    for said in told(out).values():
        for name, number in said.items():
            expected[name] = expected.get(name, 0) + number
    check(expected.get("commands", 0) > 0, f"{what}: the program says {out[:300]}")
    check(measured(db) == expected, f"{what}: the program says {expected}, hq {measured(db)}")
    verified = run(HQ, "verify", db)
    check(verified[0] == 0, f"{what}: the verifier finds {verified[2]}")
    status, sums, _ = run(f"{os.path.dirname(PROGRAMS)}/tools/measurements", f"{db}/measurements")
    check(status == 0 and f"device-ns {expected['time']}\n" in sums, f"{what}: the second reader: {sums[-400:]}")


def known(way, layer=True):
    """Records the program; without the loader's layer the wrappers have to do."""
    db = f"{TMP}/{way}-{'layer' if layer else 'wrappers'}.hq"
    if os.path.exists(db):
        return db, ""
    command = [KNOWN, "times", way] if layer else ["env", "-u", "OPENCL_LAYERS", KNOWN, "times", way]
    out, _ = record(db, *command, options=("-e", "GPU"), env=ENVIRONMENT)
    return db, out


def look_at_kinds(db):
    """Contexts: the program's path, the function of OpenCL, what the device did; nothing of loader, driver or hq."""
    rows = {r["name"]: r["values"] for r in ask(db, "procedures where kind = device columns gpu_commands, gpu_bytes")["rows"]}
    expected = {"[kernel work]": [3, 0], "[kernel axpy]": [1, 0], "[copy to device]": [1, 65536], "[copy to host]": [2, 32768 + 512],
                "[copy on device]": [1, 4096], "[fill]": [1, 8192], "[map]": [1, 1024], "[unmap]": [1, 0], "[migrate]": [1, 0],
                "[marker]": [1, 0], "[barrier]": [1, 0]}
    check(rows == expected, f"kinds: {rows}")
    paths, path = set(), []
    for r in ask(db, "tree columns gpu_commands")["rows"]:
        path[r["depth"]:] = [r["name"]]
        if r["name"].startswith("["):
            paths.add(" > ".join(path))
    check("main > all_kinds > copy_in > clEnqueueWriteBuffer > [copy to device]" in paths, f"paths: {paths}")
    check("main > all_kinds > clEnqueueNDRangeKernel > [kernel axpy]" in paths, f"paths: {paths}")
    check(all(p.split(" > ")[-2].startswith("clEnqueue") for p in paths), f"each hangs below the function: {paths}")
    check(not any("libhq" in p or "layer_" in p or "command_enqueued" in p for p in paths), f"nothing of hq: {paths}")
    by_pattern = ask(db, "procedures of axpy columns gpu_commands")["rows"]
    check([r["name"] for r in by_pattern] == ["[kernel axpy]"], f"found by its plain name: {by_pattern}")
    waits = ask(db, "procedures where gpu_wait.x > 0 columns gpu_wait.x")["rows"]
    check({r["name"] for r in waits} == {"clFinish", "clWaitForEvents", "clEnqueueReadBuffer", "clEnqueueReadBufferRect", "clEnqueueMapBuffer"},
          f"calls that wait: {waits}")


def ways():
    for layer in (True, False):
        db, out = known("kinds", layer)
        compare(f"kinds, layer {layer}", db, out)
        look_at_kinds(db)
    for way, queues in (("threads", 4), ("queues", 2), ("fork", 2), ("exec", 3)):
        db, out = known(way)
        compare(way, db, out)
        facts = {r["name"]: r["values"] for r in ask(db, "info")["rows"]}
        check((facts.get("profiles: queues of devices") or [0])[0] == queues, f"{way}: {facts}")


OLD = {**ENVIRONMENT, "OPENCL_LAYERS": f"{PROGRAMS}/libopencl_layer.so", "LAYER_1_0": "1"}


def old_driver():
    """One of OpenCL 1.0 calls nobody back: what has ended is seen at later calls of the program."""
    for way in ("kinds", "threads"):
        for layer in (True, False):
            db = f"{TMP}/old-{way}-{layer}.hq"
            # Without our layer the test's own stays.
            command = [KNOWN, "times", way] if layer else ["env", f"OPENCL_LAYERS={OLD['OPENCL_LAYERS']}", KNOWN, "times", way]
            out, err = record(db, *command, options=("-e", "GPU"), env=OLD)
            check("had not ended" not in err, f"old driver, {way}: {err}")
            compare(f"old driver, {way}, layer {layer}", db, out)


def shown(environment):
    """Counts of references only before the first command: afterwards the driver itself holds some for a while."""
    def see(*before):
        out = run(*before, KNOWN, "shown", env=environment)[1]
        check("no queue: -36" in out, f"the program says {out}")
        lines, counted = [], True
        for line in out.splitlines():
            lines.append(line if counted else re.sub(r"\d+ references(, context \d+)?", "references", line))
            counted = counted and "state" not in line
        return lines
    bare = see()
    for name, before in (("layer", []), ("wrappers", ["env", "-u", "OPENCL_LAYERS"])):
        with_hq = see(HQ, "record", "--force", "-e", "GPU", "-o", f"{TMP}/shown.hq", "--", *before)
        check(with_hq == bare, f"{name}: the program sees {sorted(set(with_hq) ^ set(bare))}")


def clinfo():
    if not shutil.which("clinfo"):
        return
    status, bare, _ = run("clinfo", env=ENVIRONMENT)
    with_hq = run(HQ, "record", "--force", "-e", "GPU", "-o", f"{TMP}/clinfo.hq", "--", "clinfo", env=ENVIRONMENT)[:2]
    check(with_hq == (status, bare), "clinfo says the same with and without hq")


def devices():
    """The second queue's kernel waited 20 ms for a user event, while the first one had nothing to do for some of it."""
    db, _ = known("queues")
    columns = "busy * 1e9, kernels * 1e9, idle * 1e9, nothing * 1e9, event * 1e9, user_event * 1e9, copy * 1e9, launch * 1e9, commands, queues"
    result = ask(db, f"devices columns {columns}")
    check(len(result["rows"]) == 1, f"one device: {result['rows']}")
    busy, kernels, idle, nothing, event, user, copy, launch, commands, queues = (round(x or 0) for x in result["rows"][0]["values"])
    check((commands, queues) == (3, 2), f"three commands in two queues: {commands}, {queues}")
    check(0 < busy == kernels <= measured(db)["time"], f"busy {busy}, kernels {kernels}, commands {measured(db)['time']}")
    notes = run(HQ, db, "devices")
    check("1 command waited for a user event" in notes[1] + notes[2], f"the user event is told: {notes}")
    check(idle == nothing + event + user + copy + launch, f"idle {idle}: {nothing}, {event}, {user}, {copy}, {launch}")


def gaps():
    """Planted gaps of each cause, against the times of the program's own events."""
    db = f"{TMP}/gaps.hq"
    status, out, err = run(HQ, "record", "-e", "GPU", "-o", db, "--", f"{PROGRAMS}/opencl_gaps", env={**ENVIRONMENT, "POCL_DEVICES": "pthread pthread"})
    if status == 77:
        print("skipped: there are no two OpenCL devices here")
        return
    check(status == 0, f"gaps: {out} {err}")
    words = out.split()
    planted = {words[i]: int(words[i + 1]) for i in range(0, len(words), 2)}
    causes = ("nothing", "event", "user_event", "copy", "launch")
    rows = ask(db, f"devices of leave_gaps columns {', '.join(f'{c} * 1e9' for c in causes)}, error * 1e9, commands")["rows"]
    ours = [r["values"] for r in rows if r["values"][6] == 6]
    check(len(rows) == 2 and len(ours) == 1, f"two devices: {rows}")
    slack = planted["uncertain"] + 20 * max(r["values"][5] for r in rows)
    for i, cause in enumerate(causes):
        found = ours[0][i] or 0
        check(abs(found - planted[cause]) <= slack, f"{cause}: the program says {planted[cause]} ns, hq {found}, within {slack}: {out}")


def barriers():
    """In an unordered queue what stands behind a barrier could not begin before; that is no latency of its launch."""
    db = f"{TMP}/barriers.hq"
    status, out, err = run(HQ, "record", "-e", "GPU", "-o", db, "--", f"{PROGRAMS}/opencl_gaps", "barriers",
                           env={**ENVIRONMENT, "POCL_DEVICES": "pthread pthread"})
    if status == 77:
        return
    check(status == 0, f"barriers: {out} {err}")
    words = out.split()
    said = {words[i]: int(words[i + 1]) for i in range(0, len(words), 2)}
    rows = ask(db, "devices of give_barriers columns latency * 1e9, error * 1e9, commands")["rows"]
    ours = [r["values"] for r in rows if r["values"][2] == 6]
    check(len(ours) == 1, f"one device has six commands: {rows}")
    slack = said["uncertain"] + 20 * max(r["values"][1] for r in rows)
    check(abs(ours[0][0] - said["latency"]) <= slack, f"the program says {said}, hq a latency of {ours[0][0]} ns, within {slack}")


def bounded():
    """With --max-size the costs of all commands stay, by context, and the newest one by one."""
    db = f"{TMP}/bounded.hq"
    out, _ = record(db, KNOWN, "times", "many", options=("-e", "GPU", "--max-size", "256KiB"), env=ENVIRONMENT)
    compare("bounded", db, out)
    size = sum(os.path.getsize(f"{db}/measurements/{f}") for f in os.listdir(f"{db}/measurements") if f.endswith(".hqm"))
    check(size <= 384 * 1024, f"the file is bounded: {size} bytes")
    rows = {r["name"]: r["values"] for r in ask(db, "procedures where kind = device columns gpu_commands, gpu_bytes, gpu_items")["rows"]}
    check(rows == {"[kernel work]": [2000, 0, 2000 * 16384], "[copy to device]": [2000, 2000 * 1024, 0]}, f"by context: {rows}")
    kept = ask(db, "devices columns commands")["rows"][0]["values"][0]
    check(100 < kept < 4000, f"one by one: {kept}")
    facts = run(HQ, db, "info")[1]
    check(re.search(r"^trace +complete from [0-9.]+ s on", facts, re.M), f"info says since when: {facts}")
    for question in ("devices", "trace", "procedures during 0%..20%"):
        check("the traces begin at" in "".join(run(HQ, db, question)[1:]), f"so does `{question}`")
    last = ask(db, "procedures during 50%.. where kind = device columns gpu_time")["rows"]
    check({r["name"] for r in last} == {"[kernel work]", "[copy to device]"}, f"the end is there: {last}")


def no_platform():
    """Where there is no driver a program sees that, and hq has nothing to say against it."""
    empty = {**ENVIRONMENT, "OCL_ICD_VENDORS": f"{TMP}/nowhere"}
    os.makedirs(f"{TMP}/nowhere", exist_ok=True)
    status, out, err = run(HQ, "record", "-e", "GPU", "-o", f"{TMP}/none.hq", "--", KNOWN, "times", "kinds", env=empty)
    check((status, out) == (run(KNOWN, "times", "kinds", env=empty)[0], "") and status == 77, f"no platform: {status}, {out}, {err}")
    notes = run(HQ, f"{TMP}/none.hq", "devices")
    check("no device was given a command" in notes[1] + notes[2], f"no platform: {notes}")


def slices():
    """A slice that begins in the middle of a kernel has the part of it that is inside, by the device's times; what the slices have is all."""
    db, _ = known("kinds")
    parts = []
    for part in ("0%..30%", "30%..50%", "50%..100%"):
        rows = ask(db, f"procedures during {part} where kind = device columns gpu_time.x * 1e9")["rows"]
        parts.append({r["name"]: r["values"][0] or 0 for r in rows})
    whole = {r["name"]: r["values"] for r in ask(db, "procedures where kind = device columns gpu_time.x * 1e9, gpu_commands.x")["rows"]}
    for name, (time, count) in whole.items():
        found = sum(part.get(name, 0) for part in parts)
        check(abs(found - time) <= 2000 * count, f"{name} takes {time} ns, in slices {found}: {parts}")


def visits():
    """Each command of a kernel is a visit of its queue; a procedure of the host has visits of threads alone, and the picture of both tells the clocks' error."""
    db, _ = known("kinds")
    result = ask(db, "iterations of \"[kernel work]\" columns length * 1e9")
    rows, time = result["rows"], ask(db, "procedures where name = \"[kernel work]\" columns gpu_time.x * 1e9")["rows"][0]["values"][0]
    check(len(rows) == 3 and all("queue 0" in r["name"] for r in rows), f"three visits of the queue: {rows}")
    check(abs(sum(r["values"][0] for r in rows) - time) <= 3 * 2000, f"they take {time} ns: {rows}")
    text = run(HQ, db, "iterations of \"[kernel work]\"")
    check("itself 100%" in text[1] and "itself 0%" not in text[1] and "on the clock of the host" in text[2], f"as text: {text}")
    check("queue" not in run(HQ, db, "iterations of all_kinds")[1], "a procedure is visited by threads")
    for query in ("trace", "trace devices 0"):
        notes = run(HQ, db, query)
        check("in queues of devices may be off by" in notes[2], f"`{query}` tells the error of the clock: {notes}")
    check("of devices" not in run(HQ, db, "trace threads 0")[2], "threads have none")
    clocked = f"{TMP}/clocked.hq"
    record(clocked, KNOWN, "times", "kinds", options=("-e", "CPUTIME", "-e", "GPU"), env=ENVIRONMENT)
    for query, data in ((query, data) for query in ("fold of", "phases of", "clusters of phases of") for data in (db, clocked)):
        notes = run(HQ, data, f"{query} \"[kernel work]\"")[2]
        check("is a command of a device" in notes and "`iterations of \"[kernel work]\"` lists its runs" in notes and "record a run" not in notes,
              f"`{query}` of a kernel tells what lists its runs: {notes}")


def statistics():
    """Those of metrics of threads are over threads, those of devices over queues."""
    db, _ = known("threads")
    top = ask(db, "tree depth 1 columns count(gpu_commands), mean(gpu_commands), min(gpu_commands), count(gpu_wait)")["rows"]
    per_queue = [r["values"] for r in top if r["name"] != "main"]
    check([v[0] for v in per_queue] == [4], f"four queues have commands: {per_queue}")
    check([v[1] for v in per_queue] == [51] and [v[2] for v in per_queue] == [51], f"51 of each: {per_queue}")
    threads = ask(db, "threads columns gpu_wait")["rows"]
    check(all("queue" not in r["name"] for r in threads), f"threads are threads: {threads}")
    check(len([r for r in ask(db, "profiles")["rows"] if "queue" in r["name"]]) == 4, "profiles has the queues")


if not os.path.exists(KNOWN) or run(KNOWN, "times", "queues", env=ENVIRONMENT)[0] == 77:
    print("skipped: there is no OpenCL device here")
    raise SystemExit(77)
ways()
old_driver()
shown(ENVIRONMENT)
shown(OLD)
clinfo()
statistics()
visits()
devices()
gaps()
barriers()
bounded()
slices()
no_platform()
finish()
