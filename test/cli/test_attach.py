# SPDX-License-Identifier: GPL-2.0-only
"""hipec attach and detach without the module: what they refuse, and that
docs/user/in-place.md has the words of refusals. test_guest.py has them at work."""

import re
import subprocess

import pytest

from conftest import BUILD, ROOT

ABSENT = "/dev/hipec is missing"


def hipec(*args):
    """(exit code, standard error)."""
    done = subprocess.run([BUILD / "asan/hipec", *args], capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("args, words", [
    (["attach"], "want --policy, --budget, and files or --cgroup"),
    (["attach", "--policy", "mru", "--budget", "64"], "want --policy, --budget, and files or --cgroup"),
    (["attach", "--policy", "mru", "file"], "want --policy, --budget, and files or --cgroup"),
    (["attach", "--policy", "mru", "--budget", "10%", "file"], "want memory (512M, 8G), pages (4096, 10k) or auto"),
    (["attach", "-p", "mru", "-b", "1M", "--cgroup", ""], "--cgroup: want a name, and 16 of them"),
    (["attach", "-p", "mru", "-b", "1M", "--least", "x", "-c", "a"], "want memory (256KiB, 1M)"),
    (["attach", "--policy", "mru", "--param", "x", "--budget", "1M", "file"], "--param"),
    (["detach"], "usage: hipec detach"),
    (["detach", "file"], "'file' is no container's number"),
])
def test_wrong_arguments_are_usage(args, words):
    """Exit code 2, and what is wrong with it."""
    code, error = hipec(*args)
    assert code == 2 and words in error


@pytest.mark.parametrize("args, words", [
    (["attach", "--policy", "nothing", "--budget", "64", "file"], "want a .hp or .hpo file"),
    (["attach", "--policy", "builtin", "--budget", "64", "file"], ABSENT),
    (["attach", "-p", "mru", "-b", "4M", "--contract", "file", "other"], ABSENT),
    (["attach", "-p", "mru", "-b", "auto", "--share", "file"], ABSENT),
    (["attach", "-p", "mru", "-b", "4M", "--cgroup", "a", "-c", "/sys/fs/cgroup/b"], ABSENT),
    (["detach", "1"], ABSENT),
    (["detach", "1", "file"], ABSENT),
])
def test_what_does_not_exist_is_refused(args, words, monkeypatch):
    """Exit code 1: first the policy, then the module."""
    monkeypatch.setenv("HIPEC_POLICY_PATH", str(BUILD / "policies"))
    code, error = hipec(*args)
    assert code == 1 and words in error


def test_doc_has_the_refusals_of_the_header():
    """Each but that which a file system that is known cannot have, and overlay's own."""
    header = (ROOT / "module/include/uapi/hipec_cache.h").read_text()
    texts = dict(re.findall(r'X\((\w+), +\d, "([^"]+)"\)', header))
    page = (ROOT / "docs/user/in-place.md").read_text()
    assert len(texts) == 8
    assert not [name for name, text in texts.items()
                if f"| {text} |\n" not in page and name not in ("NOT", "OVERLAY", "CACHE")]
