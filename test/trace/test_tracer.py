# SPDX-License-Identifier: GPL-2.0-only
"""hipec trace -- COMMAND: a program whose accesses are known (test/trace/calls.c), real ones,
and those that are hard to follow; contexts against objdump and readelf."""

import os
import re
import shutil
import subprocess

import pytest

from conftest import BUILD, ROOT
from trace_models import read_text

HIPEC = BUILD / "asan" / "hipec"
PAGES = 64
pytestmark = [pytest.mark.more, pytest.mark.usefixtures("quick_start")]


@pytest.fixture(scope="module", autouse=True)
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/hipec", "build/asan/libhipectrace.so",
                    "build/policies/mru.hpo"], check=True)


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    """The program, as compiled from one source in several ways."""
    where = tmp_path_factory.mktemp("calls")

    def compile_as(name, *flags):
        path = where / name
        if not path.exists():
            subprocess.run(["gcc", "-O1", "-w", "-fno-omit-frame-pointer", *flags, "-o", path,
                            ROOT / "test/trace/calls.c"], check=True)
        return path
    return compile_as


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "in").write_bytes(b"a" * 4096 * PAGES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*command, options=(), **kwargs):
    """What became of it, and what it said."""
    return subprocess.run([HIPEC, "trace", "-o", "x.txt", *options, "--", *map(str, command)],
                          capture_output=True, text=True, check=False, **kwargs)


def trace(*command, options=(), status=0, **kwargs):
    """[(file, page, whether it is written, context)]"""
    done = run(*command, options=options, **kwargs)
    assert done.returncode == status, done.stderr
    with open("x.txt", encoding="ascii") as file:
        accesses, regions = read_text(file.read())

    def of(page):
        for first, pages, name in regions:
            if first <= page < first + pages:
                return os.path.basename(name), page - first
        return None, page
    return [(*of(page), write, context) for page, write, _, context in accesses]


def pages(accesses, name="in"):
    return [page for file, page, _, _ in accesses if file == name]


def short(accesses, *names):
    """'in 0' read, 'out 3!' written."""
    return [f"{name} {page}" + "!" * write for name, page, write, _ in accesses
            if name in (names or ("in", "out"))]


def words(name, *numbers, mark=""):
    return [f"{name} {number}{mark}" for number in numbers]


def test_each_call_is_seen_where_it_was(here, calls):
    assert short(trace(calls("calls"), "plain")) == [
        *words("in", 0, 1, 2, 3, 8, 9, 10, 4), *words("out", 0, 2, 1, 2, 5, 6, 7, 7, 8, mark="!"),
        *words("out", 7, 8)]


def test_fortified_programs_call_others(here, calls):
    path = calls("fortified", "-D_FORTIFY_SOURCE=2")
    assert short(trace(path, "plain"))[:8] == words("in", 0, 1, 2, 3, 8, 9, 10, 4)


def test_calls_between_descriptors(here, calls):
    assert short(trace(calls("calls"), "between")) == [
        *words("in", 0, 1, 2, 3), *words("out", 0, 1, 2, 3, mark="!"),
        *words("in", 4, 5), *words("out", 4, 5, mark="!"), "in 8", "in 6"]


def test_streams_are_seen_as_they_fill_and_empty(here, calls):
    assert short(trace(calls("calls"), "streams")) == [
        *words("in", 0, 1, 2, 3, 4, 5, 0), "out 0!", "out 1!"]


@pytest.mark.parametrize("verb", ["threads", "forks"])
def test_a_shared_position_has_one_order(here, calls, verb):
    """Each page once, in ascending order, whoever read it."""
    os.truncate("in", 3000 * 4096)
    assert pages(trace(calls("calls"), verb)) == list(range(3000))


def test_children_without_an_environment_are_traced(here, calls):
    assert pages(trace(calls("calls"), "starts")) == list(range(1, 10))
    assert "nothing was seen" not in run(calls("calls"), "starts").stderr


def test_a_program_that_closes_everything(here, calls):
    assert pages(trace(calls("calls"), "close-all")) == list(range(8))


def test_what_was_done_before_kill_9_is_there(here, calls):
    accesses = trace(calls("calls"), "die", 9, status=128 + 9)
    assert pages(accesses) == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]


def test_more_records_than_are_mapped_at_once(here, calls):
    n = 2 * 16384 + 5
    assert pages(trace(calls("calls"), "many", n)) == [i % PAGES for i in reversed(range(n))]


