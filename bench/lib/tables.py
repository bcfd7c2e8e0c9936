# SPDX-License-Identifier: GPL-2.0-only
"""What the tables of hipec-1997 share: programs, runs of several of them at the
same time, and how their numbers are printed.
"""

import dataclasses
import json
import shlex
import time

from bench.lib.guests import (ALLOWANCE, DISKS, METADATA_PAGES, PAGE, Boot, Failed, goal,
                              side_by_side, stock)

# Frames that the paper's machine had left, by its memory in MB.
FRAMES = {64: 14848, 48: 10752, 32: 6656, 16: 2560, 12: 1536}

# Programs that the paper paces by the clock are paced as its disk compares with ours:
# it took 12.8 ms for a page (Table V: 12,571.80 s for 64 x 15,360).
PAPER_NS = 12571.80e9 / (64 * 15360)
VIDEO_KB_PER_S = 31.16

FILES = {"join": "inner outer", "rdr": "index data", "smpeg": "video", "dbg": "database"}


@dataclasses.dataclass
class Program:
    """One of those that run at the same time."""
    name: str
    options: str        # where its pages come from, and how many
    policy: str = ""    # none: the page cache
    frames: int = 0     # of hipec; the most, if they are shared
    shares: bool = False
    in_place: bool = False
    cluster: int = 1
    advice: str = "none"
    ends: tuple = (0,)  # kinds of exit that the policy may have
    got: dict = None    # what it printed

    def command(self, disk, parts):
        """For guest.sh; the n-th of @parts is the n-th partition."""
        number = list(parts).index(self.name) + 1
        source = f"--advice {self.advice}"
        if self.policy:
            source = f"--policy /policies/{self.policy}.hpo --frames {self.frames}"
            source += (f" --in-place --advice {self.advice}" if self.in_place else
                       f" --cluster {self.cluster}")
            source += " --share" if self.shares else ""
        return (f"{self.name} {source} {self.options} "
                f"--disk {disk.name}/{disk.name}{number} {FILES[self.name]}")

    def complaints(self):
        """What is wrong with its numbers, whatever it does."""
        if not self.policy:
            return
        if self.got["exit"] not in self.ends:
            yield f"{self.name}: the policy was ended, exit kind {self.got['exit']:#x}"
        beside = self.got["disk_pages"] - self.got["read_pages"]
        if self.name != "dbg" and not 0 <= beside <= METADATA_PAGES:
            yield (f"{self.name}: the disk read {beside} pages more than were brought in, "
                   f"not 0 to {METADATA_PAGES}")


@dataclasses.dataclass
class Run:
    """Programs at the same time, in one memory cgroup."""
    disk: object
    cell: tuple         # runs of one cell are to be compared
    variant: str
    programs: list
    frames: int         # memory, pages
    module: str = ""    # arguments of hipec.ko
    allowance: int = ALLOWANCE  # beside them, bytes, if hipec has frames of its own

    @property
    def name(self):
        """For a person."""
        return f"{self.disk.name}: {', '.join(map(str, self.cell))}, {self.variant}"

    def line(self, parts):
        """For guest.sh. Behind runs in place there are others in place alone: the module stays."""
        in_place = any(program.in_place for program in self.programs)
        apart = any(program.policy and not program.in_place for program in self.programs)
        memory = self.frames * PAGE + (self.allowance if apart else 0)
        commands = shlex.join(program.command(self.disk, parts) for program in self.programs)
        if in_place:
            return f"load_for_good\ntogether {memory} {commands}"
        return (f"insmod /hipec/hipec.ko {self.module}\ntogether {memory} {commands}\n"
                "remove_module")

    @property
    def got(self):
        """Of the only program."""
        return self.programs[0].got

    def elapsed(self):
        """Until the last program ended, ns."""
        return max(program.got["elapsed_ns"] for program in self.programs)

    def total(self, *keys):
        """Of all programs."""
        return sum(program.got[key] for program in self.programs for key in keys)

    def as_dict(self):
        """For results.json."""
        return {"disk": self.disk.name, "cell": self.cell, "variant": self.variant,
                "frames": self.frames, "module": self.module,
                "programs": [{**p.got, "name": p.name, "policy": p.policy, "shares": p.shares}
                             for p in self.programs]}


