# SPDX-License-Identifier: GPL-2.0-only
"""hipec run without the module: arguments, exit codes, what is said; and its library, in
programs that map files in all ways (test/cli/run/maps.c), with this test as the command. With the
module: test_run_guest.py."""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import threading

import pytest

from conftest import BUILD, ROOT

HIPEC = BUILD / "asan" / "hipec"
LIBRARY = BUILD / "libhipecrun.so"
PAGE = 4096
PAGES = 16
ABSENT = ("hipec run: /dev/hipec: there is none, since the module is not loaded (modprobe hipec); "
          "files are cached as without hipec\n")
pytestmark = pytest.mark.usefixtures("quick_start")


@pytest.fixture(scope="module", autouse=True)
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/hipec", "build/asan/libhipecrun.so",
                    "build/policies/mru.hpo", "build/policies/weights.hpo"], check=True)
    if os.path.exists("/dev/hipec"):
        pytest.skip("the module is loaded here")


@pytest.fixture(scope="module")
def maps(tmp_path_factory):
    path = tmp_path_factory.mktemp("maps") / "maps"
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-pthread", "-o", path,
                    ROOT / "test/cli/run/maps.c"], check=True)
    return path


VERBS = ["shared", "sweep", "private", "parts", "fixed", "beyond", "grow", "split", "forks",
         "threads", "writes", "resize", "mixed", "both", "twice", "close-all", "execs"]


def test_the_list_of_verbs_is_whole(maps):
    assert subprocess.run([maps], capture_output=True, text=True,
                          check=False).stdout.split() == VERBS


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("HIPEC_POLICY_PATH", str(BUILD / "policies"))
    return tmp_path


def start(*command, options=("--policy", "mru", "--budget", "64")):
    return [HIPEC, "run", *map(str, options), "--", *map(str, command)]


def run(*command, options=("--policy", "mru", "--budget", "64"), **kwargs):
    return subprocess.run(start(*command, options=options), capture_output=True, text=True,
                          check=False, **kwargs)


# The command, without a module

def test_without_the_module_the_program_runs_and_one_line_says_so(here):
    done = run("sh", "-c", "echo $LD_PRELOAD.$HIPEC_RUN; cat", input="in")
    assert (done.returncode, done.stdout, done.stderr) == (0, ".\nin", ABSENT)
    assert os.listdir(here) == []


def test_strict_runs_nothing_without_the_module(here):
    done = run("touch", "x", options=("--policy", "mru", "--budget", "64", "--strict"))
    assert done.returncode == 1 and not os.path.exists("x")
    assert done.stderr == ABSENT.replace("files are cached as without hipec",
                                         "nothing was run, for --strict")


@pytest.mark.parametrize("status", [0, 1, 2, 255])
def test_exit_code_is_the_programs(here, status):
    done = run("sh", "-c", f"exit {status}")
    assert done.returncode == status and "usage" not in done.stderr


def test_exit_code_of_a_signal(here):
    assert run("sh", "-c", "kill -9 $$").returncode == 128 + 9


def test_programs_that_cannot_be_run(here):
    done = run("/no/such")
    assert (done.returncode, done.stderr.splitlines()[1:]) == (
        127, ["hipec run: /no/such: No such file or directory"])
    (here / "in").write_text("in")
    assert run(here / "in").returncode == 126


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_to_the_command_are_for_the_program(here, number):
    """It ends when it has handled it."""
    code = (f"trap 'echo got; exit 7' {number.name[3:]}; echo ready; "
            "while :; do sleep 0.01; done")
    # Under nohup SIGHUP is ignored, and a shell cannot trap what was when it came.
    with subprocess.Popen(start("sh", "-c", code), stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL,
                          preexec_fn=lambda: signal.signal(number, signal.SIG_DFL)) as child:
        assert child.stdout.readline() == "ready\n"
        child.send_signal(number)
        assert child.stdout.read() == "got\n"
        assert child.wait() == 7


def test_the_programs_signals_are_as_they_were(here):
    """None is blocked in it."""
    done = run("grep", "SigBlk", "/proc/self/status")
    assert done.stdout.split() == ["SigBlk:", "0" * 16]


@pytest.mark.parametrize("text, frames", [("1", 1), ("10k", 10240), ("512M", 131072),
                                          ("8G", 2097152), ("64KiB", 16)])
def test_budgets(here, text, frames):
    done = run("true", options=("-p", "mru", "-b", text, "--json", "-o", "out"))
    assert done.returncode == 0
    with open("out", encoding="ascii") as file:
        said = json.load(file)
    assert said["frames"] == frames
    assert (said["exit"], said["policy"], said["counters"]) == (0, None, None)
    assert said["plain"].startswith("/dev/hipec: there is none")


