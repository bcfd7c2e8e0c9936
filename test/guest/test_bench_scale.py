# SPDX-License-Identifier: GPL-2.0-only
"""bench/cost/scale/table.py says with which power of their number the cost of one grows, and
which goals are met. No cost is asserted."""

import sys
import types

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT))

from bench.cost.scale import table as scale  # noqa: E402
from bench.lib import guests  # noqa: E402

GOALS = 4 * len(scale.BUDGETS) + 1 + 3 + 4 + 2


def filled(power=0.0, a_frame=10):
    """All runs; each thing costs its number to the @power, and a load @a_frame ns a frame, and
    so many bytes of tables each frame in use, beside 9 that it takes plainly."""
    found = scale.runs()
    for run in found:
        cost = round(10 ** 6 * run.number ** power)
        run.got.update({"files": {"each": cost, "read": cost, "end": cost, "bytes": 9},
                        "containers": {"each": cost, "read": cost, "next": cost, "end": cost},
                        "processes": {"each": cost, "end": cost},
                        "budget": {"load": a_frame * run.number, "read": 9, "end": 9,
                                   "some": (9 + a_frame * (not run.plain)) * scale.READ,
                                   "all": (9 + a_frame * (not run.plain)) * run.number}
                        }[run.what])
    return found


def bench(monkeypatch, tmp_path, found):
    """As the Makefile calls it; the guest's part is there already."""
    (tmp_path / "results").mkdir()
    (tmp_path / "results/kernel").write_text("6.12\n")
    monkeypatch.setattr(guests, "run_guest", lambda *args: types.SimpleNamespace(
        lines=lambda number: [run.got for run in found]))
    return guests.call(scale.bench, "scale", types.SimpleNamespace(out=tmp_path))


def test_runs_differ_and_budgets_fit_the_guest():
    found = scale.runs()
    assert len(set(found)) == len(found)
    assert max(scale.BUDGETS) * guests.PAGE <= 2 << 30


@pytest.mark.parametrize("power", [-0.5, 0, 0.25, 1])
def test_a_slope_is_the_power_of_the_number(power):
    few, *_, many = [run for run in filled(power) if run.what == "files" and not run.plain]
    assert scale.slope(few, many, "each") == pytest.approx(power, abs=0.01)


@pytest.mark.parametrize("power, a_frame, missed", [
    (0, 0.01, 1),       # 10.7 ms for 4 TB
    (0, 0.009, 0),      # 9.7
    (0.1, 0.009, 9),    # all slopes
    (0, 30, 3),         # loads of 2 GB, twice, and 4 TB
    (0, 33, 9),         # and tables: 0.81 %
])
def test_goals_are_those_of_the_project(monkeypatch, tmp_path, capsys, power, a_frame, missed):
    assert bench(monkeypatch, tmp_path, filled(power, a_frame)) == 0
    out = capsys.readouterr().out
    assert (out.count("\nmet "), out.count("\nNOT met")) == (GOALS - missed, missed)
