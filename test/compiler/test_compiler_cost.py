# SPDX-License-Identifier: GPL-2.0-only
"""ampc --explain-cost, against numbers that were counted by hand, and what the machine
counts: each command that is run, the return included."""

import re
import subprocess

import pytest

from test_compiler import HPT, POLICIES, assembled, built, run  # noqa: F401

pytestmark = [pytest.mark.more, pytest.mark.usefixtures("quick_start")]

HEAD = ("Event Init() { Int i, j, n, a[6]; param Int limit = 9, width = 4, moved = 3, minus = -1;"
        " const Int ten = 10; counter Int four = 4; Queue q, qs[5]; Page p; }\n"
        "Event Replace() { Release(DeQueue(q, HEAD)); }\n"
        "Event Helper() { n++; }\n"
        "Event Changer() { i = 0; Helper(); }\n"
        "Event Mover() { moved++; }\n"
        "Event Looper() {\n\twhile (EmptyQ(q))\n\t\tHelper();\n}\n")
LINE = HEAD.count("\n") + 2     # of what stands in PageFault


def cost(source):
    """{event: number, or text with a parameter, or (line, event it is in)}"""
    result = run("--explain-cost", "-", source=source)
    assert result.returncode == 0, result.stderr
    found = {}
    head, *lines = result.stdout.splitlines()
    assert head == "event             commands at most"
    for line in lines:
        match = re.fullmatch(r"(\w+) +(?:(\d+)|(\d+ with .*)|"
                             r"no bound: the loop in line (\d+)(?:, in (\w+))?)", line)
        name, number, text, loop, via = match.groups()
        found[name] = int(number) if number else text or (int(loop), via)
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
    # A test behind the round: 1 set, 3 rounds of 4, 1 return.
    ("i = 0; do { n++; i++; } while (i < 3);", 14),
    ("i = 5; do n++; while (--i);", 1 + 5 * 4 + 1),
    # What was there before the step is tested: once more, of 4, without the body.
    ("i = 5; while (i--) n++;", 1 + 5 * 6 + 4 + 1),
    ("i = 0; while (i++ < 5) n++;", 1 + 5 * 6 + 4 + 1),
    ("i = 5; do n++; while (i-- > 0);", 1 + 6 * 5 + 1),
    # What is there behind the step: the fifth one is the last test.
    ("i = 5; while (--i) n++;", 1 + 4 * 5 + 3 + 1),
    ("i = 0; while (++i < 5) n++;", 1 + 4 * 5 + 3 + 1),
    ("for (i = 10; i > 0; i -= 3) n++;", 1 + 5 * 2 + 4 * 3 + 1),
    ("for (i = ten; i; i -= 2) n++;", 1 + 6 * 2 + 5 * 3 + 1),
    ("for (i = ten - 7; i < ten * 2; i += ten / 2) n++;", 1 + 5 * 2 + 4 * 3 + 1),
    # An integer that nothing writes is what it was declared.
    ("for (i = 0; i < four; i++) n++;", 24),
    # Arrays: Load or Store, Select and EmptyQ.
    ("for (i = 0; i < 6; i++) a[i] = 0;", 1 + 7 * 2 + 6 * 3 + 1),
    ("for (i = 0; i < 5; i++) if (EmptyQ(qs[i])) n++;", 1 + 6 * 2 + 5 * 6 + 1),
    ("i = 0; while (i < 5 && EmptyQ(qs[i])) i++;", 1 + 5 * 7 + 5 + 1),
    # Left by a test in the middle, which every round comes to: 3 rounds of 5,
    # and the last as far as the test.
    ("i = 0; while (1) { n++; if (i >= 3) break; i++; }", 1 + 3 * 5 + 3 + 1),
    # Two tests: the one that ends it first.
    ("for (i = 0; i < 10; i++) { if (i > 3) break; }", 1 + 4 * 6 + 4 + 1),
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


