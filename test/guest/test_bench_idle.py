# SPDX-License-Identifier: GPL-2.0-only
"""What bench/cost/idle/table.py compares is the same faults, and a module that costs something is found
out. No time is asserted."""

import subprocess
import sys
import types

import pytest

from conftest import BUILD, ROOT

sys.path.insert(0, str(ROOT))

from bench.cost.idle import table as idle  # noqa: E402
from bench.lib import guests  # noqa: E402


def runs(slower=0.0, **changes):
    """All runs of a guest in which the module makes faults slower, so many percent."""
    got = {}
    for number, state in enumerate(idle.STATES):
        for what, rounds in idle.ROUNDS.items():
            took = 10 ** 9 + number * 100
            run = {"rounds": rounds, "minor": rounds * idle.PAGES // 16, "major": 0,
                   "elapsed_ns": round(took * (1 + slower / 100 * (state == "with")))}
            got.setdefault((state, what), []).append(
                {**run, **(changes if state == "with" else {})})
    return got


def test_the_difference_is_that_of_the_middle_runs():
    row = idle.compare(runs(slower=0.5), "hits")
    assert abs(row["difference"] - 0.5) < 0.01 and abs(row["control"]) < 0.01
    assert row["noise"] < 0.01 and row["faults"] == idle.ROUNDS["hits"] * idle.PAGES // 16


@pytest.mark.parametrize("slower, status", [(0, 0), (0.05, 0), (0.2, 1), (-0.2, 1)])
def test_a_module_that_can_be_measured_fails(monkeypatch, tmp_path, capsys, slower, status):
    (tmp_path / "results").mkdir()
    (tmp_path / "results/kernel").write_text("6.12\n")
    monkeypatch.setattr(idle, "boot", lambda args: runs(slower=slower))
    assert guests.call(idle.bench, "idle", types.SimpleNamespace(out=tmp_path)) == status
    assert ("can be measured" in capsys.readouterr().err) == bool(status)


@pytest.mark.parametrize("change", [{"minor": 1}, {"major": 7}])
def test_other_faults_are_no_comparison(change):
    with pytest.raises(guests.Failed, match="not the same faults"):
        idle.compare(runs(**change), "hits")


def test_a_run_that_is_missing_is_found():
    got = runs()
    got["with", "hits"].pop()
    with pytest.raises(guests.Failed, match="a run is missing"):
        idle.compare(got, "hits")


def test_the_program_counts_its_faults(tmp_path):
    subprocess.run(["make", "-s", "-C", ROOT, "build/bench/cost/idle/faults"], check=True)
    (tmp_path / "data").write_bytes(bytes(4096 * 256))
    done = subprocess.run([BUILD / "bench/cost/idle/faults", "hits", "5", tmp_path / "data"],
                          capture_output=True, text=True, check=True)
    got = dict(word.split("=") for word in done.stdout.split())
    assert (got["what"], got["rounds"]) == ("hits", "5")
    # A fault maps what is around it, how much is the kernel's business.
    assert 5 <= int(got["minor"]) + int(got["major"]) <= 5 * 256 + 16
