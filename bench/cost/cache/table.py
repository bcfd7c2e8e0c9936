# SPDX-License-Identifier: GPL-2.0-only
"""What reads, faults and opens cost where a policy chooses in place, beside the page
cache's own, in instructions of a stock kernel.

One guest with run.py's deterministic flags, in which a nanosecond is an instruction, and
a disk that answers where it is asked: its copying is in the numbers, of all alike. The
page cache is in a memory cgroup of the size that hipec has as its budget. Each thing is
done in two halves, whose pages shall cost the same. DIR/results.json gets the numbers.
Exit status 1 if a run fails, reads other pages than it must, or is not steady; goals that
are missed are said.
"""

import dataclasses
import re

from bench.lib import guests
from bench.lib.guests import MB, PAGE, ROOT, check, stock

PAGES, SMALL, FRAMES = 8192, 1024, 4096
BESIDE = 2 * MB         # of the process, and for page tables
TABLES = 8 * MB         # of hipec; nobody fills it

# By how much one half may cost more than the other, in percent.
STEADY = 5

PLAIN = "page cache"
POLICIES = ("fifo", "fifo2", "mru", "sieve", "arc")

# How often, and pages of each.
TIMES = {"hits4": 16384, "hits64": 2048, "misses": 16384, "maps": 16384, "sweep": 512,
         "mapsweep": 32768, "fresh": 64, "mapfresh": 2048, "opens": 8192}
EACH = {"hits64": 16, "sweep": 32, "fresh": 32}

# Instructions that a hit may cost more, of a page; percent that a miss may.
GOALS = {"hits4": {"fifo": 130, "fifo2": 130, "mru": 130, "sieve": 350, "arc": 700},
         "hits64": {"fifo": 60, "fifo2": 60, "mru": 60, "sieve": 250, "arc": 600},
         "misses": {"fifo": 3, "fifo2": 10, "mru": 3, "sieve": 10, "arc": 16}}
# What the contract costs is measured of these.
JUDGED = ("fifo", "arc")
UNDER_CONTRACT = ("hits4", "hits64", "misses", "maps")

# As fifo, and told which pages of maps were touched. While as many pages come in as are
# there, each is looked at so often.
EAR = "ear"
LOOKS = int(re.search(r"^#define LOOKS (\d+)$", (ROOT / "module/cache/maps.c").read_text(), re.M)[1])
MOST_OF_LOOKS = 60

MOST_OF_OPENS = 100
NOISE = 0.1             # percent, that are nothing
MOST_OF_EVICTIONS = {"sweep": 2000, "mapsweep": 3000}

OTHER = "/mnt/other"
OF_OTHERS = {"opens": "an open and a close", "hits4": "a hit of 4 KB, read()",
             "misses": "a miss of 4 KB, read()"}


@dataclasses.dataclass(frozen=True)
class Run(guests.Run):
    """A line for guest.sh, and what it gave."""
    what: str
    policy: str = ""    # none: the page cache
    taken: str = ""     # none: the file itself; without a policy, what inotify watches
    judged: bool = False    # the policy is held to the contract

    def line(self):
        """For guest.sh."""
        small = self.what.startswith("hits") or self.what == "opens"
        path = "/mnt/small" if small else "/mnt/data"
        limit = FRAMES * PAGE + BESIDE + (TABLES if self.policy else 0)
        words = ["in_group", limit, "place", self.what, TIMES[self.what], "none", path]
        if self.policy:
            words += [f"/policies/{self.policy}.hpo", FRAMES, self.taken or path,
                      *["contract"] * self.judged]
        elif self.taken:
            words.append(self.taken)
        return " ".join(map(str, words))

    def pages(self):
        """That were wanted."""
        return TIMES[self.what] * EACH.get(self.what, 1)

    def elapsed(self):
        """Instructions of both halves."""
        return self.got["first"] + self.got["second"]

    def read(self):
        """Pages of the disk."""
        return self.got["first_pages"] + self.got["second_pages"]

    def halves(self):
        """Instructions of a page that is read, if any is, or found: of each half."""
        return [self.got[half] / (self.got[f"{half}_pages"] or self.pages() / 2)
                for half in ("first", "second")]

    def complaint(self):
        """What is wrong with the numbers, or nothing."""
        first, second = self.halves()
        read = self.read()
        if abs(first - second) > STEADY / 100 * second:
            return f"a page of the first half takes {first:.0f}, of the second {second:.0f}"
        if self.policy and self.got["exit"]:
            return f"the policy ended, exit kind {self.got['exit']:#x}"
        if self.what.startswith("hits") and read:
            return f"{read} pages were not resident"
        if self.policy and not self.taken and self.got["pages_in"] > read:
            return f"{self.got['pages_in']} pages in, {read} of the disk"
        if self.policy in ("fifo", "sieve") and self.what == "misses" and read != self.pages():
            return f"{read} pages read of {self.pages()} that are not there"
        return ""


def runs():
    """All of them, by what and policy."""
    under = {(what, policy): Run(what, policy)
             for what in TIMES if what != "opens" for policy in ("", *POLICIES)}
    return {**under,
            ("maps", EAR): Run("maps", EAR),
            ("opens", ""): Run("opens"),
            ("opens", "elsewhere"): Run("opens", "fifo", "/sys/fs/cgroup/elsewhere"),
            **{(what, "elsewhere"): Run(what, "arc", OTHER) for what in ("hits4", "misses")},
            **{(what, "watched"): Run(what, "", OTHER) for what in OF_OTHERS},
            **{(what, f"{policy}, judged"): Run(what, policy, judged=True)
               for what in UNDER_CONTRACT for policy in JUDGED}}


