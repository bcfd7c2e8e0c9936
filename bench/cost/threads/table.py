# SPDX-License-Identifier: GPL-2.0-only
"""How threads fare where a policy chooses, beside the page cache: how often they get at random
pages of a file in place, by read() and by a map, and of a region, in one second.

One guest with so many emulated CPUs, each of which is a thread of this machine: times are
not repeatable, and no test asserts them. So the page cache, in a memory cgroup of the size
that hipec has as its budget, and hipec take turns, in an order that turns as well; a share
is the middle of those of the rounds, and the least and the most are beside it. The disk
answers where it is asked. DIR/results.json gets the numbers. Exit status 1 if a run fails
or does what it must not; goals that are missed are said.
"""

import dataclasses
import statistics

from bench.lib import guests
from bench.lib.guests import MB, PAGE, check, goal, measure, stock

PAGES, SMALL, FRAMES = 16384, 2048, 8192
BESIDE = MB * 5 // 8     # of the process, and for page tables
TABLES = 8 * MB         # of hipec; nobody fills it
MS = 1000
ROUNDS = 5
THREADS = (1, 2, 4, 8)

# What, in words, and the least shares of the page cache's throughput that are wanted:
# of one thread, of more.
WHATS = {"hits": ("read() hits", 0.95, 0.95), "misses": ("read() misses", 0.95, 0.95),
         "maps": ("misses of a map", 0.9, 0.8), "regions": ("of a region", 1.0, 1.0)}

# Of a region, under a policy that asks which pages were referenced.
REFERENCED = 0.9

SETUP = f"""
make_ram_disk none 128 $MAX_SECTORS
put_data none ro data={PAGES}
mount -o remount,rw /mnt
mkdata /mnt/small {SMALL}
mount -o remount,ro /mnt
insmod /hipec/hipec.ko
"""


@dataclasses.dataclass(frozen=True)
class Run(guests.Run):
    """A line for guest.sh, and what it gave."""
    what: str
    threads: int
    round: int
    policy: str = ""    # none: the page cache

    @property
    def label(self):
        """For a person."""
        return f"{self.what}, {self.threads} threads, {self.policy or 'page cache'}"

    def line(self):
        """For guest.sh."""
        path = "/mnt/small" if self.what == "hits" else "/mnt/data"
        words = ["in_group_perhaps", FRAMES * PAGE + BESIDE + (TABLES if self.policy else 0),
                 "threads", self.what, self.threads, MS, "none", path]
        if self.policy:
            words += [f"/policies/{self.policy}.hpo", FRAMES]
        return " ".join(map(str, words))

    def rate(self):
        """Accesses in a second."""
        return self.got["done"] * 1e9 / self.got["elapsed"]

    def complaint(self):
        """What is wrong, or nothing."""
        if self.got.get("status"):
            return f"status {self.got['status']}, {self.got['oom']} killed for memory"
        if self.got["oom"]:
            return f"{self.got['oom']} killed for memory"
        if self.got["exit"]:
            return f"the policy ended, exit kind {self.got['exit']:#x}"
        if self.what == "hits" and self.got["pages"] > self.got["done"] / 100:
            return f"{self.got['pages']} pages were not resident"
        if self.what != "hits" and not 0.4 < self.got["pages"] / self.got["done"] < 0.6:
            return f"{self.got['pages']} pages read for {self.got['done']} accesses"
        return ""


def runs(policy, rounds, whats=tuple(WHATS)):
    """All of them, in their order."""
    return [Run(what, threads, number, who)
            for number in range(rounds) for what in whats for threads in THREADS
            for who in (("", policy) if number % 2 else (policy, ""))]


def shares(table, what, threads):
    """hipec's throughput by the page cache's, of each round, in order."""
    rates = {(run.round, bool(run.policy)): run.rate() for run in table
             if (run.what, run.threads) == (what, threads)}
    return sorted(rates[number, True] / rates[number, False] for number, policy in rates if policy)


def middle(table, what, threads, policy):
    """Thousand accesses in a second, the middle of all rounds."""
    return statistics.median(run.rate() for run in table if
                             (run.what, run.threads, run.policy) == (what, threads, policy)) / 1e3


def goals(table, policy):
    """What the project wants, and whether it is so: lines."""
    for what in dict.fromkeys(run.what for run in table):
        name, one, more = WHATS[what]
        for threads in THREADS:
            share = statistics.median(shares(table, what, threads))
            least = one if threads == 1 else more
            if what == "regions" and policy != "fifo":
                least = REFERENCED
            yield goal(share >= least, f"{name}, {threads} thread{'s' * (threads > 1)}: "
                       f"{share:.2f} of the page cache's, at least {least:.2f}")


ROW = "{:16}{:>9}{:>13}{:>10}{:>8}{:>14}"


def show(table, policy):
    """As a table."""
    print(ROW.format("thousand a s", "threads", "page cache", policy, "share", "least, most"))
    for what in dict.fromkeys(run.what for run in table):
        name = WHATS[what][0]
        for threads in THREADS:
            of = shares(table, what, threads)
            print(ROW.format(name if threads == 1 else "", threads,
                             *(f"{middle(table, what, threads, who):,.1f}"
                               for who in ("", policy)),
                             f"{statistics.median(of):.2f}", f"{of[0]:.2f}, {of[-1]:.2f}"))
    print()


OPTIONS = {"--cpus": {"type": int, "default": 2, "help": "that the guest has"},
           "--policy": {"default": "fifo", "help": "a shipped one's name"},
           "--what": {"nargs": "+", "choices": WHATS, "default": WHATS, "help": "all, if not given"},
           "--rounds": {"type": int, "default": ROUNDS}}


def bench(args):
    """What the Makefile calls."""
    table = runs(args.policy, args.rounds, args.what)
    measure(args, 3600, SETUP, table)
    check(table)
    print(f"{stock(args.out, f'{args.cpus} emulated CPUs')}; files of {PAGES:,} pages and, for hits,\n"
          f"{SMALL:,}; {FRAMES:,} pages of memory; {args.policy}; {args.rounds} rounds\n")
    show(table, args.policy)
    print("\n".join(goals(table, args.policy)))
