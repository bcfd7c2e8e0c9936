# SPDX-License-Identifier: GPL-2.0-only
"""Ring 3: the module on stock Debian kernels; and in ring 2, on the kernel that
finds bugs. One boot for each kernel runs everything (test/guest/run.sh); each
test here looks at one part of what it brought back."""

import json
import re
import subprocess

import pytest

import ktap
from conftest import BUILD, KUNIT_KERNELS, ROOT, TEST_SECONDS, guest_image, guest_tree, vm
from hostile.hostile import complaints
from test_differ import check_sum
from test_kunit import check_case, check_whole, kunit_cases

pytestmark = pytest.mark.guest

# Cyclic sweeps whose faults are known by arithmetic: N pages, P passes, F
# frames, clusters of C.
SWEEPS = [(policy, program, n, p, f, c)
          for policy in ("mru", "fifo", "fifo2")
          for program in ("sweep", "join")
          for n, p, f, c in [(400, 4, 300, 1), (400, 4, 100, 1), (400, 3, 400, 1),
                             (400, 3, 399, 1), (400, 4, 320, 16), (400, 4, 300, 32),
                             (400, 4, 100, 8)]]

# module/batch.c: clusters of a run of misses after which two are on the move.
LONG_RUN = 32


def pages_in(policy, n, p, f, c):
    """(least, most) pages that @p sweeps over @n pages bring in.

    MRU by order of faults: the first pass brings all, each later one what the
    first F-C pages of the stack do not hold; with clusters, one cluster's frames
    are always on the move, and up to two of them in a long run of misses.
    Recency policies hit nothing unless all fits.
    """
    if f >= n:
        return n, n
    if policy != "mru":
        return p * n, p * n
    moving = 2 * c if c > 1 and n > LONG_RUN * c else c
    return n + (p - 1) * (n - f + c), n + (p - 1) * (n - f + moving)


# One of each kind will do for a kernel on which they take ten times as long.
QUICK_SWEEPS = [number for number, (policy, program, n, p, f, c) in enumerate(SWEEPS)
                if (policy, program) in (("mru", "sweep"), ("fifo2", "join"))
                and (f, c) in ((300, 1), (320, 16), (100, 8))]


def sweeps_script(numbers):
    """Lines of shell that run some of SWEEPS."""
    script = "cd /data\n"
    for number in numbers:
        policy, program, _, p, f, c = SWEEPS[number]
        script += (f"echo number={number} $({program} --policy /hipec/policies/{policy}.hpo "
                   f"--frames {f} --cluster {c} --passes {p} --disk vda "
                   f"{'inner ' if program == 'join' else ''}outer && echo status=0)\n")
    return script


@pytest.fixture(scope="session")
def guest(kernel, boots, tmp_path_factory):
    """One boot of @kernel that ran everything: a Result of run.py."""
    if kernel in boots:
        return boots[kernel]
    tmp = tmp_path_factory.mktemp(f"guest-{kernel}")
    tree = guest_tree(tmp)
    data = tmp / "data"
    data.mkdir()
    for name, pages in (("inner", 1), ("outer", 400)):
        subprocess.run([BUILD / "bench/mkdata", data / name, str(pages)], check=True)
    image = tmp / "data.img"
    subprocess.run([ROOT / "vm-images/mkdisk.sh", data, image, "64M"], check=True)
    ours = kernel in KUNIT_KERNELS
    (tree / "hipec/counts.sh").write_text(
        sweeps_script(QUICK_SWEEPS if ours else range(len(SWEEPS))))
    boots[kernel] = vm.boot(
        kernel, guest_image(tmp, kernel, tree), BUILD / f"guest-{kernel}",
        ["env", f"HIPEC_SLOWER={vm.fact(kernel, 'slower', '1')}", "sh", "-c",
         "sh /hipec/kunit.sh && sh /hipec/run.sh && sh /hipec/last.sh" if ours else
         "sh /hipec/run.sh"],
        disk=image, timeout=TEST_SECONDS if ours else 900)
    return boots[kernel]


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


def names_of_tests():
    """The guest program's own list, asked on the host; empty until it is built,
    when only `make check-fast` collects these files."""
    program = BUILD / "guest/hipec-guest-test"
    if not program.exists():
        return []
    return subprocess.run([program, "--list"], text=True, check=True,
                          capture_output=True).stdout.split()


