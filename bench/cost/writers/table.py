# SPDX-License-Identifier: GPL-2.0-only
"""How fast files are written that are larger than the memory that there is, where a policy
chooses in place, beside the page cache in a cgroup of the same size.

A guest for each file system, with run.py's deterministic flags and a modelled disk: a
nanosecond is an instruction, or the disk's. Each thing is done some times, turn and turn
about with the page cache, as writers are made to wait by clocks that never stand alike.
The page cache itself stalls for seconds now and then: its runs that do are left out, and
counted. hipec's are not. DIR has the numbers, by file system. Exit status 1 if a run fails;
goals that are missed are said.
"""

import argparse
import dataclasses
import statistics

from bench.lib import guests
from bench.lib.guests import DISKS, MB, PAGE, check, goal, stock

FRAMES = 4096
BESIDE = 3 * MB         # of both: the process, page tables, hipec's tables
OTHER = 4096            # pages that a reader reads of
ROUNDS = 3
SYSTEMS = {"ext4": "mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0",
           "xfs": "modprobe xfs\nmkfs.xfs -q", "btrfs": "modprobe btrfs\nmkfs.btrfs -q"}
WHATS = ("sequential", "large", "random", "mmap")
SSD = DISKS[0]

# A run that took so much longer than the shortest was stalled.
STALL_NS = 500_000_000


@dataclasses.dataclass(frozen=True)
class Case:
    """What is beside the writer."""
    name: str
    times: float        # of the budget are written
    hog: float = 0      # of the budget others want meanwhile
    reader: bool = False
    least: float = 0.9  # share of the page cache's throughput that is wanted


CASES = (Case("1.5 x", 1.5), Case("4 x", 4), Case("4 x, hog", 4, hog=0.5, least=0.8),
         Case("4 x, reader", 4, reader=True))


@dataclasses.dataclass(frozen=True)
class Run(guests.Run):
    """A line for guest.sh, and what it gave."""
    system: str
    what: str
    case: Case
    round: int
    policy: str = ""    # none: the page cache

    @property
    def label(self):
        """For a person."""
        return f"{self.system}, {self.what}, {self.case.name}, {self.policy or 'page cache'}"

    def pages(self):
        """That are written."""
        return int(self.case.times * FRAMES)

    def line(self):
        """For guest.sh."""
        words = ["in_group_perhaps", FRAMES * PAGE + BESIDE, "writers", self.what, self.pages(),
                 int(self.case.hog * FRAMES), "/mnt/file",
                 "/mnt/other" if self.case.reader else "-"]
        if self.policy:
            words += [f"/policies/{self.policy}.hpo", FRAMES]
        # What random writes and maps write to is there.
        file = (f"dd if=/dev/zero of=/mnt/file bs=64k count={self.pages() // 16} 2>/dev/null"
                if self.what in ("random", "mmap") else ": >/mnt/file")
        return f"{file}\nsync\n{' '.join(map(str, words))}"

    def complaint(self):
        """What is wrong, or nothing."""
        if self.got.get("status") or self.got["oom"]:
            return f"status {self.got.get('status', 0)}, {self.got['oom']} killed for memory"
        if self.got["exit"]:
            return f"the policy ended, exit kind {self.got['exit']:#x}"
        if self.got["pages"] != self.pages():
            return f"{self.got['pages']} pages written, not {self.pages()}"
        return ""


def runs(system, policy, rounds):
    """All of them on a file system, in their order."""
    return [Run(system, what, case, number, who)
            for number in range(rounds) for what in WHATS for case in CASES
            for who in (("", policy) if number % 2 else (policy, ""))]


def of(table, run, policy):
    """The runs as @run of the page cache or, with @policy, of hipec; that end at all."""
    return [one for one in table if bool(one.policy) == policy and not one.complaint() and
            (one.system, one.what, one.case) == (run.system, run.what, run.case)]


