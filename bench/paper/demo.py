# SPDX-License-Identifier: GPL-2.0-only
"""Run a join and a sweep in a stock kernel, by maps and by read(), on its page cache as it
is and under a policy, and print what each cost.

Guests side by side, with run.py's deterministic flags: guest time is guest
instructions plus modelled disk time, whatever else this machine does. DIR/results.json
gets one object for each run, for cited.py. Exit status 1 if a run fails or gives other
counts than arithmetic does.

By default one guest for each program, on the ssd, with what a reader compares: the page
cache's advice and hipec in place. --full: one for each disk, with less memory too, and
with regions. --short: two passes of the join, as a test.
"""

import dataclasses
import json
import resource
import textwrap
import time

from bench.lib.guests import (ALLOWANCE, CLUSTER, DISKS, MB, METADATA_PAGES, PAGE, Boot, Disk,
                              Failed, side_by_side, stock, two_sizes)


@dataclasses.dataclass(frozen=True)
class Workload:
    """A program that reads the same pages in order, pass after pass."""
    name: str
    what: str           # in a sentence
    files: str
    pages: int
    passes: int
    frames: tuple       # memory sizes to run it with


@dataclasses.dataclass(frozen=True)
class Variant:
    """Who keeps the pages, and how."""
    name: str
    policy: str = ""    # none: the page cache
    advice: str = "none"
    in_place: bool = False
    read: bool = False
    most_passes: int = 64
    full: bool = False  # with --full only


# hipec-1997, Table V: 60 MB outer relation, 4 KB inner one, 64 tuples a page. There it is
# swept 64 times: make bench-nlj FULL=1.
JOIN = Workload("join", "a join over 60 MB", "inner outer", 15360, 8, (14848,))
JOIN_FULL = dataclasses.replace(JOIN, frames=(14848, 6656))
JOIN_SHORT = dataclasses.replace(JOIN, passes=2)
SWEEP = Workload("sweep", "a sweep over 32 MB of weights", "weights", 8192, 4, (7168,))
FILE_PAGES = {"inner": 1, "outer": 15360, "weights": 8192}

VARIANTS = (
    Variant("page cache, no advice"),
    # Twice, because when little memory is missing its hits depend on chance.
    Variant("page cache, no advice, again", full=True),
    # One fault and one read a page: slow to simulate, so measured for fewer passes.
    Variant("page cache, MADV_RANDOM", advice="random", most_passes=2, full=True),
    Variant("page cache, MADV_SEQUENTIAL", advice="sequential"),
    Variant("page cache, read()", read=True),
    Variant("hipec mru", "mru", in_place=True),
    Variant("hipec mru, read()", "mru", in_place=True, read=True),
    Variant("hipec mru, regions", "mru", full=True),
    Variant("hipec fifo2, regions", "fifo2", full=True),
)

# Beside the pages of a budget in place: hipec stays below its cgroup's limit by 1 MB.
PLACE_ALLOWANCE = ALLOWANCE + 2 * MB

# Pages that may be read ahead when a page comes: a window, and the one behind it.
WINDOWS = 64


