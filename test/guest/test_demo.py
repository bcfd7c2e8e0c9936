# SPDX-License-Identifier: GPL-2.0-only
"""make demo, of two passes of one join: README's first command works, in its tight cgroups, and
the pages that hipec reads are those of arithmetic, which demo.py itself checks."""

import json
import re
import subprocess

import pytest

from conftest import BUILD, ROOT, need

KERNEL = "6.12"
PAGES, FRAMES, WINDOWS = 15360, 14848, 64


@pytest.fixture(scope="module")
def demo():
    """(what it printed, its rows)"""
    need(KERNEL)
    subprocess.run(["make", "-s", "-C", ROOT, "build/demo-guest.img"], check=True)
    out = BUILD / "demo-short"
    done = subprocess.run(
        [ROOT / "bench/run.py", "paper.demo", "--kernel", KERNEL, "--guest",
         BUILD / "demo-guest.img", "--out", out, "--short"],
        capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, json.loads((out / "results.json").read_text())


@pytest.mark.guest
def test_mru_reads_what_it_must(demo):
    """By maps and by read(): all of it, and what did not fit once more."""
    rows = [row for row in demo[1] if row["policy"] == "mru"]
    assert len(rows) == 2 and {row["passes"] for row in rows} == {2}
    for row in rows:
        beyond = row["read_pages"] - PAGES - (PAGES - FRAMES)
        assert 0 <= beyond <= WINDOWS, row["variant"]


@pytest.mark.guest
def test_the_table_and_its_sentence_are_printed(demo):
    """With the page cache's advice, and what it comes to; lines of progress may name a run too."""
    assert len(re.findall(r"page cache, (?:no advice|MADV_SEQUENTIAL|read\(\)) +\d", demo[0])) == 3
    assert "With mru instead of the page cache's best advice, a join over 60 MB" in demo[0]
