# SPDX-License-Identifier: GPL-2.0-only
"""Schemas of what the command prints about traces, policies and this machine. The pages of the
verbs say more of what members mean."""

from parts import array, maybe, number, real, some, text_of, truth, whole, words

COUNTS = {"type": "object", "additionalProperties": {"type": "integer"}}
OWN = {"description": "the integers that the policy declares as counters", **COUNTS}
TEXT = {"type": "string"}
NAME = {"description": "as it was given", **TEXT}
LIST = array({"type": "integer", "minimum": 0})
GRID = {"description": "for each stretch of time, a number for each band", **array(LIST)}
MODE = {"enum": ["mapped", "exact"]}

ENDED = some({
    "kind": number("a number of HIPEC_EXIT_KINDS (hipec.h); 0: it has not ended"),
    "text": text_of("the kind in words", 160),
}, {
    "access": number("during which it ended, from 1"),
    "event": number("number of the event"),
    "command": number("in the event, from 1; 0: none"),
    "line": number("of the .hp source; 0: not known"),
    "message": text_of("all this in words", 160),
}, "whether and why the policy ended")

DID = {
    "events": number("that ran"),
    "refused": number("victims that could not go"),
    "helped": number("victims that were taken since Replace gave none"),
    "forgotten": number("victims that were on none of its queues"),
}

CONTRACT = {
    "default_faults": number("of the default policy"),
    "windows": number("that were judged"),
    "watched_faults": number("that the judge saw"),
    "estimated_faults": number("of the default policy, by a sample"),
    "estimated_in_windows": number("of these, in windows that were judged"),
    "least_faults": number("the lower bound of that"),
    "most_faults": number("the upper bound of that"),
    "worst_percent": real("most faults above the default's; null: too few windows", "null"),
    "looks": number("at the contract"),
    "revoked_at": number("the fault at which it would be revoked; 0: never"),
    "revoked_in": number("the window of that"),
}

SAMPLE = {
    "every": number("one page of so many; 1: all"),
    "pages": number("of the sample"),
    "accesses": number("of the sample, that were counted"),
    "frames": number("that it had"),
    "ran": number("accesses that were run for it in all"),
    "error": real("by which faults by accesses may be off, in 95 of 100"),
}

LEAGUE = {
    "runs": words("the policy that runs at the end"),
    "sampled_accesses": number("to pages of the sample"),
    "one_page_in": number("so many is in the sample; 1: all are"),
    "teams": array(whole({"policy": NAME, "sampled_misses": number("that it had, of the sample")},
                         "a policy that played")),
    "nr_switches": number("take-overs"),
    "switches": array(whole({"access": number("after which it was, from 1"), "policy": NAME},
                            "a policy that took over; the first 64")),
}

SIM_ROW = some({
    "trace": NAME,
    "mode": MODE,
    "policy": NAME,
    "built_in": truth("a reference, which has no commands"),
    "frames": number("of memory"),
    "pages": number("distinct ones of the trace"),
    "accesses": number("that were counted"),
    "reads": number("of these"),
    "writes": number("of these"),
    "faults": number("accesses to pages that were not resident"),
    "hits": number("the others"),
    "read_misses": number("faults of reads"),
    "write_misses": number("faults of writes"),
    "read_hit_ratio": real("0 to 1; null: nothing was read", "null"),
    "evictions": number("pages that gave up their frame"),
    "read_pages": number("brought in from the file"),
    "written_pages": number("written back"),
    "gain_percent": real("faults saved, of those of the policy to compare with; null: there is "
                         "none", "null"),
    "verdict": {"description": "on this trace and number of frames; null: nothing to compare",
                "enum": ["none", "room", "gain", None]},
}, {
    "sample": whole(SAMPLE, "with --sample: what was run in place of the whole trace"),
    "commands": number("of policies, that were run"),
    "commands_per_access": real("the same by access"),
    "most_commands": number("of one event"),
    **DID,
    "ahead_faults": number("of these faults, on pages that Prefetch was bringing in"),
    "ahead_pages": number("that Prefetch brought in"),
    "ahead_dropped": number("that it could not bring in"),
    "exit": ENDED,
    "policy_counters": OWN,
    "contract": whole(CONTRACT, "with --contract"),
    "league": whole(LEAGUE, "of auto"),
}, "a policy with a number of frames on a trace")

REGION = whole({
    "page": number("the first one"),
    "pages": number("so many"),
    "name": TEXT,
    "accesses": number("to these pages"),
    "accessed_pages": number("distinct ones"),
}, "a file, or a part of memory, that the trace names")

