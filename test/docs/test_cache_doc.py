# SPDX-License-Identifier: GPL-2.0-only
"""module/cache/README.md: numbered rules, each of which names its test."""

import re

import pytest

from conftest import ROOT
from test_security_doc import SOURCES, names_of_tests, text_of

PAGE = ROOT / "module/cache/README.md"


def rules(page):
    """(number, paragraph) of each."""
    return [(int(number), text) for number, text in
            re.findall(r"^\*\*(\d+)\.\*\* (.*?)(?=\n\n|\Z)", page, re.M | re.S)]


def proofs(rule):
    """What stands in the parentheses behind a rule."""
    behind = re.search(r"\(((?:`[\w()]+`(?:,\s)?)+)\)$", rule)
    return re.findall(r"`(\w+)(?:\(\))?`", behind[1]) if behind else []


def files(page):
    """Sources of the folder, or of module/, that the page names."""
    return {name for name in re.findall(r"`([\w/]+\.[ch])`", page)}


def wrong(page):
    """All that this page forbids."""
    tests, found = names_of_tests(), rules(page)
    here = [PAGE.parent, PAGE.parent.parent, ROOT]
    said = [f"rule {at + 1} has number {number}" for at, (number, _) in enumerate(found)
            if number != at + 1]
    said += [f"no proof: {number}" for number, rule in found if not proofs(rule)]
    said += [f"no such test: {name}" for _, rule in found for name in proofs(rule)
             if name not in tests]
    said += [f"no such file: {name}" for name in sorted(files(page))
             if not any((folder / name).exists() for folder in here)]
    known = text_of(SOURCES)
    return said + [f"no such name: {name}" for name in re.findall(r"`((?:hipec|HIPEC)_\w+)", page)
                   if not re.search(rf"\b{name}\b", known)]


def test_each_rule_has_its_proof():
    page = PAGE.read_text()
    assert not wrong(page)
    assert len(rules(page)) >= 40 and len(files(page)) >= 12


@pytest.mark.parametrize("was, becomes, said", [
    ("**7.** ", "**8.** ", "rule 7 has number 8"),
    (" (`cache_trims_what_it_takes`)", "", "no proof: 4"),
    ("`cache_trims_what_it_takes`", "`cache_trims_nothing`", "no such test: cache_trims_nothing"),
    ("`before.c`", "`behind.c`", "no such file: behind.c"),
    ("`hipec_columns_peek()`", "`hipec_columns_peep()`", "no such name: hipec_columns_peep"),
])
def test_a_rule_without_one_is_found(was, becomes, said):
    page = PAGE.read_text()
    assert page.count(was) == 1
    assert wrong(page.replace(was, becomes)) == [said]
