# SPDX-License-Identifier: GPL-2.0-only
"""JSON Schemas of what hipec sweep report and hipec tune print."""

from parts import array, number, real, text_of, truth, whole

TEXT = {"type": "string"}
NAMES = array(TEXT)
VALUES = {"description": "param and value", "type": "object",
          "additionalProperties": {"type": "integer"}}

ENTRY = {
    "policy": {"description": "with the params that were set", "type": "string"},
    "runs": number("that it has a row of"),
    "wins": number("of these, where none that can be had misses less"),
    "ended": number("of these, where it ended by an error"),
    "misses": real("an access, geometric mean; null: no run", "null"),
    "to_lru": real("misses by those of lru, geometric mean; null: there is no lru", "null"),
    "to_opt": real("the same of opt", "null"),
    "percentiles": whole({percent: real("null: there is no lru", "null")
                          for percent in ("10", "50", "90")},
                         "what so many of 100 runs have of lru's misses, or less"),
    "sorted": {"description": "of each run, misses by those of lru", "type": "array",
               "items": {"type": "number"}},
    "commands": real("an access, mean; null: it is built in", "null"),
}
POLICY = whole(ENTRY, "what a policy did")

LEAGUE = {
    "traces": NAMES,
    "families": NAMES,
    "sizes": NAMES,
    "cells": number("traces with a size"),
    "policies": array(POLICY),
    "front": {"description": "policies that none beats in misses and in commands", **NAMES},
    "by_family": {"type": "object", "additionalProperties": {
        "type": "object", "additionalProperties": POLICY}},
    "curves": {"description": "by family, or of all traces: misses of a policy at each size",
               "type": "object", "additionalProperties": {
                   "type": "object", "additionalProperties": array(real("an access", "null"))}},
    "errors": number("rows that have one"),
    "sampled": {"description": "by how much faults by accesses may be off, at most",
                "type": "number", "minimum": 0},
    "samples": number("rows that are of a sample"),
}

GAIN = {
    "percent": real("of the misses; null: it does not run to the end", "null"),
    "least": real("of the interval of 95 of 100; null: the same", "null"),
    "most": real("of the interval of 95 of 100; null: the same", "null"),
    "is_gain": truth("least is above 0"),
}

TUNED = {
    "policy": TEXT,
    "output": {"description": "the file that was written", "type": "string"},
    "version": text_of("of hipec", 32),
    "params": {**VALUES, "description": "those that the policy had"},
    "best": {**VALUES, "description": "those that miss least on the traces of the search"},
    "tuned_on": NAMES,
    "held_out": NAMES,
    "training_gain_percent": real("of the misses, on the traces of the search"),
    "gain": whole(GAIN, "on the traces that were held out"),
}

SCHEMAS = {
    "sweep-report": ("hipec sweep report --json", {
        "description": "by mode", "type": "object", "minProperties": 1,
        "propertyNames": {"enum": ["mapped", "exact"]},
        "additionalProperties": whole(LEAGUE, "the league of a mode")}),
    "tune": ("hipec tune --json", whole(TUNED, "what came of a search")),
}
