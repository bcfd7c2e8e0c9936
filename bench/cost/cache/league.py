# SPDX-License-Identifier: GPL-2.0-only
"""What a league and a curve cost the accesses of a container in place, in instructions of a
stock kernel.

As table.py, whose guest this is, with a budget of 256 MB, of which one page in 64 is in the
sample. Pages of a file of twice the budget are read by chance: every policy finds half of them,
so nobody takes over. DIR/results.json gets the numbers. Exit status 1 if a run fails or is not
steady; goals that are missed are said.
"""

from bench.cost.cache import table
from bench.lib.guests import MB, PAGE, stock

FRAMES = 65536
PAGES = 2 * FRAMES
POLICY = "fifo2"
HOWS = {"": "alone", "league": "with a league of eight", "curve": "with a curve"}
TIMES = {"hits4": 16384, "random": 32768}
NAMES = {"hits4": "a hit of 4 KB, read()", "random": "a miss of 4 KB, read()"}
MOST = {"hits4": 60, "random": 3}   # instructions; percent


class Run(table.Run):
    """A line for guest.sh, and what it gave."""

    def pages(self):
        """That were wanted."""
        return TIMES[self.what]

    def line(self):
        """For guest.sh."""
        path = "/mnt/small" if self.what == "hits4" else "/mnt/data"
        words = ["in_group", FRAMES * PAGE + 32 * MB, "place", self.what, TIMES[self.what],
                 "none", path]
        if self.policy:
            words += [f"/policies/{POLICY}.hpo", FRAMES, path, self.policy.partition(" ")[2]]
        return " ".join(map(str, words)).strip()


def bench(args):
    """What the Makefile calls."""
    found = {(what, who): Run(what, who) for what in TIMES
             for who in ("", *(f"{POLICY} {how}".strip() for how in HOWS))}
    args.memory = "2G"
    table.measure(found, args, Run("random"), PAGES)
    print(f"{stock(args.out)}; {PAGES:,} pages, {FRAMES:,} of them in memory; {POLICY} runs\n")
    print(f"{'instructions of':28}{'page cache':>12}" +
          "".join(f"{how:>24}" for how in HOWS.values()))
    lines = []
    for what in TIMES:
        each = table.hit if what == "hits4" else table.miss
        plain, alone, *beside = (each(found, what, who) for who in
                                 ("", *(f"{POLICY} {how}".strip() for how in HOWS)))
        print(f"{NAMES[what]:28}{plain:12,.0f}" +
              "".join(f"{value:24,.0f}" for value in (alone, *beside)))
        lines += [table.goal(f"{NAMES[what]}, {how}",
                             value - alone if what == "hits4" else 100 * (value / alone - 1),
                             MOST[what], "" if what == "hits4" else " %")
                  for how, value in zip(list(HOWS.values())[1:], beside)]
    print("\n" + "\n".join(lines))
