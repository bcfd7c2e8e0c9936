# SPDX-License-Identifier: GPL-2.0-only
"""hipec sim --post-cache and hipec trace play: the list against models, what is read and written of
files and loop devices, what is refused; docs/user/traces.md. No time is asserted."""

import contextlib
import json
import math
import os
import random
import re
import shutil
import struct
import subprocess

import pytest

from conftest import BUILD, ROOT, chapter
from trace_models import read_text, write_text, plain

HIPEC = BUILD / "asan" / "hipec"
ENV = {**os.environ, "HIPEC_POLICY_PATH": str(BUILD / "policies")}
T95 = [0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]
pytestmark = [pytest.mark.more, pytest.mark.usefixtures("quick_start")]


@pytest.fixture(scope="module", autouse=True)
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/hipec", "build/policies/mru.hpo",
                    "build/policies/fifo2.hpo"], check=True)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, value in ENV.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def hipec(*args, data=None):
    return subprocess.run([HIPEC, *map(str, args)], input=data, capture_output=True, text=True,
                          check=False)


def post(trace, policy, frames, *options):
    """([(page, written)] of the disk, what --json says)"""
    done = hipec("sim", "-", "-p", policy, "-f", frames, "--post-cache", "post", "--json", *options,
                 data=write_text(plain(trace)))
    assert done.returncode == 0, done.stderr
    with open("post", encoding="ascii") as file:
        accesses, _ = read_text(file.read())
    return [(page, write) for page, write, _, _ in accesses], json.loads(done.stdout)[0]


def play(*args):
    """--json of what is done."""
    done = hipec("trace", "play", "--json", *args)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refused(*args):
    done = hipec("trace", "play", *args)
    assert (done.returncode, done.stdout) == (1, "")
    return done.stderr


def a_trace(seed):
    rng = random.Random(seed)
    return [(rng.randrange(40) if rng.random() < .5 else i % 60, rng.random() < .3)
            for i in range(500)]


def lru_disk(trace, frames, whole):
    """What LRU asks a disk for."""
    held, disk = {}, []
    for page, write in trace:
        if page not in held:
            if len(held) == frames:
                victim = next(iter(held))
                if held.pop(victim):
                    disk.append((victim, True))
            if not (write and whole):
                disk.append((page, False))
            held[page] = False
        held[page] = held.pop(page) or write
    return disk


@pytest.mark.parametrize("options", [[], ["--whole-writes"]])
def test_the_list_is_what_lru_leaves_to_the_disk(here, options):
    trace = a_trace(1)
    assert post(trace, "lru", 20, *options)[0] == lru_disk(trace, 20, bool(options))


AHEAD = """
Event Init() { Queue q; Page page; }
Event PageFault() {
	page = FindPA(FaultedAddress);
	EnQueue(page, q, TAIL);
	Prefetch(FaultedAddress + 4096, 2);
}
Event Replace() { page = DeQueue(q, HEAD); EnQueue(page, _free_queue, TAIL); }
"""


@pytest.mark.parametrize("policy", ["opt", "opt-reads", "clock", "default", "mru", "fifo2",
                                    "ahead.hp"])
@pytest.mark.parametrize("options", [[], ["--whole-writes"], ["--mode", "exact"]])
def test_the_list_is_as_long_as_the_table_says(here, policy, options):
    (here / "ahead.hp").write_text(AHEAD)
    disk, row = post(a_trace(2), here / policy if "." in policy else policy, 20, *options)
    assert row["written_pages"] > 20
    assert [sum(not write for _, write in disk), sum(write for _, write in disk)] == [
        row["read_pages"], row["written_pages"]]
    if policy == "ahead.hp":
        assert row["ahead_pages"] > 10


def test_a_list_is_of_one_run(here):
    (here / "t").write_text("r 0 9\n")
    for options in (["-p", "lru,opt", "-f", "2"], ["-p", "lru", "-f", "2,3"],
                    ["-p", "lru", "-f", "2", "t"], ["-p", "mru", "-f", "2", "--contract"]):
        done = hipec("sim", "t", "--post-cache", "post", *options)
        assert done.returncode == 2 and not os.path.exists("post")
        assert done.stderr.startswith("hipec sim: --post-cache: want one policy, one number")


@pytest.fixture
def disk(here):
    """A file of 50 pages with known bytes, and a list of 4 reads and 5 writes."""
    (here / "list").write_text("r 3 3\nw 7\nw 10 4\nr 49\n")
    (here / "disk").write_bytes(b"".join(bytes([i + 1]) * 4096 for i in range(50)))
    return here


