# SPDX-License-Identifier: GPL-2.0-only
"""bench/cost/writers/table.py leaves out the page cache's stalls, and no others; it finds runs that
are wrong, and says which goals are met. No time is asserted."""

import sys
import types

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT))

from bench.cost.writers import table as writers  # noqa: E402
from bench.lib import guests  # noqa: E402

SECOND = 10 ** 9


def filled(system, slower=1.0, **changes):
    """All runs on a file system; hipec's take @slower times as long. @changes: of the last."""
    table = writers.runs(system, "lru", 3)
    for run in table:
        run.got.update(pages=run.pages(), hog=0, elapsed=int(SECOND * (slower if run.policy else 1)),
                       longest=5_000_000 * run.case.reader, reads=100, exit=0, evictions=0, oom=0)
    table[-1].got.update(changes)
    return table


def bench(monkeypatch, tmp_path, tables):
    """As the Makefile calls it; the guests' part is there already."""
    for system in writers.SYSTEMS:
        (tmp_path / system / "results").mkdir(parents=True)
    (tmp_path / "ext4/results/kernel").write_text("6.12\n")
    monkeypatch.setattr(guests, "run_guest", lambda one, *args: types.SimpleNamespace(
        lines=lambda number: [run.got for run in tables[one.out.name]]))
    return guests.call(writers.bench, "writers", types.SimpleNamespace(
        out=tmp_path, kernel="6.12", guest="", policy="lru", rounds=3, system=None))


def all_systems(slower=1.0):
    """What bench() wants."""
    return {system: filled(system, slower) for system in writers.SYSTEMS}


@pytest.mark.parametrize("slower, missed", [(1.0, 0), (1.15, 36), (1.5, 48)])
def test_goals_are_those_of_the_project(monkeypatch, tmp_path, capsys, slower, missed):
    """A hog beside may cost more."""
    assert bench(monkeypatch, tmp_path, all_systems(slower)) == 0
    out = capsys.readouterr().out
    assert out.count("NOT met") == missed
    assert out.count("\nmet ") == 48 + 12 + 1 - missed


def test_only_the_page_cache_s_stalls_are_left_out():
    table = filled("xfs")
    first = table[1]
    assert not first.policy
    first.got["elapsed"] *= 3
    row = writers.row(table, first)
    assert (row.stalls, row.share) == (1, 1.0)
    for run in table:
        if run.policy and (run.what, run.case) == (first.what, first.case):
            run.got["elapsed"] *= 3
    assert round(writers.row(table, first).share, 2) == 0.33


def test_a_longer_read_is_said(monkeypatch, tmp_path, capsys):
    tables = all_systems()
    longer = next(run for run in tables["btrfs"] if run.policy and run.case.reader)
    longer.got["longest"] += 1_000_000
    assert bench(monkeypatch, tmp_path, tables) == 0
    assert "NOT met  btrfs, sequential: the longest read beside it 6.0 ms, at most the page " \
        "cache's 5.0" in capsys.readouterr().out


@pytest.mark.parametrize("change, words", [
    ({"oom": 1}, "1 killed for memory"),
    ({"exit": 0x41}, "the policy ended"),
    ({"pages": 10}, "10 pages written"),
])
def test_a_run_that_cannot_be_right_is_found(monkeypatch, tmp_path, capsys, change, words):
    tables = {**all_systems(), "btrfs": filled("btrfs", **change)}
    assert bench(monkeypatch, tmp_path, tables) == 1
    assert words in capsys.readouterr().err