# limit is 9, width 4, minus -1.
PARAMS = [
    ("for (i = 0; i < limit; i++) n++;", "49 with limit = 9: 4 + 5 * limit"),
    ("for (i = 0; limit > i; i++) n++;", "49 with limit = 9: 4 + 5 * limit"),
    ("for (i = limit; i > 0; i--) n++;", "49 with limit = 9: 4 + 5 * limit"),
    ("for (i = 0; i <= limit; i++) n++;", "54 with limit = 9: 4 + 5 * (limit + 1)"),
    ("for (i = limit; i >= 0; i--) n++;", "54 with limit = 9: 4 + 5 * (limit + 1)"),
    ("for (i = 2; i < limit; i++) n++;", "39 with limit = 9: 4 + 5 * (limit - 2)"),
    ("for (i = -3; i < limit; i++) n++;", "64 with limit = 9: 4 + 5 * (limit + 3)"),
    ("for (i = limit; i < 12; i++) n++;", "19 with limit = 9: 4 + 5 * (12 - limit)"),
    ("for (i = 12; i > limit; i--) n++;", "19 with limit = 9: 4 + 5 * (12 - limit)"),
    ("for (i = 12; i >= limit; i--) n++;", "24 with limit = 9: 4 + 5 * (13 - limit)"),
    ("for (i = 0; i < limit; i += 2) n++;", "29 with limit = 9: 4 + 5 * ((limit + 1) / 2)"),
    ("for (i = limit; i > 1; i -= 3) n++;", "19 with limit = 9: 4 + 5 * (limit + 1) / 3)"
     .replace("(limit", "((limit")),
    ("for (i = 20; i > limit; i -= 4) n++;", "19 with limit = 9: 4 + 5 * ((23 - limit) / 4)"),
    ("i = limit; while (i--) n++;", "60 with limit = 9: 6 + 6 * limit, if limit >= 0"),
    ("i = limit; while (i-- > 0) n++;", "60 with limit = 9: 6 + 6 * limit"),
    ("i = limit; while (--i > 0) n++;", "45 with limit = 9: 5 + 5 * (limit - 1)"),
    ("i = 0; while (i++ < limit) n++;", "60 with limit = 9: 6 + 6 * limit"),
    ("i = limit; do n++; while (--i > 0);", "38 with limit = 9: 6 + 4 * (limit - 1)"),
    ("for (i = 2; i != limit; i++) n++;",
     "39 with limit = 9: 4 + 5 * (limit - 2), if (limit - 2) >= 0"),
    ("for (i = limit; i != 12; i++) n++;",
     "19 with limit = 9: 4 + 5 * (12 - limit), if (12 - limit) >= 0"),
    ("for (i = 0; i < minus; i++) n++;", "4 with minus = -1: 4 + 5 * minus"),
    # Inside one another, behind one another, of an event that is called.
    ("for (i = 0; i < limit; i++) for (j = 0; j < 3; j++) n++;",
     "202 with limit = 9: 4 + 22 * limit"),
    ("for (i = 0; i < limit; i++) for (j = 0; j < width; j++) n++;",
     "247 with limit = 9, width = 4: 4 + 7 * limit + 5 * limit * width"),
    ("for (i = 0; i < width; i++) for (j = 0; j < width; j++) n++;",
     "112 with width = 4: 4 + 7 * width + 5 * width * width"),
    ("for (i = 0; i < limit; i++) n++; for (i = 0; i < width; i++) n++;",
     "72 with limit = 9, width = 4: 7 + 5 * width + 5 * limit"),
    ("for (i = 0; i < limit; i++) n++; for (i = 0; i < limit; i++) n++;",
     "97 with limit = 9: 7 + 10 * limit"),
    # The larger factor of each term, from either side.
    ("if (n) for (i = 0; i < limit; i++) n++; else { n = i; Helper(); Helper(); }",
     "55 with limit = 9: 10 + 5 * limit"),
]


@pytest.mark.parametrize("body, text", PARAMS)
def test_costs_name_the_parameter_that_they_depend_on(body, text):
    assert cost_of(body) == text


def test_a_bound_without_a_parameter_is_the_better_one():
    assert cost_of("for (i = 0; i < limit && i < 6; i++) n++;") == 1 + 6 * 7 + 4 + 1
    assert cost_of("for (i = 0; i < 6 && i < limit; i++) n++;") == 1 + 6 * 7 + 4 + 1


def test_an_event_that_is_called_brings_its_parameter():
    assert cost(HEAD + "Event Inner() { for (i = 0; i < limit; i++) n++; }\n"
                "Event PageFault() { for (j = 0; j < width; j++) Inner(); }\n")["PageFault"] == \
        "220 with limit = 9, width = 4: 4 + 9 * width + 5 * limit * width"


def test_more_parameters_than_can_be_told_apart_are_no_bound():
    """A product of five, and of more kinds than there are terms."""
    loops = "".join(f"for ({v} = 0; {v} < limit; {v}++) " for v in "abcde")
    head = HEAD.replace("Int i,", "Int a1, b, c, d, e, i,").replace("a[6]", "arr[6]")
    four = f"{head}Event PageFault() {{\n{loops.replace('a', 'a1')[len('for (a1 = 0; a1 < limit; a1++) '):]}n++;\n}}\n"
    assert cost(four)["PageFault"].endswith("5 * limit * limit * limit * limit")
    five = f"{head}Event PageFault() {{\n{loops.replace('a', 'a1')}n++;\n}}\n"
    assert cost(five)["PageFault"] == (LINE, None)
    many = [f"for (i = {start}; i < limit; i++) n++;" for start in range(32)]
    assert str(cost_of("\n".join(many[:31]))).count(" * ") == 31
    assert cost_of("\n".join(many)) == (LINE, None)


