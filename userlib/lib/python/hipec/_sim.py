# SPDX-License-Identifier: LGPL-2.1-or-later
"""hipec sim: policies on traces, without the module."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any, Sequence

from hipec._error import Error
from hipec._find import command


def _list(what: Any) -> list[str]:
    """One thing, or several."""
    one = isinstance(what, (str, int, os.PathLike))
    return [os.fspath(item) if isinstance(item, os.PathLike) else str(item)
            for item in ([what] if one else what)]


def sim(traces: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        policies: str | Sequence[str] = (), frames: int | str | Sequence[int | str] = (),
        mode: str = "mapped", options: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Count the faults of policies on traces; needs neither the module nor root.

    traces    a file of hipec trace or another form, or several
    policies  names, as hipec sim has them: "lru", "mru", "own.hp"; none: its usual ones
    frames    numbers of frames, or texts: "25%", "512M"; none: 25% and 50%
    mode      "mapped" or "exact"
    options   more of hipec sim, as ["--warm-up", "25%"]

    Returns a dict for each trace, number of frames and policy, with the members of
    docs/user/schemas/sim.json: "policy", "frames", "faults", "gain_percent" and so on.
    Raises Error with what hipec sim said if something is wrong.
    """
    args = [command(), "sim", "--json", "--mode", mode]
    if policies:
        args += ["--policy", ",".join(_list(policies))]
    if frames:
        args += ["--frames", ",".join(_list(frames))]
    args += [*options, "--", *_list(traces)]
    try:
        done = subprocess.run(args, capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL)
    except OSError as error:
        raise Error(error.errno, error.strerror, args[0]) from None
    # Codes above 2 are verdicts.
    if done.returncode in (1, 2) or not done.stdout:
        raise Error(22, done.stderr.strip() or f"hipec sim ended with {done.returncode}")
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows
