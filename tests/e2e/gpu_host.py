# SPDX-License-Identifier: BSD-3-Clause
"""
Devices beside their host: times of a device whose clock is another one, on the host's clock; ranks, fork and exec; what queues do to answers about the host (nothing).
"""
import re
import struct

from lib import *

KNOWN = f"{PROGRAMS}/opencl_known"
FIXTURE = f"{os.path.dirname(PROGRAMS)}/tools/fixture"
ENVIRONMENT = {**os.environ, "POCL_CACHE_DIR": f"{TMP}/kernels", "OCL_ICD_VENDORS": "/etc/OpenCL/vendors"}


def start_monotonic(db):
    """From the header of the only measurement file (format/measurement.h)."""
    files = [f for f in os.listdir(f"{db}/measurements") if f.endswith(".hqm")]
    check(len(files) == 1, f"one process: {files}")
    with open(f"{db}/measurements/{files[0]}", "rb") as f:
        return struct.unpack_from("<QQ", f.read(64), 40)[1]


def spans(db):
    """The commands of the only queue as its trace has them: starts and ends in ns since the start of the process."""
    status, out, err = run(HQ, "export", "chrome", db)
    check(status == 0, f"export: {err}")
    found = []
    for e in json.loads(out)["traceEvents"]:
        if e.get("ph") in ("X", "B", "E") and e.get("name", "").startswith("["):
            found.append((e["ph"], e["ts"] * 1000, e.get("dur", 0) * 1000))
    return found


def skewed_clock(name, clock, **more):
    """The device's clock is seconds off, and drifts: kernels are where they were on the host's clock, but for the error that `devices` tells."""
    db, truth = f"{TMP}/{name}.hq", f"{TMP}/{name}.truth"
    record(db, KNOWN, "times", "kinds", options=("-e", "GPU"),
           env={**ENVIRONMENT, "OPENCL_LAYERS": f"{PROGRAMS}/libopencl_layer.so", "LAYER_CLOCK": clock, "LAYER_TRUTH": truth, **more})
    sums = run(f"{os.path.dirname(PROGRAMS)}/tools/measurements", f"{db}/measurements")[1]
    readings = int(re.search(r"^readings (\d+)$", sums, re.M).group(1))
    check((readings > 0) == ("LAYER_TIMER" in more), f"{name}: the clock was read {readings} times")
    error = ask(db, "devices columns error * 1e9")["rows"][0]["values"][0]
    check(0 < error < 5e8, f"{name}: the error is stated: {error} ns")
    begin = start_monotonic(db)
    kernels = sorted({tuple(map(int, line.split())) for line in open(truth)}, key=lambda t: t[3] - t[2])[-3:]
    shown = spans(db)
    starts = [t for kind, t, _ in shown if kind in "XB"]
    ends = [t + d for kind, t, d in shown if kind == "X"] + [t for kind, t, _ in shown if kind == "E"]
    for _, _, start, end in kernels:
        # Traces have microseconds; the host's own two clocks differ by what one of them is slewed.
        bound = error + 2000 + (end - start) * 1e-3
        near = min((abs(s - (start - begin)) for s in starts), default=1e18)
        check(near <= bound, f"{name}: a kernel that began at {start - begin} is {near} ns off, the error is {error} ns")
        near = min((abs(e - (end - begin)) for e in ends), default=1e18)
        check(near <= bound, f"{name}: a kernel that ended at {end - begin} is {near} ns off, the error is {error} ns")


def ranks_and_images():
    """A queue has the rank, process and host of its process."""
    for mpi in ("openmpi", "mpich"):
        if not shutil.which(f"mpirun.{mpi}"):
            continue
        db = f"{TMP}/{mpi}.hq"
        extra = ("--allow-run-as-root", "--oversubscribe") if mpi == "openmpi" else ()
        record(db, f"mpirun.{mpi}", *extra, "-n", "2", KNOWN, "times", "kinds", options=("-e", "GPU"), env=ENVIRONMENT)
        for rank in (0, 1):
            top = ask(db, f"tree depth 1 ranks {rank} devices 0 columns gpu_commands")["rows"]
            check(sum(r["values"][0] or 0 for r in top if r["depth"] == 0) == 14, f"{mpi}: of the queue of rank {rank}: {top}")
        top = ask(db, "tree depth 1 per rank columns count(gpu_commands), min(gpu_commands), max(gpu_commands)")["rows"]
        check([14, 14] in [r["values"][1:] for r in top], f"{mpi}: each rank has its own: {top}")
        check(len(ask(db, "profiles ranks 1 devices 0")["rows"]) == 1, f"{mpi}: the queue of rank 1")
        break
    db = f"{TMP}/exec.hq"
    record(db, "sh", "-c", f"{KNOWN} times kinds; exec {KNOWN} times kinds", options=("-e", "GPU"), env=ENVIRONMENT)
    top = ask(db, "tree depth 1 columns gpu_commands")["rows"]
    check(sum(r["values"][0] or 0 for r in top if r["depth"] == 0) == 28, f"a child, and what the process becomes: {top}")


