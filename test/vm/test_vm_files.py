# SPDX-License-Identifier: GPL-2.0-only
"""Every test/vm/cases/*.hpt on the VM core under ASan and UBSan; and that they cover
the command table. test/vm/README.md describes the files."""

import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HPT = ROOT / "build" / "asan" / "hpt"
FILES = sorted((ROOT / "test/vm/cases").glob("*.hpt"))

# What no .hpt file can show, and why.
NOT_COVERED = {
    # Ended by the host, which a case does not have.
    "exit CLOSED", "exit NO_VICTIM", "exit LATE", "exit WORSE", "exit BY_HAND", "exit BROKEN",
    "kind TARGET_LO",  # any byte will do: TARGET judges all 16 bits
}


@pytest.fixture(scope="module", autouse=True)
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/hpt"], check=True)


def hpt(*args):
    return subprocess.run([HPT, *args], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def all_lines():
    """What hpt prints for all files in one run; incomplete if it crashes."""
    return set(hpt(*FILES).stdout.splitlines())


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_file(path, all_lines):
    if f"ok {path.stem}" in all_lines:
        return
    run = hpt(path)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout == f"ok {path.stem}\n"


def test_every_command_has_its_file():
    names = {path.stem for path in FILES}
    table = hpt("--list-table").stdout.splitlines()
    commands = {line.split()[1] for line in table if line.startswith("command ")}
    assert len(commands) >= 20
    assert commands <= names


def test_every_row_of_the_tables_occurs_in_a_file():
    run = hpt("--cover", *FILES)
    assert run.returncode == 0, run.stdout
    missing = set(hpt("--list-table").stdout.splitlines()) - set(run.stdout.splitlines())
    assert missing == NOT_COVERED


HEAD = "# a property\n-- operands\nq queue\nn int\np page\n"

# What a writer of a .hpt file does wrong, and what hpt says.
MALFORMED = [
    ("", "0: want a section -- result"),
    ("-- operands\n", "1: want a comment first that says what property is tested"),
    ("# x\nq queue\n", "2: want a section: -- operands, -- code EVENT, ..."),
    ("# x\n-- opreands\n", "2: '-- opreands' is no section"),
    (HEAD + "r quue\n", "6: 'quue' is no type; want NAME [const] [param] [counter] [shared] int, "
                        "queue, page, ints, queues, queueref or field"),
    (HEAD + "r int five\n", "6: 'five' is no number and no name"),
    (HEAD + "r queue by age\n", "6: 'age' is no field"),
    (HEAD + "r queueref q q\n", "6: 'q' after the value"),
    (HEAD + "240: r int\n", "6: '240' is no slot"),
    (HEAD + "-- pages\nseven q\n", "7: 'seven' is no number"),
    (HEAD + "-- pages\n7 n\n", "7: 'n' is no queue; want one, fallback, or none for a page that "
                               "the policy may not see"),
    (HEAD + "-- pages\n7 q reff\n", "7: 'reff' is no bit of a page"),
    (HEAD + "-- set\nfaultedaddress 1\n", "7: 'faultedaddress' cannot be set; want free, grant, "
                                          "fuel, table, late, seed, ghosts, timer or a system "
                                          "integer such as FaultedAddress"),
    (HEAD + "-- set\nfree 1 2\n", "7: '2' after the number"),
    (HEAD + "-- code Init 0 0\n", "6: want -- code EVENT [NUMBER]"),
    (HEAD + "-- code\n", "6: want -- code EVENT [NUMBER]"),
    (HEAD + "-- code Init 64\n", "6: '64' is no event number"),
    (HEAD + "-- code Init\n\tdequeu p, q, head\n", "7: 'dequeu' is no command"),
    (HEAD + "-- code Init\n\tdequeue p, q\n", "7: DeQueue ends early; want 'dequeue $a, $b, $c'"),
    (HEAD + "-- code Init\n\tdequeue p q head\n", "7: DeQueue: want ',' before 'q head'"),
    (HEAD + "-- code Init\n\tdequeue p, , head\n", "7: DeQueue: an operand is missing; want "
                                                   "'dequeue $a, $b, $c'"),
    (HEAD + "-- code Init\n\tdequeue p, r, head\n", "7: operand b of DeQueue: 'r' is no name here; "
                                                    "want a queue other than _free_queue"),
    (HEAD + "-- code Init\n\tdequeue p, q, hed\n", "7: operand c of DeQueue: 'hed' is no name "
                                                   "here; want HEAD or TAIL"),
    (HEAD + "-- code Init\n\treturn p\n", "7: 'p' after the last operand; want 'return'"),
    (HEAD + "-- code Init\n\tjump if, end\n", "7: Jump: there is no label 'end:'"),
    (HEAD + "-- code Init\na: return\na: return\n", "8: the label 'a' is there twice"),
    (HEAD + "-- code Init\n\tcall nobody\n", "7: operand a of Call: 'nobody' is no name here; "
                                             "want an event of this policy"),
    (HEAD + "-- code Init\n\t.word 0x100000000\n", "7: .word: want one number of 32 bits"),
    (HEAD + "-- code Init\n\treturn\n-- run Init Initt\n", "8: there is no event 'Initt'"),
    (HEAD + "-- code Init\n\treturn\n-- run Init fault\n", "8: '' is no number"),
    (HEAD + "-- run fault 4294967296\n", "6: 4294967296 is no page number"),
    (HEAD + "-- run lose 1\n-- result ok\n", "0: a malformed case: Invalid argument"),
    (HEAD + "-- run fault 1\n-- result ok\n", "0: a malformed case: Invalid argument"),
    (HEAD + "-- pages\n1 q\n1 q\n-- result ok\n", "0: a malformed case: Invalid argument"),
    (HEAD + "-- pages\n1 q ghost\n-- result ok\n", "0: a malformed case: Invalid argument"),
    (HEAD + "-- image\nheader sise 4\n", "7: 'sise' is no field"),
    (HEAD + "-- image\nbyte 100000 4\n", "7: this lies outside the image"),
    (HEAD + "-- result ok\n-- queues\nr 1\n", "8: want 'queue r 1', got 'result ok'"),
    (HEAD + "-- result ok\n-- ints\nn 1\n", "8: want 'int n 1', got 'int n 0'"),
    (HEAD + "-- result ok\n-- given up 7\n", "7: want 'given 7', got 'nothing'"),
    (HEAD + "-- result verify FALL\n", "6: want 'result verify FALL', got 'result ok'"),
]


@pytest.mark.parametrize("text, says", MALFORMED, ids=[says for _, says in MALFORMED])
def test_malformed_file_is_explained(tmp_path, text, says):
    path = tmp_path / "case.hpt"
    path.write_text(text)
    run = hpt(path)
    assert run.returncode == 1
    assert run.stdout == f"not ok case: {path}:{says}\n"


def test_file_that_cannot_be_read_is_named(tmp_path):
    run = hpt(tmp_path / "none.hpt")
    assert run.returncode == 1
    assert "none.hpt:0: cannot be read: No such file or directory" in run.stdout


def test_one_failure_does_not_stop_the_others(tmp_path):
    path = tmp_path / "bad.hpt"
    path.write_text("# x\n-- result exit FUEL\n")
    run = hpt(path, FILES[0])
    assert run.returncode == 1
    assert run.stdout.splitlines()[1] == f"ok {FILES[0].stem}"
