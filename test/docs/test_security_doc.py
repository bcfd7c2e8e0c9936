# SPDX-License-Identifier: GPL-2.0-only
"""docs/internals/security.md names bounds and their tests: each of them exists, and none of the
ioctls and of the module's parameters is missing."""

import re

import pytest

from conftest import ROOT

PAGE = ROOT / "docs/internals/security.md"
HEADERS = sorted((ROOT / "module/include/uapi").glob("*.h"))
SOURCES = [path for path in [*(ROOT / "module").rglob("*.[ch]")]
           if not path.is_relative_to(ROOT / "module/tests")]


def text_of(paths):
    return "\n".join(path.read_text() for path in paths)


def tables(page):
    """[{column: cell}] of all rows of all tables, without their rules."""
    rows, columns = [], None
    for line in page.split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            columns = None
        elif not columns:
            columns = cells
        elif set(line) - set("|-"):
            assert len(cells) == len(columns), line
            rows.append(dict(zip(columns, cells)))
    return rows


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


def names_of_tests():
    """Names of the guest's tests, of KUnit cases, of pytest's functions and VM files."""
    guest = re.findall(r'^\t\{ "(\w+)",', text_of((ROOT / "test/guest/program").glob("*.c")), re.M)
    kunit = re.findall(r"KUNIT_CASE\w*\((\w+)", text_of((ROOT / "module/tests").glob("*.c")))
    fast = re.findall(r"^def (test_\w+)", text_of((ROOT / "test").rglob("test_*.py")), re.M)
    assert guest and kunit and fast
    return {*guest, *kunit, *fast, *(path.name for path in (ROOT / "test/vm/cases").glob("*.hpt"))}


def defined():
    """Constants: of a #define or an enum."""
    return set(re.findall(r"^(?:#define\s+|\s+)(HIPEC_\w+)", text_of(SOURCES), re.M))


def parameters():
    return set(re.findall(r"\bmodule_param(?:_cb|_named)?\((\w+)", text_of(SOURCES)))


def ioctls():
    """{name: number in hexadecimal} of all that the headers have."""
    return dict(re.findall(r"#define (HIPEC_IOC_\w+)\s+_IO\w*\('h', (0x[0-9a-f]+)",
                           text_of(HEADERS), re.I))


def missing(page):
    """What the page names and is not there, and what is there and not named."""
    rows, tests = tables(page), names_of_tests()
    found = [f"no such test: {name}" for row in rows for name in quoted(row.get("test", ""))
             if name not in tests]
    found += [f"no test: {row}" for row in rows if "test" in row and not quoted(row["test"])]
    found += [f"no such constant: {name}" for name in sorted(set(re.findall(r"\bHIPEC_\w+", page)))
              if not name.startswith("HIPEC_IOC_") and name not in defined()]
    bounds = {name for row in rows for name in quoted(row.get("bound", ""))
              if re.fullmatch(r"[a-z]+(_[a-z]+)*", name)}
    listed = {name for row in rows for name in quoted(row.get("parameter", ""))}
    found += [f"no such parameter: {name}" for name in sorted((bounds | listed) - parameters())]
    found += [f"parameter that is not listed: {name}" for name in sorted(parameters() - listed)]
    calls = {row["call"]: row["number"] for row in rows if "call" in row}
    found += [f"ioctl without a row, or with another number: {name} {number}"
              for name, number in ioctls().items()
              if calls.get(name, "").lower() != number.lower()]
    found += [f"no such ioctl: {name}" for name in calls if name not in ioctls()]
    return found


def test_what_the_page_names_exists_and_nothing_is_missing():
    assert not missing(PAGE.read_text())
    assert len(ioctls()) >= 10 and len(parameters()) >= 10


@pytest.mark.parametrize("was, becomes, said", [
    ("`looks_are_bounded`", "`looks_are_boundless`", "no such test: looks_are_boundless"),
    ("`HIPEC_MAX_LOOKS`", "`HIPEC_MAX_GLANCES`", "no such constant: HIPEC_MAX_GLANCES"),
    ("`quantum_us`, looked", "`quantum_ms`, looked", "no such parameter: quantum_ms"),
    ("| `quota_mb` | of one", "| quota | of one", "parameter that is not listed: quota_mb"),
    ("HIPEC_IOC_SAMPLE | 0x89", "HIPEC_IOC_SAMPLE | 0x8e",
     "ioctl without a row, or with another number: HIPEC_IOC_SAMPLE 0x89"),
    ("| HIPEC_IOC_HINT |", "| HIPEC_IOC_WINK |", "no such ioctl: HIPEC_IOC_WINK"),
])
@pytest.mark.more
def test_a_wrong_page_is_found_out(was, becomes, said):
    page = PAGE.read_text()
    assert was in page
    assert said in missing(page.replace(was, becomes))