def test_an_automatic_budget_is_half_of_memory_or_what_a_limit_leaves(here):
    """Here nobody has a module, whose parameter might say otherwise."""
    run("true", options=("-p", "mru", "-b", "auto", "--json", "-o", "out"))
    with open("out", encoding="ascii") as file:
        frames = json.load(file)["frames"]
    half = os.sysconf("SC_PHYS_PAGES") // 100 * 50
    own = subprocess.run("sed -n s/^0:://p /proc/self/cgroup", shell=True, capture_output=True,
                         text=True, check=True).stdout.strip()
    path = pathlib.Path("/sys/fs/cgroup" + own)
    limits = [int(text) // PAGE for at in (path, *path.parents)
              for text in [(at / "memory.max").read_text() if (at / "memory.max").exists() else "max"]
              if text.strip() != "max"]
    assert frames == min([half, *limits])


@pytest.mark.parametrize("options, complaint", [
    (("--policy", "mru"), "want --policy and --budget"),
    (("--budget", "64"), "want --policy and --budget"),
    (("-p", "mru", "-b", "x"), "--budget: want memory (512M, 8G), pages (4096, 10k) or auto, not 'x'"),
    (("-p", "mru", "-b", "10%"), "--budget: want memory"),
    (("-p", "mru", "-b", "0"), "--budget: want memory"),
    (("-p", "mru", "-b", "8", "-m", ""), "--map: want a glob"),
    (("-p", "mru", "-b", "8", "-m", "a\nb"), "--map: want a glob"),
    (("-p", "mru", "-b", "8", "-m", "a" * 16384), "--map: want a glob"),
    (("-p", "mru", "-b", "8", "--param", "x"), "--param: want NAME=VALUE"),
    (("-p", "mru", "-b", "8", "--contract", "--reserve"), "--contract: not of frames of one's own"),
    (("-p", "mru", "-b", "8", "--share", "--reserve"), "--share: not of frames of one's own"),
    (("-p", "amp", "-b", "8", "--curve"), "--curve: amp decides by where in a program a page is"),
    (("-p", "mru", "-b", "8", "--no-such"), "there is no option '--no-such'"),
])
def test_usage(here, options, complaint):
    done = run("true", options=options)
    assert done.returncode == 2 and complaint in done.stderr and "usage: hipec run" in done.stderr


def test_a_program_is_wanted(here):
    assert "want a program to run" in run().stderr


@pytest.mark.parametrize("options, complaint", [
    (("-p", "nope", "-b", "8"), "hipec run: nope: want a .hp or .hpo file"),
    (("-p", "opt", "-b", "8"), "hipec run: opt: want a .hp or .hpo file"),
    (("-p", "mru", "-b", "8", "--param", "x=1"), "no policy here has a parameter 'x'"),
])
def test_what_is_wrong_with_a_policy_is_no_reason_to_run_without_it(here, options, complaint):
    done = run("touch", "x", options=options)
    assert done.returncode == 1 and complaint in done.stderr and not os.path.exists("x")


def test_the_report_that_cannot_be_written(here):
    done = run("true", options=("-p", "mru", "-b", "8", "-o", "no/such"))
    assert done.returncode == 1 and "no/such: No such file or directory" in done.stderr
    assert run("false", options=("-p", "mru", "-b", "8", "-o", "no/such")).returncode == 1


def refused(path):
    """Why nothing can be loaded into a program."""
    done = run(path, options=("-p", "mru", "-b", "8", "--strict", "--regions"))
    assert done.returncode == 1
    line, = done.stderr.splitlines()
    assert line.endswith("; nothing was run, for --strict")
    return line


def test_static_programs_are_said_to_be(here):
    (here / "s.c").write_text("int main(void) { return 5; }")
    subprocess.run(["gcc", "-static", "-o", "static", "s.c"], check=True)
    static = here / "static"
    assert f"hipec run: {static}: it is static, so nothing can be loaded into it" in refused(static)
    done = run(static, options=("-p", "mru", "-b", "8", "--regions"))
    assert done.returncode == 5
    assert done.stderr == (f"hipec run: {static}: it is static, so nothing can be loaded into it; "
                           "files are cached as without hipec\n")
    (here / "script").write_text(f"#! {static}\n")
    (here / "script").chmod(0o755)
    assert "it is a script, and its interpreter static or setuid" in refused(here / "script")


