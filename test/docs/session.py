# SPDX-License-Identifier: GPL-2.0-only
"""Shell sessions that documents show: what is typed, and what comes of it."""

import os
import re
import subprocess

from conftest import BUILD, ROOT


def commands(session):
    """[(command, what it prints)] of the text between a document's fences."""
    return re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, re.M)


def run(pairs, folder, scratch, tools=(BUILD,), normal=str, env=None):
    """Run @pairs as one session from the source folder: each command ends well, and prints what is
    shown, as far as normal() leaves it. @folder, below /tmp in the document, is in @scratch here;
    @tools come first in PATH, as the document's export has the build."""
    where, env = ROOT, {**os.environ, **(env or {})}
    for command, output in pairs:
        command = command.replace(f"/tmp/{folder}", str(scratch / folder))
        if command.startswith("cd "):
            where = command[3:]
        elif command.startswith("export "):
            assert command == "export HIPEC=$PWD PATH=$PWD/build:$PATH"
            env.update(HIPEC=str(ROOT), PATH=":".join([*map(str, tools), env["PATH"]]))
        else:
            done = subprocess.run(["sh", "-c", f"{{ {command}; }} 2>&1"], text=True, cwd=where,
                                  stdout=subprocess.PIPE, check=False, env=env)
            assert normal(done.stdout) == normal(output), command
            yield command, done.returncode
