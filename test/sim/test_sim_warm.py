# SPDX-License-Identifier: GPL-2.0-only
"""hipec sim --warm-up, and the most commands of one access."""

import json
import os
import random
import subprocess

import pytest

from conftest import BUILD, ROOT
from sim_models import Opt

pytestmark = pytest.mark.more

HIPEC = BUILD / "asan" / "hipec"
ENV = {**os.environ, "HIPEC_POLICY_PATH": str(BUILD / "policies")}
COUNTS = ("accesses", "reads", "writes", "faults", "hits", "read_misses", "write_misses",
          "evictions", "read_pages", "written_pages", "commands", "events")


@pytest.fixture(autouse=True, scope="module")
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/hipec",
                    *(f"build/policies/{name}.hpo" for name in ("mru", "fifo2", "lru"))],
                   check=True)


def sim(*args, trace):
    return subprocess.run([HIPEC, "sim", *map(str, args), "-"], text=True, check=False, env=ENV,
                          input=trace, capture_output=True)


def rows(*args, trace):
    done = sim("--json", *args, trace=trace)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def runs(nr, seed):
    """Of 1 to 9 pages of 40, some written, some with a hint."""
    rng = random.Random(seed)
    return [(rng.choice("rrw"), rng.randrange(40), rng.randrange(1, 10),
             rng.choice(("", "", " h=2"))) for _ in range(nr)]


def text(trace):
    return "".join(f"{kind} {page} {nr}{hint}\n" for kind, page, nr, hint in trace)


def cut(trace, accesses):
    """Its first accesses."""
    first = []
    for kind, page, nr, hint in trace:
        nr = min(nr, accesses)
        accesses -= nr
        first += [(kind, page, nr, hint)] if nr else []
    return first


@pytest.mark.parametrize("warm", [1, 7, 100, 331])
@pytest.mark.parametrize("mode", ["mapped", "exact"])
def test_what_is_not_counted_is_what_its_beginning_alone_would_be(mode, warm):
    """Nobody of these knows the future, so a beginning is the same by itself."""
    trace = runs(100, 5)
    policies = f"lru,fifo,clock,default,mru,fifo2,{BUILD}/policies/lru.hpo"
    args = "-m", mode, "-p", policies, "-f", "5,16,30"
    whole, first = rows(*args, trace=text(trace)), rows(*args, trace=text(cut(trace, warm)))
    for all_of_it, start, got in zip(whole, first, rows(*args, "--warm-up", warm,
                                                        trace=text(trace))):
        for key in COUNTS:
            assert got.get(key) == (all_of_it[key] - start[key] if key in start else None), key
        if "commands" in got:
            assert got["commands_per_access"] == got["commands"] / got["accesses"]


def test_opt_knows_what_is_behind_the_warm_up():
    trace = runs(100, 6)
    pages = [(page + i, kind == "w") for kind, page, nr, _ in trace for i in range(nr)]
    opt, held, faults = Opt(pages), set(), []
    for i, (page, _) in enumerate(pages):
        if page in held:
            opt.hit(page, i)
            continue
        faults.append(i)
        if len(held) == 12:
            held.remove(opt.victim(i))
        held.add(page)
        opt.bring(page, i)
    got = rows("-p", "opt", "-f", 12, "--warm-up", 200, trace=text(trace))[0]
    assert got["faults"] == sum(i >= 200 for i in faults) < len(faults)


def test_a_part_is_rounded_down_and_the_table_says_so():
    trace = "r 0 10\n" * 3
    got = sim("-p", "lru", "-f", 20, "--warm-up", "50%", "--columns", "accesses,faults",
              trace=trace)
    assert got.stdout.split("\n")[1:4] == [
        "the first 15 accesses are not counted", "ACCESSES  FAULTS", "15        0"]
    assert "not counted" not in sim("-p", "lru", "-f", 20, "--warm-up", 0, trace=trace).stdout


@pytest.mark.parametrize("value", ["", "-1", "x", "100%", "1.5", "5k", "4294967295", "10%%"])
def test_other_values_are_refused(value):
    got = sim("--warm-up", value, trace="r 0 10\n")
    assert (got.returncode, got.stdout) == (2, "")
    assert got.stderr.startswith("hipec sim: --warm-up: want accesses (100000) or a part")


@pytest.mark.parametrize("args, words", [
    (["--warm-up", 10], "-: --warm-up 10 leaves none of its 10 accesses"),
    (["--warm-up", 5, "--contract"], "--warm-up: not with --contract"),
    (["--warm-up", 5, "-p", "lru", "-f", 3, "--post-cache", "out"],
     "--post-cache: want one policy, one number of frames and one trace, and neither"),
])
def test_where_it_makes_no_sense_it_is_refused(args, words, tmp_path):
    got = sim(*(tmp_path / a if a == "out" else a for a in args), trace="r 0 10\n")
    assert (got.returncode, got.stdout) == (2, "") and words in got.stderr
    assert not (tmp_path / "out").exists()


def test_most_commands_of_one_access():
    """On a sweep all accesses are faults: those with a free frame run PageFault
    alone, all others the same Replace before."""
    args = "-p", "mru", "--columns", "most-commands"
    alone = rows(*args, "-f", 10, trace="r 0 10\n")[0]
    both = rows(*args, "-f", 4, trace="r 0 10\n")[0]
    assert alone["commands"] == 10 * alone["most_commands"]
    replace = both["most_commands"] - alone["most_commands"]
    assert replace > 0 and both["commands"] == alone["commands"] + 6 * replace
    # A warm-up forgets those before it: all that follows is hit.
    assert rows(*args, "-f", 10, "--warm-up", 10, trace="r 0 10\n" * 2)[0]["most_commands"] == 0
    assert sim(*args, "-f", 4, trace="r 0 10\n").stdout.split("\n")[1:3] == [
        "MOST-COMMANDS", str(both["most_commands"])]
