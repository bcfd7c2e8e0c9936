# SPDX-License-Identifier: GPL-2.0-only
"""Random policies on random pages (test/vm/fuzz/differ.c): in user space under ASan
and UBSan no invariant breaks. test_guest.py asks the kernel for the same; test_inc.py, policies in C."""

import subprocess

import pytest

from conftest import BUILD, ROOT

pytestmark = pytest.mark.user

PROGRAMS = 3000

# How policies may end by their own fault: each must be seen to happen.
EXITS = ["ok", "NO_PAGE", "STALE_PAGE", "DIV_ZERO", "INDEX", "FUEL"]


def check_sum(text, programs):
    """Assert that @text tells of @programs that did something, and all well."""
    line = text.rstrip("\n").rpartition("\n")[2].split()
    assert line[:1] == ["programs"], text
    got = dict(zip(line[::2], map(int, line[1::2])))
    assert got["failed"] == 0, text
    assert got["programs"] == programs
    assert got["accepted"] >= 0.8 * programs
    assert got["commands"] >= 100 * programs
    assert got["ok"] >= 0.3 * programs
    assert got["given"] >= 0.1 * programs
    assert min(got["ghosts"], got["late"]) > 0
    assert not [kind for kind in EXITS if not got.get(kind)], text


def test_random_policies_break_no_invariant():
    """And are accepted or refused, and run or end, without undefined behaviour."""
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/differ"], check=True)
    run = subprocess.run([BUILD / "asan/differ", "1", str(PROGRAMS)], capture_output=True,
                         text=True, check=False)
    assert run.stderr == ""
    check_sum(run.stdout, PROGRAMS)
    assert run.returncode == 0
