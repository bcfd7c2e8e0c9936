# SPDX-License-Identifier: GPL-2.0-only
"""Documents that are generated say what their sources say."""

import subprocess

from conftest import BUILD, ROOT


def test_command_reference_is_what_the_table_says():
    """Else run `make docs`."""
    generated = subprocess.run([BUILD / "docs/generate/commands"], text=True, check=True,
                               capture_output=True).stdout
    assert (ROOT / "docs/policy/commands.md").read_text() == generated
