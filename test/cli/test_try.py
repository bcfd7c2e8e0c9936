# SPDX-License-Identifier: GPL-2.0-only
"""hipec try: what it says of programs and traces whose numbers are known, what it says to run
next, and its exit codes."""

import os
import random
import re
import shutil
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
        "worth it: with 2.9 MiB, mru reads 6.9 MiB instead of 15.6 MiB (-55.6 %); least possible: 6.9 MiB",
        "next: hipec run --policy mru --budget 2.9M --expect 6.9M -- PROGRAM",
        "and:  hipec profile --policy lru,mru,opt --frames 2.9M --output report.html sweep.txt",
        "auto: finds mru while the program runs, and reads 10.3 MiB (-34.3 %)"]


def test_a_budget_is_said_as_it_was_asked_for(here):
    (here / "sweep.txt").write_text(sweeps(1000, 4))
    done = attempt("--frames", "1M,2M,4M", "--policy", "mru", "sweep.txt")
    said = done.stdout.splitlines()
    assert said[0].startswith("worth it: with 2.0 MiB, mru reads ")
    reads = re.search(r"mru reads ([\d.]+) MiB", said[0])[1]
    assert said[1] == f"next: hipec run --policy mru --budget 2M --expect {reads}M -- PROGRAM"


def test_a_program_is_recorded_and_its_output_is_its_own(here):
    (here / "library").write_bytes(bytes(4096 * 1000))
    done = attempt("--", "sh", "-c", "for i in 1 2 3; do cat library; done; echo 'it is' done")
    assert done.returncode == 0 and done.stdout == "\0" * 3 * 4096 * 1000 + "it is done\n"
    trace, worth, run, profile, auto = done.stderr.splitlines()
    assert trace == "hipec try: 3000 accesses to 1000 pages of 1 file are in sh.trace"
    assert re.match(r"worth it: with 2.9 MiB, mru reads [\d.]+ MiB instead of 11.7 MiB",
                    worth)
    assert re.fullmatch(r"next: hipec run --policy mru --budget 2.9M --expect 5.9M -- sh -c "
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


def test_what_is_read_again_at_once_or_only_written_is_read_once(here):
    """As tar does: what it writes twice is no reason for more memory, nor is a page in four parts."""
    (here / "tar.txt").write_text("".join(f"r {i}\nr {i}\nw {10000 + i} 2\n" for i in range(3000)))
    done = attempt("tar.txt")
    assert done.returncode == 4 and done.stdout.startswith("not worth it: each page is read about once, so "), done.stdout


def test_pages_that_are_written_whole_are_not_read(here):
    """3,000 pages are read, 3,000 others written and read back, as sort does; the output is written. In
    2,047 frames, a third of all, lru has read 6,000 pages, not 12,000; another has kept some."""
    (here / "sort.txt").write_text("r 0 3000\nw 10000 3000\nr 10000 3000\nw 20000 3000\n")
    done = attempt("--frames", "8M", "sort.txt")
    found = re.match(r"worth it: with 8.0 MiB, (\S+) reads ([\d.]+) MiB instead of 23.4 MiB \(-([\d.]+) %\); "
                     r"opt, which knows the future: ([\d.]+) MiB\n", done.stdout)
    assert found and done.returncode == 0, done.stdout
    assert 11.7 <= float(found[4]) <= float(found[2]) < 23.4 * 0.97
    assert abs(float(found[3]) - 100 * (1 - float(found[2]) / 23.4)) < 1
    (here / "back.txt").write_text("w 0 3000\nr 0 3000\n")
    done = attempt("--frames", "16M", "back.txt")
    assert (done.returncode, done.stdout) == (4, "nothing to compare: no page was read\n")


def test_where_only_the_future_would_help_none_of_these_policies_does(here):
    """Pages at random, all alike: no policy can know which comes next."""
    rng = random.Random(1)
    (here / "random.txt").write_text("".join(f"r {rng.randrange(1000)}\n" for _ in range(40000)))
    done = attempt("random.txt")
    assert done.returncode == 3
    assert re.match(r"not worth it with these policies: none reads 3 % less than lru; with \S+ "
                    r"[KM]iB, opt, which knows the future, reads [\d.]+ % less\n"
                    r"next: hipec profile ", done.stdout)


def test_a_program_that_fails_is_still_judged_by_what_it_did(here):
    (here / "library").write_bytes(bytes(4096 * 1000))
    done = attempt("--", "sh", "-c", "for i in 1 2 3; do cat library; done; exit 7")
    assert done.returncode == 0
    assert done.stderr.splitlines()[1] == "hipec try: sh ended with 7; what it did until then counts"


def test_standard_input_is_read_once(here):
    done = attempt("-", input=sweeps(1000, 4))
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.splitlines()[3].startswith("auto: finds mru ")


@pytest.mark.parametrize("args, said", [
    (["-p", "mru,nosuch"], "nosuch: want a .hp or .hpo file"), (["-f", "64X"], "--frames: want frames"),
    (["-o", "-"], "--output: want a file, which is read again, not '-'"), (["-o", "/dev/null"], "--output: want a file"),
    (["-o", "."], ".: Is a directory"), (["-o", "x.gz"], "x.gz: what is written can be compressed by zstd")])
def test_what_is_wrong_is_said_before_the_program_runs(here, args, said):
    done = attempt(*args, "--", "sh", "-c", "touch ran; cat ran")
    assert done.returncode in (1, 2) and done.stderr.startswith(f"hipec try: {said}"), done.stderr
    assert not (here / "ran").exists()


def test_a_program_of_any_name_has_a_trace_that_can_be_typed(here):
    (here / "library").write_bytes(bytes(4096 * 1000))
    shutil.copy("/bin/cat", here / "-c at")
    done = attempt("--", "./-c at", "library", "library", "library")
    line = next(line for line in done.stderr.splitlines() if line.startswith("and:  "))
    assert line.endswith(" './-c at.trace'"), done.stderr
    subprocess.run(["sh", "-c", line.removeprefix("and:  ").replace("hipec", f"{BUILD}/hipec", 1)], check=True, env=ENV,
                   capture_output=True)


@pytest.mark.parametrize("args, code, said", [
    ([], 2, "hipec try: want -- and a program to run, or its trace\n"),
    (["--"], 2, "hipec try: want -- and a program to run, or its trace\n"),
    (["a", "b"], 2, "hipec try: want one trace, or -- before a program and its arguments\n"),
    (["-o", "x", "a.trace"], 2, "hipec try: --output, --no-mmap, --kernel and what says which files matter are for programs: "
                                "'a.trace' is a trace\n"),
    (["--pid", "0"], 2, "hipec try: --pid: want a number, not '0'\n"),
    (["--pid", "7", "x"], 2, "hipec try: want --pid, or a program or a trace\n"),
    (["--pid", "999999999"], 1, "hipec try: there is no process 999999999 that runs a program\n"),
    (["--kernel", "--seconds", "7", "--", "x"], 2, "hipec try: --seconds is of --pid\n"),
    (["--kernel", "--all", "--", "x"], 2, "hipec try: --no-mmap and what says which files matter have no meaning"),
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
    assert '->policies ?: CLI_TRY_OVER "," SIM_LEAGUE ",opt"' in source
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
    assert done.stderr.splitlines()[-2] == "no verdict: what it read by aio is not in the trace"


@pytest.mark.parametrize("plain, verdict", [("", False), ("; cat library library library >/dev/null", True)])
def test_what_goes_past_the_page_cache_gets_no_verdict(here, plain, verdict):
    """O_DIRECT: no policy of the page cache sees it. Where most is read as ever, there is a verdict,
    and a line that says how much is not."""
    (here / "library").write_bytes(bytes(4096 * 1000))
    read = "dd if=library of=/dev/null bs=40960 iflag=direct status=none"
    if subprocess.run(["sh", "-c", read], check=False, capture_output=True).returncode:
        pytest.skip("this file system has no O_DIRECT")
    done = attempt("--", "sh", "-c", f"{read}; {read}{plain}")
    assert "hipec try: 7.8 MiB were read or written by O_DIRECT, past the page cache\n" in done.stderr
    assert ("no verdict: most of it is read or written by O_DIRECT, past the page cache, where no "
            "policy sees it" in done.stderr.splitlines()) != verdict
    assert done.returncode == (0 if verdict else 1), done.stderr


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


def test_what_passes_by_the_library_gets_the_line_that_asks_the_kernel(here):
    (here / "library").write_bytes(bytes(4096 * 1000))
    (here / "aio.py").write_text(SYSCALLS)
    done = attempt("--", "/usr/bin/python3", "-S", "aio.py", "a b")
    sudo = "sudo " if os.geteuid() else ""
    assert done.stderr.splitlines()[-1] == f"next: {sudo}hipec try --kernel -- /usr/bin/python3 -S aio.py 'a b'"


def test_logs_that_are_known_to_be_partial_get_no_verdict(here):
    head = '1 openat(AT_FDCWD, "/d/a", O_RDONLY) = 3\n' + '1 pread64(3, ""..., 4096000, 0) = 4096000\n' * 4
    for more, why in (("1 io_uring_enter(4, 1, 1, 0, NULL, 8) = 1\n", "what it read by io_uring is not in the trace"),
                      ("1 mmap(NULL, 8192000, PROT_READ, MAP_SHARED, 3, 0) = 0x7f00\n",
                       "more was mapped without being traced than is in the trace"),
                      ("1 mmap(NULL, 40960, PROT_READ, MAP_SHARED, 3, 0) = 0x7f00\n", None)):
        (here / "s.log").write_text(head + more)
        done = attempt("s.log")
        assert done.stdout.startswith(f"no verdict: {why}\n" if why else "worth it: "), done.stdout
        assert done.returncode == (1 if why else 0)
    event = "a 7 [000] 1.0: filemap:mm_filemap_{}: dev=8:1 ino=9 ofs=0-4095999\n"
    for lines, why in ((event.format("get_pages") * 4, None),
                       (event.format("map_pages") * 4, "the kernel does not tell of touches of mapped pages"),
                       (event.format("get_pages") * 4 + "a 7 [000] 1.1: PERF_RECORD_LOST lost 9\n",
                        "records are missing")):
        (here / "p.log").write_text(lines)
        done = attempt("p.log")
        assert done.stdout.startswith(f"no verdict: {why}\n" if why else "worth it: "), done.stdout


def kernel_tells():
    """Whether perf can be asked what is read: Linux 6.12, root."""
    return not os.geteuid() and shutil.which("perf") and not subprocess.run(
        ["perf", "record", "-q", "-o", os.devnull, "-e", "filemap:mm_filemap_get_pages", "--", "true"],
        capture_output=True, check=False).returncode


def test_the_kernel_tells_what_static_programs_read(here):
    if not kernel_tells():
        pytest.skip("wants root, perf and Linux 6.12")
    (here / "library").write_bytes(bytes(4096 * 1000))
    (here / "s.c").write_text(
        "#include <fcntl.h>\n#include <unistd.h>\nchar b[1 << 16];\nint main(int n, char **v)\n{\n"
        "\tint f = open(v[1], O_RDONLY);\n\tdo {\n\t\tlseek(f, 0, SEEK_SET);\n"
        "\t\twhile (read(f, b, sizeof(b)) > 0)\n\t\t\t;\n\t\tusleep(10000);\n"
        "\t} while (n++ < 5 || v[2]);\n\treturn 3;\n}\n")
    subprocess.run(["cc", "-O1", "-static", "-w", "-o", "s", "s.c"], check=True)
    done = attempt("--kernel", "--", "./s", "library")
    assert done.returncode == 0 and "4000 accesses to 1000 pages of 1 file are in s.trace" in done.stderr, done.stderr
    assert "hipec try: ./s ended with 3; what it did until then counts" in done.stderr
    assert "next: hipec run --policy mru --budget 2.9M --expect 6.9M -- ./s library" in done.stderr
    with subprocess.Popen(["./s", "library", "for ever"]) as running:
        done = attempt("--pid", running.pid, "--seconds", "1")
        running.kill()
    assert done.returncode == 0 and "-- ./s library 'for ever'" in done.stderr, done.stderr


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


def test_what_is_read_says_which_files_matter(here):
    """As much is written, into one large file."""
    for i in range(300):
        (here / f"m{i}").write_bytes(bytes(12000))
    done = attempt("--", "sh", "-c", "cat m* m* m* m* >out")
    assert re.search(rf"^next: hipec attach .* {re.escape(str(here))}   #", done.stderr, re.M), done.stderr


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


JAVA = """import java.nio.channels.*;
import java.nio.file.*;
public class Map {
    public static void main(String[] a) throws Exception {
        try (FileChannel c = FileChannel.open(Path.of("data"))) {
            java.nio.MappedByteBuffer m = c.map(FileChannel.MapMode.READ_ONLY, 0, c.size());
            int sum = 0;
            for (int pass = 0; pass < 4; pass++)
                for (int i = 0; i < c.size(); i += 4096)
                    sum += m.get(i);
        }
    }
}
"""


def saving(said):
    return float(re.search(r"^worth it: .* \(-([\d.]+) %\)", said, re.M)[1])


def test_a_virtual_machines_own_files_do_not_count(here):
    """Most that Java maps is its archive of classes: the verdict is about as without it."""
    if not shutil.which("javac"):
        pytest.skip("wants Java")
    (here / "data").write_bytes(bytes(4096 * 1000))
    (here / "Map.java").write_text(JAVA)
    subprocess.run(["javac", "Map.java"], check=True)
    java = ["--", "java", "-Xshare:auto", "-Xmx64m", "Map"]
    all_of_it, data = attempt(*java), attempt("--only", "data", *java)
    left = re.search(r"left out (\d+) accesses .* that interpreters and libraries read of themselves", all_of_it.stderr)
    assert int(left[1]) > 10000, all_of_it.stderr       # without an archive there is nothing to see
    assert re.search(r"400\d accesses to 1000 pages of 1 file are in", data.stderr), data.stderr
    assert abs(saving(all_of_it.stderr) - saving(data.stderr)) < 5, (all_of_it.stderr, data.stderr)


@pytest.mark.parametrize("command", [
    "setpriv --reuid=65534 --clear-groups cat {0} {0} {0}", "su -s /bin/sh nobody -c 'cat {0} {0} {0}'",
    "chroot --userspec=65534:65534 / cat {0} {0} {0}", "chroot . ./s"])
def test_programs_that_drop_their_privileges_get_no_verdict(here, command):
    """They may not write into root's records; in another root there is no library."""
    if os.geteuid():
        pytest.skip("wants root")
    (here / "library").write_bytes(bytes(4096 * 1000))
    (here / "s.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["cc", "-static", "-o", "s", "s.c"], check=True)
    done = attempt("--", "sh", "-c", command.format(here / "library"))
    assert done.returncode == 1 and "hipec try: nothing was seen of " in done.stderr, done.stderr
    assert "no verdict: what that program read is not in the trace\n" in done.stderr
    assert done.stderr.splitlines()[-2].startswith("next: strace -f ") and "worth it" not in done.stderr


def test_a_folder_without_room_for_records_is_named(here):
    if os.geteuid():
        pytest.skip("wants root")
    (here / "library").write_bytes(bytes(4096 * 1000))
    (here / "small").mkdir()
    script = (f"mount -t tmpfs -o size=64k none small && TMPDIR=$PWD/small {HIPEC} try -- cat library library; "
              f"echo $? >&2; TMPDIR=$PWD/small {HIPEC} trace -o t -- cat library; echo $? >&2")
    done = subprocess.run(["unshare", "-m", "sh", "-c", script], env=ENV, capture_output=True, text=True, check=True)
    missing = rf"\d+ records are missing: there was no room for them in {re.escape(str(here))}/small, .*"
    assert re.fullmatch(rf"hipec try: {missing}\nhipec try: so there is no trace\nno verdict: records are missing\n1\n"
                        rf"hipec trace: {missing}\nhipec trace: so there is no trace\n1\n", done.stderr), done.stderr
