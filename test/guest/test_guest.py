# SPDX-License-Identifier: GPL-2.0-only
"""The module on stock Debian kernels; and in ring debug, on the kernel that finds
bugs, what can find some there. One boot for each kernel runs nearly everything
(test/guest/run.sh), and one more each set of tests that wants other parameters
(part.sh); each test here looks at one part of what they brought back. What proves decisions is in
test_decisions.py, long random runs in test_random.py."""

import json
import re

import pytest

from one_boot import boot, is_at_night, lists_of_tests, names_of_tests, part_with, replay, result, \
    verdict_on
from conftest import KERNELS, KUNIT_KERNELS, ON_ALL, ON_DEBUG, valid
from stress import stress
from test_differ import check_sum

pytestmark = pytest.mark.guest

# For the debug kernel, of whose time they take two fifths: test_leaks.py looks for them.
NO_LEAKS = "kmemleak=off"


# What has a boot of its own, and its parameters of the module, which cannot change while it is
# loaded: members that look at several victims together; files in place, as the longest boot of
# stock kernels would else be twice as long; what the debug kernel runs at night.
PARTS = {
    "large": "pool_mb=4 backoff_ms=0 others_us=10000",
    "place": "pool_mb=2 backoff_ms=0 others_us=10000",
    "rest": "pool_mb=2 backoff_ms=0 others_us=10000",
}


def marks_on(kernel, part, is_late):
    """Those of what @kernel runs in ring vm or debug, or at night; each boot is a group."""
    own = kernel in KUNIT_KERNELS
    return [pytest.mark.night if kernel == KERNELS[1] or own and is_late else
            pytest.mark.debug if own else pytest.mark.guest, pytest.mark.boot(part)]


@pytest.fixture(scope="session")
def part_of(kernel, boots, tmp_path_factory):
    """A function: part, "" for the rest -> the boot of @kernel that ran it, a Result of run.py."""
    def run(part):
        if (kernel, part) not in boots:
            own = kernel in KUNIT_KERNELS
            script = f"sh /hipec/part.sh {part} {PARTS[part]}" if part else \
                f"sh /hipec/run.sh {'debug' if own else 'stock'}"
            out = f"guest-{part}" if part else "guest"
            names = names_of_tests(kernel)
            boots[kernel, part] = boot(
                kernel, tmp_path_factory.mktemp(f"{out}-{kernel}"),
                script + (" && sh /hipec/last.sh" if own else ""), out,
                lists_of_tests(names, lambda name: part_with(kernel, name)), NO_LEAKS)
        return boots[kernel, part]
    return run


@pytest.fixture(scope="session")
def guest(part_of):
    """One boot of @kernel that ran nearly everything."""
    return part_of("")


@pytest.mark.parametrize("kernel, part", [
    pytest.param(kernel, part, marks=marks_on(kernel, part, part))
    for kernel in [*KERNELS, *KUNIT_KERNELS] for part in ["", *PARTS]
    if part != ("place" if kernel in KUNIT_KERNELS else "rest")],
    indirect=["kernel"], scope="session")
def test_kernel_has_nothing_to_complain_about(part_of, part):
    """No oops, warning, lockdep report, hang; and the run came to its end. Behind tests that have
    attached files, nothing holds the module but that it stays."""
    guest = part_of(part)
    assert guest.verdict == "ok"
    assert guest.status == 0, guest.output


@pytest.mark.parametrize("kernel, name", [
    pytest.param(kernel, name, marks=marks_on(kernel, part_with(kernel, name),
                                              is_at_night(kernel, name)))
    for kernel in [*KERNELS, *KUNIT_KERNELS] for name in names_of_tests(kernel)],
    indirect=["kernel"], scope="session")
def test_module(part_of, kernel, name):
    """One test of test/guest/program/."""
    verdict_on(part_of(part_with(kernel, name)), "tests.txt", name)


def test_random_policies_do_the_same_in_the_kernel(guest):
    """2,000 of them, on random pages: the same text, byte for byte; test_random.py has
    more."""
    check_sum(result(guest, "differ.txt"), 2000)


@ON_ALL
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


@ON_ALL
def test_why_tells_of_a_page(guest):
    """The sweep in 64 frames keeps its first 63 pages, and its stack is their queue."""
    why = valid("status-page", json.loads(result(guest, "why.json")))
    assert (why["page"], why["file"], why["file_offset"]) == (3, "/data/outer", 12288)
    assert "resident" in why["state"] and "dirty" not in why["state"]
    assert why["queue"] == {"of": "policy", "name": "stack", "index": 0, "place": 3,
                            "pages": why["queue"]["pages"]}
    assert 3 < why["queue"]["pages"] <= 64
    text = result(guest, "why.txt")
    assert "page 3, byte 12288 of /data/outer\n  resident: " in text
    assert re.search(r"on queue stack, place 4 of \d+ from the head", text)
    assert text.endswith("none of its files has this page\n")


def test_what_lives_is_recorded(guest):
    """By the command, while it runs: what it did, replayed here."""
    code, lines = replay(guest.results / "records/live")
    assert code == 0 and ", mru of sweep: " in lines[0], lines
    assert int(lines[0].split(": ")[1].split()[0]) > 100


@ON_ALL
def test_debugfs_shows_counters_and_commands(guest):
    """debugfs has the counters and the commands of a live container."""
    assert re.search(r"^pages_in \d+$", result(guest, "debugfs-status.txt"), re.M)
    assert "findpa page, FaultedAddress" in result(guest, "policy.txt")


@ON_ALL
def test_nothing_is_left_behind(guest):
    """After kill -9 no frame is held; after rmmod nothing of ours exists."""
    assert result(guest, "frames.txt") == "0\n"
    assert result(guest, "left.txt") == ""
    gone = result(guest, "status-gone.txt")
    assert "/dev/hipec" in gone and gone.endswith("\n1\n")


@ON_ALL
def test_module_that_had_a_file_attached_is_idle_and_stays(guest):
    """All files that the tests attached are let go, and nothing but that holds the module."""
    lines = result(guest, "idle.txt").splitlines()
    assert lines[0] == "idle" and "hipec" in lines[1], lines


def test_no_write_is_lost_under_stress(guest):
    """Everything at once, for a few seconds; test_random.py has more."""
    assert stress.complaints(guest.results) == []


@ON_ALL
def test_unloads_beside_ends_that_workers_see_to(guest):
    """A hundred containers that another user was the last to close, and rmmod at once; three times."""
    assert result(guest, "ends.txt").count("unloaded") == 3


@ON_DEBUG
def test_unloads_while_programs_come_and_go(guest):
    """Again and again: it goes or it stays."""
    lines = result(guest, "busy.txt").split()
    assert lines.count("unloaded") >= 10 and lines.count("in") >= 10, lines
