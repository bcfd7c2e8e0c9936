# SPDX-License-Identifier: GPL-2.0-only
"""hipec sweep: its rows are those of hipec sim; what was written is never run again; bad traces are
rows; the table is the same, byte for byte, however it came about."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT, vm

sys.path.insert(0, str(ROOT / "test/docs"))

import session  # noqa: E402  (test/docs/session.py)

pytestmark = pytest.mark.user

HIPEC = BUILD / "hipec"
VENV = vm.cache_dir() / "sweep-2026.11"
PLAN = """traces = ["*.trace"]
policies = ["lru", "s3-fifo", "w-tinylfu", "opt"]
frames = ["10%", 100, "10%", "50%"]
modes = ["mapped", "exact"]
"""
ENV = {**os.environ, "HIPEC_POLICY_PATH": str(BUILD / "policies"), "PYTHONDONTWRITEBYTECODE": "1",
       "HIPEC_PYTHON": str(VENV / "bin/python3")}


OF_OTHERS = {"gain_percent", "verdict", "exit", "policy_counters", "sample"}


@pytest.fixture
def arrow():
    """Skip unless pyarrow and DuckDB are in the cache."""
    if not (VENV / "ready").exists():
        pytest.skip("no pyarrow in the cache; make packages-sweep installs it from PyPI")


@pytest.fixture
def here(tmp_path):
    """A folder with two traces and a plan."""
    for name, words in {"a": "zipf --pages 1000", "b": "loop --pages 500"}.items():
        subprocess.run([HIPEC, "trace", "make", *words.split(), "--accesses", "9000",
                        f"{name}.trace"], check=True, cwd=tmp_path)
    (tmp_path / "p.toml").write_text(PLAN)
    return tmp_path


def sweep(here, *args, env=None):
    return subprocess.run([HIPEC, "sweep", *args, "p.toml"], cwd=here, env=env or ENV, text=True,
                          capture_output=True, check=False)


def test_a_plan_says_how_its_traces_are_read(here):
    """The second column counts two writes and skips two; the third knows no words at all."""
    (here / "rows").write_text("7,1,x\n8,0,x\n9,2,x\n7,1,x\n")
    for columns, ops, accesses in (("id=1,op=2", "w=1,r=0+2", 4), ("id=1,op=2", "w=1,skip=0+2", 2)):
        (here / "p.toml").write_text('traces = ["rows"]\npolicies = ["lru"]\nframes = [8]\n'
                                     f'columns = "{columns}"\nops = "{ops}"\n')
        done = sweep(here, "--dry-run", env={**ENV, "HIPEC_PYTHON": "/usr/bin/python3"})
        assert done.returncode == 0 and f" {accesses} accesses" in done.stdout + done.stderr, done


def table(here):
    """Rows, as DuckDB reads them."""
    code = ("import duckdb, json; rows = duckdb.sql(\"from 'p.sweep/results.parquet'\");"
            "print(json.dumps([dict(zip(rows.columns, row)) for row in rows.fetchall()]))")
    return json.loads(subprocess.run([VENV / "bin/python3", "-c", code], cwd=here, check=True,
                                     capture_output=True, text=True).stdout)


def journal(here):
    """Keys of rows that were written, in all journals; some twice, if they were."""
    return [entry["key"] for path in (here / "p.sweep").glob("journal-*")
            for line in path.read_bytes().splitlines(True) if line.endswith(b"\n")
            if "key" in (entry := json.loads(line))]


def test_each_row_is_what_sim_counts(here, arrow):
    done = sweep(here)
    assert done.returncode == 0, done.stderr
    rows = table(here)
    assert len(rows) == len({row["key"] for row in rows}) == 2 * 4 * 3 * 2
    for row in rows:
        found, = json.loads(subprocess.run(
            [HIPEC, "sim", "--json", "-p", row["policy"], "-f", row["size"], "-m", row["mode"],
             row["trace"]], cwd=here, env=ENV, check=True, capture_output=True).stdout)
        left_out = OF_OTHERS
        assert {name: row[name] for name in found.keys() - left_out} == {
            name: value for name, value in found.items() if name not in left_out}
        if "exit" in found:
            assert (row["exit_kind"], row["exit_text"]) == (0, found["exit"]["text"])
            assert json.loads(row["policy_counters"]) == found.get("policy_counters", {})
            assert len(row["image_sha256"]) == 64


def test_pandas_reads_what_duckdb_reads(here, arrow):
    """As it is, with whole numbers as such and what is missing as missing."""
    (here / "bad.trace").write_text("r five\n")
    assert sweep(here).returncode == 3
    code = ("import pandas, sys; frame = pandas.read_parquet('p.sweep/results.parquet', "
            "dtype_backend='pyarrow'); sys.stdout.write(frame.to_json(orient='records'))")
    read = json.loads(subprocess.run([VENV / "bin/python3", "-c", code], cwd=here, check=True,
                                     capture_output=True, text=True).stdout)
    rows = table(here)
    assert len(read) == len(rows) > 48 and sum(row["error"] is not None for row in read) == 24
    for mine, theirs in zip(read, rows):
        for name, value in theirs.items():
            assert mine[name] == (pytest.approx(value, rel=1e-9) if isinstance(value, float) else value)


def test_rows_of_a_sample_are_those_of_sim_too(here, arrow):
    subprocess.run([HIPEC, "trace", "make", "loop", "--pages", "20000", "--accesses", "50000",
                    "large.trace"], check=True, cwd=here)
    (here / "p.toml").write_text('traces = ["*.trace"]\npolicies = ["lru", "mru"]\nframes = "50%"\n'
                                 'sample = "1/4"\n')
    done = sweep(here)
    assert done.returncode == 0, done.stderr
    for row in table(here):
        found, = json.loads(subprocess.run(
            [HIPEC, "sim", "--json", "-p", row["policy"], "-f", "50%", "--sample", "1/4",
             row["trace"]], cwd=here, env=ENV, check=True, capture_output=True).stdout)
        assert row["sample"] == "1/4" and {name: row[name] for name in found.keys() - OF_OTHERS} == {
            name: value for name, value in found.items() if name not in OF_OTHERS}
        assert {name: row[f"sample_{name}"] for name in found["sample"] if name != "ran"} == {
            name: value for name, value in found["sample"].items() if name != "ran"}
        assert row["sample_every"] == (4 if row["trace"] == "large.trace" else 1)
    # The same plan of all pages is other rows.
    assert "to do: 6 runs" in sweep(here, "--sample", "1/1").stdout
    assert {row["sample_every"] for row in table(here)} == {None}


def test_params_are_of_their_policy_and_each_choice_is_a_row(here, arrow):
    (here / "own.hp").write_text((ROOT / "policies/fifo2.hp").read_text())
    (here / "p.toml").write_text(
        'traces = "b.trace"\npolicies = ["lru", "own.hp"]\nframes = 100\n'
        '[params."own.hp"]\nfree_target = [2, 40]\n')
    done = sweep(here)
    assert done.returncode == 0, done.stderr
    assert [(row["policy"], row["params"]) for row in table(here)] == [
        ("lru", "{}"), ("own.hp", '{"free_target": 2}'), ("own.hp", '{"free_target": 40}')]


def test_it_says_how_much_there_is_first_and_runs_nothing(here):
    done = sweep(here, "--dry-run", env={**ENV, "HIPEC_PYTHON": "/usr/bin/python3"})
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "48 runs: 2 traces, 4 policies, 3 sizes, 2 modes; 0 traces cannot be read",
        "to do: 48 runs, 432,000 accesses; at most 1 MiB a worker, about 1 s with "
        f"{len(os.sched_getaffinity(0))} workers"]
    assert not journal(here) and not (here / "p.sweep/results.parquet").exists()


def test_what_is_written_is_not_run_again_wherever_it_was_cut(here, arrow):
    assert sweep(here).returncode == 0
    path, = (here / "p.sweep").glob("journal-*")
    result = here / "p.sweep/results.parquet"
    whole, wanted = path.read_bytes(), result.read_bytes()
    for cut in [0, 1, len(whole) // 3, len(whole) // 2, len(whole) - 1, len(whole)]:
        path.write_bytes(whole[:cut])
        left = 48 - len(journal(here))
        result.unlink()
        done = sweep(here)
        assert done.returncode == 0 and f"to do: {left} run" in done.stdout
        assert result.read_bytes() == wanted
        assert len(journal(here)) == len(set(journal(here))) == 48


def test_a_sweep_that_is_killed_goes_on_where_it_was(here, arrow):
    for number in range(30):
        (here / f"c{number}.trace").write_bytes((here / "a.trace").read_bytes())
    assert sweep(here).returncode == 0
    result = here / "p.sweep/results.parquet"
    wanted = result.read_bytes()
    path, = (here / "p.sweep").glob("journal-*")
    path.unlink()
    result.unlink()
    kills = 0
    for least in [1, 100, 400]:
        process = subprocess.Popen([HIPEC, "sweep", "p.toml"], cwd=here, env=ENV,
                                   stdout=subprocess.DEVNULL)
        while process.poll() is None and len(journal(here)) < least:
            pass
        process.send_signal(signal.SIGKILL)
        kills += process.wait() == -signal.SIGKILL
    before = set(journal(here))
    done = sweep(here)
    assert kills and done.returncode == 0, done.stderr
    assert f"to do: {32 * 24 - len(before)} run" in done.stdout
    assert len(journal(here)) == len(set(journal(here))) == 32 * 24
    assert result.read_bytes() == wanted


def test_a_plan_that_was_extended_runs_what_is_new(here, arrow):
    assert sweep(here).returncode == 0
    (here / "p.toml").write_text(PLAN.replace('"opt"', '"opt", "sieve"'))
    assert "to do: 12 runs, " in sweep(here).stdout
    assert len(table(here)) == 60
    (here / "b.trace").write_bytes((here / "a.trace").read_bytes())
    assert "to do: 30 runs, " in sweep(here).stdout


def test_bad_traces_are_rows_and_a_status(here, arrow):
    (here / "c.trace").write_text("r five\n")
    (here / "p.toml").write_text(PLAN.replace('"*.trace"', '"*.trace", "none.trace"'))
    done = sweep(here)
    assert done.returncode == 3
    assert done.stdout.endswith("p.sweep/results.parquet: 96 rows, 48 with an error\n")
    errors = {(row["trace"], row["error"], row["faults"]) for row in table(here) if row["error"]}
    assert errors == {
        ("c.trace", "hipec sim: c.trace:1: want a page number, 0 to 4294967295, not 'five'", None),
        ("none.trace", "none.trace: No such file or directory", None)}


def test_parts_that_others_run_become_the_same_table(here, arrow):
    assert sweep(here).returncode == 0
    result = here / "p.sweep/results.parquet"
    wanted = result.read_bytes()
    for path in [result, *(here / "p.sweep").glob("journal-*")]:
        path.unlink()
    lines = sweep(here, "--emit", "parallel").stdout.splitlines()
    assert len(lines) == 2
    for line in lines:
        subprocess.run(["sh", "-c", line], cwd="/", env=ENV, check=True,
                       stdout=subprocess.DEVNULL)
    assert len(journal(here)) == 48 and not result.exists()
    assert "to do: 0 runs, " in sweep(here).stdout
    assert result.read_bytes() == wanted
    script = sweep(here, "--emit", "slurm").stdout
    assert "#SBATCH --array=0-1\n" in script and "--part $SLURM_ARRAY_TASK_ID/2 -- " in script
    assert subprocess.run(["sh", "-n"], input=script, text=True, check=False).returncode == 0


def test_python_has_it_as_a_function(here, arrow, tmp_path):
    subprocess.run(["make", "-s", "-C", ROOT, "build/python/hipec/_abi.py",
                    *(f"build/python/hipec/{path.name}" for path in
                      (ROOT / "userlib/lib/python/hipec").glob("*.py"))], check=True)
    code = ("import hipec; t = hipec.sweep({'traces': ['a.trace'], 'policies': ['lru', 'opt'],"
            "'frames': [100]}); print(t.num_rows, t.column('policy').to_pylist())\n"
            "try: hipec.sweep({'traces': 'x'})\n"
            "except hipec.Error as error: print(error)")
    done = subprocess.run([VENV / "bin/python3", "-c", code], cwd=here, text=True, check=False,
                          env={**ENV, "PYTHONPATH": str(BUILD / "python"),
                               "PATH": f"{BUILD}:{os.environ['PATH']}"}, capture_output=True)
    assert done.stdout == ("2 ['lru', 'opt']\n"
                           "[Errno 22] hipec sweep: policies: want a list of them\n"), done.stderr


@pytest.mark.parametrize("old, new, says", [
    ("frames", "frame", "there is no 'frame'; want columns, format, frames, from, "),
    ('"lru"', '"lruu"', "'lruu' is neither a .hp or .hpo file, nor shipped, nor built in"),
    ('"10%"', '"10 x"', "frames: want frames (4096, 4k), memory"),
    ('"exact"', '"exat"', "modes: want mapped or exact"),
    ("modes", 'sample = "1/3"\nmodes', "sample: want 1/N with a power of two up to 65536"),
    ('"*.trace"', '"*.trase"', "traces: no file is '*.trase'"),
    ("frames", "[params.lru]\nx = 1\n[y]\nframes", "there is no 'y'"),
])
def test_a_wrong_plan_is_said_before_anything_runs(here, old, new, says):
    (here / "p.toml").write_text(PLAN.replace(old, new))
    done = sweep(here, "--dry-run", env={**ENV, "HIPEC_PYTHON": "/usr/bin/python3"})
    assert done.returncode == 1 and says in done.stderr and not journal(here)


def test_a_param_that_no_policy_has_is_said_before_anything_runs(here):
    (here / "p.toml").write_text(PLAN + '[params.lru]\nspeed = 3\n')
    done = sweep(here, "--dry-run", env={**ENV, "HIPEC_PYTHON": "/usr/bin/python3"})
    assert done.returncode == 1 and "no policy here has a parameter 'speed'" in done.stderr


def test_without_pyarrow_it_says_what_to_install(here):
    (here / "away").mkdir()
    (here / "away/pyarrow.py").write_text("raise ImportError\n")
    done = sweep(here, env={**ENV, "HIPEC_PYTHON": "/usr/bin/python3",
                            "PYTHONPATH": str(here / "away")})
    assert (done.returncode, done.stdout) == (1, "")
    assert "it needs the Python package pyarrow: pip install pyarrow" in done.stderr


def test_without_dask_it_says_what_to_install(here):
    (here / "away").mkdir()
    for name, text in {"pyarrow": "", "distributed": "raise ImportError\n"}.items():
        (here / f"away/{name}.py").write_text(text)
    done = sweep(here, "--scheduler", "tcp://127.0.0.1:8786",
                 env={**ENV, "HIPEC_PYTHON": "/usr/bin/python3", "PYTHONPATH": str(here / "away")})
    assert (done.returncode, done.stdout) == (1, "")
    assert "it needs the Python package distributed: pip install distributed" in done.stderr


@pytest.mark.sweep
def test_the_page_shows_what_commands_print(tmp_path, arrow):
    """docs/user/sweeps.md, from the traces on."""
    text = (ROOT / "docs/user/sweeps.md").read_text()
    env = {**ENV, "PATH": f"{VENV / 'bin'}:{BUILD}:{os.environ['PATH']}", "HIPEC": str(ROOT)}
    shown = [pair for pair in session.commands("".join(re.findall(r"```\n((?:.*\n)*?)```", text)))
             if not re.match("python3 -m venv|pip|sudo|export DASK|dask|hipec sweep --scheduler|hipec swap",
                              pair[0])]
    assert len(shown) == 12
    for command, output in shown:
        done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=env, text=True, check=True,
                              capture_output=True)
        said = re.sub(r"with \d+ worker", "with 2 worker", done.stdout)
        assert re.sub(r"\d\.\d MiB", "2.6 MiB", said) == output, command
