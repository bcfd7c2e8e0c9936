# SPDX-License-Identifier: GPL-2.0-only
"""What the benchmarks in guests share: one guest, or boots side by side on modelled
disks, and what their programs printed.

A guest runs a script in a stock kernel with run.py's deterministic flags: guest
time is guest instructions plus modelled disk time, whatever else this machine does.
A Boot's script prints "guest: run N" before its N-th run, counted from 1.
"""

import dataclasses
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUN = ROOT / "vm-images" / "run.py"

PAGE = 4096
MB = 1 << 20

# What hipec may use beside its frames: its tables, and the process's own pages.
# The page cache gets no such extra.
ALLOWANCE = 2 * MB

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


DISKS = (Disk("ssd", 100_000, 500), Disk("hdd", 5_000_000, 150))


class Failed(Exception):
    """A run failed, or its numbers cannot be right."""


class Guest:
    """A guest, and the directory that it leaves its results in."""

    def __init__(self, out):
        """@out: is emptied by start()."""
        self.out = out
        self.process = None

    def start(self, kernel, image, command, timeout, cpus=None, det=True, memory=None):
        """Boot; @timeout in seconds of wall time, 0 for none. Without @det, and with several
        @cpus, it is as fast as this machine, and its time says nothing."""
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)
        with open(self.out / "log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(  # pylint: disable=consider-using-with
                [RUN, "--kernel", kernel, "--initrd", image,
                 *(["--smp", str(cpus)] if cpus else ["--det"] if det else []),
                 *(["--memory", memory] if memory else []), "--append", APPEND,
                 "--timeout", str(timeout), "--out", self.out, "--", *command],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def end(self):
        """Whatever it does."""
        if self.process:
            self.process.terminate()
            self.process.wait()

    def failure(self, name="the guest"):
        """Why @name failed, as the log has it."""
        log = (self.out / "log").read_text(errors="replace")
        return Failed(f"{name}: failed\n\n{log.rstrip()}")

    def lines(self, number=None):
        """What the programs printed, as dictionaries; @number of them, if it is given."""
        lines = (self.out / "results" / "runs").read_text().splitlines()
        if number not in (None, len(lines)):
            raise Failed(f"{len(lines)} results of {number} runs")
        pairs = ((word.split("=", 1) for word in line.split()) for line in lines)
        return [{key: int(value) if value.isdigit() else value for key, value in line}
                for line in pairs]

    def release(self):
        """The kernel's."""
        return (self.out / "results" / "kernel").read_text().strip()


def command(setup, lines):
    """For Guest.start(): the guest's shell does @setup, then each of @lines; guest.sh and disk.sh
    have its words."""
    return ["sh", "/guest.sh", "\n".join([setup.strip(), *lines])]


class Boot(Guest):
    """A guest, and the runs that it makes one after the other."""

    def __init__(self, disk, runs, out):
        """@runs: objects with a name."""
        super().__init__(out)
        self.disk, self.runs = disk, runs

    def begin(self, args, setup, lines, timeout):
        """Start it: @setup, then each of @lines, which is a run."""
        self.start(args.kernel, args.guest,
                   command(setup, (f"echo guest: run {number}\n{line}"
                                   for number, line in enumerate(lines, 1))), timeout)

    def under_way(self):
        """(how many runs were started, name of the last)."""
        try:
            console = (self.out / "console").read_text(errors="replace")
        except FileNotFoundError:
            console = ""
        number = min(console.count("\nguest: run "), len(self.runs))
        return number, self.runs[number - 1].name if number else f"{self.disk.name}: boot"


@dataclasses.dataclass(frozen=True)
class Run:
    """A run in a guest, and what its program printed there. A benchmark's own are made of this."""
    got: dict = dataclasses.field(default_factory=dict, compare=False, kw_only=True)

    @property
    def label(self):
        """For a person."""
        return ", ".join(str(value) for key, value in vars(self).items() if key != "got" and value)

    def line(self):
        """What the guest's shell does for it: guest.sh."""
        raise NotImplementedError

    def complaint(self):
        """What is wrong with the numbers, or nothing."""
        return ""


def run_guest(args, timeout, setup, runs):
    """Boot one guest, perhaps with a number of @args.cpus or so much @args.memory, and wait until
    @setup and then @runs have ended there: a Guest."""
    guest = Guest(args.out)
    try:
        guest.start(args.kernel, args.guest, command(setup, (run.line() for run in runs)), timeout,
                    getattr(args, "cpus", None), memory=getattr(args, "memory", None))
        if guest.process.wait():
            raise guest.failure()
    finally:
        guest.end()
    return guest


def measure(args, timeout, setup, runs):
    """run_guest(), and each run has what it gave, as DIR/results.json has."""
    for run, line in zip(runs, run_guest(args, timeout, setup, runs).lines(len(runs))):
        run.got.update(line)
    (args.out / "results.json").write_text(
        json.dumps([dataclasses.asdict(run) for run in runs], indent=1))


def check(runs):
    """No run has a complaint."""
    if wrong := [f"{run.label}: {run.complaint()}" for run in runs if run.complaint()]:
        raise Failed("; ".join(wrong))


def stock(out, cpus="one emulated CPU"):
    """Where the numbers in @out are from."""
    return f"Stock Debian kernel {Guest(out).release()}, {cpus}"


def goal(met, text):
    """One line for a goal."""
    return f"{'met    ' if met else 'NOT met'}  {text}"


def side_by_side(boots, begin):
    """Guests that @begin begins, each of @boots, until all have ended."""
    try:
        for boot in boots:
            begin(boot)
        follow(boots)
    finally:
        for boot in boots:
            boot.end()


def follow(boots):
    """Wait for the guests, telling what they do: on a terminal in one line, else
    in one every ten seconds. Stops at the first that fails."""
    tty = sys.stdout.isatty()
    total = sum(len(boot.runs) for boot in boots)
    begin = time.monotonic()
    due = 0
    while True:
        states = [boot.under_way() for boot in boots]
        seconds = time.monotonic() - begin
        if seconds >= due:
            text = (f"{seconds:4.0f} s, {sum(max(0, n - 1) for n, _ in states)} of {total} "
                    f"runs done; now {'; '.join(name for _, name in states)}")
            if tty:
                print(f"\r{text[:shutil.get_terminal_size().columns - 1]}\x1b[K", end="")
            else:
                print(text)
                due = seconds + 10
            sys.stdout.flush()
        statuses = [boot.process.poll() for boot in boots]
        if any(statuses) or None not in statuses:
            break
        time.sleep(0.5)
    if tty:
        print("\r\x1b[K", end="", flush=True)
    for boot in boots:
        if boot.process.poll():
            raise boot.failure(boot.under_way()[1])


def two_sizes(full):
    """OPTIONS of a benchmark that has two sizes; @full: what the larger one is."""
    return {"--full": {"action": "store_true", "help": full},
            "--again": {"action": "store_true", "help": "print what DIR has, run nothing"}}


def call(what, name, args):
    """Call @what(args) as a program does: its exit status."""
    # As for Ctrl-C: leave through the finally clauses, which end the guests.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        return what(args) or 0
    except Failed as failed:
        print(f"{name}: {failed}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
