# SPDX-License-Identifier: GPL-2.0-only
"""hipec try: what it says of programs and traces whose numbers are known, what it says to run
next, and its exit codes."""

import os
import random
import re
import signal
import subprocess

import pytest

from conftest import BUILD, ROOT

HIPEC = BUILD / "asan" / "hipec"
ENV = {**os.environ, "HIPEC_POLICY_PATH": str(BUILD / "policies"), "LC_ALL": "C"}
pytestmark = [pytest.mark.more, pytest.mark.usefixtures("quick_start")]


@pytest.fixture(scope="module", autouse=True)
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/hipec", "build/asan/libhipectrace.so",
                    "all"], check=True)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def attempt(*args, **kwargs):
    return subprocess.run([HIPEC, "try", *map(str, args)], capture_output=True, text=True,
                          check=False, env=ENV, **kwargs)


def sweeps(pages, passes):
    return f"r 0 {pages}\n" * passes


def test_a_sweep_is_worth_it(here):
    """1,000 pages four times, in 742 frames, 2.9 MiB: lru has none of them when it comes back, mru
    keeps 741 and needs the others again: 1,000 and three times 259 faults, which are 6.9 MiB."""
    (here / "sweep.txt").write_text(sweeps(1000, 4))
    done = attempt("sweep.txt")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "worth it: with 2.9 MiB, mru reads 6.9 MiB instead of 15.6 MiB (-56 %); least possible: 6.9 MiB",
        "next: hipec run --policy mru --budget 2.9M -- PROGRAM",
        "and:  hipec profile --policy lru,mru,opt --frames 2.9M --output report.html sweep.txt",
        "auto: finds mru while the program runs, and reads 10.3 MiB (-34 %)"]


def test_a_budget_is_said_as_it_was_asked_for(here):
    (here / "sweep.txt").write_text(sweeps(1000, 4))
    done = attempt("--frames", "1M,2M,4M", "--policy", "mru", "sweep.txt")
    said = done.stdout.splitlines()
    assert said[0].startswith("worth it: with 2.0 MiB, mru reads ")
    assert said[1] == "next: hipec run --policy mru --budget 2M -- PROGRAM"


def test_a_program_is_recorded_and_its_output_is_its_own(here):
    (here / "library").write_bytes(bytes(4096 * 1000))
    done = attempt("--", "sh", "-c", "for i in 1 2 3; do cat library; done; echo 'it is' done")
    assert done.returncode == 0 and done.stdout == "\0" * 3 * 4096 * 1000 + "it is done\n"
    trace, worth, run, profile, auto = done.stderr.splitlines()
    assert trace == "hipec try: 3000 accesses to 1000 pages of 1 file are in sh.trace"
    assert re.match(r"worth it: with 2.9 MiB, mru reads [\d.]+ MiB instead of 11.7 MiB",
                    worth)
    assert re.fullmatch(r"next: hipec run --policy mru --budget 2.9M -- sh -c "
                        r"'for i in 1 2 3; do cat library; done; echo '\\''it is'\\'' done'", run)
    again = attempt("sh.trace")
    assert again.stdout.splitlines()[0] == worth
    assert again.stdout.splitlines()[2:] == [profile, auto]


def test_what_it_says_to_run_next_runs(here):
    (here / "sweep.txt").write_text(sweeps(1000, 4))
    command = attempt("sweep.txt").stdout.splitlines()[2].removeprefix("and:  hipec ")
    subprocess.run([BUILD / "hipec", *command.split()], check=True, env=ENV, capture_output=True)
    assert (here / "report.html").stat().st_size > 100_000


def test_maps_count_unless_they_are_left_out(here):
    (here / "data").write_bytes(bytes(4096 * 64))
    (here / "map.py").write_text(
        "import mmap\nwith open('data', 'rb') as f, mmap.mmap(f.fileno(), 0, prot=1) as m:\n"
        "    for _ in range(3):\n        sum(m[i] for i in range(0, len(m), 4096))\n")
    # What is open of a map at a time, 64 pages, is not seen again: more is needed.
    (here / "data").write_bytes(bytes(4096 * 600))
    done = attempt("-o", "with.trace", "--", "/usr/bin/python3", "-S", "map.py")
    assert done.returncode == 0 and "worth it: " in done.stderr, done.stderr
    done = attempt("--no-mmap", "-o", "without.trace", "--", "/usr/bin/python3", "-S", "map.py")
    assert "2.3 MiB of 1 file were mapped" in done.stderr and done.returncode == 1
    assert "no verdict: more was mapped without being traced than is in the trace" in done.stderr


def test_a_program_that_reads_once_needs_neither_policy_nor_memory(here):
    (here / "once.txt").write_text("r 0 5000\n")
    done = attempt("once.txt")
    assert (done.returncode, done.stderr) == (4, "")
    assert done.stdout.splitlines()[0] == ("not worth it: each page is read about once, so no "
                                           "policy and no more memory can help")
    assert done.stdout.splitlines()[1].startswith("next: hipec profile --policy lru,opt --frames ")