def measure(table, args, first=Run("misses"), pages=PAGES, parameters="", mount="ro", other=SMALL):
    """Boot, and fill in what the runs gave; the large file has @pages, the one beside it
    @other, and the disk a quarter more than that. @parameters: the module's."""
    setup = f"""
make_ram_disk none {pages // 256 * 5 // 4 + 88} $MAX_SECTORS
echo 128 >/sys/block/none/queue/read_ahead_kb
put_data none {mount} data={pages} small={SMALL} other={other}
insmod /hipec/hipec.ko {parameters}
mkdir /sys/fs/cgroup/elsewhere
settle
"""
    # What the guest does behind its boot would be in the numbers of the @first run.
    guests.measure(args, 3600, setup, [first, *table.values()])
    check(table.values())


def hit(table, what, policy):
    """Instructions of a page that is found."""
    return table[what, policy].elapsed() / table[what, policy].pages()


def miss(table, what, policy):
    """Instructions of a page that is read; those that are found are taken off."""
    run = table[what, policy]
    read = run.read()
    some = what in ("misses", "random")
    found = (run.pages() - read) * hit(table, "hits4", policy) if some else 0
    return (run.elapsed() - found) / read


def evicted(table, what, policy):
    """Instructions of a page that is evicted while pages are read in order."""
    fresh = table[what.replace("sweep", "fresh"), policy]
    return miss(table, what, policy) - fresh.elapsed() / fresh.read()


def look(table):
    """Instructions of a look at a page of a map, beside as many that are not mapped."""
    return (miss(table, "maps", EAR) - miss(table, "maps", "fifo")) / LOOKS


def goal(wanted, value, most, unit=""):
    """One line for a goal."""
    return guests.goal(value <= most, f"{wanted}: {value:+,.{1 if unit else 0}f}{unit}, "
                       f"at most {most:+,}{unit}")


def goals(table):
    """What the project wants, and whether it is so: lines."""
    lines = []
    for what, name in (("hits4", "a hit of 4 KB"), ("hits64", "a hit of 64 KB, a page")):
        lines += [goal(f"{name}, {policy}", hit(table, what, policy) - hit(table, what, ""), most)
                  for policy, most in GOALS[what].items()]
    plain = miss(table, "misses", "")
    lines += [goal(f"a miss, {policy}", 100 * (miss(table, "misses", policy) / plain - 1), most,
                   " %") for policy, most in GOALS["misses"].items()]
    lines += [goal(f"a page evicted in runs, {'mapped' if 'map' in what else 'unmapped'}, fifo",
                   evicted(table, what, "fifo"), most) for what, most in MOST_OF_EVICTIONS.items()]
    lines.append(goal("a look at the referenced bit of a mapped page", look(table), MOST_OF_LOOKS))
    # Beside an inotify watch: the module's marks cost what that costs.
    lines += [goal(f"{OF_OTHERS[what]}, a file that is not taken",
                   100 * (hit(table, what, "elsewhere") / hit(table, what, "watched") - 1), NOISE,
                   " %") for what in ("hits4", "misses")]
    lines.append(goal("an open of others, while a policy by cgroup exists",
                      hit(table, "opens", "elsewhere") - hit(table, "opens", ""), MOST_OF_OPENS))
    return lines


ROW = "{:34}{:>11}" + "{:>9}" * len(POLICIES)
NAMES = {"hits4": "a hit of 4 KB, read()", "hits64": "a hit of 64 KB, a page",
         "misses": "a miss of 4 KB, read()", "maps": "a miss, mapped",
         "sweep": "a page read in order, read()", "mapsweep": "a page read in order, mapped",
         "fresh": "the same into free memory, read()", "mapfresh": "the same, mapped"}


def show(table):
    """As a table."""
    print(ROW.format("instructions of", PLAIN, *POLICIES))
    for what, name in NAMES.items():
        each = hit if what.startswith("hits") else miss
        print(ROW.format(name, *(f"{each(table, what, policy):,.0f}"
                                 for policy in ("", *POLICIES))))
    print(ROW.format("commands of a miss, read()", "", *(
        f"{table['misses', policy].got['commands'] / table['misses', policy].read():.0f}"
        for policy in POLICIES)))
    print()
    print(ROW.format("of a file that is not taken", "no policy", "others'", "inotify", "", "", ""))
    for what, name in OF_OTHERS.items():
        print(ROW.format(name, *(f"{hit(table, what, who):,.0f}"
                                 for who in ("", "elsewhere", "watched")), "", "", ""))
    print("others': while a policy has another file or, of opens, a cgroup. inotify: while it\n"
          "watches another file of the file system, as the module's marks do.\n")
    print(ROW.format("under the contract", "", *JUDGED, "", "", ""))
    for what in UNDER_CONTRACT:
        each = hit if what.startswith("hits") else miss
        print(ROW.format(NAMES[what], "", *(
            f"{each(table, what, f'{policy}, judged'):,.0f}" for policy in JUDGED), "", "", ""))
    print()


def bench(args):
    """What the Makefile calls."""
    table = runs()
    measure(table, args)
    print(f"{stock(args.out)}; {PAGES:,} pages, {FRAMES:,} of them in memory\n")
    show(table)
    print("\n".join(goals(table)))
