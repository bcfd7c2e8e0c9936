# SPDX-License-Identifier: GPL-2.0-only
"""That the VM core is run by its tests, nearly all of it."""

import coverage
from conftest import ROOT

# Percent of the lines of module/vm that user space must run.
LEAST = 90


def test_nearly_all_of_the_vm_core_runs():
    files = coverage.user_space()
    assert {f"module/vm/{path.name}" for path in (ROOT / "module/vm").glob("*.c")} <= set(files)
    run, lines, _, _ = coverage.total(files)
    assert 100 * run >= LEAST * lines, {name: file.missed() for name, file in files.items()}
