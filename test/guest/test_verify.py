# SPDX-License-Identifier: GPL-2.0-only
"""Files in place under programs that others wrote, and that check what they read: fio with
--verify, by write(), maps, libaio, io_uring and direct I/O; stress-ng's stressors of files. On each
file system that files are taken on, in a quarter of the memory that the files need."""

import json
import shutil
import subprocess

import pytest

from conftest import BUILD, KERNELS, ROOT, guest_tree, limit, modules, need, vm

FILE_SYSTEMS = ["ext4", "xfs", "btrfs"]
ENGINES = ["psync", "mmap", "libaio", "io_uring"]
STRESSORS = ["hdd", "mmap", "fallocate", "sendfile", "splice", "rename"]
STEPS = [*(f"fio-{name}-{engine}" for engine in ENGINES
           for name in ("random", "large", "sequential")),
         "fio-direct-libaio", "fio-again-psync", *(f"stress-ng-{name}" for name in STRESSORS),
         "detach", "umount"]


def boot(kernel, tmp, file_systems, seconds):
    """One boot that did all of it: a Result of run.py."""
    need(kernel)
    tree = guest_tree(tmp)
    shutil.copy(ROOT / "test/guest/verify.sh", tree / "hipec")
    shutil.copytree(BUILD / "policies", tree / "hipec/policies", dirs_exist_ok=True)
    command = [ROOT / "vm-images/initramfs.sh", "--kernel", kernel, "--out", tmp / "guest.img",
               "--tree", tree, "--bin", BUILD / "static/hipec"]
    for module in modules(kernel):
        command += ["--module", module]
    for name in file_systems:
        command += ["--stock", name] if name != "ext4" else []
    for name in ("mkfs.xfs", "mkfs.btrfs", "fio", "stress-ng"):
        command += ["--bin", shutil.which(name, path="/usr/sbin:/usr/bin")]
    subprocess.run(command, check=True)
    return vm.boot(kernel, tmp / "guest.img", BUILD / f"verify-{kernel}",
                   ["sh", "/hipec/verify.sh", str(seconds), *file_systems], timeout=limit(kernel))


def check(ran, file_systems):
    """Nothing failed, and the policy decided all the while."""
    assert (ran.verdict, ran.status) == ("ok", 0), ran.output
    lines = (ran.results / "verify").read_text().splitlines()
    said = ran.results / "verify-said"
    assert lines == [*(f"{fs} {step} 0" for fs in file_systems for step in STEPS), "all idle 0"], \
        said.read_text() if said.exists() else ran.output
    for fs in file_systems:
        container, = json.loads((ran.results / f"verify-{fs}.json").read_text())
        assert container["policy"] == "lru" and container["exit"]["kind"] == 0, container
        assert container["counters"]["evictions"] > 10_000


@pytest.mark.night
@pytest.mark.parametrize("kernel", KERNELS)
def test_what_was_written_is_read(kernel, tmp_path):
    check(boot(kernel, tmp_path, FILE_SYSTEMS, 2), FILE_SYSTEMS)
