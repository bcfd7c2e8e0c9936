# SPDX-License-Identifier: GPL-2.0-only
"""Records of machines and their replay (docs/user/operations.md), in user space; test_guest.py
does the same with what the kernel has recorded."""

import re
import struct
import subprocess

import pytest

from conftest import BUILD, ROOT

pytestmark = pytest.mark.more

RECORD = BUILD / "asan/record-test"
POLICIES = sorted((BUILD / "policies").glob("*.hpo"))


@pytest.fixture(scope="module", autouse=True)
def programs():
    """Built."""
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/record-test", "build/asan/hipec"],
                   check=True)


def run(*args):
    """(exit code, output) of the test program; nothing on stderr."""
    done = subprocess.run([RECORD, *map(str, args)], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout


def hipec(*args):
    """(exit code, output, errors) of the command."""
    done = subprocess.run([BUILD / "asan/hipec", *map(str, args)], capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def numbers(line):
    """{word: number} of 'word number word number'."""
    words = line.split()
    return {word: int(number) for word, number in zip(words[::2], words[1::2])}


@pytest.mark.parametrize("policy", sorted(p.stem for p in (ROOT / "policies").glob("*.hp")))
def test_a_shipped_policy_decides_the_same_again(policy):
    """All events of a run in the simulator, in both modes."""
    code, out = run("policies", BUILD / f"policies/{policy}.hpo")
    lines = out.splitlines()
    assert code == 0 and len(lines) == 2, out
    for line in lines:
        got = re.fullmatch(r"(\S+) mode (\d) events (\d+) of (\d+) decisions (\d+) faults (\d+) "
                           r"bytes (\d+)", line)
        assert got, line
        events, of, decisions, faults = map(int, got.groups()[2:6])
        assert got[1] == policy and events == of
        # Each fault but those that fill the frames has a page given up.
        assert decisions >= faults - (20 + 10 * int(got[2])) > 1000


def test_random_programs_decide_the_same_again():
    """Recorded from the middle of their lives, whatever their host does."""
    code, out = run("random", 850, 300)
    assert code == 0, out
    got = numbers(out)
    assert got["failed"] == 0 and got["programs"] == 300
    assert got["events"] > 10 * 300 and got["decisions"] > 50 * 300
    assert got["params"] > 300


def test_queues_that_are_ordered_are_there_again():
    """By the keys that their pages were put there with."""
    policy = BUILD / "guest/policies/highest-first.hpo"
    subprocess.run(["make", "-s", "-C", ROOT, policy.relative_to(ROOT)], check=True)
    code, out = run("world", policy)
    assert code == 0 and numbers(out)["events"] > 500, out


def test_a_changed_byte_of_a_decision_is_found():
    """And what is changed elsewhere does no harm: this runs under ASan and UBSan."""
    code, out = run("damage", 1, 20)
    assert code == 0, out
    got = numbers(out.splitlines()[-1])
    assert got["missed"] == 0 and got["decisions"] > 1000
    assert got["tried"] == 40 * 20 and got["found"] > 0.2 * got["tried"]


# A record of its own making: the built-in replacement in two frames.

def varint(number):
    """7 bits in a byte, the lowest first."""
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def entry(code, *args):
    """An entry of uapi/hipec_record.h."""
    return bytes([code]) + b"".join(map(varint, args))


LOST, REGION, TOUCH, ADD, SHOW, DEL = 1, 2, 3, 0x10, 0x11, 0x13
FIFO2, ANSWER, REF, SET_REF, TAKE = 0x23, 0x24, 0x32, 0x34, 0x3b


def head():
    """An empty machine of two frames without a policy."""
    out = struct.pack("<4I3Q10I16s", 0x52504948, 1, 96, 0, 7, 4224, 1,
                      2, 2, 4, 0, 0, 0, 1, 0, 0, 0, b"player")
    out += struct.pack("<2q", 0, 0) + struct.pack("<q", 3) + bytes(8 * 253)
    out += b"".join(struct.pack("<4I2H", following, 0, 0, 0, 0, 0) for following in (0, 2, 0))
    return out + bytes(20 * 4)


def sum_of(data):
    """FNV-1a."""
    total = 0xcbf29ce484222325
    for byte in data:
        total = (total ^ byte) * 0x100000001b3 % (1 << 64)
    return total


def block(data, container=7, begins=0):
    """A block of a file; @begins: 1 where the next policy's record does."""
    start = struct.pack("<Q2I", container, len(data), begins)
    return start + struct.pack("<Q", sum_of(start + data)) + data


FILE = b"\x93hprecrd" + struct.pack("<2I", 1, 0)
FILLED = (entry(REGION, 0, 9, 8) + b"/a file\n" +
          entry(ADD, 5, 1) + entry(TOUCH, 5, 0) + entry(SHOW, 1) +
          entry(ADD, 6, 2) + entry(TOUCH, 6, 1) + entry(TOUCH, 6, 3) + entry(SHOW, 2))
# FIFO with a second chance, by hand: one of two pages waits on the inactive queue, and
# was referenced: it goes to the active one, the next takes its place and is taken.
CHOICE = (entry(FIFO2) + entry(SET_REF, 1, 0) + entry(REF, 1, 1) +
          entry(SET_REF, 2, 0) + entry(REF, 2, 0) + entry(TAKE, 2) + entry(DEL, 2) +
          entry(ANSWER, 1))


def replay(tmp_path, *streams, cut=0):
    """What `hipec record --check` says of containers with these bytes."""
    path = tmp_path / "a.record"
    data = FILE + b"".join(block(data, 7 + i) for i, data in enumerate(streams))
    path.write_bytes(data[:len(data) - cut])
    return hipec("record", "--check", path)


def test_the_built_in_replacement_decides_as_by_hand(tmp_path):
    """And a choice that it would not make is said, with its place."""
    assert replay(tmp_path, head() + FILLED + CHOICE) == (
        0, "container 7, builtin of player: 0 events, 3 decisions, all the same\n", "")
    other = CHOICE.replace(entry(TAKE, 2), entry(TAKE, 1))
    at = len(head() + FILLED + CHOICE[:CHOICE.index(entry(TAKE, 2))])
    assert replay(tmp_path, head() + FILLED + other) == (
        1, "container 7, builtin of player: 0 events, 2 decisions, differs\n"
        f"  byte {at}, event 0: the record has 'take 1', replay gives 'take 2'\n", "")


def test_nothing_is_replayed_behind_a_hole(tmp_path):
    """What comes before it is."""
    code, out, _ = replay(tmp_path, head() + FILLED + entry(LOST, 300) + CHOICE)
    assert code == 1
    assert "the same up to a hole\n" in out and "300 entries" in out and "--ring" in out


def test_an_end_in_the_middle_is_an_end(tmp_path):
    """Wherever recording stopped; and a file whose last block is not whole is read so far."""
    whole = head() + FILLED + CHOICE
    for end in range(len(head()), len(whole), 5):
        assert replay(tmp_path, whole[:end])[0] == 0
    code, out, _ = replay(tmp_path, whole, whole, cut=3)
    assert code == 1 and out.startswith("container 7, builtin of player: 0 events, 3 decisions, "
                                        "all the same\n")
    assert out.endswith("the end of the file is missing; what is there was replayed\n")


@pytest.mark.parametrize("bad, why", [
    (entry(SHOW, 1), "page 1 of the table is in no state for what it says"),
    (entry(ADD, 5, 2), "the record has 'add 5 2', replay gives 'add 5 1'"),
    (entry(DEL, 9), "page 9 of the table"),
    (entry(0x21, 0, 0, 1), "entry 21 is out of place"),
    (entry(0x20, 3, 0), "the policy has no event 3"),
    (entry(0x1a, 2, 0), "slot 2 is no param"),
    (entry(0x1a, 1 << 32, 0), "slot 4294967296 is no param"),
    (b"\xff", "there is none that begins with ff"),
])
def test_what_cannot_be_is_said(tmp_path, bad, why):
    """And not done."""
    code, out, _ = replay(tmp_path, head() + bad)
    assert code == 1 and why in out and f"byte {len(head())}" in out


def test_a_changed_byte_of_a_file_is_found(tmp_path):
    """Wherever it is."""
    path = tmp_path / "a.record"
    data = FILE + block(FILLED + CHOICE)
    for at in range(0, len(data), 7):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1:])
        code, out, err = hipec("record", "--check", path)
        assert code == 1 and ("damaged" in err or "want" in err or "missing" in out), at