@pytest.mark.parametrize("body, text", [param for param in PARAMS if
                                        "minus" not in param[0] and "else" not in param[0]])
def test_the_machine_counts_what_the_formula_says(body, text, tmp_path):
    """For other values of the parameter too; a bracket below 0 is no round."""
    source = f"{HEAD}Event PageFault() {{\n{body}\n}}\n"
    case = assembled(run("-S", "-", source=source).stdout, {})
    assert "limit param int 9" in case and "-- result ok" in case
    sum_, *condition = re.split(r", if ", text.split(": ")[1])
    for factor in re.findall(r"\(\(.*?\) / \d\)|\([^()]*\)", sum_):
        sum_ = sum_.replace(factor, f"max(0, {factor.replace('/', '//')})")
    paths = []
    for limit in (0, 1, 2, 9, 10, 11):
        values = {"limit": limit, "width": 4}
        if condition and not eval(condition[0], values):
            continue
        wanted = eval(sum_, {**values, "max": max})
        paths.append(tmp_path / f"{limit}.hpt")
        paths[-1].write_text(case.replace("limit param int 9", f"limit param int {limit}").replace(
            "-- result ok", f"-- result\nok\ncommands {wanted}"))
        if limit in (0, 11):
            with_this = source.replace("limit = 9", f"limit = {limit}")
            assert cost(with_this)["PageFault"].startswith(f"{wanted} with ")
    result = subprocess.run([HPT, *paths], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert len(paths) >= 4 and result.stdout.count("\nok ") + result.stdout.startswith("ok ") == len(paths)


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
    ("for (i = 0; i < limit * 2; i++)\n\tn++;", 0),
    ("for (i = 0; i < moved; i++)\n\tn++;", 0),
    ("for (i = limit; i < width; i++)\n\tn++;", 0),
    ("for (i = 0; i < 10; i += limit)\n\tn++;", 0),
    ("for (i = 0; i < _free_count; i++)\n\tn++;", 0),
    # A parameter that it goes away from, or steps over.
    ("for (i = 10; i < limit; i--)\n\tn++;", 0),
    ("for (i = 0; i != limit; i += 3)\n\tn++;", 0),
    ("for (i = limit; i > 0; i += -9223372036854775807 - 1)\n\tn++;", 0),
    ("for (i = -9223372036854775807; i < limit; i += 9223372036854775807)\n\tn++;", 0),
    ("i = minus;\nwhile (i--)\n\tn++;", 1),
    # What is tested is a copy of what was there before the loop, or in some rounds.
    ("i = 9;\nj = i;\nwhile (j > 0)\n\ti--;", 2),
    ("i = 9;\nj = 1;\nwhile (j > 0) {\n\tif (n)\n\t\tj = i;\n\ti--;\n}", 2),
    # Or of what was there in the round before.
    ("i = 9;\nj = 5;\nwhile (j > 0) {\n\tn++;\n\tj = i;\n\ti--;\n}", 2),
    # A round need not come to the test.
    ("i = 0;\nwhile (1) {\n\tif (n) {\n\t\tif (i > 9)\n\t\t\tbreak;\n\t}\n\ti++;\n}", 1),
    ("i = 0;\ndo {\n\tif (n)\n\t\tcontinue;\n\ti++;\n} while (i < 3);", 1),
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
        "Replace": 3, "Helper": 2, "Changer": 5, "Mover": 2}


def test_shipped_policies_cost_what_the_readme_says():
    costs = {path.stem: cost(path.read_text()) for path in POLICIES}
    assert costs["fifo"] == {"PageFault": 3, "Replace": 3}
    assert costs["mru"] == {"PageFault": 3, "Replace": 3, "Adopt": 5}
    line = next(path for path in POLICIES if path.stem == "fifo2").read_text().split("\n")
    assert costs["fifo2"] == {"PageFault": 5, "Replace": (line.index("\tFor (;;) {") + 1, None),
                              "Remove": 3}


def test_costs_are_printed_and_no_file_is_written(tmp_path):
    source = tmp_path / "x.hp"
    source.write_text(HEAD + "Event PageFault() { }\n")
    assert run("--explain-cost", source, cwd=tmp_path).returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["x.hp"]
    assert run("--explain-cost", "-o", "y.hpo", source, cwd=tmp_path).returncode == 0
    assert (tmp_path / "y.hpo").exists()
