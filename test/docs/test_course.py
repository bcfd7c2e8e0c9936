# SPDX-License-Identifier: GPL-2.0-only
"""docs/policy/tutorial.md, Five exercises: each command prints what it shows, in one session; and what hipec sim --grade
says of a policy is arithmetic."""

import json
import os
import re
import subprocess

import pytest

import session
from conftest import BUILD, ROOT, chapter

pytestmark = pytest.mark.more

TEXT = chapter("docs/policy/tutorial.md", "Five exercises")
SESSION = "".join(re.findall(r"^```\n(.*?)^```", TEXT, re.M | re.S))
COMMANDS = session.commands(SESSION)


def test_commands_print_what_they_show(tmp_path):
    assert len(COMMANDS) == 13
    for command, code in session.run(COMMANDS, "course", tmp_path):
        assert code == 0, command


def test_each_task_can_be_done_and_is_not_done_by_what_it_starts_from():
    """The grade that is asked for is below the shown solution's, and FIFO has less."""
    tasks = re.findall(r"Reach\s(\d+) %.*?--least (\d+) .*?: ([\d.]+) %, where", TEXT, re.S)
    assert len(tasks) == 4
    for asked, least, solution in tasks:
        assert asked == least and float(asked) <= float(solution)


def grade(tmp_path, *args, code=0):
    done = subprocess.run([BUILD / "asan/hipec", "sim", "--grade", *args], text=True, cwd=tmp_path,
                          capture_output=True, check=False,
                          env={**os.environ, "HIPEC_POLICY_PATH": str(BUILD / "policies")})
    assert done.returncode == code, done.stderr
    return done


def test_the_grade_is_the_share_of_what_opt_saves(tmp_path):
    """A loop of 10 pages in 5 frames, 4 times: lru 40 faults, opt 10 + 3 * 5 = 25 and mru by hand."""
    (tmp_path / "loop").write_text("r 0 10\n" * 4)
    got, = json.loads(grade(tmp_path, "--json", "-f", "5", "mru", "loop").stdout)
    assert (got["lru_faults"], got["grade_percent"]) == (
        40, 100 * (40 - got["faults"]) / (40 - got["opt_faults"]))
    assert 0 < got["grade_percent"] <= 100
    got, = json.loads(grade(tmp_path, "--json", "-f", "5", "lru", "loop").stdout)
    assert got["grade_percent"] == 0


def test_where_nothing_can_be_gained_there_is_no_grade(tmp_path):
    (tmp_path / "once").write_text("r 0 10\n")
    text = grade(tmp_path, "-f", "5", "--least", "50", "mru", "once").stdout
    assert " -  no policy can gain anything here\nmru: no policy can gain anything" in text


def test_a_grade_that_is_too_low_or_a_policy_that_ends_is_code_3(tmp_path):
    (tmp_path / "loop").write_text("r 0 10\n" * 4)
    (tmp_path / "ends.hp").write_text("Event Init() { Int i; }\nEvent PageFault() { i = 1 / i; }\n"
                                      "Event Replace() { i = 1; }\n")
    assert "0.0 %" in grade(tmp_path, "-f", "5", "--least", "10", "lru", "loop", code=3).stdout
    assert "div" in grade(tmp_path, "-f", "5", "ends.hp", "loop", code=3).stdout


@pytest.mark.parametrize("args, says", [
    ([], "want a policy and a trace"), (["mru"], "want a policy and a trace"),
    (["mru,lru", "loop"], "want one policy, not 'mru,lru'"),
    (["--least", "101", "mru", "loop"], "--least: want a percentage from 0 to 100, not '101'")])
def test_wrong_arguments_are_said(tmp_path, args, says):
    done = grade(tmp_path, *args, code=2)
    assert done.stderr.startswith(f"hipec sim: {says}\nusage: hipec sim --grade ")
