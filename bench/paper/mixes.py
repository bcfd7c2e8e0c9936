# SPDX-License-Identifier: GPL-2.0-only
"""hipec-1997, Table VIII: programs at the same time, which share the pool.

J joins with MRU, R retrieves with MPFIFO2, S plays a video with FIFO, G generates a
database without a policy. Each mix five ways: on frames of hipec's own with these
policies and with none, in place with these policies, and on the page cache, without
advice and each program with its own; the last three in a cgroup of the same size.
Scaled down, in two
sizes of memory; --full: the original sizes. Exit status 1 if a program read or wrote
what it cannot have.
"""

from bench.lib.guests import ALLOWANCE, CLUSTER, DISKS, Failed, two_sizes
from bench.lib.tables import (FRAMES, Program, Run, disks_note, measure,
                              ms, print_table, rate)

NO_PAGE = 0x20                      # kind of exit
VIDEO_FRAMES = 4 * CLUSTER          # what a player needs, and what is read ahead
APART = 768                         # for the programs themselves, and what G writes
VIDEO_WINDOWS = 128                 # in place, where the kernel reads 32 pages ahead

# By --full. Files and memory are of the paper's size by SCALE.
SCALE = {False: 4, True: 1}
MEMORIES = {False: (64, 32), True: (64, 48, 32, 16)}
PASSES = {False: 3, True: 64}
LOOKUPS = {False: 2000, True: 100_000}
VIDEO = {False: 518, True: 33173}

# Letter: program, policy, advice, cluster.
PROGRAMS = {
    "J": ("join", "mru", "sequential", CLUSTER),
    "R": ("rdr", "mpfifo2", "random", 1),
    "S": ("smpeg", "fifo", "sequential", CLUSTER),
    "G": ("dbg", "general", "none", CLUSTER),
}

# hipec as a share of Mach, in elapsed time, by memory: 64, 48, 32, 16 MB.
PAPER = {
    "J+S": (62.24, 72.29, 86.95, 92.27),
    "R+S": (91.66, 88.97, 85.54, 81.17),
    "J+R+S": (66.80, 78.56, 83.58, 83.39),
    "J+G": (60.46, 66.02, 74.23, 91.98),
    "R+G": (80.64, 82.87, 80.78, 77.82),
    "J+R+G": (62.16, 72.99, 79.73, 89.52),
    "J+R+S+G": (64.63, 71.72, 74.90, 84.36),
}

IN_PLACE = "in place, policies"
# In place last: from then on the module stays loaded.
WAYS = ("hipec, no policies", "hipec, policies", "page cache, no advice", "page cache, advice",
        IN_PLACE)


def frames_of(memory, full):
    """Of so many MB in the paper; whole MB, as the pool has."""
    return FRAMES[memory] // 256 // SCALE[full] * 256


def program(letter, mix, way, memory, disk, full):
    """One of a mix."""
    name, policy, advice, cluster = PROGRAMS[letter]
    options = {"J": f"--passes {PASSES[full]}", "R": f"--lookups {LOOKUPS[full]}",
               "S": f"--rate {rate(disk)}", "G": ""}[letter]
    if way.startswith("page cache") or way == IN_PLACE and policy == "general":
        return Program(name, options, advice=advice if way.endswith(", advice") else "none")
    if way == IN_PLACE:
        wants = len({"J", "R"} & set(mix))
        frames = VIDEO_WINDOWS if policy == "fifo" else (frames_of(memory, full) - APART) // wants
        return Program(name, options, policy=policy, in_place=True, frames=frames,
                       advice=advice if letter == "R" else "none")
    if way.endswith("no policies"):
        policy = "general"
    frames = VIDEO_FRAMES if policy == "fifo" else frames_of(memory, full)
    return Program(name, options, policy=policy, frames=frames, shares=True, cluster=cluster,
                   ends=(0, NO_PAGE) if policy == "general" else (0,))


def plan(disk, full):
    """The runs on a disk."""
    return [Run(disk, (mix, memory), way,
                [program(letter, mix, way, memory, disk, full) for letter in mix.split("+")],
                frames_of(memory, full), f"pool_mb={frames_of(memory, full) // 256}",
                4 * ALLOWANCE)
            for way in WAYS for mix in PAPER for memory in MEMORIES[full]]


def check(run, full):
    """What no policy can change."""
    read = {"join": 15360 // SCALE[full], "smpeg": VIDEO[full]}
    for one in run.programs:
        pages, want = one.got["disk_pages"], read.get(one.name, 0)
        if pages < want:
            raise Failed(f"{run.name}: {one.name} read {pages} pages, not {want}")
        if one.name == "dbg" and one.got["disk_written"] < 15360 // SCALE[full]:
            raise Failed(f"{run.name}: dbg wrote {one.got['disk_written']} pages only")


def show(runs, full):
    """All runs."""
    rows = []
    for mix, shares in PAPER.items():
        for memory in MEMORIES[full]:
            share = shares[(64, 48, 32, 16).index(memory)]
            for disk in DISKS:
                rows.append(None)
                cell = [run for run in runs if (run.disk, run.cell) == (disk, (mix, memory))]
                rows += [row(run, cell, share) for run in cell]
    print_table(["<mix", "MB", "<disk", "<way", "pages", *(f"{c} pages" for c in PROGRAMS),
                 "faults", "ms", "of no policies", "paper", "of best advice"], rows)


def elapsed(run):
    """Until the last has ended; but a video takes as long as it plays."""
    return max(one.got["elapsed_ns"] for one in run.programs if one.name != "smpeg")


def row(run, cell, share):
    """Of the table."""
    mix, memory = run.cell
    by_name = {one.name: one.got["disk_pages"] + one.got["disk_written"] for one in run.programs}
    best = min(elapsed(other) for other in cell if other.variant.startswith("page cache"))
    with_policies = run.variant == WAYS[1]
    return [mix, f"{run.frames // 256} for {memory}", run.disk.name, run.variant,
            sum(by_name.values()), *(by_name.get(PROGRAMS[c][0], "") for c in PROGRAMS),
            run.total("major", "minor"), ms(elapsed(run)),
            f"{elapsed(run) / elapsed(cell[0]):.0%}",
            f"{share:.0f}%" if with_policies else "", f"{elapsed(run) / best:.0%}"]


OPTIONS = two_sizes("original sizes")


def bench(args):
    """Measure, check, print."""
    full = args.full
    scale = SCALE[full]
    parts = {"join": f"inner=1,outer={15360 // scale}",
             "rdr": f"index={4096 // scale},data={16384 // scale}",
             "smpeg": f"video={VIDEO[full]}", "dbg": f"database={15360 // scale}"}
    runs = measure(args, {disk: plan(disk, full) for disk in DISKS}, parts)
    for run in runs:
        check(run, full)
    rates = ", ".join(f"{rate(disk)} KB/s ({disk.name})" for disk in DISKS)
    print(f"Files and memory of 1/{scale} of the paper's. J: {PASSES[full]} passes; R: "
          f"{LOOKUPS[full]} lookups; S: {VIDEO[full]} pages, at {rates}.\n{disks_note()} "
          "Pages: read and written. Elapsed: until the last but S has ended.\n")
    show(runs, full)
