# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command hipec, run for an answer."""

from __future__ import annotations

import os
import subprocess
from typing import Any, Mapping, Sequence, Union

from hipec._error import Error
from hipec._find import command

Path = Union[str, "os.PathLike[str]"]


def listed(what: Any) -> list[str]:
    """One thing, or several, as words."""
    one = isinstance(what, (str, int, os.PathLike))
    return [os.fspath(item) if isinstance(item, os.PathLike) else str(item)
            for item in ([what] if one else what)]


def run(verb: str, args: Sequence[str], good: Sequence[int] = (0,),
        env: Mapping[str, str] | None = None) -> str:
    """What a verb prints; env: more of the environment. Raises Error with what it said if its exit
    code is not a good one."""
    program = command()
    try:
        done = subprocess.run([program, verb, *args], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, env={**os.environ, **(env or {})})
    except ValueError as error:     # a null byte
        raise Error(22, str(error)) from None
    except OSError as error:
        raise Error(error.errno, error.strerror, program) from None
    if done.returncode not in good:
        raise Error(22, done.stderr.strip() or f"hipec {verb} ended with {done.returncode}")
    return done.stdout
