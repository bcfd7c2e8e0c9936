# SPDX-License-Identifier: GPL-2.0-only
"""Inputs that fuzzing found worth keeping, and generated policies, under ASan
and UBSan; test/vm/fuzz/run.c says what must hold. `make fuzz` looks for more."""

import re
import subprocess

import pytest

from conftest import BUILD, ROOT

pytestmark = pytest.mark.more

REPLAY = BUILD / "asan" / "fuzz-replay"
CORPUS = ROOT / "test/vm/fuzz/corpus"
DAMAGES = ["count", "link", "live", "no-page", "queue-slot", "page-slot", "constant", "system",
           "fuel", "image", "ghosts", "order", "tree", "memory", "shared"]


@pytest.fixture(scope="module", autouse=True)
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/fuzz-replay"], check=True)


def replay(*args):
    return subprocess.run([REPLAY, *map(str, args)], capture_output=True, text=True, check=False)


def counts(*args):
    """What a replay that found nothing counted."""
    run = replay(*args)
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-4000:]
    assert run.stdout.startswith("ok ")
    return {word: int(number) for word, number in re.findall(r"(\w+) (\d+)", run.stdout)}


@pytest.mark.parametrize("target", ["image", "run"])
def test_saved_inputs_find_nothing(target):
    saved = len(list((CORPUS / target).iterdir()))
    assert counts(target, CORPUS / target)["inputs"] == saved >= 50


def test_saved_inputs_run_events():
    """A change of the ABI makes them stale: `make fuzz`, then `make fuzz-corpus`."""
    count = counts("run", CORPUS / "run")
    assert count["accepted"] > count["inputs"] / 3
    assert count["events"] > count["accepted"]
    assert count["exits"] > 20


def test_saved_inputs_are_small():
    sizes = [path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()]
    assert len(sizes) < 400
    assert sum(sizes) < 1 << 19


def test_generated_policies_are_accepted_and_run():
    count = counts("generate", 1, 2000)
    assert count["accepted"] == count["inputs"] == 2000
    assert count["events"] > 4000 and count["exits"] > 100


def test_policies_with_one_byte_wrong_are_judged_as_the_theorem_says():
    count = counts("break", 1, 1000)
    assert count["inputs"] == 32000
    assert 3000 < count["accepted"] < 16000  # both kinds


def test_seed_gives_the_same_policy_again(tmp_path):
    paths = [tmp_path / name for name in "ab"]
    for path in paths:
        assert replay("write", 12345, path).returncode == 0
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert replay("write", 12346, paths[1]).returncode == 0
    assert paths[0].read_bytes() != paths[1].read_bytes()


def test_replay_of_nothing_is_an_error(tmp_path):
    assert replay("run", tmp_path / "none").returncode == 1
    assert replay("run").returncode == 2
    assert replay().returncode == 2


def test_all_damages_are_tried():
    assert replay("broken").stdout.split() == DAMAGES


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_machine_is_noticed(damage):
    run = replay("broken", damage)
    assert run.returncode != 0
    noticed = r"AddressSanitizer: heap-buffer-overflow" if damage in ("memory", "shared") else \
        r"fuzz: this does not hold: \w+"
    assert re.search(noticed, run.stderr)
