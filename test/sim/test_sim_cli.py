# SPDX-License-Identifier: GPL-2.0-only
"""hipec sim as a command: sizes, columns, verdicts and their exit codes, several
runs at a time, what a terminal sees, and what memory it takes."""

import json
import os
import pty
import random
import re
import shutil
import signal
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT

HIPEC = BUILD / "asan" / "hipec"
ENV = {**os.environ, "HIPEC_POLICY_PATH": str(BUILD / "policies")}


@pytest.fixture(autouse=True, scope="module")
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/hipec", "build/asan/ampc", "build/hipec",
                    *(f"build/policies/{name}.hpo" for name in ("mru", "fifo2", "lru", "arc", "lfu"))],
                   check=True)


def sim(*args, trace="", tool=HIPEC):
    return subprocess.run([tool, "sim", *map(str, args), "-"], text=True, check=False, env=ENV,
                          input=trace, capture_output=True)


def rows(*args, trace):
    done = sim("--json", *args, trace=trace)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def sweep(n, passes):
    return f"r 0 {n}\n" * passes


def test_sizes_are_frames_or_memory_or_a_part_of_the_pages():
    """4 KiB a frame; k counts frames, all else with a letter is memory."""
    sizes = {"5": 5, "2k": 2048, "1K": 1024, "1M": 256, "1MiB": 256, "16KiB": 4, "64m": 16384,
             "1G": 1 << 18, "4gib": 1 << 20, "1024k": 1 << 20, "1048577": (1 << 20) + 1, "8G": 1 << 21,
             "1T": 1 << 28, "4tib": 1 << 30, "1073741824": 1 << 30, "25%": 3, "100%": 10, "1%": 1}
    got = rows("-p", "lru", "-f", ",".join(sizes), trace=sweep(10, 2))
    assert [r["frames"] for r in got] == list(sizes.values())
    typed = {"1.5M": 384, "1.5G": 384 << 10, "64MB": 16384, "512KB": 128, "0.25T": 1 << 26, "1.5k": 1536,
             "5KiB": 1, "1 M": 256, "33.3%": 4, "30.0%": 3, "0.1 %": 1, "0.001%": 1, "99.9%": 10}
    got = rows("-p", "lru", "-f", ",".join(typed), trace=sweep(10, 2))
    seen = list(dict.fromkeys(size for size in typed.values()))
    assert list(dict.fromkeys(r["frames"] for r in got)) == seen
    got = rows("-p", "lru,fifo", "-f", "1%,10%,1,11%,1", trace=sweep(10, 2))
    assert [r["frames"] for r in got] == [1, 1, 1, 1, 2, 2, 1, 1]


ENDS = """Event Init()
{
	Queue q;
	Page page;
	param Int youngest = 0 in 0..1;
	const param Int fixed = -3 in -9..-1;
	param Int any;
	counter Int sum;
}
Event PageFault() { EnQueue(FindPA(FaultedAddress), q, TAIL); sum = any + fixed; }
Event Replace()
{
	if (youngest)
		page = DeQueue(q, TAIL);
	else
		page = DeQueue(q, HEAD);
	EnQueue(page, _free_queue, TAIL);
}
"""


def test_parameters_are_set_in_each_policy_that_has_them(tmp_path):
    """Two passes over 20 pages in 10 frames. The oldest goes first: no hit. The youngest: pages
    0 to 8 stay, so 20 faults and then 11."""
    for name in "ab":
        (tmp_path / f"{name}.hp").write_text(ENDS)
    (tmp_path / "b.hp").write_text(ENDS.replace("youngest", "last"))
    both = f"{tmp_path}/a.hp,{tmp_path}/b.hp"

    def faults(*args):
        return [(r["faults"], r.get("policy_counters", {}).get("sum"))
                for r in rows("-p", f"{both},lru,builtin", "-f", 10, *args, trace=sweep(20, 2))]

    assert faults()[:3] == [(40, -3), (40, -3), (40, None)]
    assert faults("--param", "youngest=1")[:2] == [(31, -3), (40, -3)]
    assert faults("--param", "last=1", "--param=youngest=0")[:2] == [(40, -3), (31, -3)]
    # What is said last holds; const and limitless ones; hexadecimal and negative.
    assert faults("--param", "fixed=-9", "--param", "any=-5", "--param", "any=0x10")[:2] == \
        [(40, 7), (40, 7)]


