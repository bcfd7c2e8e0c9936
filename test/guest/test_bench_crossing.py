# SPDX-License-Identifier: GPL-2.0-only
"""What bench/cost/crossing/table.py compares is the same decision, and a run that counts
something else is found out. No time is asserted."""

import subprocess
import sys

import pytest

from conftest import BUILD, ROOT

sys.path.insert(0, str(ROOT))

from bench.cost.crossing import table as crossing  # noqa: E402

pytestmark = pytest.mark.more

PROGRAM = BUILD / "bench/cost/crossing/crossing"
FRAMES = 10


@pytest.fixture(scope="module", autouse=True)
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "build/bench/cost/crossing/crossing"], check=True)


def run(*words):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, check=True)
    return dict(word.split("=") for word in done.stdout.split())


@pytest.mark.parametrize("way", ["here", "futex", "pipe", "eventfd"])
def test_all_ways_take_the_same_pages(way):
    """The program checks each victim itself."""
    got = run(way, 50, FRAMES)
    assert (got["bench"], got["n"], got["evictions"]) == (way, "50", "40")


def test_program_that_asks_nobody_faults_on_what_it_evicted():
    got = run("touch", 32, 3, FRAMES)
    assert (got["n"], got["evictions"]) == ("96", "86")
    assert int(got["minor"]) >= 96


def test_wrong_words_are_refused():
    assert subprocess.run([PROGRAM, "pigeon", "5", "5"], stderr=subprocess.DEVNULL,
                          check=False).returncode == 2


@pytest.mark.parametrize("thing", crossing.THINGS, ids=lambda thing: thing.name)
@pytest.mark.parametrize("times", crossing.TIMES)
def test_wrong_counts_are_found_out(thing, times):
    n = thing.count(times)
    right = {"n": n, "evictions": n - crossing.FRAMES, "minor": n + 2}
    if thing.name == "a system call":
        right["evictions"] = 0
    if "sweep" in thing.command:
        right = {"policy": "fifo2", "faults": n, "pages_in": n, "helped": 0, "exit": 0,
                 "evictions": n - crossing.FRAMES}
    crossing.check(thing, times, right)
    for key, value in right.items():
        if key in ("policy", "minor"):
            continue
        with pytest.raises(crossing.Failed, match=f"{key} is {value + 1}, not {value}"):
            crossing.check(thing, times, {**right, key: value + 1})


def test_cost_is_of_one_and_must_not_change():
    n = crossing.N
    runs = [{"bench": "x", "n": n * times, "elapsed_ns": 700 + 30 * n * times} for times in crossing.TIMES]
    assert crossing.cost(runs) == 30
    runs[1]["elapsed_ns"] += 2 * n      # 32 a piece, then 28
    with pytest.raises(crossing.Failed, match="x: "):
        crossing.cost(runs)
