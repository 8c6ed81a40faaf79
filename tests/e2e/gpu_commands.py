# SPDX-License-Identifier: BSD-3-Clause
"""
Commands of every kind, in every kind of queue: counted by hq as by a layer below it that shares nothing with it, timed as by the program's own events.
"""
from counting import seconds
from lib import *

EVERY = f"{PROGRAMS}/opencl_every"
ENVIRONMENT = {**os.environ, "POCL_CACHE_DIR": f"{TMP}/kernels", "OCL_ICD_VENDORS": "/etc/OpenCL/vendors",
               "OPENCL_LAYERS": f"{PROGRAMS}/libopencl_layer.so"}
# Parts of the device have a process of their own: behind them threads of pocl 3.1 end the program now and then, without hq too.
WAYS = ("images", "rectangles", "svm", "old", "unordered", "contexts", "programs", "unasked")
ROWS = {"clEnqueueReadImage": "copy to host", "clEnqueueWriteImage": "copy to device", "clEnqueueWriteBuffer": "copy to device",
        "clEnqueueWriteBufferRect": "copy to device", "clEnqueueCopyBufferRect": "copy on device", "clEnqueueCopyImage": "copy on device",
        "clEnqueueCopyImageToBuffer": "copy on device", "clEnqueueCopyBufferToImage": "copy on device", "clEnqueueMapImage": "map",
        "clEnqueueUnmapMemObject": "unmap", "clEnqueueFillImage": "fill", "clEnqueueSVMMap": "map", "clEnqueueSVMUnmap": "unmap",
        "clEnqueueSVMMemFill": "fill", "clEnqueueSVMMemcpy": "copy on device", "clEnqueueSVMMigrateMem": "migrate",
        "clEnqueueSVMFree": "svm free", "clEnqueueNativeKernel": "native kernel", "clEnqueueMarker": "marker", "clEnqueueBarrier": "barrier",
        "clEnqueueMarkerWithWaitList": "marker", "clEnqueueBarrierWithWaitList": "barrier"}


def counted(name):
    """What the layer has seen, by function; kernels by their names."""
    seen = {}
    for line in open(f"{TMP}/{name}.counts"):
        what, number = line.rsplit(" ", 1)
        seen[what] = seen.get(what, 0) + int(number)
    return seen


def of_rows(db, what, column=0):
    query = f"procedures where {what} columns gpu_commands, gpu_commands.x"
    sums = {}
    for r in ask(db, query)["rows"]:
        sums[r["name"]] = sums.get(r["name"], 0) + round(r["values"][column] or 0)
    return {name: number for name, number in sums.items() if number}


def measure(name, *ways, layer=True, **environment):
    db = f"{TMP}/{name}.hq"
    command = [EVERY, *ways] if layer else ["env", "-u", "OPENCL_LAYERS", EVERY, *ways]
    out, err = record(db, *command, options=("-e", "GPU"),
                      env={**ENVIRONMENT, "LAYER_COUNTS": f"{TMP}/{name}.counts", **environment})
    said = {}
    for words in map(str.split, out.splitlines()):
        if words[0] == "every":
            said.update({words[i]: int(words[i + 1]) for i in range(1, len(words), 2)})
        else:
            said[words[0]] = int(words[1])
    ask(db, "info")
    check(run(HQ, "verify", db)[0] == 0, f"{name}: the verifier")
    return db, said, err


def total_of(db, metric):
    return sum(r["values"][0] or 0 for r in ask(db, f"tree depth 1 columns {metric}")["rows"] if r["depth"] == 0)


def every_kind():
    db, said, _ = measure("every", *WAYS)
    seen = counted("every")
    functions = {n: c for n, c in seen.items() if n.startswith("cl")}
    rows = of_rows(db, "name =~ \"^clEnqueue\"")
    check(rows == functions, f"by function: the layer has seen {functions}, hq {rows}")
    kernels = {f"[{n}]": c for n, c in seen.items() if n.startswith("kernel ")}
    for function, number in functions.items():
        if function in ROWS:
            row = f"[{ROWS[function]}]"
            kernels[row] = kernels.get(row, 0) + number
    devices = of_rows(db, "kind = device", 1)
    check(devices == kernels, f"by what they do: the layer has seen {kernels}, hq {devices}")
    check(round(total_of(db, "gpu_commands")) == said["commands"] + said["bare"], f"all of them: {said}")
    check(total_of(db, "gpu_bytes") == said["bytes"] + 10 * 1024, f"bytes: {said}, those of `unasked` beside them")
    check(total_of(db, "gpu_items") == said["items"], f"work-items: {said}")


