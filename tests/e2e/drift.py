#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Under REALTIME the instants at which a working thread is sampled drift against the period: with timers that keep their
distance a thread that waits for another one's samples would always be seen waiting.
"""
from lib import *

PERIOD = 1000  # us
record("drift.hq", f"{PROGRAMS}/split", "1.5", options=("-e", "REALTIME@1000/s"))
status, out, err = run(HQ, "export", "chrome", "drift.hq", "-o", "drift.json")
check(status == 0, err)
instants = sorted({float(e["ts"]) for e in json.load(open(os.path.join(TMP, "drift.json")))["traceEvents"] if "ts" in e})
check(len(instants) > 300, f"{len(instants)} samples")
phases = [t % PERIOD for t in instants]
# A fifth of the period: all but late signals fell into it. A walk by steps of up to a sixteenth leaves it every 30 samples.
most = max(sum((p - low) % PERIOD < PERIOD / 5 for p in phases) for low in range(0, PERIOD, 20)) / len(phases)
check(most < 0.75, f"{100 * most:.0f} % of the samples are in one fifth of the period")
finish()
