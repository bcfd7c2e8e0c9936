#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""hipec-1997, Figure 8: a join (J), a retrieval (R) and a player (S) on one simulated
machine, under FIFO2-MR and AWST(min, max), in all orders of submission.

The figure is lost in our copy of the paper; what its text says of it is held against
what comes out here. Exit status 1 if a count is not what arithmetic or a model has.
"""

import collections
import dataclasses
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench.lib import models  # noqa: E402
from bench.lib.tables import FRAMES, print_table  # noqa: E402

BUILD = ROOT / "build"
MB = 256                        # pages
OUTER, PASSES, VIDEO, LOOKUPS, INDEX = 16 * MB, 32, 1068, 10_000, 16 * MB
JOIN = OUTER + 1                # with the page of the inner relation
MAXIMA = (1, 2, 4, 8, 16)       # MB
GAP = "30s"                     # from one's submission to the next

WAYS = {"with their policies": ("mru", BUILD / "bench/paper/figure8/mpfifo2-hint.hpo", "fifo"),
        "without policies": ("builtin",) * 3}


class Fifo:
    """For models.faults(): first in, first out."""

    def __init__(self):
        self.queue = collections.deque()

    def bring(self, page):
        """@page came in."""
        self.queue.append(page)

    def victim(self, _):
        """The page that goes."""
        return self.queue.popleft()


@dataclasses.dataclass
class Row:
    """A machine, a global policy, and what came of all orders."""
    memory: int                 # MB, of the paper's machine
    way: str
    name: str
    maxima: tuple = None        # pages, of J, R and S; None: FIFO2-MR
    recovery: bool = True
    orders: list = None

    def run(self):
        """Fill in orders."""
        traces = (f"nlj --pages {OUTER} --passes {PASSES}",
                  f"rdr --pages {5 * INDEX} --lookups {LOOKUPS}", f"smpeg --pages {VIDEO}")
        limits = [f"min=512KiB max={most}" for most in self.maxima] if self.maxima else [""] * 3
        apps = "".join(f"{name} policy={policy} {limit} : {trace}\n" for name, policy, limit, trace
                       in zip("JRS", WAYS[self.way], limits, traces))
        done = subprocess.run(
            [BUILD / "hipec", "mix", "--json", "--orders", "all", "--frames",
             str(FRAMES[self.memory]), "--gap", GAP, "--global", "awst" if self.maxima else "fifo2-mr",
             *([] if self.recovery else ["--no-recovery"]), "-"],
            input=apps, text=True, check=True, stdout=subprocess.PIPE,
            env={**os.environ, "HIPEC_POLICY_PATH": str(BUILD / "policies")})
        self.orders = json.loads(done.stdout)

    def faults(self, order=0):
        """{J, R, S: faults}."""
        return {app["app"]: app["faults"] for app in self.orders[order]["apps"]}

    def totals(self):
        """Of all orders."""
        return [sum(self.faults(order).values()) for order in range(len(self.orders))]

    def mean(self, name):
        """Faults of an application, of all orders."""
        return sum(self.faults(order)[name] for order in range(len(self.orders))) / \
            len(self.orders)

    def cells(self):
        """For the table."""
        totals = self.totals()
        seconds = sorted(order["elapsed_ns"] / 1e9 for order in self.orders)
        return [f"{FRAMES[self.memory] // MB} of {self.memory}", self.way, self.name,
                *(round(self.mean(name)) for name in "JRS"), round(sum(totals) / len(totals)),
                min(totals), max(totals), f"{seconds[0]:.0f} to {seconds[-1]:.0f}"]


def plan():
    """All rows."""
    rows = []
    for memory in (48, 32):
        for way in WAYS:
            rows.append(Row(memory, way, "FIFO2-MR"))
            rows += [Row(memory, way, f"AWST(512K, {most}M)", (most * MB,) * 3) for most in MAXIMA]
            rows.append(Row(memory, way, "AWST(512K, xM)", (JOIN, MB, MB)))
    return rows


def retrieval(frames, way, cache={}):  # pylint: disable=dangerous-default-value
    """Faults of R alone with so many frames, by its model."""
    if (frames, way) not in cache:
        walk = models.Retrieval(INDEX)
        policy = Fifo() if way == "without policies" else models.Mpfifo2(walk.level)
        cache[frames, way] = models.faults(walk.lookups(LOOKUPS), frames, policy,
                                           {LOOKUPS})[LOOKUPS]
    return cache[frames, way]


def join(frames, way):
    """Faults of J with so many frames: what stays is not read again."""
    if frames >= JOIN:
        return JOIN
    return JOIN * PASSES if way == "without policies" else \
        JOIN + (PASSES - 1) * (JOIN - frames + 1)


def complaints(row):
    """Counts that nobody else can change: S's, and, where all maxima have room, all; but a decision
    that is reversed is a fault more, which the model of R knows nothing of."""
    for order in range(len(row.orders)):
        want = {"S": VIDEO}
        if row.maxima and sum(row.maxima) <= FRAMES[row.memory]:
            want["J"] = join(row.maxima[0], row.way)
            if not row.recovery or row.way == "without policies":
                want["R"] = retrieval(row.maxima[1], row.way)
        got = row.faults(order)
        for name, count in want.items():
            if got[name] != count:
                yield f"{row.memory} MB, {row.way}, {row.name}: {name} has {got[name]}, not {count}"


def say(what, rows, claim):
    """Whether a claim of the paper's holds, machine by machine and way by way."""
    for memory in sorted({row.memory for row in rows}, reverse=True):
        for way in WAYS:
            mine = {row.name: row for row in rows if (row.memory, row.way) == (memory, way)}
            print(f"{'as there' if claim(mine) else 'NOT so':8}  {what}: {memory} MB, {way}")