TRACE_INFO = {
    "trace": NAME,
    "accesses": number("all of them"),
    "reads": number("of these"),
    "writes": number("of these"),
    "pages": number("distinct ones"),
    "written_pages": number("of these"),
    "footprint_bytes": number("of the pages"),
    "first_page": number("the lowest"),
    "last_page": number("the highest"),
    "sequential": number("accesses to the page behind the one before"),
    "repeated": number("accesses to the same page as the one before"),
    "one_touch_pages": number("pages with one access"),
    "reuses": number("accesses to pages that were there before"),
    "reuse_distance": {"description": "by percent of the reuses: the distance that so many do not "
                       "exceed, in pages", "type": "object", "patternProperties": {
                           r"^\d+$": number("pages")}, "additionalProperties": False},
    "top_pages": array(whole({"page": number("its number"), "accesses": number("to it"),
                              "region": words("that it is in; null: none")},
                             "a page; those with most accesses first")),
    "tags": number("hints and contexts that accesses have"),
    "regions": array(REGION),
    "notes": {"description": "what the user should know, in lines", **TEXT},
}

APP = {
    "app": {"description": "its name", **TEXT},
    "trace": NAME,
    "policy": NAME,
    "privileged": number("frames of its own; 0: it shares"),
    "min": number("frames that the others leave it"),
    "max": number("frames that it can have"),
    "pages": number("distinct ones of its trace"),
    "accesses": number("of its trace"),
    "faults": number("of it"),
    "read_pages": number("brought in"),
    "written_pages": number("written back"),
    "evictions": number("pages that gave up their frame"),
    "commands": number("that its policy ran"),
    **DID,
    "given": number("frames that it gave to others"),
    "moved": number("pages that took the place of a named one"),
    "recovered": number("decisions that were reversed"),
    "most_frames": number("that it held"),
    "began_ns": number("of simulated time"),
    "ended_ns": number("of simulated time"),
    "cpu_ns": number("that it had the processor"),
    "disk_wait_ns": number("that it waited for the disk"),
    "cpu_wait_ns": number("that it waited for the processor"),
    "exit": ENDED,
    "policy_counters": OWN,
}

MIX = some({
    "frames": number("of the machine"),
    "global": {"description": "policy of the frames that are shared", **TEXT},
    "elapsed_ns": number("until the last one ended"),
    "idle_ns": number("of the processor"),
    "disk_busy_ns": number("of the disk"),
    "disk_reads": number("pages"),
    "disk_writes": number("pages"),
    "disk_sequential": number("of these, behind the page before"),
    "apps": array(whole(APP, "an application, in the order of submission")),
}, {
    "samples": array(whole({"at_ns": number("of simulated time"),
                            "frames": {"description": "of each application", **LIST}},
                           "with --sample")),
}, "what came of an order of submission")

BAND = {
    "first": number("page"),
    "last": number("page"),
    "pages": number("distinct ones between them"),
    "region": words("that has the band; null: none, or several"),
    "region_first": number("page of that region; 0: none"),
    "spans": maybe({"type": "array", "items": {"type": ["string", "null"]}, "minItems": 2,
                    "maxItems": 2}, "the regions of the first and the last page, if they differ"),
}

RUN = some({
    "row": number("in rows, from 0"),
    "trace": number("in traces, from 0"),
    "application": TEXT,
    "unit": {"description": "of time", "enum": ["accesses", "ns"]},
    "per_bin": number("units of a stretch of time"),
    "faults": GRID,
    "resident": GRID,
}, {
    "group": number("of a mix: the order of submission"),
    "held": {"description": "of a mix: frames, for each stretch of time", **LIST},
    "per_fine": number("of a trace alone: accesses of a sixteenth of a stretch, rounded up"),
    "fine": {"description": "of a trace alone: faults in each such part", **LIST},
    "queues": array(whole({"name": words("null: pages on none"), "length": LIST},
                          "a queue of the policy")),
    "counters": array(whole({"name": TEXT, "value": array({"type": "integer"})},
                            "a counter of the policy")),
    "events": array(whole({"name": TEXT, "runs": number("how often"),
                           "commands": number("that it ran")}, "an event of the policy")),
    "lines": {"description": "commands that were run, by line of the source", **COUNTS},
    "source_hash": {"description": "SHA-256 of the source", "type": "string",
                    "pattern": "^[0-9a-f]{64}$"},
}, "a policy on a trace, in detail")

POPULARITY = maybe(whole({
    "ranks": {"description": "of pages by their accesses, from 1, thinned out", **LIST},
    "accesses": {"description": "to the page of each rank", **LIST},
    "sums": {"description": "to that page and those before it", **LIST},
    "zipf": maybe(whole({
        "skew": real("accesses are first / rank^skew"),
        "error": real("by how much skew may be off, up or down, 19 times of 20, if accesses are "
                      "independent"),
        "first": real("see skew"),
        "misfit": real("most that the share of the first pages is off by, of 0 to 1"),
        "pages": number("with 20 accesses or more, to which it is fitted"),
        "accesses": number("to these"),
    }, "the law of Zipf under which the counts are most likely"), "null: these are fewer than 10"),
}, "of pages, whatever the policy"), "null: of a mix")

