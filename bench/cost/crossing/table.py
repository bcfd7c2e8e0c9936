# SPDX-License-Identifier: GPL-2.0-only
"""What it costs to have somebody else than the kernel decide which page goes: a
process, or a policy that the kernel interprets. Table III of hipec-1997 today.

One guest with run.py's deterministic flags: guest time is instructions. Each thing
is done n, 2n and 3n times; the difference, by n, is what it costs once, without
beginning and end. DIR/results.json gets the numbers. Exit status 1 if a run fails,
counts something else than arithmetic does, or costs more the second time.
"""

import dataclasses

from bench.lib.guests import Failed, Run, measure, stock

PAGES, FRAMES = 512, 256
PASSES = 2      # n faults are so many sweeps over the pages
N = PAGES * PASSES
TIMES = (1, 2, 3)

SETUP = f"""
insmod /hipec/hipec.ko
make_ram_disk ram 64
put_data ram ro data={PAGES}
cd /mnt
settle
"""

# By how much the first n may cost something else than the second, in percent.
STEADY = 5

# Commands that a Replace of fifo2-more.hp has more than one of fifo2.hp: a loop's
# beginning, 65 tests of 2, 64 rounds of 6, and a jump back that it spares.
MORE = 1 + 65 * 2 + 64 * 6 - 1

