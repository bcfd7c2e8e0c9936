#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""How fast hipec sim is, told of each access: policies on the VM beside the same in
C, by turns in one process, the best of several turns of each; what a trace twice as
long takes; and what memory a page takes."""

import itertools
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
TURNS = 5
PAIRS = [("lru", "lru"), ("fifo2", "default")]  # a policy, and what it is in C


def skewed(pages, accesses, seed=1):
    """Zipf's with exponent 0.8 on scattered pages; a fifth are writes."""
    rng = random.Random(seed)
    weights = list(itertools.accumulate((i + 1) ** -0.8 for i in range(pages)))
    numbers = rng.sample(range(64 * pages), pages)
    return "".join(f"{'w' if rng.random() < 0.2 else 'r'} {page}\n"
                   for page in rng.choices(numbers, cum_weights=weights, k=accesses))


def run(policies, frames, trace, *flags, columns="policy,hits,speed"):
    """Lines of the table: policy, hits in percent, millions of accesses a second."""
    done = subprocess.run(
        [BUILD / "hipec", "sim", "--mode", "exact", "--jobs", "1", "--frames", str(frames),
         *flags, "--columns", columns, "--policy", ",".join(map(str, policies)), trace],
        text=True, check=True, stdout=subprocess.PIPE)
    return [line.split() for line in done.stdout.split("\n")[2:] if len(line.split()) == columns.count(",") + 1]


def speeds(frames, trace):
    """[(policy, hits, on the VM, in C)], the best of TURNS."""
    files = {name: BUILD / "policies" / f"{name}.hpo" for name, _ in PAIRS}
    best = {}
    for name, hits, speed in run([p for name, c in PAIRS for p in (files[name], c)] * TURNS, frames,
                                 trace):
        best[name] = max((float(speed), hits), best.get(name, (0, hits)))
    return [(name, best[c][1], best[str(files[name])][0], best[c][0]) for name, c in PAIRS]


def memory(policy, pages):
    """The most that a run takes, in bytes: a trace of one line, a frame a page."""
    with tempfile.NamedTemporaryFile("w") as trace:
        trace.write(f"r 0 {pages}\n")
        trace.flush()
        pid = os.posix_spawn(BUILD / "hipec",
                             ["hipec", "sim", "-m", "exact", "-p", str(policy), "-f", str(pages),
                              trace.name], os.environ,
                             file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
        _, status, used = os.wait4(pid, 0)
    assert status == 0
    return used.ru_maxrss * 1024


def main():
    # First: what this process has used already would count as theirs.
    for policy in ("default", BUILD / "policies/lru.hpo"):
        small, large = (memory(policy, pages) for pages in (500_000, 1_000_000))
        print(f"{pathlib.Path(policy).stem}: {(large - small) / 500_000:.0f} bytes a page")
    print(f"{'TRACE':34}  {'POLICY':6}  {'HITS%':>6}  {'VM, M/S':>8}  {'C, M/S':>7}  TIMES")
    with tempfile.TemporaryDirectory() as folder:
        for pages, accesses, share in ((20_000, 1_000_000, 2), (20_000, 2_000_000, 2),
                                       (20_000, 4_000_000, 2), (20_000, 2_000_000, 10),
                                       (500_000, 2_000_000, 2)):
            path = pathlib.Path(folder, "trace")
            path.write_text(skewed(pages, accesses))
            what = f"{accesses:,} to {pages:,}, 1/{share} frames"
            for policy, hits, on_vm, in_c in speeds(pages // share, path):
                print(f"{what:34}  {policy:6}  {hits:>6}  {on_vm:8.1f}  {in_c:7.1f}  "
                      f"{in_c / on_vm:5.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
