# SPDX-License-Identifier: GPL-2.0-only
"""What a worker does: look at a trace, and have hipec sim run policies on it. It stands alone."""

import functools
import hashlib
import json
import os
import subprocess

# Of hipec sim --json, those that depend on what else was run beside.
OF_OTHERS = ("gain_percent", "verdict")


def sim(hipec, folder, *args):
    """Run hipec sim in a folder. Return: (rows, None, whether it would be so again), or (None, why
    not, the same)."""
    try:
        done = subprocess.run([hipec, "sim", "--json", "--jobs", "1", *args], text=True,
                              errors="replace", check=False, stdin=subprocess.DEVNULL,
                              capture_output=True, cwd=folder)
    except OSError as error:
        return None, f"{hipec}: {error.strerror}", False
    if done.returncode == 0:
        return json.loads(done.stdout), None, True
    why = done.stderr.strip().splitlines() or [f"hipec sim ended with {done.returncode}"]
    return None, why[0], done.returncode == 1


def survey(hipec, folder, trace, reading=()):
    """What a trace is: its hash, accesses and pages; or the error. A trace that cannot be opened
    has no hash; then nothing of it is kept."""
    found = {"digest": "", "accesses": 0, "pages": 0, "error": ""}
    try:
        with open(os.path.join(folder, trace), "rb") as file:
            found["digest"] = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return {**found, "error": f"{trace}: {error.strerror}"}
    rows, error, lasting = sim(hipec, folder, "--policy", "fifo", "--frames", "1", *reading, "--",
                               trace)
    if error:
        return {**found, "error": error, "digest": found["digest"] if lasting else ""}
    return {**found, "accesses": rows[0]["accesses"], "pages": rows[0]["pages"]}


@functools.cache
def version_of(hipec):
    """That of the command where this runs, asked once a process; it may be another machine."""
    try:
        return subprocess.run([hipec, "--version"], text=True, check=True,
                              capture_output=True).stdout.split()[-1]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return ""


def run(hipec, version, folder, args, width, wanted):
    """Run one command with so many policies; wanted: (key, place of the policy in it, frames) of
    each row. Return: [(key, row, error, whether to keep that)]."""
    if version_of(hipec) != version:
        return [(key, None, f"a worker has no {hipec} of version {version}", False)
                for key, _, _ in wanted]
    rows, error, lasting = sim(hipec, folder, *args)
    if error:
        return [(key, None, error, lasting) for key, _, _ in wanted]
    found = {}
    for place, row in enumerate(rows):
        found[row["frames"], place % width] = {
            name: value for name, value in row.items() if name not in OF_OTHERS}
    return [(key, found[frames, place], None, True) for key, place, frames in wanted]
