# SPDX-License-Identifier: GPL-2.0-only
"""docs/internals/design.md names files: each is there, and each of the
module's sources is named."""

import re

from conftest import ROOT

PAGE = (ROOT / "docs/internals/design.md").read_text()

# Of a file or a folder: with its whole path, or in the drawings without its folders.
NAME = r"(?:[\w-]+/)*[\w-]+\.[ch]\b|(?:[\w-]+/)+(?=[\s,:)`*])"


def named():
    return set(re.findall(NAME, PAGE))


def is_there(name):
    return (ROOT / name).exists() or any(any((ROOT / top).rglob(name))
                                         for top in ("module", "userlib"))


def test_all_that_is_named_is_there():
    assert len(named()) > 60
    assert not [name for name in sorted(named()) if not is_there(name)]


def test_every_source_of_the_module_has_its_row():
    """One row each, so that a file's purpose is said once."""
    # The map, before it, is of folders.
    rows = "\n".join(re.findall(r"^\| (`.*?) \|", PAGE[PAGE.index("\n## Layers"):], re.M))
    listed = re.findall(r"`([^`]+)`", rows)
    sources = [path.relative_to(ROOT).as_posix() for path in
               (ROOT / "module").rglob("*.c") if "tests" not in path.parts]
    assert sorted(listed) == sorted(sources)
