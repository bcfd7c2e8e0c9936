# SPDX-License-Identifier: GPL-2.0-only
"""bench/cost/threads/table.py takes the middle of shares of rounds, finds runs that are wrong, and
says which goals are met. No time is asserted."""

import sys
import types

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT))

from bench.cost.threads import table as threads  # noqa: E402
from bench.lib import guests  # noqa: E402

SECOND = 10 ** 9


def filled(share=1.0, rounds=3, policy="fifo", whats=tuple(threads.WHATS), **changes):
    """All runs of @whats; hipec's do @share as much. @changes: of the last."""
    table = threads.runs(policy, rounds, whats)
    for run in table:
        done = int(100_000 * (share if run.policy else 1))
        run.got.update(done=done, elapsed=SECOND, exit=0, oom=0, evictions=0, resident=0,
                       pages=0 if run.what == "hits" else done // 2)
    table[-1].got.update(changes)
    return table


def bench(monkeypatch, tmp_path, table, policy="fifo"):
    """As the Makefile calls it; the guest's part is there already."""
    (tmp_path / "results").mkdir()
    (tmp_path / "results/kernel").write_text("6.12\n")
    monkeypatch.setattr(guests, "run_guest", lambda *args: types.SimpleNamespace(
        lines=lambda number: [run.got for run in table]))
    return guests.call(threads.bench, "threads", types.SimpleNamespace(
        out=tmp_path, policy=policy, rounds=3, cpus=2,
        what=tuple(dict.fromkeys(run.what for run in table))))


def test_each_round_has_both_turn_and_turn_about():
    table = threads.runs("fifo", 2)
    assert [run.policy for run in table[:2]] == ["fifo", ""]
    half = len(table) // 2
    assert [run.policy for run in table[half:half + 2]] == ["", "fifo"]
    assert len(set(table)) == len(table) == 2 * 2 * len(threads.WHATS) * len(threads.THREADS)


@pytest.mark.parametrize("share, met", [(1.0, 16), (0.97, 12), (0.92, 4), (0.85, 3), (0.5, 0)])
def test_goals_are_those_of_the_project(monkeypatch, tmp_path, capsys, share, met):
    assert bench(monkeypatch, tmp_path, filled(share)) == 0
    out = capsys.readouterr().out
    assert (out.count("\nmet "), out.count("\nNOT met")) == (met, 16 - met)


@pytest.mark.parametrize("share, met", [(0.92, 4), (0.85, 0)])
def test_a_region_under_a_policy_that_reads_bits_may_be_slower(monkeypatch, tmp_path, capsys,
                                                               share, met):
    table = filled(share, policy="fifo2", whats=("regions",))
    assert bench(monkeypatch, tmp_path, table, "fifo2") == 0
    assert capsys.readouterr().out.count("\nmet ") == met


def test_the_middle_of_the_rounds_counts():
    table = filled(1.0)
    slow = next(run for run in table if run.policy and (run.what, run.threads) == ("maps", 8))
    slow.got["done"] //= 4
    assert threads.shares(table, "maps", 8) == [0.25, 1.0, 1.0]
    assert "met      misses of a map, 8 threads: 1.00" in "\n".join(threads.goals(table, "fifo"))


@pytest.mark.parametrize("change, words", [
    ({"oom": 1}, "1 killed for memory"),
    ({"exit": 0x41}, "the policy ended"),
    ({"pages": 10}, "10 pages read for 100000"),
    ({"status": 137, "oom": 1}, "status 137"),
])
def test_a_run_that_cannot_be_right_is_found(monkeypatch, tmp_path, capsys, change, words):
    assert bench(monkeypatch, tmp_path, filled(**change)) == 1
    assert words in capsys.readouterr().err
