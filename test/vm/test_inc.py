# SPDX-License-Identifier: GPL-2.0-only
"""Policies in C (userlib/image/emitc.c), compiled: the third way to run them does what the
interpreter does, for every .hpt file, for random policies, and for shipped ones on random pages.
tcc compiles most of them, for it takes no time; GCC, whose code hipec sim --native runs, some."""

import pathlib
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT

sys.path.insert(0, str(ROOT / "test/vm/fuzz"))

import inc  # noqa: E402

pytestmark = pytest.mark.user

CASES = sorted((ROOT / "test/vm/cases").glob("*.hpt"))
POLICIES = sorted(path.stem for path in (ROOT / "policies").glob("*.hp"))
UBSAN = "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"
COMPILERS = {"tcc": ("tcc",), "gcc": ("gcc", "-O1", "-fno-inline")}


@pytest.fixture(scope="module", autouse=True)
def built():
    """What this takes; test_sim_native.py has the command make it."""
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/hpt", "build/asan/differ", "build/hipec",
                    "native-ready"], check=True)


def hpt(*args):
    """The lines of build/asan/hpt that are not well, and how many are."""
    run = subprocess.run([BUILD / "asan/hpt", *args], capture_output=True, text=True, check=False)
    lines = run.stdout.splitlines() + run.stderr.splitlines()
    return [line for line in lines if not line.startswith("ok ")], len(lines)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_file_does_in_c_what_it_does_interpreted(compiler, tmp_path):
    """All of them, refused policies too, in one library."""
    source, library = tmp_path / "cases.c", tmp_path / "cases.so"
    assert hpt("--emit-c", source, *CASES) == ([], len(CASES))
    inc.compile_c(source, library, COMPILERS[compiler])
    assert hpt("--c", library, *CASES) == ([], len(CASES))
    assert source.read_text().count("ENTRY(") > 200


def test_random_policies_do_in_c_what_they_do_interpreted():
    """And most of them run, and end in many ways."""
    text, well = inc.batch(1, 1000)
    got = inc.sums(text)
    assert well, text
    assert got["failed"] == 0 and got["programs"] == 1000 and got["accepted"] > 800
    assert min(got[kind] for kind in ("ok", "NO_PAGE", "STALE_PAGE", "DIV_ZERO", "INDEX", "FUEL",
                                      "late", "ghosts", "given")) > 0


def test_no_behaviour_is_undefined_in_c():
    """What GCC's sanitizer finds ends the program."""
    text, well = inc.batch(5001, 12, ("gcc", "-O0", *UBSAN))
    assert well, text
    assert inc.sums(text)["accepted"] >= 8


@pytest.mark.parametrize("policy", POLICIES)
def test_a_shipped_policy_does_in_c_what_it_does_interpreted(policy):
    """On random pages and with random steps of the host."""
    subprocess.run(["make", "-s", "-C", ROOT, f"build/policies/{policy}.hpo"], check=True)
    text, well = inc.batch(1, 60, image=("--image", BUILD / f"policies/{policy}.hpo"))
    assert well, text
    assert inc.sums(text)["accepted"] == 60


def test_a_difference_is_seen(tmp_path):
    """In a library in which one addition is a subtraction."""
    source, library = tmp_path / "cases.c", tmp_path / "cases.so"
    case = ROOT / "test/vm/cases/arith.hpt"
    assert hpt("--emit-c", source, case) == ([], 1)
    assert "ARITH_add" in source.read_text()
    source.write_text(source.read_text().replace("ARITH_add", "ARITH_sub", 1))
    inc.compile_c(source, library)
    wrong, _ = hpt("--c", library, case)
    assert len(wrong) == 1 and "C says 'int sum 14', user space 'int sum 26'" in wrong[0]


def test_a_name_ends_no_comment(tmp_path):
    """A policy of somebody else may call an operand anything."""
    case = tmp_path / "x.hpt"
    case.write_text("# x\n-- operands\nn*/int int\n-- code PageFault\n\tarith n*/int, n*/int, add\n"
                    "\treturn\n-- code Replace\n\treturn\n-- run PageFault\n-- result ok\n")
    wrong, _ = hpt("--emit-c", tmp_path / "x.c", case)
    assert not wrong
    text = (tmp_path / "x.c").read_text()
    assert "n+/int" in text and "n*/int" not in text


def test_a_library_of_another_version_is_refused(tmp_path):
    """Its machine would not be laid out as ours."""
    source, library = tmp_path / "x.c", pathlib.Path(tmp_path, "x.so")
    source.write_text("const unsigned int hipec_machine_size = 8;\n")
    inc.compile_c(source, library)
    run = subprocess.run([BUILD / "asan/hpt", "--c", library, CASES[0]], capture_output=True,
                         text=True, check=False)
    assert run.returncode == 2
    assert run.stderr == "native code: it is for another version of hipec\n"
