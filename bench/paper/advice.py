# SPDX-License-Identifier: GPL-2.0-only
"""hipec-1997, Tables IX and X: random data retrieval with an ill-advised policy,
alone in the pool and beside others, without and with recovery and revocation.

Table IX: alone in 6 and 10 MB. Table X: in 58 MB, beside a join (J), a video player
(M) and a database generator (G), none of which has a policy. Scaled down, to a half
and a quarter of all sizes; --full: the original ones. Exit status 1 if a program
read or wrote what it cannot have, or a goal is missed.
"""

import dataclasses

from bench.lib.guests import ALLOWANCE, CLUSTER, DISKS, Failed, two_sizes
from bench.lib.tables import (FRAMES, Program, Run, disks_note, measure, ms,
                              print_table, rate, verdict)



@dataclasses.dataclass(frozen=True)
class Sizes:
    """Pages, and how often; the files and the memory are of the paper's size by scale."""
    scale: int
    lookups: int
    passes: int = 0
    video: int = 0

    @property
    def files(self):
        """Of rdr."""
        return f"index={4096 // self.scale},data={16384 // self.scale}"

    @property
    def outer(self):
        """Relation of the join."""
        return 4096 // self.scale

    @property
    def database(self):
        """Of the generator."""
        return 15360 // self.scale

    def frames(self, memory):
        """Of so many MB in the paper; whole MB, as the pool has."""
        return FRAMES[memory] // 256 // self.scale * 256


# Lookups until an ill-advised policy is revoked take less than half of these.
ALONE = {False: (Sizes(2, 6_000),), True: (Sizes(1, 100_000), Sizes(1, 1_000_000))}
MEMORIES = {False: (12,), True: (12, 16)}
TOGETHER = {False: Sizes(4, 6_000, 3, 1037), True: Sizes(1, 1_000_000, 64, 33173)}

# The paper's join takes 379.83 minutes for 64 passes over 16 MB: KB a second.
JOIN_RATE = 16384 * 64 / (379.83 * 60)

NOT_RECOVERED = "recovery=N revocation=N"
RECOVERED = "revocation=N"
NO_PAGE, WORSE = 0x20, 0x42                 # kinds of exit

# Name, policy, arguments of hipec.ko, kinds of exit.
VARIANTS = (
    ("no policy", "general", "", (NO_PAGE,)),
    ("ill-advised - recovery", "mpfifo2-wrong", NOT_RECOVERED, (0,)),
    ("ill-advised + recovery", "mpfifo2-wrong", RECOVERED, (0,)),
    ("ill-advised + revocation", "mpfifo2-wrong", "", (0, WORSE)),
    ("well-advised", "mpfifo2", "", (0,)),
)
CACHE = (("page cache, no advice", "none"), ("page cache, MADV_RANDOM", "random"))

# Block I/Os by lookups and memory: Mach's, without and with recovery; then seconds.
PAPER_9 = {
    (100_000, 12): ((203_833, 211_267, 203_959), (8916.42, 9415.34, 9118.82)),
    (100_000, 16): ((137_287, 141_509, 137_774), (6008.17, 6250.99, 6154.77)),
    (1_000_000, 12): ((2_242_611, 2_580_348, 2_423_375), (98114.17, 117432.85, 108043.62)),
    (1_000_000, 16): ((1_378_580, 1_549_661, 1_474_116), (60313.42, 68522.28, 65633.67)),
}

# Block I/Os of J, M, G: under Mach, without and with recovery; then minutes.
PAPER_10 = (((67_515, 33_173, 15_360), (74_238, 33_173, 15_360), (67_916, 33_173, 15_360)),
            ((379.83, 93.42, 6.98), (491.70, 104.41, 9.67), (440.77, 101.35, 9.06)))


def program_of(name, options, policy, frames, **more):
    """One that shares the pool."""
    return Program(name, options, policy=policy, frames=frames, shares=True, **more)


