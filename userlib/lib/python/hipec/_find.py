# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files that were installed with the package, wherever that is."""

from __future__ import annotations

import os
import pathlib
import shutil
import sys

from hipec._error import Error


def _prefixes() -> list[str]:
    """Where this was installed: above lib/python...; then where others are."""
    here = [str(folder.parent) for folder in pathlib.Path(__file__).resolve().parents
            if folder.name == "lib"]
    return [*here[:1], sys.prefix, "/usr/local", "/usr"]


def policy_file(name: str) -> str:
    """The compiled policy that a name means: a .hpo file, or a shipped one.

    Raises Error if there is no such policy."""
    if name.endswith(".hpo"):
        return name
    folders = os.environ.get("HIPEC_POLICY_PATH", "").split(":")
    folders += [f"{prefix}/share/hipec/policies" for prefix in _prefixes()]
    for folder in filter(None, folders):
        path = pathlib.Path(folder, f"{name}.hpo")
        if "/" not in name and path.is_file():
            return str(path)
    raise Error(2, "want a .hpo file or a shipped policy", name)


def command() -> str:
    """The command hipec: of our own prefix, of PATH, or of the usual prefixes."""
    own, *others = [f"{prefix}/bin/hipec" for prefix in _prefixes()]
    for path in (own, shutil.which("hipec"), *others):
        if path and os.access(path, os.X_OK):
            return path
    raise Error(2, "the command hipec is not installed (package hipec-tools)")
