#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What the program context of a fault costs, in instructions of a stock kernel.

    table.py --kernel 6.12 --guest IMG --out DIR

Soft faults at several depths of calls, with a policy that reads Context and with one
that does not: the difference is the context's. And with somebody who samples all of them,
or others: the difference is the sample's. One guest with run.py's deterministic
flags, in which a nanosecond is an instruction. Exit status 1 if a run fails or a goal
is missed.
"""

import dataclasses
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from bench.lib.guests import Failed, Guest, call, options, run_guest  # noqa: E402

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
    lines = [line for case in cases for line in case.lines()]
    got = run_guest(args, 600, "sh", "/guest.sh", "\n".join(lines)).lines(len(lines))
    for case, faults in zip(cases, got[1::2]):
        if faults["samples"] != (faults["soft"] if case.mode == "sampled" else 0):
            raise Failed(f"{faults['samples']} samples of {faults['soft']} faults")
    each = [faults["ns"] / faults["faults"] for faults in got]
    return {case: each[2 * i + 1] - each[2 * i] for i, case in enumerate(cases)}


def bench(args):
    """What the Makefile calls."""
    got = measure(args)
    release = Guest(args.out).release()
    print(f"Stock Debian kernel {release}, one emulated CPU; contexts of 8 points\n")
    print(f"{'instructions of a context':32}{'4 frames':>10}{'8 frames':>10}{'16 frames':>10}")
    for name, row in ROWS.items():
        print(f"{name:32}" + "".join(f"{got[case]:10,.0f}" for case in row))
    most = got[ROWS["frame pointers, remembered"][-1]]
    print(f"\n{'met    ' if most <= GOAL else 'NOT met'}  at most {GOAL} at 16 frames by frame "
          f"pointer: {most:,.0f}")
    return 0 if most <= GOAL else 1


if __name__ == "__main__":
    sys.exit(call(bench, "context", options(__doc__.split("\n", maxsplit=1)[0]).parse_args()))
