# SPDX-License-Identifier: GPL-2.0-only
"""Fixtures: where things are, and the guest."""

import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
sys.path.insert(0, str(ROOT / "vm-images"))

import run as vm  # noqa: E402  (vm-images/run.py)

KERNELS = ["6.12", "6.1"]


def guest_image(tmp, kernel, tree):
    """An initramfs for @kernel with the module, the tools and @tree."""
    image = tmp / f"guest-{kernel}.img"
    programs = ["guest/hipec-guest-test", "static/hpt", "static/hipec", "bench/join",
                "bench/sweep", "bench/mkdata"]
    command = [ROOT / "vm-images/initramfs.sh", "--kernel", kernel, "--out", image,
               "--tree", tree]
    for module in (f"kmod-{kernel}/hipec.ko", f"vmtest-{kernel}/hipec_vmtest.ko"):
        command += ["--module", BUILD / module]
    for name in programs:
        command += ["--bin", BUILD / name]
    subprocess.run(command, check=True)
    return image


def guest_tree(tmp):
    """What every guest takes along in /hipec."""
    tree = tmp / "tree"
    where = tree / "hipec"
    (where / "policies").mkdir(parents=True)
    for hpo in [*(BUILD / "policies").glob("*.hpo"), *(BUILD / "guest/policies").glob("*.hpo")]:
        shutil.copy(hpo, where / "policies")
    shutil.copytree(ROOT / "test/vm", where / "vm")
    return tree


@pytest.fixture(scope="session", params=KERNELS)
def kernel(request):
    """The key of a stock kernel that can be booted here."""
    if not (vm.cache_dir() / "kernels" / request.param / "release").exists():
        pytest.skip(f"this Debian has no kernel {request.param}")
    return request.param
