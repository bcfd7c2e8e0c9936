# SPDX-License-Identifier: GPL-2.0-only
"""hipec sim --sample: what some of the pages say of all of them, and how far that may be off.
bench/cost/sample.py looks at more policies, on traces of a million accesses."""

import json
import os
import subprocess

import pytest

from conftest import BUILD, ROOT

pytestmark = pytest.mark.more

HIPEC = BUILD / "asan" / "hipec"
ENV = {**os.environ, "HIPEC_POLICY_PATH": str(BUILD / "policies")}


@pytest.fixture(autouse=True, scope="module")
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/hipec",
                    *(f"build/policies/{name}.hpo" for name in ("mru", "arc", "amp"))], check=True)


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    """{name: file}"""
    folder = tmp_path_factory.mktemp("sample")
    found = {}
    for name, words in {"zipf": "zipf --pages 60000 --accesses 200000 --writes 20",
                        "loop": "loop --pages 20000 --accesses 100000",
                        "small": "zipf --pages 900 --accesses 9000"}.items():
        found[name] = folder / f"{name}.trace"
        subprocess.run([HIPEC, "trace", "make", *words.split(), found[name]], check=True)
    return found


def sim(*args):
    return subprocess.run([HIPEC, "sim", *map(str, args)], text=True, check=False, env=ENV,
                          capture_output=True)


def rows(*args):
    done = sim("--json", *args)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def ratio(row):
    return row["faults"] / row["accesses"]


def test_an_estimate_is_within_a_point_of_the_truth(traces):
    args = ["-m", "exact", "-p", "lru,arc,mru,opt", "-f", "5%,20%,50%", traces["zipf"]]
    for true, row in zip(rows(*args), rows("--sample", "1/64", *args), strict=True):
        sample = row["sample"]
        assert sample["every"] in (1, 4, 8) and sample["error"] <= 0.005
        assert abs(ratio(true) - ratio(row)) <= 0.01, (true, row)
        # What is known of the whole is said of the whole.
        for key in ("frames", "pages", "accesses", "reads", "writes"):
            assert row[key] == true[key]
        assert row["hits"] + row["faults"] == row["accesses"]
        assert row["read_misses"] + row["write_misses"] == row["faults"]


def test_a_sample_is_as_small_as_pages_and_frames_allow(traces):
    """At least 2,048 pages, and 128 frames."""
    pages = rows("-p", "lru", "-f", "1", traces["zipf"])[0]["pages"]
    for frames, least in [(200, 1), (300, 2), (1100, 8), (8192, 8)]:
        sample, = (row["sample"] for row in rows("--sample", "1/64", "-p", "lru", "-f", frames,
                                                 traces["zipf"]))
        assert sample["every"] <= least <= pages // 2048
        if sample["every"] > 1:
            assert sample["frames"] == pytest.approx(frames / sample["every"], rel=0.01)
            assert sample["pages"] == pytest.approx(pages / sample["every"], rel=0.01)


def test_a_loop_is_estimated_without_an_error(traces):
    """Frames shrink with the pages, as exactly as they can: a loop does not fit by chance."""
    args = ["-p", "lru,mru", "-f", "19000", traces["loop"]]
    (lru, mru), (true, truth) = rows("--sample", "1/8", *args), rows(*args)
    assert lru["sample"]["every"] == 8 and lru["faults"] == true["faults"] == 100000
    assert mru["sample"]["every"] == 8 and abs(ratio(mru) - ratio(truth)) < 0.002


def test_what_is_too_small_is_run_as_it_is(traces):
    args = ["-p", "lru,mru,opt", "-f", "50%", traces["small"]]
    for true, row in zip(rows(*args), rows("--sample", "1/64", *args), strict=True):
        sample = row.pop("sample")
        assert row == true
        assert sample == {"every": 1, "pages": row["pages"], "accesses": 9000, "ran": 9000,
                          "frames": row["frames"], "error": 0}


def test_half_of_the_pages_are_no_sample(traces):
    """With their quarters they would be as many accesses as all have."""
    args = ["-m", "exact", "-p", "lru,mru", "-f", "20%", traces["zipf"]]
    for true, row in zip(rows(*args), rows("--sample", "1/2", *args), strict=True):
        assert row.pop("sample") == {"every": 1, "pages": row["pages"], "accesses": row["accesses"],
                                     "ran": row["accesses"], "frames": row["frames"], "error": 0}
        assert row == true


def test_accesses_that_warm_up_are_not_counted(traces):
    args = ["--warm-up", "50%", "-p", "lru,opt", "-f", "20%", traces["zipf"]]
    for true, row in zip(rows(*args), rows("--sample", "1/4", *args), strict=True):
        assert row["sample"]["every"] > 1 and row["accesses"] == true["accesses"] == 100000
        assert row["writes"] == true["writes"] and abs(ratio(true) - ratio(row)) <= 0.01


def test_the_result_does_not_depend_on_how_many_run_at_a_time(traces):
    args = ["--sample", "1/16", "-p", "lru,arc,mru", "-f", "10%,20%,40%", traces["zipf"]]
    assert rows("-J", "1", *args) == rows("-J", "4", *args)


def test_the_table_shows_the_error_and_the_part(traces):
    done = sim("--sample", "1/4", "-p", "lru", "-f", "50%", traces["loop"])
    assert done.stdout.splitlines()[1].split() == [
        "POLICY", "FRAMES", "FAULTS", "HITS%", "ERROR%", "SAMPLE", "COMMANDS/ACCESS", "STATE"]
    assert done.stdout.splitlines()[2].split() == [
        "lru", "10000", "100000", "0.00", "0.00", "1/4", "-", "built", "in"]


@pytest.mark.parametrize("args, says", [
    (["--sample", "64"], "--sample: want 1/N with a power of two up to 65536, as 1/64, not '64'"),
    (["--sample", "1/48"], "not '1/48'"), (["--sample", "1/"], "not '1/'"),
    (["--sample", "1/131072"], "not '1/131072'"), (["--sample", "1/-2"], "not '1/-2'"),
    (["--sample", "1/2", "--contract"], "--sample: not with --contract, --post-cache or --hints"),
    (["--sample", "1/2", "-p", "amp"], "--sample: a policy here is fed by a detector, which wants all"),
])
def test_what_cannot_be_is_said(traces, args, says):
    done = sim(*args, traces["small"])
    assert done.returncode == 2 and says in done.stderr
    assert not done.stdout


def test_a_policy_that_is_fed_runs_without(traces):
    assert rows("--sample", "1/2", "--detector", "none", "-p", "amp", traces["small"])


def test_a_sample_becomes_a_trace(traces, tmp_path):
    """The same pages as hipec sim runs: with as small a part of the frames it has the same faults."""
    out = tmp_path / "some.trace"
    subprocess.run([HIPEC, "trace", "convert", "--sample", "1/8", traces["loop"], out], check=True)
    row, = rows("-p", "mru", "-f", "50%", out)
    sample = rows("--sample", "1/8", "-p", "mru", "-f", "50%", traces["loop"])[0]["sample"]
    assert (row["pages"], row["accesses"], row["frames"]) == (2500, 12500, 1250) == (
        sample["pages"], sample["accesses"], sample["frames"])
    none = subprocess.run([HIPEC, "trace", "convert", "--sample", "1/65536", traces["small"], out],
                          text=True, capture_output=True, check=False)
    assert none.returncode == 1 and "--sample: no page is left" in none.stderr
    made = subprocess.run([HIPEC, "trace", "make", "loop", "--sample", "1/2"], text=True,
                          capture_output=True, check=False)
    assert made.returncode == 2 and "has no such option" in made.stderr
