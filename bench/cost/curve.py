#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""What hipec sim --curve takes, in multiples of one run, beside 20 runs: policies on generated traces
of 4 million accesses to 500,000 pages, with processor time, and how far the curve is off. The status
is 1 if lru differs from its runs, if a point is off by more than a point of miss ratio, or if more
than 5 of 100 are off by more than they say."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HIPEC = ROOT / "build/hipec"
POLICIES = ["lru", "s3-fifo", "arc", "lirs"]
TRACES = {
    "zipf": "zipf --skew 0.9 --seed 1",
    "mixed": "mixed --scan 40 --run 300 --seed 4",
    "shift": "shift --set 50000 --phase 200000 --seed 5",
    "btree": "btree --fanout 50 --skew 0.8 --seed 6",
}
PAGES, ACCESSES = 500_000, 4_000_000


def timed(*args):
    """What it prints, and the processor's seconds, its children's too."""
    before = os.times()
    done = subprocess.run([HIPEC, *map(str, args)], capture_output=True, check=True)
    after = os.times()
    return done.stdout, (after.children_user + after.children_system -
                         before.children_user - before.children_system)


def sim(file, policy, *more):
    """Rows, and seconds."""
    out, seconds = timed("sim", "--json", "--mode", "exact", "--jobs", "1", "-p", policy, *more, file)
    return json.loads(out), seconds


def ratio(row):
    """Faults an access."""
    return row["faults"] / row["accesses"]


def reading(file):
    """Seconds that the trace alone takes: what is left if one run is taken away from two."""
    once, twice = (min(sim(file, "lru", "-f", sizes)[1] for _ in range(3)) for sizes in ("1%", "1%,2%"))
    return max(2 * once - twice, 0)


def compare(name, file, policy):
    """A line of the table. Return: (points, off by more than a point, than they say)."""
    curve, seconds = sim(file, policy, "--curve")
    runs, of_all = sim(file, policy, "-f", ",".join(str(row["frames"]) for row in curve))
    read = reading(file)
    one = (of_all - read) / len(runs)
    off = [abs(ratio(a) - ratio(b)) for a, b in zip(curve, runs, strict=True)]
    said = [row["sample"]["error"] for row in curve]
    ran = sum(row["sample"]["ran"] for row in curve) / curve[0]["accesses"]
    print(f"{name:8}{policy:>9}{one:10.2f} s{(seconds - read) / one:9.1f}{ran:11.2f}"
          f"{100 * max(off):10.2f}{100 * max(said):8.2f}", flush=True)
    return len(off), sum(one > 0.01 for one in off), sum(
        one > may + 1e-9 for one, may in zip(off, said))


def main():
    """The table."""
    print(f"hipec sim --curve, {ACCESSES:,} accesses to {PAGES:,} pages; 20 sizes, a run is the mean of "
          "theirs")
    print(f"{'trace':8}{'policy':>9}{'one run':>12}{'takes':>9}{'accesses':>11}{'most off':>10}"
          f"{'said':>8}   (runs, runs, points, points)")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, recipe in TRACES.items():
            file = pathlib.Path(folder, f"{name}.trace")
            timed("trace", "make", *recipe.split(), "--pages", PAGES, "--accesses", ACCESSES, file)
            rows += [(policy, *compare(name, file, policy)) for policy in POLICIES]
    others = [row for row in rows if row[0] != "lru"]
    points, bad, beyond = (sum(row[column] for row in others) for column in (1, 2, 3))
    print(f"{bad} of {points} points are off by more than one of miss ratio; {beyond} by more than they "
          "say; lru by none")
    return bad > 0 or beyond > 0.05 * points or any(row[3] for row in rows if row[0] == "lru")


if __name__ == "__main__":
    sys.exit(main())
