# SPDX-License-Identifier: GPL-2.0-only
"""Long random runs in guests, on each kernel: random policies, everything at once,
hostile clients. One boot for each runs test/guest/random.sh; each test here looks at
one part of what it brought back."""

import subprocess

import pytest

from conftest import (BUILD, KERNELS, KUNIT_KERNELS, ON_DEBUG, ROOT, guest_image, guest_tree,
                      limit, need, vm)
from hostile.hostile import complaints
from stress import stress
from test_differ import check_sum

pytestmark = pytest.mark.night


@pytest.fixture(scope="session", params=[*KERNELS, *KUNIT_KERNELS])
def kernel(request):
    """All of them."""
    need(request.param)
    return request.param


@pytest.fixture(scope="session")
def ran(kernel, tmp_path_factory):
    """One boot of @kernel: a Result of run.py."""
    tmp = tmp_path_factory.mktemp(f"random-{kernel}")
    (tmp / "data").mkdir()
    subprocess.run([ROOT / "vm-images/mkdisk.sh", tmp / "data", tmp / "data.img", "64M"], check=True)
    script = "sh /hipec/random.sh"
    if kernel in KUNIT_KERNELS:
        script += " && sh /hipec/last.sh"
    return vm.boot(kernel, guest_image(tmp, kernel, guest_tree(tmp)), BUILD / f"random-{kernel}",
                   ["env", f"HIPEC_SLOWER={vm.fact(kernel, 'slower', '1')}", "sh", "-c", script],
                   disk=tmp / "data.img", timeout=limit(kernel))


def text(ran, name):
    path = ran.results / name
    assert path.exists(), f"no {name}: {ran.verdict}"
    return path.read_text()


def test_kernel_has_nothing_to_complain_about(ran):
    """No oops, warning, lockdep report, hang; and the run came to its end."""
    assert (ran.verdict, ran.status) == ("ok", 0), ran.output


def test_random_policies_do_the_same_in_the_kernel(ran, kernel):
    """Others than test_guest.py's: the same text as in user space, byte for byte."""
    check_sum(text(ran, "differ.txt"), 6000 // int(vm.fact(kernel, "slower", "1")))


def test_hostile_clients_do_no_harm(ran):
    """For a short while; `make hostile` is longer. Rare operations may not have
    had their luck yet."""
    assert complaints(ran.results, least=0.5) == []


def test_no_write_is_lost_under_stress(ran):
    """Everything at once: 8 threads, 4 processes, 3 containers."""
    assert stress.complaints(ran.results) == []


def test_no_write_is_lost_where_there_is_room(ran):
    """The same in a pool that has room, where frames come in blocks."""
    assert stress.complaints(ran.results, "roomy") == []


def test_the_stress_run_had_something_to_do(ran, kernel):
    """Operations worked, containers replaced and wrote pages, and met what is wrong
    with their disks. Our own kernel is too slow for all of it in a minute."""
    said = text(ran, "stress.txt")
    operations, acts = stress.counts(said)
    own, bad, good = stress.slots(said)
    idle = [name for name, (_, worked) in operations.items() if not worked]
    least = 1 if kernel in KUNIT_KERNELS else 50
    assert own["evictions"] + bad["evictions"] + good["evictions"] >= least
    assert own["written_pages"] + bad["written_pages"] + good["written_pages"] >= least
    if kernel in KUNIT_KERNELS:
        assert len(idle) <= len(operations) // 2, idle
        return
    # What is rare may not have had its luck on a busy host.
    assert len(idle) <= 3, idle
    assert len([name for name, times in acts.items() if not times]) <= 3, acts
    assert bad["read_errors"] + bad["write_errors"]
    assert good["sigbus"] == good["read_errors"] == good["write_errors"] == 0


@ON_DEBUG
def test_no_memory_is_lost(ran):
    """When the modules are gone, all that they had allocated is free."""
    assert text(ran, "kmemleak.txt") == ""
