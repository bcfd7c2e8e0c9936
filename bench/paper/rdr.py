# SPDX-License-Identifier: GPL-2.0-only
"""hipec-1997, Table VI: random data retrieval, privileged, with MPFIFO2.

Lookups in an index of 16 MB, each then a page of 64 MB of data, in the paper's
four sizes of memory. By default 10^4 lookups; --full: 10^6, with every advice. What
is not run is given as models.py has it, page by page, from which hipec's counts
must not differ: else the exit status is 1.
"""

import concurrent.futures

from bench.lib import models
from bench.lib.guests import ALLOWANCE, DISKS, Failed, two_sizes
from bench.lib.tables import (FRAMES, Program, Run, disks_note, measure,
                              ms, print_table)

INDEX, DATA = 4096, 16384
PARTS = {"rdr": f"index={INDEX},data={DATA}"}
MEMORIES = (64, 48, 32, 16)

# Elapsed seconds by lookups: Mach's and hipec's for each of MEMORIES.
PAPER = {
    100: ((12.00, 12.07), (12.43, 12.13), (11.98, 12.18), (19.95, 17.47)),
    1000: ((52.94, 51.33), (54.05, 56.11), (61.67, 61.88), (82.75, 81.01)),
    10_000: ((283.80, 279.29), (319.49, 321.39), (385.52, 384.27), (621.71, 616.53)),
    100_000: ((1656.75, 1621.13), (2344.04, 2299.00), (3393.79, 3328.06), (6008.17, 5917.32)),
    1_000_000: ((15279.53, 13953.89), (22338.70, 19997.67), (33497.12, 28907.42),
                (60313.42, 51296.06)),
}

# Block I/Os in 16 MB, of Table IV: Mach's and hipec's.
PAPER_IOS = {100_000: (137_287, 124_088), 1_000_000: (1_378_580, 1_040_931)}

VARIANTS = (
    ("page cache, no advice", {}),
    ("page cache, MADV_RANDOM", {"advice": "random"}),
    ("page cache, MADV_SEQUENTIAL", {"advice": "sequential"}),
    ("page cache, MADV_WILLNEED", {"advice": "willneed"}),
    ("hipec fifo2", {"policy": "fifo2"}),
    ("hipec mpfifo2", {"policy": "mpfifo2"}),
)
# The best advice there is for it: without, each fault reads 32 pages.
QUICK = ("page cache, MADV_RANDOM", "hipec fifo2", "hipec mpfifo2")
MOST_MODELLED = 100_000


def cells(full):
    """(memory, lookups, variants): what is run."""
    if full:
        return [(memory, 1_000_000, VARIANTS) for memory in MEMORIES]
    return [(MEMORIES[-1], 1000, VARIANTS)] + [
        (memory, 10_000, [v for v in VARIANTS if v[0] in QUICK]) for memory in MEMORIES]


def plan(disk, full):
    """The runs on a disk."""
    return [Run(disk, (memory, lookups), name,
                [Program("rdr", f"--lookups {lookups}", frames=FRAMES[memory], **options)],
                FRAMES[memory], allowance=2 * ALLOWANCE)
            for memory, lookups, variants in cells(full) for name, options in variants]


def until(run, lookups, *keys):
    """Numbers after so many lookups of a run."""
    prefix = "" if run.got["passes"] == lookups else f"at_{lookups}_"
    return sum(run.got[prefix + key] for key in keys)


def predict(memory, policy, most):
    """{lookups: faults}, by the model."""
    retrieval = models.Retrieval(INDEX)
    model = models.Fifo2() if policy == "fifo2" else models.Mpfifo2(retrieval.level)
    return models.faults(retrieval.lookups(most), FRAMES[memory], model, set(PAPER))


def predictions(full):
    """{(memory, policy): predict()}."""
    keys = [(memory, policy) for memory in MEMORIES for policy in ("fifo2", "mpfifo2")]
    most = max(MOST_MODELLED, *(lookups for _, lookups, _ in cells(full)))
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        jobs = {key: pool.submit(predict, *key, most) for key in keys}
        return {key: job.result() for key, job in jobs.items()}


