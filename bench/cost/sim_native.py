#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""How fast hipec sim is, told of each access, with policies interpreted and in native code; the best
of several turns of each. Exit status 1 if the results differ."""

import pathlib
import sys
import tempfile

import sim

POLICIES = "w-tinylfu", "arc", "s3-fifo", "sieve", "fifo2", "lru"
GOAL = 3.0
GOALS = "w-tinylfu", "arc"


def best(lines):
    """{policy: (hits, commands, best speed)}."""
    got = {}
    for name, hits, commands, speed in lines:
        name = pathlib.Path(name).stem
        got[name] = hits, commands, max(float(speed), got.get(name, (0, 0, 0.0))[2])
    return got


def main():
    """What the Makefile calls."""
    files = [sim.BUILD / "policies" / f"{name}.hpo" for name in POLICIES]
    status = 0
    print(f"{'POLICY':10} {'FRAMES':>6} {'HITS%':>6} {'COMMANDS':>9} {'VM, M/S':>8} "
          f"{'NATIVE':>7} {'TIMES':>6}")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "trace")
        path.write_text(sim.skewed(20_000, 2_000_000))
        for frames in (10_000, 2_000):
            ways = [best(sim.run(files * sim.TURNS, frames, path, *flags,
                                 columns="policy,hits,commands,speed"))
                    for flags in ((), ("--native",))]
            for name in POLICIES:
                (hits, commands, slow), (*same, fast) = (way[name] for way in ways)
                status |= same != [hits, commands]
                note = ""
                if name in GOALS:
                    note = f"  goal {GOAL}: {'met' if fast >= GOAL * slow else 'missed'}"
                print(f"{name:10} {frames:6} {hits:>6} {commands:>9} {slow:8.1f} {fast:7.1f} "
                      f"{fast / slow:6.2f}{note}")
    return status


if __name__ == "__main__":
    sys.exit(main())