def test_records_without_room_are_counted(here, calls):
    """The program is not ended by a limit that is its own; it cannot write."""
    done = run("/usr/bin/env", "sh", "-c", f"ulimit -f 16; exec {calls('calls')} many 100")
    parts = len(os.path.realpath("in")) // 48 + 1
    assert done.returncode == 0
    lost = int(re.search(r"(\d+) records are missing: a program .* could not write", done.stderr).group(1))
    assert lost == 1 + parts + 100      # it started, a name, what it read


def test_a_file_that_takes_the_name_of_another(here, calls):
    run(calls("calls"), "anew")
    with open("x.txt", encoding="ascii") as file:
        accesses, regions = read_text(file.read())
    assert [page for page, *_ in accesses] == [0, 1024]
    assert [name for *_, name in regions] == [f"{here}/out", f"{here}/out (2)"]


def test_names_are_whole_and_printable(here, calls):
    name = "x" * 100 + "\u00e9 y"
    (here / name).write_bytes(b"1")
    run("cat", name, env={**os.environ, "LC_ALL": "C"})
    with open("x.txt", encoding="ascii") as file:
        _, regions = read_text(file.read())
    assert f"{here}/{'x' * 100}?? y" in [name for *_, name in regions]


@pytest.mark.parametrize("status", [0, 2, 255])
def test_exit_status_is_the_programs(here, calls, status):
    done = run(calls("calls"), "exit", status)
    assert done.returncode == status
    assert "usage" not in done.stderr


MANY = """
import os, sys
os.mkdir("many")
for n in range(70000):
    fd = os.open(f"many/{n}", os.O_CREAT | os.O_RDWR)
    os.pwrite(fd, b"a", 0)
    os.pread(fd, 1, 0)
    os.close(fd)
sys.exit(7)
"""


def test_more_files_than_65536_are_a_trace(here):
    """The case was that of a program with 100,000 files of a byte: its trace was lost, and its
    status with it. --only takes some of them. The command without sanitizers is eight times as fast."""
    subprocess.run(["make", "-s", "-C", ROOT, "build/hipec", "build/libhipectrace.so"], check=True)
    (here / "many.py").write_text(MANY)
    command = [BUILD / "hipec", "trace", "-o", "x.txt", "--depth", "0"]
    for only, nr in (((), 70000), (("--only", "*/many/6999?"), 10)):
        shutil.rmtree("many", ignore_errors=True)
        done = subprocess.run([*command, *only, "--", "/usr/bin/python3", "-S", "-E", "many.py"],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 7, done.stderr
        assert f"hipec trace: {2 * nr} accesses to {nr} pages of {nr} files are in x.txt" in done.stderr
        accesses, regions = read_text((here / "x.txt").read_text())
        assert len({name for _, _, name in regions}) == len(regions) == nr
        assert [(page, write) for page, write, *_ in accesses] == [
            (first, write) for first, _, _ in regions for write in (1, 0)]


def test_what_a_program_leaves_behind_is_traced_too(here):
    """It reads when its parent is gone."""
    left = "(while [ -d /proc/$$ ]; do :; done; cat in >out) & exit 3"
    assert pages(trace("sh", "-c", left, status=3)) == list(range(PAGES))


def test_programs_that_cannot_be_run(here, calls):
    done = run("/no/such")
    assert (done.returncode, done.stderr) == (127,
                                              "hipec trace: /no/such: No such file or directory\n")
    assert run(here / "in").returncode == 126
    assert not os.path.exists("x.txt")
    assert run().returncode == 2


def test_static_programs_are_said_to_be(here, calls):
    path = calls("static", "-static")
    done = run(path, "page", 1)
    assert done.returncode == 0 and not os.path.exists("x.txt")
    assert done.stderr.splitlines() == [
        f"hipec trace: nothing was seen of {path}: it is static, so nothing can be loaded into it",
        "hipec trace: no file was read or written, so there is no trace"]
    done = run("sh", "-c", f"cat in >out; {path} page 1; exec {path} page 2")
    assert done.stderr.count(f"nothing was seen of {path}: it is static") == 2
    done = run("sh", "-c", "/no/such; cat in >out")
    assert "nothing was seen" not in done.stderr
    (here / "script").write_text(f"#! {path}\n")
    (here / "script").chmod(0o755)
    assert "it is a script, and its interpreter static or setuid" in run(here / "script").stderr


def test_setuid_programs_are_said_to_be(here, calls):
    if os.getuid():
        pytest.skip("only root can make a program that is setuid to another")
    path = here / "other"
    shutil.copy(calls("calls"), path)
    os.chown(path, 65534, 65534)
    path.chmod(0o4755)
    assert f"nothing was seen of {path}: it is setuid" in run(path, "page", 1).stderr


def test_real_programs(here):
    assert pages(trace("cat", "in")) == list(range(PAGES))
    copied = trace("sh", "-c", "cp in out; dd if=out of=copy bs=8192 skip=1 2>/dev/null")
    assert short(copied, "in") == words("in", *range(PAGES))
    assert [page for file, page, write, _ in copied if file == "out" and not write] == list(
        range(2, PAGES))
    code = "f = open('in', 'rb'); f.seek(8 * 4096); print(len(f.read(4096)), len(f.read()))"
    assert pages(trace("/usr/bin/python3", "-SEc", code))[-PAGES + 8:] == list(range(8, PAGES))


def test_a_database(here):
    """Each page of a table that is larger than its cache is read once in a scan."""
    if not shutil.which("sqlite3"):
        pytest.skip("no sqlite3")
    rows = ("create table t(a); with recursive n(i) as (select 1 union all select i + 1 from n"
            " where i < 60) insert into t select zeroblob(3000) from n;")
    subprocess.run(["sqlite3", "db", rows], check=True)
    size = os.path.getsize("db") // 4096
    found = pages(trace("sqlite3", "db", "select sum(length(a)) from t"), "db")
    assert sorted(page for page in found if page) == list(range(1, size)) and 0 in found


def test_a_trace_can_be_simulated(here, calls):
    """40 pages 5 times in 20 frames: LRU misses all, MRU 40 + 4 x (40 - 20 + 1)."""
    done = subprocess.run([HIPEC, "trace", "-o", "x.trace", "--", calls("calls"), "loop", "40", "5"],
                          check=False, capture_output=True, text=True)
    assert done.stderr == "hipec trace: 200 accesses to 40 pages of 1 file are in x.trace\n"
    done = subprocess.run([HIPEC, "sim", "x.trace", "-p", "lru,mru", "-f", "20", "--columns",
                           "policy,faults"], check=True, capture_output=True, text=True,
                          env={**os.environ, "HIPEC_POLICY_PATH": str(BUILD / "policies")})
    assert re.findall(r"^(\w+) +(\d+)$", done.stdout, re.M) == [("lru", "200"), ("mru", "124")]


# Contexts

FNV = 0xcbf29ce484222325


def fnv(data, value=FNV):
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 % (1 << 64)
    return value


def context(file, *offsets):
    """As context.h says."""
    points = [fnv(offset.to_bytes(8, "little"), fnv(file)) for offset in offsets]
    value = FNV
    for point in points:
        value = fnv(point.to_bytes(8, "little"), value)
    return value


def build_id(path):
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True)
    return bytes.fromhex(re.search(r"Build ID: (\w+)", notes.stdout).group(1))