def exact_times():
    """Without commands whose times only hq knows; by wrappers too."""
    for layer in (True, False):
        db, said, _ = measure(f"times{layer}", "images", "rectangles", "svm", "contexts", "programs", layer=layer)
        for metric, name in (("gpu_time", "time"), ("gpu_kernel", "kernel"), ("gpu_copy", "copy")):
            check(round(total_of(db, metric) * 1e9) == said[name], f"{metric}: the program says {said}")


def parts():
    """Queues of two parts of the device, which are one device."""
    db, said, _ = measure("parts", "parts")
    check(of_rows(db, "kind = device") == ({"[copy to device]": said["commands"]} if said["commands"] else {}), f"of the parts: {said}")
    check(round(total_of(db, "gpu_time") * 1e9) == said["time"], f"their times: {said}")
    check(len(ask(db, "devices columns commands")["rows"]) == (1 if said["commands"] else 0), "parts are of the device that they are parts of")


def programs():
    """Kernels of one name in two programs, and in one that was built in two ways, are three rows; each with its source."""
    db, _, _ = measure("programs", "programs")
    rows = ask(db, "procedures where kind = device columns gpu_commands.x")["rows"]
    check(sorted(round(r["values"][0]) for r in rows) == [1, 2, 3] and {r["name"] for r in rows} == {"[kernel axpy]"}, f"three kernels: {rows}")
    text = run(HQ, db, "tree columns gpu_commands, gpu_commands.x")[1]
    lines = [line for line in text.splitlines() if "[kernel axpy]" in line]
    check(len(set(line.split("[kernel axpy]")[1] for line in lines)) == 3, f"told apart in the tree: {text}")
    check(sum("-DTWICE" in line for line in lines) == 1, f"by how they were built: {text}")
    source = run(HQ, db, "source of axpy")[1]
    check("y[get_global_id(0)] * a + x[get_global_id(0)]" in source, f"all of the kernel's lines: {source}")
    check(total_of(db, "gpu_build") > 0, "the time of building programs")


def failures():
    db, said, err = measure("failing", "failing")
    check(said["failed"] == 2 and "2 commands of devices failed" in err and "had not ended" not in err, f"by a user event: {said}, {err}")
    check(not of_rows(db, "kind = device"), "they have no values")
    db, said, err = measure("sometimes", "contexts", LAYER_FAILS="10")
    check("12 commands of devices failed" in err, f"every tenth of 120: {err}")
    check(of_rows(db, "kind = device") == {"[copy to device]": 108}, f"the others: {of_rows(db, 'kind = device')}")


def command_buffers():
    db, said, _ = measure("buffer", "buffer")
    check(of_rows(db, "kind = device") == ({"[command buffer]": said["commands"]} if said["commands"] else {}), "a command buffer is one command")
    rows = of_rows(db, "name = \"clEnqueueCommandBufferKHR\"")
    check(sum(rows.values()) == said["commands"], f"below its function: {rows}")


def extensions():
    """One that no driver here has, served by the test's layer: row, bytes, and the host's time in blocking calls."""
    db, _, _ = measure("pipes", "pipes", LAYER_PIPE="1")
    check(of_rows(db, "kind = device") == {"[copy to host]": 3}, f"three copies: {of_rows(db, 'kind = device')}")
    check(total_of(db, "gpu_bytes") == 300, f"of 100 bytes: {total_of(db, 'gpu_bytes')}")
    waits = ask(db, "procedures where gpu_wait.x > 0 columns gpu_wait.x")["rows"]
    check("clEnqueueReadHostPipeINTEL" in {r["name"] for r in waits}, f"they block: {waits}")


def released_twice():
    """The program's end may be another one than without hq; what hq has is whole."""
    for layer in (True, False):
        db = f"{TMP}/twice{layer}.hq"
        command = [EVERY, "twice"] if layer else ["env", "-u", "OPENCL_LAYERS", EVERY, "twice"]
        run(HQ, "record", "-e", "GPU", "-o", db, "--", *command, env=ENVIRONMENT, timeout=seconds(60))
        check(ask(db, "tree")["rows"] and run(HQ, "verify", db)[0] == 0, f"an event released twice, layer {layer}")


if not os.path.exists(EVERY) or run(EVERY, env=ENVIRONMENT)[0] == 77:
    print("skipped: there is no OpenCL device here")
    raise SystemExit(77)
every_kind()
exact_times()
parts()
programs()
failures()
command_buffers()
extensions()
released_twice()
finish()
