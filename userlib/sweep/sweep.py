#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Run a plan of many simulations. hipec sweep runs this.

    sweep.py HIPEC [--output DIR] [--dry-run] [--jobs N] [--scheduler ADDRESS] [--sample 1/N]
             [--part I/N] [--emit HOW] -- PLAN
"""

import argparse
import collections
import dataclasses
import os
import re
import shlex
import signal
import sys
import tempfile

import engine
import plan
import store
import task

SPEED = 10_000_000      # accesses a second of one processor: docs/user/sim.md, Long traces
FAILED, USAGE, BAD_ROWS = 1, 2, 3
KILLED = "each worker that took it was killed"
WIDE = 4                # commands a worker, at least: else policies are split, too


def parse(words):
    """The command line, which hipec has looked at."""
    parser = argparse.ArgumentParser(prog="hipec sweep", add_help=False)
    parser.add_argument("hipec")
    parser.add_argument("--output")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--scheduler")
    parser.add_argument("--sample")
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--emit")
    parser.add_argument("plan")
    args = parser.parse_args(words)
    args.output = args.output or re.sub(r"\.(toml|json)$", "", args.plan) + ".sweep"
    found = re.fullmatch(r"(\d+)/(\d+)", args.part)
    args.part, args.parts = map(int, found.groups()) if found else (0, 0)
    if args.part >= args.parts or args.jobs < 1:
        parser.error("want --part I/N, from 0/N to N-1/N, and --jobs of 1 or more")
    return args


def number(count, thing):
    """1 trace, 2 traces"""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def survey(args, kept, traces, pool, reading):
    """{trace: what it is}, looked at where that is not known."""
    found = {trace: kept.survey_of(trace, reading) for trace in traces}
    unknown = [trace for trace in traces if not found[trace]]
    futures = [pool.submit(task.survey, args.hipec, os.getcwd(), trace, reading)
               for trace in unknown]
    for place, seen in engine.gather(futures):
        trace = unknown[place]
        if isinstance(seen, Exception):
            seen = {"digest": "", "accesses": 0, "pages": 0, "error": f"{trace}: {KILLED}"}
        kept.add_survey(trace, seen, reading)
        found[trace] = seen
    return found


def missing(work, kept, seen):
    """{trace: its runs that there are no rows of}, without traces that cannot be read."""
    return {trace: left for trace, what in seen.items() if not what["error"]
            and (left := [run for run in work.runs(trace)
                          if work.key(run, what["digest"]) not in kept.rows])}


def memory(runs, what):
    """Bytes of the largest of some runs, as docs/user/sim.md has them."""
    return 64 * what["pages"] + max((4 * what["accesses"] for run in runs
                                     if run.policy.name.startswith("opt")), default=0)


def announce(work, seen, left, jobs):
    """Say how large the plan is, before any of it is run."""
    bad = sum(bool(what["error"]) for what in seen.values())
    runs = sum(map(len, left.values()))
    accesses = sum(len(some) * seen[trace]["accesses"] for trace, some in left.items())
    most = max((memory(some, seen[trace]) for trace, some in left.items()), default=0)
    all_runs = len(seen) * len(work.policies) * len(work.sizes) * len(work.modes)
    print(f"{number(all_runs, 'run')}: {number(len(seen), 'trace')}, "
          f"{number(len(work.policies), 'policy').replace('policys', 'policies')}, "
          f"{number(len(work.sizes), 'size')}, {number(len(work.modes), 'mode')}; "
          f"{number(bad, 'trace')} cannot be read")
    print(f"to do: {number(runs, 'run')}, {number(accesses, 'access').replace('accesss', 'accesses')}"
          f"; at most {max(most >> 20, 1):,} MiB a worker, "
          f"about {max(round(accesses / SPEED / jobs), 1):,} s with "
          f"{number(jobs, 'worker')}", flush=True)


def commands(work, trace, what, runs, split):
    """[the arguments of task.run()]: runs with the same sizes are one command. Params are of all
    policies of a command, so a policy with some has one of its own; as has each one to split."""
    sizes = collections.defaultdict(list)
    for run in runs:
        sizes[run.mode, run.policy].append(run.size)
    together = collections.defaultdict(list)
    for place, ((mode, policy), some) in enumerate(sizes.items()):
        alone = place if split or policy.params else None
        together[mode, tuple(some), alone].append(policy)
    for (mode, some, _), policies in together.items():
        args = ["--mode", mode, "--policy", ",".join(policy.path for policy in policies),
                "--frames", ",".join(size.text for size in some)]
        for name, value in policies[0].params:
            args += ["--param", f"{name}={value}"]
        args += ["--warm-up", work.warm_up] if work.warm_up else []
        args += ["--whole-writes"] if work.whole_writes else []
        args += ["--sample", work.sample] if work.sample else []
        args += work.reading
        wanted = [(work.key(plan.Run(trace, policy, size, mode), what["digest"]), place,
                   size.frames(what["pages"]))
                  for place, policy in enumerate(policies) for size in some]
        yield [*args, "--", trace], len(policies), wanted


def check(args, work):
    """Have hipec sim look at all policies and params, before a thousand traces say the same."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("r 0\n")
        file.flush()
        # That trace is of text, however those of the plan are read.
        try_policies(args, dataclasses.replace(work, reading=()), file.name)