def returns(path, function, called):
    """Offsets of what stands behind calls; in these programs they are addresses."""
    out = subprocess.run(["objdump", "-d", f"--disassemble={function}", path],
                         capture_output=True, text=True, check=True).stdout.splitlines()
    return [int(out[i + 1].split(":")[0], 16) for i, line in enumerate(out)
            if re.search(rf"call.*<{called}(@plt)?>", line)]


@pytest.mark.parametrize("flags, stack", [
    ([], "tables"), ([], "frames"), (["-fomit-frame-pointer"], "frames"),
    (["-Wl,--build-id=none"], "tables"), (["-Wl,--build-id=none"], "frames"),
    (["-no-pie"], "tables")])
def test_contexts_are_hashed_return_addresses(here, calls, flags, stack):
    path = calls("context" + "".join(flags), "-fno-optimize-sibling-calls", *flags)
    file = b"context-Wl,--build-id=none" if "none" in path.name else build_id(path)
    base = 0x400000 if "-no-pie" in flags else 0
    [pread] = returns(path, "inner", "pread")
    [inner] = returns(path, "outer", "inner")
    _, *outer = returns(path, "contexts", "(inner|outer)")
    stream = returns(path, "contexts", "f?getc")
    for depth, stacks in [(1, [stream, *[[pread]] * 3]),
                          (3, [None, None, *([pread, inner, address] for address in outer)])]:
        found = [tag for file_, _, _, tag in trace(path, "contexts", options=(
            "--depth", str(depth), "--stack", stack)) if file_ == "in"]
        assert len(found) == 4
        for got, addresses in zip(found, stacks):
            # Frame pointers end in the C library, which has none.
            if addresses and not (addresses is stream and stack == "frames"):
                assert got == context(file, *(address - base for address in addresses))


