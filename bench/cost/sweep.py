#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""What the engine of hipec sweep costs beside the simulations, and what a second worker saves:
generated traces of 100,000 accesses, 10 policies, 8 sizes, by itself and on a Dask cluster of this
machine.

    sweep.py [--traces N] [--own]       40; the goals are of 1,000 (FULL=1 of make)

--own (OWN=1 of make) leaves Dask out.

Each row is compared with hipec sim --json of its own. Processor times are those of processes that
have ended; builds beside them still made them 7 % longer. Goals of the time on the clock count on
an idle machine alone. The status is 1 if a goal is missed.

The goals are those of two workers. Dask costs some seconds to start, whatever there is to do: a run
of one row says how many. They are shown, and left out of what is held to the goals: of 1,000 traces
they are half a percent.
"""

import argparse
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HIPEC = ROOT / "build/hipec"
PYTHON = os.environ.get("HIPEC_PYTHON", "python3")
KINDS = ["zipf --skew 0.8", "zipf --skew 1.1", "mixed", "shift", "btree --skew 0.8", "loop"]
POLICIES = ["lru", "fifo", "clock", "opt", "s3-fifo", "sieve", "arc", "lirs", "mru", "fifo2"]
FRAMES = ["1%", "2%", "5%", "10%", "20%", "40%", "60%", "80%"]
OVERHEAD, SPEEDUP = 5, 1.9
IDLE = 0.5          # processes that want a processor, in the last minute
# As docs/user/sweeps.md starts it: its profile of itself and its clock cost more than we do.
DASK = {"DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
        "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
        "DASK_DISTRIBUTED__DIAGNOSTICS__NVML": "false"}
OF_OTHERS = ("gain_percent", "verdict")


def spent(process, how=None):
    """End a process. Return: the processor time of it and its children, s."""
    if how:
        process.send_signal(how)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def make(folder, number):
    """The traces, and the plan."""
    for i in range(number):
        kind, *words = KINDS[i % len(KINDS)].split()
        subprocess.run([HIPEC, "trace", "make", kind, "--pages", str(5000 + 100 * (i % 50)), *words,
                        "--accesses", "100000", "--seed", str(i), folder / f"t{i:04}.trace"],
                       check=True)
    (folder / "p.json").write_text(json.dumps({"traces": "*.trace", "policies": POLICIES,
                                               "frames": FRAMES}))
    (folder / "start.json").write_text(json.dumps({"traces": "t0000.trace", "policies": "lru"}))


def plain(folder):
    """hipec sim alone: a command a trace. Return: (rows, s of processor time)."""
    rows, cpu = [], 0.0
    for trace in sorted(folder.glob("*.trace")):
        with tempfile.TemporaryFile() as out:
            process = subprocess.Popen([HIPEC, "sim", "--json", "--jobs", "1", "-p", ",".join(POLICIES),
                                        "-f", ",".join(FRAMES), trace.name], cwd=folder, stdout=out)
            cpu += spent(process)
            out.seek(0)
            rows += json.load(out)
    return rows, cpu


@contextlib.contextmanager
def cluster(folder, workers):
    """A scheduler and workers, as their users start them: (address, processes)."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    dask = pathlib.Path(PYTHON).with_name("dask")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL,
             "env": {**os.environ, **DASK}}
    processes = [subprocess.Popen([dask, "scheduler", "--host", "127.0.0.1", "--port", str(port),
                                   "--no-dashboard"], **quiet)]
    address = f"tcp://127.0.0.1:{port}"
    processes += [subprocess.Popen([dask, "worker", address, "--nthreads", "1", "--no-nanny",
                                    "--no-dashboard", "--local-directory", folder / f"w{number}"],
                                   **quiet) for number in range(workers)]
    try:
        yield address, processes
    finally:
        for process in processes:
            if process.returncode is None:
                process.kill()


def ready(address, workers):
    """Wait until all workers are there."""
    code = ("import distributed, sys; c = distributed.Client(sys.argv[1]);"
            "c.wait_for_workers(int(sys.argv[2]))")
    subprocess.run([PYTHON, "-c", code, address, str(workers)], check=True)


