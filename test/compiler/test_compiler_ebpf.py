# SPDX-License-Identifier: GPL-2.0-only
"""ampc -S --jit: the instructions of eBPF that the module makes of a policy. That they do what the
interpreter does is test/vm's."""

import re
import subprocess

import pytest

from conftest import BUILD, ROOT

POLICIES = sorted((ROOT / "policies").glob("*.hp"))


@pytest.fixture(scope="module", autouse=True)
def built():
    """The compiler."""
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/ampc"], check=True)


def run(*args):
    """Its status and what it says."""
    done = subprocess.run([BUILD / "asan/ampc", *map(str, args)], capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: p.stem)
def test_instructions_are_printed_behind_their_commands(policy):
    """In order, none left out; each jump's target is one of them; each event is there."""
    status, text, said = run("-S", "--jit", policy)
    assert (status, said) == (0, "")
    lines = [line for line in text.split("\n") if re.match(r" {8,}\d+  ", line)]
    assert [int(line.split()[0]) for line in lines] == list(range(len(lines)))
    assert len(lines) > 30
    assert all(int(to) < len(lines) for to in re.findall(r"goto (\d+)", text))
    events = re.findall(r"^event (\d+) ", text, re.M)
    assert events == re.findall(r"^event (\d+) ", run("-S", policy)[1], re.M)


def test_instructions_of_a_short_policy():
    """As the module makes them: a command in a register, its function, what it returns."""
    _, text, _ = run("-S", "--jit", ROOT / "policies/fifo.hp")
    assert "     2  enqueue page, fifo, tail\n            13  r2.32 = " in text
    assert "call EnQueue\n            16  if r0.32 != 0 goto 33\n     3  return\n" in text
    assert text.rstrip().endswith("run += 2\n            38  goto 31")


def test_it_is_for_s():
    """Alone it would say nothing."""
    status, _, said = run("--jit", ROOT / "policies/fifo.hp")
    assert (status, said.split("\n")[0]) == (2, "ampc: --jit is for -S")
