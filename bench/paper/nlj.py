# SPDX-License-Identifier: GPL-2.0-only
"""hipec-1997, Table V: a nested-loop join, privileged, with MRU.

64 passes over 60 MB in the paper's four sizes of memory. By default 3 passes are
run and the others taken to cost as much as the last ones; --full runs all.
Exit status 1 if hipec's counts are not those of arithmetic.
"""

from bench.lib.guests import CLUSTER, DISKS, Failed, two_sizes
from bench.lib.tables import (FRAMES, Program, Run, disks_note, measure,
                              ms, print_table)

PAGES, PASSES = 15360, 64
PARTS = {"join": f"inner=1,outer={PAGES}"}

# Elapsed seconds by memory, MB: Mach's LRU, and MRU.
PAPER = {64: (12571.80, 593.19), 48: (12749.97, 3817.52), 32: (12735.72, 7239.93),
         16: (12779.17, 10694.29)}

# Name, options of Program, most passes: those of one fault a page are slow to simulate.
VARIANTS = (
    ("page cache, no advice", {}, 64),
    ("page cache, MADV_RANDOM", {"advice": "random"}, 2),
    ("page cache, MADV_SEQUENTIAL", {"advice": "sequential"}, 64),
    ("page cache, MADV_WILLNEED", {"advice": "willneed"}, 64),
    ("hipec fifo2", {"policy": "fifo2", "cluster": CLUSTER}, 64),
    ("hipec mru", {"policy": "mru", "cluster": CLUSTER}, 64),
    ("hipec fifo2, 1 page a read", {"policy": "fifo2"}, 2),
    ("hipec mru, 1 page a read", {"policy": "mru"}, 64),
)


def plan(disk, passes):
    """The runs on a disk."""
    runs = []
    for memory in PAPER:
        for name, options, most in VARIANTS:
            p = min(passes, most)
            program = Program("join", f"--passes {p}", frames=FRAMES[memory], **options)
            runs.append(Run(disk, (memory,), name, [program], FRAMES[memory]))
    return runs


def passes_of(run):
    """That were run."""
    return run.got["passes"]


def total(run, *keys):
    """For 64 passes: each after the first costs the same."""
    first = sum(run.got[f"at_1_{key}"] for key in keys)
    later = sum(run.got[key] for key in keys) - first
    return round(first + later * (PASSES - 1) / (passes_of(run) - 1))


def check(run):
    """Hold the counts against arithmetic: mru reads, in each pass after the first,
    what could not stay: the pages beyond the frames, and as many as it reads through,
    of one cluster or, with a second one read ahead, of two."""
    program, p = run.programs[0], passes_of(run)
    n, f, c = PAGES, program.frames, program.cluster
    if not program.policy:
        if run.got["disk_pages"] < n:
            raise Failed(f"{run.name}: the data was in memory before")
        return
    least = most = n * p
    if program.policy == "mru":
        least, most = (n + (p - 1) * (n - f + moving) for moving in (c, 2 * c if c > 1 else c))
    if not least <= run.got["pages_in"] <= most:
        raise Failed(f"{run.name}: {run.got['pages_in']} pages, not {least} to {most}")
    if run.got["at_1_pages_in"] > n + c:
        raise Failed(f"{run.name}: {run.got['at_1_pages_in']} pages in the first pass")


def best(runs, run):
    """The page cache's run of the same cell that took least time."""
    return min((r for r in runs if (r.disk, r.cell) == (run.disk, run.cell) and
                not r.programs[0].policy), key=lambda r: total(r, "elapsed_ns"))


def one(runs, disk, memory, variant):
    """A run."""
    return next(r for r in runs if (r.disk, r.cell, r.variant) == (disk, (memory,), variant))


def show(runs):
    """All runs, then beside the paper."""
    rows = []
    for memory in PAPER:
        for disk in DISKS:
            rows.append(None)
            for run in runs:
                if (run.disk, run.cell) != (disk, (memory,)):
                    continue
                elapsed = total(run, "elapsed_ns")
                rows.append([
                    f"{FRAMES[memory] // 256} of {memory}", disk.name, run.variant,
                    f"{'' if passes_of(run) == PASSES else '~'}{total(run, 'disk_pages'):,}",
                    total(run, "disk_reads"), total(run, "major", "minor"), ms(elapsed),
                    f"{elapsed / total(best(runs, run), 'elapsed_ns'):.0%}"])
    print_table(["MB", "<disk", "<variant", "pages read", "I/Os", "faults", "ms",
                 "of best advice"], rows)
    print("\nTable V: MRU as a share of the default, FIFO with a second chance; of Mach's in the "
          "paper.\nAt one page a read, as in the paper, a page read is a block I/O.\n")
    rows = []
    for memory, (mach, mru) in PAPER.items():
        row = [memory, f"{mach:,.0f} s", f"{mru:,.0f} s", f"{mru / mach:.2%}"]
        for disk in DISKS:
            ours = [one(runs, disk, memory, f"hipec {policy}, 1 page a read")
                    for policy in ("fifo2", "mru")]
            pages, times = ([total(run, key) for run in ours]
                            for key in ("pages_in", "elapsed_ns"))
            if disk is DISKS[0]:
                row += [*pages, f"{pages[1] / pages[0]:.2%}"]
            row.append(f"{times[1] / times[0]:.2%}")
        rows.append(row)
    print_table(["MB", "Mach", "MRU", "share", "fifo2 pages", "mru pages", "share",
                 *(f"time, {disk.name}" for disk in DISKS)], rows)


OPTIONS = two_sizes("64 passes")


def bench(args):
    """Measure, check, print."""
    passes = PASSES if args.full else 3
    plans = {disk: plan(disk, passes) for disk in DISKS}
    runs = measure(args, plans, PARTS)
    for run in runs:
        check(run)
    print(f"{PASSES} passes over {PAGES} pages. {disks_note()}")
    show(runs)
    print("\nChecked: each tuple of each run; the pages that hipec read, against arithmetic.\n"
          f"~ {passes} passes were run (of one fault a page at most 2), the others cost as much.")