def setup(disk, parts):
    """For guest.sh: a disk with a partition for each program, in the order of @parts; without
    journal, all tables written: nobody else uses it. A database is made afresh for each run."""
    partitions, lines, databases, total = "", [], [], 64    # MB: fdisk wants a cylinder, at least
    for number, (name, files) in enumerate(parts.items(), 1):
        pages = {file: int(nr) for file, nr in (word.split("=") for word in files.split(","))}
        mb = sum(pages.values()) // 240 + 4     # with what the file system needs
        total += mb
        partitions += f"n\np\n{number}\n\n+{mb}M\n"
        lines += [f"mkdir /mnt/{name}",
                  f"mkfs.ext4 -q -O ^has_journal -E lazy_itable_init=0 /dev/{disk.name}{number}",
                  f"mount -o noatime /dev/{disk.name}{number} /mnt/{name}"]
        for file, nr in pages.items():
            path = f"/mnt/{name}/{file}"
            if file == "database":
                databases += [f"rm -f {path}", f"truncate -s {nr * PAGE} {path}"]
            else:
                lines.append(f"{'mkindex' if file == 'index' else 'mkdata'} {path} {nr}")
    return "\n".join([
        f"make_disk {disk.name} {disk.completion_ns} {disk.mbps} {total}",
        f"fdisk -b 4096 /dev/{disk.name} >/dev/null <<END\n{partitions}w\nEND",
        *lines, "sync", "prepare()", "{", *databases, "sync", "}"])


def measure(args, plans, parts):
    """Run what is planned, {disk: runs}, each disk in a guest of its own; @parts:
    {program: its files, FILE=PAGES separated by commas}. Returns all runs."""
    boots = [Boot(disk, runs, args.out / disk.name) for disk, runs in plans.items()]
    begin = time.monotonic()
    if not args.again:
        side_by_side(boots, lambda boot: boot.begin(
            args, setup(boot.disk, parts), [run.line(parts) for run in boot.runs],
            0 if args.full else 7200))
    for boot in boots:
        collect(boot)
    runs = [run for boot in boots for run in boot.runs]
    rows = [json.dumps(run.as_dict()) for run in runs]
    (args.out / "results.json").write_text("[\n" + ",\n".join(rows) + "\n]\n")
    print(f"{stock(boots[0].out, 'hipec.ko loaded, one emulated CPU')}; "
          f"{time.monotonic() - begin:.0f} s.\n")
    return runs


def rate(disk, kb_per_s=VIDEO_KB_PER_S):
    """KB/s on a modelled disk, of a program of the paper's."""
    page_ns = disk.completion_ns + PAGE * 1000 / disk.mbps
    return round(kb_per_s * PAPER_NS / page_ns)


def collect(boot):
    """Give the programs what they printed."""
    lines = boot.lines()
    for number, run in enumerate(boot.runs, 1):
        mine = [line for line in lines if line["run"] == number]
        if len(mine) != len(run.programs):
            raise Failed(f"{run.name}: {len(mine)} results of {len(run.programs)}")
        for program, program.got in zip(run.programs, mine):
            for complaint in program.complaints():
                raise Failed(f"{run.name}: {complaint}")


def print_table(header, rows):
    """@header: names of columns, those that begin with "<" are of words; @rows: lists
    of as many cells, None for an empty line."""
    cells = [[name.lstrip("<") for name in header]]
    cells += [row and [f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row]
              for row in rows]
    widths = [max(len(row[i]) for row in cells if row) for i in range(len(header))]
    for row in cells:
        line = "  ".join(f"{cell:<{width}}" if name.startswith("<") else f"{cell:>{width}}"
                         for cell, width, name in zip(row or [], widths, header))
        print(line.rstrip())


def disks_note():
    """The disks in words."""
    disks = "; ".join(f"{d.name}: {d.completion_ns / 1000:,.0f} us, {d.mbps} MB/s" for d in DISKS)
    return f"Disks (modelled): {disks}."


def ms(nanoseconds):
    """Rounded."""
    return round(nanoseconds / 1e6)


def verdict(what, value, limit):
    """A goal, in percent more than what it is measured against; returns whether it is met."""
    met = value <= limit
    print(goal(met, f"{what}: {value:+.2f} %, goal at most {limit:+g} %"))
    return met
