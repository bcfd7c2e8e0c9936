# SPDX-License-Identifier: GPL-2.0-only
"""Files in place seen through what stands between a program and a file: a disk in a file, cgroups
in cgroups, a service that runs already, overlays, a user's own cgroup; and programs that have no
library of ours, or none at all. test/guest/around/around.sh does it, in one boot of each stock
kernel."""

import json
import re
import shutil
import subprocess

import pytest

from conftest import BUILD, CORE_KERNELS, ROOT, guest_tree, limit, modules, need, vm

pytestmark = pytest.mark.core

PAGES = 2048        # of the file that is read most
JSON_PAGES = 852    # of the file that a Go program reads once, in read()s of up to 2 MB
BUDGET = 512
NESTED = 1536       # of the step nested, twice the limit of the cgroup above
STEPS = ["loop", "loop-detach", "loop-in-cgroup", "loop-in-cgroup-detach", "nested", "nested-detach", "service",
         "service-detach", "overlay", "overlay-detach", "copy-up",
         "bound", "bound-detach", "delegated", "setuid", "threads", "go", "sqlite-plain",
         "sqlite-attached", "sqlite-detach", "sqlite-same", "promised-run", "promised-attach",
         "promised-detach", "idle"]
AROUND = ROOT / "test/guest/around"


@pytest.fixture(scope="session", params=CORE_KERNELS)
def around(request, tmp_path_factory):
    """One boot: a Result of run.py."""
    kernel = request.param
    need(kernel)
    tmp = tmp_path_factory.mktemp(f"around-{kernel}")
    tree = guest_tree(tmp)
    for name in ("around.sh", "database.sql"):
        shutil.copy(AROUND / name, tree / "hipec")
    (tree / "bin").mkdir()      # the tracer, beside the command
    shutil.copy(BUILD / "libhipectrace.so", tree / "bin")
    (tmp / "data").mkdir()
    subprocess.run([ROOT / "vm-images/mkdisk.sh", tmp / "data", tmp / "disk", "192M"], check=True)
    subprocess.run(["gcc", "-O1", "-pthread", "-static", "-o", tmp / "threads",
                    AROUND / "threads.c"], check=True)
    command = [ROOT / "vm-images/initramfs.sh", "--kernel", kernel, "--out", tmp / "guest.img",
               "--tree", tree, "--stock", "overlay", "--module", modules(kernel)[0]]
    for program in (BUILD / "static/hipec", tmp / "threads", "/usr/bin/cat:gnucat",
                    *(shutil.which(name, path="/usr/bin:/bin") for name in
                      ("gron", "sqlite3"))):
        command += ["--bin", program]
    subprocess.run(command, check=True)
    return vm.boot(kernel, tmp / "guest.img", BUILD / f"around-{kernel}",
                   ["sh", "/hipec/around.sh"], disk=tmp / "disk", timeout=limit(kernel))


def counted(around, name):
    """What the container of a step had counted."""
    got = json.loads((around.results / "counts" / name).read_text())
    return got[0] if isinstance(got, list) else got     # of hipec status; of hipec run


def test_all_steps_worked(around):
    assert (around.verdict, around.status) == ("ok", 0), around.output
    lines = (around.results / "around").read_text().splitlines()
    said = around.results / "said"
    assert lines == [f"{step} 0" for step in STEPS], \
        said.read_text() if said.exists() else around.output


@pytest.mark.parametrize("name", ["loop", "nested", "service", "overlay", "bound", "delegated", "setuid",
                                  "threads", "go", "sqlite"])
def test_the_policy_decided(around, name):
    """All that was looked at is larger than its budget."""
    container = counted(around, name)
    assert container.get("exit") in (0, {"kind": 0, "text": "the policy runs"}), container
    assert container["counters"]["evictions"] >= (JSON_PAGES - BUDGET if name == "go" else 1000)
    assert container.get("files", container.get("regions")) >= 1
    # A window of read-ahead may be there on top. While a file is written, the kernel reclaims its
    # pages: then entries are there that have none.
    most = NESTED if name == "nested" else BUDGET + BUDGET // 4
    assert container.get("resident", 0) <= most


def test_large_reads_read_a_page_once(around):
    """What one read() wants is more than the policy may have ahead of its use."""
    assert counted(around, "go")["counters"]["read_pages"] == JSON_PAGES


@pytest.mark.parametrize("name", ["overlay", "bound"])
def test_a_file_by_another_path_is_the_same(around, name):
    """It is swept six times, by both of its paths: no more than the budget is found again."""
    read = counted(around, name)["counters"]["read_pages"]
    assert 6 * (PAGES - BUDGET) <= read <= 6 * PAGES


def test_a_service_that_runs_is_heard(around):
    """By the descriptor that it had: three quarters of the file were read after that. What was in
    the cache before goes first, as nobody is known to have touched it; of a page that goes while it
    is read, nothing is heard."""
    counters = counted(around, "service")["counters"]
    assert counters["open_before"] == 1
    assert PAGES // 2 <= counters["pages_in"] <= PAGES * 3 // 4


def test_the_database_said_something(around):
    """In both runs the same: 2 x 3,900 rows and their statements."""
    assert int((around.results / "sqlite-lines").read_text()) > 7000


def mebibytes(text, pattern):
    found = re.search(pattern, text)
    assert found, text
    return [float(number) for number in found.groups()]


def test_what_try_says_to_run_runs_and_reads_what_was_expected(around):
    """Of 6.6 MiB that are read four times: the line that it printed, typed as it stands. The kernel
    reads up to 128 pages ahead of each pass, for which others went."""
    tried, ran = (around.results / f"run.{name}" for name in ("try", "run"))
    tried, ran = tried.read_text(), ran.read_text()
    promised, = mebibytes(tried, r"\nnext: hipec run --policy mru --budget \S+ --expect ([\d.]+)M -- gnucat big big big big\n")
    expected, read = mebibytes(ran, r"hipec run: expected: ([\d.]+) MiB, read: ([\d.]+) MiB \(")
    assert expected == promised and 0.98 < read / promised < 1.2, (tried, ran)
    assert "hipec run: mru, " in ran and "ended" not in ran


def test_what_try_says_to_attach_reads_what_it_said(around):
    """300 files of three pages, four times."""
    tried = (around.results / "attach.try").read_text()
    promised, = mebibytes(tried, r"worth it: with \S+ MiB, \S+ reads ([\d.]+) MiB instead of 14.1 MiB")
    read = counted(around, "promised")["counters"]["read_pages"] / 256
    assert "\nnext: hipec attach --policy " in tried and "/data/small " in tried
    assert abs(read / promised - 1) < 0.1, (tried, read)