def test_contexts_are_the_same_in_the_next_run(here, calls):
    """Wherever the loader puts the program."""
    runs, places = [], set()
    for _ in range(3):
        done = run(calls("calls"), "contexts")
        places.add(done.stdout)
        with open("x.txt", encoding="ascii") as file:
            runs.append(read_text(file.read())[0])
    with open("/proc/sys/kernel/randomize_va_space", encoding="ascii") as file:
        if int(file.read()):
            assert len(places) > 1
    assert runs[0] == runs[1] == runs[2]
    tags = [tag for *_, tag in runs[0]]
    assert len(set(tags[:4])) == 4 and 0 not in tags


def test_without_depth_there_are_no_contexts(here, calls):
    assert {tag for *_, tag in trace(calls("calls"), "contexts", options=["--depth", "0"])} == {0}


# Mapped files

@pytest.mark.parametrize("open_pages, passes", [(32, 3), (40, 3)])
def test_touches_of_mapped_files(here, calls, open_pages, passes):
    """With fewer pages open than are touched in turn each touch is seen; else the first."""
    found = short(trace(calls("calls"), "maps", passes, options=[f"--mmap={open_pages}"]))
    sweeps = passes if open_pages < 40 else 1
    assert found[:40 * sweeps] == words("in", *range(40)) * sweeps
    closed = open_pages < 40
    assert found[40 * sweeps:] == [
        *words("in", 0, 1, mark="!"), *words("in", 2, 3, mark="!"), *words("in", 8, 9),
        *(["in 4"] if closed else []), "out 0!", *words("in", 19, 21, mark="!"), "in 1",
        "in 0"]


def untraced(*command, options=()):
    """What is said of maps that the trace has not."""
    done = run(*command, options=options)
    assert done.returncode == 0, done.stderr
    return [line.removeprefix("hipec trace: ") for line in done.stderr.splitlines()
            if "mapped" in line]


def test_mapped_files_are_seen_with_mmap_alone(here, calls):
    """What is not is said: each page of a file once, however often it was mapped."""
    assert short(trace(calls("calls"), "maps", 1)) == ["in 8", "in 9", "out 0!"]
    assert untraced(calls("calls"), "maps", 1) == [
        "160 KiB of 1 file were mapped, and touches of them not traced: --mmap does that"]
    assert untraced(calls("calls"), "maps", 1, options=["--mmap"]) == []


def test_a_program_that_does_nothing_but_map(here):
    """60 MB through a map were 1 access to 1 page, and no word."""
    os.truncate("in", 60 << 20)
    code = ("import mmap; f = open('in'); m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ);"
            "print(sum(m[i] for i in range(0, len(m), 4096)))")
    assert untraced("/usr/bin/python3", "-SEc", code) == [
        "60.0 MiB of 1 file were mapped, and touches of them not traced: --mmap does that"]


@pytest.mark.parametrize("size", [1, 1 << 28])
def test_maps_count_as_far_as_there_is_a_file(here, calls, size):
    assert untraced(calls("calls"), "beyond", size) == [
        "4 KiB of 1 file were mapped, and touches of them not traced: --mmap does that"]


WITH_MMAP = ("of 1 file were mapped, and touches of them not all traced: more than 1024 maps at a"
             " time, or moved or protected by the program")


def test_maps_that_are_lost_with_mmap_are_said(here, calls):
    """10 pages are protected anew and 8 moved, over others that are not mapped any more."""
    assert untraced(calls("calls"), "moves", options=["--mmap"]) == [f"72 KiB {WITH_MMAP}"]
    assert untraced(calls("calls"), "windows", 1024, options=["--mmap"]) == []
    assert untraced(calls("calls"), "windows", 1030, options=["--mmap"]) == [f"24 KiB {WITH_MMAP}"]


def test_faults_of_the_program_are_its_own(here, calls):
    done = run(calls("calls"), "faults", 1, options=["--mmap"])
    assert (done.returncode, done.stdout) == (5, "handled")
    assert run(calls("calls"), "faults", 0, options=["--mmap"]).returncode == 128 + 11


@pytest.mark.parametrize("options, message", [
    (["--mmap=31"], "--mmap: want a number from 32 to 16384, not '31'"),
    (["--depth", "65"], "--depth: want a number from 0 to 64, not '65'"),
    (["--stack", "x"], "--stack: want tables or frames, not 'x'"),
    (["--to", "strace"], "--to: want one of text, trace, sectors, oracle, csv, fio, not 'strace'")])
def test_options_that_are_wrong(here, options, message):
    done = run("true", options=options)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == "hipec trace: " + message
