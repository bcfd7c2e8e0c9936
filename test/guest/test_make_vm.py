# SPDX-License-Identifier: GPL-2.0-only
"""make vm: what a person types there, as a script."""

import re
import subprocess

import pytest

from conftest import ROOT, need


@pytest.mark.guest
def test_make_vm_runs_a_script(tmp_path):
    """On standard input; with a file of this machine, and policies by their names, as the
    documents have them."""
    need("6.12")
    (tmp_path / "app.trace").write_text("r 0 9\nr 0 9\n")
    script = ("hipec sim --policy mru --frames 5 app.trace\n"
              "hipec run --policy mru --budget 26M -- cat outer outer >/dev/null\n"
              "hipec doctor | grep module\n")
    done = subprocess.run(["make", "-s", "-C", ROOT, "vm-run",
                           f"FILES={tmp_path / 'app.trace'}"], input=script, text=True,
                          capture_output=True, check=False, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^mru +5 +\d+", done.stdout, re.M), done.stdout
    assert "hipec run: mru, 6656 pages in place: 1 file" in done.stdout
    assert "it is loaded" in done.stdout
