# SPDX-License-Identifier: BSD-3-Clause
"""
What a command of a device costs under `-e GPU`: the slope over the number of empty kernels of a program that asks for nothing, measured, less that of the same program
that itself asks for profiling, an event and a completion callback for each command and reads the four times. Pairs in turns; goal: at most 1 us more, at
the upper end of the 95 % interval. Beside it the same of the CPU time of one thread, with a driver that does nothing and ends each command within the call that
gives it: what hq itself takes, of which less depends on what else runs; told, not judged.
"""
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile

HQ, KNOWN = os.environ["HQ"], os.path.abspath(os.environ.get("BUILD", "build") + "/programs/opencl_known")
PAIRS, FEW, MANY, GOAL_US = int(os.environ.get("HQ_PAIRS", 20)), 2000, 12000, 1.0
PLACE = tempfile.mkdtemp(dir=os.environ.get("TMPDIR", "/tmp"))


def elapsed(way, count, *before):
    done = subprocess.run([*before, KNOWN, way, str(count)], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, "POCL_CACHE_DIR": PLACE + "/kernels"})
    if done.returncode == 77:
        print("skipped: there is no OpenCL device here")
        sys.exit(0)
    return float(done.stdout.split()[-1])


def slope(way, *before):
    """us for each kernel."""
    return (elapsed(way, MANY, *before) - elapsed(way, FEW, *before)) / (MANY - FEW) / 1e3


measured = (HQ, "record", "--force", "-e", "GPU", "-o", PLACE + "/gpu.hq", "--")
elapsed("plain", 100)
bare, asks, with_hq, more = [], [], [], []
for _ in range(PAIRS):
    asks.append(slope("empty"))
    with_hq.append(slope("plain", *measured))
    bare.append(slope("plain"))
    more.append(with_hq[-1] - asks[-1])
mean, error = statistics.mean(more), 1.96 * statistics.stdev(more) / math.sqrt(PAIRS)
print(f"us a kernel: plain {statistics.median(bare):.2f}, asking for times {statistics.median(asks):.2f}, measured {statistics.median(with_hq):.2f}")
print(f"measured less asking: median {statistics.median(more):.2f}, mean {mean:.2f} [{mean - error:.2f}, {mean + error:.2f}] us, goal {GOAL_US}")


def cpu(way, count, *before):
    """us of CPU time, with the driver that does nothing."""
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*before, KNOWN, way, str(count)], capture_output=True, stdin=subprocess.DEVNULL, env={**os.environ, "LD_LIBRARY_PATH": PLACE}, check=True)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (end.ru_utime - start.ru_utime + end.ru_stime - start.ru_stime) * 1e6


os.symlink(os.path.dirname(KNOWN) + "/libopencl_nothing.so", PLACE + "/libOpenCL.so.1")
LITTLE, MUCH = 20000, 200000
for name, way, before in (("asking for times", "empty", ()), ("measured", "plain", measured)):
    slopes = [(cpu(way, MUCH, *before) - cpu(way, LITTLE, *before)) / (MUCH - LITTLE) for _ in range(7)]
    print(f"CPU time, driver that does nothing: {name} {statistics.median(slopes):.2f} [{min(slopes):.2f}, {max(slopes):.2f}] us a kernel")
sys.exit(0 if mean + error <= GOAL_US else 1)
