# SPDX-License-Identifier: GPL-2.0-only
"""Documents that are generated say what their sources say."""

import re
import subprocess

from conftest import BUILD, ROOT


def test_command_reference_is_what_the_table_says():
    """Else run `make docs`."""
    generated = subprocess.run([BUILD / "docs/generate/commands"], text=True, check=True,
                               capture_output=True).stdout
    assert (ROOT / "docs/policy/commands.md").read_text() == generated


def test_numbers_of_the_readme_are_those_of_the_measurements():
    """The best without hipec, and the best policy, of rows that both have."""
    readme, page = (ROOT / "README.md").read_text(), (ROOT / "docs/applications.md").read_text()
    short = re.findall(r"^\| `([\w.]+)[^|]*\| ([\d,]+) \| ([\d,]+) \|$", readme, re.M)
    assert len(short) >= 3
    for name, best, ours in short:
        row = re.search(rf"^\| `{name.split('.')[0]}` \|(.*)", page, re.M)[1].split("|")
        reads = [re.match(r"[\d,]*", cell.strip())[0] for cell in row[2:10]]
        least = [min(int(cell.replace(",", "")) for cell in some if cell) for some in (reads[:3], reads[3:])]
        assert [f"{number:,}" for number in least] == [best, ours], name
