# SPDX-License-Identifier: GPL-2.0-only
"""What is kept of a sweep: journals, to which rows are added as they come, and the table that is
made of them, in Parquet.

A journal is lines of JSON: of a trace, with its file's size and time, or of a row, with its key.
A line that a crash cut short is dropped. Each process that adds has a journal of its own; all are
read.
"""

import fcntl
import json
import os

import plan

# Of the table, in its order: what was asked for, then what hipec sim --json counts.
TEXTS = ("key", "trace", "trace_sha256", "policy", "image_sha256", "params", "size", "mode",
         "warm_up", "sample", "version", "error")
COUNTS = ("frames", "pages", "accesses", "reads", "writes", "faults", "hits", "read_misses",
          "write_misses", "evictions", "read_pages", "written_pages", "commands", "most_commands",
          "events", "refused", "helped", "forgotten", "ahead_faults", "ahead_pages",
          "ahead_dropped", "exit_kind", "sample_every", "sample_pages", "sample_accesses",
          "sample_frames")
REALS = ("read_hit_ratio", "commands_per_access", "sample_error")
MORE = ("exit_text", "policy_counters")


class Store:
    """The folder of a sweep."""

    def __init__(self, folder, part):
        self.folder = folder
        self.rows = {}          # {key: a row of hipec sim, or {"error": why}}
        self.traces = {}        # {name: (size, time, survey)}
        os.makedirs(folder, exist_ok=True)
        # Not with "a": what is cut short goes.
        name = f"journal-{part}.jsonl"
        descriptor = os.open(os.path.join(folder, name), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC,
                             0o666)
        self.journal = open(descriptor, "r+b")
        try:
            fcntl.flock(self.journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise plan.Wrong(f"{folder}: another sweep is at work there") from None
        for other in sorted(os.listdir(folder)):
            if other.startswith("journal-") and other != name:
                with open(os.path.join(folder, other), "rb") as file:
                    self.take(file)
        self.journal.seek(self.take(self.journal))
        self.journal.truncate()

    def take(self, file):
        """Read a journal. Return: where its whole lines end."""
        end = 0
        for line in file:
            try:
                entry = json.loads(line) if line.endswith(b"\n") else None
            except ValueError:
                entry = None
            if entry is None:
                break
            end += len(line)
            if "key" in entry:
                self.rows[entry["key"]] = entry["row"]
            else:
                self.traces[entry["trace"]] = entry["seen"]
        return end

    def add(self, *entries):
        """Keep them, whatever comes after."""
        self.journal.write(b"".join(json.dumps(entry).encode() + b"\n" for entry in entries))
        self.journal.flush()

    def survey_of(self, trace, reading=()):
        """What was seen of a trace that was read so, if its file is as it was then."""
        seen = self.traces.get(" ".join([trace, *reading]))
        return seen[2] if seen and seen[:2] == stamp(trace) else None

    def add_survey(self, trace, found, reading=()):
        """Keep that, unless another look may find another thing."""
        if found["digest"]:
            name = " ".join([trace, *reading])
            self.traces[name] = [*stamp(trace), found]
            self.add({"trace": name, "seen": self.traces[name]})


def stamp(trace):
    """A file's size and time."""
    try:
        found = os.stat(trace)
    except OSError:
        return []
    return [found.st_size, found.st_mtime_ns]


def flat(run, key, digest, work, row):
    """A row of the table."""
    found = {"key": key, "trace": run.trace, "trace_sha256": digest, "policy": run.policy.name,
             "image_sha256": run.policy.image,
             "params": json.dumps({name: int(value) for name, value in run.policy.params}),
             "size": run.size.text, "mode": run.mode, "warm_up": work.warm_up,
             "sample": work.sample, "version": work.version, "error": row.get("error")}
    found |= {name: row.get(name) for name in (*COUNTS, *REALS)}
    if "exit" in row:
        found |= {"exit_kind": row["exit"]["kind"], "exit_text": row["exit"]["text"],
                  "policy_counters": json.dumps(row.get("policy_counters", {}))}
    found |= {f"sample_{name}": value for name, value in row.get("sample", {}).items()
              if f"sample_{name}" in found}
    return {**found, "whole_writes": work.whole_writes, "built_in": row.get("built_in")}


def write_table(path, rows):
    """All rows, as Parquet: the whole file, or the one before."""
    arrow = plan.python_has("pyarrow")
    import pyarrow.parquet as parquet
    fields = [*((name, arrow.string()) for name in TEXTS), ("whole_writes", arrow.bool_()),
              ("built_in", arrow.bool_()), *((name, arrow.int64()) for name in COUNTS),
              *((name, arrow.float64()) for name in REALS),
              *((name, arrow.string()) for name in MORE)]
    table = arrow.Table.from_pylist(rows, schema=arrow.schema(fields))
    draft = f"{path}.{os.getpid()}"
    parquet.write_table(table, draft)
    os.replace(draft, path)
