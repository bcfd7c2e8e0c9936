#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write the JSON Schemas of what the command prints: about containers here, about traces and
policies in analyses.py, about many of them in sweeps.py.

    schemas.py DIR

The counters are those of uapi/hipec.h, with what it says of each.
"""

import json
import pathlib
import re
import sys

import analyses
import sweeps
from parts import array, maybe, number, rate, real, some, text_of, truth, whole, words

ROOT = pathlib.Path(__file__).resolve().parents[2]
DRAFT = "https://json-schema.org/draft/2020-12/schema"
CONTAINER_REFS = {name: {"$ref": f"#/$defs/{name}"} for name in ("exit", "counters")}


def counters():
    """(name, meaning) of the table in the header."""
    header = (ROOT / "module/include/uapi/hipec.h").read_text()
    table = header.split("#define HIPEC_COUNTERS(X)")[1].split("\n\n")[0]
    return re.findall(r'X\((\w+),\s+"([^"]*)"\)', table)


def states():
    """The words of hipec status --page, of the table in the header."""
    header = (ROOT / "module/include/uapi/hipec.h").read_text()
    table = header.split("#define HIPEC_WHY_STATES(X)")[1].split("\n\n")[0]
    return re.findall(r'X\(\w+,\s+[^,]+,\s+"([^"]+)"', table)


STATES = states()
COUNTERS = whole({name: number(text) for name, text in counters()},
                 "since the load; pages have 4096 bytes")

EXIT = {
    "description": "why a policy ended, or which event was given up; kind 0: none",
    "type": "object",
    "properties": {
        "kind": number("a number of HIPEC_EXIT_KINDS (hipec.h)"),
        "text": text_of("the kind in words", 160),
        "event": number("number of the event"),
        "command": number("in the event, from 1; 0: none"),
        "line": number("of the .hp source; 0: not known"),
        "word": number("the command itself"),
        "operand": {"description": "0: none; 1 to 3: a, b, c", "type": "integer",
                    "minimum": 0, "maximum": 3},
        "message": text_of("all this in words", 160),
    },
    "required": ["kind", "text"],
    "additionalProperties": False,
    "if": {"properties": {"kind": {"const": 0}}},
    "then": {"maxProperties": 2},
    "else": {"required": ["event", "command", "line", "word", "operand", "message"]},
}

DEFINITIONS = {"exit": EXIT, "counters": COUNTERS}

CONTAINER = {
    "id": {"description": "while the module is loaded nobody else gets it", "type": "integer",
           "minimum": 1},
    "pid": number("of the process that loaded the policy; 0: not of this namespace"),
    "uid": number("its user"),
    "comm": text_of("its name", 16),
    "policy": text_of("its name; 'builtin': there is none", 32),
    "frames": number("held now, or reserved"),
    "limit": number("most frames, as loaded"),
    "shares": truth("frames of the pool; or its own"),
    "in_place": truth("pages of the page cache, and no frames"),
    "free_frames": number("of its frames, those that hold no page"),
    "resident": number("pages that hold a frame"),
    "dirty": number("pages that are not yet written"),
    "ghosts": number("pages without a frame that the policy remembers"),
    "cluster": {"description": "most pages of one read", "type": "integer", "minimum": 0,
                "maximum": 32},
    "regions": number("ranges of files that are attached"),
    "exit": CONTAINER_REFS["exit"],
    "late": CONTAINER_REFS["exit"],
    "counters": CONTAINER_REFS["counters"],
}

OWN = {"description": "the integers that the policy declares as counters", "type": "object",
       "additionalProperties": {"type": "integer"}}

RECORD = {
    "seq": {"description": "counted from the module's load", "type": "integer", "minimum": 1},
    "time": {"description": "of the end, UTC", "type": "string",
             "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"},
    "lived_ms": number("milliseconds since the load"),
    "end": {"description": "what ended: the policy, whose container goes on; or the container",
            "enum": ["policy", "container"]},
    "container": whole(CONTAINER, "at that moment"),
}

STANDING = {
    "policy": text_of("its name", 32),
    "state": {"description": "rehearses: it is tried with all frames before it takes over",
              "enum": ["runs", "rehearses", "plays", "has ended"]},
    "sampled_misses": number("of the sample's accesses, that it would have missed"),
    "saves_percent": {"description": "of the container's misses; less than 0: it would have "
                      "missed more", "type": "number", "maximum": 100},
    "error_percent": {"description": "by how much saves_percent may be off, up or down, 19 times "
                      "of 20", "type": "number", "minimum": 0},
}

LEAGUE = {
    "runs": text_of("the policy that does", 32),
    "switches": number("policies that took over"),
    "sampled_accesses": number("that all played"),
    "one_page_in": number("so many is in the sample"),
    "sampled_misses": number("of these accesses, that the container missed"),
    "teams": array(some({key: STANDING[key] for key in ("policy", "state", "sampled_misses")},
                        {key: STANDING[key] for key in ("saves_percent", "error_percent")},
                        "a policy; the percents are missing before the first miss")),
}
A_LEAGUE = maybe(whole(LEAGUE, "of --policy auto"), "null: there is no league")

POINT = {
    "pages": number("the budget that it is with"),
    "sampled_accesses": number("since it began, or another policy took over"),
    "sampled_misses": number("of these, with this budget"),
    "budget_misses": number("of these, with the container's"),
    "saves_percent": {"description": "of budget_misses; less than 0: there would have been more; "
                      "null: there were none, or the budget is not used up yet",
                      "type": ["number", "null"], "maximum": 100},
    "error_percent": {"description": "by how much saves_percent may be off, up or down, 19 times "
                      "of 20; null as saves_percent", "type": ["number", "null"], "minimum": 0},
}

CURVE = {
    "policy": text_of("the one that runs", 32),
    "one_page_in": number("so many is in the sample"),
    "points": array(whole(POINT, "what it would have missed with another budget")),
}
A_CURVE = maybe(whole(CURVE, "of --curve"), "null: there is none")

ROW = {
    **CONTAINER,
    "faults_per_s": rate("faults"),
    "evictions_per_s": rate("pages that gave up their frame"),
    "read_per_s": rate("pages read"),
    "written_per_s": rate("pages written"),
    "gain_percent": {"description": "pages not brought in, of those that the default policy "
                     "would have, since the load; null: nothing was compared",
                     "type": ["number", "null"], "maximum": 100},
    "gain_error_percent": {"description": "by how much gain_percent may be off, up or down, 19 "
                           "times of 20; null as gain_percent", "type": ["number", "null"]},
    "health": {"description": "ended: exit says why; late, helped, orphans: between the two looks; "
               "or runs", "enum": ["runs", "orphans", "helped", "late", "ended"]},
    "league": A_LEAGUE,
    "curve": A_CURVE,
}

PICTURE = {
    "seconds": {"description": "between the two looks", "type": "number", "exclusiveMinimum": 0},
    "frames": number("that all containers hold, of all users"),
    "pool_frames": number("of these, by containers that share"),
    "pool_max": number("frames that they may hold"),
    "quota": number("of these, those of one user"),
    "containers": {"description": "as they are sorted", "type": "array",
                   "items": whole(ROW, "a container")},
}

RUN = {
    "exit": {"description": "the program's exit code", "type": "integer", "minimum": 0,
             "maximum": 255},
    "plain": {"description": "why files were cached as ever; null: they were not",
              "type": ["string", "null"]},
    "policy": {"description": "null: there is no container", "type": ["string", "null"]},
    "frames": number("the budget"),
    "expected": {"description": "pages that hipec try says will be read; null: nobody said",
                 "type": ["integer", "null"], "minimum": 1},
    "shares": truth("pages of the pool; or its own"),
    "files": number("that were taken"),
    "ended": {"description": "why the policy ended; null: it did not", "type": ["string", "null"]},
    "counters": {"anyOf": [{"type": "null"}, CONTAINER_REFS["counters"]]},
    "league": A_LEAGUE,
    "curve": A_CURVE,
}

CONTEXT = {
    **analyses.PATTERN,
    "stack": {"description": "the call stack, innermost first; empty: not known", "type": "array",
              "items": {"type": "string"}},
    "treatment": {"description": "what the policy does with it",
                  "enum": ["default", "MRU", "first to go"]},
    "faults": {"description": "of the trial's; null: not judged",
               "type": ["integer", "null"], "minimum": 0},
    "default_faults": {"description": "of the default partition alone; null: not judged",
                       "type": ["integer", "null"], "minimum": 0},
}

LEARNT = {
    "frames": {"description": "of the container; null: not known", "type": ["integer", "null"],
               "minimum": 1},
    "used": truth("partitions were in use at the end"),
    "contexts": {"type": "array", "items": whole(CONTEXT, "a context")},
}

WATCHED = {
    "policy": text_of("its name", 32),
    "seconds": real("that it was watched"),
    "cpu_seconds": real("of the program's processor time; null: not known", "null"),
    "pages_in": number("that were brought in"),
    "judged_faults": number("that were compared with the default policy's"),
    "default_faults": number("that the default policy would have had there"),
    "ended": words("how the policy ended; null: it did not"),
}

SWAPPED = some({
    "id": CONTAINER["id"],
    "policy": {"description": "as it was named", "type": "string"},
    "adopted": number("pages that it took over"),
}, {
    "before": whole(WATCHED, "with --trial: the policy that ran"),
    "after": whole(WATCHED, "with --trial: the other one"),
    "kept": truth("with --trial: the other one stays"),
    "why": {"description": "of that, in words", "type": "string"},
}, "what came of it")

PARAM = {
    "name": text_of("as the policy declares it", 32),
    "value": {"description": "now", "type": "integer"},
    "low": {"description": "the least it may be; null: any", "type": ["integer", "null"]},
    "high": {"description": "the most it may be; null: any", "type": ["integer", "null"]},
    "at_load": truth("it can be set at load only"),
}

QUEUE = {
    "of": {"description": "whose it is", "enum": ["policy", "fallback", "builtin"]},
    "name": words("null: not the policy's"),
    "index": number("of a queue in an array of them"),
    "place": number("from the head, 0"),
    "pages": number("on the queue"),
}

WHY = {
    "id": CONTAINER["id"],
    "page": number("from the container's start"),
    "file": {"description": "that it is of", "type": "string"},
    "file_offset": number("bytes"),
    "state": array({"enum": STATES}),
    "queue": maybe(whole(QUEUE, "where it is"), "null: on none"),
    "instead_of": {"description": "the page that stayed in its place, or null",
                   "type": ["integer", "null"], "minimum": 0},
}

SCHEMAS = {
    "status": ("hipec status --json", array(whole({**CONTAINER, "policy_counters": OWN,
                                                   "league": A_LEAGUE, "curve": A_CURVE},
                                                  "a container; by rising id"))),
    "top": ("a line of hipec top --json", whole(PICTURE, "what was so between two looks")),
    "log": ("hipec log --json", array(whole(RECORD, "an end; the oldest first"))),
    "amp-report": ("hipec amp report --json", whole(LEARNT, "what runs of a program learnt")),
    "run": ("hipec run --json", whole(RUN, "what came of it")),
    "swap": ("hipec swap --json", SWAPPED),
    "swap-param": ("hipec swap --param --json", array(whole(PARAM, "a param"))),
    "status-page": ("hipec status --page --json", whole(WHY, "where a page stands")),
    **analyses.SCHEMAS,
    **sweeps.SCHEMAS,
}


def main():
    """Write them."""
    where = pathlib.Path(sys.argv[1])
    for name, (title, schema) in SCHEMAS.items():
        used = {key: value for key, value in DEFINITIONS.items()
                if CONTAINER_REFS[key]["$ref"] in json.dumps(schema)}
        schema = {"$schema": DRAFT, "title": title, **schema, **({"$defs": used} if used else {})}
        (where / f"{name}.json").write_text(json.dumps(schema, indent=1) + "\n")


if __name__ == "__main__":
    main()
