# SPDX-License-Identifier: GPL-2.0-only
"""hipec sweep on a Dask cluster, started as its users start one: the table is that of one machine,
byte for byte, whoever is killed meanwhile, and no row that was written is run again."""

import os
import re
import signal
import socket
import subprocess
import time

import pytest

from conftest import BUILD, ROOT
from test_sweep import ENV, HIPEC, VENV, journal, table

pytestmark = [pytest.mark.sweep,
              pytest.mark.skipif(not (VENV / "ready").exists(),
                                 reason="no Dask in the cache; make packages-sweep installs it")]
PLAN = """traces = ["*.trace"]
policies = ["lru", "s3-fifo", "opt"]
frames = ["10%", 100, "50%"]
"""
ROWS = 9    # a trace


class Cluster:
    """A scheduler, and workers: processes of this machine."""

    def __init__(self, folder):
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as server:
            self.port = server.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.scheduler, self.workers, self.number = None, [], 0

    def run(self, *words):
        """One of Dask's commands."""
        self.number += 1
        with open(self.folder / f"dask-{self.number}.log", "wb") as log:
            return subprocess.Popen([VENV / "bin/dask", *words], stdout=log, stderr=log,
                                    env={**ENV, "DASK_DISTRIBUTED__DIAGNOSTICS__NVML": "false"})

    def start(self):
        """The scheduler, and wait until it listens."""
        self.scheduler = self.run("scheduler", "--host", "127.0.0.1", "--port", str(self.port),
                                  "--no-dashboard")
        while self.scheduler.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.1)
        raise AssertionError("no scheduler")

    def add(self):
        """A worker of one thread."""
        self.workers.append(self.run("worker", self.address, "--nthreads", "1", "--no-nanny",
                                     "--no-dashboard", "--local-directory",
                                     str(self.folder / f"worker-{self.number}")))

    def kill_worker(self):
        """The one that was started first."""
        kill(self.workers.pop(0))

    def end(self):
        """All of them."""
        for process in [*self.workers, self.scheduler]:
            if process:
                kill(process)
        self.workers, self.scheduler = [], None


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.fixture
def cluster(tmp_path_factory):
    """A scheduler and two workers."""
    found = Cluster(tmp_path_factory.mktemp("dask"))
    found.start()
    found.add()
    found.add()
    yield found
    found.end()


@pytest.fixture
def here(tmp_path):
    """A folder with a plan and 40 traces."""
    for number in range(40):
        kind = ("zipf", "loop", "shift")[number % 3]
        subprocess.run([HIPEC, "trace", "make", kind, "--pages", "1000", "--accesses", "20000",
                        f"t{number:02}.trace"], check=True, cwd=tmp_path)
    (tmp_path / "p.toml").write_text(PLAN)
    return tmp_path


