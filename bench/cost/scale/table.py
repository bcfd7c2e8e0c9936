# SPDX-License-Identifier: GPL-2.0-only
"""What a budget, a file, a container and a process cost in place, where there are few and
where there are many, in instructions of a stock kernel and in bytes.

One guest with run.py's deterministic flags, in which a nanosecond is an instruction, and a
disk that answers where it is asked. A slope is the exponent with which the cost of one grows with
their number: 0 where it does not. DIR/results.json gets the numbers. Exit status 1 if a run
fails; goals that are missed are said.
"""

import dataclasses
import math

from bench.lib import guests
from bench.lib.guests import PAGE, measure, stock

FILES, PAGES, HUGE = 100_000, 8192, (1 << 44) - PAGE
# 32 MB to 2 GB: no budget may be larger than the machine.
BUDGETS = tuple(1 << bits for bits in (13, 16, 19))
LARGEST = 1 << 30   # 4 TB
SOME = {"files": (1000, 10_000, 100_000), "containers": (10, 100, 1000),
        "processes": (100, 1000, 10_000)}
FRAMES = {"files": 4096, "containers": 64, "processes": 4096}
POLICY = "fifo"

# Many files of one page, a small and an enormous one; the pool has room for the largest budget.
SETUP = f"""
make_ram_disk none {FILES // 256 + FILES // 4096 + PAGES // 256 + 160} $MAX_SECTORS
mkfs.ext4 -q -O ^has_journal -E lazy_itable_init=0 -N {FILES + FILES // 500 + 1000} /dev/none
mount /dev/none /mnt
mkdata /mnt/data {PAGES}
mkdir /mnt/files
scale make /mnt/files {FILES}
truncate -s {HUGE} /mnt/huge
mount -o remount,ro /mnt
insmod /hipec/hipec.ko cache_percent=100 pool_mb=2560
settle
"""

NAMES = {"files": "a file of a container", "containers": "a container with a file",
         "processes": "a process that opens and reads"}
COSTS = {"each": "each", "read": "a read", "next": "a look at it", "end": "its end"}
READ = 1000     # pages that scale reads of a budget

# Goals: milliseconds that a load takes, at 1 instruction a nanosecond; of the frames in use that
# the tables have, in percent; and a slope.
MOST_OF_LOADS, MOST_OF_TABLES, MOST_OF_SLOPES = 10, 0.8, 0.05


@dataclasses.dataclass(frozen=True)
class Run(guests.Run):
    """A line for guest.sh, and what it gave."""
    what: str
    number: int         # of frames, for a budget; else of files, containers or processes
    where: str
    plain: bool = False
    shares: bool = False

    def line(self):
        """For guest.sh."""
        policy = "-" if self.plain else f"/policies/{POLICY}.hpo"
        if self.what == "budget":
            words = f"{'shared' if self.shares else 'budget'} {policy} {self.number} {self.where}"
        else:
            words = f"{self.what} {policy} {FRAMES[self.what]} {self.where} {self.number}"
        return f"in_group max scale {words}"


def runs():
    """All of them."""
    return [*(Run("budget", frames, "/mnt/huge", plain, shares)
              for plain, shares in ((True, False), (False, False), (False, True))
              for frames in BUDGETS),
            *(Run(what, number, "/mnt/data" if what == "processes" else "/mnt/files", plain)
              for what, numbers in SOME.items()
              for plain in ((True, False) if what != "containers" else (False,))
              for number in numbers)]


def size(frames):
    """Of so many frames, as people say it."""
    mega = frames * PAGE >> 20
    return f"{mega} MB" if mega < 1024 else f"{mega >> 10} GB" if mega < 1 << 20 else f"{mega >> 20} TB"


def slope(few, many, name):
    """With which power of their number the cost of one grows."""
    return math.log(many.got[name] / few.got[name]) / math.log(many.number / few.number)


def with_tables(budgets):
    """Runs under a policy: what they take for READ pages and for all, and plain reads do not."""
    plain = {run.number: run.got for run in budgets if run.plain}
    found = [run for run in budgets if not run.plain]
    for run in found:
        for which in ("some", "all"):
            run.got[f"tables of {which}"] = run.got[which] - plain[run.number][which]
    return found


def show_budgets(found):
    """As a table."""
    print(f"{'budget':>10}{'':7}{'load, ms':>12}{'bytes a frame, of':>20}{READ:>8,}{'all':>8}"
          f"{'a miss':>10}{'its end, ms':>13}")
    for run in found:
        print(f"{size(run.number):>10}{' shared' if run.shares else '':7}{run.got['load'] / 1e6:>12,.2f}"
              f"{run.got['tables of some'] / READ:>28,.1f}"
              f"{run.got['tables of all'] / run.number:>8,.1f}{run.got['read']:>10,}"
              f"{run.got['end'] / 1e6:>13,.2f}")
    print()


def show(found):
    """The others, as a table."""
    print(f"{'instructions':32}{'':>8}{'number':>9}"
          + "".join(f"{name:>14}" for name in COSTS.values()) + f"{'bytes':>9}")
    for run in found:
        print(f"{NAMES[run.what]:32}{'plainly' if run.plain else POLICY:>8}{run.number:>9,}"
              + "".join(f"{run.got[name]:>14,}" if name in run.got else f"{'':>14}"
                        for name in COSTS) + f"{run.got.get('bytes', ''):>9}")
    print()


def load_of(found, frames):
    """Milliseconds that a load of so many frames takes, at the rate of the largest two."""
    less, more = found[-2:]
    rate = (more.got["load"] - less.got["load"]) / (more.number - less.number)
    return (more.got["load"] + rate * (frames - more.number)) / 1e6


def goal(wanted, value, most, unit=""):
    """One line for a goal."""
    return guests.goal(value <= most, f"{wanted}: {value:,.2f}{unit}, at most {most}{unit}")


def goals(budgets, found):
    """What the project wants, and whether it is so: lines."""
    lines = []
    for run in budgets:
        if run.shares:
            lines.append(goal(f"a load of {size(run.number)}, shared", run.got["load"] / 1e6,
                              MOST_OF_LOADS, " ms"))
            continue
        lines.append(goal(f"a load of {size(run.number)}", run.got["load"] / 1e6, MOST_OF_LOADS, " ms"))
        lines += [goal(f"tables of {size(run.number)}, of {used:,} frames in use",
                       100 * run.got[which] / used / PAGE, MOST_OF_TABLES, " %")
                  for which, used in (("tables of some", READ), ("tables of all", run.number))]
    lines.append(goal(f"a load of {size(LARGEST)}, at the rate of the last two",
                      load_of([run for run in budgets if not run.shares], LARGEST),
                      MOST_OF_LOADS, " ms"))
    for what, numbers in SOME.items():
        few, *_, many = [run for run in found if run.what == what and not run.plain]
        for name, text in COSTS.items():
            if name in few.got:
                lines.append(goal(f"{NAMES[what]}, {text}: slope from {numbers[0]:,} to "
                                  f"{numbers[-1]:,}", slope(few, many, name), MOST_OF_SLOPES))
    return lines


def bench(args):
    """What the Makefile calls."""
    args.memory = "4G"
    found = runs()
    measure(args, 3600, SETUP, found)
    budgets = with_tables([run for run in found if run.what == "budget"])
    rest = [run for run in found if run.what != "budget"]
    print(f"{stock(args.out)}\n")
    show_budgets(budgets)
    show(rest)
    print("\n".join(goals(budgets, rest)))
