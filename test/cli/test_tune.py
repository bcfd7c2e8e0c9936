# SPDX-License-Identifier: GPL-2.0-only
"""hipec tune finds the values that are best and says what they gain on traces that it did not see;
hipec judge answers programs that write policies."""

import json
import math
import re
import subprocess

import pytest

from conftest import ROOT, valid
from test_sweep import ENV, HIPEC, VENV

pytestmark = [pytest.mark.sweep,
              pytest.mark.skipif(not (VENV / "ready").exists(),
                                 reason="no Optuna in the cache; make packages-sweep installs it")]

# From the newest page on or from the oldest: of a loop the first is right. `other` does nothing.
POLICY = """// SPDX-License-Identifier: GPL-2.0-only
// What goes is the newest page, or the oldest.

//! expect trace=sweep-100x10 frames=50 faults=1000
Event Init()
{
	param Int newest = 0 in 0..1, other = 5000 in 0..1000000;	/* other = 7 */
	param Int free = 3;
	Queue q;
	Page page;
}

Event PageFault()
{
	EnQueue(FindPA(FaultedAddress), q, TAIL);
}

Event Replace()
{
	page = newest ? Peek(q, TAIL) : Peek(q, HEAD);
	EnQueue(page, _free_queue, TAIL);
}
"""


@pytest.fixture
def here(tmp_path):
    """A policy, and loops that differ."""
    (tmp_path / "p.hp").write_text(POLICY)
    for number in range(1, 7):
        subprocess.run([HIPEC, "trace", "make", "loop", "--pages", str(100 * number), "--accesses",
                        "6000", f"loop-{number}.trace"], check=True, cwd=tmp_path)
    return tmp_path


def tune(here, *args, env=None):
    traces = sorted(path.name for path in here.glob("*.trace"))
    return subprocess.run([HIPEC, "tune", "--trials", "16", "-f", "50%", *args, "p.hp", *traces],
                          cwd=here, env=env or ENV, text=True, capture_output=True, check=False)


def faults(here, trace, newest):
    row, = json.loads(subprocess.run(
        [HIPEC, "sim", "--json", "-p", "p.hp", "-f", "50%", "--param", f"newest={newest}", trace],
        cwd=here, env=ENV, capture_output=True, check=True).stdout)
    return row["faults"]


