# SPDX-License-Identifier: GPL-2.0-only
"""What hipec trace leaves out of a trace, and what info says of files: against a model, for
traces of chance with regions, and of programs whose files are known."""

import fnmatch
import json
import os
import random
import re
import shutil
import subprocess

import pytest

from conftest import BUILD

pytestmark = pytest.mark.user

HIPEC = BUILD / "asan/hipec"
PLAIN = BUILD / "hipec"     # which has the traced program load its library


def hipec(*args, program=HIPEC, **kwargs):
    return subprocess.run([program, *map(str, args)], capture_output=True, text=True, check=False,
                          **kwargs)


def some_trace(seed):
    """(regions [(first, pages, name)], accesses [(page, is written, hint)])"""
    dice = random.Random(seed)
    regions, page = [], 0
    for number in range(dice.randrange(1, 9)):
        page += dice.choice([0, 0, 3])
        pages = dice.randrange(1, 30)
        regions.append((page, pages, f"/{dice.choice('ab')}/{number}.{dice.choice(['db', 'log'])}"))
        page += pages
    accesses = []
    for _ in range(dice.randrange(1, 60)):
        first, write = dice.randrange(page + 5), dice.random() < .3
        hint = dice.choice([0, 0, 7])
        accesses += [(number, write, hint)
                     for number in range(first, first + dice.randrange(1, 50))]
    return regions, accesses


def text_of(regions, accesses):
    return "".join([*(f"f {first} {pages} {name}\n" for first, pages, name in regions),
                    *(f"{'w' if write else 'r'} {page}{f' h={hint}' if hint else ''}\n"
                      for page, write, hint in accesses)])


def read(text):
    """The same of a text that the command wrote."""
    regions = [(int(first), int(pages), name)
               for first, pages, name in re.findall(r"^f (\d+) (\d+) (.*)$", text, re.M)]
    accesses = [(page, kind == "w", int(hint or 0)) for kind, first, _, nr, hint in
                re.findall(r"^([rw]) (\d+)( (\d+))?(?: h=(\d+))?$", text, re.M)
                for page in range(int(first), int(first) + int(nr or 1))]
    return regions, accesses


def region_of(regions, page):
    return next((name for first, pages, name in regions if first <= page < first + pages), None)


def kept(regions, accesses, globs, least):
    """What is to stay."""
    pages = {}
    for page, *_ in accesses:
        pages.setdefault(region_of(regions, page), set()).add(page)

    def stays(name):
        asked = not globs or name and any(fnmatch.fnmatchcase(part, glob) for glob in globs
                                          for part in (name, name.rsplit("/", 1)[-1]))
        return bool(asked) and len(pages.get(name, ())) >= least
    return ([region for region in regions if stays(region[2])],
            [access for access in accesses if stays(region_of(regions, access[0]))])


@pytest.mark.parametrize("seed", range(40))
def test_what_stays_is_what_a_model_keeps(seed, tmp_path):
    regions, accesses = some_trace(seed)
    (tmp_path / "t").write_text(text_of(regions, accesses))
    for globs, least in [((), 1), ((), 9), (["*.db"], 0), (["/a/*", "1.*"], 0), (["*.log"], 12)]:
        want = kept(regions, accesses, globs, least)
        done = hipec("trace", "convert", *(f"--region={glob}" for glob in globs),
                     *(["--min-pages", least] if least else []), tmp_path / "t", "-")
        if not want[1]:
            assert done.returncode == 1 and "no access is left" in done.stderr
            continue
        assert done.returncode == 0 and read(done.stdout) == want
        left = len(accesses) - len(want[1])
        found = re.search(r"left out (\d+) access", done.stderr)
        assert (int(found[1]) if found else 0) == left
        assert hipec("trace", "info", "--only", "*", tmp_path / "t").returncode in (0, 1)


