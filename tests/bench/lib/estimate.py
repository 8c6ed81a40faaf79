# SPDX-License-Identifier: BSD-3-Clause
"""Medians of paired measurements with intervals.

The data is a list for each program, with one value for each round. A round's value is paired already: the runs that it compares came one after the other.
The estimate is the median over programs of the median over rounds; its interval is the 95 % percentile interval of a bootstrap that draws programs,
and within them rounds, with replacement (Efron and Tibshirani, An Introduction to the Bootstrap, chapter 13). The draws are seeded: the same data gives
the same interval."""
import random
import statistics

DRAWS = 2000
FEWEST = 6      # values that an interval needs: fewer leave it open


def estimate(programs, value=lambda rounds: statistics.median(rounds)):
    """(middle, low, high) of `value` of the rounds of each program, or None without data. `value` may combine what a round holds. With hardly any
    data the interval is infinite."""
    programs = [rounds for rounds in programs if rounds]
    if not programs:
        return None
    middle = statistics.median(value(rounds) for rounds in programs)
    if sum(map(len, programs)) < FEWEST:
        return middle, float("-inf"), float("inf")
    draw = random.Random(1).choices
    medians = sorted(statistics.median(value(draw(rounds, k=len(rounds))) for rounds in draw(programs, k=len(programs))) for _ in range(DRAWS))
    return middle, medians[DRAWS // 40], medians[-1 - DRAWS // 40]


def per_sample(rounds):
    """Of rounds of (CPU seconds more, samples): microseconds a sample. All rounds together: a slope through the origin."""
    samples = sum(n for _, n in rounds)
    return 1e6 * sum(cost for cost, _ in rounds) / samples if samples else 0.0


def per_sample_ratio(rounds):
    """Of rounds of ((more, samples), (more, samples) of the reference)."""
    reference = per_sample([r[1] for r in rounds])
    return per_sample([r[0] for r in rounds]) / reference if reference > 0 else float("inf")


def verdict(interval, goal):
    """Is all of the interval below the goal, above it, or neither?"""
    if interval is None:
        return "not measured"
    return "met" if interval[2] <= goal else "missed" if interval[1] > goal else "not resolved"
