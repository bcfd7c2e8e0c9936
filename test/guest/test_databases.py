# SPDX-License-Identifier: GPL-2.0-only
"""A database that writes in place loses nothing that it was promised: sqlite3, with both kinds of
journal, in less memory than its files need, is killed in the middle of it time and again; then
the machine is. test/guest/databases.sh does it."""

import re
import shutil
import subprocess

import pytest

from conftest import BUILD, KERNELS, ROOT, guest_tree, limit, modules, need, vm

pytestmark = pytest.mark.night

JOURNALS = ("delete", "wal")
ROUNDS = 4
MORE = 100      # commits of each until the machine is killed


def promised(console):
    """{journal: the last commit that was promised before the machine was killed}"""
    said = re.findall(r"^promised (\w+) (\d+)$", console.replace("\r\n", "\n"), re.M)
    return {name: max((int(n) for journal, n in said if journal == name), default=0)
            for name in JOURNALS}


def wrote_on(console):
    """Both have committed more since the last kill."""
    return all(console.count(f"promised {name} ") >= MORE for name in JOURNALS)


@pytest.fixture(scope="module", params=KERNELS)
def databases(request, tmp_path_factory):
    """(a boot that was killed, one that looked at what was left): Results of run.py."""
    kernel = request.param
    need(kernel)
    tmp = tmp_path_factory.mktemp(f"databases-{kernel}")
    tree = guest_tree(tmp)
    shutil.copy(ROOT / "test/guest/databases.sh", tree / "hipec")
    (tmp / "data").mkdir()
    subprocess.run([ROOT / "vm-images/mkdisk.sh", tmp / "data", tmp / "disk", "96M"], check=True)
    command = [ROOT / "vm-images/initramfs.sh", "--kernel", kernel, "--out", tmp / "guest.img",
               "--tree", tree, "--module", modules(kernel)[0]]
    for program in (BUILD / "static/hipec", shutil.which("sqlite3", path="/usr/bin")):
        command += ["--bin", program]
    subprocess.run(command, check=True)
    return [vm.boot(kernel, tmp / "guest.img", BUILD / f"databases-{kernel}-{what}",
                    ["sh", "/hipec/databases.sh", what], disk=tmp / "disk", keep_writes=True,
                    timeout=limit(kernel), kill_when=wrote_on if what == "write" else None)
            for what in ("write", "look")]


def test_what_was_committed_is_there_after_each_kill(databases):
    """And the database is whole. One commit more may be there, whose word was under way."""
    killed, _ = databases
    assert (killed.status, killed.verdict) == (vm.KILLED, "ok"), killed.console[-4000:]
    lines = re.findall(r"^(\w+) (\d+) (\w+) (\d+) (\d+)$", killed.console.replace("\r\n", "\n"), re.M)
    assert [(name, int(at)) for name, at, *_ in lines] == \
        [(name, at + 1) for name in JOURNALS for at in range(ROUNDS)]
    for *_, said, promise, held in lines:
        assert said == "ok"
        assert int(promise) <= int(held) <= int(promise) + 1


def test_the_policy_decided(databases):
    """The files are larger than the budget."""
    killed, _ = databases
    assert int(re.search(r"^evictions (\d+)\r?$", killed.console, re.M)[1]) > 1000


def test_what_was_committed_is_there_after_the_machine_ended(databases):
    killed, looked = databases
    assert (looked.verdict, looked.status) == ("ok", 0), looked.output
    promise = promised(killed.console)
    assert min(promise.values()) > MORE
    held = dict(line.split(" ", 1) for line in (looked.results / "held").read_text().splitlines())
    for name in JOURNALS:
        said, commits = held[name].split()
        assert said == "ok" and int(commits) >= promise[name]