HOST = """
metric CPUTIME seconds 1e-9 1000 sampled traced
metric GPU_WAIT seconds 1e-9 0 exact
module app /opt/offload
file main.c app main.c
proc main main.c main 1
proc step main.c step 10
proc give main.c clEnqueueNDRangeKernel 100
"""
THREAD = """profile h{r}{t} rank={r} host=a pid={r} tid={t} thread={t} command=/opt/offload end=100
value h{r}{t} CPUTIME {v} {c} main:2
value h{r}{t} CPUTIME {w} {d} main:3 > step:11
value h{r}{t} GPU_WAIT {v} 3 main:4 > give:101
"""
QUEUE = """profile q{r} rank={r} host=a pid={r} thread=2147483648 command=/opt/offload end=100
queue q{r} gizmo
command q{r} kernel 1000 0 2000 3000 0 main:4 > give:101
"""
QUESTIONS = ("tree columns cputime, cputime.x, gpu_wait", "procedures columns cputime.x, mean(cputime), max(cputime), imbalance(cputime)",
             "procedures per thread columns mean(cputime), stddev(cputime), min(cputime), count(cputime)", "flat columns cputime", "lines columns cputime",
             "callers of step columns cputime", "threads columns cputime", "threads per rank columns cputime, gpu_wait", "hot path",
             "tree ranks 1 columns cputime", "procedures threads 1 columns cputime", "modules columns cputime", "summary")


def host_alone():
    """The same database with and without its queues says the same about the host."""
    text = HOST + "".join(THREAD.format(r=r, t=t, v=(3 * r + t + 1) * 1000, c=3 * r + t + 1, w=(5 * t + r + 2) * 1000, d=5 * t + r + 2)
                          for r in range(3) for t in range(2))
    for name, more in (("without", ""), ("with", "".join(QUEUE.format(r=r) for r in range(3)))):
        open(f"{TMP}/{name}.fixture", "w").write(text + more)
        status, _, err = run(FIXTURE, f"{TMP}/{name}.fixture", f"{TMP}/{name}.hqdb")
        check(status == 0, f"fixture {name}: {err}")
    for question in QUESTIONS:
        answers = []
        for name in ("without", "with"):
            status, out, err = run(HQ, f"{TMP}/{name}.hqdb", question + " as csv")
            check(status == 0, f"`{question}` {name} queues: {err}")
            answers.append(out.replace(f"{name}.hqdb", ""))
        check(answers[0] == answers[1], f"`{question}`: without queues\n{answers[0]}\nwith\n{answers[1]}")


FAKE = f"{TMP}/libOpenCL.so.1"


def unmeasured():
    """A program that loads another runtime of devices is told so."""
    library = f"{TMP}/libcudart.so.12"
    shutil.copy(f"{PROGRAMS}/libslow.so", library)
    shutil.copy(f"{PROGRAMS}/libslow.so", FAKE)
    _, err = record(f"{TMP}/cuda.hq", "python3", "-c", f"sum(range(10**7)), '{library}'", env={**os.environ, "LD_PRELOAD": library})
    check("what CUDA does on devices is not measured" in err, f"the closing line: {err}")
    _, err = record(f"{TMP}/none.hq", "python3", "-c", f"sum(range(10**7)), '{library}'")
    check("on devices" not in err, f"the closing line: {err}")
    loads, fake = ("python3", "-c", "sum(range(10**7))"), {**os.environ, "LD_PRELOAD": FAKE}
    _, err = record(f"{TMP}/loads.hq", *loads, options=("-e", "CPUTIME", "-e", "GPU"), env=fake)
    check("OpenCL was loaded, but no queue of it was seen" in err, f"the closing line: {err}")
    _, err = record(f"{TMP}/loads_only.hq", *loads, env=fake)
    check("OpenCL" not in err, f"nothing is said where GPU was not asked for: {err}")
    check("Devices that GPU measures" in run(HQ, "record", "--list")[1], "--list has the devices")


def no_clock():
    """A driver whose commands all end at 1 ns has no clock: they count without time, which the answers say."""
    db = f"{TMP}/no_clock.hq"
    out, _ = record(db, KNOWN, "times", "threads", options=("-e", "GPU"),
                    env={**ENVIRONMENT, "OPENCL_LAYERS": f"{PROGRAMS}/libopencl_layer.so", "LAYER_NO_CLOCK": "1"})
    check("threads time 204 kernel 200 copy 4 commands 204" in out, f"the program's own events are as the driver tells them: {out}")
    values = [r["values"] for r in ask(db, "tree columns gpu_commands.x, gpu_time.x")["rows"] if r["values"][0]]
    check(sum(v[0] for v in values) == 204 and not any(v[1] for v in values), f"commands without times: {values}")
    said = run(HQ, db, "devices")
    check("204 of 204 commands count without time: none was told for them" in said[2], f"`devices`: {said}")
    check(re.search("commands without times +204\n", run(HQ, db, "info")[1]), "`info`")


def two_platforms():
    """Devices of one name, each the first of its platform, are two."""
    os.mkdir(f"{TMP}/nothing")
    os.symlink(f"{PROGRAMS}/libopencl_nothing.so", f"{TMP}/nothing/libOpenCL.so.1")
    db = f"{TMP}/platforms.hq"
    record(db, KNOWN, "platforms", options=("-e", "GPU"), env={**ENVIRONMENT, "LD_LIBRARY_PATH": f"{TMP}/nothing"})
    rows = {r["name"]: r["values"] for r in ask(db, "devices columns commands, queues")["rows"]}
    check(rows == {"device 0: unknown device": [1, 1], "device 0 of platform 1: unknown device": [2, 1]}, f"two platforms: {rows}")


unmeasured()
host_alone()
# Kernels are compiled before: drivers start processes for that.
if os.path.exists(KNOWN) and run(KNOWN, "times", "kinds", env=ENVIRONMENT)[0] != 77:
    skewed_clock("ahead", "3600,0.0002")
    skewed_clock("behind", "-5,-0.0005")
    skewed_clock("readable", "7,0.0003", LAYER_TIMER="1")
    ranks_and_images()
    no_clock()
    two_platforms()
else:
    print("skipped: there is no OpenCL device here")
finish()
