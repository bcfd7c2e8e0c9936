#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What a league and a curve cost the accesses of a container in place, in instructions of a
stock kernel.

    league.py --kernel 6.12 --guest IMG --out DIR

As table.py, whose guest this is, with a budget of 256 MB, of which one page in 64 is in the
sample. Pages of a file of twice the budget are read by chance: every policy finds half of them,
so nobody takes over. DIR/results.json gets the numbers. Exit status 1 if a run fails or is not
steady; goals that are missed are said.
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "bench/cost/cache"))

import table  # noqa: E402
from bench.lib.guests import MB, PAGE, Guest, call, options  # noqa: E402

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
        words = [FRAMES * PAGE + 32 * MB, self.what, TIMES[self.what], "none", path]
        if self.policy:
            words += [f"/policies/{POLICY}.hpo", FRAMES, path, self.policy.partition(" ")[2]]
        return " ".join(map(str, words)).strip()


def bench(args):
    """What the Makefile calls."""
    found = {(what, who): Run(what, who) for what in TIMES
             for who in ("", *(f"{POLICY} {how}".strip() for how in HOWS))}
    args.memory = "2G"
    table.measure(found, args, Run("random"), PAGES)
    (args.out / "results.json").write_text(json.dumps(
        [{"what": what, "who": who, **run.got} for (what, who), run in found.items()], indent=1))
    print(f"Stock Debian kernel {Guest(args.out).release()}, one emulated CPU; {PAGES:,} pages, "
          f"{FRAMES:,} of them in memory; {POLICY} runs\n")
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


if __name__ == "__main__":
    sys.exit(call(bench, "auto-cost", options(__doc__.split("\n", maxsplit=1)[0]).parse_args()))
