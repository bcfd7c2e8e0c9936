# SPDX-License-Identifier: GPL-2.0-only
"""Test rings: each test is in one of them, what cannot be built counts as failed, and
the last line of CI sums up both of its calls."""

import os
import re
import shutil
import subprocess
import sys

import pytest

import on_debug
import rings
from conftest import ROOT

pytestmark = pytest.mark.user

MARKS = set(rings.MARKS)
# For a pytest that runs none: what it would run, each with its marks.
TELL = """
def pytest_collection_finish(session):
    for item in session.items:
        print("RING", item.nodeid.replace(" ", "_"), *{mark.name for mark in item.iter_markers()})
"""


@pytest.fixture(scope="module")
def tests(tmp_path_factory):
    """{test: those of MARKS that it has}, of all tests."""
    where = tmp_path_factory.mktemp("tell")
    (where / "tell_marks.py").write_text(TELL)
    out = subprocess.run(
        [sys.executable, "-B", "-m", "pytest", "-c", "test/pytest.ini", "--rootdir=.", "-p",
         "tell_marks", "--collect-only", "-s", "test"], cwd=ROOT, text=True, check=True,
        capture_output=True, env={**os.environ, "PYTHONPATH": str(where)}).stdout
    lines = [line.split()[1:] for line in out.splitlines() if line.startswith("RING ")]
    return {name: MARKS.intersection(marks) for name, *marks in lines}


def rings_of(marks):
    """Names of the rings that run a test with @marks."""
    return [name for name, ring in rings.RINGS.items()
            if eval(ring.marks, {mark: mark in marks for mark in MARKS})]  # as pytest's -m


def test_each_test_is_in_one_ring(tests):
    assert len(tests) > 1000
    assert {name: rings_of(marks) for name, marks in tests.items()
            if len(rings_of(marks)) != 1} == {}
    assert {ring for marks in tests.values() for ring in rings_of(marks)} == set(rings.RINGS)


def test_debug_kernel_runs_in_rings_of_its_own(tests):
    """Of the tests that boot several kernels, those that boot the slow one."""
    debug = [name for name in tests
             if re.search(r"^test/(guest|kernel)/.*\[(.*-)?debug\b", name)]
    assert {ring for name in debug for ring in rings_of(tests[name])} == {"kunit", "debug", "night"}


def test_make_runs_each_ring_once():
    """In make check, check-rest, check-debug or check-night."""
    text = (ROOT / "test/build.mk").read_text()
    run = [re.search(rf"^{target}:.*\n\t@\$\(PYTHON\) -B test/rings.py (.*)", text, re.M)[1].split()
           for target in ("check", "check-rest", "check-debug", "check-night")]
    assert sorted(sum(run, [])) == sorted(rings.RINGS)


def test_what_the_debug_kernel_leaves_out_exists():
    """A test that has another name now would run there unasked."""
    rows = {name for path in (ROOT / "test/guest/program").glob("*.c")
            for name in re.findall(r'^\t\{ "(\w+)",', path.read_text(), re.M)}
    named = on_debug.COUNTS | on_debug.NETWORK | on_debug.SLOW | on_debug.RING
    assert named - rows == set()
    assert len(on_debug.COUNTS) < len(rows) / 2


def test_a_ring_that_cannot_be_built_counts_as_failed(monkeypatch, capsys):
    """And the others run."""
    built = []
    monkeypatch.setattr(rings, "make", lambda target: built.append(target) or target != "kunit-ready")
    monkeypatch.setattr(rings, "run", lambda name: rings.Count(passed=2))
    monkeypatch.setattr(sys, "argv", ["rings.py", "fast", "kunit", "vm"])
    assert rings.main() == 1
    assert built == ["fast-ready", "kunit-ready", "vm-ready"]
    lines = capsys.readouterr().out.splitlines()
    assert "ring kunit: FAIL: make kunit-ready failed" in lines
    assert lines[-1] == "4 passed, 1 failed, 0 skipped"


