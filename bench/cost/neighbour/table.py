# SPDX-License-Identifier: GPL-2.0-only
"""What the worst legal policy of somebody else costs a fault, in instructions of a stock
kernel: the median, the 99th and the 99.9th percentile.

One guest with run.py's deterministic flags, in which a nanosecond is an instruction, and
a disk that answers where it is asked. Two containers share a full pool and read more
pages than it has, in turns; measured are the faults of one, whose policy is fifo, beside
different policies of the other. Exit status 1 if a run fails, or if the 99.9th percentile
is more than LIMIT over that beside fifo.
"""

import dataclasses

from bench.lib import guests
from bench.lib.guests import MB, PAGE, Failed, check, measure, stock

FRAMES = 4096
PAGES = 3 * FRAMES // 2
ROUNDS = 64
FIFO = "/policies/fifo.hpo"

# Instructions: a tenth of what a policy may take while others wait (others_us).
LIMIT = 20_000

SETUP = f"""
make_ram_disk none 128 $MAX_SECTORS
put_data none ro data={PAGES}
"""


@dataclasses.dataclass(frozen=True)
class Run(guests.Run):
    """A line for guest.sh, and what it gave."""
    name: str
    policy: str
    parameters: str = ""

    def line(self):
        """For guest.sh."""
        return (f"insmod /hipec/hipec.ko pool_mb={FRAMES * PAGE // MB} {self.parameters}\n"
                f"run neighbour /mnt/data {PAGES} {FRAMES} {ROUNDS} "
                f"/policies/{self.policy}.hpo {FIFO}\nremove_module")

    def complaint(self):
        """What is wrong with the numbers, or nothing."""
        if self.got["exit"]:
            return f"the neighbour's policy ended, exit kind {self.got['exit']:#x}"
        if self.got["faults"] < 10_000:
            return f"{self.got['faults']} faults are too few for a 99.9th percentile"
        if not self.got["others_given"]:
            return "the other container gave no page"
        return ""


# The first run's numbers have what the guest does behind its boot.
RUNS = [Run("warm", "fifo"), Run("fifo", "fifo"),
        Run("endless Replace", "endless-replace"),
        Run("slow for others only", "slow-for-others"),
        Run("the same, 10 ms for others", "slow-for-others", "others_us=10000")]
ROW = "{:28}{:>8}{:>9}{:>9}{:>11}{:>12}{:>7}"


def bench(args):
    """What the Makefile calls."""
    measure(args, 1800, SETUP, RUNS)
    check(RUNS)
    print(f"{stock(args.out)}; guest instructions of a fault\nin a full pool of {FRAMES:,} frames, "
          "beside a container with a policy:\n")
    print(ROW.format("beside", "faults", "median", "99 %", "99.9 %", "most", "late"))
    for run in RUNS[1:]:
        got = run.got
        print(ROW.format(run.name, *(f"{got[key]:,}" for key in (
            "faults", "median", "p99", "p999", "most", "others_late"))))
    most = RUNS[1].got["p999"] + LIMIT
    for run in RUNS[2:-1]:
        if run.got["p999"] > most:
            raise Failed(f"{run.name}: the neighbour pays more than {LIMIT:,} instructions")
