# SPDX-License-Identifier: GPL-2.0-only
"""Native code on the command line: --jit and hipec dis --native. What they do to containers is
test/guest/program/native.c's."""

import subprocess

import pytest

from conftest import BUILD, ROOT


@pytest.fixture(scope="module", autouse=True)
def built():
    """The command."""
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/hipec"], check=True)


def run(*args):
    """Its status and what it says."""
    done = subprocess.run([BUILD / "asan/hipec", *args], capture_output=True,
                          text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("args", [
    ["run", "--policy", "mru", "--budget", "4k", "--jit", "maybe", "true"],
    ["attach", "--policy", "mru", "--budget", "4k", "--jit", "maybe", "file"],
    ["swap", "--jit", "maybe", "1", "mru"],
])
def test_native_code_is_wanted_in_three_ways(args):
    """Another word is refused before anything is done."""
    status, out, said = run(*args)
    assert (status, out) == (2, "")
    assert said.split("\n")[0] == f"hipec {args[0]}: --jit: want off, auto or on, not 'maybe'"


def test_code_is_of_a_container():
    """A file has none; without the module no container has any."""
    status, _, said = run("dis", "--native", "mru.hpo")
    assert status == 2
    assert said.split("\n")[0] == "hipec dis: 'mru.hpo' is no container's number; hipec status has them"
    status, out, said = run("dis", "--native", "1")
    assert (status, out) == (1, "") and said.startswith("hipec dis: ")
