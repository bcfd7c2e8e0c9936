#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""A clean Debian of the distribution's archive, and in it what a new user types.

    clean.py [--keep DIR] SUITE...        bookworm (12), trixie (13)

In a root of mmdebstrap's, without recommended packages, for each release: make says what is
missing; README.md's blocks, as printed; the quick tests of check-fast; make deb, and the packages
installed, for which DKMS builds the module. Prints a line a step. Exit status 1 after the first
that fails, with what it said. Needs root, the archive, and half an hour a release on two CPUs.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]

APT = "apt-get -y -qq --no-install-recommends"


class Failed(Exception):
    """A step did not do what the README says."""


def blocks(page):
    """The blocks of code of a document, each as its lines."""
    found = re.split(r"^```.*\n", (ROOT / page).read_text(), flags=re.M)
    return [block.splitlines() for block in found[1::2]]


def needs():
    """The README's line of apt."""
    return " ".join(re.search(r"`(sudo apt install make [^`]*)`",
                              (ROOT / "README.md").read_text())[1].split())


def one_block(begin):
    """The README's block whose first line begins so."""
    return next(block for block in blocks("README.md") if block[0].startswith(begin))


def shown(block):
    """[(command, the lines that it prints)] of a block with $ before commands."""
    found = []
    for line in block:
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


class Clean:
    """A Debian below a folder, with this tree in /hipec."""

    def __init__(self, suite, where):
        self.where, self.begin = where, time.monotonic()
        made = subprocess.run(["mmdebstrap", "--variant=minbase", "--dpkgopt=force-unsafe-io",
                               suite, where], text=True, capture_output=True, check=False)
        if made.returncode:
            raise Failed(f"mmdebstrap: {made.stderr.strip()}")
        files = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True,
                               check=True).stdout
        tree = subprocess.run(["tar", "-C", ROOT, "-c", "--null", "-T", "-"], input=files,
                              capture_output=True, check=True).stdout
        shutil.copy("/etc/resolv.conf", where / "etc")
        (where / "hipec").mkdir()
        subprocess.run(["tar", "-x", "-C", where / "hipec", "--no-same-owner"], input=tree,
                       check=True)

    def run(self, command, fails=False):
        """Run a shell command in /hipec, as root: what it printed, on both streams."""
        # There is no sudo, and apt may not ask.
        command = command.replace("sudo apt install", f"{APT} install")
        got = subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", f"--mount-proc={self.where}/proc",
             "sh", "-ec", 'mount -t devpts -o ptmxmode=0666 devpts "$1/dev/pts"\n'
             'exec chroot "$1" /bin/bash -ec "$2"', "sh", self.where, f"cd /hipec; {command}"],
            text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
            env={"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root",
                 "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"})
        if bool(got.returncode) != fails:
            raise Failed(f"{command}\n\n{got.stdout}")
        return got.stdout

    def said(self, step):
        """A line for a step that went well."""
        print(f"{time.monotonic() - self.begin:6.0f} s  {step}", flush=True)


def make_says_what_is_missing(root):
    root.run(f"apt-get -qq update; {APT} install make")
    text = root.run("make", fails=True)
    if "bison is missing: apt install bison\n" not in text:
        raise Failed(f"make does not say that bison is missing\n\n{text}")


def readme_builds_and_tries(root):
    """The line of apt; then commands in one shell, each with what it is said to print."""
    root.run(needs())
    commands = shown(one_block("$ make"))
    mark = "-- next command --"
    got = root.run(f"\necho {mark}\n".join(command for command, _ in commands)).split(f"{mark}\n")
    for (command, lines), text in zip(commands[1:], got[1:]):
        if text.splitlines() != lines:
            raise Failed(f"{command}\n\nprints\n\n{text}\nand not\n\n" + "\n".join(lines))
    root.run("\n".join(["printf 'r 0 10\\nr 0 10\\n' >trace", *one_block("build/ampc")]))


def check_fast_passes(root):
    root.run("vm-images/packages.sh")
    root.run("git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm a")
    root.run("make check-fast")


def packages_are_installed(root):
    """DKMS builds for the kernel whose headers are there."""
    root.run(f"{APT} install linux-headers-amd64")
    deb = one_block("make deb")
    root.run(deb[0])
    status = root.run("dkms status")
    if "installed" not in status:
        raise Failed(f"dkms status says {status}")
    root.run("cd /tmp && hipec --version && ampc -o x.hpo /usr/share/hipec/policies/mru.hp")


STEPS = (make_says_what_is_missing, readme_builds_and_tries, check_fast_passes,
         packages_are_installed)


def check(suite, where, steps=STEPS):
    """All steps in a new root of @suite below @where; Failed if one fails."""
    root = Clean(suite, where)
    root.said(f"{suite}: a clean root")
    for step in steps:
        step(root)
        root.said(f"{suite}: {step.__name__.replace('_', ' ')}")


def main():
    """What a person calls."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR",
                        help="make the roots there, and leave them")
    parser.add_argument("suites", nargs="+", metavar="SUITE")
    args = parser.parse_args()
    where = args.keep or pathlib.Path(tempfile.mkdtemp(prefix="hipec-clean-"))
    try:
        for suite in args.suites:
            (where / suite).mkdir(parents=True)
            check(suite, where / suite)
    except Failed as failed:
        print(f"clean.py: {failed}", file=sys.stderr)
        return 1
    finally:
        if not args.keep:
            shutil.rmtree(where)
    return 0


if __name__ == "__main__":
    sys.exit(main())
