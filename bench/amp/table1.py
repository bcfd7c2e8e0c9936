#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Table 1 of Program Context Specific Buffer Caching with AMP: seven streams over a
hundred blocks, and what AMP, DEAR and PCC say of each, beside what is printed.

The paper describes the streams, and does not give them. a, c, d and g follow from the
text; of b, e and f the printed values need one access to block 1 before the rest,
which is inferred; e and f are then a pass and 60 or 50 blocks of another. Read to the
letter, "a block is accessed again with probability 0.6", their R is 0.2 and more.
"""

import json
import pathlib
import random
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
HIPEC = ROOT / "build" / "hipec"
SEEDS = 10
PAGES = 100


def moving(rng):
    """a: clustered around a place that moves through the file."""
    return [min(PAGES, max(1, round(1 + 99 * i / 499 + rng.gauss(0, 8)))) for i in range(500)]


def loops(_):
    """b: pure loops."""
    return [1] + list(range(1, PAGES + 1)) * 6


def displaced(rng):
    """c: loops whose accesses come earlier or later by half a loop, on average."""
    times = [(k * PAGES + x + rng.choice([-1, 1]) * rng.expovariate(2 / PAGES), x)
             for k in range(6) for x in range(1, PAGES + 1)]
    return [block for _, block in sorted(times)]


def windows(_, times=5):
    """d: small loops, one behind the other."""
    return [block for first in range(1, PAGES + 1, 16) for _ in range(times)
            for block in range(first, min(first + 16, PAGES + 1))]


def again(most):
    """e, f: a pass, and the first blocks of another."""
    return lambda _: [1, *range(1, PAGES + 1), *range(1, most + 1)]


def uniform(rng):
    """g: any block."""
    return [rng.randint(1, PAGES) for _ in range(600)]


# Stream: generator, the printed R, and the verdicts of AMP, DEAR and PCC.
STREAMS = {
    "a": (moving, 0.755, "other", "other", "loop"),
    "b": (loops, 0.001, "loop", "loop", "loop"),
    "c": (displaced, 0.347, "loop", "other", "loop"),
    "d": (windows, 0.617, "other", "other", "loop"),
    "e": (again(60), 0.008, "loop", "loop", "loop"),
    "f": (again(50), 0.010, "loop", "other", "other"),
    "g": (uniform, 0.513, "other", "other", "loop"),
}


def detect(stream, *options, hipec=HIPEC):
    """What hipec says of one context's stream."""
    text = "".join(f"r {block} c=1\n" for block in stream)
    done = subprocess.run([hipec, "amp", "detect", "--json", *options, "-"], input=text, text=True,
                          check=True, stdout=subprocess.PIPE)
    context, = json.loads(done.stdout)["contexts"]
    return context


def verdict(context):
    """As Table 1 has it: what is no loop is other."""
    return "loop" if context["kind"] == "looping" else "other"


def of_stream(name, method, seeds=SEEDS, hipec=HIPEC):
    """Rs and verdicts, by seed."""
    found = [detect(STREAMS[name][0](random.Random(seed)), "--detector", method, hipec=hipec)
             for seed in range(seeds)]
    return [one["r"] for one in found], [verdict(one) for one in found]


def said(verdicts, printed):
    """The verdict, how often if not always, and a mark where the paper has another."""
    most = max(set(verdicts), key=verdicts.count)
    often = f" {verdicts.count(most)}/{len(verdicts)}" if len(set(verdicts)) > 1 else ""
    return f"{most}{often}{'' if most == printed else ' !'}"


def main():
    """The table; ! marks what the paper has otherwise."""
    print(f"{'':6}  {'AMP':>22}  {'DEAR':>20}  {'PCC':>16}")
    print(f"{'STREAM':6}  {'PAPER':>12} {'HERE':>15}  {'PAPER':>6} {'HERE':>13}  {'PAPER':>5} HERE")
    for name, (_, r, amp, dear, pcc) in STREAMS.items():
        rs, verdicts = of_stream(name, "amp")
        here = f"{said(verdicts, amp)} {sum(rs) / len(rs):.4f}"
        print(f"{name:6}  {amp:>6} {r:.3f} {here:>15}  {dear:>6} "
              f"{said(of_stream(name, 'dear')[1], dear):>13}  {pcc:>5} "
              f"{said(of_stream(name, 'pcc')[1], pcc)}")


if __name__ == "__main__":
    main()
