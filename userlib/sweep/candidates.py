#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Judge policies as a program writes them: a line in, a line out. hipec judge runs this.

    candidates.py HIPEC [--frames LIST] [--mode MODE] [--seed N] [--sample 1/N] [--held-out PERCENT]
                  [--jobs N] -- TRACE...

A line is the name of a .hp file, or JSON: {"source": TEXT}, {"file": NAME}, with "id", which comes
back, "held_out": false to leave the held-out traces alone, "whole": true to run all of the traces'
pages. docs/user/sweeps.md has the answer's members.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import queue
import re
import subprocess
import sys
import tempfile
import threading

import judge
import plan
import task

FAILED = 1
SECONDS = 60        # of a compiler, or of a simulator; then it hangs


def parse(words):
    """The command line."""
    parser = argparse.ArgumentParser(prog="hipec judge", add_help=False)
    parser.add_argument("hipec")
    parser.add_argument("--frames", default="10%,25%,50%")
    parser.add_argument("--mode", default="mapped", choices=["mapped", "exact"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sample", default="")
    parser.add_argument("--held-out", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("traces", nargs="+")
    args = parser.parse_args(words)
    args.sample = plan.parse_sample(args.sample)
    sizes = [plan.parse_size(size) for size in args.frames.split(",")]
    if not all(size.percent for size in sizes):
        raise plan.Wrong("--frames: want parts of the pages, as 25%: samples have as large a part")
    args.frames = [size.text for size in sizes]
    return args


class Judge:
    """Traces, what lru does on them, and who runs the policies."""

    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.training, self.held_out = judge.split(args.traces, args.held_out, args.seed)
        self.small = {}     # {trace: its sample}
        for number, trace in enumerate(args.traces if args.sample else []):
            self.small[trace] = os.path.join(folder, f"{number}.trace")
            done = subprocess.run([args.hipec, "trace", "convert", "--sample", args.sample, trace,
                                   self.small[trace]], text=True, capture_output=True, check=False)
            if done.returncode:
                raise plan.Wrong(done.stderr.strip().removeprefix("hipec trace: "))
        self.lru = {}
        for whole in [False, True]:
            for traces in (self.training, self.held_out):
                found, error = self.run("lru", traces, whole)
                if error:
                    raise plan.Wrong(error)
                self.lru |= {(trace, whole): rows for trace, rows in zip(traces, found)}

    def run(self, policy, traces, whole):
        """([misses by size of each trace], None), or (None, why not)."""
        files = [trace if whole else self.small.get(trace, trace) for trace in traces]
        rows, error, _ = task.sim(self.args.hipec, None, *judge.words(
            policy, self.args.frames, self.args.mode, "", {}), "--", *files)
        if error:
            return None, error
        ended = next((row["exit"] for row in rows if row.get("exit", {}).get("kind")), None)
        if ended:
            return None, f"ended: {ended['message']}"
        by_trace = collections.defaultdict(list)
        for row in rows:
            by_trace[row["trace"]].append(row)
        return [judge.misses((by_trace[file], None)) for file in files], None

    def part(self, image, traces, whole):
        """What a policy does on some traces."""
        found, error = self.run(image, traces, whole)
        if error:
            return {"verdict": error}
        before = [self.lru[trace, whole] for trace in traces]
        return {"verdict": "ok", "to_lru": judge.ratio_of(before, found),
                "gain": judge.gain(before, found) if len(traces) > 1 else None,
                "traces": {trace: {"misses": list(rows.values()), "to_lru": judge.ratio_of([one], [rows])}
                           for trace, one, rows in zip(traces, before, found)}}

    def judge(self, asked):
        """The answer to one line."""
        answer = {"id": asked.get("id"), "file": asked.get("file")}
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            image = os.path.join(folder, "candidate.hpo")
            file = asked.get("file")
            if file is None:
                pathlib.Path(folder, "candidate.hp").write_text(str(asked["source"]),
                                                                encoding="utf-8")
            cost, error = compile_with_cost(self.args.hipec, file or "candidate.hp", image,
                                            None if file else folder)
            if error:
                return {**answer, "verdict": "refused", "message": error}
            whole = bool(asked.get("whole"))
            answer |= {"verdict": "ok", "message": "", "cost": cost,
                       "training": self.part(image, self.training, whole)}
            if asked.get("held_out", True):
                answer["held_out"] = self.part(image, self.held_out, whole)
            bad = [answer[name]["verdict"] for name in ("training", "held_out")
                   if name in answer and answer[name]["verdict"] != "ok"]
            if bad:
                answer |= {"verdict": "ended" if bad[0].startswith("ended: ") else "refused",
                           "message": bad[0].removeprefix("ended: ")}
        return answer

    def answer(self, line):
        """The same of a line as it came."""
        asked = {}
        try:
            asked = json.loads(line) if line.startswith("{") else {"file": line}
            if not isinstance(asked.get("file", asked.get("source")), str):
                raise ValueError("want the text of a 'source', or the name of a 'file'")
            return self.judge(asked)
        except (ValueError, OSError) as error:
            return {"id": asked.get("id"), "file": None, "verdict": "refused",
                    "message": str(error)}


def compile_with_cost(hipec, source, image, folder):
    """In a folder. Return: ({event: most commands, or None without a bound}, None), or (None, why
    not)."""
    beside = pathlib.Path(hipec).with_name("ampc")
    try:
        done = subprocess.run([beside if beside.exists() else "ampc", "--explain-cost", "-o", image,
                               "--", source], text=True, errors="replace", timeout=SECONDS,
                              check=False, capture_output=True, cwd=folder)
    except subprocess.TimeoutExpired:
        return None, f"ampc took more than {SECONDS} s"
    if done.returncode or not os.path.exists(image):
        return None, done.stderr.strip() or f"ampc ended with {done.returncode}"
    return {event: int(number) if number else None for event, number in
            re.findall(r"^(\w+) +(?:(\d+)\b.*|no bound.*)$", done.stdout, re.M)}, None


def write_answers(futures):
    """In the order of their lines, each as soon as it is there; until None comes."""
    while future := futures.get():
        print(json.dumps(future.result()), flush=True)


def main():
    """Answer each line, several at a time."""
    try:
        args = parse(sys.argv[1:])
        futures = queue.Queue(4 * args.jobs)
        writer = threading.Thread(target=write_answers, args=[futures], daemon=True)
        with tempfile.TemporaryDirectory() as folder, \
                concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            court = Judge(args, folder)
            writer.start()
            for line in sys.stdin:
                if line.strip():
                    futures.put(pool.submit(court.answer, line.strip()))
            futures.put(None)
            writer.join()
        return 0
    except plan.Wrong as error:
        print(f"hipec judge: {error}", file=sys.stderr)
    except OSError as error:
        print(f"hipec judge: {error.filename or ''}: {error.strerror}", file=sys.stderr)
    return FAILED


if __name__ == "__main__":
    sys.exit(main())