def test_where_only_the_future_would_help_none_of_these_policies_does(here):
    """Pages at random, all alike: no policy can know which comes next."""
    rng = random.Random(1)
    (here / "random.txt").write_text("".join(f"r {rng.randrange(1000)}\n" for _ in range(40000)))
    done = attempt("random.txt")
    assert done.returncode == 3
    assert re.match(r"not worth it with these policies: none reads 3 % less than lru; with \S+ "
                    r"[KM]iB, opt, which knows the future, reads \d+ % less\n"
                    r"next: hipec profile ", done.stdout)


def test_a_program_that_fails_is_still_judged_by_what_it_did(here):
    (here / "library").write_bytes(bytes(4096 * 1000))
    done = attempt("--", "sh", "-c", "for i in 1 2 3; do cat library; done; exit 7")
    assert done.returncode == 0
    assert done.stderr.splitlines()[1] == "hipec try: sh ended with 7; what it did until then counts"


@pytest.mark.parametrize("args, code, said", [
    ([], 2, "hipec try: want -- and a program to run, or its trace\n"),
    (["--"], 2, "hipec try: want -- and a program to run, or its trace\n"),
    (["a", "b"], 2, "hipec try: want one trace, or -- before a program and its arguments\n"),
    (["-o", "x", "a.trace"], 2, "hipec try: --output, --no-mmap and what says which files matter are for programs: 'a.trace' is a "
                                "trace\n"),
    (["--", "/no/such"], 127, "hipec try: /no/such: No such file or directory\n"),
    (["no.trace"], 1, "hipec try: no.trace: No such file or directory\n"),
    (["-f", "8T", "a.trace"], 2, "hipec try: --frames: want 1,073,741,824 frames (4096 GiB) at most"),
])
def test_what_is_wrong_is_said(here, args, code, said):
    done = attempt(*args)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith(said)


def test_a_program_without_files_has_nothing_to_try(here):
    done = attempt("--", "/bin/true")
    assert done.returncode == 1 and done.stderr.splitlines()[-1] == (
        "hipec try: no accesses were seen, so there is nothing to try (docs/user/traces.md)")


def test_the_policies_that_are_tried_are_those_of_auto():
    """Which are no tutorials, as their headers say; lru and opt are built in."""
    source = (ROOT / "userlib/cli/try.c").read_text()
    assert 'usual[] = CLI_TRY_OVER "," SIM_LEAGUE ",opt"' in source
    names = re.search(r'SIM_LEAGUE "(.*),lru"', (ROOT / "userlib/sim/auto.h").read_text())[1].split(",")
    assert len(names) >= 6
    for name in names:
        assert "// Grade: tutorial" not in (ROOT / f"policies/{name}.hp").read_text(), name


SYSCALLS = """import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
class Cb(ctypes.Structure):
    _fields_ = [("data", ctypes.c_uint64), ("key", ctypes.c_uint32), ("flags", ctypes.c_uint32),
                ("opcode", ctypes.c_uint16), ("prio", ctypes.c_int16), ("fd", ctypes.c_uint32),
                ("buf", ctypes.c_uint64), ("nbytes", ctypes.c_uint64), ("offset", ctypes.c_int64),
                ("pad", ctypes.c_uint64 * 2)]
context = ctypes.c_ulong(0)
assert not libc.syscall(206, 8, ctypes.byref(context))      # io_setup
buf = ctypes.create_string_buffer(4096)
cb = Cb(opcode=0, fd=os.open("library", os.O_RDONLY), buf=ctypes.addressof(buf), nbytes=4096)
for i in range(3):
    pointer = ctypes.pointer(cb)
    assert libc.syscall(209, context, 1, ctypes.byref(pointer)) == 1    # io_submit
for i in range(4):
    open("library", "rb").read()
"""


def test_a_partial_trace_gets_no_verdict(here):
    (here / "library").write_bytes(bytes(4096 * 1000))
    (here / "aio.py").write_text(SYSCALLS)
    done = attempt("--", "/usr/bin/python3", "-S", "aio.py")
    assert done.returncode == 1, done.stderr
    assert "hipec try: 3 requests by aio were not traced\n" in done.stderr
    assert done.stderr.splitlines()[-1] == "no verdict: what it read by aio is not in the trace"


def test_a_program_that_is_not_seen_gets_the_line_that_sees_it(here):
    (here / "library").write_bytes(bytes(4096 * 1000))
    (here / "s.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["cc", "-static", "-o", "s", "s.c"], check=True)
    done = attempt("--", "sh", "-c", "./s; cat library library >/dev/null")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-3:] == [
        "no verdict: what that program read is not in the trace",
        "next: strace -f -e trace=desc,process,chdir,fchdir -o strace.log sh -c './s; cat library "
        "library >/dev/null'", "and:  hipec try strace.log"]


