#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print what the docs cite of a results.json of demo.py.

    cited.py FILE

For mru in each cell: its time as a share of the page cache's with the best
advice, and whether that is what the project wants; of 64 passes also its pages
and time as a share of fifo2's, beside the paper's numbers.
"""

import json
import pathlib
import sys

# (workload, frames, passes): most of the best advice's time that the project wants.
GOALS = {("join", 14848, 8): 0.30, ("join", 6656, 8): 0.75}

# hipec-1997, Table V: MRU's elapsed time as a share of LRU's, by frames.
TABLE_V = {14848: 0.0472, 10752: 0.2994, 6656: 0.5685, 2560: 0.8369}


def against_fifo2(row, rows):
    """The paper's comparison: mru against what a recency policy reads."""
    fifo2 = next(r for r in rows if r["policy"] == "fifo2" and all(
        r[key] == row[key] for key in ("disk", "workload", "frames")))
    return (f"{row['disk_pages'] / fifo2['disk_pages']:.2%} of fifo2's pages, "
            f"{row['elapsed_ns'] / fifo2['elapsed_ns']:.2%} of its time "
            f"(the paper: {TABLE_V[row['frames']]:.2%})")


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
        if row["of_passes"] == 64:
            parts.append(against_fifo2(row, rows))
        print(f"{row['disk']} {row['workload']} {row['memory_mb']} MB, {row['variant']}: "
              + "; ".join(parts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
