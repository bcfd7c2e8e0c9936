# SPDX-License-Identifier: GPL-2.0-only
"""ampc --explain-cost, against numbers that were counted by hand: each command
that is run, the return included."""

import re
import subprocess

import pytest

from test_compiler import HPT, POLICIES, assembled, built, run  # noqa: F401

HEAD = ("Event Init() { Int i, j, n; param Int limit = 9; const Int ten = 10; Queue q; Page p; }\n"
        "Event Replace() { Release(DeQueue(q, HEAD)); }\n"
        "Event Helper() { n++; }\n"
        "Event Changer() { i = 0; Helper(); }\n"
        "Event Looper() {\n\twhile (EmptyQ(q))\n\t\tHelper();\n}\n")
LINE = HEAD.count("\n") + 2     # of what stands in PageFault


def cost(source):
    """{event: number or (line, event it is in)}"""
    result = run("--explain-cost", "-", source=source)
    assert result.returncode == 0, result.stderr
    found = {}
    head, *lines = result.stdout.splitlines()
    assert head == "event             commands at most"
    for line in lines:
        match = re.fullmatch(r"(\w+) +(?:(\d+)|no bound: the loop in line (\d+)(?:, in (\w+))?)", line)
        name, number, loop, via = match.groups()
        found[name] = int(number) if number else (int(loop), via)
    return found


def cost_of(body):
    return cost(f"{HEAD}Event PageFault() {{\n{body}\n}}\n")["PageFault"]


@pytest.mark.parametrize("body, commands", [
    ("", 1),
    ("n = 3;", 2),
    # A test and its jump, and the longer side.
    ("if (n) n = 1;", 4),
    ("if (n) n = 1; else { n = 2; i = 3; j = 4; }", 6),
    ("if (n) return; n = 1; j = 2;", 5),
    # Call, callee, return.
    ("Helper();", 4),
    ("Changer();", 7),
    ("if (n) Changer(); else Helper();", 9),
    # 1 set, 11 tests of 2, 10 rounds of 3, 1 return.
    ("for (i = 0; i < 10; i++) n++;", 54),
    ("for (i = 0; i < ten; i++) n++;", 54),
    ("for (i = 0; ten > i; i++) n++;", 54),
    ("for (i = 10; i > 0; i--) n++;", 54),
    ("for (i = 10; i >= 0; i -= 1) n++;", 59),
    ("for (i = 0; i <= 3; i++) n++;", 24),
    ("for (i = 0; i != 4; i++) n++;", 24),
    ("for (i = 0; i < 10; i += 3) n++;", 24),
    ("for (i = 0; !(i >= 4); i++) n++;", 24),
    ("for (i = 0; i == 0; i++) n++;", 9),
    ("for (i = 5; i < 5; i++) n++;", 4),
    ("i = 0; while (i < 3) i++;", 16),
    ("n = 2; while (n) n--;", 1 + 3 * 2 + 2 * 2 + 1),
    ("i = 0; n = 5; while (i < 3) { i++; n++; }", 20),
    # The inner loop is 53 commands without the return.
    ("for (j = 0; j < 3; j++) for (i = 0; i < 10; i++) n++;", 1 + 4 * 2 + 3 * (53 + 2) + 1),
    ("for (i = 0; i < 10; i++) Helper();", 1 + 22 + 10 * (3 + 2) + 1),
    # Both sides of an if in a loop: the longer one, each round.
    ("for (i = 0; i < 4; i++) if (n) n = 1; else Helper();", 1 + 10 + 4 * (2 + 3 + 2) + 1),
    # A loop that may be left early is not left early; the way out of its
    # middle is the longest of the last round.
    ("for (i = 0; i < 4; i++) { n++; if (n) break; }", 1 + 4 * (2 + 1 + 2 + 2) + (2 + 1 + 2) + 1),
    ("for (i = 0; i < 9223372036854775806; i++) n++;",
     1 + 2 * 9223372036854775807 + 3 * 9223372036854775806 + 1),
])
def test_events_that_end_cost_what_was_counted(body, commands):
    assert cost_of(body) == min(commands, 2**64 - 1)


