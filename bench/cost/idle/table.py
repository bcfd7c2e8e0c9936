# SPDX-License-Identifier: GPL-2.0-only
"""What the module costs whom it does not serve: faults on the page cache with the module
loaded and idle, and without it.

One guest with run.py's deterministic flags: guest time is instructions. The module comes
and goes, and so does another, of Debian's, which has nothing to do with faults: what that
one seems to cost is how the kernel's memory lies, and nothing is what ours may cost beyond
LIMIT. Exit status 1 if it does, or other faults are counted.
"""

import dataclasses

from bench.lib.guests import Failed, Run, measure, stock

PAGES = 2048
ROUNDS = {"hits": 400, "misses": 30}
STATES = ["without", "with", "other"] * 4 + ["without"]

# What brings a state about, and what ends it.
MODULES = {"without": ("", ""), "with": ("insmod /hipec/hipec.ko", "rmmod hipec"),
           "other": ("modprobe dm-mod", "rmmod dm-mod")}
SETUP = f"""
make_ram_disk ram 64
put_data ram ro data={PAGES}
settle
"""

# Percent, more or less, that are nothing.
LIMIT = 0.1


@dataclasses.dataclass(frozen=True)
class Faults(Run):
    """Rounds of them; of one state first hits, then misses."""
    state: str
    what: str

    def line(self):
        """For guest.sh."""
        begin, end = MODULES[self.state]
        run = f"run faults {self.what} {ROUNDS[self.what]} /mnt/data"
        return f"{begin}\nsleep 1\n{run}" if self.what == "hits" else f"{run}\n{end}"


def boot(args):
    """{(state, what): [what was printed]}"""
    runs = [Faults(state, what) for state in STATES for what in ROUNDS]
    measure(args, 1800, SETUP, runs)
    got = {}
    for run in runs:
        got.setdefault((run.state, run.what), []).append(run.got)
    return got


def compare(got, what):
    """A row: faults, instructions of one in each state, differences and noise in percent."""
    runs = {state: got.get((state, what), []) for state in STATES}
    if any(len(of) != STATES.count(state) for state, of in runs.items()):
        raise Failed(f"{what}: a run is missing")
    faults = {(run["minor"], run["major"]) for of in runs.values() for run in of}
    if len(faults) != 1:
        raise Failed(f"{what}: not the same faults: {sorted(faults)}")
    nr = sum(faults.pop())
    if nr < ROUNDS[what] * PAGES / 32:
        raise Failed(f"{what}: {nr} faults are too few")
    took = {state: sorted(run["elapsed_ns"] for run in of) for state, of in runs.items()}
    middle = {state: of[len(of) // 2] for state, of in took.items()}
    base = middle["without"]
    return {"faults": nr, **{state: of / nr for state, of in middle.items()},
            "difference": 100 * (middle["with"] - base) / base,
            "control": 100 * (middle["other"] - base) / base,
            "noise": 100 * (took["without"][-1] - took["without"][0]) / base}


ROW = "{:8}{:>10}{:>14}{:>14}{:>12}{:>12}{:>12}"


def bench(args):
    """What the Makefile calls."""
    got = boot(args)
    rows = {what: compare(got, what) for what in ROUNDS}
    print(f"{stock(args.out)}; guest instructions of a fault on a file in\n"
          "the page cache, with all that the program does for it; the middle of "
          f"{STATES.count('without')} runs without the module,\nof {STATES.count('with')} with it, "
          f"loaded and idle, and of {STATES.count('other')} with dm-mod in its place, turn and "
          "turn about.\n")
    print(ROW.format("", "faults", "without", "with", "difference", "dm-mod", "noise"))
    for what, row in rows.items():
        print(ROW.format(what, f"{row['faults']:,}", f"{row['without']:,.1f}",
                         f"{row['with']:,.1f}", f"{row['difference']:+.3f} %",
                         f"{row['control']:+.3f} %", f"{row['noise']:.3f} %"))
    print("\nnoise: from the least to the most of the runs without it.")
    for what, row in rows.items():
        if abs(row["difference"]) > LIMIT:
            raise Failed(f"{what}: the idle module can be measured")
