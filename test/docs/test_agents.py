# SPDX-License-Identifier: GPL-2.0-only
"""AGENTS.md: its verbs, options, schemas and exit codes are there, and its first lines run."""

import os
import re
import subprocess

import pytest

from conftest import BUILD, ROOT

PAGE = (ROOT / "AGENTS.md").read_text()
ENV = {**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}", "HIPEC_POLICY_PATH": str(BUILD / "policies")}
COMMANDS = re.findall(r"^\$ hipec (.*)$", PAGE, re.M)


def hipec(*args, **kwargs):
    return subprocess.run([BUILD / "hipec", *args], capture_output=True, text=True, check=False, env=ENV, **kwargs)


def test_verbs_and_options_are_there():
    assert len(COMMANDS) >= 10
    for command in COMMANDS:
        verb, *rest = command.split(" -- ")[0].split()
        text = hipec("help", verb).stdout
        assert text.startswith(f"usage: hipec {verb} "), verb
        assert all(word in text for word in rest if word.startswith("--")), command


def test_json_is_where_it_is_said_to_be():
    said = set(re.findall(r"\w+", PAGE.split("`--json` is an option of ")[1].split(". `build")[0])) - {"and"}
    verbs = set(re.findall(r"^  (\w+) ", hipec("help").stdout, re.M))
    assert said == {verb for verb in verbs if "--json" in hipec("help", verb).stdout}
    schemas = {path.stem.split("-")[0] for path in (BUILD / "schemas").glob("*.json")}
    assert said - {"sweep"} <= schemas | {"sweep"}


@pytest.mark.usefixtures("quick_start")
def test_what_needs_no_module_runs(tmp_path):
    (tmp_path / "data").write_bytes(bytes(4096 * 1000))
    for command in COMMANDS[:5]:
        line = f"hipec {command}".replace("COMMAND...", "cat data data data")
        done = subprocess.run(line, shell=True, cwd=tmp_path, env=ENV, capture_output=True, check=False)
        assert done.returncode == 0, (line, done.stderr)
    assert hipec("sim", "--verdict", "--policy", "fifo", "--frames", "500", "app.trace", cwd=tmp_path).returncode == 3
    (tmp_path / "once").write_text("r 0 5000\n")
    assert hipec("try", "once", cwd=tmp_path).returncode == 4
    assert hipec("try", "--", "/no/such", cwd=tmp_path).returncode == 127
    assert hipec("sim", "--frames", "x", "once", cwd=tmp_path).returncode == 2