def test_a_record_is_a_trace(tmp_path):
    """Faults, writes and referenced bits are accesses; files name regions."""
    path = tmp_path / "a.record"
    path.write_bytes(FILE + block(head() + FILLED + CHOICE + entry(REF, 1, 0) + entry(REF, 1, 1) +
                                  entry(REF, 1, 1) + entry(SET_REF, 1, 0) + entry(REF, 1, 1)))
    code, out, err = hipec("trace", "convert", path, "-")
    assert (code, err) == (0, "hipec trace: pages 0 to 8 are /a file?\n")
    # Page 5's bit is found set in the choice and twice behind it: once, until it is reset.
    lines = [line for line in out.splitlines() if not line.startswith("#")]
    assert lines == ["f 0 9 /a file?", "r 5", "w 6", "r 5", "r 5"]
    assert hipec("sim", "--policy", "lru", "--frames", "2", path)[0] == 0


def test_a_container_has_a_record_for_each_of_its_policies(tmp_path):
    """Each is replayed by itself, and in a trace their pages are the same ones."""
    path = tmp_path / "a.record"
    second = head() + entry(ADD, 3, 1) + entry(TOUCH, 3, 0) + entry(SHOW, 1)
    data = head() + FILLED
    path.write_bytes(FILE + block(data[:9]) + block(head() + FILLED, 8) + block(data[9:]) +
                     block(second[:50], begins=1) + block(second[50:]))
    code, out, err = hipec("record", "--check", path)
    assert (code, err) == (0, "")
    assert out.splitlines() == [f"container {number}, builtin of player: 0 events, 0 decisions, "
                                "all the same" for number in (7, 8, 7)]
    code, out, _ = hipec("trace", "convert", path, "-")
    assert code == 0 and [line for line in out.splitlines() if line[0] in "rw"] == [
        "r 5", "w 6", "r 3", "r 14", "w 15"]
    path.write_bytes(FILE + block(data, begins=2))
    assert "want a block of a record" in hipec("record", "--check", path)[2]


@pytest.mark.parametrize("args, want", [
    (("record",), "want containers' numbers, or --all, or -- COMMAND"),
    (("record", "--all", "3"), "want containers' numbers"),
    (("record", "--ring", "many", "3"), "--ring wants a power of two"),
    (("record", "--seconds", "-1", "3"), "--seconds wants a number above 0, not '-1'"),
    (("record", "--check"), "usage: hipec record --check FILE"),
])
def test_wrong_arguments_are_said(args, want):
    """With exit code 2."""
    code, _, err = hipec(*args)
    assert code == 2 and want in err
