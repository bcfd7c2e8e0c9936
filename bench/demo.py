#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Run a join and a sweep in a stock kernel, on its page cache and on hipec, and
print what each cost.

    demo.py --kernel 6.12 --guest IMG --out DIR [--full]
    demo.py --out DIR --numbers

One guest for each modelled disk, side by side, with run.py's deterministic
flags: guest time is guest instructions plus modelled disk time, whatever else
this machine does. DIR/results.json gets one object for each run. Exit status 1
if a run fails or gives other counts than arithmetic does.
"""

import argparse
import dataclasses
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

RUN = pathlib.Path(__file__).resolve().parent.parent / "vm-images" / "run.py"

PAGE = 4096
MB = 1 << 20

# What hipec may use beside its frames: its tables, and the process's own pages.
# The page cache gets no such extra.
ALLOWANCE = MB

# Pages that a run may read from the disk beside the data: the inner relation,
# the file system's metadata.
METADATA_PAGES = 8

# Pages of one read of hipec, 128 KB: as the page cache's default read-ahead.
CLUSTER = 32

# An emulator takes each step of a fast string move for an instruction: zeroing
# a page would cost 4096 of them. Without these flags the kernel uses loops.
APPEND = "clearcpuid=erms,fsrm"


@dataclasses.dataclass(frozen=True)
class Disk:
    """A null_blk disk: each request takes completion_ns, all together at most mbps."""
    name: str
    completion_ns: int
    mbps: int


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
    cluster: int = CLUSTER
    most_passes: int = 64
    most_memory_only: bool = False


DISKS = (Disk("ssd", 100_000, 500), Disk("hdd", 5_000_000, 150))

# hipec-1997, Table V: 60 MB outer relation, 4 KB inner one, 64 tuples a page.
JOIN = Workload("join", "a join over 60 MB", "inner outer", 15360, 8, (14848, 6656))
JOIN_1997 = dataclasses.replace(JOIN, passes=64, frames=(14848, 10752, 6656, 2560))
SWEEP = Workload("sweep", "a sweep over 32 MB of weights", "weights", 8192, 4, (7168,))
DATA = "inner=1 outer=15360 weights=8192"

VARIANTS = (
    Variant("page cache, no advice"),
    # One fault and one read a page: slow to simulate, so measured for fewer passes.
    Variant("page cache, MADV_RANDOM", advice="random", most_passes=2),
    Variant("page cache, MADV_SEQUENTIAL", advice="sequential"),
    Variant("hipec fifo2", "fifo2"),
    Variant("hipec fifo", "fifo"),
    Variant("hipec mru", "mru"),
    Variant("hipec mru, 1 page a read", "mru", cluster=1, most_memory_only=True),
)

# Elapsed time of mru at 8 passes that the project wants, of the best advice's.
GOALS = {(JOIN.name, 14848): 0.30, (JOIN.name, 6656): 0.75}

# Elapsed time of mru in Table V of the paper, of LRU's.
TABLE_V = {14848: 0.0472, 10752: 0.2994, 6656: 0.5685, 2560: 0.8369}


class Failed(Exception):
    """A run failed, or its numbers cannot be right."""


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
        """For demo-guest.sh."""
        if self.variant.policy:
            limit = self.frames * PAGE + ALLOWANCE
            source = (f"--policy /policies/{self.variant.policy}.hpo "
                      f"--frames {self.frames} --cluster {self.variant.cluster}")
        else:
            limit = self.frames * PAGE
            source = f"--advice {self.variant.advice}"
        return (f"{limit} {self.workload.name} {source} --disk {self.disk.name} "
                f"--passes {self.passes} {self.workload.files}")

    def total(self, *names):
        """A number for all passes."""
        return round(sum(self.got[name] for name in names) * self.scale)

    def pages_wanted(self):
        """Pages that hipec brings in, by arithmetic: in each pass after the
        first, mru reads what did not stay and the cluster it reads through."""
        n, p, f = self.workload.pages, self.passes, self.frames
        if self.variant.policy == "mru":
            return n + (p - 1) * (n - f + self.variant.cluster)
        return n * p

    def complaints(self):
        """What is wrong with the numbers."""
        beside = self.got["disk_pages"] - self.got.get("pages_in", 0)
        if not self.variant.policy:
            if beside < self.workload.pages:
                yield f"read {beside} pages only: the data was in memory before"
            return
        if self.got["exit"]:
            yield f"the policy was ended, exit kind {self.got['exit']:#x}"
        if self.got["pages_in"] != self.pages_wanted():
            yield f"brought {self.got['pages_in']} pages in, not {self.pages_wanted()}"
        if self.variant.cluster == 1 and self.got["faults"] != self.pages_wanted():
            yield f"faulted {self.got['faults']} times, not {self.pages_wanted()}"
        if not 0 <= beside <= METADATA_PAGES:
            yield (f"the disk read {beside} pages more than were brought in, "
                   f"not 0 to {METADATA_PAGES}")

    def as_dict(self, best):
        """For results.json: what was run and, unscaled, what it gave."""
        return {"disk": self.disk.name, "completion_ns": self.disk.completion_ns,
                "mbps": self.disk.mbps, "workload": self.workload.name,
                "pages": self.workload.pages, "passes": self.passes,
                "of_passes": self.workload.passes, "frames": self.frames,
                "memory_mb": self.memory_mb, "variant": self.variant.name,
                "policy": self.variant.policy, "advice": self.variant.advice,
                "cluster": self.variant.cluster,
                "of_best_advice": self.total("elapsed_ns") / best.total("elapsed_ns"),
                **{key: value for key, value in self.got.items() if isinstance(value, int)
                   and key not in ("frames", "passes")}}


def plan(disk, workloads):
    """The runs on a disk."""
    return [Run(disk, workload, frames, variant)
            for workload in workloads for frames in workload.frames for variant in VARIANTS
            if frames == max(workload.frames) or not variant.most_memory_only]


def start(disk, runs, args):
    """Boot a guest for the runs on a disk."""
    out = args.out / disk.name
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    with open(out / "log", "w", encoding="utf-8") as log:
        return subprocess.Popen(
            [RUN, "--kernel", args.kernel, "--initrd", args.guest, "--det", "--append", APPEND,
             "--timeout", "0" if args.full else "900", "--out", out, "--",
             "sh", "/demo-guest.sh", disk.name, str(disk.completion_ns), str(disk.mbps), DATA,
             "\n".join(run.line() for run in runs)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def console(disk, args):
    """What the guest of a disk has printed so far."""
    try:
        return (args.out / disk.name / "console").read_text(errors="replace")
    except FileNotFoundError:
        return ""


def started(disk, args):
    """How many runs were started on a disk."""
    return console(disk, args).count("\ndemo: run ")


class Progress:
    """A line that tells what is going on: rewritten on a terminal, else a new
    one every ten seconds."""

    def __init__(self, total):
        self.total = total
        self.begin = time.monotonic()
        self.next = 0
        self.tty = sys.stdout.isatty()

    def show(self, current):
        """Tell it again, if it is time; @current: the runs under way."""
        now = time.monotonic()
        if now < self.next:
            return
        self.next = now + (0.5 if self.tty else 10)
        done = sum(max(0, n - 1) for n, _ in current)
        text = f"{now - self.begin:4.0f} s, {done} of {self.total} runs done; now "
        text += "; ".join(run.name if n else f"{run.disk.name}: boot" for n, run in current)
        if self.tty:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r{text[:width]}\x1b[K", end="", flush=True)
        else:
            print(text, flush=True)

    def clear(self):
        """Make room for what comes."""
        if self.tty:
            print("\r\x1b[K", end="", flush=True)


def follow(guests, plans, args):
    """Wait for the guests; stops at the first that fails."""
    progress = Progress(sum(map(len, plans.values())))
    waiting = set(guests)
    while waiting:
        current = [(n := min(started(disk, args), len(plans[disk])), plans[disk][max(0, n - 1)])
                   for disk in guests]
        progress.show(current)
        for disk in [disk for disk in waiting if guests[disk].poll() is not None]:
            waiting.remove(disk)
            if guests[disk].returncode:
                progress.clear()
                number, run = current[list(guests).index(disk)]
                what = run.name if number else f"{disk.name}: before the first run"
                log = (args.out / disk.name / "log").read_text(errors="replace")
                raise Failed(f"{what}: failed\n\n{log.rstrip()}")
        time.sleep(0.2)
    progress.clear()


def collect(disk, runs, args):
    """Read what the programs printed into the runs of a disk."""
    lines = (args.out / disk.name / "results" / "runs").read_text().splitlines()
    if len(lines) != len(runs):
        raise Failed(f"{disk.name}: {len(lines)} results of {len(runs)} runs")
    for run, line in zip(runs, lines):
        pairs = (word.split("=", 1) for word in line.split())
        run.got = {key: int(value) if value.isdigit() else value for key, value in pairs}
        for complaint in run.complaints():
            raise Failed(f"{run.name}: {complaint}")


def best_advice(runs, cell):
    """The page cache's run in a cell that took least time."""
    return min((run for run in runs if run.cell == cell and not run.variant.policy),
               key=lambda run: run.total("elapsed_ns"))


