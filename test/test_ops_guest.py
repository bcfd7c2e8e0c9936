# SPDX-License-Identifier: GPL-2.0-only
"""hipec status, top, log and metrics on stock Debian kernels, and docs/operations.md: what
it shows is what they print, and where it says that something is, it is. One boot for each
kernel runs test/ops/guest.sh."""

import json
import re
import shutil
import subprocess

import jsonschema
import pytest

from conftest import BUILD, KERNELS, ROOT, modules, need, vm
from ops import prometheus
from test_ops import SESSIONS, valid

pytestmark = pytest.mark.guest


@pytest.fixture(scope="session", params=KERNELS)
def guest(request, tmp_path_factory):
    """One boot of a stock kernel: a Result of run.py."""
    kernel = request.param
    need(kernel)
    tmp = tmp_path_factory.mktemp(f"ops-{kernel}")
    tree = tmp / "tree/hipec"
    shutil.copytree(BUILD / "policies", tree / "policies")
    subprocess.run([BUILD / "ampc", "-o", tree / "policies/draft.hpo", ROOT / "test/ops/draft.hp"],
                   check=True)
    shutil.copy(ROOT / "test/ops/guest.sh", tree)
    (tree / "page").mkdir()
    for number, (command, _) in enumerate(SESSIONS):
        (tree / f"page/{number:02}").write_text(command + "\n")
    data = tmp / "data"
    data.mkdir()
    for name in ("outer", "books"):
        subprocess.run([BUILD / "bench/mkdata", data / name, "400"], check=True)
    subprocess.run([ROOT / "vm-images/mkdisk.sh", data, tmp / "data.img", "64M"], check=True)
    subprocess.run(["gcc", "-O1", "-o", tmp / "search", ROOT / "test/ops/search.c"], check=True)
    command = [ROOT / "vm-images/initramfs.sh", "--kernel", kernel, "--out", tmp / "guest.img",
               "--tree", tmp / "tree", "--module", modules(kernel)[0]]
    for program in ("static/hipec", "libhipecrun.so", "bench/sweep"):
        command += ["--bin", BUILD / program]
    subprocess.run([*command, "--bin", tmp / "search"], check=True)
    return vm.boot(kernel, tmp / "guest.img", BUILD / f"ops-{kernel}", ["sh", "/hipec/guest.sh"],
                   disk=tmp / "data.img", timeout=300)


def text(guest, name):
    path = guest.results / name
    assert path.exists(), f"no {name}: {guest.verdict}"
    return path.read_text()


def test_kernel_has_nothing_to_complain_about(guest):
    assert (guest.verdict, guest.status) == ("ok", 0), guest.output
