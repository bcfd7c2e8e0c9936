# SPDX-License-Identifier: GPL-2.0-only
"""bench/run.py runs each benchmark that boots guests, with its options; what a guest is told to
do is shell, and uses words that the guest has. No guest is booted."""

import re
import subprocess
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT))

from bench import run  # noqa: E402
from bench.lib import guests  # noqa: E402

COST = re.search(r"^GUEST_BENCHES := (.*)$", (ROOT / "bench/cost/build.mk").read_text(), re.M)[1]
NAMES = [*(f"cost.{name}.table" for name in COST.split() if name != "auto-cost"),
         "cost.cache.league", *(f"paper.{name}" for name in (
             "demo", "nlj", "rdr", "smpeg", "mixes", "advice"))]
GUEST_SH = "".join((ROOT / "bench/lib" / name).read_text() for name in ("disk.sh", "guest.sh"))

# What a line may begin with, beside a function of these files.
COMMANDS = {"cd", "dd", "dmesg", "echo", "fdisk", "grep", "hipec", "insmod", "mkdata", "mkdir",
            "mkfs.btrfs", "mkfs.ext4", "mkfs.xfs", "mkindex", "modprobe", "mount", "rm", "rmmod",
            "scale", "sleep", "sync", "truncate", ":"}


@pytest.fixture(params=NAMES)
def scripts(request, monkeypatch, tmp_path):
    """What the first guests of a benchmark are told to do."""
    module, parser = run.benchmark(request.param)
    found = []
    real = subprocess.Popen

    def popen(argv, **kwargs):
        """A guest that fails at once."""
        found.append(argv[argv.index("--") + 1:])
        return real(["false"], **kwargs)

    monkeypatch.setattr(guests.subprocess, "Popen", popen)
    monkeypatch.setattr(module, "predictions", lambda full: {}, raising=False)
    words = ["--files", "1000"] if request.param == "cost.tree.table" else []
    with pytest.raises(guests.Failed, match="failed"):
        module.bench(parser.parse_args(
            ["--kernel", "6.12", "--guest", "none", "--out", str(tmp_path), *words]))
    monkeypatch.undo()
    return found


def test_guests_are_told_shell_with_words_that_they_have(scripts):
    """Each function is defined, in the benchmark's own setup too."""
    assert scripts
    for shell, script, text in scripts:
        assert (shell, script) == ("sh", "/guest.sh")
        subprocess.run(["sh", "-n"], input=GUEST_SH + text, text=True, check=True)
        functions = set(re.findall(r"^(\w+)\(\)", GUEST_SH + text, re.M))
        # Without what fdisk reads, bodies of functions, and lines that go on.
        top = re.sub(r"^\{\n.*?^\}$|<<END.*?^END$|\\\n", "", text, flags=re.M | re.S)
        firsts = {line.split()[0] for line in top.splitlines() if line and "=$(" not in line}
        assert not {word for word in firsts if not word.endswith("()")} - functions - COMMANDS


def test_an_option_that_a_benchmark_has_not_is_refused(capsys):
    with pytest.raises(SystemExit):
        run.main("cost.idle.table", "--kernel", "6.12", "--guest", "x", "--out", "y", "--full")
    assert "unrecognized arguments: --full" in capsys.readouterr().err
