# SPDX-License-Identifier: GPL-2.0-only
"""What the program context of a fault costs, in instructions of a stock kernel.

Soft faults at several depths of calls, with a policy that reads Context and with one
that does not: the difference is the context's. And with somebody who samples all of them,
or others: the difference is the sample's. One guest with run.py's deterministic
flags, in which a nanosecond is an instruction. Exit status 1 if a run fails or a goal
is missed.
"""

import dataclasses

from bench.lib.guests import Run, check, goal, measure, stock

SETUP = """
make_ram_disk none 16
insmod /hipec/hipec.ko
"""
GOAL = 600
BESIDE = 2      # return addresses that are not deep()'s: touch_all()'s, and main()'s own


@dataclasses.dataclass(frozen=True)
class Faults(Run):
    """Of one program under a policy, behind so many calls."""
    program: str
    policy: str
    calls: int
    mode: str

    def line(self):
        """For guest.sh."""
        return f"run {self.program} /policies/{self.policy}.hpo {self.calls} {self.mode}"

    def complaint(self):
        """What is wrong with the numbers, or nothing."""
        if self.got["samples"] != (self.got["soft"] if self.mode == "sampled" else 0):
            return f"{self.got['samples']} samples of {self.got['soft']} faults"
        return ""


def pair(program, frames, mode):
    """Runs without a context or a sample, and with it."""
    sampler = mode in ("sampled", "passed")
    return (Faults(program, "with" if sampler else "without", frames - BESIDE,
                   "again" if sampler else mode),
            Faults(program, "with", frames - BESIDE, mode))


ROWS = {name: [pair(program, frames, mode) for frames in (4, 8, 16)] for name, program, mode in (
    ("frame pointers, remembered", "frames", "again"),
    ("frame pointers, a first time", "frames", "first"),
    ("none: the stack's words", "scan", "again"),
    ("beside it: a sample", "frames", "sampled"),
    ("beside it: one of other pages", "frames", "passed"))}


def cost(without, beside):
    """Instructions of a context."""
    return beside.got["ns"] / beside.got["faults"] - without.got["ns"] / without.got["faults"]


def bench(args):
    """What the Makefile calls."""
    runs = [run for row in ROWS.values() for both in row for run in both]
    measure(args, 600, SETUP, runs)
    check(runs)
    print(f"{stock(args.out)}; contexts of 8 points\n")
    print(f"{'instructions of a context':32}{'4 frames':>10}{'8 frames':>10}{'16 frames':>10}")
    for name, row in ROWS.items():
        print(f"{name:32}" + "".join(f"{cost(*both):10,.0f}" for both in row))
    most = cost(*ROWS["frame pointers, remembered"][-1])
    print("\n" + goal(most <= GOAL, f"at most {GOAL} at 16 frames by frame pointer: {most:,.0f}"))
    return 0 if most <= GOAL else 1
