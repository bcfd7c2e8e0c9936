#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Measure the interpreter beside C and Lua and print one table, then the goals.

    table.py [--program FILE] [--policies DIR]

Nanoseconds are the least of many repetitions of bench-vm --time, with the
contestants in turn. Instructions are callgrind's, of the same events: exact,
and the same in each run of the same program. Ratios are of nanoseconds.
"""

import argparse
import dataclasses
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CONTESTANTS = ("hipec", "C", "Lua")


@dataclasses.dataclass
class Cell:
    """One contestant's part of a row: sums over all events that were measured."""
    events: int
    commands: int
    ns: int = 0
    instructions: int = 0

    def per_event(self, what):
        """Nanoseconds or instructions of one event."""
        return getattr(self, what) / self.events

    def per_command(self, what):
        """Nanoseconds or instructions of one command."""
        return getattr(self, what) / self.commands


def lines_of(command):
    """Run bench-vm; its lines, as (row, contestant, events, commands, ns or "")."""
    run = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True,
                         check=False)
    if run.returncode:
        sys.exit(f"table.py: {command[0]} ended with {run.returncode}")
    return [line.split("\t") for line in run.stdout.splitlines()]


def measure(bench):
    """All rows: name -> contestant -> Cell."""
    rows = {}
    for name, contestant, events, commands, ns in lines_of([*bench, "--time"]):
        rows.setdefault(name, {})[contestant] = Cell(int(events), int(commands), int(ns))
    return rows


def count(bench, rows):
    """Add callgrind's instructions to the rows."""
    with tempfile.TemporaryDirectory() as tmp:
        out = pathlib.Path(tmp) / "callgrind"
        lines = lines_of(["valgrind", "-q", "--tool=callgrind", "--collect-atstart=no",
                          "--toggle-collect=bench_measured", "--dump-before=bench_row_done",
                          f"--callgrind-out-file={out}", *bench, "--count"])
        for number, (name, contestant, events, commands, _) in enumerate(lines, 1):
            cell = rows[name][contestant]
            if (cell.events, cell.commands) != (int(events), int(commands)):
                sys.exit(f"table.py: {name}: --time and --count ran different events")
            total = re.search(r"^totals: (\d+)$", out.with_suffix(f".{number}").read_text(),
                              re.MULTILINE)
            cell.instructions = int(total[1])


def ratio(row, over, under):
    """How many times one contestant's time is of another's; None without either."""
    if over not in row or under not in row:
        return None
    return row[over].per_event("ns") / row[under].per_event("ns")


def text(value, places):
    """A number, or nothing where there is none."""
    return "" if value is None else f"{value:,.{places}f}"


def print_table(rows):
    """A line for each row."""
    widths = [18, 9, 8, 8, 9, 9, 9, 9, 9, 9, 8, 9]
    heads = [("", "commands", "ns per", "instr.", "ns per", "", "", "instr.", "", "", "", ""),
             ("program", "per event", "command", "per cmd", "event:", "", "", "per ev.:", "", "",
              "", ""),
             ("", "", "", "", *CONTESTANTS, *CONTESTANTS, "hipec/C", "Lua/hipec")]
    body = []
    for name, row in rows.items():
        cell = row["hipec"]
        body.append((name, text(cell.commands / cell.events, 1),
                     text(cell.per_command("ns"), 2), text(cell.per_command("instructions"), 2),
                     *(text(row[c].per_event(what) if c in row else None, 1)
                       for what in ("ns", "instructions") for c in CONTESTANTS),
                     text(ratio(row, "hipec", "C"), 1), text(ratio(row, "Lua", "hipec"), 1)))
    for line in [*heads, *body]:
        print(" ".join(f"{word:<{width}}" if not at else f"{word:>{width}}"
                       for at, (word, width) in enumerate(zip(line, widths))).rstrip())


def goal(wanted, worst, where, met):
    """One line for a goal."""
    print(f"{'met    ' if met else 'NOT met'}  {wanted}: {worst}{where and f' ({where})'}")


def print_goals(rows):
    """What the project wants, and whether it is so."""
    for what, unit, most in (("ns", "ns", 2), ("instructions", "instructions", 10)):
        for name in ("arithmetic", "tests and jumps"):
            value = rows[name]["hipec"].per_command(what)
            goal(f"at most {most} {unit} per command", f"{value:.2f}", name, value <= most)
    policies = {name: row for name, row in rows.items()
                if "C" in row and not name.startswith("empty")}
    name = max(policies, key=lambda n: ratio(rows[n], "hipec", "C"))
    value = ratio(rows[name], "hipec", "C")
    goal("at most 5 times C on whole events", f"at most {value:.2f}", name, value <= 5)
    name = min(policies, key=lambda n: ratio(rows[n], "Lua", "hipec"))
    value = ratio(rows[name], "Lua", "hipec")
    goal("at least 3 times faster than Lua on whole events", f"at least {value:.2f}", name,
         value >= 3)
    value = rows["empty PageFault"]["hipec"].per_event("ns")
    goal("at most 20 ns to enter and leave an event", f"{value:.1f}", "", value <= 20)


def cpu():
    """The name of what measured."""
    found = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(),
                      re.MULTILINE)
    return found[1] if found else "CPU not known"


def main():
    """Check, measure, count, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", default="build/bench/cost/vm/bench-vm")
    parser.add_argument("--policies", default="build/policies")
    args = parser.parse_args()
    bench = [args.program, "--policies", args.policies, "--lua", HERE / "policies.lua"]
    lines_of([*bench, "--check"])
    rows = measure(bench)
    count(bench, rows)
    print(f"{cpu()}; all contestants gave up the same pages\n")
    print_table(rows)
    print()
    print_goals(rows)


if __name__ == "__main__":
    main()