def begin(here, *args):
    return subprocess.Popen([HIPEC, "sweep", *args, "p.toml"], cwd=here, env=ENV, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait_for(process, here, rows):
    """Until so many rows are written."""
    while process.poll() is None and len(journal(here)) < rows:
        time.sleep(0.02)


def ended(process):
    out, said = process.communicate(timeout=300)
    return process.returncode, out, said


def wanted(here):
    """The table by this machine alone; nothing is left of how it came about."""
    assert ended(begin(here))[0] == 0
    result = here / "p.sweep/results.parquet"
    found = result.read_bytes()
    for path in [result, *(here / "p.sweep").glob("journal-*")]:
        path.unlink()
    return found


def check(here, expected):
    assert (here / "p.sweep/results.parquet").read_bytes() == expected
    assert len(journal(here)) == len(set(journal(here))) == ROWS * len(list(here.glob("*.trace")))


def test_a_cluster_makes_the_same_table(here, cluster):
    expected = wanted(here)
    status, out, said = ended(begin(here, "--scheduler", cluster.address))
    assert status == 0 and "with 2 workers" in out, said
    check(here, expected)
    (here / "bad.trace").write_text("r five\n")
    assert ended(begin(here, "--scheduler", cluster.address))[0] == 3
    assert {row["trace"] for row in table(here) if row["error"]} == {"bad.trace"}


def test_workers_that_are_killed_change_nothing(here, cluster):
    expected = wanted(here)
    process = begin(here, "--scheduler", cluster.address)
    for rows in (1, 70, 150):
        wait_for(process, here, rows)
        assert process.poll() is None, process.stderr.read()
        cluster.kill_worker()
        cluster.add()
    status, _, said = ended(process)
    assert status == 0, said
    check(here, expected)


ARRIVES = """
import concurrent.futures, contextlib, os, signal, sys
import engine

def task():
    import os, time
    time.sleep(0.01)
    return ["x" * 3_000_000, os.getpid()]

with engine.executor(sys.argv[1], None) as (pool, _):
    for _ in range(int(sys.argv[2])):
        futures = [pool.submit(task) for _ in range(100)]
        for number, future in enumerate(concurrent.futures.as_completed(futures)):
            worker = future.result()[1]
            if number % 30 == 29:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)
                    print("killed", flush=True)
"""


def test_a_worker_may_be_killed_as_its_result_arrives(cluster):
    """The executor that Dask has fails in one of 15 such kills."""
    for _ in range(4):
        cluster.add()
    with subprocess.Popen([VENV / "bin/python", "-B", "-c", ARRIVES, cluster.address, "4"],
                          env={**ENV, "PYTHONPATH": ROOT / "userlib/sweep"}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        for _ in process.stdout:
            cluster.add()
        said = process.stderr.read()
    assert process.returncode == 0, said


def test_a_killed_scheduler_is_said_and_the_same_command_goes_on(here, cluster):
    expected = wanted(here)
    for rows in (1, 120):
        process = begin(here, "--scheduler", cluster.address)
        wait_for(process, here, rows)
        assert process.poll() is None, process.stderr.read()
        cluster.end()
        status, _, said = ended(process)
        assert (status, said) == (1, "hipec sweep: the connection to the scheduler is lost; the "
                                  "same command goes on where it was\n")
        before = set(journal(here))
        cluster.start()
        cluster.add()
    status, out, said = ended(begin(here, "--scheduler", cluster.address))
    assert status == 0 and f"to do: {40 * ROWS - len(before)} run" in out, said
    check(here, expected)


def test_a_sweep_that_is_killed_leaves_the_cluster_to_the_next(here, cluster):
    expected = wanted(here)
    process = begin(here, "--scheduler", cluster.address)
    wait_for(process, here, 60)
    assert process.poll() is None
    kill(process)
    assert ended(begin(here, "--scheduler", cluster.address))[0] == 0
    check(here, expected)


def test_the_page_starts_a_cluster_by_hand(here):
    """docs/user/sweeps.md, Other machines, with a port that is free, in one shell."""
    (here / "p.toml").rename(here / "plan.toml")
    lines = re.findall(r"^\$ ((?:export DASK|dask|hipec sweep --scheduler).*)\n",
                       (ROOT / "docs/user/sweeps.md").read_text(), re.M)
    assert len(lines) == 5 and sum(line.endswith(" &") for line in lines) == 3
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    script = "\n".join([*lines, "kill $pids"])
    for old, new in [(" &\n", ' & pids="$pids $!"\n'), ("8786", str(port)),
                     ("dask scheduler", "dask scheduler --no-dashboard")]:
        script = script.replace(old, new)
    done = subprocess.run(
        ["sh", "-c", script], cwd=here, text=True, check=True,
        env={**ENV, "PATH": f"{VENV / 'bin'}:{BUILD}:{os.environ['PATH']}",
             "DASK_DISTRIBUTED__DIAGNOSTICS__NVML": "false"},
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=300)
    assert done.stdout.endswith("plan.sweep/results.parquet: 360 rows, 0 with an error\n")


def test_the_bench_compares_all_rows_and_tables():
    """bench/cost/sweep.py with two traces: that takes Dask longer to start than to run."""
    done = subprocess.run([VENV / "bin/python3", ROOT / "bench/cost/sweep.py", "--traces", "2"],
                          env=ENV, text=True, capture_output=True, check=False)
    assert not done.stderr and "2 traces, 160 rows; hipec sim alone" in done.stdout
    assert "met      each row equals hipec sim --json\n" in done.stdout
    assert "met      all ways make the same table, byte for byte\n" in done.stdout
    assert done.returncode == ("NOT met" in done.stdout)


def test_a_worker_of_another_version_gives_no_rows(here, cluster):
    """Theirs would not be ours: the command beside them was replaced, say."""
    other = here / "other"
    (other / "sweep").mkdir(parents=True)
    for path in (BUILD / "sweep").glob("*.py"):
        (other / "sweep" / path.name).write_bytes(path.read_bytes())
    code = ("import sys; sys.path.insert(0, sys.argv[1]); import task;"
            "print(task.run(sys.argv[2], '0.0', '.', [], 1, [('key', 0, 1)]))")
    done = subprocess.run([VENV / "bin/python3", "-c", code, other / "sweep", HIPEC], text=True,
                          capture_output=True, check=True, env=os.environ)
    assert done.stdout == f"[('key', None, 'a worker has no {HIPEC} of version 0.0', False)]\n"


def test_an_address_without_a_scheduler_is_said(here):
    env = {**ENV, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "1s"}
    done = subprocess.run([HIPEC, "sweep", "--scheduler", "nonsense://x", "p.toml"], cwd=here,
                          env=env, text=True, capture_output=True, check=False)
    assert done.returncode == 1 and done.stderr.startswith("hipec sweep: --scheduler: nonsense://x: ")
