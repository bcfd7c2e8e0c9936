# SPDX-License-Identifier: GPL-2.0-only
"""ampc in one process, under ASan and UBSan, on texts by the hundred: policies that
are written to use the whole language, and damaged sources and assembler texts.
test/compiler/fuzz/judge.c says what must hold; `make fuzz-compiler` goes on.

What fuzzing found goes to test/compiler/fuzz/corpus/ and is tried here."""

import re
import subprocess

import pytest

from conftest import BUILD, ROOT

pytestmark = pytest.mark.user

FUZZ = BUILD / "asan" / "ampc-fuzz"
COMPILE = ROOT / "test/compiler"
FILES = [*sorted((ROOT / "policies").glob("*.hp")), *sorted(COMPILE.glob("*/*.hp")),
         *sorted(COMPILE.glob("*/*.hps"))]
FOUND = sorted((ROOT / "test/compiler/fuzz/corpus").glob("*"))


@pytest.fixture(scope="module", autouse=True)
def built():
    subprocess.run(["make", "-s", "-C", ROOT, FUZZ.relative_to(ROOT)], check=True)


def fuzz(*args):
    return subprocess.run([FUZZ, *map(str, args)], capture_output=True, check=False,
                          encoding="utf-8", errors="replace")


def test_generated_and_damaged_texts_find_nothing(tmp_path):
    run = fuzz("run", 1, 600, 0, tmp_path, *FILES, *FOUND)
    assert run.returncode == 0, run.stdout + run.stderr[-4000:]
    assert not list(tmp_path.iterdir())
    count = {kind: (int(accepted), int(nr)) for kind, accepted, nr
             in re.findall(r"(\w+) (\d+)/(\d+)", run.stdout)}
    assert sum(nr for _, nr in count.values()) == 600
    assert count["written"][0] == count["written"][1] > 100
    for kind in ("damaged", "assembler"):    # both verdicts are tried
        assert 0 < count[kind][0] < count[kind][1] / 2


def test_known_texts_find_nothing():
    run = fuzz("replay", *FILES, *FOUND)
    assert run.returncode == 0, run.stdout + run.stderr[-4000:]
    verdict = {line.split()[1]: line.split()[0] for line in run.stdout.splitlines()}
    assert len(verdict) == len(FILES) + len(FOUND)
    for path in FILES:
        wanted = "refused" if path.parent.name == "err" else "accepted"
        assert verdict[str(path)] == wanted, path


def test_a_seed_gives_the_same_policy_again(tmp_path):
    for seed in (1, 2):
        first, second = (fuzz("write", seed).stdout for _ in range(2))
        assert first == second
        path = tmp_path / f"{seed}.hp"
        path.write_text(first)
        assert fuzz("replay", path).stdout == f"accepted {path}\n"
    assert (tmp_path / "1.hp").read_text() != (tmp_path / "2.hp").read_text()


def test_written_policies_use_the_whole_language():
    """Every command of the table that a source can call, every operator and statement,
    every event of the host."""
    text = "".join(fuzz("write", seed).stdout for seed in range(60)).lower()
    table = (ROOT / "module/include/uapi/hipec_ops.h").read_text()
    words = set(re.findall(r'^\tX\(\w+, \w+, "(\w+)", 0x', table, re.M))
    syntax = {"Return", "Arith", "Comp", "Logic", "Jump", "Call", "Load", "Store", "Select",
              "Get", "Put"}
    assert len(words) > 30 and syntax <= words
    for word in words - syntax:
        assert f"{word.lower()}(" in text, word
    for event in re.findall(r'X\(\w+, \d+, "(\w+)", [01], "', table):
        assert f"event {event.lower()}()" in text, event
    for op in ("+ - * / % & | ^ << >> < > <= >= == != && || ? : ! ~ = += -= *= /= %= &= |= ^="
               " <<= >>= ++ --").split():
        assert op in text, op
    for word in ("if while do for goto break; continue; return; else l1: u1() ghosts timer param"
                 " counter shared const by field none _free_queue _free_count").split():
        assert word in text, word
