# SPDX-License-Identifier: GPL-2.0-only
"""What a table of hipec sweep says of its policies: who wins how often, by how much, on which
traces. Ratios are of misses, to those of lru and of opt on the same trace with the same frames."""

import collections
import json
import math
import os
import re

NO_MISS = 0.5       # misses in the place of none: a ratio to 0 is none
PERCENTILES = (10, 50, 90)
CLOSE = 1e-9


def label(row):
    """A policy, and what its params were set to."""
    params = json.loads(row["params"] or "{}")
    return " ".join([row["policy"], *(f"{name}={value}" for name, value in sorted(params.items()))])


def is_opt(row):
    """Whether it knows the future."""
    return row["built_in"] and row["policy"].startswith("opt")


def ratio(row):
    """Misses an access."""
    return max(row["faults"], NO_MISS) / row["accesses"]


def mean(values):
    """The geometric one; None of nothing."""
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def percentile(values, percent):
    """With what is between two values in proportion; None of nothing."""
    values = sorted(values)
    if not values:
        return None
    place = (len(values) - 1) * percent / 100
    low, high = math.floor(place), math.ceil(place)
    return values[low] + (values[high] - values[low]) * (place - low)


def families(traces):
    """{trace: its family}: the folder, if there are several; else the letters that its name begins
    with, as zipf of zipf-12.trace."""
    folders = {os.path.dirname(trace) for trace in traces}
    if len(folders) > 1:
        return {trace: os.path.basename(os.path.dirname(trace)) or "." for trace in traces}
    return {trace: (re.match(r"[^\W\d_]+", os.path.basename(trace)) or ["others"])[0]
            for trace in traces}


def by_cell(rows):
    """{(trace, size): {label: row}}, of rows without an error."""
    cells = collections.defaultdict(dict)
    for row in rows:
        if not row["error"]:
            cells[row["trace"], row["size"]][label(row)] = row
    return cells


def reference(cell, name):
    """The row of lru or opt of a cell, or None."""
    return next((row for row in cell.values() if row["built_in"] and row["policy"] == name), None)


def winners(cell):
    """Those with the fewest misses, of those that do not know the future."""
    mine = {name: row["faults"] for name, row in cell.items() if not is_opt(row)}
    return {name for name, faults in mine.items() if faults == min(mine.values())}


def entry(name, cells):
    """What a policy did in some cells."""
    mine = [cell for cell in cells if name in cell]
    over = {base: [ratio(cell[name]) / ratio(row) for cell in mine
                   if (row := reference(cell, base))] for base in ("lru", "opt")}
    commands = [cell[name]["commands_per_access"] for cell in mine
                if cell[name]["commands_per_access"] is not None]
    return {"policy": name, "runs": len(mine), "wins": sum(name in winners(cell) for cell in mine),
            "ended": sum(bool(cell[name]["exit_kind"]) for cell in mine),
            "misses": mean(ratio(cell[name]) for cell in mine),
            "to_lru": mean(over["lru"]), "to_opt": mean(over["opt"]),
            "percentiles": {str(p): percentile(over["lru"], p) for p in PERCENTILES},
            "sorted": sorted(over["lru"]),
            "commands": sum(commands) / len(commands) if commands else None}


def front(entries):
    """Names of those that none beats in misses and in commands both."""
    costed = [one for one in entries if one["commands"] is not None]
    return [one["policy"] for one in sorted(costed, key=lambda one: (one["commands"], one["misses"]))
            if not any(other["misses"] < one["misses"] - CLOSE and
                       other["commands"] <= one["commands"] or
                       other["misses"] <= one["misses"] and
                       other["commands"] < one["commands"] - CLOSE for other in costed)]


def size_key(size):
    """Percentages in their order, then all others as they are."""
    return (0, int(size[:-1])) if size.endswith("%") else (1, 0)


def curves(names, cells, sizes, keep):
    """{policy: [misses an access at each size, or None]}, of traces that @keep says."""
    return {name: [mean(ratio(cell[name]) for (trace, at), cell in cells.items()
                        if at == size and keep(trace) and name in cell) for size in sizes]
            for name in names}


def league(rows):
    """All of one mode, those first that miss least."""
    cells = by_cell(rows)
    traces = list(dict.fromkeys(trace for trace, _ in cells))
    family = families(traces)
    names = list(dict.fromkeys(name for cell in cells.values() for name in cell))
    sizes = sorted(dict.fromkeys(size for _, size in cells), key=size_key)
    entries = sorted((entry(name, cells.values()) for name in names),
                     key=lambda one: one["misses"])
    groups = sorted(set(family.values()))
    order = [one["policy"] for one in entries]
    return {"traces": traces, "families": groups, "sizes": sizes, "cells": len(cells),
            "policies": entries, "front": front(entries),
            "by_family": {group: {one["policy"]: one for one in (
                entry(name, [cell for (trace, _), cell in cells.items() if family[trace] == group])
                for name in order)} for group in groups},
            "curves": {group or "all traces": curves(
                order, cells, sizes, lambda trace, group=group: group in ("", family[trace]))
                for group in ["", *(groups if len(groups) > 1 else [])]},
            "errors": sum(bool(row["error"]) for row in rows),
            "sampled": max((row["sample_error"] or 0 for row in rows), default=0),
            "samples": sum((row["sample_every"] or 1) > 1 for row in rows)}
