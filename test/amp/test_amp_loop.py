# SPDX-License-Identifier: GPL-2.0-only
"""What hipec run makes of a container's samples, fed as bytes; the file that it leaves, and what
hipec amp report says of that. With the module: test_amp_guest.py."""

import json
import os
import re
import struct
import subprocess

import pytest

from conftest import BUILD, ROOT
from test_ops import valid

HIPEC, DUMP = BUILD / "asan/hipec", BUILD / "asan/amploopdump"
ENV = {**os.environ, "HIPEC_POLICY_PATH": str(BUILD / "policies")}
FAULT, SOFT, HARVEST, LOST, POINT, FILE = range(1, 7)
LOOP, HOT = 0xabc1, 0xdef2
FRAMES, PAGES = 1000, 2000

pytestmark = [pytest.mark.more, pytest.mark.usefixtures("quick_start")]


@pytest.fixture(scope="module", autouse=True)
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/hipec", "build/asan/amploopdump",
                    "build/policies/amp.hpo"], check=True)


def entry(kind, index=0, nr=0, what=0, more=(0, 0)):
    return struct.pack("<HHIQQQ", kind, index, nr, what, *more)


def file_entry(number, build_id, path):
    text = build_id + path
    return (entry(FILE, len(build_id), len(path), number) +
            text.ljust(-len(text) % 32 + len(text), b"\0"))


class Samples:
    """Of a container that keeps nothing: each access is a fault."""

    def __init__(self):
        self.events, self.bytes = 0, b""

    def add(self, page, context, kind=FAULT):
        self.events += 1
        self.bytes += entry(kind, 0, page, context, (self.events, 0))

    def rounds(self, nr, pages=PAGES, context=LOOP):
        for _ in range(nr):
            for page in range(pages):
                self.add(page, context)
        return self


def dump(data, frames=FRAMES, pieces=4096, hints=None):
    """(lines when it began, lines of what was in use at the end, lines of the state file)"""
    done = subprocess.run([DUMP, "amp", str(frames), str(pieces), *([hints] if hints else [])],
                          input=data, capture_output=True, check=False, env=ENV)
    assert (done.returncode, done.stderr) == (0, b"")
    begin, end = re.split(r"^end: ", done.stdout.decode(), flags=re.M)
    head, _, state = end.partition("hipec-amp 1\n")
    return begin.splitlines(), head.splitlines(), state.splitlines()


def counted(line):
    return dict(re.findall(r"(\w+) (\d+)", line))


def test_a_loop_has_its_partition_after_its_second_round():
    assert counted(dump(Samples().rounds(1).bytes)[1][0])["used"] == "0"
    assert dump(Samples().rounds(1).bytes)[1][1:] == []
    head = dump(Samples().rounds(3).bytes)[1]
    assert counted(head[0]) == {"samples": "6000", "lost": "0", "restarts": "0", "used": "1"}
    assert head[1:] == [f"{LOOP:x} in 1"]


@pytest.mark.parametrize("pieces", [1, 31, 33, 4096])
def test_bytes_may_be_cut_anywhere(pieces):
    data = (file_entry(7, b"\x12\x34", b"/bin/a b") + entry(POINT, 0, 2, LOOP, (7, 0x10)) +
            entry(POINT, 1, 2, LOOP, (7, 0x20)) + Samples().rounds(3, 1500).bytes)
    _, head, state = dump(data, pieces=pieces)
    assert head[1:] == [f"{LOOP:x} in 1"]
    assert "file 7 1234 /bin/a%20b" in state and f"points {LOOP:016x} 7+10 7+20" in state


def test_what_is_no_sample_is_an_error():
    for data in (entry(9), entry(0), entry(FILE, 33, 0, 1), entry(FILE, 0, 256, 1)):
        done = subprocess.run([DUMP, "amp", "100", "4096"], input=data, capture_output=True,
                              check=False, env=ENV)
        assert done.returncode == 0 and done.stdout.endswith(b"error -22\n")


def test_a_hole_begins_recencies_anew_and_keeps_what_is_known():
    samples = Samples().rounds(3)
    samples.bytes += entry(LOST, 0, 0, 12)
    head = dump(samples.rounds(1).bytes)[1]
    assert (counted(head[0])["lost"], counted(head[0])["restarts"]) == ("12", "1")
    assert head[1:] == [f"{LOOP:x} in 1"]


def test_the_first_harvest_behind_a_fault_is_of_this_fault():
    """The second one is an access, by the context that had it."""
    samples = Samples()
    for harvests in range(3):
        samples.add(5, LOOP)
        for _ in range(harvests):
            samples.add(5, 0, HARVEST)
    state = dump(samples.bytes)[2]
    assert [line.split()[4] for line in state if line.startswith(f"{LOOP:016x}")] == ["4"]
    faults = next(line for line in state if line.startswith("faults"))
    assert faults.startswith(f"faults {LOOP:016x} 3 default 1 ")