def pool(frames, module=""):
    """Arguments of hipec.ko."""
    return f"pool_mb={frames // 256} {module}".strip()


def alone(disk, sizes, memory, full):
    """Table IX, one size."""
    frames, options = sizes.frames(memory), f"--lookups {sizes.lookups}"
    cell = ("alone", sizes.lookups, memory)
    runs = [Run(disk, cell, name,
                [program_of("rdr", options, policy, frames, ends=ends)],
                frames, pool(frames, module), 4 * ALLOWANCE)
            for name, policy, module, ends in VARIANTS]
    return runs + [Run(disk, cell, name, [Program("rdr", options, advice=advice)], frames)
                   for name, advice in CACHE if full or advice == "random"]


def together(disk, sizes, full):
    """Table X."""
    memory, runs = 64, []
    frames = sizes.frames(memory)
    options = {"rdr": f"--lookups {sizes.lookups}",
               "join": f"--passes {sizes.passes} --rate {rate(disk, JOIN_RATE)}",
               "smpeg": f"--rate {rate(disk)}", "dbg": ""}
    cell = ("together", sizes.lookups, memory)
    for name, policy, module, ends in VARIANTS:
        programs = [program_of("rdr", options["rdr"], policy, frames, ends=ends)]
        programs += [program_of(other, options[other], "general", frames, cluster=CLUSTER,
                                ends=(0, NO_PAGE)) for other in ("join", "smpeg", "dbg")]
        runs.append(Run(disk, cell, name, programs, frames, pool(frames, module),
                        4 * ALLOWANCE))
    for name, advice in CACHE:
        if full or advice == "random":
            programs = [Program(other, options[other],
                                advice=advice if other == "rdr" else "none") for other in options]
            runs.append(Run(disk, cell, name, programs, frames))
    return runs


def check(run, sizes):
    """What no policy can change."""
    want = {"join": sizes.outer, "smpeg": sizes.video}
    for program in run.programs:
        least = want.get(program.name, 0)
        if program.got["disk_pages"] < least:
            raise Failed(f"{run.name}: {program.name} read {program.got['disk_pages']} pages, "
                         f"not {least}")
        if program.name == "dbg" and program.got["disk_written"] < sizes.database:
            raise Failed(f"{run.name}: dbg wrote {program.got['disk_written']} pages only")


def percent(now, before):
    """How much more."""
    return 100 * now / before - 100


def second_half(run):
    """Pages that rdr read in the second half of its lookups."""
    return run.got["disk_pages"] - run.got[f"at_{run.got['passes'] // 2}_disk_pages"]


def state(program):
    """What became of the policy."""
    if not program.policy:
        return ""
    if program.got["exit"] == WORSE:
        return f"revoked after {program.got['judged_faults']:,} faults"
    return f"{program.got['recovered']:,} of {program.got['moved']:,} reversed"


def show_alone(runs):
    """Table IX. Returns whether the goals are met."""
    rows, goals = [], []
    for run in runs:
        _, lookups, memory = run.cell
        if run.variant == VARIANTS[0][0]:
            rows.append(None)
            base = run
        ios, seconds = PAPER_9.get((lookups, memory), PAPER_9[100_000, memory])
        paper = ["", ""]
        if run.variant in [variant[0] for variant in VARIANTS[1:3]]:
            nth = [variant[0] for variant in VARIANTS].index(run.variant)
            paper = [f"{percent(ios[nth], ios[0]):+.1f}%",
                     f"{percent(seconds[nth], seconds[0]):+.1f}%"]
        got, first = run.got, base.got
        half = percent(second_half(run), second_half(base))
        rows.append([f"{run.frames / 256:g} for {memory}", run.disk.name, lookups, run.variant,
                     got["disk_pages"], f"{percent(got['disk_pages'], first['disk_pages']):+.1f}%",
                     paper[0], f"{half:+.1f}%", ms(got["elapsed_ns"]),
                     f"{percent(got['elapsed_ns'], first['elapsed_ns']):+.1f}%", paper[1],
                     state(run.programs[0])])
        if run.variant == "ill-advised + revocation":
            goals.append((f"{memory} MB, {run.disk.name}: what an ill-advised policy costs its owner "
                          "in the end (second half, pages)", half, 5))
    print_table(["MB", "<disk", "lookups", "<variant", "pages read", "more", "paper",
                 "2nd half", "ms", "more", "paper", "<"], rows)
    print()
    return all([verdict(*goal) for goal in goals])


