# SPDX-License-Identifier: GPL-2.0-only
"""What one page fault costs, in instructions of a stock kernel: Table II.

One guest with run.py's deterministic flags, in which a nanosecond is an
instruction, and a disk that answers where it is asked: its copying is in the
numbers, of all alike, waiting is not. The page cache is in a memory cgroup of the
size that hipec has in frames. Exit status 1 if a run fails, or reads other pages
than it must.
"""

import dataclasses

from bench.lib import guests
from bench.lib.guests import MB, PAGE, check, goal, measure, stock

PAGES, FRAMES = 8192, 4096
ROUNDS = 4      # of MRU, which replaces half the pages of each
BESIDE = 2 * MB         # of the process, and for page tables
TABLES = 8 * MB         # of hipec and its frames' bookkeeping; nobody fills it

SETUP = f"""
make_ram_disk none 128 $MAX_SECTORS
echo 128 >/sys/block/none/queue/read_ahead_kb
put_data none ro data={PAGES}
"""

PAGE_CACHE, BUILTIN, FIFO2 = "page cache", "hipec, built-in FIFO2", "hipec, fifo2.hp interpreted"
PAPER = {"built-in": 392.24, "interpreted": 400.60}     # us, hipec-1997


@dataclasses.dataclass(frozen=True)
class Run(guests.Run):
    """A line for guest.sh, and what it gave."""
    mode: str
    name: str
    policy: str = ""    # none: the page cache
    frames: str = str(FRAMES)
    parameters: str = ""
    touches: int = PAGES

    def line(self):
        """For guest.sh."""
        pages = PAGES if self.mode in ("new", "mapped") else FRAMES
        limit = pages * PAGE + BESIDE + (TABLES if self.policy else 0)
        cluster = 32 if self.mode == "in-order" else 1
        source = f" {self.policy} {self.frames} {cluster}" if self.policy else ""
        return (f"insmod /hipec/hipec.ko {self.parameters}\n"
                f"in_group {limit} fault {self.mode} none /mnt/data {self.touches}{source}\n"
                "remove_module")

    def each(self):
        """Instructions for each page that came in, or was mapped."""
        return self.got["ns"] / (self.got["disk_pages"] or self.got["touches"])

    def complaint(self):
        """What is wrong with the numbers, or nothing."""
        if self.policy and self.got["exit"]:
            return f"the policy ended, exit kind {self.got['exit']:#x}"
        if self.policy and self.got["pages_in"] != self.got["disk_pages"]:
            return f"{self.got['pages_in']} pages in, {self.got['disk_pages']} of the disk"
        if self.mode == "mapped" and self.got["disk_pages"]:
            return f"{self.got['disk_pages']} pages were not resident"
        if self.mode == "scattered" and self.got["major"] != self.got["disk_pages"]:
            return f"{self.got['major']} faults for {self.got['disk_pages']} pages"
        return ""


def fifo2(mode, **kwargs):
    """The three that Table II compares."""
    return [Run(mode, PAGE_CACHE), Run(mode, BUILTIN, "none", **kwargs),
            Run(mode, FIFO2, "/policies/fifo2.hpo", **kwargs)]


def recovery(name, parameter):
    """A policy whose choice is never the manager's, in a full pool."""
    return Run("scattered", name, "/policies/mru.hpo", f"pool:{FRAMES}",
               f"pool_mb={FRAMES * PAGE // MB} {parameter}", ROUNDS * PAGES)


LIMIT = {"frames": f"limit:{FRAMES}", "parameters": "pool_mb=64"}
MAPPED = {"touches": PAGES // 4}

# What the guest does behind its boot would be in the first run's numbers.
WARM_UP = Run("scattered", PAGE_CACHE)
TABLE = {
    "a page replaced, read alone": fifo2("scattered"),
    "the same, shared frames": [Run("scattered", PAGE_CACHE, touches=PAGES),
                                *fifo2("scattered", **LIMIT)[1:]],
    "a page read alone into free memory": fifo2("new", frames=str(PAGES)),
    "a page replaced, of 32 read in a row": fifo2("in-order"),
    "a resident page mapped": [dataclasses.replace(run, **MAPPED) for run in fifo2("mapped")],
}
RECOVERY = [recovery("no recovery", "recovery=N"),
            recovery("64 buckets (the paper's)", "recovery_buckets=64"),
            recovery("1,024 buckets", "recovery_buckets=1024"),
            recovery("a quarter of the frames", "recovery_buckets=0")]


def print_table():
    """Three contestants, and two ratios, for each kind of fault."""
    print(f"{'instructions for each page':38}{'page':>9}{'hipec,':>10}{'hipec,':>13}"
          f"{'built-in /':>12}{'interpreted':>13}")
    print(f"{'':38}{'cache':>9}{'built-in':>10}{'interpreted':>13}{'page cache':>12}"
          f"{'/ built-in':>13}")
    for name, runs in TABLE.items():
        cache, builtin, interpreted = (run.each() for run in runs)
        print(f"{name:38}{cache:9,.0f}{builtin:10,.0f}{interpreted:13,.0f}"
              f"{builtin / cache:12.2f}{interpreted / builtin - 1:+13.1%}")
    over = PAPER["interpreted"] / PAPER["built-in"] - 1
    print(f"{'hipec-1997, Table II (us, no disk)':38}{'':9}{PAPER['built-in']:10.2f}"
          f"{PAPER['interpreted']:13.2f}{'':12}{over:+13.1%}")


def print_recovery():
    """What recovery adds to a fault, of the whole fault."""
    none = RECOVERY[0].each()
    print(f"\n{'recovery, policy mru, a full pool':38}{'for a fault':>12}{'of it, recovery':>17}")
    for run in RECOVERY:
        share = f"{1 - none / run.each():17.1%}" if run is not RECOVERY[0] else ""
        print(f"{run.name:38}{run.each():12,.0f}{share}")
    print(f"{'hipec-1997, 64 buckets':38}{'':12}{'3 to 4%':>17}")


def print_goals():
    """What the project wants, and whether it is so."""
    runs = next(iter(TABLE.values()))
    cache, builtin, interpreted = (run.each() for run in runs)
    commands = runs[2].got["commands"] / runs[2].got["pages_in"]
    print()
    for name, took in (("built-in", builtin), ("interpreted", interpreted)):
        print(goal(took / cache <= 1.3,
                   f"{name} at most 1.3 times the page cache: {took / cache:.2f}"))
    print(goal(interpreted / builtin <= 1.01,
               f"interpreted at most 1 % over built-in: {interpreted - builtin:,.0f} instructions, "
               f"{interpreted / builtin - 1:+.1%}, for {commands:.0f} commands"))


def bench(args):
    """What the Makefile calls."""
    runs = [WARM_UP, *(run for runs in TABLE.values() for run in runs), *RECOVERY]
    measure(args, 1800, SETUP, runs)
    check(runs)
    print(f"{stock(args.out)}; {PAGES:,} pages, {FRAMES:,} frames\n")
    print_table()
    print_recovery()
    print_goals()