ROW = "{:9}{:7}{:5}{:29}{:>9}{:>9}{:>9}{:>11}{:>10}"


def print_table(runs):
    """All runs; numbers that were scaled are marked."""
    print(ROW.format("workload", "memory", "disk", "variant", "pages", "reads", "faults",
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


def notes(workloads):
    """What must be known to read the table."""
    passes = ", ".join(f"{w.name}: {w.passes}" for w in workloads)
    disks = "; ".join(f"{d.name}: {d.completion_ns / 1000:,.0f} us, {d.mbps} MB/s" for d in DISKS)
    fewest = min(v.most_passes for v in VARIANTS)
    return f"""
Passes: {passes}. Disks (modelled): {disks}.
Pages read, reads: the disk's own statistics, pages of 4 KB. Faults: major and minor, of the process.
Elapsed: guest time (instructions at 1 ns each, and the disk), from opening the files to the last tuple.
Memory: the page cache in a memory cgroup of that size; hipec has that size in frames, in a cgroup
with {ALLOWANCE // MB} MB more for its tables and the process. Both read {CLUSTER * PAGE // 1024} KB \
at a time unless noted.
~ measured for {fewest} passes and scaled to all: each pass costs the same."""


def compare(runs, disk, workload, frames):
    """(how many times fewer pages, share of the time) of mru against the best advice."""
    best = best_advice(runs, (disk.name, workload.name, frames))
    mru = next(run for run in runs if run.cell == best.cell and run.variant.name == "hipec mru")
    return (best.total("disk_pages") / mru.total("disk_pages"),
            mru.total("elapsed_ns") / best.total("elapsed_ns"))


def fewer(times):
    """A ratio of pages read in words; @times: the page cache's by mru's."""
    if times >= 1.005:
        return f"{times:.2g} times fewer"
    return "as many" if times > 0.995 else f"{1 / times:.2g} times more"


def sentence(runs, workloads):
    """What the table shows."""
    parts = []
    for workload in workloads:
        for frames in workload.frames:
            said = []
            for disk in DISKS:
                times, share = compare(runs, disk, workload, frames)
                verdict = "" if share < 0.995 else ", a loss" if share > 1.005 else ", no gain"
                said.append(f"{fewer(times)} pages and took {share:.0%} of the time{verdict} "
                            f"({disk.name})")
            parts.append(f"for {workload.what} with {frames * PAGE // MB} MB of memory it read "
                         + " and ".join(said))
    return ("Against the page cache with the best advice for each line, mru won and lost like this: "
            + "; ".join(parts) + ".")


def numbers(args):
    """Print what the docs cite, from results.json."""
    rows = json.loads((args.out / "results.json").read_text())
    for row in rows:
        if row["variant"] != "hipec mru":
            continue
        key = (row["workload"], row["frames"])
        text = (f"{row['disk']} {row['workload']} {row['memory_mb']} MB, {row['of_passes']} passes: "
                f"mru takes {row['of_best_advice']:.1%} of the best advice's time")
        if key in GOALS and row["of_passes"] == JOIN.passes:
            met = "met" if row["of_best_advice"] <= GOALS[key] else "NOT met"
            text += f"; goal at most {GOALS[key]:.0%}: {met}"
        if row["of_passes"] == JOIN_1997.passes:
            fifo2 = next(r for r in rows if r["variant"] == "hipec fifo2" and all(
                r[k] == row[k] for k in ("disk", "workload", "frames")))
            text += (f"; {row['disk_pages'] / fifo2['disk_pages']:.2%} of fifo2's pages, "
                     f"{row['elapsed_ns'] / fifo2['elapsed_ns']:.2%} of its time "
                     f"(the paper: {TABLE_V[row['frames']]:.2%} of LRU's)")
        print(text)


def demo(args):
    """Boot, wait, check, print."""
    begin = time.monotonic()
    workloads = (JOIN_1997,) if args.full else (JOIN, SWEEP)
    plans = {disk: plan(disk, workloads) for disk in DISKS}
    print(f"demo: {sum(map(len, plans.values()))} runs in {len(plans)} emulated guests, "
          f"about {'20' if args.full else '3'} minutes on two idle CPUs", flush=True)
    guests = {}
    try:
        for disk, runs in plans.items():
            guests[disk] = start(disk, runs, args)
        follow(guests, plans, args)
    finally:
        for guest in guests.values():
            guest.terminate()
            guest.wait()

    for disk, runs in plans.items():
        collect(disk, runs, args)
    # By workload, then disk: what is to be compared stands together.
    runs = sorted((run for runs in plans.values() for run in runs),
                  key=lambda run: (workloads.index(run.workload), -run.frames))
    rows = [json.dumps(run.as_dict(best_advice(runs, run.cell))) for run in runs]
    (args.out / "results.json").write_text("[\n" + ",\n".join(rows) + "\n]\n")

    release = re.search("user space up, kernel (.*)", console(DISKS[0], args)).group(1)
    print(f"Stock Debian kernel {release.strip()}, hipec.ko loaded, one emulated CPU.\n")
    print_table(runs)
    print(notes(workloads))
    count = sum(1 for run in runs if run.variant.policy)
    print(f"Checked: each tuple of each run; the pages read by the {count} hipec runs, "
          f"against arithmetic.\n")
    print(sentence(runs, workloads))
    print(f"\n{time.monotonic() - begin:.0f} s; all numbers: {args.out / 'results.json'}")


def main():
    """What the Makefile calls."""
    parser = argparse.ArgumentParser(description="Page cache against hipec, as a table.")
    parser.add_argument("--kernel", default="6.12", metavar="KEY")
    parser.add_argument("--guest", metavar="IMG", help="made by make build/demo-guest.img")
    parser.add_argument("--out", type=pathlib.Path, required=True, metavar="DIR")
    parser.add_argument("--full", action="store_true", help="the join of the paper, 64 passes")
    parser.add_argument("--numbers", action="store_true", help="only cite DIR/results.json")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        if args.numbers:
            numbers(args)
        elif args.guest:
            demo(args)
        else:
            parser.error("want --guest or --numbers")
    except Failed as failed:
        print(f"demo: {failed}", file=sys.stderr)
        return 1
    except FileNotFoundError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return 0


if __name__ == "__main__":
    sys.exit(main())
