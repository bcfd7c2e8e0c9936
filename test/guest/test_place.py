# SPDX-License-Identifier: GPL-2.0-only
"""Files in place under everything at once, for a short while: hipec-place-stress on each file
system, on each kernel. `make soak` is longer."""

import subprocess

import pytest

from conftest import (BUILD, CORE_KERNELS, KUNIT_KERNELS, NIGHT_DEBUG, ROOT,
                      guest_image, guest_tree, limit, need, vm)
from stress import stress

pytestmark = pytest.mark.core

SECONDS = 10        # on each file system


@pytest.fixture(scope="session", params=[*CORE_KERNELS, *NIGHT_DEBUG])
def kernel(request):
    """All of them."""
    need(request.param)
    return request.param


@pytest.fixture(scope="session")
def placed(kernel, tmp_path_factory):
    """One boot of @kernel: a Result of run.py."""
    tmp = tmp_path_factory.mktemp(f"place-{kernel}")
    (tmp / "data").mkdir()
    subprocess.run([ROOT / "vm-images/mkdisk.sh", tmp / "data", tmp / "data.img", "64M"],
                   check=True)
    slower = int(vm.fact(kernel, "slower", "1"))
    script = " && ".join(
        f"sh /hipec/place.sh place-{fs} {fs} --seconds {SECONDS * (4 if slower > 1 else 1)}"
        f" --seed {seed}" for seed, fs in enumerate(stress.place_systems(kernel), 1))
    if kernel in KUNIT_KERNELS:
        script += " && sh /hipec/last.sh"
    return vm.boot(kernel, guest_image(tmp, kernel, guest_tree(tmp)), BUILD / f"place-{kernel}",
                   ["env", f"HIPEC_SLOWER={slower}", "sh", "-c", script], disk=tmp / "data.img",
                   timeout=limit(kernel))


def texts(placed, kernel):
    """What the program said on each file system."""
    return [(placed.results / f"place-{fs}.txt").read_text()
            for fs in stress.place_systems(kernel)]


def test_kernel_has_nothing_to_complain_about(placed):
    """No oops, warning, lockdep report, hang; and the run came to its end."""
    assert (placed.verdict, placed.status) == ("ok", 0), placed.output


def test_nothing_is_lost_or_wrong_in_place(placed, kernel):
    assert [text for fs in stress.place_systems(kernel)
            for text in stress.complaints(placed.results, f"place-{fs}")] == []


def test_the_run_in_place_had_something_to_do(placed, kernel):
    """Each operation worked somewhere, and the policies evicted."""
    counts = [stress.counts(text) for text in texts(placed, kernel)]
    worked = {name for operations, _ in counts for name, (_, times) in operations.items() if times}
    # Our own kernel is too slow for all of them.
    debug = kernel in KUNIT_KERNELS
    assert debug or [name for name in counts[0][0] if name not in worked] == []
    acts = {name for _, done in counts for name, times in done.items() if times}
    assert {"load", "take", "release", "squeeze", "drop_caches"} <= acts
    slots = [stress.slots(text)[0] for text in texts(placed, kernel)]
    assert sum(slot["evictions"] for slot in slots) >= (100 if debug else 5000)
    assert debug or sum(slot["given"] for slot in slots) >= 50   # to the other one, of a pool


@pytest.mark.parametrize("kernel", NIGHT_DEBUG, indirect=True)
def test_no_memory_is_lost_in_place(placed):
    """When the module is gone, all that it had allocated is free."""
    assert (placed.results / "kmemleak.txt").read_text() == ""