def test_programs_of_32_bits_are_said_to_be(here):
    with open("/bin/true", "rb") as file:
        code = bytearray(file.read())
    code[4] = 1
    (here / "short").write_bytes(code)
    (here / "short").chmod(0o755)
    assert "it is of 32 bits" in refused(here / "short")


def test_setuid_programs_are_said_to_be(here):
    shutil.copy("/bin/true", "other")
    os.chmod("other", 0o4755)
    assert "it is setuid or setgid, into which nothing is loaded" in refused(here / "other")


# The library: this test is the command

MAGIC = 0x314e5552
READ, WRITE, IF_WRITTEN, AGAIN, LEFT = 1, 2, 3, 4, 5
REFUSED = (-16, 0, 0, 0, [])


class Command:
    """The command's end of the socket; @answer(kind, number, file) -> (error, strict, number,
    length, descriptors), or bytes. What was asked is in .asked."""

    def __init__(self, name, answer):
        self.name, self.answer, self.asked = str(name), answer, []
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.name)
        self.thread = threading.Thread(target=self.serve)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
            end.sendto(b"", self.name)
        self.thread.join()
        self.socket.close()
        os.unlink(self.name)

    def serve(self):
        while True:
            packet, fds, _, _ = socket.recv_fds(self.socket, 64, 4)
            if not packet:
                return
            magic, kind, number = struct.unpack("IIQ", packet)
            assert magic == MAGIC
            self.asked.append(kind)
            if fds:
                self.reply(fds[0], self.answer(kind, number, *fds[1:]))
            for fd in fds:
                os.close(fd)

    @staticmethod
    def reply(fd, answer):
        with socket.socket(fileno=os.dup(fd)) as to:
            if isinstance(answer, bytes):
                to.send(answer)
                return
            *fields, fds = answer
            socket.send_fds(to, [struct.pack("iIQQ", *fields)], fds)


