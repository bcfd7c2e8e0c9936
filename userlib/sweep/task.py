# SPDX-License-Identifier: GPL-2.0-only
"""What a worker does: look at a trace, and have hipec sim run policies on it. It stands alone."""

import hashlib
import json
import subprocess

# Of hipec sim --json, those that depend on what else was run beside.
OF_OTHERS = ("gain_percent", "verdict")


def sim(hipec, *args):
    """(rows, None, whether it would be so again), or (None, why not, the same)."""
    try:
        done = subprocess.run([hipec, "sim", "--json", "--jobs", "1", *args], text=True,
                              errors="replace", check=False, stdin=subprocess.DEVNULL,
                              capture_output=True)
    except OSError as error:
        return None, f"{hipec}: {error.strerror}", False
    if done.returncode == 0:
        return json.loads(done.stdout), None, True
    why = done.stderr.strip().splitlines() or [f"hipec sim ended with {done.returncode}"]
    return None, why[0], done.returncode == 1


def survey(hipec, trace):
    """What a trace is: its hash, accesses and pages; or the error. A trace that cannot be opened
    has no hash; then nothing of it is kept."""
    found = {"digest": "", "accesses": 0, "pages": 0, "error": ""}
    try:
        with open(trace, "rb") as file:
            found["digest"] = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return {**found, "error": f"{trace}: {error.strerror}"}
    rows, error, lasting = sim(hipec, "--policy", "fifo", "--frames", "1", "--", trace)
    if error:
        return {**found, "error": error, "digest": found["digest"] if lasting else ""}
    return {**found, "accesses": rows[0]["accesses"], "pages": rows[0]["pages"]}


def run(hipec, args, width, wanted):
    """Run one command with so many policies; wanted: (key, place of the policy in it, frames) of
    each row. Return: [(key, row, error, whether to keep that)]."""
    rows, error, lasting = sim(hipec, *args)
    if error:
        return [(key, None, error, lasting) for key, _, _ in wanted]
    found = {}
    for place, row in enumerate(rows):
        found[row["frames"], place % width] = {
            name: value for name, value in row.items() if name not in OF_OTHERS}
    return [(key, found[frames, place], None, True) for key, place, frames in wanted]