@dataclasses.dataclass
class Run:
    """One line of the table."""
    disk: Disk
    workload: Workload
    frames: int
    variant: Variant
    got: dict = None    # what the program printed

    @property
    def passes(self):
        """Passes that are run; the others are taken to cost the same."""
        return min(self.workload.passes, self.variant.most_passes)

    @property
    def scale(self):
        """What the numbers of a run of fewer passes are multiplied by."""
        return self.workload.passes / self.passes

    @property
    def memory_mb(self):
        """The frames as memory."""
        return self.frames * PAGE // MB

    @property
    def name(self):
        """For a person."""
        return f"{self.disk.name}: {self.workload.name}, {self.memory_mb} MB, {self.variant.name}"

    @property
    def cell(self):
        """Runs of one cell are to be compared."""
        return self.disk.name, self.workload.name, self.frames

    def line(self):
        """For guest.sh."""
        if self.variant.policy:
            limit = self.frames * PAGE + (PLACE_ALLOWANCE if self.variant.in_place else ALLOWANCE)
            source = (f"--policy /policies/{self.variant.policy}.hpo --frames {self.frames} "
                      + ("--in-place" if self.variant.in_place else f"--cluster {CLUSTER}"))
        else:
            limit = self.frames * PAGE
            source = f"--advice {self.variant.advice}"
        source += " --read" if self.variant.read else ""
        return (f"measured {limit} {self.workload.name} {source} --disk {self.disk.name} "
                f"--passes {self.passes} {self.workload.files}")

    def total(self, *names):
        """A number for all passes."""
        return round(sum(self.got[name] for name in names) * self.scale)

    def pages_wanted(self):
        """(least, most) pages that hipec reads, by arithmetic. In each pass after the first,
        mru reads what could not stay: the pages beyond the frames, and as many as it reads
        through, of one cluster or, with a second one read ahead, of two; in place, of no
        window or two of them."""
        n, p, f = self.workload.pages, self.passes, self.frames
        if self.variant.policy != "mru":
            return n * p, n * p
        beyond = (0, WINDOWS) if self.variant.in_place else (CLUSTER, 2 * CLUSTER)
        return tuple(n + (p - 1) * (n - f + frames) for frames in beyond)

    def complaints(self):
        """What is wrong with the numbers."""
        beside = self.got["disk_pages"] - self.got.get("read_pages", 0)
        if not self.variant.policy:
            if beside < self.workload.pages:
                yield f"read {beside} pages only: the data was in memory before"
            return
        least, most = self.pages_wanted()
        if self.got["exit"]:
            yield f"the policy was ended, exit kind {self.got['exit']:#x}"
        if not least <= self.got["read_pages"] <= most:
            yield f"read {self.got['read_pages']} pages, not {least} to {most}"
        if not 0 <= beside <= METADATA_PAGES:
            yield f"the disk read {beside} pages more, not 0 to {METADATA_PAGES}"

    def as_dict(self, best):
        """For results.json: what was run and, unscaled, what it gave."""
        return {"disk": self.disk.name, "completion_ns": self.disk.completion_ns,
                "mbps": self.disk.mbps, "workload": self.workload.name,
                "pages": self.workload.pages, "passes": self.passes,
                "of_passes": self.workload.passes, "frames": self.frames,
                "memory_mb": self.memory_mb, "variant": self.variant.name,
                "policy": self.variant.policy, "advice": self.variant.advice,
                "in_place": self.variant.in_place, "read": self.variant.read,
                "of_best_advice": self.total("elapsed_ns") / best.total("elapsed_ns"),
                **{key: value for key, value in self.got.items() if isinstance(value, int)
                   and key not in ("frames", "passes")}}


def plan(disk, workloads, full):
    """The runs on a disk."""
    return [Run(disk, workload, frames, variant)
            for workload in workloads for frames in workload.frames for variant in VARIANTS
            if full or not variant.full]


def plans(args):
    """The guests, and what is run in each."""
    if args.full:
        return [Boot(disk, plan(disk, (JOIN_FULL, SWEEP), True), args.out / disk.name)
                for disk in DISKS]
    ssd = DISKS[0]
    return [Boot(ssd, plan(ssd, (workload,), False), args.out / workload.name)
            for workload in ((JOIN_SHORT,) if args.short else (JOIN, SWEEP))]


def start(boot, args):
    """Boot a guest for its runs."""
    disk = boot.disk
    files = sorted({file for run in boot.runs for file in run.workload.files.split()})
    boot.begin(args, f"""
insmod /hipec/hipec.ko
make_disk {disk.name} {disk.completion_ns} {disk.mbps} 256
put_data {disk.name} ro {" ".join(f"{file}={FILE_PAGES[file]}" for file in files)}
cd /mnt
measured()	# MEMORY_MAX COMMAND...
{{
	begin_group "$1"
	shift
	line=$(inside "$@") || failed "$@"
	end_group "$line memory_peak=$(cat $group/memory.peak)"
}}
""", [run.line() for run in boot.runs], 1800)


def collect(boot):
    """Read what the programs printed into the runs of a disk."""
    lines = boot.lines()
    if len(lines) != len(boot.runs):
        raise Failed(f"{boot.disk.name}: {len(lines)} results of {len(boot.runs)} runs")
    for run, run.got in zip(boot.runs, lines):
        for complaint in run.complaints():
            raise Failed(f"{run.name}: {complaint}")


def best_advice(runs, cell):
    """The page cache's run in a cell that took least time."""
    return min((run for run in runs if run.cell == cell and not run.variant.policy),
               key=lambda run: run.total("elapsed_ns"))


ROW = "{:9}{:7}{:5}{:29}{:>9}{:>9}{:>9}{:>11}{:>10}"


def print_table(runs):
    """All runs; numbers that were scaled are marked."""
    print(ROW.format("workload", "memory", "disk", "variant", "pages", "I/Os", "faults",
                     "elapsed", "of best"))
    print(ROW.format("", "(MB)", "", "", "read", "", "", "(ms)", "advice"))
    cell = None
    for run in runs:
        where = ("", "", "")
        if run.cell != cell:
            cell = run.cell
            print()
            where = (run.workload.name, run.memory_mb, run.disk.name)
        mark = "" if run.scale == 1 else "~"
        of_best = run.total("elapsed_ns") / best_advice(runs, cell).total("elapsed_ns")
        numbers = (run.total("disk_pages"), run.total("disk_reads"),
                   run.total("major", "minor"), round(run.total("elapsed_ns") / 1e6))
        print(ROW.format(where[0], str(where[1]), where[2], run.variant.name,
                         *(f"{mark}{number:,}" for number in numbers), f"{of_best:.0%}"))