REUSE = maybe(array(whole({
    "frames": {"description": "the least power of two with which lru has the page; null: it was "
               "not accessed before", "type": ["integer", "null"], "minimum": 1},
    "accesses": {"description": "of that kind, for each stretch of time", **LIST},
}, "accesses by how far back the last one to the same page is")), "null: of a mix")

RATE = maybe(whole({
    "unit": {"description": "of its clock; null: not known", "enum": ["s", None]},
    "first": real("when it begins"),
    "part": real("how long a part of the time is; the last one may end earlier"),
    "requests": {"description": "in each part", **LIST},
}, "requests over time, by the trace's own clock"), "null: it has no times, or they are all the same; "
   "of a mix")

PROFILE = some({
    "version": {"description": "of this form", "const": 1},
    "mode": MODE,
    "over": words("the policy to compare with; null: none"),
    "rows": array(SIM_ROW),
    "verdicts": array(whole({"trace": NAME, "frames": number("of memory"), "text": TEXT},
                            "a verdict in words")),
    "traces": array(whole({"name": NAME, "accesses": number("all of them"),
                           "pages": number("distinct ones"), "bands": array(whole(BAND, "pages "
                                                                                  "in a row")),
                           "popularity": POPULARITY, "reuse": REUSE,
                           "rate": RATE},
                          "a trace, cut into bands")),
    "runs": array(RUN),
}, {
    "machine": whole({"frames": number("of the machine"), "global": TEXT}, "of hipec mix"),
}, "what the pictures are made of")

PATTERN = {
    "context": {"description": "its number, of a call stack", "type": "string",
                "pattern": "^[0-9a-f]{16}$"},
    "kind": {"description": "what it does: docs/user/amp.md", **TEXT},
    "known": truth("enough was seen for a verdict"),
    "r": real("the measure of recency; null: not known", "null"),
    "confidence": real("0 to 1: the more was seen, the higher"),
    "accesses": number("that were sampled"),
    "pages": number("that it reads"),
    "loop_size": real("pages of a loop; null: it is none", "null"),
    "loop_time": real("accesses from one round to the next; null: it is none", "null"),
    "loop_deviation": real("of loop_time; null: it is none", "null"),
    "sampled_blocks": number("that the detector remembers"),
    "rate": real("share of the pages that is looked at"),
}

DETECTED = {
    "trace": NAME,
    "accesses": number("of the trace"),
    "without_context": number("of these"),
    "pages": number("distinct ones"),
    "detector": {"enum": ["amp", "pcc", "dear"]},
    "contexts": array(whole(PATTERN, "a context; the busiest first")),
}

PLAYED = {
    "list": NAME,
    "target": NAME,
    "dry_run": truth("nothing was read or written"),
    "requests": number("of the list"),
    "batches": number("of these"),
    "batch": number("requests of one"),
    "read_pages": number("of a round"),
    "written_pages": number("of a round"),
    "end_bytes": number("up to where the list goes"),
    "seconds": {"description": "of each round", "type": "array", "items": {"type": "number"}},
    "mean": real("of the seconds; null: no round", "null"),
    "lowest": real("of the seconds; null: no round", "null"),
    "within_percent": real("half of the mean's 95 % interval; null: not known", "null"),
    "stable": truth("that is no more than was asked for"),
}

FINDING = {
    "check": TEXT,
    "state": {"enum": ["ok", "note", "wrong"]},
    "text": TEXT,
    "mend": words("the command that mends it; null: there is nothing to do"),
}

GRADE = {
    "trace": NAME,
    "policy": NAME,
    "frames": number("of memory"),
    "lru_faults": number("of lru"),
    "faults": number("of the policy"),
    "opt_faults": number("the least that is possible"),
    "grade_percent": real("share of what opt saves; null: it saves nothing", "null"),
    "exit": ENDED,
}

SCHEMAS = {
    "sim": ("hipec sim --json", array(SIM_ROW)),
    "profile": ("hipec profile --json, hipec mix --profile json", PROFILE),
    "mix": ("hipec mix --json", array(MIX)),
    "trace-info": ("hipec trace info --json", array(whole(TRACE_INFO, "a trace"))),
    "amp-detect": ("hipec amp detect --json", whole(DETECTED, "what the contexts of a trace do")),
    "trace-play": ("hipec trace play --json", whole(PLAYED, "a list that was played")),
    "sim-grade": ("hipec sim --grade --json", array(whole(GRADE, "a trace and a number of frames"))),
    "doctor": ("hipec doctor --json", array(whole(FINDING, "a check"))),
}