def test_what_fits_or_is_little_or_is_written_has_nothing_to_save(here):
    (here / "few.txt").write_text(sweeps(10, 4))
    (here / "some.txt").write_text(sweeps(5000, 3))
    (here / "out.txt").write_text("w 0 2000\n")
    for args, line in ((["few.txt"], "nothing to save: it reads 40 KiB in all, which any memory has; --frames tries "
                                     "sizes below that"),
                       (["--frames", "64M", "some.txt"], "nothing to save: with 64.0 MiB all of it fits"),
                       (["out.txt"], "nothing to save: it writes 7.8 MiB, and reads nothing")):
        done = attempt(*args)
        assert (done.returncode, done.stdout) == (4, line + "\n")


def test_traces_of_yesterday_are_kept_and_none_is_needed_here(here, monkeypatch):
    (here / "library").write_bytes(bytes(4096 * 1000))
    (here / "cat.trace").write_text("yesterday")
    done = attempt("--", "cat", "library")
    assert (here / "cat.trace").read_text() == "yesterday" and "are in cat.2.trace" in done.stderr
    done = attempt("-o", "/nosuch/x", "--", "sh", "-c", "touch ran")
    assert done.returncode == 1 and done.stderr == "hipec try: /nosuch/x: No such file or directory\n"
    assert not (here / "ran").exists()


def test_files_are_an_interpreters_only_where_the_reader_is_one(here):
    """grep over Python's sources is about these sources."""
    for i in range(300):
        (here / f"m{i}.py").write_bytes(bytes(12000))
    done = attempt("--", "sh", "-c", "for i in 1 2 3 4; do cat *.py; done")
    assert "hipec try: 3600 accesses to 900 pages of 300 files are in sh.trace" in done.stderr
    assert done.returncode == 0 and re.search(
        rf"^next: hipec attach --policy mru --budget 2.6M {re.escape(str(here))}   # then the program$",
        done.stderr, re.M), done.stderr


@pytest.mark.parametrize("what", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_program_and_gives_the_verdict(here, what):
    """Ctrl-C goes to all in the foreground; TERM to hipec try alone."""
    (here / "library").write_bytes(bytes(4096 * 1000))
    script = "cat library library library >/dev/null; echo ready; while :; do :; done"
    done = subprocess.Popen([HIPEC, "try", "--", "sh", "-c", script], env=ENV, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, start_new_session=True,
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    assert done.stdout.readline() == "ready\n"
    if what == signal.SIGINT:
        os.killpg(done.pid, what)
    else:
        done.send_signal(what)
    _, said = done.communicate(timeout=30)
    assert done.returncode == 0 and "worth it: with 2.9 MiB, mru reads" in said, said
    assert f"sh ended with {128 + what}; what it did until then counts" in said
    with pytest.raises(ProcessLookupError):
        os.killpg(done.pid, 0)


def test_a_signal_that_is_sent_has_its_default_effect(here):
    for verb in (["try"], ["trace", "--mmap"]):
        done = subprocess.run([HIPEC, *verb, "--", "sh", "-c", "kill -SEGV $$; echo alive"], env=ENV, text=True,
                              capture_output=True, check=False)
        assert done.stdout == "" and (verb == ["try"] or done.returncode == 139)


def test_mapped_pages_can_be_sent(here):
    (here / "library").write_bytes(b"x" * 4096 * 8)
    (here / "send.py").write_text(
        "import mmap, socket\na, b = socket.socketpair()\n"
        "with open('library', 'r+b') as f, mmap.mmap(f.fileno(), 0) as m:\n"
        "    v = memoryview(m)\n"
        "    a.send(v[4096:4100]); a.sendmsg([v[12288:12292]])\n"
        "    assert b.recv(8) == b'x' * 8\n    b.send(b'abcd'); a.recv_into(v[16384:16388])\n"
        "    assert bytes(v[16384:16388]) == b'abcd'\n    v.release()\n")
    done = subprocess.run([HIPEC, "trace", "--mmap", "-o", "t", "--", "/usr/bin/python3", "-S", "send.py"], env=ENV,
                          text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    text = subprocess.run([HIPEC, "trace", "convert", "--only", "library", "t", "-"], env=ENV, text=True,
                          capture_output=True, check=True).stdout
    assert len(re.findall(r"^[rw] ", text, re.M)) >= 3 and "w " in text


def test_arguments_are_printed_as_a_shell_takes_them(here):
    """Ends of lines, quotes, backslashes, and letters of other languages."""
    (here / "grün").write_bytes(bytes(4096 * 1000))
    script = "for i in 1 2 3; do\n\tcat gr*; : 'a\\n'; done"
    done = attempt("--", "sh", "-c", script, "grün")
    line = next(line for line in done.stderr.splitlines() if line.startswith("next: "))
    words = subprocess.run(["bash", "-c", f"printf '%s\\0' {line.split(' -- ', 1)[1]}"], text=True,
                           capture_output=True, check=True).stdout
    assert words.split("\0")[:-1] == ["sh", "-c", script, "grün"]
