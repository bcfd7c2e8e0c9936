# SPDX-License-Identifier: GPL-2.0-only
"""docs/limits.md has a table of numbers: each is what its line of the source says, and its test is
there."""

import re

import pytest

from conftest import ROOT
from test_security_doc import names_of_tests, quoted, tables

PAGE = ROOT / "docs/limits.md"
# A shift is said as what it makes.
SHIFTS = {"HIPEC_SLOT_SHIFT"}


def value_of(name, path):
    """What `#define NAME` of the file at @path is."""
    text, = re.findall(rf"^#define {name}\s+(\(?[0-9<u ]+\)?)", (ROOT / path).read_text(), re.M)
    value = eval(text.replace("u", ""), {})  # pylint: disable=eval-used
    return 1 << value if name in SHIFTS else value


def missing(page):
    """What the page says, and is not so."""
    rows = [row for row in tables(page) if "set by" in row]
    assert rows
    found, tests = [], names_of_tests()
    for row in rows:
        name, path = quoted(row["set by"])
        if value_of(name, path) != int(row["number"].replace(",", "")):
            found.append(f"{name} is {value_of(name, path)}, not {row['number']}")
        found += [f"no such test: {test}" for test in quoted(row["test"]) if test not in tests]
        if not quoted(row["test"]):
            found.append(f"no test: {row}")
    return found


def test_numbers_are_those_of_the_source_and_tests_exist():
    assert not missing(PAGE.read_text())


@pytest.mark.parametrize("was, becomes, said", [
    ("| 65,536 | `HIPEC_MAX_WORDS`", "| 65,535 | `HIPEC_MAX_WORDS`",
     "HIPEC_MAX_WORDS is 65536, not 65,535"),
    ("`the_largest_image_is_taken`", "`no_such`", "no such test: no_such"),
    ("`cache_of_a_cgroup_is_one_of_64`", "", "no test: "),
])
def test_what_is_not_so_is_found(was, becomes, said):
    text = PAGE.read_text()
    assert was in text
    assert any(said in line for line in missing(text.replace(was, becomes)))