def written():
    """Pages that are zeros."""
    with open("disk", "rb") as file:
        data = file.read()
    assert len(data) == 50 * 4096
    return [i for i in range(50) if data[i * 4096:][:4096] != bytes([i + 1]) * 4096]


def test_what_is_listed_is_written_and_nothing_else(disk):
    for pages in (1, 3, 64):
        got = play("--overwrite", "--batch", 2, "--rounds", 2, "--pages", pages, "list", "disk")
        assert written() == [7, 10, 11, 12, 13]
        assert (got["read_pages"], got["written_pages"], got["end_bytes"]) == (4, 5, 50 * 4096)
        requests = sum(-(-n // pages) for n in (3, 1, 4, 1))
        assert (got["requests"], got["batches"]) == (requests, -(-requests // 2))


def test_nothing_is_written_unless_it_is_said(disk):
    assert refused("list", "disk") == ("hipec trace: disk: the list has writes, which destroy what "
                                       "is there: say --overwrite, or --read-only\n")
    got = play("--read-only", "--rounds", 1, "list", "disk")
    assert (got["read_pages"], got["written_pages"]) == (9, 0)
    got = play("--overwrite", "--dry-run", "list", "disk")
    assert (got["dry_run"], got["seconds"], got["mean"], got["stable"]) == (True, [], None, False)
    assert written() == []
    os.chmod("disk", 0o400)
    play("--read-only", "--rounds", 1, "list", "disk")


def test_the_rounds_end_when_the_mean_is_known(disk):
    """By the times that were taken, whatever they are."""
    (disk / "long").write_text("".join(f"r {i % 50}\n" for i in range(2000)))
    for rounds, within in ((10, 50), (10, 100), (10, .001), (3, .001), (2, 100)):
        got = play("--read-only", "--rounds", rounds, "--within", within,
                   "long" if within == 100 else "list", "disk")
        times = got["seconds"]

        def interval(n):
            mean = sum(times[:n]) / n
            deviation = math.sqrt(sum((t - mean) ** 2 for t in times[:n]) / (n - 1) / n)
            return 100 * T95[n - 1] * deviation / mean
        assert got["mean"] == pytest.approx(sum(times) / len(times))
        assert got["lowest"] == min(times)
        assert got["within_percent"] == pytest.approx(interval(len(times)), rel=1e-3)
        assert got["stable"] == (interval(len(times)) <= within)
        assert all(interval(n) > within for n in range(3, len(times)))
        assert len(times) == rounds or (len(times) >= 3 and got["stable"])


def partitions(path):
    """A table with one entry."""
    with open(path, "r+b") as file:
        file.seek(446)
        file.write(struct.pack("<B3sB3sII", 0, b"\0\2\0", 0x83, b"\0\3\0", 1, 100).ljust(64, b"\0"))
        file.write(b"\x55\xaa")


@pytest.mark.parametrize("what, make", [
    ("ext2", lambda: subprocess.run(["mke2fs", "-q", "-F", "disk"], check=True)),
    ("swap", lambda: subprocess.run(["mkswap", "-q", "disk"], check=True)),
    ("dos", lambda: partitions("disk"))])
def test_a_file_system_is_written_over_when_it_is_said_twice(disk, monkeypatch, what, make):
    monkeypatch.setenv("PATH", os.environ["PATH"] + ":/usr/sbin:/sbin")
    (disk / "disk").write_bytes(b"\0" * (1 << 20))
    make()
    with open("disk", "rb") as file:
        before = file.read()
    assert refused("--overwrite", "list", "disk") == (
        f"hipec trace: disk: has {what} on it: to destroy that, say --overwrite twice\n")
    play("--read-only", "--rounds", 1, "list", "disk")
    with open("disk", "rb") as file:
        assert file.read() == before
    play("--overwrite", "--overwrite", "--rounds", 1, "list", "disk")


def test_targets_that_are_wrong(disk):
    assert refused("list", "none") == "hipec trace: none: No such file or directory\n"
    assert refused("list", ".") == "hipec trace: .: want a file or a disk\n"
    assert refused("list", "/dev/null") == "hipec trace: /dev/null: want a file or a disk\n"
    (disk / "list").write_text("r 50\n")
    assert refused("list", "disk") == (
        "hipec trace: disk: has 204800 bytes, and the list goes up to 208896: want a larger one, as "
        "of fallocate -l\n")
    (disk / "list").write_text("r five\n")
    assert refused("list", "disk") == (
        "hipec trace: list:1: want a page number, 0 to 4294967295, not 'five'\n")


@pytest.mark.parametrize("args, message", [
    (["list"], "want a list and what to play it on"),
    (["--batch", "1025", "list", "disk"], "--batch: want a number from 1 to 1024, not '1025'"),
    (["--rounds", "0", "list", "disk"], "--rounds: want a number from 1 to 1000, not '0'"),
    (["--within", "0", "list", "disk"],
     "--within: want a percentage above 0, up to 100, not '0'")])
def test_a_wrong_command_line_is_usage(here, args, message):
    done = hipec("trace", "play", *args)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == "hipec trace: " + message


@contextlib.contextmanager
def loop_device(path):
    """Skip unless one can be had."""
    losetup = shutil.which("losetup", path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    done = subprocess.run([losetup or "false", "--find", "--show", path], text=True, check=False,
                          capture_output=True)
    if done.returncode:
        pytest.skip(f"no loop device: {done.stderr.strip() or 'losetup is missing'}")
    try:
        yield done.stdout.strip()
    finally:
        subprocess.run([losetup, "--detach", done.stdout.strip()], check=True)


def counts(device):
    """Reads, pages read, writes, pages written, as the kernel has them."""
    with open(f"/sys/block/{os.path.basename(device)}/stat", encoding="ascii") as file:
        n = [int(word) for word in file.read().split()]
    return [n[0], n[2] // 8, n[4], n[6] // 8]


def test_a_disk_gets_each_request(disk):
    """Page by page; of them the kernel may merge those that follow each other."""
    with loop_device("disk") as device:
        (disk / "list").write_text("r 3\nr 9\nr 4\nw 20\nw 30\nr 49\n")
        assert refused("list", device).startswith(f"hipec trace: {device}: the list has writes")
        before = counts(device)
        play("--overwrite", "--rounds", 3, "--batch", 1, "list", device)
        done = [now - then for now, then in zip(counts(device), before)]
    # libblkid looked at it before: reads are more.
    assert done[2:] == [2 * 3, 2 * 3]
    assert done[0] >= 4 * 3 and done[1] >= 4 * 3
    assert written() == [20, 30]


def test_a_disk_that_is_read_gets_nothing_else(disk):
    with loop_device("disk") as device:
        before = counts(device)
        play("--read-only", "--rounds", 3, "--batch", 1, "list", device)
        assert [now - then for now, then in zip(counts(device), before)] == [27, 27, 0, 0]


def test_a_mounted_disk_is_written_when_it_is_said_twice(disk):
    (disk / "disk").write_bytes(b"\0" * (1 << 20))
    (disk / "mnt").mkdir()
    env = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
    subprocess.run(["mke2fs", "-q", "-F", "disk"], check=True, env=env)
    with loop_device("disk") as device:
        if subprocess.run(["mount", device, "mnt"], check=False, env=env).returncode:
            pytest.skip("nothing can be mounted here")
        try:
            message = refused("--overwrite", "list", device)
        finally:
            subprocess.run(["umount", "mnt"], check=True, env=env)
    assert message == (f"hipec trace: {device}: the kernel uses it, as for a file system that is "
                       "mounted: to destroy that, say --overwrite twice\n")


DOC = chapter("docs/user/traces.md", "hipec trace play")


def test_examples_print_what_they_show(here):
    [block] = re.findall(r"^```\n(\$ .*?)^```", DOC, re.M | re.S)
    for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
        done = subprocess.run(["sh", "-c", command.replace("hipec ", f"{HIPEC} ")], text=True,
                              capture_output=True, check=False)
        assert done.stdout + done.stderr == output, command


def test_help_and_document_name_options_and_keys(disk):
    text = hipec("trace", "--help").stdout.partition("\n  play ")[2].partition("\nExamples")[0]
    options = re.findall(r"--([\w-]+)", text)
    assert set(options) - {"help"} == {"overwrite", "read-only", "batch", "pages", "within",
                                       "rounds", "dry-run", "json", "post-cache", "from", "columns",
                                       "ops", "format"}
    assert all(f"--{option}" in DOC for option in set(options) - {"help", "batch"})
    keys = {key for keys in re.findall(r"^\| ([a-z_, ]+) \|", DOC.split("`--json`")[1], re.M)
            for key in keys.split(", ")} - {"key"}
    assert keys == set(play("--read-only", "--dry-run", "list", "disk"))
