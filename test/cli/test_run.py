# SPDX-License-Identifier: GPL-2.0-only
"""hipec run without the module: arguments, exit codes, what is said. With the module, in programs
that map files in all ways (test/cli/run/maps.c): test_run_guest.py."""

import errno
import json
import os
import pathlib
import re
import signal
import subprocess

import pytest

from conftest import BUILD, ROOT, preloaded

HIPEC = BUILD / "asan" / "hipec"
PAGE = 4096
ABSENT = ("hipec run: /dev/hipec: there is none, since the module is not loaded (modprobe hipec); "
          "files are cached as without hipec\n")
pytestmark = [pytest.mark.more, pytest.mark.usefixtures("quick_start")]


@pytest.fixture(scope="module", autouse=True)
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/hipec",
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
    done = run("cat", input="in")
    assert (done.returncode, done.stdout, done.stderr) == (0, "in", ABSENT)
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
    (("-p", "mru", "-b", "0"), "--budget: want a page, 4 KiB, at least, not '0'"),
    (("-p", "mru", "-b", "8", "-m", ""), "--map: want a glob"),
    (("-p", "mru", "-b", "8", "-m", "a\nb"), "--map: want a glob"),
    (("-p", "mru", "-b", "8", "-m", "a" * 16384), "--map: want a glob"),
    (("-p", "mru", "-b", "8", "--param", "x"), "--param: want NAME=VALUE"),
    (("-p", "mru", "-b", "8", "--regions"), "there is no option '--regions'"),
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


# Where files cannot be had in place: a stand-in for the module refuses (test/cli/run/standin.c)

@pytest.fixture(scope="module")
def standin(tmp_path_factory):
    return preloaded(tmp_path_factory.mktemp("standin"), "test/cli/run/standin.c")


def refused(standin, options=(), **steps):
    """What is said when a step ends with that error, and the exit code; the program is touch x."""
    said = " ".join(f"{step}={steps.get(step, 0)}" for step in ("load", "cgroup", "take"))
    done = run("touch", "x", options=("--policy", "mru", "--budget", "64", *options),
               env={**os.environ, "LD_PRELOAD": str(standin), "STANDIN": said})
    line, = done.stderr.splitlines()
    return line, done.returncode


OWN = r"hipec run: /\S*"
REFUSALS = {
    "memory": ({"load": errno.ENOMEM}, (), r"hipec run: mru, in place: there is not so much memory, or "
               r"RLIMIT_MEMLOCK \(ulimit -l\) does not allow it: raise the limit, or take pages of the "
               r"pool \(--share\)"),
    "share": ({"load": errno.ENOMEM}, ("--share",), "hipec run: mru, in place: Cannot allocate memory"),
    "part": ({"load": errno.ENOSPC}, (), "hipec run: mru, in place: policies in place may not have so much "
             "of the machine's memory: take a smaller budget, or set the module's parameter cache_percent"),
    "none": ({"cgroup": errno.ENOENT}, (), "hipec run: no cgroups of version 2 are mounted: boot with "
             "systemd.unified_cgroup_hierarchy=1"),
    "other": ({"cgroup": errno.EACCES}, (), OWN + r": it is not yours: systemd-run --user --scope hipec "
              r"run \.\.\. gives you one that is"),
    "fixed": ({"cgroup": errno.EROFS}, (), OWN + r": Read-only file system: have its owner attach it from "
              r"outside \(hipec attach --cgroup\)"),
    "hooks": ({"take": errno.EOPNOTSUPP}, (), OWN + r"/hipec-\d+: this kernel has no hooks of functions "
              r"\(CONFIG_FUNCTION_TRACER, kernel\.ftrace_enabled\): switch them on \(sysctl "
              r"kernel\.ftrace_enabled=1\), or attach files by name \(hipec attach\)"),
    "many": ({"take": errno.ENOSPC}, (), OWN + r"/hipec-\d+: there are too many cgroups with a policy: wait "
             r"for another run to end, or detach one \(hipec detach\)"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_where_files_cannot_be_had_in_place_the_remedy_is_said(here, standin, name):
    """In one sentence, and nothing is run; with --strict and without."""
    steps, options, want = REFUSALS[name]
    for strict in ((), ("--strict",)):
        said, code = refused(standin, (*options, *strict), **steps)
        assert re.fullmatch(want + "; nothing was run", said)
        assert code == 1 and not os.path.exists("x")


def test_a_policy_that_has_to_wait_does_not_keep_its_program(here, standin):
    why = "hipec run: mru: the policy was revoked lately, and waits before it may share again; "
    assert refused(standin, ("--share", "--strict"), load=errno.EAGAIN) == (
        f"{why}nothing was run, for --strict", 1)
    assert not os.path.exists("x")
    assert refused(standin, ("--share",), load=errno.EAGAIN) == (
        f"{why}files are cached as without hipec", 0)
    assert os.path.exists("x")


@pytest.mark.parametrize("read, line", [
    ("1766", "hipec run: expected: 6.9 MiB, read: 6.9 MiB (+0.0 %)"),
    ("3532", "hipec run: expected: 6.9 MiB, read: 13.8 MiB (+100.0 %)"),
    ("883", "hipec run: expected: 6.9 MiB, read: 3.4 MiB (-50.0 %)"),
    ("0", None),    # of no file of the policy's
])
def test_what_was_expected_stands_beside_what_was_read(here, standin, read, line):
    env = {**os.environ, "LD_PRELOAD": str(standin), "STANDIN": "load=0 cgroup=0 take=0", "STANDIN_READ": read}
    for options in ((), ("--expect", "6.9M")):
        done = run("true", options=("--policy", "mru", "--budget", "64", *options), env=env)
        assert (done.returncode, line in done.stderr.splitlines()) == (0, bool(options and line)), done.stderr
    done = run("true", options=("--policy", "mru", "--budget", "64", "--expect", "x"), env=env)
    assert done.returncode == 2 and "--expect: want memory (512M, 8G) or pages (4096, 10k)" in done.stderr


# The page

DOC = (ROOT / "docs/user/in-place.md").read_text()


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
    assert options == {"--policy", "--param", "--budget", "--map", "--share", "--contract",
                       "--among", "--curve", "--strict", "--quiet", "--json", "--output",
                       "--hints", "--no-hints", "--expect"}
    table = set(re.findall(r"`(--[\w-]+)", DOC.split("## Options")[1].split("\n\n")[1]))
    assert table == options
