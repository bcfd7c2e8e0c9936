# SPDX-License-Identifier: GPL-2.0-only
"""docs/user/first-steps.md: each command prints what it shows, and the prose says the same."""

import re
import subprocess

import pytest

import session
from conftest import ROOT, without

pytestmark = pytest.mark.more

TEXT = without("docs/user/first-steps.md", "In a guest")
SESSION = "".join(re.findall(r"^```\n(.*?)^```", TEXT, re.M | re.S))
COMMANDS = session.commands(SESSION)


def test_commands_print_what_they_show(tmp_path):
    """One shell session. How large the page is depends on the library."""
    subprocess.run(["make", "-s", "-C", ROOT, "all"], check=True)
    assert len(COMMANDS) == 13
    size = re.compile(r"[2-5]\.\d MiB, for")
    list(session.run(COMMANDS, "steps", tmp_path, normal=lambda text: size.sub("N MB", text)))
    page = (tmp_path / "steps" / "search.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and page.endswith("</html>\n")


def test_numbers_in_the_prose_are_those_of_the_commands():
    _, (gain, most) = re.findall(r"^600 frames: mru gains ([\d.]+) % over lru; opt ([\d.]+) %$",
                                 SESSION, re.M)
    prose = " ".join(TEXT.split())
    assert f"`mru` saves {gain} % of its faults, and no policy could save more than {most} %" in prose
    # A quarter of the returns is nearer, at most.
    assert "reuse distance   10% 119, 25% 1019" in SESSION
    assert "Three in four come back after 1,019 other pages" in prose
    # 1,020 faults, then in each of three passes those pages of the thousand that do not stay.
    faults = int(re.search(r"^mru +600 +(\d+)", SESSION, re.M)[1])
    assert faults == 1020 + 3 * (1000 - 579) and "579 of them stay" in prose
