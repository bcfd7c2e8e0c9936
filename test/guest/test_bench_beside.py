# SPDX-License-Identifier: GPL-2.0-only
"""bench/cost/neighbour/beside.py says what a neighbour pays more than without hipec, and fails
where a run is no measurement. No time is asserted."""

import sys
import types

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT))

from bench.cost.neighbour import beside  # noqa: E402
from bench.lib import guests  # noqa: E402

GOOD = {"death": 10 ** 6, "turns": 1000, "late": 0, "exit": 0} | {
    f"{op}_{what}": ns for op in beside.OPS
    for what, ns in (("median", 5000), ("p999", 10000), ("most", 10 ** 6))}


WITH = 1 + len(beside.MODES)
ERRS = 2 * len(beside.MODES)
MOST = 12000 + beside.INTERRUPT


def bench(monkeypatch, tmp_path, capsys, number, **changes):
    """Exit status where run @number gave @changes; how many goals are missed; all that is said."""
    (tmp_path / "results").mkdir()
    (tmp_path / "results/kernel").write_text("6.12\n")
    lines = [{**GOOD, "exit": 0x41 * (at == ERRS), **(changes if at == number else {})}
             for at in range(ERRS + 1)]
    guest = types.SimpleNamespace(lines=lambda nr: lines)
    monkeypatch.setattr(guests, "run_guest", lambda *args: guest)
    args = types.SimpleNamespace(out=tmp_path, rounds=1000, mode=None)
    status = guests.call(beside.bench, "beside", args)
    text = "".join(capsys.readouterr())
    return status, text.count("NOT met"), text


@pytest.mark.parametrize("changes, nr", [
    ({}, 0),
    ({"unlink_p999": MOST, "wake_p999": 10 ** 6, "sync_most": 11 * 10 ** 6, "death": 10 ** 9}, 0),
    ({"unlink_p999": MOST + 1}, 1),
    ({"sync_most": 11 * 10 ** 6 + 1}, 1),
    ({"death": 10 ** 9 + 1}, 1)])
def test_what_a_neighbour_pays_is_said(monkeypatch, tmp_path, capsys, changes, nr):
    for number in (WITH, ERRS):
        (tmp_path / str(number)).mkdir()
        status, missed, _ = bench(monkeypatch, tmp_path / str(number), capsys, number, **changes)
        assert (status, missed) == (0, nr)


def test_what_is_missed_has_its_name(monkeypatch, tmp_path, capsys):
    text = bench(monkeypatch, tmp_path, capsys, WITH, open_p999=10 ** 6)[2]
    assert f"NOT met  beside {beside.MODES[0].name}: open 100.00 x" in text


@pytest.mark.parametrize("change", [{"exit": 0x21}, {"turns": 0}])
def test_a_run_that_measures_nothing_is_found_out(monkeypatch, tmp_path, capsys, change):
    assert bench(monkeypatch, tmp_path, capsys, WITH, **change)[0] == 1


def test_policies_that_err_end(monkeypatch, tmp_path, capsys):
    assert bench(monkeypatch, tmp_path, capsys, ERRS, exit=0)[0] == 1
