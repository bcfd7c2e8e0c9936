# SPDX-License-Identifier: GPL-2.0-only
"""The first command works: README.md's blocks, quick tests and the packages on a clean Debian 12
and on a clean Debian 13, of the distribution's archive; and what `make` needs is said the same
everywhere."""

import re
import subprocess

import pytest

import clean
from conftest import ROOT, need_tools

# Of debian/control, beside what make needs: what packages are made with.
PACKAGING = {"debhelper-compat", "dh-dkms", "dh-python"}
# What it need not name: build-essential has them.
ESSENTIAL = {"make", "gcc", "libc6-dev"}


@pytest.mark.night
@pytest.mark.parametrize("suite", ["bookworm", "trixie"])
def test_readme_works_on_a_clean_debian(suite, tmp_path):
    need_tools("mmdebstrap", "unshare")
    try:
        clean.check(suite, tmp_path / "root")
    except clean.Failed as failed:
        if str(failed).startswith("mmdebstrap"):
            pytest.skip(f"no archive of {suite} here: {failed}")
        pytest.fail(str(failed))


def named(text):
    """Packages that are named in a text of shell."""
    return set(re.findall(r"[a-z][a-z0-9+.-]+", text))


def test_what_make_needs_is_said_the_same_everywhere():
    """In README, in packages.sh, by a make that lacks it, and in Debian's package."""
    readme = named(clean.needs().removeprefix("sudo apt install"))
    script = (ROOT / "vm-images/packages.sh").read_text()
    assert named(re.search(r'^build="(.*?)"', script, re.M | re.S)[1]) == readme
    tools = (ROOT / "vm-images/tools.sh").read_text()
    assert set(re.findall(r"^(?:program|header) (\S+)", tools, re.M)) | {"make"} == readme
    control = (ROOT / "packaging/debian/control").read_text()
    depends = re.search(r"^Build-Depends:(.*?)^\S", control, re.M | re.S)[1]
    assert named(re.sub(r"\(.*?\)", "", depends)) - PACKAGING == readme - ESSENTIAL


def test_make_says_what_is_missing(tmp_path):
    """Each thing in a sentence; nothing, where nothing is."""
    script = ROOT / "vm-images/tools.sh"
    for name in ("sh", "cc", "flex", "ls"):
        (tmp_path / name).symlink_to(subprocess.run(["which", name], check=True, text=True,
                                                    capture_output=True).stdout.strip())
    lacks = subprocess.run([script], env={"PATH": str(tmp_path)}, text=True, capture_output=True,
                           check=False)
    assert (lacks.returncode, lacks.stderr) == (1, "bison is missing: apt install bison\n")
    assert subprocess.run([script], capture_output=True, check=True).stderr == b""
