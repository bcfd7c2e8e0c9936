# SPDX-License-Identifier: GPL-2.0-only
"""hipec-1997, Table VII: a video player with 16 frames of its own and FIFO, beside a
database generator on the page cache; and both on the page cache.

Original sizes, in two sizes of memory; --full: in all four. Exit status 1 if a page was read or written that need not have been.
"""

from bench.lib.guests import DISKS, METADATA_PAGES, Failed, two_sizes
from bench.lib.tables import (FRAMES, Program, Run, disks_note, measure,
                              ms, print_table)

VIDEO, DATABASE, VIDEO_FRAMES = 3318, 15360, 16
PARTS = {"smpeg": f"video={VIDEO}", "dbg": f"database={DATABASE}"}

# What is written beside the data: a bit map, an inode, and the like; and pages of the
# page cache that were being filled when they were written.
OTHER_WRITES = DATABASE // 16

# Total elapsed seconds by memory, MB: Mach's LRU, and hipec's FIFO.
PAPER = {64: (1133.72, 1087.33), 48: (1193.92, 1095.50), 32: (1236.53, 1137.64),
         16: (1349.26, 1169.91)}

VARIANTS = (
    ("page cache, no advice", {}),
    ("page cache, MADV_RANDOM", {"advice": "random"}),
    ("page cache, MADV_SEQUENTIAL", {"advice": "sequential"}),
    ("page cache, MADV_WILLNEED", {"advice": "willneed"}),
    ("hipec fifo", {"policy": "fifo", "frames": VIDEO_FRAMES, "cluster": VIDEO_FRAMES // 2}),
    ("hipec fifo2, 1 page a read", {"policy": "fifo2", "frames": VIDEO_FRAMES}),
    ("hipec fifo, 1 page a read", {"policy": "fifo", "frames": VIDEO_FRAMES}),
)


def memories(full):
    """Sizes to run it with, MB."""
    return tuple(PAPER) if full else (64, 16)


def plan(disk, full):
    """The runs on a disk."""
    return [Run(disk, (memory,), name,
                [Program("smpeg", "", **options), Program("dbg", "")], FRAMES[memory])
            for memory in memories(full) for name, options in VARIANTS]


def check(run):
    """Each page of the video is read once, each of the database written once."""
    player, generator = run.programs
    # What the page cache reads ahead it may lose and read again.
    again = 0 if player.policy else VIDEO
    for what, got, want, more in (
            ("the player read", player.got["disk_pages"], VIDEO,
             METADATA_PAGES + again),
            ("the generator wrote", generator.got["disk_written"], DATABASE, OTHER_WRITES)):
        if not want <= got <= want + more:
            raise Failed(f"{run.name}: {what} {got} pages, not {want}")
    if player.policy and player.got["pages_in"] != VIDEO:
        raise Failed(f"{run.name}: {player.got['pages_in']} pages came in, not {VIDEO}")


OPTIONS = two_sizes("all sizes of memory")


def bench(args):
    """Measure, check, print."""
    runs = measure(args, {disk: plan(disk, args.full) for disk in DISKS}, PARTS)
    rows = []
    for memory in memories(args.full):
        mach, paper = PAPER[memory]
        for disk in DISKS:
            rows.append(None)
            cell = [run for run in runs if (run.disk, run.cell) == (disk, (memory,))]
            best = min(run.elapsed() for run in cell if not run.programs[0].policy)
            for run in cell:
                check(run)
                one, other = run.programs
                rows.append([f"{FRAMES[memory] // 256} of {memory}", disk.name, run.variant,
                             one.got["disk_pages"], one.got["disk_reads"],
                             one.got["major"] + one.got["minor"], other.got["disk_written"],
                             other.got["disk_writes"], ms(one.got["elapsed_ns"]),
                             ms(other.got["elapsed_ns"]), ms(run.elapsed()),
                             f"{run.elapsed() / best:.0%}",
                             f"{paper / mach:.0%}" if run.variant == "hipec fifo" else ""])
    print(f"A video of {VIDEO} pages and a database of {DATABASE}. {disks_note()}\n")
    print_table(["MB", "<disk", "<player", "pages read", "I/Os", "faults", "pages written",
                 "I/Os", "player ms", "generator ms", "both ms", "of best advice", "paper"], rows)
