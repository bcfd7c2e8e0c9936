#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""What the engine of hipec sweep costs beside the simulations, and what a second worker saves:
generated traces of 100,000 accesses, 10 policies, 8 sizes, on a Dask cluster of this machine.

    sweep.py [--traces N]       40; the goals are of 1,000 (FULL=1 of make)

Each row is compared with hipec sim --json of its own. Processor times are those of processes that
have ended, so others on the machine do not matter; the time on the clock is shown beside them, and
is worth something on an idle machine alone. The status is 1 if a goal is missed.
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
             "env": {**os.environ, "DASK_DISTRIBUTED__DIAGNOSTICS__NVML": "false"}}
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


def sweep(folder, workers):
    """Return: (s on the clock, s of processor time of all, the most of a worker)."""
    with cluster(folder, workers) as (address, processes):
        ready(address, workers)
        start = time.monotonic()
        client = subprocess.Popen([HIPEC, "sweep", "--scheduler", address, "--output",
                                   f"r{workers}", "p.json"], cwd=folder, stdout=subprocess.DEVNULL)
        cpu = spent(client)
        seconds = time.monotonic() - start
        if client.returncode:
            raise SystemExit(f"hipec sweep ended with {client.returncode}")
        used = [spent(process, signal.SIGTERM) for process in reversed(processes)]
        return seconds, cpu + sum(used), max(used[:-1])


def rows_of(folder, workers):
    """{(trace, policy, frames): what hipec sim counts}, from what was kept."""
    found = {}
    for path in folder.glob(f"r{workers}/journal-*"):
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


def main():
    """Measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--traces", type=int, default=40)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make(folder, args.traces)
        expected, work = plain(folder)
        one, two = sweep(folder, 1), sweep(folder, 2)
        same = (folder / "r1/results.parquet").read_bytes() == \
            (folder / "r2/results.parquet").read_bytes()
        wanted = {(row["trace"], row["policy"], row["frames"]):
                  {key: value for key, value in row.items() if key not in (*OF_OTHERS, "policy")}
                  for row in expected}
        equal = rows_of(folder, 1) == wanted
    overhead = 100 * (one[1] / work - 1)
    print(f"{args.traces:,} traces, {len(expected):,} rows; hipec sim alone: {work:.1f} s of processor "
          f"time\none worker: {one[1]:.1f} s, two: {two[1]:.1f} s, of which the busier one "
          f"{two[2]:.1f} s; on the clock {one[0]:.1f} s and {two[0]:.1f} s, {one[0] / two[0]:.2f} times")
    goals = [goal(f"overhead of the engine {overhead:.1f} %, goal at most {OVERHEAD} %",
                  overhead <= OVERHEAD),
             goal(f"one worker's processor time by that of the busier of two {one[2] / two[2]:.2f}, "
                  f"goal at least {SPEEDUP}", one[2] / two[2] >= SPEEDUP),
             goal("each row equals hipec sim --json", equal),
             goal("one and two workers make the same table, byte for byte", same)]
    return not all(goals)


if __name__ == "__main__":
    sys.exit(main())
