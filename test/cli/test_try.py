# SPDX-License-Identifier: GPL-2.0-only
"""hipec try: what it says of programs and traces whose numbers are known, what it says to run
next, and its exit codes."""

import os
import random
import re
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
    """1,000 pages four times, in 750 frames: lru has none of them when it comes back, mru keeps
    749 and needs the others again: 1,000 and three times 251 faults, which are 6.8 MiB."""
    (here / "sweep.txt").write_text(sweeps(1000, 4))
    done = attempt("sweep.txt")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "worth it: with 2.9 MiB, mru reads 6.8 MiB instead of 15.6 MiB (-56 %); least possible: 6.8 MiB",
        "next: hipec run --policy mru --budget 750 -- PROGRAM",
        "and:  hipec profile --policy lru,mru,opt --frames 750 --output report.html sweep.txt",
        "auto: finds mru while the program runs, and reads 10.0 MiB (-36 %)"]


def test_a_budget_is_said_as_it_was_asked_for(here):
    (here / "sweep.txt").write_text(sweeps(1000, 4))
    done = attempt("--frames", "1M,2M,4M", "--policy", "mru", "sweep.txt")
    said = done.stdout.splitlines()
    assert said[0].startswith("worth it: with 2.0 MiB, mru reads ")
    assert said[1] == "next: hipec run --policy mru --budget 2M -- PROGRAM"


def test_a_program_is_recorded_and_its_output_is_its_own(here):
    (here / "library").write_bytes(bytes(4096 * 200))
    done = attempt("--", "sh", "-c", "for i in 1 2 3; do cat library; done; echo 'it is' done")
    assert done.returncode == 0 and done.stdout == "\0" * 3 * 4096 * 200 + "it is done\n"
    trace, worth, run, profile, auto = done.stderr.splitlines()
    assert trace == "hipec try: 600 accesses to 200 pages of 1 file are in sh.trace"
    assert re.match(r"worth it: with \d+ KiB, mru reads [\d.]+ MiB instead of 2.3 MiB",
                    worth)
    assert re.fullmatch(r"next: hipec run --policy mru --budget \d+ -- sh -c "
                        r"'for i in 1 2 3; do cat library; done; echo '\\''it is'\\'' done'", run)
    again = attempt("sh.trace")
    assert again.stdout.splitlines()[0] == worth
    assert again.stdout.splitlines()[2:] == [profile, auto]


def test_what_it_says_to_run_next_runs(here):
    (here / "sweep.txt").write_text(sweeps(100, 4))
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
    assert "2.3 MiB of 1 file were mapped" in done.stderr and done.returncode == 4


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
                    r"[KM]iB, one of its own could read up to \d+ % less\n"
                    r"next: hipec profile ", done.stdout)


def test_a_program_that_fails_is_still_judged_by_what_it_did(here):
    (here / "library").write_bytes(bytes(4096 * 200))
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


def test_the_policies_that_are_tried_are_fit_for_production():
    """As their headers say; lru and opt are built in."""
    source = (ROOT / "userlib/cli/try.c").read_text()
    names = re.search(r'usual\[\] = OVER ",([^"]*),opt"', source)[1].split(",")
    assert len(names) >= 6
    for name in names:
        assert "// Grade: production" in (ROOT / f"policies/{name}.hp").read_text(), name