# Of a page of 4 KB on the disks of demo.py, in ns: each request, and bytes by MB/s.
DISKS = {"a read of 4 KB, ssd": 100_000 + 4096 * 1000 // 500,
         "a read of 4 KB, hdd": 5_000_000 + 4096 * 1000 // 150}

# hipec-1997, Table III, in us; of a command "smaller than 150 ns".
TABLE_III = {"a command": 0.15, "a system call": 19.4, "a decision by eventfd": 292.3,
             "a read of 4 KB, ssd": 952.7, "a read of 4 KB, hdd": 1502.4}


@dataclasses.dataclass(frozen=True)
class Thing:
    """What is done, and the command that does it."""
    name: str
    command: str
    often: int = 1      # what is cheap is done that often more, or a tick would count

    def count(self, times):
        """How often it is done."""
        return N * self.often * times


@dataclasses.dataclass(frozen=True)
class Some(Run):
    """It, done so many times N."""
    thing: Thing
    times: int

    def line(self):
        """For guest.sh."""
        return "run " + self.thing.command.format(n=self.thing.count(self.times),
                                                  passes=PASSES * self.times)


def sweep(policy):
    """Faults on a region."""
    return (f"sweep --policy /policies/{policy}.hpo --frames {FRAMES} --cluster 1 "
            "--passes {passes} data")


THINGS = (
    Thing("a system call", "crossing null {n}", 16),
    Thing("a decision in C", f"crossing here {{n}} {FRAMES}", 64),
    Thing("a decision by futex", f"crossing futex {{n}} {FRAMES}"),
    Thing("a decision by pipe", f"crossing pipe {{n}} {FRAMES}"),
    Thing("a decision by eventfd", f"crossing eventfd {{n}} {FRAMES}"),
    Thing("a fault, anonymous memory", f"crossing touch {PAGES} {{passes}} {FRAMES}"),
    Thing("a fault, userfaultfd", f"crossing uffd {PAGES} {{passes}} {FRAMES}"),
    Thing("a fault, hipec fifo2", sweep("fifo2")),
    Thing("a fault, hipec fifo2-more", sweep("fifo2-more")),
)


def boot(args):
    """Run all things; {name: [what was printed for N, for 2N, for 3N]}."""
    runs = [Some(thing, times) for thing in THINGS for times in TIMES]
    measure(args, 1800, SETUP, runs)
    got = {}
    for run in runs:
        got.setdefault(run.thing.name, []).append(run.got)
        check(run.thing, run.times, run.got)
    return got


def check(thing, times, got):
    """Compare counts with arithmetic: every access of a sweep faults, and all but
    the first frames' takes a page."""
    n = thing.count(times)
    want = {"n": n, "evictions": 0 if thing.name == "a system call" else n - FRAMES}
    if "policy" in got:
        want = {"faults": n, "pages_in": n, "evictions": n - FRAMES, "helped": 0, "exit": 0}
    if thing.name == "a fault, anonymous memory":
        # The program's own pages fault as well.
        if not n <= got["minor"] < n + 64:
            raise Failed(f"{thing.name}: {got['minor']} faults, not {n} and a few")
    for key, value in want.items():
        if got[key] != value:
            raise Failed(f"{thing.name}: {key} is {got[key]}, not {value}")


def cost(runs, key="elapsed_ns"):
    """Of one."""
    n = runs[0]["faults" if "faults" in runs[0] else "n"]
    first, second = (runs[i + 1][key] - runs[i][key] for i in (0, 1))
    if abs(first - second) > STEADY / 100 * second:
        raise Failed(f"{runs[0]['bench']}: {n} more: {key} {first}, and then {second}")
    return (first + second) / 2 / n


def table(got):
    """{what: instructions}."""
    plain, more = got["a fault, hipec fifo2"], got["a fault, hipec fifo2-more"]
    commands = cost(plain, "commands")
    if cost(more, "commands") - commands != MORE:
        raise Failed(f"fifo2-more runs {cost(more, 'commands') - commands} commands more a "
                     f"fault, not {MORE}")
    command = (cost(more) - cost(plain)) / MORE
    costs = {"a command": command, f"a decision, {commands:.0f} commands": command * commands}
    costs.update((thing.name, cost(got[thing.name])) for thing in THINGS[:-1])
    costs.update(DISKS)
    return costs


ROW = "{:28}{:>14}{:>14}{:>13}{:>14}"


def show(costs):
    """As a table."""
    command = costs["a command"]
    print(ROW.format("", "instructions", "commands", "1997 (us)", "commands"))
    for name, instructions in costs.items():
        paper = TABLE_III.get(name)
        print(ROW.format(name, f"{instructions:,.0f}", f"{instructions / command:,.1f}",
                         "" if paper is None else f"{paper:,.2f}",
                         "" if paper is None else f"{paper / TABLE_III['a command']:,.0f}"))


def notes(costs):
    """What must be known to read the table."""
    interpreted = next(value for name, value in costs.items() if name.startswith("a decision,"))
    eventfd = costs["a decision by eventfd"]
    extra = costs["a fault, userfaultfd"] - costs["a fault, anonymous memory"]
    return f"""
Instructions of an emulated CPU: no caches, no TLB, and a switch between processes costs
what its instructions do; on a real one the crossings cost more. Of disks: nanoseconds.
1997: Table III; its null IPC stands beside the eventfd, its faster disk beside the ssd.
commands: how many commands of a policy could be interpreted meanwhile.
A decision: FIFO2's, of one fault in a sweep over {PAGES} pages with {FRAMES} frames; a command's
price is measured in the module with a Replace that has {MORE} more.
By futex, pipe, eventfd: another process decides; asked and answered through shared memory.
A fault, anonymous memory: the program evicts (MADV_DONTNEED) and touches, nobody is asked.
Userfaultfd: a thread reads the message, decides, evicts, UFFDIO_COPYs. It sees no referenced
bits, so its FIFO2 gives no second chance, and nothing else that the kernel knows.
Hipec's fault also reads the page, by direct I/O from a disk that takes no time.

Asking another process takes {eventfd / interpreted:.1f} times what interpreting the decision \
takes, and userfaultfd adds
{extra:,.0f} instructions to a fault, {extra / interpreted:.1f} times as much. Beside a read from \
the ssd that is {extra / DISKS['a read of 4 KB, ssd']:.0%} of the read
at a nanosecond an instruction (the paper: 31 % for a null IPC); interpretation is {
    interpreted / DISKS['a read of 4 KB, ssd']:.1%}."""


def bench(args):
    """What the Makefile calls."""
    costs = table(boot(args))
    print(f"{stock(args.out)}.\n")
    show(costs)
    print(notes(costs))
