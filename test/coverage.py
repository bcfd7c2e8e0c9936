#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Which lines and branches of module/ and compiler/ the tests run, by gcov.

    coverage.py     a table for user space, one for the compiler, and one for
                    the debug kernel

User space: the .hpt files and the portable KUnit suites, run here and now.
Compiler: its tests of ring 1, run here and now with an ampc that counts.
Kernel: what the last kunit and check-debug have brought back.
"""

import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"


class File:
    """Counts of one source file."""

    def __init__(self):
        self.lines = collections.Counter()      # number -> times run
        self.branches = {}                      # number -> times each was taken

    def add(self, line):
        """One line of one function, as gcov's JSON has it."""
        number = line["line_number"]
        self.lines[number] += line["count"]
        taken = [branch["count"] for branch in line["branches"]]
        known = self.branches.setdefault(number, [0] * len(taken))
        if len(known) == len(taken):
            self.branches[number] = [a + b for a, b in zip(known, taken)]
        else:   # another function that was inlined here
            known += taken

    def hit(self):
        """(lines run, lines, branches taken, branches)."""
        branches = [count for counts in self.branches.values() for count in counts]
        return (sum(1 for count in self.lines.values() if count), len(self.lines),
                sum(1 for count in branches if count), len(branches))

    def missed(self):
        """Numbers of lines that never ran, as text: 3, 7-9."""
        numbers = sorted(number for number, count in self.lines.items() if not count)
        ranges = []
        for number in numbers:
            if ranges and ranges[-1][1] == number - 1:
                ranges[-1][1] = number
            else:
                ranges.append([number, number])
        return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges)


def in_tree(path):
    """The part of @path from module/ or compiler/ on; builds have it under other names."""
    parts = path.parts
    for number, part in enumerate(parts):
        if part in ("module", "compiler"):
            return "/".join(parts[number:])
        if part.startswith("kunit-"):
            return "/".join(("module", *parts[number + 1:]))
    return ""


def read(directory, files=None):
    """{source: File} of all objects that have counts below @directory, added to @files;
    nothing if they were built anew since."""
    objects = [path.with_suffix(".gcno") for path in sorted(directory.rglob("*.gcda"))]
    files = collections.defaultdict(File) if files is None else files
    if not objects:
        return files
    run = subprocess.run(["gcov", "-b", "--json-format", "--stdout", *objects], check=False,
                         capture_output=True, text=True, cwd=directory)
    if run.returncode or "mismatch" in run.stderr:
        return files
    for document in map(json.loads, run.stdout.splitlines()):
        for file in document["files"]:
            name = in_tree(pathlib.Path(document["current_working_directory"], file["file"]))
            if not name or name.startswith("module/tests/"):
                continue
            for line in file["lines"]:
                files[name].add(line)
    return files


def user_space():
    """Run what runs in user space, with counters in the VM core."""
    for old in (BUILD / "cov").rglob("*.gcda"):
        old.unlink()
    for command in ([BUILD / "cov/hpt", *sorted((ROOT / "test/vm/cases").glob("*.hpt"))],
                    [BUILD / "cov/kunit"]):
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    return read(BUILD / "cov")


def compiler():
    """Run the compiler's tests with counters in it."""
    for old in (BUILD / "cov").rglob("*.gcda"):
        old.unlink()
    tests = sorted((ROOT / "test").rglob("test_compiler*.py"))
    done = subprocess.run([sys.executable, "-B", "-m", "pytest", "-c", "test/pytest.ini", "--rootdir=.",
                           *tests], check=False, cwd=ROOT, stdout=subprocess.DEVNULL,
                          env={**os.environ, "AMPC": str(BUILD / "cov/ampc")})
    if done.returncode:
        print("coverage: a test of the compiler fails")
    # What flex and bison wrote is theirs.
    return {name: file for name, file in read(BUILD / "cov" / "compiler").items()
            if name.startswith("compiler/") and (ROOT / name).exists()}


def kernel(key):
    """What its guests brought back, together; empty if there was none."""
    built, files = BUILD / f"kunit-{key}", collections.defaultdict(File)
    for guest in ("suites", "guest", "random"):
        with tempfile.TemporaryDirectory(prefix="hipec-gcov-") as name:
            here = pathlib.Path(name)
            for counts in (BUILD / f"{guest}-{key}/results/gcov").rglob("*.gcda"):
                place = pathlib.Path(str(counts).partition(f"/kunit-{key}/")[2])
                notes = built / place.with_suffix(".gcno")
                if notes.exists():
                    (here / place).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(counts, here / place)
                    shutil.copy(notes, here / place.with_suffix(".gcno"))
            read(here, files)
    return files


def total(files):
    """Sums of File.hit()."""
    return tuple(map(sum, zip(*(file.hit() for file in files.values()))))


def percent(part, whole):
    """As text."""
    return f"{100 * part / whole:5.1f} %" if whole else "      -"


def table(title, files):
    """Print one."""
    print(f"{title:32} {'lines':>14} {'branches':>16}  never run")
    rows = [(name, file.hit(), file.missed()) for name, file in sorted(files.items())]
    for name, (lines, of_lines, taken, of_taken), missed in rows + [("all", total(files), "")]:
        if len(missed) > 60:
            missed = missed[:57] + "..."
        print(f"{name:32} {lines:>5} {percent(lines, of_lines)} {taken:>7} "
              f"{percent(taken, of_taken)}  {missed}")
    print()


def main():
    """What make coverage calls."""
    table("user space", user_space())
    table("compiler", compiler())
    files = kernel("debug")
    if files:
        table("kernel debug", files)
    else:
        print("kernel debug: no counts of what is built; make kunit check-debug brings them\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