def whole(fd):
    return -(-os.fstat(fd).st_size // PAGE) * PAGE


class Itself:
    """Answers: the file is its own region, as the page cache has it."""

    def __init__(self):
        self.files = []

    def __call__(self, kind, number, file=None):
        if kind == AGAIN:
            fd, length = self.files[number]
            return 0, 0, number, length, [fd, fd]
        if kind == IF_WRITTEN:
            return -2, 0, 0, 0, []
        self.files.append((os.dup(file), whole(file)))
        return 0, 0, len(self.files) - 1, whole(file), [file]

    def close(self):
        for fd, _ in self.files:
            os.close(fd)


@pytest.fixture
def itself():
    answer = Itself()
    yield answer
    answer.close()


def with_library(here, *command, globs="*/f\n", **kwargs):
    return subprocess.run(list(map(str, command)), text=True, capture_output=True, check=False,
                          env={**os.environ, "LD_PRELOAD": str(LIBRARY), "HIPEC_RUN":
                               str(here / "socket"), "HIPEC_RUN_MAP": globs}, **kwargs)


def make(name="f", pages=PAGES, extra=100):
    """A file that ends inside a page."""
    data = os.urandom(pages * PAGE + extra)
    with open(name, "wb") as file:
        file.write(data)
    return data


def plain(maps, verb, name="f"):
    with open(name, "rb") as file:
        data = file.read()
    done = subprocess.run([maps, verb, name], capture_output=True, text=True, check=True)
    with open(name, "wb") as file:
        file.write(data)
    return done.stdout


@pytest.mark.parametrize("verb", VERBS)
def test_programs_print_what_they_print_without_us(here, maps, itself, verb):
    make()
    want = plain(maps, verb)
    with Command(here / "socket", itself) as command:
        done = with_library(here, maps, verb, "f")
    assert (done.returncode, done.stdout, done.stderr) == (0, want, "")
    assert command.asked


@pytest.mark.parametrize("verb", VERBS)
def test_programs_print_the_same_when_they_are_refused(here, maps, verb):
    make()
    want = plain(maps, verb)
    with Command(here / "socket", lambda *_: REFUSED):
        assert with_library(here, maps, verb, "f").stdout == want
    assert with_library(here, maps, verb, "f").stdout == want   # nobody is there


KINDS = {"shared": [READ], "private": [READ], "fixed": [READ] * 3, "execs": [READ],
         "grow": [READ, AGAIN, AGAIN], "split": [READ, AGAIN, AGAIN, AGAIN], "writes": [WRITE, IF_WRITTEN],
         "resize": [WRITE, AGAIN], "mixed": [IF_WRITTEN], "both": [READ, WRITE]}


@pytest.mark.parametrize("verb", KINDS)
def test_what_is_asked_for(here, maps, itself, verb):
    make()
    with Command(here / "socket", itself) as command:
        with_library(here, maps, verb, "f")
    assert command.asked == KINDS[verb]


class Other(Itself):
    """Answers: another file, of so many pages, is the region."""

    def __init__(self, name, pages):
        super().__init__()
        self.fd, self.length = os.open(name, os.O_RDWR), pages * PAGE
        self.files.append((self.fd, self.length))
        self.mine = None

    def __call__(self, kind, number, file=None):
        if kind == AGAIN:
            return 0, 0, 0, self.length, [self.fd, self.mine]
        if self.mine is None:
            self.mine = os.dup(file)
            self.files.append((self.mine, 0))
        return 0, 0, 0, self.length, [self.fd]


@pytest.mark.parametrize("pages", [1, 5, PAGES + 1])
@pytest.mark.parametrize("verb", ["shared", "private", "parts", "fixed", "beyond", "grow",
                                  "split", "forks", "threads", "close-all", "execs", "sweep"])
def test_the_region_is_what_the_program_sees(here, maps, verb, pages):
    """And behind its end, the file."""
    data, region = make(), make("region")
    with open("mix", "wb") as file:
        file.write(region[:pages * PAGE] + data[pages * PAGE:])
    want = plain(maps, verb, "mix").split()
    other = Other("region", pages)
    with Command(here / "socket", other):
        done = with_library(here, maps, verb, "f")
    other.close()
    got = done.stdout.split()
    if verb == "private" and pages > 1:     # its second number is of read(), the file's
        want[1] = str(int(data[PAGE] == region[PAGE]))
    assert (done.returncode, got) == (0, want)


def count_descriptors(here):
    """How many more a program has when it has mapped a file: Python duplicates it."""
    code = ("import mmap, os; f = open('f', 'rb'); before = os.listdir('/proc/self/fd');"
            "m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ);"
            "after = os.listdir('/proc/self/fd'); print(len(after) - len(before))")
    return int(with_library(here, "/usr/bin/python3", "-SEc", code).stdout)


def test_strict_maps_fail(here, maps):
    make()
    with Command(here / "socket", lambda *_: (-16, 1, 0, 0, [])):
        done = with_library(here, maps, "shared", "f")
    assert (done.returncode, done.stdout) == (1, "mmap: Device or resource busy\n")


@pytest.mark.parametrize("answer", [
    b"", b"short", b"x" * 100, (0, 0, 0, PAGE, []),
    pytest.param("two", id="too many descriptors"),
    (0, 0, 0, 0, [0]), (0, 0, 0, 1 << 60, [0])])
def test_answers_that_make_no_sense_are_refusals(here, maps, answer):
    make()
    want = plain(maps, "shared")
    with open("f", "rb") as file:
        fd = file.fileno()
        if answer == "two":
            answer = (0, 0, 0, PAGE, [fd, fd])
        elif isinstance(answer, tuple) and answer[-1]:
            with open("/dev/null", "rb") as null:
                answer = (*answer[:-1], [os.dup(null.fileno())])
        with Command(here / "socket", lambda *_: answer):
            assert with_library(here, maps, "shared", "f").stdout == want
            assert count_descriptors(here) == 1


def test_nothing_stays_open_in_the_program(here, itself):
    make()
    with Command(here / "socket", itself) as command:
        assert count_descriptors(here) == 1
    assert command.asked == [READ]


def asked(here, maps, verb="shared", name="f", **kwargs):
    itself = Itself()
    with Command(here / "socket", itself) as command:
        with_library(here, maps, verb, name, **kwargs)
    itself.close()
    return command.asked


@pytest.mark.parametrize("globs, taken", [
    ("f\n", True), ("*/f\n", True), ("g\n*/dir/*\n", True), ("[a-f]\n", True), ("?\n", True),
    ("g\n", False), ("dir\n", False), ("ff\n", False), ("f", False)])
def test_globs_are_of_the_whole_name_or_its_last_part(here, maps, globs, taken):
    (here / "dir").mkdir()
    make("dir/f")
    os.symlink("dir/f", "g")
    assert asked(here, maps, globs=globs) == []        # there is no such file
    assert bool(asked(here, maps, name="dir/f", globs=globs)) == taken
    # By its real name, however it was opened.
    assert bool(asked(here, maps, name="g", globs=globs)) == taken


def test_a_name_that_is_gone_still_counts(here, itself):
    make()
    code = ("import mmap, os; f = open('f', 'rb'); os.unlink('f');"
            "mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)")
    with Command(here / "socket", itself) as command:
        with_library(here, "/usr/bin/python3", "-SEc", code, globs="f\n")
    assert command.asked == [READ]


def test_without_globs_large_files_that_are_read_count(here, maps):
    make()
    assert asked(here, maps, globs="") == []
    make(pages=256, extra=0)
    assert asked(here, maps, globs="") == [READ]
    os.truncate("f", 256 * PAGE - 1)
    assert asked(here, maps, globs="") == []
    os.truncate("f", 256 * PAGE)
    assert asked(here, maps, "writes", globs="") == [LEFT, LEFT]
    assert asked(here, maps, "mixed", globs="") == [LEFT]


@pytest.mark.parametrize("flags", ["MAP_ANONYMOUS | MAP_PRIVATE", "MAP_SHARED"])
@pytest.mark.parametrize("prot", ["PROT_EXEC | PROT_READ", "PROT_READ"])
def test_code_and_memory_without_a_file_are_left_alone(here, flags, prot):
    make()
    (here / "m.c").write_text(
        "#define _GNU_SOURCE\n#include <fcntl.h>\n#include <sys/mman.h>\nint main(void)"
        f"{{ return mmap(0, 4096, {prot}, {flags}, open(\"f\", 0), 0) == MAP_FAILED; }}")
    subprocess.run(["gcc", "-o", "m", "m.c"], check=True)
    want = [READ] if "EXEC" not in prot and "ANON" not in flags else []
    assert asked(here, here / "m", "", "") == want


def test_errors_of_mmap_are_the_kernels(here, itself):
    """EACCES to write what is open to read, EINVAL for an offset inside a page."""
    make()
    code = """
import ctypes, os
c = ctypes.CDLL(None, use_errno=True)
c.mmap.restype = ctypes.c_void_p
c.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
fd = os.open('f', os.O_RDONLY)
for args in ((4096, 3, 1, fd, 0), (4096, 1, 1, fd, 1), (0, 1, 1, fd, 0), (4096, 1, 1, 99, 0),
             (4096, 1, 0, fd, 0), (1 << 62, 1, 1, fd, 0), (4096, 1, 1, fd, 0)):
    print(c.mmap(None, *args) == 2 ** 64 - 1 and ctypes.get_errno())
"""
    want = subprocess.run(["/usr/bin/python3", "-SEc", code], text=True, capture_output=True,
                          check=True).stdout
    assert want.split() == ["13", "22", "22", "9", "22", "12", "False"]
    with Command(here / "socket", itself):
        assert with_library(here, "/usr/bin/python3", "-SEc", code).stdout == want


def test_a_command_that_goes_away_is_not_waited_for(here, maps):
    """A packet that nobody reads any more; the program asks, and goes on."""
    make()
    name = str(here / "socket")
    end = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    end.bind(name)
    want = plain(maps, "shared")
    with subprocess.Popen([maps, "shared", "f"], stdout=subprocess.PIPE, text=True, env={
            **os.environ, "LD_PRELOAD": str(LIBRARY), "HIPEC_RUN": name,
            "HIPEC_RUN_MAP": "f\n"}) as child:
        end.recv(1, socket.MSG_PEEK)
        end.close()
        assert child.stdout.read() == want


# The page

DOC = (ROOT / "docs/user/run.md").read_text()


def test_the_page_shows_what_commands_print(here):
    session, = (block for block in re.findall(r"^```\n(.*?)^```", DOC, re.M | re.S)
                if block.startswith("$ "))
    commands = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, re.M)
    assert len(commands) == 2
    for command, output in commands:
        done = subprocess.run(f"{command} 2>&1", shell=True, text=True, stdout=subprocess.PIPE,
                              check=False, env={**os.environ, "PATH":
                                                f"{HIPEC.parent}:{os.environ['PATH']}"})
        assert done.stdout == output


def test_the_page_and_the_help_have_the_same_options():
    text = subprocess.run([HIPEC, "run", "--help"], capture_output=True, text=True,
                          check=True).stdout
    options = set(re.findall(r"^(?:  -\w,|     ) (--[\w-]+)", text, re.M))
    assert options == {"--policy", "--param", "--budget", "--map", "--regions", "--reserve", "--share",
                       "--contract", "--jit", "--among", "--curve",
                       "--strict", "--quiet", "--json", "--output", "--hints", "--no-hints"}
    table = set(re.findall(r"`(--[\w-]+)", DOC.split("## Options")[1].split("\n\n")[1]))
    assert table == options
