#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Make a page or a text of the profile on standard input. hipec profile runs this.

    report.py --text -
    report.py --output FILE [--check]

--check only says whether it could be done.
"""

import json
import os
import pathlib
import signal
import sys
import tempfile

import data
import text

PLOTLY = ("the page is drawn by plotly, which is not there: apt install python3-plotly; "
          "--text and --json do without")


class Failed(Exception):
    """Said in one line."""


def drawer():
    """The module that makes pages; it needs a library."""
    try:
        import page
    except ImportError as error:
        raise Failed(PLOTLY) from error
    return page


def check(output):
    """Fail now, not behind a long simulation."""
    drawer()
    if output != "-" and not os.access(pathlib.Path(output).parent, os.W_OK):
        raise Failed(f"{output}: its folder cannot be written")


def write(output, content):
    """All of it or nothing."""
    if output == "-":
        sys.stdout.write(content)
        return
    path = pathlib.Path(output)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent,
                                     delete=False) as file:
        try:
            file.write(content)
            file.flush()
            os.chmod(file.fileno(), 0o666 & ~umask())
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise
    print(f"{output}: {len(content.encode()) / 2**20:.1f} MiB, for a browser")


def umask():
    """The process's mask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def main(what, output, *rest):
    """Do what the command line says."""
    if rest == ("--check",):
        check(output)
        return
    # Names of files may be any bytes.
    profile = data.sections(json.loads(sys.stdin.buffer.read().decode(errors="replace")))
    if what == "--text":
        text.write(profile, sys.stdout)
    else:
        write(output, drawer().page(profile))


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        main(*sys.argv[1:])
    except (Failed, OSError) as failure:
        sys.exit(f"hipec profile: {failure}")
