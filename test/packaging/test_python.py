# SPDX-License-Identifier: GPL-2.0-only
"""The Python package beside what test_install.py has of it: files in place, and the wheel."""

import os
import re
import shutil
import subprocess
import zipfile

import pytest

from conftest import ROOT
from test_install import PYTHON, python, root  # noqa: F401

import pywheel  # noqa: E402  (packaging/pywheel.py)

pytestmark = pytest.mark.user


COMMAND = """#!/bin/sh
printf '%s\\n' "$*" >>{log}
case $1 in
attach) echo 7 ;;
status) echo '[{{"id": 6}}, {{"id": 7, "policy": "mru"}}]' ;;
swap) echo "hipec swap: no such param" >&2; exit 1 ;;
esac
"""
ATTACH = """
import pathlib
with hipec.attach([pathlib.Path("a b"), "c"], "mru", "2G", cgroups="web", params={"n": 3}) as files:
    print(files.id, files.status())
    try:
        files.set_param("m", 4)
    except hipec.Error as error:
        print(error.strerror)
    files.detach("c")
try:
    hipec.Attachment(5).status()
except hipec.Error as error:
    print(error.strerror)
"""


def test_python_attaches(root, tmp_path):  # noqa: F811
    """What the command is asked, which stands beside the package; and what it says."""
    package = tmp_path / "lib/python3/dist-packages"
    shutil.copytree(root / "usr/lib/python3/dist-packages", package)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/hipec").write_text(COMMAND.format(log=tmp_path / "log"))
    (tmp_path / "bin/hipec").chmod(0o755)
    got = subprocess.run([PYTHON, "-B", "-c", f"import hipec\n{ATTACH}"], text=True, check=False,
                         capture_output=True, env={"PYTHONPATH": str(package)})
    assert got.stderr == ""
    assert got.stdout.splitlines() == ["7 {'id': 7, 'policy': 'mru'}", "hipec swap: no such param",
                                       "there is no container 5 of yours"]
    assert (tmp_path / "log").read_text().splitlines() == [
        "attach --policy mru --budget 2G --param n=3 --cgroup web -- a b c", "status --json",
        "swap --param 7 m=4", "detach 7 c", "detach 7", "status --json"]


def test_python_says_what_the_command_says(root, tmp_path):  # noqa: F811
    if os.path.exists("/dev/hipec"):
        pytest.skip("the module is loaded here")
    (tmp_path / "data").write_text("x")
    got = python(root, """
try:
    hipec.attach("data", "mru", 64)
except hipec.Error as error:
    print(error.strerror)
""", f"{root}/usr/lib", tmp_path)
    assert got.stdout.startswith("hipec attach: /dev/hipec is missing"), got.stderr


RAISED = """
def fails(function, *args, **more):
    try:
        function(*args, **more)
    except hipec.Error as error:
        print(f"{error.errno}: {error.filename or error.strerror}")
    else:
        print("nothing")
fails(hipec.sim, "no.trace")
fails(hipec.sim, "a" + chr(0))
fails(hipec.sweep, {"traces": "no"}, output="no/folder")
fails(hipec.sweep, "no.toml")
fails(hipec.policy_file, "../mru")
fails(hipec.Container, "no.hpo", 8)
fails(hipec.attach, "a" + chr(0), "mru", 8)
"""


def test_python_raises_nothing_but_its_own_errors(root, tmp_path):  # noqa: F811
    """One that the system, the command or a package has raised becomes one."""
    got = python(root, RAISED, f"{root}/usr/lib", tmp_path)
    assert got.stderr == ""
    assert re.fullmatch("""\
22: hipec sim: no.trace: No such file or directory
22: embedded null byte
2: no/folder.json
22: hipec sweep: .*
2: ../mru
2: (no.hpo|/dev/hipec: .*)
22: embedded null byte
""", got.stdout), got.stdout


def test_a_wheel_has_what_make_install_has(root, tmp_path):  # noqa: F811
    """pip builds it without a network, and without writing into the sources."""
    if subprocess.run([PYTHON, "-m", "pip", "--version"], capture_output=True, check=False).returncode:
        pytest.skip("no pip")
    done = subprocess.run([PYTHON, "-m", "pip", "install", "--target", tmp_path / "site", "--no-index",
                           "--no-deps", "--no-compile", ROOT], capture_output=True, text=True,
                          check=False, env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"})
    assert done.returncode == 0, done.stderr
    installed = root / "usr/lib/python3/dist-packages/hipec"
    assert {path.name: path.read_bytes() for path in (tmp_path / "site/hipec").iterdir()} == \
        {path.name: path.read_bytes() for path in installed.iterdir() if path.is_file()}
    version = re.search(r"^VERSION := (.*)", (ROOT / "Makefile").read_text(), re.M)[1]
    got = subprocess.run([PYTHON, "-B", "-c", "import hipec, importlib.metadata as of\n"
                          "print(hipec.__version__, of.version('hipec'), hipec.__file__)"], text=True,
                         capture_output=True, check=False, cwd=tmp_path,
                         env={"PYTHONPATH": str(tmp_path / "site")})
    assert got.stdout.split() == [version, version, f"{tmp_path}/site/hipec/__init__.py"], got.stderr


def test_the_same_sources_make_the_same_wheel(tmp_path):  # noqa: F811
    """And its record is right: sizes and sums of all that is in it."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        pywheel.build_wheel(tmp_path / name)
    one, other = (next(path.glob("*.whl")) for path in sorted(tmp_path.iterdir()))
    assert one.read_bytes() == other.read_bytes()
    with zipfile.ZipFile(one) as archive:
        about = f"hipec-{pywheel.version()}.dist-info"
        rows = [row.split(",") for row in archive.read(f"{about}/RECORD").decode().splitlines()]
        assert [row[0] for row in rows] == archive.namelist()
        for name, digest, size in rows[:-1]:
            data = archive.read(name)
            assert (digest, size) == (f"sha256={pywheel.digest(data)}", str(len(data)))
