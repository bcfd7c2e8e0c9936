# SPDX-License-Identifier: GPL-2.0-only
"""That the VM core and the frame manager are run by their tests, nearly all of them."""

import pytest

import coverage
from conftest import ROOT

pytestmark = pytest.mark.user

# Percent of the lines of module/vm and module/core that user space must run.
LEAST = 90


def test_nearly_all_of_the_portable_code_runs():
    files = coverage.user_space()
    for folder in "vm", "core":
        sources = (ROOT / "module" / folder).glob("*.c")
        assert {f"module/{folder}/{path.name}" for path in sources} <= set(files)
    run, lines, _, _ = coverage.total(files)
    assert 100 * run >= LEAST * lines, {name: file.missed() for name, file in files.items()}