@pytest.mark.parametrize("arg, code, said", [
    ("youngest=2", 1, "--param youngest=2: in {path} it may be 0 to 1"),
    ("fixed=0", 1, "--param fixed=0: in {path} it may be -9 to -1"),
    ("young=1", 1, "--param: no policy here has a parameter 'young'"),
    ("q=1", 1, "--param: no policy here has a parameter 'q'"),
    ("sum=1", 1, "--param: no policy here has a parameter 'sum'"),
    ("youngest", 2, "--param: want NAME=VALUE, an integer, not 'youngest'"),
    ("=1", 2, "--param: want NAME=VALUE, an integer, not '=1'"),
    ("youngest=", 2, "--param: want NAME=VALUE, an integer, not 'youngest='"),
    ("youngest=1x", 2, "--param: want NAME=VALUE, an integer, not 'youngest=1x'"),
    ("any=99999999999999999999", 2,
     "--param: want NAME=VALUE, an integer, not 'any=99999999999999999999'"),
])
def test_parameters_that_cannot_be_set_are_named(arg, code, said, tmp_path):
    path = tmp_path / "ends.hp"
    path.write_text(ENDS)
    done = sim("-p", f"{path},lru", "-f", "10", "--param", arg, trace=sweep(20, 2))
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.splitlines()[0] == f"hipec sim: {said.format(path=path)}"


@pytest.mark.parametrize("size", ["", "101%", "99999999999999999999%", "4x", "4kk", "1.5",
                                  "k", "-1", "0x10", "25%%", "1  M", "1.M", ".5G", "5 "])
def test_other_sizes_are_refused(size):
    done = sim("--frames", f"7,{size}")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "hipec sim: --frames: want frames (4096, 4k), memory (64M, 8G, 512KiB) or a part "
        f"of the pages (25%), not '{size}'\nusage: hipec sim ")


@pytest.mark.parametrize("size", ["2KiB", "0.001M", "1KB", "0", "0%", "0T", "0.0001%"])
def test_less_than_a_page_is_said(size):
    done = sim("--frames", size)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"hipec sim: --frames: want a page, 4 KiB, at least, not '{size}'\n")


@pytest.mark.parametrize("size", ["1073741825", "1048577k", "4097G", "5T", "99999999999999999999",
                                  "18014398509481985M"])
def test_more_frames_than_can_be_simulated_are_refused_with_the_limit(size):
    done = sim("--frames", f"7,{size}")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        f"hipec sim: --frames: want 1,073,741,824 frames (4096 GiB) at most, not '{size}'\n")


# Policies with ghosts, page fields and an ordered queue among them, and references.
MANY = "lru,fifo2,arc,lfu,mru,opt,clock"


def test_four_terabytes_of_frames_cost_what_the_trace_touches():
    """Frames that stay free change nothing but what is said of them: three passes over 2,000 pages
    have 2,000 faults, and memory is less than a byte for ten thousand bytes of frames."""
    same = ("accesses", "faults", "read", "evictions", "state")
    few, many = (rows("-p", MANY, "-f", size, trace=sweep(2000, 3)) for size in ("2000", "4095G"))
    assert [{k: r.get(k) for k in same} for r in many] == [{k: r.get(k) for k in same} for r in few]
    assert {r["faults"] for r in many} == {2000}
    assert peak(MANY, "4095G", sweep(2000, 3)) < 100 << 20


