# SPDX-License-Identifier: LGPL-2.1-or-later
"""hipec sweep: many policies on many traces, as a table."""

from __future__ import annotations

import importlib
import json
import os
import pathlib
import sys
from typing import Any, Mapping

from hipec._command import run
from hipec._error import Error


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
        try:
            path.write_text(json.dumps(plan), encoding="utf-8")
        except OSError as error:
            raise Error(error.errno, error.strerror, str(path)) from None
    else:
        path = pathlib.Path(plan)
        folder = pathlib.Path(output or path.with_suffix(".sweep"))
    args = ["--output", str(folder)]
    args += ["--jobs", str(jobs)] if jobs else []
    args += ["--scheduler", scheduler] if scheduler else []
    # 3: some rows have errors. The command looks for pyarrow, too, and says how to install it.
    run("sweep", [*args, "--", str(path)], (0, 3), {"HIPEC_PYTHON": sys.executable})
    try:
        # Imported here alone, as nothing else of the package needs it.
        return importlib.import_module("pyarrow.parquet").read_table(folder / "results.parquet")
    except (ImportError, OSError, ValueError) as error:
        raise Error(2, str(error), str(folder / "results.parquet")) from None
