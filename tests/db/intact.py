#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A question that reads a damaged section says so: with any byte of a database changed its answer is the one of the whole file, or status 3 and a sentence."""
import os
import random
import subprocess

from counting import check, finish, seconds

HQ, TMP, TOP, BUILD = (os.environ[v] for v in ("HQ", "HQ_TEST_TMP", "TOP", "BUILD"))
QUESTIONS = ("tree all as csv", "threads all as csv", "procedures of solve columns mean(cputime), max(cputime) per rank as csv", "procedures of inti")

subprocess.run([f"{TOP}/{BUILD}/tools/fixture", f"{TOP}/tests/query/app.fixture", f"{TMP}/whole.hq"], check=True)
whole = open(f"{TMP}/whole.hq/hq.db", "rb").read()
damaged = f"{TMP}/damaged.db"


def ask(question):
    done = subprocess.run([HQ, damaged, question], capture_output=True, text=True, errors="replace", timeout=seconds(60))
    return done.returncode, done.stdout, done.stderr


open(damaged, "wb").write(whole)
expected = [ask(question) for question in QUESTIONS]
check(all(status == 0 for status, _, _ in expected), f"the whole file answers: {expected}")
state, told = random.Random(7), 0
for _ in range(60):
    data = bytearray(whole)
    at = state.randrange(len(data))
    data[at] ^= 1 << state.randrange(8)
    open(damaged, "wb").write(data)
    for question, right in zip(QUESTIONS, expected):
        answer = ask(question)
        told += answer[0] == 3
        check(answer == right or (answer[0] == 3 and damaged in answer[2] and answer[2].count("\n") == 1),
              f"byte {at} changed, {question}: {answer}")
check(told > 60, f"damage is told: {told}")
finish()