def spread(rows, name):
    """Most faults of an application by least, by its max: of AWST above 1 MB, and J's own."""
    faults = [row.mean(name) for row in rows.values()
              if row.maxima and (row.maxima[0] > MB if name == "J" else row.maxima[1] > MB)]
    return max(faults) / min(faults)


def main():
    """Run, print, check."""
    rows = plan()
    alike = [dataclasses.replace(row, recovery=False) for row in rows if row.maxima]
    for row in [*rows, *alike]:
        row.run()
    print(f"J: {PASSES} passes over 16 MB; R: {LOOKUPS:,} lookups in 16 and 64 MB; S: 4.17 MB. "
          f"Disk: the paper's.\nFaults, means of the six orders, {GAP} from one to the next; least "
          "and most of all orders.\n")
    table = []
    for row in rows:
        table += [None] if row.name == "FIFO2-MR" and table else []
        table.append(row.cells())
    print_table(["<MB", "<applications", "<global policy", "J", "R", "S", "all", "least", "most",
                 "seconds"], table)
    print("\nWhat the paper says of Figure 8:")
    best = "AWST(512K, xM)"
    say("J is sensitive to max, more than R and S", rows,
        lambda m: spread(m, "J") > max(spread(m, "R"), spread(m, "S")))
    say("J is sensitive to competition: under FIFO2-MR its faults depend on the order", rows,
        lambda m: len({m["FIFO2-MR"].faults(order)["J"] for order in range(6)}) > 1)
    say("AWST(512K, xM) has least faults of all AWST", rows,
        lambda m: sum(m[best].totals()) == min(sum(row.totals()) for row in m.values()
                                               if row.maxima))
    say("AWST(512K, xM) has fewer faults than FIFO2-MR", rows,
        lambda m: sum(m[best].totals()) < sum(m["FIFO2-MR"].totals()))
    wrong = [text for row in [*rows, *alike] for text in complaints(row)]
    print("\nChecked: S's faults, and J's and R's where the maxima have room, against arithmetic "
          "and models.py;\nwith policies R's without recovery, which is run for that.", *wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