def test_harvests_of_pages_that_nobody_is_known_to_have_are_no_contexts():
    samples = Samples()
    for page in range(2000):
        samples.add(page, 0, HARVEST)
    assert not [line for line in dump(samples.bytes)[2] if re.match("[0-9a-f]{16} ", line)]


def hints(tmp_path, *lines):
    path = tmp_path / "hints"
    path.write_text("\n".join(["hipec-amp 1", *lines, ""]))
    return path


PATTERN = f"{LOOP:x} looping 0.01 0.99 10000 2000 2000 2000 10"
KEPT = f"faults {LOOP:x} 10 default 100 partition 1"


@pytest.mark.parametrize("lines, used", [
    ((f"frames {FRAMES} used 1", PATTERN, KEPT), True),
    ((f"frames {FRAMES * 5 // 4} used 1", PATTERN, KEPT), True),
    ((f"frames {FRAMES * 2} used 1", PATTERN, KEPT), False),
    ((f"frames {FRAMES} used 0", PATTERN, KEPT), False),
    ((f"frames {FRAMES} used 1", PATTERN, KEPT[:-1] + "0"), False),
    ((PATTERN,), False),
])
def test_hints_are_used_at_once_where_they_paid_in_about_as_many_frames(tmp_path, lines, used):
    begin = dump(b"", hints=hints(tmp_path, *lines))[0]
    assert begin[1:] == ([f"{LOOP:x} in 1"] if used else [])


def test_the_state_comes_back_as_it_was(tmp_path):
    data = (file_entry(7, b"\x12\x34", b"/bin/x") + entry(POINT, 0, 1, LOOP, (7, 0x10)) +
            Samples().rounds(3).bytes)
    state = dump(data)[2]
    assert state[0] == f"frames {FRAMES} used 1"
    again = dump(b"", hints=hints(tmp_path, *state))[2]
    known = ("file", "points")
    assert [line for line in again if line.startswith(known)] == \
           [line for line in state if line.startswith(known)] != []
    assert [line for line in again if line.startswith(f"{LOOP:016x}")] == \
           [line for line in state if line.startswith(f"{LOOP:016x}")] != []


def test_of_many_frames_a_part_is_simulated_and_numbers_are_of_all():
    """65,536 frames: samples of a fourth of the pages."""
    samples = Samples().rounds(3, 500)
    state = dump(samples.bytes, frames=65536)[2]
    assert next(line for line in state if line.startswith("faults")).split()[2] == "6000"
    assert 1900 <= int(next(line for line in state if line.startswith(f"{LOOP:016x}")).split()[5]) <= 2100


# hipec amp report

def report(*args, env=None, **kwargs):
    return subprocess.run([HIPEC, "amp", "report", *map(str, args)], capture_output=True, text=True,
                          check=False, env={**ENV, **(env or {})}, **kwargs)


@pytest.fixture(scope="module")
def binary(tmp_path_factory):
    """(path, build id, {function: (offset in the file, size)}); virtual addresses differ from
    offsets, as in all programs that are linked so."""
    tmp = tmp_path_factory.mktemp("elf")
    (tmp / "a.c").write_text("__attribute__((noinline)) int scan(int n) { return n * 7 + 1; }\n"
                             "int main(int c, char **v) { (void)v; return scan(c); }\n")
    subprocess.run(["gcc", "-O1", "-no-pie", "-Wl,--build-id=sha1", "-o", tmp / "db", tmp / "a.c"],
                   check=True)
    notes = subprocess.run(["readelf", "-nW", tmp / "db"], capture_output=True, text=True, check=True)
    loads = [(int(a, 16), int(b, 16)) for a, b in re.findall(
        r"LOAD +(0x\w+) (0x\w+) \S+ \S+ \S+ +R E", subprocess.run(
            ["readelf", "-lW", tmp / "db"], capture_output=True, text=True, check=True).stdout)]
    offset, address = loads[0]
    names = subprocess.run(["nm", "-S", tmp / "db"], capture_output=True, text=True, check=True)
    functions = {name: int(at, 16) - address + offset for at, name in
                 re.findall(r"^(\w+) \w+ T (scan|main)$", names.stdout, re.M)}
    return tmp / "db", re.search(r"Build ID: (\w+)", notes.stdout)[1], functions


def state_of(tmp_path, binary, build_id=None, path=None, *more):
    file, own, functions = binary
    return hints(tmp_path, "frames 1000 used 1", PATTERN,
                 "b0 one-shot - 0.5 300 300 0 0 0", "c0 clustered 0.9 0.9 77 1 0 0 0",
                 f"file f {build_id or own} {path or file}",
                 f"points {LOOP:x} f+{functions['scan'] + 2:x} f+{functions['main'] + 4:x} 9+1234",
                 f"faults {LOOP:x} 7655 default 20000 partition 1",
                 "faults c0 60 default 50 partition 0", *more)