def test_it_finds_what_is_best_and_says_what_that_gains(here):
    done = tune(here, "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == "hipec tune: free has no range, and keeps its value\n"
    found = valid("tune", json.loads(done.stdout))
    assert found["best"]["newest"] == 1 and found["params"] == {"newest": 0, "other": 5000}
    assert len(found["tuned_on"]) == len(found["held_out"]) == 3
    assert not set(found["tuned_on"]) & set(found["held_out"])
    changes = [math.log(faults(here, trace, 1) / faults(here, trace, 0)) for trace in found["held_out"]]
    mean = sum(changes) / 3
    assert found["gain"]["percent"] == pytest.approx(100 * (1 - math.exp(mean)))
    half = 4.303 * math.sqrt(sum((one - mean) ** 2 for one in changes) / 2 / 3)
    assert found["gain"]["least"] == pytest.approx(100 * (1 - math.exp(mean + half)))
    assert found["gain"]["is_gain"]
    # The file says so, has the values, and no promise that they broke; and it runs.
    text = (here / "p.tuned.hp").read_text()
    head = re.sub(r"\n// ", " ", text[:text.index("\n//\n")])
    assert text.startswith("// SPDX-License-Identifier: GPL-2.0-only\n// Tuned by hipec tune ")
    assert all(trace in head for trace in found["tuned_on"])
    assert f"On 3 held-out traces: {found['gain']['percent']:.2f} % fewer misses" in head
    assert "newest = 1 in 0..1, " in text and "param Int free = 3;" in text
    assert "/* other = 7 */" in text and "expect" not in text
    subprocess.run([HIPEC, "sim", "-p", "p.tuned.hp", "loop-1.trace"], cwd=here, env=ENV, check=True,
                   capture_output=True)


def test_without_a_gain_it_says_so_and_leaves_the_values(here):
    """All of these fit into memory: nothing can be better."""
    done = tune(here, "-f", "100%")
    assert done.returncode == 3 and "held-out ones no gain: 0.00 % fewer misses" in done.stdout
    text = (here / "p.tuned.hp").read_text()
    assert "On 3 held-out traces: no gain" in text and "So the values are those that it had." in text
    assert "newest = 0 in 0..1, other = 5000 in" in text


def test_the_same_seed_finds_the_same_however_many_run(here):
    texts = []
    for jobs in ("1", "2"):
        assert tune(here, "-J", jobs, "--seed", "5").returncode == 0
        texts.append((here / "p.tuned.hp").read_text())
    assert texts[0] == texts[1]


@pytest.mark.parametrize("args, says", [
    (["--held-out", "10"], "want a trace to search on and 2 to judge by: of 6, 0 would be held out"),
    (["-f", "x"], "frames: want frames (4096, 4k), memory"),
    (["--sample", "1/3"], "sample: want 1/N with a power of two"),
])
def test_what_cannot_be_is_said(here, args, says):
    done = tune(here, *args)
    assert done.returncode == 1 and says in done.stderr and not (here / "p.tuned.hp").exists()


def test_a_policy_without_a_range_is_said(here):
    (here / "p.hp").write_text((ROOT / "policies/mru.hp").read_text())
    done = tune(here)
    assert done.returncode == 1 and "it has no param with a range" in done.stderr


def test_without_optuna_it_says_what_to_install(here):
    (here / "optuna.py").write_text("raise ImportError\n")
    done = tune(here, env={**ENV, "PYTHONPATH": str(here)})
    assert done.returncode == 1
    assert "it needs the Python package optuna: pip install optuna" in done.stderr


def judge(here, lines, *args):
    done = subprocess.run([HIPEC, "judge", "-f", "25%,50%", *args, *sorted(
        path.name for path in here.glob("*.trace"))], cwd=here, env=ENV, text=True, check=True,
        capture_output=True, input="".join(
            (line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return [valid("judge", json.loads(line)) for line in done.stdout.splitlines()]


def test_each_candidate_has_its_verdict_its_cost_and_its_misses(here):
    ends = POLICY.replace("Event Replace()\n{\n", "Event Replace()\n{\n\tpage = NONE;\n\twhile (1)\n\t\t;\n")
    answers = judge(here, ["p.hp", {"id": 7, "source": POLICY.replace("newest = 0", "newest = 1")},
                           {"id": 8, "source": "Event Init() {"}, {"id": 9, "source": ends}, "{", "no.hp",
                           {"id": 10, "file": "p.hp", "held_out": False}])
    assert [one["verdict"] for one in answers] == ["ok", "ok", "refused", "ended", "refused", "refused",
                                                   "ok"]
    assert [one["id"] for one in answers] == [None, 7, 8, 9, None, None, 10]
    fifo, mru, refused, ended, *_, short = answers
    assert "candidate.hp: error: event 'PageFault' is missing" in refused["message"]
    assert "training" not in refused
    assert "an event ran more commands than it may in Replace" in ended["message"]
    assert fifo["cost"] == mru["cost"] and set(fifo["cost"]) == {"PageFault", "Replace"}
    assert ended["cost"]["Replace"] is None
    assert "held_out" not in short and short["training"] == fifo["training"]
    # FIFO and LRU are the same on a loop; MRU is better by what hipec sim counts.
    assert fifo["training"]["to_lru"] == pytest.approx(1)
    for part in ("training", "held_out"):
        assert len(mru[part]["traces"]) == 3
        for trace, found in mru[part]["traces"].items():
            counts = json.loads(subprocess.run(
                [HIPEC, "sim", "--json", "-p", "p.hp", "-f", "25%,50%", "--param", "newest=1", trace],
                cwd=here, env=ENV, capture_output=True, check=True).stdout)
            assert found["misses"] == pytest.approx([row["faults"] / 6000 for row in counts])
    assert mru["held_out"]["gain"]["is_gain"] and not fifo["held_out"]["gain"]["is_gain"]


def test_a_line_that_is_no_candidate_has_an_answer_too(here):
    """Or who waits for it would wait for ever."""
    answers = judge(here, ['{"file": 5, "id": 4}', "{}", '{"file": "a\\u0000b"}', '{"source": "\\ud800"}', "p.hp"])
    assert [one["verdict"] for one in answers] == ["refused"] * 4 + ["ok"]
    assert answers[0]["id"] == 4


def test_a_sample_is_of_all_but_those_who_ask_for_the_whole(here):
    (here / "p.hp").write_text(POLICY.replace("newest = 0", "newest = 1"))
    whole, some, asked = (judge(here, [line], *args)[0] for line, args in [
        ("p.hp", []), ("p.hp", ["--sample", "1/4"]),
        ({"file": "p.hp", "whole": True}, ["--sample", "1/4"])])
    assert whole["training"] == asked["training"] != some["training"]
    assert some["training"]["to_lru"] == pytest.approx(whole["training"]["to_lru"], rel=0.05)


def test_a_program_that_searches_a_policy_finds_one_and_says_what_it_is_worth(tmp_path):
    """bench/search/evolve.py, in small: what it finds is a policy, and has its place in a table."""
    done = subprocess.run(
        [VENV / "bin/python3", ROOT / "bench/search/evolve.py", "--generations", "1", "--population",
         "9", "--accesses", "3000", "--beside", "lru,mru", "--output", tmp_path / "best.hp"],
        env=ENV, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = dict(re.findall(r"^(evolved|lru|mru) +[\d.]+ +([\d.]+) ", done.stdout, re.M))
    assert len(rows) == 3 and float(rows["lru"]) == pytest.approx(1, abs=1e-3)
    place = sorted(rows.values(), key=float).index(rows["evolved"]) + 1
    assert f"The evolved one is number {place} of 3 on held-out traces" in done.stdout
    text, = re.findall(r"^generation 1: [\d.]+ of lru's misses: (.*)$", done.stdout, re.M)
    assert f"//     {text}\n" in (tmp_path / "best.hp").read_text()
    subprocess.run([HIPEC, "sim", "-p", "best.hp", "-"], cwd=tmp_path, env=ENV, check=True,
                   input="r 0 50\n", text=True, capture_output=True)


def test_who_waits_for_an_answer_gets_it(here):
    """It need not close its end first."""
    with subprocess.Popen([HIPEC, "judge", *sorted(path.name for path in here.glob("*.trace"))],
                          cwd=here, env=ENV, text=True, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        for _ in range(2):
            process.stdin.write("p.hp\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["verdict"] == "ok"
        process.stdin.close()
        assert process.wait(60) == 0
