# SPDX-License-Identifier: GPL-2.0-only
"""The loop closed, on a stock Debian kernel: a program that searches a mapped file for each line
that it reads (test/amp/loops.c), as it is, under hipec run --policy amp, which keeps most of what a
policy picked by hand does. A program that loads the policy itself (test/amp/own.c), with a region,
keeps about as much as with that from its third round on, under hipec amp feed.
One boot runs test/amp/guest.sh: what AMP decides is user space's, and the samples and
contexts that it needs are tested on both kernels by themselves."""

import json
import random
import re
import shutil
import subprocess

import pytest

from conftest import BUILD, KERNELS, ROOT, limit, modules, need, vm

# test_run_guest.py has AMP find out what NumPy does, in ring vm.
pytestmark = pytest.mark.night
PAGE = 4096
LARGE, FRAMES, ROUNDS = 9216, 4608, 6   # guest.sh has the frames


@pytest.fixture(scope="session", params=KERNELS)
def ran(request, tmp_path_factory):
    """A Result of run.py."""
    kernel = request.param
    need(kernel)
    tmp, rng = tmp_path_factory.mktemp(f"amp-{kernel}"), random.Random(9)
    data, tree = tmp / "data", tmp / "tree"
    data.mkdir()
    (data / "small").write_bytes(rng.randbytes(16 * PAGE))
    (data / "large").write_bytes(rng.randbytes(LARGE * PAGE))
    subprocess.run([ROOT / "vm-images/mkdisk.sh", data, tmp / "data.img", "128M"], check=True)
    (tree / "hipec").mkdir(parents=True)
    shutil.copytree(BUILD / "policies", tree / "hipec/policies")
    shutil.copy(ROOT / "test/amp/guest.sh", tree / "hipec")
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-o", tmp / "loops",
                    ROOT / "test/amp/loops.c"], check=True)
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-I", ROOT / "module/include/uapi", "-o",
                    tmp / "own", ROOT / "test/amp/own.c", ROOT / "userlib/lib/libhipec.c"],
                   check=True)
    command = [ROOT / "vm-images/initramfs.sh", "--kernel", kernel, "--out", tmp / "guest.img",
               "--tree", tree, "--module", modules(kernel)[0]]
    for program in (BUILD / "static/hipec", tmp / "loops", tmp / "own"):
        command += ["--bin", program]
    subprocess.run(command, check=True)
    return vm.boot(kernel, tmp / "guest.img", BUILD / f"amp-{kernel}", ["sh", "/hipec/guest.sh"],
                   disk=tmp / "data.img", timeout=limit(kernel))


def reads(ran, name):
    """Pages read from the disk, by round."""
    got = [int(n) for n in (ran.results / f"{name}.reads").read_text().split()]
    assert len(got) == ROUNDS, (ran.results / f"{name}.said").read_text()
    return got


def test_kernel_has_nothing_to_complain_about(ran):
    assert (ran.verdict, ran.status) == ("ok", 0), ran.output


@pytest.mark.parametrize("policy", ["builtin", "arc"])
def test_defaults_keep_nothing_of_the_loop(ran, policy):
    assert min(reads(ran, policy)) >= 0.97 * LARGE


def saved(ran, name, number):
    """Of what the policy picked by hand saves against arc, in one round."""
    arc, mru = reads(ran, "arc"), reads(ran, "mru")
    assert arc[number] - mru[number] > 0.9 * (LARGE - (LARGE - FRAMES)) - 200
    return (arc[number] - reads(ran, name)[number]) / (arc[number] - mru[number])


def test_the_loop_is_kept_from_its_third_round_on(ran):
    """Of a region."""
    assert [number for number in range(2, ROUNDS) if saved(ran, "fed", number) < 0.8] == []


@pytest.mark.parametrize("name", ["amp", "again", "plain"])
def test_the_loop_is_kept_in_place(ran, name):
    """Later, and not all of it: fewer touches are seen than of a region."""
    assert [number for number in range(4, ROUNDS) if saved(ran, name, number) < 0.5] == []


def test_a_program_that_loads_amp_itself_keeps_nothing_unless_it_is_fed(ran):
    assert min(reads(ran, "alone")) > 0.95 * LARGE


def test_feeding_ends_with_the_program_and_tells_of_its_partition(ran):
    first, last = (ran.results / "fed.fed").read_text().splitlines()
    assert re.fullmatch(r"container \d+: process \d+ \(own\) is fed", first)
    assert re.fullmatch(r"container \d+: \d{4,} samples, \d+ lost; fed \d+ times; "
                        r"1 loop has a partition of its own", last)
    assert re.match(r"own: search\+0x\w+ <- main\+0x\w+", (
        ran.results / "own.report").read_text().splitlines()[1])


def test_nothing_is_lost_before(ran):
    """The first two rounds, against arc."""
    assert sum(reads(ran, "plain")[:2]) <= 1.05 * sum(reads(ran, "arc")[:2])


def test_the_second_run_begins_with_what_the_first_has_learnt(ran):
    assert sum(reads(ran, "again")) <= 1.02 * min(sum(reads(ran, name)) for name in ("amp", "plain"))


def test_the_report_names_who_loops(ran):
    lines = (ran.results / "first.report").read_text().splitlines()
    assert lines[0] == "4608 frames, one holds a page; at the end, loops had some for themselves"
    assert re.fullmatch(r"loops: search\+0x\w+ <- main\+0x\w+( <- .*)?: looping, [\d,]+ pages, "
                        r"R 0\.\d\d -> MRU; reads [\d,]+ pages, [\d,]+ by default \(-[\d.]+ %\)",
                        lines[1]), lines[1]


def test_run_tells_of_partitions_that_were_in_use(ran):
    said = (ran.results / "amp.said").read_text()
    assert re.search(r"^hipec run: (1 loop has|2 loops have each) a partition of its own; "
                     r"`hipec amp report` has more$",
                     said, re.M), said


def test_the_file_has_what_the_next_run_begins_with(ran):
    said = json.loads((ran.results / "second.json").read_text())
    assert said["used"] and said["frames"] == FRAMES
    loop = said["contexts"][0]
    assert loop["treatment"] == "MRU" and loop["default_faults"] > loop["faults"]
    assert 0.8 * LARGE < loop["loop_size"] < 1.2 * LARGE


def test_frames_are_given_back(ran):
    assert (ran.results / "frames.txt").read_text() == "0\n"