@pytest.mark.parametrize("body", [
    "for (j = 0; j < 3; j++) for (i = 0; i < 10; i++) n++;",
    "for (i = 10; i >= 0; i -= 3) Helper();",
    "for (i = 0; i < 4; i++) if (n < 100) Helper(); else j = 1;",
    "n = 2; while (n) n--;",
])
def test_the_machine_counts_the_same(body, tmp_path):
    """Where the longest way is the one that is taken."""
    source = f"{HEAD}Event PageFault() {{\n{body}\n}}\n"
    case = tmp_path / "case.hpt"
    case.write_text(assembled(run("-S", "-", source=source).stdout, {}).replace(
        "-- result ok", f"-- result\nok\ncommands {cost(source)['PageFault']}"))
    result = subprocess.run([HPT, case], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("body, line", [
    ("for (;;)\n\t;", 0),
    ("n = i;\nwhile (n)\n\tn--;", 1),
    ("while (p = DeQueue(q, HEAD))\n\tRelease(p);", 0),
    ("do\n\ti++;\nwhile (i < 3);", 0),
    # Not to a constant, not from a constant, not by a constant.
    ("for (i = 0; i < limit; i++)\n\tn++;", 0),
    ("for (; i < 10; i++)\n\tn++;", 0),
    ("for (i = n; i < 10; i++)\n\tn++;", 0),
    ("for (i = 0; i < 10; i += n)\n\tn++;", 0),
    ("for (i = 0; i < 10; i *= 2)\n\tn++;", 0),
    # Away from the end, past it, around all integers.
    ("for (i = 0; i < 10; i--)\n\tn++;", 0),
    ("for (i = 0; i != 5; i += 2)\n\tn++;", 0),
    ("for (i = 0; i <= 9223372036854775807; i++)\n\tn++;", 0),
    # Changed in some rounds, twice, by an event, in a loop.
    ("for (i = 0; i < 10; ) {\n\tif (n)\n\t\ti++;\n}", 0),
    ("for (i = 0; i < 10; i++)\n\ti++;", 0),
    ("for (i = 0; i < 10; i++)\n\tChanger();", 0),
    ("for (i = 0; i < 10; )\n\tfor (j = 0; j < 3; j++)\n\t\ti++;", 0),
    ("i = 0;\nif (n)\n\ti = 5;\nwhile (i < 10)\n\ti++;", 3),
    # Entered in its middle.
    ("if (n)\n\tgoto in;\nfor (i = 0; i < 10; i++) {\nin:\n\tn++;\n}", 2),
    # The first line of several; an inner loop may be the one.
    ("while (n)\n\twhile (i)\n\t\ti--, n--;".replace(",", ";"), 0),
    ("for (i = 0; i < 3; i++)\n\twhile (n)\n\t\tn--;", 1),
])
def test_loops_without_a_bound_are_named(body, line):
    assert cost_of(body) == (LINE + line, None)


def test_a_loop_in_an_event_that_is_called_is_named():
    looper = HEAD.split("\n").index("\twhile (EmptyQ(q))") + 1
    assert cost_of("n = 1;\nLooper();") == (looper, "Looper")
    assert cost(HEAD + "Event Outer() { Looper(); }\nEvent PageFault() { Outer(); }\n") == {
        "PageFault": (looper, "Looper"), "Outer": (looper, "Looper"), "Looper": (looper, None),
        "Replace": 3, "Helper": 2, "Changer": 5}


def test_shipped_policies_cost_what_the_readme_says():
    costs = {path.stem: cost(path.read_text()) for path in POLICIES}
    assert costs["mru"] == costs["fifo"] == {"PageFault": 3, "Replace": 3}
    line = next(path for path in POLICIES if path.stem == "fifo2").read_text().split("\n")
    assert costs["fifo2"] == {"PageFault": 5, "Replace": (line.index("\tFor (;;) {") + 1, None)}


def test_costs_are_printed_and_no_file_is_written(tmp_path):
    source = tmp_path / "x.hp"
    source.write_text(HEAD + "Event PageFault() { }\n")
    assert run("--explain-cost", source, cwd=tmp_path).returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["x.hp"]
    assert run("--explain-cost", "-o", "y.hpo", source, cwd=tmp_path).returncode == 0
    assert (tmp_path / "y.hpo").exists()
