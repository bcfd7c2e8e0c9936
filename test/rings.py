#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Run test rings and sum them up in one line: N passed, N failed, N skipped.

    rings.py RING...        fast, kunit, vm

A ring that cannot run counts as skipped and says why; a ring that cannot even
be built counts as failed. The exit status is 1 if anything failed. Later rings
run although an earlier one failed: one run shows all that is wrong.
"""

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


def pytest(ring, target, marks, *options):
    """Run the tests that carry @marks, once @target is built."""
    if not make(target):
        print(f"ring {ring}: FAIL: make {target} failed")
        return Count(failed=1)
    report = BUILD / f"ring-{ring}.xml"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-B", "-m", "pytest", "-c", "test/pytest.ini", "--rootdir=.",
               f"--junit-xml={report}", "-rs", "-m", marks, *options, "test"]
    status = subprocess.run(command, check=False).returncode
    if not report.exists():
        print(f"ring {ring}: FAIL: pytest ended with {status} and left no report")
        return Count(failed=1)
    suite = xml.etree.ElementTree.parse(report).find("testsuite")
    number = {key: int(suite.get(key)) for key in ("tests", "failures", "errors", "skipped")}
    failed = number["failures"] + number["errors"]
    if status and not failed:
        failed = 1      # interrupted, or no test was collected
    return Count(number["tests"] - failed - number["skipped"], failed, number["skipped"])


def fast():
    """Ring 1: user space; on all CPUs, if pytest can (packages.sh installs it)."""
    options = ["-n", "auto"] if importlib.util.find_spec("xdist") else []
    return pytest("fast", "fast-ready", "not guest and not kunit", *options)


def kunit():
    """Ring 2: KUnit, and ring 3's tests on a kernel that finds bugs."""
    return pytest("kunit", "kunit-ready", "kunit and not slow")


def vm():
    """Ring 3: stock kernels."""
    return pytest("vm", "guest-ready", "guest and not kunit")


RINGS = {"fast": fast, "kunit": kunit, "vm": vm}


def main():
    """Run the rings that were asked for, in that order."""
    unknown = [name for name in sys.argv[1:] if name not in RINGS]
    if unknown or len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    total = Count()
    for name in sys.argv[1:]:
        start = time.monotonic()
        count = RINGS[name]()
        print(f"ring {name}: {count} ({time.monotonic() - start:.0f} s)", flush=True)
        total += count
    print(total)
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