@pytest.mark.user
def test_opt_is_refused_where_its_notes_do_not_fit(tmp_path):
    """4 bytes an access; other policies run. The sanitizers take more addresses than any limit."""
    (tmp_path / "trace").write_text("r 0 1000000\n" * 100)
    limited = ["prlimit", "--as=350000000", BUILD / "hipec", "sim", "-f", "1%", tmp_path / "trace", "-p"]
    done = subprocess.run([*limited, "lru,opt-reads"], capture_output=True, text=True, check=False)
    said = re.fullmatch(r"hipec sim: opt-reads: 100000000 accesses take 381 MB, and (\d+) MB of memory "
                        r"are left, enough for (\d+): leave it out, or give it a part of the trace\n",
                        done.stderr)
    assert (done.returncode, done.stdout) == (1, "") and said, done
    assert 200 < int(said[1]) < 334 and int(said[2]) * 4 >> 20 == int(said[1])
    done = subprocess.run([*limited, "lru"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.more
def test_a_trace_that_does_not_fit_in_memory_is_on_the_disk(tmp_path):
    """Runs of 8 bytes and tags of 4, 36 MB and more of them; the process may have 20. What comes of
    it is the same, and no file is left. Where the folder has no room either, it says so."""
    n = 3 << 20
    with open(tmp_path / "trace", "w", encoding="ascii") as f:
        f.writelines(f"{'rw'[i % 3 == 0]} {i * 7919 % 5003} 1{' h=3' if i > n / 2 and i % 2 else ''}\n"
                     for i in range(n))
    (tmp_path / "room").mkdir()
    command = [BUILD / "hipec", "sim", "-f", "1000", "-p", "fifo2,lru", "--json", tmp_path / "trace"]
    want = subprocess.run(command, capture_output=True, text=True, check=True)
    assert want.stderr == "" and {r["accesses"] for r in json.loads(want.stdout)} == {n}
    limited = ["prlimit", "--data=20000000", *command]
    got = subprocess.run(limited, capture_output=True, text=True, check=False,
                         env={**os.environ, "TMPDIR": str(tmp_path / "room")})
    assert (got.returncode, got.stdout) == (0, want.stdout)
    assert got.stderr == (f"hipec sim: {tmp_path}/trace: it is too large for memory, and is in a file "
                          f"in {tmp_path}/room meanwhile\n")
    assert not list((tmp_path / "room").iterdir())
    got = subprocess.run(limited, capture_output=True, text=True, check=False,
                         env={**os.environ, "TMPDIR": "/proc"})
    assert (got.returncode, got.stdout) == (1, "")
    assert got.stderr == (f"hipec sim: {tmp_path}/trace: it fits neither in memory nor in /proc: set "
                          "TMPDIR to a folder with more room\n")


def test_a_policy_that_remembers_too_many_pages_says_how_many_frames_it_can_have(tmp_path):
    (tmp_path / "ghosts.hp").write_text(ENDS.replace("Queue q;", "Ghosts 900;\n\tQueue q;"))
    done = sim("-p", tmp_path / "ghosts.hp", "-f", "1T", trace=sweep(20, 2))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (f"hipec sim: {tmp_path}/ghosts.hp remembers up to 900 % of its frames: "
                           "with it, --frames can be 214748364 at most\n")
    assert rows("-p", tmp_path / "ghosts.hp", "-f", "214748364", trace=sweep(20, 2))


@pytest.mark.parametrize("args, words", [
    (["--columns", "faults,x"], "--columns: there is no 'x'; docs/user/sim.md lists them"),
    (["--columns", ""], "--columns: there is no ''; docs/user/sim.md lists them"),
    (["--columns", "all,faults"], "--columns: want 23 at most"),
    (["--verdict=x"], "--verdict: want a percentage from 0 to 100, not 'x'"),
    (["--verdict=3x"], "--verdict: want a percentage from 0 to 100, not '3x'"),
    (["--verdict="], "--verdict: want a percentage from 0 to 100, not ''"),
    (["--verdict=101"], "--verdict: want a percentage from 0 to 100, not '101'"),
    (["--over", "opt"], "--over: want a policy that can be had, not 'opt'"),
    (["--jobs", "0"], "--jobs: want a number from 1 to 256, not '0'"),
    (["--jobs", "257"], "--jobs: want a number from 1 to 256, not '257'"),
    (["--jobs", "two"], "--jobs: want a number from 1 to 256, not 'two'"),
])
def test_other_options_are_refused(args, words):
    done = sim(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"hipec sim: {words}\nusage: hipec sim ")


def test_columns_are_shown_as_they_are_asked_for():
    done = sim("-p", "lru,mru", "-f", "3", "--columns",
               "faults,policy,read-misses,write-misses,read-hits,gain,accesses,read,written",
               "--whole-writes", trace="r 0 4\nw 0 4\nr 3\n")
    # lru never hits but for page 3 at the end. mru has 0 and 1, and 3 in the place of 2,
    # when they are written; then 2 comes in the place of 3, and 3 again in that of 2.
    assert [line.split() for line in done.stdout.split("\n")[1:4]] == [
        ["FAULTS", "POLICY", "READ-MISSES", "WRITE-MISSES", "READ-HITS%", "GAIN%", "ACCESSES",
         "READ", "WRITTEN"],
        ["8", "lru", "4", "4", "20.00", "+0.0", "9", "4", "1"],
        ["6", "mru", "4", "2", "20.00", "+25.0", "9", "4", "1"]]
    done = sim("-p", "lru", "--columns", "read-hits,gain", trace="w 1\n")
    assert done.stdout.split("\n")[1:3] == ["READ-HITS%  GAIN%", "-           +0.0"]
    done = sim("-p", "fifo", "--columns", "gain", trace="w 1\n")
    assert done.stdout.split("\n")[1:3] == ["GAIN%", "-"]


# Ten pages five times with 7 frames: lru and fifo 50 faults, mru 10 + 4 x 4 = 26, opt 22.
# Nine three times with 2: 27 and 24; a hundred twice with 3: 200 and 197.
@pytest.mark.parametrize("args, trace, line, code", [
    ("-p lru,mru,opt -f 7", (10, 5), "7 frames: mru gains 48.0 % over lru; opt 56.0 %", 0),
    ("-p lru,mru -f 7", (10, 5), "7 frames: mru gains 48.0 % over lru", 0),
    ("-p mru -f 7", (10, 5), None, 0),
    ("-p mru,opt -f 7", (10, 5), None, 0),
    ("-p lru,fifo -f 7", (10, 5), None, 0),
    ("-p mru,clock -f 7 --verdict", (10, 5), "7 frames: mru gains 48.0 % over lru; opt 56.0 %", 0),
    ("-p fifo,clock -f 7 --verdict", (10, 5),
     "7 frames: none of these gains anything over lru; opt 56.0 %", 3),
    ("-p mru -f 7 --verdict=50", (10, 5),
     "7 frames: none of these gains 50 % over lru, mru 48.0 %; opt 56.0 %", 3),
    ("-p mru -f 7 --verdict=48", (10, 5), "7 frames: mru gains 48.0 % over lru; opt 56.0 %", 0),
    ("-p lru -f 7 --verdict", (10, 5), "7 frames: a policy can gain up to 56.0 % over lru", 3),
    ("-p lru,mru -f 10 --verdict", (10, 5), "10 frames: no policy can gain anything over lru", 4),
    ("-p fifo -f 10 --verdict=0", (10, 5), "10 frames: no policy can gain anything over lru", 4),
    ("-p mru -f 2 --verdict=20", (9, 3), "2 frames: no policy can gain more than 11.2 % over lru", 4),
    ("-p opt-reads -f 3 --verdict=1.5", (100, 2),
     "3 frames: a policy can gain up to 1.5 % over lru", 3),
    ("-p fifo -f 3 --verdict=1.6", (100, 2),
     "3 frames: no policy can gain more than 1.5 % over lru", 4),
    ("-p lru -f 7 --verdict --over mru", (10, 5),
     "7 frames: none of these gains anything over mru; opt 15.4 %", 3),
    ("-p lru -f 7 --over mru", (10, 5), None, 0),
    ("-p lru,opt -f 7 --over mru", (10, 5),
     "7 frames: none of these gains anything over mru; opt 15.4 %", 0),
])
def test_verdicts_are_arithmetic(args, trace, line, code):
    done = sim(*args.split(), trace=sweep(*trace))
    said = [text for text in done.stdout.split("\n") if " frames: " in text]
    assert (said, done.returncode, done.stderr) == ([line] if line else [], code, "")


def test_the_exit_code_is_the_best_news_of_all_sizes():
    done = sim("--verdict", "-p", "mru", "-f", "10,7", trace=sweep(10, 5))
    assert done.returncode == 0 and done.stdout.endswith(
        "\n10 frames: no policy can gain anything over lru\n"
        "7 frames: mru gains 48.0 % over lru; opt 56.0 %\n")
    assert sim("--verdict", "-p", "fifo", "-f", "10,7", trace=sweep(10, 5)).returncode == 3
    assert sim("--verdict", "-p", "fifo", "-f", "10,11", trace=sweep(10, 5)).returncode == 4


def test_json_has_the_verdict_too():
    done = sim("--json", "--verdict", "-p", "mru", "-f", "7,10", trace=sweep(10, 5))
    assert done.returncode == 0
    assert [(r["policy"], r["gain_percent"], r["verdict"]) for r in json.loads(done.stdout)] == \
        [("mru", 48, "gain"), ("lru", 0, "gain"), ("opt", 56, "gain"),
         ("mru", 0, "none"), ("lru", 0, "none"), ("opt", 0, "none")]
    assert [(r["gain_percent"], r["verdict"]) for r in rows("-p", "mru,opt", trace=sweep(10, 5))] == \
        [(None, None)] * 4
    assert rows("-p", "fifo", "-f", 7, "--over", "mru", trace=sweep(10, 5))[0]["verdict"] is None


def test_a_policy_that_ended_has_no_part_in_the_verdict(tmp_path):
    """mru for 20 faults; that it has fewer than lru in the end is not its merit."""
    path = tmp_path / "short.hp"
    path.write_text("Event Init() { Queue q; Page page; Int n; }\n"
                    "Event PageFault() { page = FindPA(FaultedAddress); n++;\n"
                    "if (n > 20) page = NONE; EnQueue(page, q, TAIL); }\n"
                    "Event Replace() { page = DeQueue(q, TAIL); EnQueue(page, _free_queue, TAIL); }\n")
    got = rows("-p", f"lru,{path}", "-f", 7, trace=sweep(10, 5))
    assert got[1]["exit"]["kind"] and got[1]["faults"] < 0.9 * got[0]["faults"]
    assert got[1]["gain_percent"] > 10 and got[1]["verdict"] is None
    done = sim("--verdict", "-p", path, "-f", 7, trace=sweep(10, 5))
    assert done.returncode == 3 and done.stdout.endswith(" a policy can gain up to 56.0 % over lru\n")


def test_names_cannot_write_to_the_terminal(tmp_path):
    path = tmp_path / "\x1b[31m.hpo"
    path.write_bytes((BUILD / "policies" / "mru.hpo").read_bytes())
    done = sim("--verdict", "-p", path, "-f", 7, trace=sweep(10, 5))
    assert done.returncode == 0 and "\x1b" not in done.stdout
    assert f"7 frames: {tmp_path}/?[31m.hpo gains 48.0 % over lru" in done.stdout


@pytest.mark.parametrize("args", [["--json"], [], ["--json", "--contract"]])
def test_how_many_run_at_a_time_changes_nothing(args, tmp_path):
    rng = random.Random(1)
    for name in "ab":
        (tmp_path / name).write_text("".join(
            f"{rng.choice('rw')} {int(rng.expovariate(0.01))}\n" for _ in range(2000)))
    out = {subprocess.run([HIPEC, "sim", *args, "--jobs", str(jobs), "-p",
                           "lru,opt,mru,opt-reads,fifo2,clock", "-f", "7,10%,60%,90", "a", "b"],
                          cwd=tmp_path, env=ENV, text=True, check=True,
                          stdout=subprocess.PIPE).stdout for jobs in (1, 2, 7)}
    assert len(out) == 1 and out.pop().count("opt-reads") == 8


class Terminal:
    """A program whose standard error is one."""

    def __init__(self, *args):
        self.side, other = pty.openpty()
        self.program = subprocess.Popen(args, env=ENV, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=other)
        os.close(other)
        self.text = b""

    def read(self):
        """More of what it wrote; False at the end."""
        try:
            more = os.read(self.side, 4096)
        except OSError:
            more = b""
        self.text += more
        return bool(more)

    def end(self, given=None):
        out = self.program.communicate(given)[0]
        while self.read():
            pass
        os.close(self.side)
        return out


def test_looking_ahead_ends_with_the_trace():
    """As many lines as a trace first has room for, and a page table that is large."""
    got = rows("-m", "exact", "-p", "mru", "-f", "4k,1k", trace="r 0 5\n" * 1024)
    assert [(r["faults"], r["accesses"]) for r in got] == [(5, 5120)] * 2


def test_what_has_just_gone_is_not_found(tmp_path):
    """Also if it was found last: mru gives up what has just come in."""
    path = tmp_path / "gone.hp"
    path.write_text("Event Init() { Queue q; Page page, old; Int at; counter Int n, m; }\n"
                    "Event PageFault() { page = FindPA(FaultedAddress); EnQueue(page, q, TAIL); }\n"
                    "Event Replace() { page = DeQueue(q, TAIL); at = FindVA(page);\n"
                    "m += FindPA(at) != NONE; EnQueue(page, _free_queue, TAIL);\n"
                    "n += FindPA(at) != NONE; }\n")
    for r in rows("-p", path, "-f", "1,3", trace=sweep(10, 2)):
        assert r["policy_counters"] == {"n": 0, "m": r["evictions"]} and r["evictions"] > 10


WIPE = b"\r\033[K"


def test_a_terminal_shows_how_far_it_is():
    terminal = Terminal(HIPEC, "sim", "-p", "lru,mru", "-f", "3", "-")
    out = terminal.end(sweep(10, 5))
    assert terminal.program.returncode == 0 and out.count("\n") == 5
    assert terminal.text.startswith(b"\rhipec sim: [") and terminal.text.endswith(b" %" + WIPE)
    assert sim("-p", "lru", trace=sweep(10, 5)).stderr == ""


def test_it_can_be_interrupted(tmp_path):
    """In a run that would take minutes; it has printed nothing, and wiped its bar."""
    path = tmp_path / "slow.hp"
    path.write_text("Event Init() { Queue q; Page page; Int i; }\n"
                    "Event PageFault() { page = FindPA(FaultedAddress); EnQueue(page, q, TAIL);\n"
                    "for (i = 0; i < 20000; i++) ; }\n"
                    "Event Replace() { page = DeQueue(q, HEAD); EnQueue(page, _free_queue, TAIL); }\n")
    (tmp_path / "trace").write_text("r 0 1000000\n")
    terminal = Terminal(HIPEC, "sim", "-p", path, "-f", "1k", tmp_path / "trace")
    while b"%" not in terminal.text:
        assert terminal.read(), terminal.text
    terminal.program.send_signal(signal.SIGINT)
    assert (terminal.end(), terminal.program.returncode) == ("", -signal.SIGINT)
    assert terminal.text.endswith(WIPE) and b"100 %" not in terminal.text


def peak(policy, frames, trace):
    """Bytes that a run takes at most."""
    program = subprocess.run(
        [sys.executable, "-c", "import resource, subprocess, sys\n"
         "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
         "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)",
         BUILD / "hipec", "sim", "-m", "exact", "-J", "1", "-p", policy, "-f", str(frames), "-"],
        text=True, input=trace, check=True, env=ENV, stdout=subprocess.PIPE)
    return 1024 * int(program.stdout)


@pytest.mark.parametrize("policy", [BUILD / "policies" / "lru.hpo", "fifo2", "lru", "default"])
def test_a_page_takes_at_most_64_bytes(policy):
    """The worst case: as many frames as pages, the trace's table half empty."""
    small, large = 150_000, 600_000
    less, more = (peak(policy, n, f"r 0 {n}\nr 5\n") for n in (small, large))
    assert 0 < (more - less) / (large - small) <= 64


def test_shipped_policies_are_found_where_it_is_built_and_where_it_is_installed(tmp_path):
    """Beside it; then in ../share; and a folder that the user names comes first."""
    (tmp_path / "bin").mkdir()
    shutil.copy(BUILD / "hipec", tmp_path / "bin")
    env = {key: value for key, value in os.environ.items() if key != "HIPEC_POLICY_PATH"}
    shipped, trace = BUILD / "policies", tmp_path / "trace"
    trace.write_text("r 0 10\n" * 2)

    def faults():
        done = subprocess.run([tmp_path / "bin" / "hipec", "sim", "--json", "-p", "it", "-f", "5",
                               trace], text=True, check=False, env=env, capture_output=True)
        return json.loads(done.stdout)[0]["faults"] if done.returncode == 0 else done.stderr

    assert faults().startswith("hipec sim: it: want a .hp or .hpo file")
    for place, policy, want in (("share/hipec/policies", "mru", 10 + 6),
                                ("bin/policies", "fifo2", 20), ("mine", "mru", 16)):
        (tmp_path / place).mkdir(parents=True)
        shutil.copy(shipped / f"{policy}.hpo", tmp_path / place / "it.hpo")
        if place == "mine":
            env["HIPEC_POLICY_PATH"] = str(tmp_path / place)
        assert faults() == want, place


def test_shipped_policies_are_listed_with_grade_and_idea():
    def listed(*args):
        return subprocess.run([HIPEC, "sim", "--list", *args], env=ENV, text=True, capture_output=True, check=True).stdout
    found = json.loads(listed("--json"))
    sources = {path.stem: path.read_text() for path in (ROOT / "policies").glob("*.hp")}
    assert {row["policy"] for row in found} == set(sources)
    for row in found:
        assert f"// Grade: {row['grade']}\n" in sources[row["policy"]] and row["idea"]
    lines = listed().splitlines()
    assert lines[0].split() == ["POLICY", "GRADE", "IDEA"] and len(lines) == len(sources) + 3
    assert any(re.match(r"fifo  +tutorial +First in, first out: the smallest complete policy$", line) for line in lines)