def test_the_report_in_words(tmp_path, binary):
    done = report(state_of(tmp_path, binary))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[:5] == [
        "1000 frames, one holds a page; at the end, loops had some for themselves",
        "scan+0x2 <- main+0x4 <- ?+0x1234: looping, 2000 pages, R 0.01 -> MRU; "
        "reads 7655 pages, 20000 by default (-61.7 %)",
        "its stack is not known: one-shot, 300 pages -> default",
        "its stack is not known: clustered, 1 page, R 0.90 -> default; "
        "reads 60 pages, 50 by default (+20.0 %)",
        ""]
    # Words that are not everybody's are explained.
    assert all(f"{word}: " in done.stdout for word in ("looping", "MRU", "Default", "R"))


def test_the_report_as_json(tmp_path, binary):
    said = valid("amp-report", json.loads(report("--json", state_of(tmp_path, binary)).stdout))
    assert (said["frames"], said["used"], len(said["contexts"])) == (1000, True, 3)
    loop = said["contexts"][0]
    assert loop["stack"] == ["scan+0x2", "main+0x4", "?+0x1234"]
    assert (loop["treatment"], loop["faults"], loop["default_faults"]) == ("MRU", 7655, 20000)


def test_another_build_has_no_symbols(tmp_path, binary):
    file, _, functions = binary
    said = report(state_of(tmp_path, binary, build_id="00" * 20)).stdout
    assert f"db+{functions['scan'] + 2:#x} <- db+{functions['main'] + 4:#x}" in said
    assert "scan+" not in said and file.name in said


@pytest.mark.parametrize("damage", [
    lambda b: b[:64], lambda b: b[:len(b) // 2], lambda b: b[:40] + b"\xff" * 24 + b[64:],
    lambda b: b[:32] + b"\xff" * 16 + b[48:], lambda b: b[:600] + b"\xff" * 600 + b[1200:],
    lambda b: b[:-1900] + b"\xff" * 1900, lambda b: b"", lambda b: b"\x7fELF"])
def test_damaged_binaries_are_left_out(tmp_path, binary, damage):
    bad = tmp_path / "bad"
    bad.write_bytes(damage(binary[0].read_bytes()))
    done = report(state_of(tmp_path, binary, path=bad))
    assert (done.returncode, done.stderr) == (0, "") and "looping, 2000 pages" in done.stdout


def test_what_a_terminal_would_obey_is_not_printed(tmp_path, binary):
    path = hints(tmp_path, "c0 looping 0.1 0.9 77 1 0 0 0", "file f - /bin/%1b[31m", "points c0 f+1")
    assert "\x1b" not in report(path).stdout
    assert report(path).returncode == 0


@pytest.mark.parametrize("line, complaint", [
    ("frames 12", "want frames N used 0, or 1"),
    ("frames x used 0", "want frames N used 0, or 1"),
    ("file 1 2", "want file ID BUILD-ID PATH, - for what is not known"),
    ("file 1 123 /x", "want file ID BUILD-ID PATH, - for what is not known"),
    ("file 1 - /x%0", "want file ID BUILD-ID PATH, - for what is not known"),
    ("points", "want points CONTEXT FILE+OFFSET..., 16 at most"),
    ("points a b", "want FILE+OFFSET, both hexadecimal"),
    ("points a b+", "want FILE+OFFSET, both hexadecimal"),
    ("points a" + " 1+1" * 17, "there are too many words"),
    ("faults a 1 default -1 partition 0", "want faults CONTEXT N default N partition 0, or 1"),
])
def test_malformed_lines_are_told_with_their_place(tmp_path, line, complaint):
    done = report(hints(tmp_path, "# nothing", line))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"hipec amp: {tmp_path}/hints:3: {complaint}\n"


def test_the_last_run_is_reported_without_a_name(tmp_path, binary):
    folder = tmp_path / "hipec/amp"
    folder.mkdir(parents=True)
    env = {"XDG_STATE_HOME": str(tmp_path)}
    done = report(env=env)
    assert done.returncode == 1 and done.stderr.startswith("hipec amp: nothing was learnt yet")
    for number, name in enumerate(["b", "c", "a"]):
        file = folder / f"{name}-1.hints"
        file.write_text(f"hipec-amp 1\nframes {number + 1} used 0\n")
        os.utime(file, ns=(number, number))
    assert report(env=env).stdout.startswith("3 frames, ")
    mine = folder / f"db-{binary[1]}.hints"
    mine.write_text("hipec-amp 1\nframes 8 used 0\n")
    os.utime(mine, ns=(0, 0))
    assert report("--run", binary[0], env=env).stdout.startswith("8 frames, ")
    assert report("--run", "/no/such", env=env).returncode == 1


@pytest.mark.parametrize("args", [("a", "b"), ("--run", "true", "x"), ("--top", "0"), ("--top", "x")])
def test_wrong_arguments(args):
    assert report(*args).returncode == 2
