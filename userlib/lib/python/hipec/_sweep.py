# SPDX-License-Identifier: LGPL-2.1-or-later
"""hipec sweep: many policies on many traces, as a table."""

from __future__ import annotations

import importlib
import json
import os
import pathlib
import subprocess
import sys
from typing import Any, Mapping

from hipec._error import Error
from hipec._find import command


def sweep(plan: str | os.PathLike[str] | Mapping[str, Any], output: str | os.PathLike[str] = "",
          jobs: int = 0, scheduler: str = "") -> Any:
    """Run a plan of hipec sweep; rows that are there already are not run again.

    plan    a file, or a dict with what a file has: {"traces": ["*.trace"], "policies": ...}
    output  folder of the results; without it the plan's name with .sweep, or for a dict
            "plan.sweep"
    jobs    runs at a time; 0: as many as there are processors
    scheduler  of a Dask cluster, which runs it in the place of this machine: "tcp://host:8786"

    Returns a pyarrow.Table with a row a run: docs/user/sweeps.md has the columns. Rows of bad
    traces have their error. Raises Error with what hipec sweep said if something is wrong.
    """
    if isinstance(plan, Mapping):
        folder = pathlib.Path(output or "plan.sweep")
        path = folder.with_name(folder.name + ".json")
        path.write_text(json.dumps(plan), encoding="utf-8")
    else:
        path = pathlib.Path(plan)
        folder = pathlib.Path(output or path.with_suffix(".sweep"))
    args = [command(), "sweep", "--output", str(folder)]
    args += ["--jobs", str(jobs)] if jobs else []
    args += ["--scheduler", scheduler] if scheduler else []
    done = subprocess.run([*args, "--", str(path)], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL,
                          env={**os.environ, "HIPEC_PYTHON": sys.executable})
    # 3: some rows have errors.
    if done.returncode not in (0, 3):
        raise Error(22, done.stderr.strip() or f"hipec sweep ended with {done.returncode}")
    # Imported here alone, as nothing else of the package needs it.
    return importlib.import_module("pyarrow.parquet").read_table(folder / "results.parquet")