@pytest.mark.parametrize("seed", range(40, 50))
def test_info_counts_each_file(seed, tmp_path):
    regions, accesses = some_trace(seed)
    (tmp_path / "t").write_text(text_of(regions, accesses))
    found, = json.loads(hipec("trace", "info", "--json", "--top", "7", tmp_path / "t").stdout)
    for region, (first, pages, name) in zip(found["regions"], regions, strict=True):
        its = [page for page, *_ in accesses if first <= page < first + pages]
        assert region == {"page": first, "pages": pages, "name": name, "accesses": len(its),
                          "accessed_pages": len(set(its))}
    for top in found["top_pages"]:
        assert top["region"] == region_of(regions, top["page"])
    text = hipec("trace", "info", "--top", "2", tmp_path / "t").stdout
    rows = re.findall(r"^ +[\d.]+%  (\d+) access(?:es)? to \d+ pages?, from page \d+ on, of (.*)$",
                      text, re.M)
    order = sorted(found["regions"], key=lambda one: (-one["accesses"], one["name"]))
    assert rows == [(str(one["accesses"]), one["name"]) for one in order[:2]]
    rest = order[2:]
    more = re.findall(r"^ +[\d.]+%  (\d+) access(?:es)? to (\d+) files? more$", text, re.M)
    assert more == ([(str(sum(one["accesses"] for one in rest)), str(len(rest)))] if rest else [])


@pytest.fixture
def program(tmp_path):
    """One that reads data, and what it calls a module of Python; it is called as Python is."""
    shutil.copy(shutil.which("cat"), tmp_path / "python-cat")
    (tmp_path / "data").write_bytes(bytes(5 * 4096))
    (tmp_path / "helper.py").write_bytes(b"#" * 2 * 4096)
    return ["./python-cat", "data", "helper.py", "data"]


def trace(tmp_path, *args):
    done = hipec("trace", "--depth", "0", "-o", "t.txt", *args, program=PLAIN, cwd=tmp_path,
                 env={**os.environ, "LC_ALL": "C"})
    return done, read((tmp_path / "t.txt").read_text())[1] if done.returncode == 0 else None


def test_what_interpreters_read_of_themselves_is_left_out(program, tmp_path):
    """And said; --all keeps it; if nothing else is read it stays."""
    done, accesses = trace(tmp_path, "--", *program)
    assert "left out 2 accesses to 2 pages of 1 file that interpreters" in done.stderr
    assert len(accesses) == 10
    done, accesses = trace(tmp_path, "--all", "--", *program)
    assert "left out" not in done.stderr and len(accesses) == 12
    done, accesses = trace(tmp_path, "--", "./python-cat", "helper.py")
    assert "left out" not in done.stderr and len(accesses) == 2
    done, accesses = trace(tmp_path, "--", "cat", *program[1:])
    assert "left out" not in done.stderr and len(accesses) == 12


def test_programs_may_be_asked_for_some_files(program, tmp_path):
    assert len(trace(tmp_path, "--only", "helper.*", "--all", "--", *program)[1]) == 2
    assert len(trace(tmp_path, "--min-pages", "5", "--", *program)[1]) == 10
    (tmp_path / "t.txt").unlink()
    done, _ = trace(tmp_path, "--only", "nothing", "--", *program)
    assert done.returncode == 1 and "no access is left" in done.stderr
    assert not (tmp_path / "t.txt").exists()


def test_try_hands_them_on(program, tmp_path):
    done = hipec("try", "--only", "data", "--", *program, program=PLAIN, cwd=tmp_path,
                 env={**os.environ, "LC_ALL": "C", "HIPEC_POLICY_PATH": str(BUILD / "policies")})
    assert "10 accesses to 5 pages of 1 file are in python-cat.trace" in done.stderr
    done = hipec("try", "--all", tmp_path / "cat.trace")
    assert done.returncode == 2 and "which files matter are for programs" in done.stderr


@pytest.mark.parametrize("value", ["", "x", "-1", "67108865"])
def test_a_wrong_number_is_said(value):
    done = hipec("trace", "info", f"--min-pages={value}", "t")
    assert done.returncode == 2 and "--min-pages: want a number from 0 to 67108864" in done.stderr


@pytest.mark.parametrize("verb", ["make", "convert", "info"])
def test_each_verb_has_its_options(verb):
    """make has nothing to leave out."""
    done = hipec("trace", verb, *(["loop"] if verb == "make" else []), "--only", "x")
    assert ("has no such option" in done.stderr) == (verb == "make")