@dataclasses.dataclass
class Row:
    """What a case came to."""
    run: Run
    plain: float        # MB/s, without stalls
    hipec: float
    share: float
    spread: tuple       # least and most share
    stalls: int         # of the page cache's runs
    longest: tuple      # ms, a read beside it: the page cache's, hipec's; the most of all


def row(table, run):
    """Of the case of @run; None if one of both never came to its end."""
    plain, hipec = of(table, run, False), of(table, run, True)
    if not plain or not hipec:
        return None
    took = sorted(one.got["elapsed"] for one in plain)
    free = [ns for ns in took if ns - took[0] < STALL_NS]
    ours = sorted(one.got["elapsed"] for one in hipec)
    base, middle = statistics.median(free), statistics.median(ours)
    rate = run.pages() * PAGE / MB * 1e9
    return Row(run, rate / base, rate / middle, base / middle,
               (base / ours[-1], base / ours[0]), len(took) - len(free),
               tuple(max(one.got["longest"] for one in side) / 1e6 for side in (plain, hipec)))


def goals(rows, table):
    """What the project wants, and whether it is so: lines."""
    for each in filter(None, rows):
        yield goal(each.share >= each.run.case.least,
                   f"{each.run.system}, {each.run.what}, {each.run.case.name}: {each.share:.2f} "
                   f"of the page cache's, at least {each.run.case.least:.1f}")
    for each in filter(None, rows):
        if each.run.case.reader:
            plain, hipec = each.longest
            yield goal(hipec <= plain, f"{each.run.system}, {each.run.what}: the longest read "
                       f"beside it {hipec:,.1f} ms, at most the page cache's {plain:,.1f}")
    killed = {policy: sum(run.got["oom"] for run in table if bool(run.policy) == policy)
              for policy in (False, True)}
    yield goal(killed[True] <= killed[False],
               f"killed for memory: {killed[True]}, of the page cache's {killed[False]}")


ROW = "{:7}{:12}{:13}{:>11}{:>8}{:>8}{:>14}{:>8}{:>20}"


def show(rows, policy):
    """As a table."""
    print(ROW.format("MB/s", "", "", "page cache", policy, "share", "least, most", "stalls",
                     "longest read, ms"))
    for each in rows:
        if each:
            run = each.run
            print(ROW.format(run.system, run.what, run.case.name, f"{each.plain:.1f}",
                             f"{each.hipec:.1f}", f"{each.share:.2f}",
                             f"{each.spread[0]:.2f}, {each.spread[1]:.2f}", each.stalls,
                             f"{each.longest[0]:.1f}, {each.longest[1]:.1f}"
                             if run.case.reader else ""))
    print()


def measure(args, system):
    """Boot, and fill in what the runs gave."""
    table = runs(system, args.policy, args.rounds)
    setup = f"""
make_disk disk {SSD.completion_ns} {SSD.mbps} 384
{SYSTEMS[system]} /dev/disk
mount /dev/disk /mnt
mkdata /mnt/other {OTHER}
insmod /hipec/hipec.ko
tidy() {{ rm /mnt/file && sync; }}
"""
    one = argparse.Namespace(**{**vars(args), "out": args.out / system})
    guests.measure(one, 3600, setup, table)
    return table


OPTIONS = {"--policy": {"default": "lru", "help": "a shipped one's name"},
           "--rounds": {"type": int, "default": ROUNDS},
           "--system": {"action": "append", "choices": SYSTEMS, "help": "this one alone"}}


def bench(args):
    """What the Makefile calls."""
    table = [run for system in args.system or SYSTEMS for run in measure(args, system)]
    rows = [row(table, run) for run in table if not run.round and not run.policy]
    print(f"{stock(args.out / table[0].system)}; a disk of "
          f"{SSD.completion_ns / 1000:.0f} us and {SSD.mbps} MB/s; {FRAMES * PAGE // MB} MB of "
          f"memory; {args.policy}; {args.rounds} rounds\n")
    show(rows, args.policy)
    print("\n".join(goals(rows, table)))
    check(table)
