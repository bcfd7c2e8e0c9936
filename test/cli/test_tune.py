# SPDX-License-Identifier: GPL-2.0-only
"""hipec tune finds the values that are best and says what they gain on traces that it did not see."""

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


def test_traces_may_have_columns(here):
    for i in range(4):
        (here / f"t{i}").write_text("a9,5,1\nb9,6,0\nc9,7,0\n" * 40)
    done = subprocess.run([HIPEC, "tune", "--columns", "id=1,op=3", "--ops", "w=1,r=0", "--trials", "2", "-f", "2",
                           "p.hp", "t0", "t1", "t2", "t3"], cwd=here, env=ENV, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 3) and " held-out ones " in done.stdout, done.stderr


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
