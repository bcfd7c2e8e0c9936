# SPDX-License-Identifier: GPL-2.0-only
"""What calls cost somebody who has nothing to do with hipec, beside the worst clients of it, in
instructions of a stock kernel: the 99.9th percentile, and the longest.

One guest with run.py's deterministic flags, in which a nanosecond is an instruction, and a disk
that answers where it is asked. A client does one thing in a loop, and a neighbour, another user
in another cgroup and directory, makes its calls: first beside clients that make the same calls
without a container, as any client takes time of the CPU; then the module is loaded. DIR has the
numbers. Exit status 1 if a run fails, or a client's policy ends that must not; goals that are
missed are said.
"""

import dataclasses

from bench.lib import guests
from bench.lib.guests import MB, PAGE, check, goal, measure, stock

PAGES = 8192            # of the client's file
ROUNDS = 500
OPS = ("open", "create", "unlink", "read", "fault", "exit", "sync", "wake")
PLAIN = "plain"

# Seconds for which ext4 does not use an inode again: each that it has to pass over costs a create.
FORGETS = 61

# The 99.9th percentile at most so many times that beside a plain client, with an interrupt of
# the timer, which falls into one call of a thousand that take 4 us, and what RCU frees behind it;
# the longest at most so much longer.
TIMES = 1.2
INTERRUPT = 80_000
LONGER = 10_000_000
DEATH = 1_000_000_000


@dataclasses.dataclass(frozen=True)
class Mode:
    """What the client does."""
    name: str
    mode: str           # beside.c's
    policy: str
    frames: int = 4096
    memory: object = "max"  # that its cgroup may have
    ends: bool = False      # its policies do


# For the page cache where the client's file shall not fit.
SMALL = 4096 * PAGE + 8 * MB

MODES = (Mode("sweeps, slowest policy", "sweep", "slowest", memory=SMALL),
         Mode("status, why, operand", "ask", "fifo", frames=PAGES),
         Mode("1 TB attached, detached", "attach", "fifo"),
         Mode("swaps and reads", "swap", "slowest", memory=SMALL),
         Mode("files come and go", "create", "fifo"),
         Mode("a league of 16, slow", "league", "fifo", memory=SMALL),
         Mode("a cgroup at its limit", "sweep", "fifo", frames=PAGES, memory=8 * MB),
         Mode("mlock, munlock, reads", "mlock", "fifo", memory=SMALL),
         Mode("cgroups come and go", "cgroups", "fifo", memory=SMALL),
         Mode("records, read and closed", "record", "slowest", memory=SMALL),
         Mode("policies that err", "errs", "endless-replace", frames=1024, ends=True))

SETUP = f"""
make_ram_disk none 192 $MAX_SECTORS
put_data none rw data={PAGES}
mkdir /mnt/client /mnt/neighbour
mv /mnt/data /mnt/client/data
truncate -s 1024G /mnt/client/sparse
chown -R 1000 /mnt/client
chown 65534 /mnt/neighbour
cd /sys/fs/cgroup
mkdir neighbour client client/main
echo +memory >client/cgroup.subtree_control
chown -R 1000 client
cd /
# The kernel's own, for which sync waits, are no client's either.
echo -20 >/sys/devices/virtual/workqueue/writeback/nice
"""


@dataclasses.dataclass(frozen=True)
class Run(guests.Run):
    """A line for guest.sh, and what it gave."""
    mode: Mode
    plain: bool
    rounds: int

    @property
    def label(self):
        """For a person."""
        return f"{self.mode.name}, {PLAIN if self.plain else self.mode.policy}"

    def line(self):
        """For guest.sh."""
        policy = PLAIN if self.plain else f"/policies/{self.mode.policy}.hpo"
        return (f"{'' if self.plain else 'load_for_good'}\nsync\n"
                f"echo {self.mode.memory} >/sys/fs/cgroup/client/memory.max\n"
                f"echo 3 >/proc/sys/vm/drop_caches\nsleep {FORGETS}\n"
                f"run beside {self.mode.mode} {policy} {self.mode.frames} {self.rounds} "
                "/mnt/client /sys/fs/cgroup/client/main /mnt/neighbour /sys/fs/cgroup/neighbour")

    def complaint(self):
        """What is wrong with the numbers, or nothing."""
        if bool(self.got["exit"]) != (self.mode.ends and not self.plain):
            return f"the policy's exit kind is {self.got['exit']:#x}"
        return "" if self.got["turns"] else "the client did nothing"


def runs(modes, rounds):
    """All of them: the first one's numbers have what the guest does behind its boot."""
    return [Run(mode, plain, rounds)
            for plain, some in ((True, modes[:1] + modes), (False, modes)) for mode in some]


def missed(plain, hipec):
    """What a neighbour pays more than it may beside @hipec: texts."""
    for op in OPS:
        if op != "wake" and hipec[f"{op}_p999"] > TIMES * plain[f"{op}_p999"] + INTERRUPT:
            yield f"{op} {hipec[f'{op}_p999'] / plain[f'{op}_p999']:.2f} x"
        if hipec[f"{op}_most"] > plain[f"{op}_most"] + LONGER:
            yield f"{op} {(hipec[f'{op}_most'] - plain[f'{op}_most']) / 1e6:,.1f} ms longer"
    if hipec["death"] > DEATH:
        yield f"the client died {hipec['death'] / 1e6:,.0f} ms after SIGKILL"


ROW = "{:25}{:9}" + "{:>17}" * len(OPS)


def show(pairs):
    """As a table."""
    print(ROW.format("99.9 %, most; us", "", *OPS))
    for pair in pairs:
        for run in pair:
            print(ROW.format(run.mode.name if run.plain else "", PLAIN if run.plain else "hipec", *(
                f"{run.got[f'{op}_p999'] / 1000:,.0f}, {run.got[f'{op}_most'] / 1000:,.0f}"
                for op in OPS)))
    print()


OPTIONS = {"--rounds": {"type": int, "default": ROUNDS},
           "--mode": {"action": "append", "type": int, "help": "this one alone, a number from 0 on"}}


def bench(args):
    """What the Makefile calls."""
    modes = [MODES[number] for number in args.mode or range(len(MODES))]
    table = runs(modes, args.rounds)
    measure(args, 7200, SETUP, table)
    pairs = list(zip(table[1:], table[1 + len(modes):]))
    print(f"{stock(args.out)}; guest instructions of somebody else's calls, {args.rounds} rounds\n")
    show(pairs)
    for plain, hipec in pairs:
        wrong = list(missed(plain.got, hipec.got))
        print(goal(not wrong, f"beside {plain.mode.name}: {', '.join(wrong) or 'as without hipec'}"))
    check(table)
