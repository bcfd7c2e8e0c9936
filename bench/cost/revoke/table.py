#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Which policies revocation's contract revokes, and when, in the simulator.

    table.py            lines of the table that decide, and a summary
    table.py --all      all lines
    table.py --json     all lines, for programs

Every policy that there is, and ill-advised ones of bench/cost/revoke, on synthetic
traces. What a policy costs is its faults over those of a full run of the default, with
the frames that the policy keeps; what the contract knows is by a sample. Exit status 1 if a good policy is
revoked, or a bad one is not, in time:

  good    at most 5 % more faults than the default: must not be revoked. In
          `phases` a policy that is as good as the default in all may be bad for
          long enough; there it is not held against the contract
  bad     at least 40 % more, in enough faults for a verdict: must be revoked,
          within 8 windows of the start if it is bad from the start

Columns: OVER% is what the policy costs, JUDGE% the same by the judge, WORST%
the excess that it had in each of four successive windows: the contract's own
percentage is what this is compared with.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from bench.cost.revoke.traces import TRACES  # noqa: E402

BUILD = ROOT / "build"
FOLDERS = ("policies", "bench/cost/revoke", "guest/policies")

GOOD, BAD = 5, 40       # percent
LIMIT = 8               # windows

# Frames that a policy keeps, if it returns all others. The contract says what is made of
# frames, not how many a program ought to want: with a budget of 16 it would have no more, and
# what it returns is its neighbours'. So the default has as few. Another one that returns
# frames is held against a default that has them all, and is WRONG here until it has a line.
KEEPS = {"smpeg": 16}
STEADY = set(TRACES) - {"phases", "bursts", "shifting"}

# Frames: accesses, traces, salts of the sample. The smallest container is sampled
# as a whole; of the others one page in 8 or 32, so that another salt is another sample.
SIZES = {
    256: (100_000, list(TRACES), (1,)),
    4096: (450_000, [name for name in TRACES if name != "scan"], (1, 2)),
    16384: (1_000_000, ["loop 1.02", "zipf 0.8", "tree", "mixture", "phases"], (1,)),
}

# The module's tests have policies that end in a few faults, or are FIFO by another
# name: in the smallest container only.
LARGE = ("policies", "bench/cost/revoke")


def policies(frames):
    """{name: path} of the compiled policies."""
    folders = FOLDERS if frames < 1000 else LARGE
    return {path.stem: path for folder in folders
            for path in sorted((BUILD / folder).glob("*.hpo"))}


def simulate(path, frames, paths, *options):
    """What hipec sim says of each."""
    done = subprocess.run(
        [BUILD / "hipec", "sim", "--json", *options, "--policy", ",".join(map(str, paths)),
         "--frames", str(frames), path], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def run(frames, trace, path, salt):
    """Lines of the table: dictionaries."""
    known = policies(frames)
    told_of = simulate(path, frames, known.values(),
                       f"--contract={salt * 0x9e3779b9 % 2 ** 32}")
    few = {name: simulate(path, kept, ["default"])[0]["faults"] for name, kept in KEEPS.items()}
    rows = []
    for name, row in zip(known, told_of):
        told = row["contract"]
        default = few.get(name, told["default_faults"])
        rows.append({
            "policy": name, "trace": trace, "frames": frames, "salt": salt,
            "faults": row["faults"], "default": default,
            "over": 100 * row["faults"] / default - 100,
            "estimate": 100 * row["faults"] / max(1, told["estimated_faults"]) - 100,
            "windows": told["windows"], "worst": told["worst_percent"],
            "looks": told["looks"] / row["faults"],
            "revoked_in": told["revoked_in"], "revoked_at": told["revoked_at"],
            "ended": bool(row["exit"]["kind"])})
    return rows


def write_trace(folder, frames, name, accesses):
    """A file for hipec sim."""
    path = folder / f"{name.replace(' ', '-')}-{frames}.txt"
    pages = TRACES[name](random.Random(f"{name} {frames}"), frames, accesses)
    path.write_text("".join(f"r {page}\n" for page in pages))
    return path


def measure(folder):
    """All lines."""
    jobs = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for frames, (accesses, names, salts) in SIZES.items():
            for name in names:
                path = write_trace(folder, frames, name, accesses)
                jobs += [pool.submit(run, frames, name, path, salt) for salt in salts]
        return [row for job in jobs for row in job.result()]


def kind(row):
    """Whether the contract must keep a policy there, must revoke it, or may."""
    if row["over"] <= GOOD and (row["trace"] != "phases" or not row["revoked_at"]):
        return "good"
    if row["over"] >= BAD and row["windows"] >= LIMIT and not row["ended"]:
        return "bad"
    return "between"


def is_steady(row):
    """Whether a policy is as bad in the beginning as it is later."""
    return row["trace"] in STEADY and row["policy"] != "turncoat"


def is_wrong(row):
    """Whether the contract did not do what it must."""
    if kind(row) == "good":
        return row["revoked_at"] > 0
    return kind(row) == "bad" and (not row["revoked_at"] or
                                   is_steady(row) and row["revoked_in"] > LIMIT)


def line(row):
    """One line of the table."""
    worst = "-" if row["worst"] is None else f"{row['worst']:+.0f}"
    verdict = f"revoked at {row['revoked_at']} = {row['revoked_at'] / row['frames']:.1f} x frames" \
        if row["revoked_at"] else "kept" if row["worst"] is not None else "too short to say"
    return (f"{row['policy']:16} {row['trace']:12} {row['frames']:6} {row['faults']:8} "
            f"{row['over']:+8.1f} {row['estimate']:+8.1f} {worst:>6}  {kind(row):8} {verdict}"
            f"{'   WRONG' if is_wrong(row) else ''}")


def percentile(numbers, percent):
    """The number that so many are not above."""
    return sorted(numbers)[len(numbers) * percent // 100]


def summary(rows):
    """What follows for the contract."""
    good = [row for row in rows if kind(row) == "good"]
    bad = [row for row in rows if kind(row) == "bad"]
    sampled = [row for row in rows if row["frames"] > 1000 and row["windows"] >= 4]
    errors = [abs((100 + row["over"]) / (100 + row["estimate"]) - 1) * 100 for row in sampled]
    worst = max(row["worst"] for row in good if row["worst"] is not None)
    latest = max(row["revoked_at"] / row["frames"] for row in bad if is_steady(row))
    print(f"""
{len(rows)} runs. {len(good)} good: {sum(map(is_wrong, good))} revoked; \
{len(bad)} bad: {sum(map(is_wrong, bad))} not, or too late.
By four windows a good policy costs {worst:+.1f} % at most, a bad one \
{min(row['worst'] for row in bad):+.1f} % at least.
One that is bad from the start is revoked after {latest:.1f} faults for each frame at most.
Sampled, the judge is off by {percentile(errors, 50):.1f} % (median), \
{percentile(errors, 95):.1f} % (95 of 100), for \
{percentile([row['looks'] for row in sampled], 50):.1f} looks at a bit for each fault (median), \
{max(row['looks'] for row in sampled):.1f} at most.""")


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(pathlib.Path(folder))
    wrong = [row for row in rows if is_wrong(row)]
    if args.json:
        json.dump(rows, sys.stdout, indent=1)
        return bool(wrong)
    rows.sort(key=lambda row: (row["over"], row["policy"]))
    print("POLICY           TRACE        FRAMES   FAULTS    OVER%   JUDGE% WORST%  KIND     CONTRACT")
    for row in rows:
        near = kind(row) == "good" and (row["worst"] or 0) > 10
        if args.all or near or kind(row) != "good":
            print(line(row))
    summary(rows)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
