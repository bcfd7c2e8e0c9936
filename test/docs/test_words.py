# SPDX-License-Identifier: GPL-2.0-only
"""docs/internals/words.md and the states of a page (module/core/core.h): one word a meaning.

Each row's name is in the code of the file that it names, and has the row's word in it; or, as long
as it has another, the row says so. Each state of the table has a row, and each name in the table is
one of the code's. In comments of the engine and of files in place the subject is a thing, a task
or a user: not "who" or "nobody".
"""

import re

import pytest

import ctext
from conftest import ROOT
from test_names import texts

PAGE = "docs/internals/words.md"
TABLE = "module/core/core.h"
VAGUE = re.compile(r"(?<!@)\bwho(?:ever)?\b|\b(?:no|some|any)body\b|\blikewise\b", re.I)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
# Files whose comments are still to be rewritten; this only shrinks.
VAGUE_STILL = {f"module/cache/{name}"
               for name in ("clean.c", "clean.h", "put.c", "put.h", "search.c")}
ROW = re.compile(r"^\| ([^|`]+) \| ([^|]+) \| `(module/[\w/.]+)`: ((?:`\w+`(?:, )?)+) "
                 r"\| ([^|]*)\|$", re.M)


def rows(page):
    """(words, file, names, other words that these have still) of each row."""
    return [(word.split(", "), path, re.findall(r"`(\w+)`", names), re.findall(r"\w+", still))
            for word, _, path, names, still in ROW.findall(page)]


def states(head):
    """{state: its line} of the table of pages' states, and of files'."""
    of_pages = re.search(r"^ \*\tstate +flags.*\n((?: \*\t.*\n)+)", head, re.M)
    of_files = re.search(r"^ \* Of whole files in place.*\n(?: \* .*\n)*((?: \*\t.*\n)+)",
                         head, re.M)
    return {line.split()[1]: line for part in (of_pages, of_files) if part
            for line in part[1].rstrip("\n").split("\n")}


def code(text):
    """{path: names that it has outside of comments}."""
    return {path: set(ctext.NAME.findall(ctext.without_comments(body)))
            for path, body in text.items()}


def has(name, word):
    """Whether a name has a word: nr_free, HIPEC_PAGE_GHOST, hipec_league_warm_up."""
    return re.search(rf"(^|_){word.replace(' ', '_')}s?(_|$)", name, re.I)


def wrong(page, text):
    """All that this page forbids."""
    names, table = code(text), states(text[TABLE])
    found = rows(page)
    known = {word for words, _, _, still in found for word in [*words, *still]}
    every = set().union(*names.values())
    return {
        "place": {name for _, path, places, _ in found for name in places
                  if name not in names.get(path, ())},
        "word": {name for words, _, places, still in found for name in places
                 if not any(has(name, word) for word in still or words)},
        "twice": {word for words, _, _, _ in found for word in words
                  if sum(word in others for others, _, _, _ in found) > 1},
        "state": table.keys() - known,
        "table": {name for line in table.values() for name in re.findall(r"\b\w+_\w+\b", line)
                  if name not in every},
    }


def vague(text):
    """(file, its comment's line) of comments of the engine, and of files in place."""
    return {(path, line.strip(" */\t")) for path, body in text.items()
            if path.startswith(("module/core/", "module/cache/")) and path not in VAGUE_STILL
            for comment in COMMENT.findall(body) for line in comment.split("\n")
            if VAGUE.search(line)}


@pytest.fixture(scope="module")
def module():
    return texts()


@pytest.fixture(scope="module")
def page():
    return (ROOT / PAGE).read_text()


NONE = {"place": set(), "word": set(), "twice": set(), "state": set(), "table": set()}


def test_words_are_those_of_the_code(page, module):
    assert wrong(page, module) == NONE


def test_the_page_was_understood(page, module):
    """Each row of the table, and states that are known."""
    assert len(rows(page)) == len(re.findall(r"^\| (?!word|-)", page, re.M)) >= 30
    assert {"free", "live", "orphan", "refused", "isolated", "lost", "dead"} <= \
        states(module[TABLE]).keys()
    assert len(states(module[TABLE])) >= 18


@pytest.mark.parametrize("old, new, kind, found", [
    ("`nr_free`", "`nr_unused_frames`", "place", {"nr_unused_frames"}),
    ("`module/vm/vm.h`: `HIPEC_PAGE_LIVE`", "`module/core/core.h`: `HIPEC_PAGE_LIVE`", "place",
     {"HIPEC_PAGE_LIVE"}),
    ("| ghost |", "| spirit |", "word", {"HIPEC_PAGE_GHOST"}),
    ("`hipec_league_warm_up` | |", "`hipec_league_warm_up` | rehearse |", "word",
     {"hipec_league_warm_up"}),
    ("| live |", "| free |", "twice", {"free"}),
    ("| surplus |", "| excess |", "state", {"surplus"}),
])
def test_a_row_that_is_wrong_is_found(page, module, old, new, kind, found):
    assert page.count(old) == 1
    assert wrong(page.replace(old, new), module)[kind] == found


@pytest.mark.parametrize("line, kind, found", [
    (" *\tstale     HIPEC_PAGE_LIVE\n", "state", {"stale"}),
    (" *\tfree      HIPEC_PAGE_STALE\n", "table", {"HIPEC_PAGE_STALE"}),
])
def test_a_state_that_is_wrong_is_found(page, module, line, kind, found):
    """Planted as the last row of the table."""
    head = module[TABLE].replace(" *\n * HIPEC_FOLIO_* and", line + " *\n * HIPEC_FOLIO_* and")
    assert head != module[TABLE]
    assert wrong(page, {**module, TABLE: head}) == {**NONE, kind: found}


def test_a_rename_that_is_done_is_found(page, module):
    """The row says another word than the code."""
    text = {path: re.sub(r"\bhipec_league_warm_up\b", "hipec_league_rehearse", body)
            for path, body in module.items()}
    assert wrong(page, text)["place"] == {"hipec_league_warm_up"}


def test_a_comment_has_a_subject(module):
    assert not vague(module)


@pytest.mark.parametrize("line, found", [
    ("/* Nobody waits here. */", True),
    (" * @page: likewise\n */", True),
    ("int who;", False),
    ("/* As @who has it; whose it is. */", False),
])
def test_a_comment_without_one_is_found(module, line, found):
    path = "module/core/core.c"
    planted = module[path] + ("/*\n" if line.startswith(" *") else "") + line + "\n"
    assert bool(vague({**module, path: planted})) == found
