# SPDX-License-Identifier: BSD-3-Clause
"""Streams of devices in Chrome traces, as PyTorch's profiler and rocprof write them, are queues; reports of nsys get a sentence."""
import json
import os
import subprocess

from lib import HQ, TMP, check, finish


def run(*command):
    done = subprocess.run([HQ, *command], stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=TMP)
    return done.returncode, done.stdout, done.stderr


def ask(db, question):
    status, out, err = run(db, question + " as json")
    check(status == 0, f"`{question}`: {err}")
    return json.loads(out)["rows"] if status == 0 else []


def imported(name, events):
    with open(f"{TMP}/{name}.json", "w") as f:
        json.dump({"traceEvents": events}, f)
    status, _, err = run("import", f"{name}.json", "-o", f"{name}.hq")
    check(status == 0, f"import of {name}: {err}")
    check(run("verify", f"{name}.hq")[0] == 0, f"{name}: the verifier")
    return f"{name}.hq"


def x(name, pid, tid, ts, dur, cat="", **args):
    return {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "cat": cat, "args": args}


def named(what, pid, name, tid=0):
    return {"ph": "M", "name": what, "pid": pid, "tid": tid, "ts": 0, "args": {"name": name}}


TORCH = [
    named("process_name", 4711, "python"), named("process_name", 0, "python"), named("process_name", 1, "python"),
    x("aten::mm", 4711, 4711, 100, 50, "cpu_op"), x("cudaLaunchKernel", 4711, 4711, 110, 5, "cuda_runtime", correlation=1),
    x("void gemm<float>(int)", 0, 7, 120, 30, "kernel", stream=7, correlation=1), x("void gemm<float>(int)", 0, 7, 160, 20, "kernel", stream=7),
    x("Memcpy HtoD (Pageable -> Device)", 0, 9, 140, 30, "gpu_memcpy", stream=9), x("Memset (Device)", 1, 7, 300, 4, "gpu_memset", stream=7),
    x("ProfilerStep#1", 0, 7, 120, 60, "gpu_user_annotation"), x("PyTorch Profiler (0)", "Spans", "PyTorch Profiler", 100, 300, "Trace")]
torch = imported("torch", TORCH)
rows = {r["name"]: [round(v * 1e6) if i == 0 else v for i, v in enumerate(r["values"])]
        for r in ask(torch, "procedures where kind = device columns gpu_time, gpu_commands")}
check(rows == {"[kernel void gemm<float>(int)]": [50, 2], "[copy to device]": [30, 1], "[fill]": [4, 1]}, f"torch: {rows}")
host = {r["name"]: round(r["values"][0] * 1e6) for r in ask(torch, "procedures where kind = procedure columns walltime")}
check(host == {"aten::mm": 50, "cudaLaunchKernel": 5}, f"torch's host is as before: {host}")
devices = {r["name"]: [round(v * 1e6) for v in r["values"][:3]] + r["values"][3:]
           for r in ask(torch, "devices columns busy, overlap, idle, commands, queues")}
# From 120 to 180: kernels for 50, the copy from 140 to 170, beside them for 20.
check(devices == {"device 0: GPU": [60, 20, 0, 3, 2], "device 1: GPU": [4, 0, 0, 1, 1]}, f"torch's devices: {devices}")
check(len(ask(torch, "profiles devices 0-2")) == 3, "three streams are queues")
# Times since 1970, as PyTorch has them until 2.2: beyond what a double has of them in nanoseconds.
epoch = imported("epoch", [{**e, "ts": 1683020283542173 + e["ts"] if e["ph"] == "X" else 0} for e in TORCH])
for question in ("devices columns busy, overlap, idle, commands, queues", "tree columns walltime, gpu_time"):
    check([r["values"] for r in ask(epoch, question)] == [r["values"] for r in ask(torch, question)], f"since 1970: `{question}`")

rocprof = imported("rocprof", [
    named("process_name", 1, "COPY"), named("process_name", 2, "CPU HIP API"), named("process_name", 6, "GPU0"),
    x("hipLaunchKernel", 2, 100, 10, 5), x("CopyHostToDevice", 1, 0, 16, 8), x("axpy(float*)", 6, 0, 30, 12), x("axpy(float*)", 6, 1, 50, 2)])
rows = {r["name"]: round(r["values"][0] * 1e6) for r in ask(rocprof, "procedures where kind = device columns gpu_time")}
check(rows == {"[copy to device]": 8, "[kernel axpy(float*)]": 14}, f"rocprof: {rows}")
check([r["name"] for r in ask(rocprof, "devices columns busy")] == ["device 0: GPU"], "copies and kernels are of one device")

for name, text in (("run.nsys-rep", b"\x01\x02report"), ("old.qdrep", b"QDREP"), ("run.sqlite", b"SQLite format 3\0" + b"\0" * 80 + b"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL")):
    with open(os.path.join(TMP, name), "wb") as f:
        f.write(text)
    status, _, err = run("import", name, "-o", "nsys.hq")
    check(status == 3 and "Nsight Systems" in err and "Chrome trace events" in err, f"{name}: {status}, {err}")
finish()
