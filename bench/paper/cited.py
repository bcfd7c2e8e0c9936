#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print what the docs cite of a results.json of demo.py.

    cited.py FILE

For mru in each cell: its time as a share of the page cache's with the best
advice, and whether that is what the project wants.
"""

import json
import pathlib
import sys

# (workload, frames, passes): most of the best advice's time that the project wants.
GOALS = {("join", 14848, 8): 0.30, ("join", 6656, 8): 0.75}

def main():
    """Read, compare, print."""
    if len(sys.argv) != 2:
        print("usage: cited.py build/demo/results.json", file=sys.stderr)
        return 2
    try:
        rows = json.loads(pathlib.Path(sys.argv[1]).read_text())
    except OSError as error:
        print(f"cited.py: {error}", file=sys.stderr)
        return 1
    for row in rows:
        if row["policy"] != "mru":
            continue
        share = row["of_best_advice"]
        parts = [f"{share:.1%} of the best advice's time"]
        goal = GOALS.get((row["workload"], row["frames"], row["of_passes"]))
        if goal:
            parts.append(f"goal {goal:.0%}, {'met' if share <= goal else 'NOT met'}")
        print(f"{row['disk']} {row['workload']} {row['memory_mb']} MB, {row['variant']}: "
              + "; ".join(parts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
