# SPDX-License-Identifier: GPL-2.0-only
"""What is done in place under locks that threads share: instructions of a stock kernel, and
what follows for machines with many CPUs.

The guest of ../cache, with a module that counts what it does under its locks (serial.h), and
in its policies' commands. One thread runs, so nobody waits for a lock; what is done under one
that all threads share bounds how often they can do it together. The kernel's own locks are not
counted: the page cache has them too. DIR/results.json gets the numbers. Exit status 1 if a run
fails or is not steady; goals that are missed are said.
"""

import dataclasses

from bench.cost.cache import table
from bench.lib.guests import MB, PAGE, stock

POLICIES = ("fifo", "fifo2", "sieve", "arc")
NAMES = {"hits4": "a hit of 4 KB, read()", "misses": "a miss of 4 KB, read()",
         "maps": "a miss, mapped", "fresh": "a page read in order, free memory",
         "sweep": "a page read in order", "writes": "a hit of 4 KB, write()",
         "contended": "a miss of 4 KB, the pool is full"}
SHARED = ("misses", "hits4")
CONTENDED, OTHER = "contended", "/mnt/other"
SMALL = ("hits4", "writes")
POOL = 24       # MB; the budget has 16 of it: more than half, so bits are reset ahead of need

# The container's, what is no lock, and the kernel's of a page table.
NOT_OF_MACHINE = ("container.nr", "events.nr", "clear.c:lock.nr")

# One instruction a cycle: nobody does better for long in this code.
HERTZ = 3e9
CPUS = (8, 64, 256)

# Goals, in instructions of a page: MOST for a hit, by policy; for a miss and for an eviction in
# a run beside the policy's commands; for a shared miss under the pool's lock.
MOST = {"fifo": 0, "fifo2": 25}
MOST_OF_MISSES, MOST_OF_EVICTIONS, MOST_OF_POOL = 600, 400, 150


@dataclasses.dataclass(frozen=True)
class Run(table.Run):
    """A line for guest.sh, and what it gave."""
    shares: bool = False
    beside: str = ""    # a file of another container, which shares as well

    def line(self):
        """For guest.sh."""
        path = "/mnt/small" if self.what in SMALL else "/mnt/data"
        frames = POOL * MB // PAGE if self.beside else table.FRAMES
        words = ["in_group", frames * PAGE + 16 * MB, "place", self.what, table.TIMES[self.what],
                 "none", path]
        if self.policy:
            words += [f"/policies/{self.policy}.hpo", frames, path,
                      *[self.beside or "share"] * self.shares]
        return " ".join(map(str, words))

    def pages(self):
        """That were wanted; of the other file one behind four."""
        return super().pages() * 5 // 4 if self.beside else super().pages()

    def each(self, name):
        """Instructions of a page under a lock."""
        return self.got.get(f"{name}.held", 0) / (self.read() or self.pages())

    def locks(self):
        """Names of those that were taken, of the machine."""
        return [name.removesuffix(".nr") for name, value in self.got.items()
                if name.endswith(".nr") and value and name not in NOT_OF_MACHINE]

    def own(self):
        """Instructions of a page under the container's lock, beside the policy's commands."""
        return self.each("container") - self.each("events")


def runs():
    """All of them, by what, policy and whether the frames are shared."""
    found = {(what, policy, False): Run(what, policy) for what in NAMES
             if what != CONTENDED for policy in ("", *POLICIES)}
    found |= {(what, policy, True): Run(what, policy, shares=True)
              for what in SHARED for policy in POLICIES}
    return found | {(CONTENDED, policy, True): Run("misses", policy, shares=True, beside=OTHER)
                    for policy in POLICIES}


def total(run):
    """Instructions of a page, of one thread."""
    return run.elapsed() / (run.read() or run.pages())


def bound(run, cpus):
    """Millions of pages a second that so many CPUs can do at most, each in a thread."""
    serial = max([run.each("container"), *map(run.each, run.locks())])
    most = cpus * HERTZ / total(run)
    return min(most, HERTZ / serial if serial >= 1 else most) / 1e6


def show(found):
    """As a table."""
    print(f"{'instructions of':36}{'policy':>8}{'in all':>9}{'lock':>7}{'of it,':>10}{'machine':>9}"
          + f"{'millions a second at most, CPUs':>36}")
    print(f"{'':36}{'':>8}{'':>9}{'':>7}{'commands':>10}{'wide':>9}"
          + "".join(f"{cpus:>12}" for cpus in CPUS))
    for (what, policy, shares), run in found.items():
        print(f"{NAMES[what] + (', shared' if shares else ''):36}{policy or 'none':>8}"
              f"{total(run):>9,.0f}{run.each('container'):>7,.0f}{run.each('events'):>10,.0f}"
              f"{sum(map(run.each, run.locks())):>9,.0f}"
              + "".join(f"{bound(run, cpus):>12,.1f}" for cpus in CPUS))
    names = sorted({name for run in found.values() for name in run.locks()})
    print(f"\nlock: the container's. machine-wide: {', '.join(names) or 'none'}.\n")


def goals(found):
    """What the project wants, and whether it is so: lines."""
    lines = [table.goal(f"a hit of 4 KB, under locks, {policy}",
                        round(found["hits4", policy, False].each("container")), most)
             for policy, most in MOST.items()]
    lines += [table.goal(f"a miss of 4 KB beside the policy's commands, {policy}",
                         found["misses", policy, False].own(), MOST_OF_MISSES)
              for policy in POLICIES]
    lines.append(table.goal("an eviction in runs beside the policy's commands, fifo",
                            found["sweep", "fifo", False].own() - found["fresh", "fifo", False].own(),
                            MOST_OF_EVICTIONS))
    lines.append(table.goal("machine-wide, hits and misses of containers with a budget", round(max(
        sum(map(found[what, policy, False].each, found[what, policy, False].locks()))
        for what in SHARED for policy in POLICIES)), 0))
    lines += [table.goal(f"under the pool's lock, a miss, {policy}",
                         found["misses", policy, True].each("pool.c:lock"), MOST_OF_POOL)
              for policy in POLICIES]
    lines.append(table.goal("the same where the pool is full, fifo",
                            found[CONTENDED, "fifo", True].each("pool.c:lock"), MOST_OF_POOL))
    return lines


def bench(args):
    """What the Makefile calls."""
    found = runs()
    table.TIMES["writes"] = table.TIMES["hits4"]
    table.measure(found, args, parameters=f"pool_mb={POOL}", mount="rw,noatime",
                  other=table.PAGES)
    print(f"{stock(args.out)}; {table.PAGES:,} pages, {table.FRAMES:,} of them in memory\n")
    show(found)
    print("\n".join(goals(found)))
