# SPDX-License-Identifier: GPL-2.0-only
"""What bench/cost/vm measures is the same work: hipec, C and Lua take the same
decisions, and a contestant that does not is found out. No time is asserted."""

import pathlib
import re
import shutil
import subprocess

import pytest

pytestmark = pytest.mark.user

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCH = ROOT / "build/bench/cost/vm/bench-vm"
LUA = ROOT / "bench/cost/vm/policies.lua"
POLICIES = ("fifo", "fifo2", "mru")
FRAMES = 1024


@pytest.fixture(scope="module", autouse=True)
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "build/bench/cost/vm/bench-vm",
                    *(f"build/policies/{name}.hpo" for name in POLICIES)], check=True)


def check(policies=ROOT / "build/policies", lua=LUA):
    return subprocess.run([BENCH, "--check", "--policies", policies, "--lua", lua],
                          capture_output=True, text=True, check=False)


def test_contestants_take_the_same_decisions():
    run = check()
    assert (run.returncode, run.stderr) == (0, "")
    lines = run.stdout.splitlines()
    assert sum(line.endswith("\tas in C") for line in lines) == 3
    found = re.findall(r"^(\w+)\tbatch (\d+)\thits (\d+)\tfaults (\d+)\tevictions (\d+)"
                       r"\tdigest (\w+)$", run.stdout, re.MULTILINE)
    assert [line[0] for line in found] == [name for name in POLICIES for _ in range(2)]
    for _, _, hits, faults, evictions, _ in found:
        assert int(evictions) == int(faults) - FRAMES > 0
        assert int(hits) > 0
    assert len({line[5] for line in found}) == len(found)  # each decides in its own way
    assert check().stdout == run.stdout


def test_another_policy_under_the_same_name_is_found_out(tmp_path):
    for name in POLICIES:
        shutil.copy(ROOT / f"build/policies/{name}.hpo", tmp_path)
    shutil.copy(ROOT / "build/policies/mru.hpo", tmp_path / "fifo.hpo")
    run = check(policies=tmp_path)
    assert run.returncode == 1
    assert re.search("^bench-vm: fifo: hipec and C give up different pages after [0-9]+ faults$",
                     run.stderr, re.MULTILINE)


def test_a_policy_that_is_wrong_in_lua_is_found_out(tmp_path):
    wrong = tmp_path / "policies.lua"
    wrong.write_text(LUA.read_text().replace("* 2 // 3", "* 1 // 3"))
    run = check(lua=wrong)
    assert run.returncode == 1
    assert "bench-vm: fifo2: hipec and Lua give up different pages" in run.stderr
