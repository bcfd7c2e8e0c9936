# SPDX-License-Identifier: GPL-2.0-only
"""--policy auto: a league beside the policy that runs, and take-overs that keep all pages."""

import json
import os
import pathlib
import random
import subprocess

import pytest

pytestmark = pytest.mark.more

ROOT = pathlib.Path(__file__).resolve().parents[2]
POLICIES = ROOT / "build" / "policies"
HIPEC = ROOT / "build" / "asan" / "hipec"
GRAFT = ROOT / "build" / "asan" / "graft"

# These go through the page table by number: PageAt. Handles change in a take-over.
BY_NUMBER = {"lhd", "mglru", "random2"}


def run(*args, ok=True):
    """hipec sim"""
    done = subprocess.run([HIPEC, "sim", *map(str, args)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False,
                          env={**os.environ, "HIPEC_POLICY_PATH": str(POLICIES)})
    assert (done.returncode == 0) == ok, done.stderr
    return done


def rows(trace, frames, *args, policies="builtin,auto"):
    """{policy: row}"""
    done = run("--json", "--mode", "exact", "--policy", policies, "--frames", frames, *args, trace)
    return {row["policy"]: row for row in json.loads(done.stdout)}


def write(path, pages):
    """A trace of reads."""
    path.write_text("".join(f"r {page}\n" for page in pages))
    return path


def test_a_policy_that_takes_over_goes_on_as_its_team():
    names = sorted(path.stem for path in POLICIES.glob("*.hpo"))
    compared = [name for name in names if name not in BY_NUMBER]
    assert len(compared) > 30
    done = subprocess.run([GRAFT, *(POLICIES / f"{name}.hpo" for name in compared)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("6000 accesses alike") == len(compared)


def test_a_loop_is_mru_s_within_its_second_sweep(tmp_path):
    trace = write(tmp_path / "loop", list(range(1000)) * 20)
    row = rows(trace, 700, "--among", "mru,lru,arc")["auto"]
    first = row["league"]["switches"][0]
    assert first["policy"] == "mru" and 1000 < first["access"] <= 2000
    assert row["league"]["runs"] == "mru"
    # The best is 1000 + 19 * 301: what was lost is at most one sweep's hits.
    assert 1000 + 19 * 301 <= row["faults"] <= 1000 + 19 * 301 + 700


def test_who_has_nothing_to_gain_never_changes(tmp_path):
    trace = write(tmp_path / "once", range(5000))
    result = rows(trace, 100)
    assert result["auto"]["league"]["nr_switches"] == 0
    assert result["auto"]["faults"] == result["builtin"]["faults"] == 5000


def test_with_all_pages_in_the_sample_a_team_misses_what_its_policy_does(tmp_path):
    rng = random.Random(7)
    pages = [int(600 ** rng.random()) for _ in range(20_000)]
    trace = write(tmp_path / "zipf", pages)
    others = "mru,arc,s3-fifo,lirs"
    result = rows(trace, 100, "--among", others, policies=f"builtin,auto,{others}")
    league = result["auto"]["league"]
    assert league["one_page_in"] == 1 and league["sampled_accesses"] == len(pages)
    # A team that has run since goes on with what the container had.
    ran = {s["policy"] for s in league["switches"]}
    never = [team for team in league["teams"] if team["policy"] not in ran]
    assert len(never) >= 2
    for team in never:
        assert team["sampled_misses"] == result[team["policy"]]["faults"]


def test_phases_are_followed(tmp_path):
    rng = random.Random(3)
    loop = list(range(400)) * 30
    hot = [1000 + int(500 ** rng.random()) for _ in range(12_000)]
    trace = write(tmp_path / "phases", (loop + hot) * 2)
    among = "mru,lru,lirs,w-tinylfu"
    result = rows(trace, 120, "--among", among, policies=f"builtin,auto,{among}")
    faults = {name: row["faults"] for name, row in result.items()}
    auto = faults.pop("auto")
    assert auto < 1.03 * min(faults.values())
    assert auto < 0.9 * faults["builtin"]


def test_a_sample_finds_what_all_pages_find(tmp_path):
    trace = write(tmp_path / "loop", list(range(6000)) * 12)
    row = rows(trace, 4096, "--among", "mru,lru")["auto"]
    assert row["league"]["one_page_in"] == 4
    assert row["league"]["runs"] == "mru"
    assert row["faults"] <= 1.1 * (6000 + 11 * (6000 - 4096 + 1))


def test_a_policy_that_rehearsed_takes_over(tmp_path):
    """Where hits are at stake, and a sample plays: 2,000 pages in use beside a long scan."""
    rng = random.Random(5)
    pages = [rng.randrange(2000) if i % 2 else 10_000 + i for i in range(120_000)]
    trace = write(tmp_path / "scan", pages)
    result = rows(trace, 2500, "--among", "w-tinylfu", policies="builtin,auto,w-tinylfu")
    faults = {name: row["faults"] for name, row in result.items()}
    assert result["auto"]["league"]["one_page_in"] == 2
    assert result["auto"]["league"]["runs"] == "w-tinylfu"
    assert faults["auto"] < faults["builtin"] - (faults["builtin"] - faults["w-tinylfu"]) / 2


@pytest.mark.parametrize("args, message", [
    (["--policy", "auto"], "auto: want --mode exact"),
    (["--policy", "lru", "--among", "mru"], "--among: want --policy auto"),
    (["--policy", "auto", "--mode", "exact", "--among", "mrx"], "there is no such policy"),
    (["--policy", "auto", "--mode", "exact", "--among", ",".join(["mru"] * 16)], "at most"),
])
def test_what_cannot_be_is_said(tmp_path, args, message):
    trace = write(tmp_path / "t", range(10))
    assert message in run(*args, trace, ok=False).stderr


def test_what_was_sent_back_is_not_sent_forth_at_once(tmp_path):
    """In a loop mru adopts the last pages of it, where its team has the first: it is sent back,
    and what is back would miss more than its team for the same reason. To and fro, there were
    57 take-overs, and 1.3 times as many misses."""
    pages, seed = list(range(10_000)) * 3, 0
    for _ in range(240_000):
        n = 10_000
        for _ in range(3):
            seed = (seed * 1664525 + 1013904223) % 2 ** 32
            n = (seed * n >> 32) + 1
        pages.append(n - 1)
    trace = write(tmp_path / "set", pages + list(range(10_000)) * 12)
    row = rows(trace, 4096, "--among", "mru,arc,w-tinylfu", policies="auto")["auto"]
    assert row["league"]["nr_switches"] <= 12 and row["faults"] <= 140_000