def show_together(runs):
    """Table X. Returns whether the goals are met."""
    rows, goals = [], []
    for run in runs:
        if run.variant == VARIANTS[0][0]:
            rows.append(None)
            base = run
        ios = [program.got["disk_pages"] + program.got["disk_written"]
               for program in run.programs]
        before = [program.got["disk_pages"] + program.got["disk_written"]
                  for program in base.programs]
        times = [program.got["elapsed_ns"] for program in run.programs]
        rows.append([run.disk.name, run.variant, *ios,
                     f"{percent(sum(ios[1:]), sum(before[1:])):+.2f}%", *map(ms, times),
                     run.programs[2].got["late_pages"], state(run.programs[0])])
        if run.variant == "ill-advised + revocation":
            goals.append((f"{run.disk.name}: what it costs its neighbours (pages)",
                          percent(sum(ios[1:]), sum(before[1:])), 1))
    print_table(["<disk", "<variant", "R pages", "J pages", "M pages", "G pages", "J+M+G more",
                 "R ms", "J ms", "M ms", "G ms", "M late", "<R's policy"], rows)
    mach = PAPER_10[0][0]
    print("\nThe paper: " + "; ".join(
        f"{name} {sum(ios):,} block I/Os ({percent(sum(ios), sum(mach)):+.1f}%), J "
        f"{percent(times[0], PAPER_10[1][0][0]):+.1f}% time"
        for name, ios, times in zip(("Mach", "- recovery", "+ recovery"), *PAPER_10)) + ".\n")
    return all([verdict(*goal) for goal in goals])


def measure_alone(args):
    """The runs of Table IX."""
    runs, out = [], args.out
    for number, sizes in enumerate(ALONE[args.full]):
        args.out = out / f"alone-{number}"
        plans = {disk: [run for memory in MEMORIES[args.full]
                        for run in alone(disk, sizes, memory, args.full)] for disk in DISKS}
        runs += measure(args, plans, {"rdr": sizes.files})
    for run in runs:
        check(run, ALONE[args.full][0])
    args.out = out
    return runs


def measure_together(args):
    """The runs of Table X."""
    sizes, out = TOGETHER[args.full], args.out
    args.out = out / "together"
    parts = {"rdr": sizes.files, "join": f"inner=1,outer={sizes.outer}",
             "smpeg": f"video={sizes.video}", "dbg": f"database={sizes.database}"}
    runs = measure(args, {disk: together(disk, sizes, args.full) for disk in DISKS}, parts)
    for run in runs:
        check(run, sizes)
    args.out = out
    return runs


OPTIONS = two_sizes("original sizes")


def bench(args):
    """Measure, check, print."""
    sizes = ALONE[args.full][0]
    print(f"{disks_note()} `more`: than without a policy.\n\nTable IX: RDR alone, files and "
          f"memory of 1/{sizes.scale} of the paper's.")
    met = show_alone(measure_alone(args))
    sizes = TOGETHER[args.full]
    print(f"\nTable X: RDR (R) beside a join (J), a video player (M) and a database generator "
          f"(G), 1/{sizes.scale} of the paper's: {sizes.frames(64)} frames, {sizes.lookups} lookups, "
          f"{sizes.passes} passes over {sizes.outer} pages.")
    met = show_together(measure_together(args)) and met
    return 0 if met else 1