def test_a_ring_without_tests_counts_as_failed(monkeypatch, tmp_path):
    """Nothing was looked at: that is no pass."""
    monkeypatch.setattr(rings, "BUILD", tmp_path)
    monkeypatch.setitem(rings.RINGS, "none", rings.Ring("all", "guest and not guest"))
    monkeypatch.chdir(ROOT)
    with open(tmp_path / "log", "wb") as log:
        assert rings.pytest("none", log)[0] == rings.Count(failed=1)


GROUPED = f"""
import importlib.util
spec = importlib.util.spec_from_file_location("shared", {str(ROOT / "test/conftest.py")!r})
shared = importlib.util.module_from_spec(spec)
spec.loader.exec_module(shared)
pytest_collection_modifyitems = shared.pytest_collection_modifyitems
"""
TESTS = """
import os, pytest
@pytest.mark.parametrize("number", range(8))
@pytest.mark.parametrize("kernel", ["6.12", "6.1", "debug"])
def test_one(kernel, number):
    with open(kernel, "a") as file:
        print(os.environ["PYTEST_XDIST_WORKER"], file=file)
"""


def test_one_boot_is_not_spread_over_processes(tmp_path):
    """Two would boot the same guest, into the same folder."""
    pytest.importorskip("xdist")
    (tmp_path / "conftest.py").write_text(GROUPED)
    (tmp_path / "test_boots.py").write_text(TESTS)
    subprocess.run([sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=.",
                    *rings.side_by_side(rings.RINGS["vm"])], cwd=tmp_path, check=True,
                   capture_output=True)
    for kernel in ("6.12", "6.1", "debug"):
        workers = (tmp_path / kernel).read_text().split()
        assert len(workers) == 8 and len(set(workers)) == 1, (kernel, workers)


CI = {
    "both pass": ("echo 5 passed, 0 failed, 1 skipped", "echo 3 passed, 0 failed, 0 skipped",
                  0, "8 passed, 0 failed, 1 skipped"),
    "the first fails": ("echo 5 passed, 2 failed, 1 skipped; exit 2",
                        "echo 3 passed, 0 failed, 0 skipped", 1, "8 passed, 2 failed, 1 skipped"),
    "the second fails": ("echo 5 passed, 0 failed, 0 skipped",
                         "echo 0 passed, 1 failed, 0 skipped; exit 2", 1,
                         "5 passed, 1 failed, 0 skipped"),
    "one comes to no tests": ("echo no apt >&2; exit 2", "echo 3 passed, 0 failed, 0 skipped", 1,
                              "3 passed, 1 failed, 0 skipped"),
    "one says nothing of what failed": ("echo 5 passed, 0 failed, 0 skipped; exit 2",
                                        "echo 1 passed, 0 failed, 0 skipped", 1,
                                        "6 passed, 1 failed, 0 skipped"),
    "nothing ran": ("echo 0 passed, 0 failed, 0 skipped", "echo 0 passed, 0 failed, 4 skipped", 1,
                    "0 passed, 0 failed, 4 skipped"),
}


@pytest.mark.parametrize("case", CI)
def test_ci_sums_up_both_calls_in_its_last_line(case, tmp_path):
    """The second runs whatever came of the first; there is one closing line."""
    check, rest, status, closing = CI[case]
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/run", tmp_path / ".ci")
    make = tmp_path / "make"
    make.write_text(f"#!/bin/sh\necho about $1\ncase $1 in check) {check};; check-rest) {rest};; esac\n")
    make.chmod(0o755)
    got = subprocess.run([tmp_path / ".ci/run"], text=True, capture_output=True, check=False,
                         env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    lines = got.stdout.splitlines()
    assert (got.returncode, lines[-1]) == (status, closing), got.stdout + got.stderr
    assert [line for line in lines if re.fullmatch(r"\d+ passed, .*", line)] == [closing]
    assert lines[0] == "about check" and "about check-rest" in lines