def check(run, predicted):
    """Hold the counts against the model's."""
    policy = run.programs[0].policy
    if not policy:
        return
    memory, most = run.cell
    for lookups, want in predicted[memory, policy].items():
        if lookups > most:
            continue
        got = until(run, lookups, "pages_in")
        if got != want:
            raise Failed(f"{run.name}: {got} pages in {lookups} lookups, not {want}")
    # A Replace that has to pass over 10,000 pages may run over its time.
    if run.got["faults"] != run.got["pages_in"] or run.got["helped"] != run.got["late"] or \
       run.got["soft_faults"]:
        raise Failed(f"{run.name}: not one fault a page, each by the policy")


def row(runs, run, lookups):
    """Of the table."""
    elapsed = until(run, lookups, "elapsed_ns")
    best = min(until(r, lookups, "elapsed_ns") for r in runs
               if (r.disk, r.cell) == (run.disk, run.cell) and not r.programs[0].policy)
    return [f"{FRAMES[run.cell[0]] // 256} of {run.cell[0]}", run.disk.name, lookups, run.variant,
            until(run, lookups, "disk_pages"), until(run, lookups, "disk_reads"),
            until(run, lookups, "major", "minor"), ms(elapsed), f"{elapsed / best:.0%}"]


def show(runs, predicted, full):
    """All runs; then beside the paper."""
    rows = []
    for memory, lookups, _ in cells(full):
        for disk in DISKS:
            rows.append(None)
            rows += [row(runs, run, lookups) for run in runs
                     if (run.disk, run.cell) == (disk, (memory, lookups))]
    print_table(["MB", "<disk", "lookups", "<variant", "pages read", "I/Os", "faults", "ms",
                 "of best advice"], rows)
    print("\nTable VI: MPFIFO2 as a share of the default, FIFO with a second chance; of Mach's in "
          "the paper.\n")
    rows = []
    for lookups, seconds in PAPER.items():
        for memory, (mach, paper) in zip(MEMORIES, seconds):
            if lookups in predicted[memory, "fifo2"]:
                rows.append(beside_paper(runs, predicted, (lookups, memory), paper / mach))
    print_table(["lookups", "MB", "paper: time", "block I/Os", "fifo2 pages", "mpfifo2 pages",
                 "share", *(f"time, {disk.name}" for disk in DISKS)], rows)


def beside_paper(runs, predicted, cell, share):
    """A row; elapsed times if it was run."""
    lookups, memory = cell
    ios = PAPER_IOS.get(lookups) if memory == MEMORIES[-1] else None
    pages = [predicted[memory, policy][lookups] for policy in ("fifo2", "mpfifo2")]
    row_ = [lookups, memory, f"{share:.1%}", f"{ios[1] / ios[0]:.1%}" if ios else "",
            *pages, f"{pages[1] / pages[0]:.1%}"]
    for disk in DISKS:
        ours = [next((r for r in runs if r.disk == disk and r.cell[0] == memory and
                      r.cell[1] >= lookups and r.programs[0].policy == policy), None)
                for policy in ("fifo2", "mpfifo2")]
        elapsed = [until(run, lookups, "elapsed_ns") for run in ours if run]
        row_.append(f"{elapsed[1] / elapsed[0]:.1%}" if elapsed else "")
    return row_


OPTIONS = two_sizes("10^6 lookups")


def bench(args):
    """Measure, check, print."""
    predicted = predictions(args.full)
    runs = measure(args, {disk: plan(disk, args.full) for disk in DISKS}, PARTS)
    for run in runs:
        check(run, predicted)
    print(f"{INDEX} pages of index, {DATA} of data; a read is one page. {disks_note()}")
    show(runs, predicted, args.full)
    print("\nChecked: each record and tuple on the way; the pages that hipec read after each power "
          "of ten,\nagainst models of both policies, page by page. Rows without a time: by the models.")
