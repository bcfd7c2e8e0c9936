# SPDX-License-Identifier: GPL-2.0-only
"""What test_guest.py and other tests share that want one boot for many of them: the guest's disk,
its tests, its results."""

import re
import subprocess

import pytest

from conftest import BUILD, KUNIT_KERNELS, ROOT, guest_image, guest_tree, limit, vm
from on_debug import COUNTS, NETWORK, RING, SLOW

# Pages of an index that programs look up.
INDEX = 100


def boot(kernel, tmp, script, out, files, append="", devices=()):
    """One boot of @kernel that runs @script: a Result of run.py. @files: {name: text, or a function
    that makes the path that it is given}, for /hipec. @append: words for the kernel. @devices:
    arguments for QEMU."""
    tree = guest_tree(tmp)
    data = tmp / "data"
    data.mkdir()
    for name, pages in (("inner", 1), ("outer", 400)):
        subprocess.run([BUILD / "bench/lib/mkdata", data / name, str(pages)], check=True)
    subprocess.run([BUILD / "bench/lib/mkindex", data / "index", str(INDEX)], check=True)
    image = tmp / "data.img"
    subprocess.run([ROOT / "vm-images/mkdisk.sh", data, image, "64M"], check=True)
    for name, content in files.items():
        if callable(content):
            content(tree / "hipec" / name)
        else:
            (tree / "hipec" / name).write_text(content)
    return vm.boot(kernel, guest_image(tmp, kernel, tree), BUILD / f"{out}-{kernel}",
                   ["env", f"HIPEC_SLOWER={vm.fact(kernel, 'slower', '1')}", "sh", "-c", script],
                   disk=image, timeout=limit(kernel), append=append, devices=devices)


def result(guest, name):
    """The text of a result file."""
    path = guest.results / name
    assert path.exists(), f"no {name}: {guest.verdict}"
    return path.read_text()


def verdict_on(guest, part, name):
    """Assert that line `ok NAME` is in @part; show its comments if not."""
    lines = result(guest, part).split("\n")
    for number, line in enumerate(lines):
        if re.match(rf"(not )?ok {re.escape(name)}(:|$| )", line):
            assert line.startswith("ok"), "\n".join(lines[max(0, number - 5):number + 1])
            return
    pytest.fail(f"{part} does not tell of {name}: {lines[-3:]}")


def names_of_tests(kernel, which="--list"):
    """The guest program's own list, asked on the host, as far as @kernel runs it: on_debug.py.
    Empty until it is built, when only `make check-fast` collects these files."""
    program = BUILD / "guest/hipec-guest-test"
    if not program.exists():
        return []
    names = subprocess.run([program, which], text=True, check=True,
                           capture_output=True).stdout.split()
    if kernel not in KUNIT_KERNELS:
        return names
    return [name for name in names if name not in COUNTS | NETWORK | SLOW and
            not name.startswith("many_")]


def is_at_night(kernel, name):
    """Whether @kernel runs a test at night only."""
    return kernel in KUNIT_KERNELS and name not in RING


def part_with(kernel, name):
    """The boot of @kernel that runs a test: "", or a part of test_guest.py."""
    prefix = name.partition("_")[0]
    if prefix == "large":
        return prefix
    if kernel in KUNIT_KERNELS:
        return "rest" if is_at_night(kernel, name) else ""
    return "place" if prefix in ("cache", "league", "curve") else ""


def lists_of_tests(names, part=lambda name: part_with(None, name)):
    """Files for boot(): /hipec/tests, /hipec/many, whose tests want another disk, and one for each
    other @part."""
    lists = {"tests": [], "many": []}
    for name in names:
        where = "many" if name.startswith("many_") else part(name) or "tests"
        lists.setdefault(where, []).append(name)
    return {"disk.sh": (ROOT / "bench/lib/disk.sh").read_text(),
            **{where: "\n".join(tests) for where, tests in lists.items()}}


def replay(record):
    """(exit code, lines) of `hipec record --check`."""
    done = subprocess.run([BUILD / "hipec", "record", "--check", record], capture_output=True, text=True,
                          check=False)
    return done.returncode, (done.stdout + done.stderr).splitlines()
