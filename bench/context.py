#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What the program context of a fault costs, in instructions of a stock kernel.

    context.py --kernel 6.12 --guest IMG --out DIR

Soft faults at several depths of calls, with a policy that reads Context and with one
that does not: the difference is the context's. And with somebody who samples all of them,
or others: the difference is the sample's. One guest with run.py's deterministic
flags, in which a nanosecond is an instruction. Exit status 1 if a run fails or a goal
is missed.
"""

import argparse
import dataclasses
import pathlib
import shutil
import subprocess
import sys

RUN = pathlib.Path(__file__).resolve().parents[1] / "vm-images" / "run.py"
APPEND = "clearcpuid=erms,fsrm"         # as bench/demo.py says
GOAL = 600
BESIDE = 2      # return addresses that are not deep()'s: touch_all()'s, and main()'s own


@dataclasses.dataclass(frozen=True)
class Case:
    """Faults of one program at one depth."""
    program: str
    frames: int
    mode: str

    def lines(self):
        """For guest.sh: without, and with."""
        sampler = self.mode in ("sampled", "passed")
        return [f"{self.program} /policies/{policy}.hpo {self.frames - BESIDE} {mode}"
                for policy, mode in (("with" if sampler else "without",
                                      "again" if sampler else self.mode), ("with", self.mode))]


ROWS = {
    "frame pointers, remembered": [Case("frames", n, "again") for n in (4, 8, 16)],
    "frame pointers, a first time": [Case("frames", n, "first") for n in (4, 8, 16)],
    "none: the stack's words": [Case("scan", n, "again") for n in (4, 8, 16)],
    "beside it: a sample": [Case("frames", n, "sampled") for n in (4, 8, 16)],
    "beside it: one of other pages": [Case("frames", n, "passed") for n in (4, 8, 16)],
}


def measure(args):
    """{case: instructions of a context}."""
    cases = [case for row in ROWS.values() for case in row]
    shutil.rmtree(args.out, ignore_errors=True)
    args.out.mkdir(parents=True)
    with open(args.out / "log", "w", encoding="utf-8") as log:
        status = subprocess.run(
            [RUN, "--kernel", args.kernel, "--initrd", args.guest, "--det", "--append", APPEND,
             "--timeout", "600", "--out", args.out, "--", "sh", "/guest.sh",
             "\n".join(line for case in cases for line in case.lines())],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False).returncode
    if status:
        sys.exit(f"context.py: the guest failed\n\n{(args.out / 'log').read_text()}")
    got = [dict(word.split("=") for word in line.split())
           for line in (args.out / "results" / "runs").read_text().splitlines()]
    if len(got) != 2 * len(cases):
        sys.exit(f"context.py: {len(got)} results of {2 * len(cases)} runs")
    for case, run in zip(cases, got[1::2]):
        if int(run["samples"]) != (int(run["soft"]) if case.mode == "sampled" else 0):
            sys.exit(f"context.py: {run['samples']} samples of {run['soft']} faults")
    each = [int(run["ns"]) / int(run["faults"]) for run in got]
    return {case: each[2 * i + 1] - each[2 * i] for i, case in enumerate(cases)}


def main():
    """What the Makefile calls."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--kernel", required=True, metavar="KEY", help="a key of kernels.sh")
    parser.add_argument("--guest", required=True, metavar="IMG")
    parser.add_argument("--out", required=True, metavar="DIR", type=pathlib.Path)
    args = parser.parse_args()
    got = measure(args)
    release = (args.out / "results" / "kernel").read_text().strip()
    print(f"Stock Debian kernel {release}, one emulated CPU; contexts of 8 points\n")
    print(f"{'instructions of a context':32}{'4 frames':>10}{'8 frames':>10}{'16 frames':>10}")
    for name, row in ROWS.items():
        print(f"{name:32}" + "".join(f"{got[case]:10,.0f}" for case in row))
    most = got[ROWS["frame pointers, remembered"][-1]]
    print(f"\n{'met    ' if most <= GOAL else 'NOT met'}  at most {GOAL} at 16 frames by frame "
          f"pointer: {most:,.0f}")
    return 0 if most <= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
