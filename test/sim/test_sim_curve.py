# SPDX-License-Identifier: GPL-2.0-only
"""hipec sim --curve: lru by its distances is lru, and other policies are as good as they say."""

import json
import os
import random
import subprocess

import pytest

from conftest import BUILD, ROOT

HIPEC = BUILD / "asan" / "hipec"
ENV = {**os.environ, "HIPEC_POLICY_PATH": str(BUILD / "policies")}
COUNTS = ("frames", "faults", "hits", "read_misses", "write_misses", "evictions", "read_pages", "written_pages",
          "reads", "writes", "accesses", "pages")


@pytest.fixture(autouse=True, scope="module")
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/hipec", "build/policies/mru.hpo"], check=True)


def sim(*args, text):
    return subprocess.run([HIPEC, "sim", *map(str, args), "-"], input=text, text=True, check=False, env=ENV,
                          capture_output=True)


def rows(*args, text):
    done = sim("--json", *args, text=text)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def brute(accesses, frames):
    """Misses and write-backs of lru, by a list."""
    held, misses, written = [], 0, 0        # [page, dirty], the last one used last
    for page, write in accesses:
        found = [one for one in held if one[0] == page]
        misses += not found
        if found:
            held.remove(found[0])
        elif len(held) == frames:
            written += held.pop(0)[1]
        held.append([page, write or bool(found and found[0][1])])
    return misses, written


def some(pages, nr, seed):
    """Popular and less popular pages, and stretches in order."""
    chance = random.Random(seed)
    return [(int(pages * chance.random() ** 3) if n % 50 < 40 else n % pages, chance.random() < 0.3)
            for n in range(nr)]


def as_text(accesses):
    return "".join(f"{'rw'[write]} {page}\n" for page, write in accesses)


def test_lru_is_that_of_a_list():
    accesses = some(200, 2500, 1)
    got = rows("--curve", "-p", "lru", text=as_text(accesses))
    assert len(got) == 20 == len({row["frames"] for row in got})
    for row in got:
        assert (row["faults"], row["written_pages"]) == brute(accesses, row["frames"]), row
        assert row["sample"]["every"] == 1 and row["sample"]["error"] == 0
    assert sum(row["sample"]["ran"] for row in got) == len(accesses)


@pytest.mark.parametrize("more", [(), ("--warm-up", "700"), ("--warm-up", "25%", "--whole-writes")])
def test_lru_by_distances_is_lru_by_runs(more):
    for seed in range(4):
        text = as_text(some(200, 3000, seed))
        args = ["-p", "lru", "-f", "1,2,3,7,20,90,150,199,200,201,5000", *more]
        curve, runs = rows("--curve", *args, text=text), rows(*args, text=text)
        assert [[row[key] for key in COUNTS] for row in curve] == [[row[key] for key in COUNTS] for row in runs]


def test_a_loop_misses_all_or_nothing():
    text = "r 0 1000\n" * 5
    for row in rows("--curve", "-p", "lru", text=text):
        assert row["faults"] == (5000 if row["frames"] < 1000 else 1000)


def test_other_policies_say_how_far_they_may_be_off():
    text = as_text(some(9000, 60000, 5))
    args = ["-p", "mru,opt", "-f", "10%,50%"]
    for true, row in zip(rows(*args, text=text), rows("--curve", *args, text=text), strict=True):
        assert (row["sample"]["every"] > 1) == (row["sample"]["error"] > 0)
        assert abs(row["faults"] - true["faults"]) <= (row["sample"]["error"] + 0.005) * row["accesses"]


def test_the_picture_has_each_policy_at_its_misses():
    done = sim("--curve", "-p", "lru,mru", "-f", "50%,100%", text="r 0 10\n" * 10)
    picture = done.stdout[done.stdout.index("misses in"):].split("\n")
    assert picture[0] == "misses in 100 accesses, with the sizes above: a lru, b mru"
    assert [line[:5] for line in picture[1:12]] == [f"{n:3} |" for n in range(100, -1, -10)]
    assert not any(line.endswith(" ") for line in picture)
    at = {(line[:3].strip(), n): line[5:][3 * n + 2:][:1].strip() for line in picture[1:12] for n in (0, 1)}
    assert at["100", 0] == "a" and at["10", 1] == "*"
    assert "".join(at.values()).count("b") == 1     # mru, with half of the pages


def test_a_curve_wants_what_a_sample_wants():
    done = sim("--curve", "--contract", text="r 1\n")
    assert done.returncode == 2 and done.stderr.startswith("hipec sim: --curve: not with --contract")