def sweep(folder, plan, output, *more):
    """Return: (s on the clock, s of processor time)."""
    start = time.monotonic()
    process = subprocess.Popen([HIPEC, "sweep", *more, "--output", output, f"{plan}.json"], cwd=folder,
                               stdout=subprocess.DEVNULL)
    cpu = spent(process)
    if process.returncode:
        raise SystemExit(f"hipec sweep ended with {process.returncode}")
    return time.monotonic() - start, cpu


def sweep_on_cluster(folder, plan, workers):
    """Return: (s on the clock, s of processor time of all, the most of a worker)."""
    with cluster(folder, workers) as (address, processes):
        ready(address, workers)
        seconds, cpu = sweep(folder, plan, f"cluster-{plan}-{workers}", "--scheduler", address)
        used = [spent(process, signal.SIGTERM) for process in reversed(processes)]
        return seconds, cpu + sum(used), max(used[:-1])


def rows_of(folder, output):
    """{(trace, policy, frames): what hipec sim counts}, from what was kept."""
    found = {}
    for path in folder.glob(f"{output}/journal-*"):
        for line in path.read_text().splitlines():
            row = json.loads(line).get("row")
            if row:
                key = row["trace"], pathlib.Path(row["policy"]).stem, row["frames"]
                found[key] = {name: value for name, value in row.items() if name != "policy"}
    return found


def goal(what, met):
    """Say whether it is met."""
    print(f"{'met' if met else 'NOT met':8} {what}")
    return met


def by_key(rows):
    """As rows_of()."""
    return {(row["trace"], row["policy"], row["frames"]):
            {key: value for key, value in row.items() if key not in (*OF_OTHERS, "policy")}
            for row in rows}


def measure(folder, dask):
    """(rows, s of processor time of hipec sim alone, {way: (s on the clock, s of processor time,
    ...)}, whether rows and tables are what they should be)."""
    expected, work = plain(folder)
    found = {}
    for workers in (1, 2):
        found[f"{workers} of its own"] = sweep(folder, "p", f"own-{workers}", "--jobs", str(workers))
        if dask:
            found[f"{workers} of Dask's"] = sweep_on_cluster(folder, "p", workers)
            found[f"start of {workers}"] = sweep_on_cluster(folder, "start", workers)
    outputs = [f"{name}-{workers}" for name in ("own", *["cluster-p"] * dask) for workers in (1, 2)]
    tables = {(folder / name / "results.parquet").read_bytes() for name in outputs}
    equal = all(rows_of(folder, name) == by_key(expected) for name in outputs)
    return len(expected), work, found, equal, len(tables) == 1


def main():
    """Measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--traces", type=int, default=40)
    parser.add_argument("--own", action="store_true")
    args = parser.parse_args()
    idle = os.getloadavg()[0] < IDLE and len(os.sched_getaffinity(0)) > 1
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make(folder, args.traces)
        rows, work, found, equal, same = measure(folder, not args.own)
    print(f"{args.traces:,} traces, {rows:,} rows; hipec sim alone takes {work:.1f} s of a processor\n"
          f"{'workers':16}{'processor, s':>14}{'clock, s':>10}")
    for name, (clock, cpu, *_) in found.items():
        print(f"{name:16}{cpu:14.1f}{clock:10.1f}")
    goals = [goal("each row equals hipec sim --json", equal),
             goal("all ways make the same table, byte for byte", same)]
    ways = [("of its own", None), ("of Dask's", "start of 2")]
    for name, starts in ways[:1 if args.own else 2]:
        one, two = found[f"1 {name}"], found[f"2 {name}"]
        overhead = 100 * ((two[1] - (found[starts][1] if starts else 0)) / work - 1)
        goals.append(goal(f"two workers {name}: overhead {overhead:.1f} %, goal at most {OVERHEAD} %",
                          overhead <= OVERHEAD))
        if idle:
            goals.append(goal(f"two workers {name}: {one[0] / two[0]:.2f} times as fast as one, goal "
                              f"at least {SPEEDUP}", one[0] / two[0] >= SPEEDUP))
    if not args.own:
        share = (found["1 of Dask's"][2] - found["start of 1"][2]) / \
            (found["2 of Dask's"][2] - found["start of 2"][2])
        goals.append(goal(f"one of Dask's workers alone spends {share:.2f} times what the busier of "
                          f"two does, goal at least {SPEEDUP}", share >= SPEEDUP))
    if not idle:
        print("not counted: times on the clock, as the machine is not idle")
    return not all(goals)


if __name__ == "__main__":
    sys.exit(main())
