#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""How often the true number is inside the interval that a container says of itself.

    interval.py [--salts N] [--frames LIST] [--accesses N] [--json]

Policies on the traces of bench/cost/revoke, in the simulator. True are the faults of a
full run of the default; said is the interval that module/core/estimate.c gives of them
by a sample: least to most. Each salt is another sample. Columns: runs; in how many of
100 the true number is inside; and of half the interval, in points of what is saved, the
median and what one run in ten exceeds. Exit status 1 if it is inside in fewer than 95.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench.cost.revoke.traces import TRACES  # noqa: E402

BUILD = ROOT / "build"
POLICIES = ("mru", "sieve", "2q", "arc", "lirs", "scan-resistant", "lru", "mglru")
LEAST = 512             # faults: of fewer the module says nothing
WANTED = 95             # of 100 runs


def runs(trace, path, frames, salt):
    """[{true, inside, half}] of the policies, by one sample."""
    names = ",".join(str(BUILD / f"policies/{name}.hpo") for name in POLICIES)
    done = subprocess.run(
        [BUILD / "hipec", "sim", "--json", "-J1", f"--contract={salt * 0x9e3779b9 % 2 ** 32}",
         "-p", names, "-f", str(frames), path], capture_output=True, text=True, check=True)
    out = []
    for name, row in zip(POLICIES, json.loads(done.stdout)):
        ours, told = row["faults"], row["contract"]
        low, high, true = told["least_faults"], told["most_faults"], told["default_faults"]
        if ours >= LEAST and low:
            out.append({"trace": trace, "frames": frames, "policy": name, "salt": salt,
                        "true": true, "least": low, "most": high, "faults": ours,
                        "inside": low <= true <= high,
                        "half": 50 * (ours / low - ours / high)})
    return out


def line(name, rows):
    """A line of the table."""
    half = sorted(row["half"] for row in rows)
    inside = 100 * sum(row["inside"] for row in rows) / len(rows)
    print(f"{name:14} {len(rows):5} {inside:7.1f} {half[len(half) // 2]:7.1f} "
          f"{half[len(half) * 9 // 10]:7.1f}")
    return inside


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--salts", type=int, default=6)
    parser.add_argument("--frames", default="400,1500,4096")
    parser.add_argument("--accesses", type=int, default=30, help="for each frame")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = []
        for frames in map(int, options.frames.split(",")):
            for name, make in TRACES.items():
                path = pathlib.Path(folder) / f"{name}.{frames}"
                pages = make(random.Random(options.seed), frames, options.accesses * frames)
                path.write_text("".join(f"r {page}\n" for page in pages))
                jobs += [(name, path, frames, salt + options.seed * 1000)
                         for salt in range(options.salts)]
        for part in pool.map(lambda job: runs(*job), jobs):
            rows += part
    if options.json:
        json.dump(rows, sys.stdout, indent=1)
        return 0
    print(f"{'trace':14} {'runs':>5} {'inside':>7} {'median':>7} {'one in 10':>9}")
    for name in TRACES:
        mine = [row for row in rows if row["trace"] == name]
        if mine:
            line(name, mine)
    return line("all", rows) < WANTED


if __name__ == "__main__":
    sys.exit(main())
