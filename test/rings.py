#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Run test rings and sum them up in one line: N passed, N failed, N skipped.

    rings.py RING...        fast, more, core, user, browser, sweep, vm, kunit, debug, night

A ring that cannot run counts as skipped and says why; a ring that cannot even
be built counts as failed. The exit status is 1 if anything failed. Later rings
run although an earlier one failed: one run shows all that is wrong.

Rings of user space have all CPUs, and their say first. The others wait for emulated
CPUs most of their time and run side by side, guests of one ring too; what each ring
printed comes when it has ended. Behind each: seconds, and those of all CPUs that it used.
"""

import concurrent.futures
import dataclasses
import importlib.util
import os
import pathlib
import subprocess
import sys
import time
import xml.etree.ElementTree

BUILD = pathlib.Path("build")


@dataclasses.dataclass
class Count:
    """Tests by how they ended."""
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other):
        return Count(self.passed + other.passed, self.failed + other.failed,
                     self.skipped + other.skipped)

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def make(target):
    """Build what a ring needs; whether that worked."""
    jobs = f"-j{os.cpu_count()}"
    return subprocess.run(["make", "--no-print-directory", "-s", jobs, target],
                          check=False).returncode == 0


@dataclasses.dataclass
class Ring:
    """Some of the tests."""
    target: str         # of make: what they need
    marks: str          # that they carry
    alone: bool = False     # nothing else runs meanwhile
    guests: int = 1         # that run side by side


# Marks of tests, and the ring that runs those with each: a test with several is in the ring of the
# last of these, and one without is in ring fast. test/docs/test_rings.py.
MARKS = {"more": "more", "user": "user", "core": "core", "browser": "browser", "sweep": "sweep",
         "guest": "vm", "kunit": "kunit", "debug": "debug", "night": "night"}


def marked(mark=None):
    """The expression for pytest's -m."""
    marks = list(MARKS)
    later = marks[marks.index(mark) + 1:] if mark else marks
    return " and ".join(([mark] if mark else []) + [f"not {other}" for other in later])


RINGS = {
    "fast": Ring("fast-ready", marked(), alone=True),
    "more": Ring("fast-ready", marked("more"), alone=True),
    "core": Ring("core-ready", marked("core"), guests=3),
    "user": Ring("fast-ready", marked("user"), alone=True),
    "browser": Ring("browser-ready", marked("browser")),
    "sweep": Ring("fast-ready", marked("sweep")),
    "vm": Ring("vm-ready", marked("guest"), guests=3),
    "kunit": Ring("kunit-ready", marked("kunit")),
    "debug": Ring("debug-ready", marked("debug")),
    "night": Ring("night-ready", marked("night"), guests=3),
}


def side_by_side(ring):
    """Options of pytest, if it can (packages.sh installs what it needs)."""
    if not importlib.util.find_spec("xdist"):
        return []
    if ring.alone:
        return ["-n", "auto"]
    # Tests of one boot stay together: conftest.py.
    return ["-n", str(ring.guests), "--dist", "loadgroup"] if ring.guests > 1 else []


def pytest(name, stream):
    """Run a ring that is built; print to @stream. Return: its Count, CPU seconds."""
    ring = RINGS[name]
    report = BUILD / f"ring-{name}.xml"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-B", "-m", "pytest", "-c", "test/pytest.ini", "--rootdir=.",
               f"--junit-xml={report}", "-rs", "-m", ring.marks, "test", *side_by_side(ring)]
    with subprocess.Popen(command, stdout=stream, stderr=stream) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status = os.waitstatus_to_exitcode(status)
    used = usage.ru_utime + usage.ru_stime
    if not report.exists():
        print(f"ring {name}: FAIL: pytest ended with {status} and left no report")
        return Count(failed=1), used
    suite = xml.etree.ElementTree.parse(report).find("testsuite")
    number = {key: int(suite.get(key)) for key in ("tests", "failures", "errors", "skipped")}
    failed = number["failures"] + number["errors"]
    passed = number["tests"] - failed - number["skipped"]
    if status and not failed:
        failed = 1      # interrupted, or no test was collected
    return Count(passed, failed, number["skipped"]), used


def run(name):
    """Run a ring; say how it ended. Return: its Count."""
    start = time.monotonic()
    if RINGS[name].alone:
        count, used = pytest(name, None)
        text = ""
    else:
        log = BUILD / f"ring-{name}.log"
        with open(log, "wb") as stream:
            count, used = pytest(name, stream)
        text = log.read_text(errors="replace")
    print(f"{text}ring {name}: {count} ({time.monotonic() - start:.0f} s, CPU {used:.0f} s)",
          flush=True)
    return count


def run_all(names):
    """Run rings, those that may be side by side last. Return: the sum."""
    total = Count()
    ready = []
    for name in names:
        if not make(RINGS[name].target):
            print(f"ring {name}: FAIL: make {RINGS[name].target} failed")
            total += Count(failed=1)
        elif RINGS[name].alone:
            total += run(name)
        else:
            ready.append(name)
    if ready:
        print(f"now, side by side: {', '.join(ready)}; build/ring-*.log", flush=True)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return sum(pool.map(run, ready), total)


def main():
    """Run the rings that were asked for."""
    os.environ.setdefault("WERROR", "1")    # what they and their tests build has no warnings
    unknown = [name for name in sys.argv[1:] if name not in RINGS]
    if unknown or len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    total = run_all(sys.argv[1:])
    print(total)
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
