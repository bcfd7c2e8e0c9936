# SPDX-License-Identifier: GPL-2.0-only
"""Native code in the kernel (module/jit) does what the interpreter does in user space: the files of
the VM, random policies and those that come with hipec, byte for byte, with and without hardening;
and whole containers, counter for counter. `make check-native` runs these on all kernels."""

import re
import subprocess

import pytest

from conftest import (BUILD, KUNIT_KERNELS, LONG_ON_SECOND, ROOT, guest_image, guest_tree,
                      limit, need, vm)
from hostile.hostile import complaints
from stress import stress
from test_differ import check_sum

POLICIES = sorted(path.stem for path in (ROOT / "policies").glob("*.hp"))

pytestmark = pytest.mark.debug


@pytest.fixture(scope="session", params=[*LONG_ON_SECOND, *KUNIT_KERNELS])
def kernel(request):
    """All of them."""
    need(request.param)
    return request.param


@pytest.fixture(scope="session")
def ran(kernel, tmp_path_factory):
    """One boot of @kernel that did all of native.sh: a Result of run.py."""
    tmp = tmp_path_factory.mktemp(f"native-{kernel}")
    data = tmp / "data"
    data.mkdir()
    subprocess.run([ROOT / "vm-images/mkdisk.sh", data, tmp / "data.img", "64M"], check=True)
    return vm.boot(kernel, guest_image(tmp, kernel, guest_tree(tmp)), BUILD / f"native-{kernel}",
                   ["env", f"HIPEC_SLOWER={vm.fact(kernel, 'slower', '1')}", "sh",
                    "/hipec/native.sh"], disk=tmp / "data.img", timeout=limit(kernel),
                   append="kmemleak=off")     # test_random.py looks for leaks


def text(ran, name):
    path = ran.results / name
    assert path.exists(), f"no {name}: {ran.verdict}"
    return path.read_text()


def test_native_code_does_what_the_interpreter_does(ran, kernel):
    """And the kernel has nothing to complain about."""
    assert (ran.verdict, ran.status) == ("ok", 0), ran.output
    parts = dict(line.split() for line in text(ran, "native").splitlines())
    assert not {what: status for what, status in parts.items() if status != "0"}, ran.results
    slower = int(vm.fact(kernel, "slower", "1"))
    files = len(list((ROOT / "test/vm/cases").glob("*.hpt")))
    for harden in (0,) if kernel in KUNIT_KERNELS else (0, 1, 2):
        lines = text(ran, f"hpt-{harden}.txt").splitlines()
        assert len(lines) == files and all(line.startswith("ok ") for line in lines)
        check_sum(text(ran, f"differ-{harden}.txt"),
                  10000 // slower // (1 + 9 * (harden > 0)))
    for policy in POLICIES:
        assert re.search(r" failed 0 ", text(ran, f"policy-{policy}.txt")), policy


def test_no_write_is_lost_under_stress_in_native_code(ran):
    """Everything at once, as test_random.py has it interpreted."""
    assert stress.complaints(ran.results) == []


def test_hostile_clients_do_no_harm_in_native_code(ran):
    """Their policies as well; as test_random.py."""
    assert complaints(ran.results, least=0.5) == []