def try_policies(args, work, one):
    """Each of them with each choice of params, on a trace."""
    tries = [plan.Run(one, policy, work.sizes[0], work.modes[0]) for policy in work.policies]
    for words, _, _ in commands(work, one, {"digest": "", "pages": 1}, tries, True):
        _, error, _ = task.sim(args.hipec, None, *words)
        if error:
            raise plan.Wrong(error)


def run_all(args, kept, some, pool, version):
    """Run commands, and keep rows as they come; their errors that may not come again are in the
    result: {key: {"error": why}}."""
    passing = {}
    futures = [pool.submit(task.run, args.hipec, version, os.getcwd(), *command) for command in some]
    for place, result in engine.gather(futures):
        if isinstance(result, Exception):
            result = [(key, None, KILLED, False) for key, *_ in some[place][-1]]
        lasting = []
        for key, row, error, keep in result:
            row = row or {"error": error}
            if keep:
                kept.rows[key] = row
                lasting.append({"key": key, "row": row})
            else:
                passing[key] = row
        kept.add(*lasting)
    return passing


def table(work, kept, seen, passing):
    """All rows of the plan, in its order."""
    found = []
    for trace, what in seen.items():
        for run in work.runs(trace):
            key = work.key(run, what["digest"])
            row = {"error": what["error"]} if what["error"] else kept.rows.get(key) or passing[key]
            found.append(store.flat(run, key, what["digest"], work, row))
    return found


def emit(args, parts):
    """Print what has the parts of the plan run by somebody else."""
    words = [args.hipec, "sweep", "--jobs", "1", "--output", args.output]
    words += ["--sample", args.sample] if args.sample else []
    head, end = shlex.join(words), shlex.join(["--", args.plan])
    if args.emit == "parallel":
        for part in range(parts):
            print(f"{head} --part {part}/{parts} {end}")
        return
    print(f"#!/bin/sh\n#SBATCH --job-name=hipec-sweep\n#SBATCH --array=0-{parts - 1}\n"
          f"#SBATCH --ntasks=1\n{head} --part $SLURM_ARRAY_TASK_ID/{parts} {end}")


def end_of(args, rows):
    """Say how it went. Return: the exit code."""
    bad = [row for row in rows if row["error"]]
    print(f"{args.said}/results.parquet: {number(len(rows), 'row')}, {len(bad)} with an error")
    for error in list(dict.fromkeys(row["error"] for row in bad))[:5]:
        print(f"hipec sweep: {error}", file=sys.stderr)
    return BAD_ROWS if bad else 0


def enter(args):
    """Go where the plan is: names in it are from there, wherever somebody stands who runs a
    part of it."""
    folders = os.environ.get("HIPEC_POLICY_PATH", "").split(":")
    os.environ["HIPEC_POLICY_PATH"] = ":".join(os.path.abspath(name) for name in folders if name)
    args.output, args.plan = os.path.abspath(args.output), os.path.abspath(args.plan)
    args.said = os.path.relpath(args.output)
    try:
        os.chdir(os.path.dirname(args.plan))
    except OSError as error:
        raise plan.Wrong(f"{args.plan}: {error.strerror}") from None


def sweep(args):
    """All of it. Return: the exit code."""
    whole = args.parts == 1
    enter(args)
    if whole and not args.dry_run and not args.emit:
        plan.python_has("pyarrow")
    work = plan.load(args.plan, args.hipec, os.path.join(args.output, "images"),
                     args.sample)
    if args.emit:
        emit(args, len(work.traces))
        return 0
    kept = store.Store(args.output, f"{args.part}-of-{args.parts}")
    check(args, work)
    traces = work.traces[args.part::args.parts]
    with engine.executor(args.scheduler, args.jobs) as (pool, args.jobs):
        seen = survey(args, kept, traces, pool, work.reading)
        left = missing(work, kept, seen)
        announce(work, seen, left, args.jobs)
        if args.dry_run:
            return 0
        split = len(left) < WIDE * args.jobs
        some = [command for trace, runs in left.items()
                for command in commands(work, trace, seen[trace], runs, split)]
        passing = run_all(args, kept, some, pool, work.version)
    if not whole:
        return BAD_ROWS if passing or any(what["error"] for what in seen.values()) else 0
    rows = table(work, kept, seen, passing)
    store.write_table(os.path.join(args.output, "results.parquet"), rows)
    return end_of(args, rows)


def main():
    """Do what the command line says."""
    try:
        return sweep(parse(sys.argv[1:]))
    except plan.Wrong as error:
        print(f"hipec sweep: {error}", file=sys.stderr)
    except OSError as error:
        print(f"hipec sweep: {error.filename or ''}: {error.strerror}", file=sys.stderr)
    return FAILED


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(main())
