# SPDX-License-Identifier: GPL-2.0-only
"""Whether a policy misses less than another: on which traces one looks for it, and on which one
judges; and what may be chance."""

import hashlib
import math
import os

import league
import plan

# Student's t, two-sided 95 of 100, by degrees of freedom from 1 on; 1.96 at last.
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
           2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
           2.052, 2.048, 2.045, 2.042)
LEAST_HELD_OUT = 2      # from one alone no interval comes


def split(traces, percent, seed):
    """(traces to search on, held-out ones): so much of each family, by a hash of the name."""
    traces = list(dict.fromkeys(traces))
    family = league.families(traces)

    def place(trace):
        return family[trace], hashlib.sha256(f"{seed} {os.path.basename(trace)}".encode()).digest()
    training, held_out, owed = [], [], 0
    for trace in sorted(traces, key=place):
        owed += percent
        if owed >= 100:
            owed -= 100
            held_out.append(trace)
        else:
            training.append(trace)
    if len(held_out) < LEAST_HELD_OUT or not training:
        raise plan.Wrong(f"want a trace to search on and {LEAST_HELD_OUT} to judge by: of "
                         f"{len(traces)}, {len(held_out)} would be held out")
    return training, held_out


def words(image, frames, mode, sample, params):
    """Arguments of hipec sim."""
    return ["--policy", str(image), "--frames", ",".join(frames), "--mode", mode,
            *(["--sample", sample] if sample else []),
            *(word for name, value in params.items() for word in ("--param", f"{name}={value}"))]


def misses(result):
    """Of what task.sim() returned: {frames: misses an access}; None of a policy that has ended."""
    if isinstance(result, Exception) or result[0] is None:
        return None
    rows = result[0]
    if any(row.get("exit", {}).get("kind") for row in rows):
        return None
    return {row["frames"]: league.ratio(row) for row in rows}


def change(before, after):
    """Of one trace: the mean logarithm of misses by those before, over all sizes."""
    return sum(math.log(after[size] / before[size]) for size in before) / len(before)


def mean_change(before, after):
    """The same of all traces; None if a run of them ended."""
    if not all(before) or not all(after):
        return None
    return sum(map(change, before, after)) / len(before)


def gain(before, after):
    """What was gained, percent of the misses; in 95 of 100 it is between least and most. Traces
    count alike; sizes of one trace are no chance of their own."""
    if not all(before) or not all(after):
        return {"percent": None, "least": None, "most": None, "is_gain": False}
    changes = list(map(change, before, after))
    mean = sum(changes) / len(changes)
    squares = sum((one - mean) ** 2 for one in changes)
    degrees = len(changes) - 1
    student = STUDENT[degrees - 1] if degrees <= len(STUDENT) else 1.96
    half = student * math.sqrt(squares / degrees / len(changes))

    def percent(logarithm):
        return 100 * (1 - math.exp(logarithm))
    return {"percent": percent(mean), "least": percent(mean + half), "most": percent(mean - half),
            "is_gain": mean + half < 0}


def in_words(found):
    """A verdict."""
    if found["percent"] is None:
        return "no gain: it does not run to the end there"
    between = f"{found['percent']:.2f} % fewer misses ({found['least']:.2f} to {found['most']:.2f} " \
              "in 95 of 100)"
    return between if found["is_gain"] else f"no gain: {between}"
