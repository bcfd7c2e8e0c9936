# SPDX-License-Identifier: GPL-2.0-only
"""bench/cost/cache/table.py finds runs that are wrong, and says which goals are met. No time is
asserted."""

import sys
import types

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT))

from bench.cost.cache import table as cache  # noqa: E402
from bench.lib import guests  # noqa: E402

A_HIT, A_MISS = 2000, 14000


def filled(more=0, **changes):
    """All runs, those of policies with @more instructions for each page; @changes: of misses
    under fifo."""
    table = cache.runs()
    for (what, policy), run in table.items():
        read = 0 if what in ("hits4", "hits64", "opens") else run.pages()
        if what == "misses" and policy == "mru":
            read //= 2
        each = A_MISS if read else A_HIT
        took = (read or run.pages()) * (each + more * (policy in cache.POLICIES))
        took += (run.pages() - read) * (A_HIT + more) if read else 0
        run.got.update(first=took // 2, second=took // 2, first_pages=read // 2,
                       second_pages=read // 2, pages_in=read * bool(run.policy),
                       hits=0, commands=0, evictions=0, resident=0, exit=0)
    table["misses", "fifo"].got.update(changes)
    return table


def bench(monkeypatch, tmp_path, table):
    """As the Makefile calls it; the guest's part is there already."""
    (tmp_path / "results").mkdir()
    (tmp_path / "results/kernel").write_text("6.12\n")
    lines = [cache.Run("misses"), *table.values()]
    monkeypatch.setattr(cache, "runs", lambda: {
        key: cache.Run(run.what, run.policy, run.taken) for key, run in table.items()})
    monkeypatch.setattr(guests, "run_guest", lambda *args: types.SimpleNamespace(
        lines=lambda number: [run.got for run in lines]))
    return guests.call(cache.bench, "cache", types.SimpleNamespace(out=tmp_path))


def test_what_costs_nothing_meets_all_goals(monkeypatch, tmp_path, capsys):
    assert bench(monkeypatch, tmp_path, filled()) == 0
    out = capsys.readouterr().out
    assert "NOT met" not in out and out.count("\nmet ") == len(cache.goals(filled()))


def test_what_costs_too_much_is_said(monkeypatch, tmp_path, capsys):
    assert bench(monkeypatch, tmp_path, filled(more=700)) == 0
    out = capsys.readouterr().out
    assert "NOT met  a hit of 4 KB, fifo: +700, at most +130" in out
    assert "met      a hit of 4 KB, arc: +700, at most +700" in out
    # Hits are taken off at what they cost under the policy itself.
    assert "NOT met  a miss, mru: +5.0 %, at most +3 %" in out


@pytest.mark.parametrize("change, words", [
    ({"first": 1}, "a page of the first half takes"),
    ({"exit": 0x41}, "the policy ended"),
    ({"pages_in": 10 ** 6}, "pages in, 16384 of the disk"),
    ({"first_pages": 8000, "second_pages": 8000, "pages_in": 16000}, "16000 pages read of 16384"),
])
def test_a_run_that_cannot_be_right_is_found(monkeypatch, tmp_path, capsys, change, words):
    assert bench(monkeypatch, tmp_path, filled(**change)) == 1
    assert words in capsys.readouterr().err


def test_a_hit_that_read_something_is_none():
    table = filled()
    table["hits4", ""].got.update(first_pages=1)
    assert "1 pages were not resident" in table["hits4", ""].complaint() or \
        "first half" in table["hits4", ""].complaint()
