# SPDX-License-Identifier: LGPL-2.1-or-later
"""hipec sim: policies on traces, without the module."""

from __future__ import annotations

import json
from typing import Any, Sequence

from hipec._command import Path, listed, run


def sim(traces: Path | Sequence[Path],
        policies: str | Sequence[str] = (), frames: int | str | Sequence[int | str] = (),
        mode: str = "mapped", options: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Count the faults of policies on traces; needs neither the module nor root.

    traces    a file of hipec trace or another form, or several
    policies  names, as hipec sim has them: "lru", "mru", "own.hp"; none: its usual ones
    frames    numbers of frames, or texts: "25%", "512M"; none: 25% and 50%
    mode      "mapped" or "exact"
    options   more of hipec sim, as ["--warm-up", "25%"]

    Returns a dict for each trace, number of frames and policy, with the members of
    share/hipec/schemas/sim.json: "policy", "frames", "faults", "gain_percent" and so on.
    Raises Error with what hipec sim said if something is wrong.
    """
    args = ["--json", "--mode", mode]
    if policies:
        args += ["--policy", ",".join(listed(policies))]
    if frames:
        args += ["--frames", ",".join(listed(frames))]
    # Codes above 2 are verdicts.
    rows: list[dict[str, Any]] = json.loads(
        run("sim", [*args, *options, "--", *listed(traces)], (0, 3, 4)))
    return rows