def test_kernel_has_nothing_to_complain_about(guest):
    """No oops, warning, lockdep report, hang; and the run came to its end."""
    assert guest.verdict == "ok"
    assert guest.status == 0, guest.output


@pytest.mark.parametrize("name", names_of_tests())
def test_module(guest, name):
    """One test of test/guest/."""
    verdict_on(guest, "tests.txt", name)


@pytest.mark.parametrize("name", sorted(p.stem for p in (ROOT / "test/vm").glob("*.hpt")))
def test_vm_file(guest, name):
    """The VM core gives the same answers in the kernel."""
    verdict_on(guest, "hpt.txt", name)


def test_random_policies_do_the_same_in_the_kernel(guest, kernel):
    """Thousands of them, on random pages: the same text, byte for byte."""
    check_sum(result(guest, "differ.txt"), 6000 // int(vm.fact(kernel, "slower", "1")))


@pytest.mark.parametrize("number", [
    pytest.param(number, id="-".join(map(str, sweep)),
                 marks=[] if number in QUICK_SWEEPS else pytest.mark.slow)
    for number, sweep in enumerate(SWEEPS)])
def test_faults_equal_arithmetic(guest, number):
    """Faults, pages and block reads of a sweep, exactly."""
    policy, _, n, p, f, c = SWEEPS[number]
    line = [line for line in result(guest, "counts.txt").split("\n")
            if line.startswith(f"number={number} ")][0]
    assert line.endswith(" status=0"), line
    got = dict(word.split("=", 1) for word in line.split())
    least, most = pages_in(policy, n, p, f, c)
    want = int(got["pages_in"])
    assert least <= want <= most
    assert int(got["read_pages"]) == want
    assert int(got["evictions"]) == max(0, want - f)
    assert int(got["helped"]) == int(got["refused"]) == int(got["exit"]) == 0
    assert int(got["soft_faults"]) == 0
    if c == 1:
        assert int(got["faults"]) == want
        assert int(got["read_ios"]) == want
    # The disk agrees, but for the join's inner page and file-system metadata.
    assert want <= int(got["disk_pages"]) <= want + 8


def test_status_shows_the_container(guest):
    """`hipec status` in both forms."""
    text = result(guest, "status.txt")
    assert re.search(r"\bmru\b", text) and "sweep" in text
    containers = json.loads(result(guest, "status.json"))
    containers = containers.get("containers", containers) \
        if isinstance(containers, dict) else containers
    assert len(containers) == 1
    assert containers[0]["policy"] == "mru"
    assert containers[0]["frames"] == 64


def test_debugfs_shows_counters_and_commands(guest):
    """debugfs has the counters and the commands of a live container."""
    assert re.search(r"^pages_in \d+$", result(guest, "debugfs-status.txt"), re.M)
    assert "findpa page, FaultedAddress" in result(guest, "policy.txt")


def test_nothing_is_left_behind(guest):
    """After kill -9 no frame is held; after rmmod nothing of ours exists."""
    assert result(guest, "frames.txt") == "0\n"
    assert result(guest, "left.txt") == ""
    gone = result(guest, "status-gone.txt")
    assert "/dev/hipec" in gone and gone.endswith("\n1\n")


def test_hostile_clients_do_no_harm(guest):
    """For a short while; `make hostile` is longer. Rare operations may not have
    had their luck yet."""
    assert complaints(guest.results, least=0.5) == []


# Ring 2 alone.

ON_DEBUG = pytest.mark.parametrize("kernel", ["debug"], indirect=True)


@pytest.mark.kunit
@ON_DEBUG
@pytest.mark.parametrize("case", kunit_cases(), ids=str)
def test_kunit(guest, case):
    """One case of the KUnit suites, with page tables and two CPUs."""
    check_case(ktap.read(guest.console), case)


@pytest.mark.kunit
@ON_DEBUG
def test_nothing_else_failed_in_the_log(guest):
    """No KTAP document is torn, and none tells of a case that no source has."""
    check_whole(ktap.read(guest.console), kunit_cases())


@pytest.mark.kunit
@ON_DEBUG
def test_no_memory_is_lost(guest):
    """When the modules are gone, all that they had allocated is free."""
    assert result(guest, "kmemleak.txt") == ""
