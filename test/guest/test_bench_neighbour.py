# SPDX-License-Identifier: GPL-2.0-only
"""bench/cost/neighbour/table.py fails where a neighbour pays for somebody else's policy, and
where a run is no measurement. No time is asserted."""

import sys
import types

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT))

from bench.cost.neighbour import table as neighbour  # noqa: E402
from bench.lib import guests  # noqa: E402

GOOD = {"faults": 16384, "median": 16000, "p99": 23000, "p999": 26000, "most": 100000,
        "others_given": 5000, "others_late": 0, "others_exit": 0, "exit": 0}


def bench(monkeypatch, tmp_path, number, **changes):
    """Exit status where run @number gave @changes."""
    (tmp_path / "results").mkdir()
    (tmp_path / "results/kernel").write_text("6.12\n")
    lines = [{**GOOD, **(changes if at == number else {})}
             for at in range(len(neighbour.RUNS))]
    guest = types.SimpleNamespace(lines=lambda nr: lines)
    monkeypatch.setattr(guests, "run_guest", lambda *args: guest)
    return guests.call(neighbour.bench, "neighbour", types.SimpleNamespace(out=tmp_path))


@pytest.mark.parametrize("number", [2, 3])
@pytest.mark.parametrize("more, status", [(0, 0), (neighbour.LIMIT, 0), (neighbour.LIMIT + 1, 1)])
def test_a_neighbour_who_pays_fails(monkeypatch, tmp_path, capsys, number, more, status):
    assert bench(monkeypatch, tmp_path, number, p999=GOOD["p999"] + more) == status
    assert ("pays more" in capsys.readouterr().err) == bool(status)


def test_what_others_may_take_on_demand_is_only_shown(monkeypatch, tmp_path):
    assert not bench(monkeypatch, tmp_path, len(neighbour.RUNS) - 1, p999=10 ** 7)


@pytest.mark.parametrize("change", [{"exit": 0x21}, {"faults": 9999}, {"others_given": 0}])
def test_a_run_that_measures_nothing_is_found_out(monkeypatch, tmp_path, change):
    assert bench(monkeypatch, tmp_path, 1, **change)
