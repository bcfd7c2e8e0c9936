# SPDX-License-Identifier: GPL-2.0-only
"""bench/cost/tree/table.py says what a tree cost, and fails where fewer files were taken than
there are, but for those that no container takes."""

import json
import sys
import types

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT))

from bench.cost.tree import table as tree  # noqa: E402
from bench.lib import guests  # noqa: E402


def bench(monkeypatch, tmp_path, files, taken):
    """As the Makefile calls it; the guest's part is there already. A file costs 30,000
    instructions to take, 3,000 to let go, and 1,000 bytes until then."""
    (tmp_path / "results").mkdir()
    (tmp_path / "results/kernel").write_text("6.12\n")
    (tmp_path / "results/status").write_text(json.dumps([{"regions": taken}]))
    for name in ("words", "log"):
        (tmp_path / "results" / name).write_text(f"some {name}\n")
    lines = [{"each": 30_000 * taken, "bytes": 1000 * taken},
             {"each": 3000 * taken, "bytes": str(-200 * taken)}]
    monkeypatch.setattr(tree, "run_guest", lambda *args: types.SimpleNamespace(
        lines=lambda number: lines[:number]))
    return guests.call(tree.bench, "tree", types.SimpleNamespace(out=tmp_path, files=files))


@pytest.mark.parametrize("files, taken", [(100_000, 100_000), (1_000_000, 557_055)])
def test_it_says_what_was_taken_and_what_that_cost(monkeypatch, tmp_path, capsys, files, taken):
    assert bench(monkeypatch, tmp_path, files, taken) == 0
    out = capsys.readouterr().out
    for text in (f"{files:,} files of one page, {taken:,} taken", "30,000 instructions a file",
                 f"attach: {taken / 1e5:.1f} s", "3,000 instructions a file", "1,000 bytes a file",
                 f"{taken / 5000:,.0f} MB less", "some words", "some log"):
        assert text in out, out


def test_files_that_were_not_taken_are_a_failure(monkeypatch, tmp_path, capsys):
    assert bench(monkeypatch, tmp_path, 100_000, 99_999) == 1
    assert "99,999 files are taken of 100,000" in capsys.readouterr().err
