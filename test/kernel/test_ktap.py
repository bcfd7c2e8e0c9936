# SPDX-License-Identifier: GPL-2.0-only
"""That ktap.py believes only what is whole, on logs as kernels print them."""

import ktap
from conftest import vm


def console(text):
    """@text as the kernel prints it; lines that begin with > are a program's."""
    return "".join(f"{line[2:]}\n" if line.startswith("> ") else
                   f"[    {number / 1e6:.6f}][  T{number}] {line}\n"
                   for number, line in enumerate(text.split("\n")))


# The empty document of a kernel with KUnit, a guest's own words, two documents.
GOOD = """KTAP version 1
1..0
> hipec-guest: command starts
> ok 1 this is no result
KTAP version 1
1..2
    KTAP version 1
    # Subtest: one
    # module: hipec_kunit
    1..3
    # first: a note
    ok 1 first
    ok 2 second # SKIP not on this kernel
hipec: a line of the kernel
    ok 3 third
# one: pass:2 fail:0 skip:1 total:3
# Totals: pass:2 fail:0 skip:1 total:3
ok 1 one
    KTAP version 1
    # Subtest: two
    1..1
    ok 1 fourth
ok 2 two
KTAP version 1
1..1
    KTAP version 1
    # Subtest: three
    1..1
    ok 1 fifth
ok 1 three"""


def failed(text):
    """suite.case of what failed."""
    return [f"{case.suite}.{case.name}" for case in ktap.read(console(text))
            if case.outcome == "failed"]


def test_every_document_is_read():
    cases = ktap.read(console(GOOD))
    assert ktap.count(cases) == (4, 0, 1)
    assert [case.suite for case in cases] == ["one", "one", "one", "two", "three"]
    assert cases[1].text == "not on this kernel"


def test_a_program_without_stamps_is_read_as_well():
    assert ktap.count(ktap.read("KTAP version 1\n1..1\n    KTAP version 1\n    # Subtest: s\n"
                                "    1..1\n    ok 1 c\nok 1 s\n")) == (1, 0, 0)


def test_carriage_returns_and_words_before_the_stamp_do_no_harm():
    log = console(GOOD).replace("\n", "\r\n").replace("[    0.000011]", "a word[    0.000011]")
    assert ktap.count(ktap.read(log)) == (4, 0, 1)


def test_a_failed_case_counts_and_says_why():
    text = GOOD.replace("    ok 3 third", "    # third: EXPECTATION FAILED at a.c:1\n"
                        "    not ok 3 third")
    assert failed(text) == ["one.third"]
    assert "a.c:1" in [case.text for case in ktap.read(console(text)) if case.name == "third"][0]


def test_a_failure_in_a_later_document_counts():
    assert failed(GOOD.replace("ok 1 fifth", "not ok 1 fifth")) == ["three.fifth"]


def test_a_suite_that_fails_without_a_case_counts():
    assert failed(GOOD.replace("\nok 2 two", "\nnot ok 2 two")) == ["two.suite"]


def test_a_log_cut_anywhere_has_failures():
    lines = GOOD.split("\n")
    # Behind these nothing tells that more was to come.
    whole = {0, lines.index("1..0") + 1, lines.index("1..0") + 2, lines.index("1..0") + 3,
             lines.index("ok 2 two") + 1}
    for end in range(len(lines)):
        assert bool(failed("\n".join(lines[:end]))) == (end not in whole), lines[end]


def test_a_line_that_is_left_out_counts():
    for line in ("    ok 2 second # SKIP not on this kernel\n", "    ok 1 fourth\n", "1..2\n",
                 "\nok 1 three", "    1..3\n"):
        assert line in GOOD
        assert failed(GOOD.replace(line, "")), line


def test_no_document_is_no_case():
    assert not ktap.read("")
    assert not ktap.read("ok 1 hello\n1..1\n")


def test_a_splat_breaks_the_run_although_all_cases_passed():
    splat = "[   12.345678] BUG: sleeping function called from invalid context at mm/slab.h:1"
    log = console(GOOD)
    assert vm.find_splat(log) is None
    assert vm.find_splat(log + splat)[0] == splat
    assert ktap.count(ktap.read(log + splat)) == (4, 0, 1)
