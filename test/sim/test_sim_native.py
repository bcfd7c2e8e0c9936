# SPDX-License-Identifier: GPL-2.0-only
"""hipec sim --native: the same results as without it; and what is said when there is no compiler."""

import json
import os
import subprocess

import pytest

from conftest import BUILD, ROOT

pytestmark = pytest.mark.user

POLICIES = sorted(path.stem for path in (ROOT / "policies").glob("*.hp"))


@pytest.fixture(scope="module", autouse=True)
def built():
    """The command, the policies, and what --native compiles them with."""
    subprocess.run(["make", "-s", "-C", ROOT, "build/hipec", "build/asan/hipec", "native-ready",
                    *(f"build/policies/{name}.hpo" for name in POLICIES)], check=True)


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """Sweeps, hot pages, writes, hints and contexts: each policy has something to do."""
    path = tmp_path_factory.mktemp("native") / "trace"
    x, lines = 1, []
    for i in range(6000):
        x = (1103515245 * x + 12345) % 2**31
        page = i % 150 if i % 3 else 200 + (x >> 16) % 20
        lines.append(f"{'w' if x >> 16 & 3 == 0 else 'r'} {page} h={x >> 20 & 3} c={i % 7}\n")
    path.write_text("".join(lines))
    return path


def hpo(name):
    """A shipped policy: references win over those of their names."""
    return str(BUILD / f"policies/{name}.hpo")


def sim(*args, hipec=BUILD / "hipec", **env):
    """hipec sim's output."""
    return subprocess.run([hipec, "sim", *map(str, args)], capture_output=True, text=True,
                          check=False, env={**os.environ, **env})


@pytest.mark.parametrize("mode", ["mapped", "exact"])
def test_native_code_gives_what_the_interpreter_gives(mode, trace):
    """All counts of all shipped policies, commands and ends included."""
    args = ["--json", "--mode", mode, "--frames", "60", "--policy", ",".join(hpo(name) for name in POLICIES), trace]
    plain, native = sim(*args), sim("--native", *args)
    assert native.returncode == 0, native.stderr
    rows = json.loads(native.stdout)
    assert rows == json.loads(plain.stdout)
    assert len(rows) == len(POLICIES) and all(row["commands"] > 1000 for row in rows)


def test_a_parameter_is_read_where_it_is(trace):
    """It is a number in no code: another value is another result."""
    args = ["--native", "--json", "--frames", "60", "--policy", "fifo2", trace]
    few, many = (json.loads(sim("--param", f"free_target={n}", *args).stdout) for n in (1, 40))
    assert few[0]["faults"] != many[0]["faults"]


def test_what_has_no_commands_runs_as_ever(trace):
    """References, and the module's own replacement; nothing is compiled."""
    args = ["--json", "--frames", "60", "--policy", "lru,builtin", trace]
    native = sim("--native", *args, CC="/nonexistent")
    assert (native.returncode, native.stdout) == (0, sim(*args).stdout)


@pytest.mark.parametrize("cc, said", [
    ("/nonexistent", "--native: /nonexistent: No such file or directory"),
    ("false", "--native: false: it does not compile policies"),
])
def test_no_compiler_is_said(cc, said, trace):
    """And nothing is printed."""
    run = sim("--native", "--policy", "mru", trace, CC=cc)
    assert (run.returncode, run.stdout, run.stderr) == (1, "", f"hipec sim: {said}\n")


def test_under_the_sanitizers_too(trace):
    """The machine is theirs, and so is what goes wrong."""
    run = sim("--native", "--mode", "exact", "--policy", f"{hpo('arc')},{hpo('w-tinylfu')}", trace,
              hipec=BUILD / "asan/hipec")
    assert run.returncode == 0 and run.stderr == ""


def test_nothing_is_left_behind(trace, tmp_path):
    """The source and the library are gone when the command is."""
    assert sim("--native", "--policy", "mru", trace, TMPDIR=str(tmp_path)).returncode == 0
    assert not list(tmp_path.iterdir())


def test_ampc_prints_what_is_compiled(tmp_path):
    """--emit c: it compiles without a warning."""
    run = subprocess.run([BUILD / "ampc", "--emit", "c", ROOT / "policies/arc.hp"],
                         capture_output=True, text=True, check=False)
    assert run.returncode == 0 and run.stderr == ""
    assert "ENTRY(hipec_arc)" in run.stdout and "/* enqueue page, .t0, tail */" in run.stdout
    source = tmp_path / "arc.c"
    source.write_text(run.stdout)
    done = subprocess.run(["gcc", "-O1", "-Wall", "-Wextra", "-Wno-unused-function", "-Werror", "-c",
                           f"-I{BUILD / 'native'}", "-o", tmp_path / "arc.o", source],
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    run = subprocess.run([BUILD / "ampc", "--emit", "lua", ROOT / "policies/arc.hp"],
                         capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr.split("\n")[0]) == (2, "ampc: a policy can be emitted as 'c'")