def of_runs(runs, what):
    """The disks or workloads of some runs, in their order."""
    return list(dict.fromkeys(getattr(run, what) for run in runs))


def notes(runs):
    """What must be known to read the table."""
    passes = ", ".join(f"{w.name}: {w.passes}" for w in of_runs(runs, "workload"))
    disks = "; ".join(f"{d.name}: {d.completion_ns / 1000:,.0f} us, {d.mbps} MB/s"
                      for d in of_runs(runs, "disk"))
    regions = any(run.variant.policy and not run.variant.in_place for run in runs)
    more = (f"{PLACE_ALLOWANCE // MB} MB more"
            + (f" ({ALLOWANCE // MB} with regions)" if regions else ""))
    text = f"""
Passes: {passes}. Disks (modelled): {disks}.
Pages read (of 4 KB), I/Os: the disk's own statistics. Faults: major and minor, of the process.
Elapsed: guest time (1 ns an instruction, and the disk's), from opening files to the last tuple.
Of best advice: elapsed, of the page cache's shortest for the same workload, memory and disk.
Memory: the page cache in a memory cgroup of that size; hipec may hold that much of the files, in a
cgroup with {more} for its tables, the process, and what it leaves free. Both
read {CLUSTER * PAGE // 1024} KB at a time, by maps if nothing else is said."""
    scaled = {run.passes for run in runs if run.scale != 1}
    if scaled:
        text += (f"\n~ measured for {min(scaled)} passes and scaled to all: each pass costs the "
                 "same.")
    return text


def compare(runs, disk, workload, frames):
    """(how many times fewer pages, share of the time) of mru against the best advice."""
    best = best_advice(runs, (disk.name, workload.name, frames))
    mru = next(run for run in runs if run.cell == best.cell and run.variant.name == "hipec mru")
    return (best.total("disk_pages") / mru.total("disk_pages"),
            mru.total("elapsed_ns") / best.total("elapsed_ns"))


def fewer(times):
    """A ratio of pages read in words; @times: the page cache's by mru's."""
    if times >= 1.005:
        return f"{times:.2g} times fewer pages"
    return "as many pages" if times > 0.995 else f"{1 / times:.2g} times more pages"


def per_disk(texts, disks):
    """One text for each disk, as one."""
    if len(set(texts)) == 1:
        return texts[0]
    return " and ".join(f"{text} ({disk.name})" for text, disk in zip(texts, disks))


def sentence(runs):
    """What the table shows."""
    parts, disks = [], of_runs(runs, "disk")
    for workload in of_runs(runs, "workload"):
        for frames in workload.frames:
            times, shares = zip(*(compare(runs, disk, workload, frames) for disk in disks))
            slower = [disk.name for disk, share in zip(disks, shares) if share > 1.005]
            parts.append(f"{workload.what} with {frames * PAGE // MB} MB of memory read "
                         f"{per_disk(list(map(fewer, times)), disks)} and took "
                         f"{per_disk([f'{share:.0%}' for share in shares], disks)} of the time"
                         + (f", which is slower on {' and '.join(slower)}" if slower else ""))
    return "With mru instead of the page cache's best advice, " + "; ".join(parts) + "."


def processor_seconds():
    """Of the guests that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


OPTIONS = {**two_sizes("other disks and memory, all advice, regions"),
           "--short": {"action": "store_true", "help": "two passes of the join, as a test"}}


def bench(args):
    """Boot, wait, check, print."""
    begin = time.monotonic()
    boots = plans(args)
    print(f"demo: {sum(len(boot.runs) for boot in boots)} runs in emulated guests, "
          f"about {'four minutes' if args.full else 'a minute'} on two idle CPUs", flush=True)
    side_by_side(boots, lambda boot: start(boot, args))
    for boot in boots:
        collect(boot)
    # By workload, then memory and disk: what is to be compared stands together.
    runs = [run for boot in boots for run in boot.runs]
    workloads = of_runs(runs, "workload")
    runs.sort(key=lambda run: (workloads.index(run.workload), -run.frames))
    rows = [json.dumps(run.as_dict(best_advice(runs, run.cell))) for run in runs]
    (args.out / "results.json").write_text("[\n" + ",\n".join(rows) + "\n]\n")

    print(f"{stock(boots[0].out, 'hipec.ko loaded, one emulated CPU')}.\n")
    print_table(runs)
    print(notes(runs))
    count = sum(1 for run in runs if run.variant.policy)
    print(f"Checked: each tuple of each run; the pages read by the {count} runs of hipec, "
          f"against arithmetic.\n")
    print(textwrap.fill(sentence(runs), 100))
    print(f"\n{time.monotonic() - begin:.0f} s, {processor_seconds():.0f} s of processor time; "
          f"all numbers: {args.out / 'results.json'}")
    if not args.full and not args.short:
        print("next: make demo FULL=1 for more memory sizes, disks and advice; make vm for a shell")
