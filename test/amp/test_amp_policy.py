# SPDX-License-Identifier: GPL-2.0-only
"""policies/amp.hp with partitions: beside its oracle, access by access, with a table
that does not change; and what changes when it does."""

import json
import os
import random
import subprocess

import pytest

from conftest import BUILD
from oracles import amp
from test_oracles import HIPEC, compiled, missed_by_policy

pytestmark = pytest.mark.user

NEVER = 1_000_000_000      # accesses to the next detection: a table stays as it is
CONTEXTS = {0x101: 1, 0x2002: 2, 0x141: 3, 0x55: 11, 0x77: 0}
SIZES = {1: 60, 2: 25, 3: 9}


@pytest.fixture(scope="module", autouse=True)
def build():
    subprocess.run(["make", "-s", "-C", BUILD.parent, "build/asan/hipec", "build/ampc",
                    "build/policies/amp.hpo"], check=True)


def hints(path, contexts=CONTEXTS, sizes=None):
    """A state file that gives contexts their partitions: loops by their sizes."""
    rows = ["hipec-amp 1"]
    for context, part in contexts.items():
        kind = "looping" if part in amp.LOOPS else "one-shot" if part else "other"
        rows.append(f"{context:016x} {kind} 0.1 1 100 {(sizes or SIZES).get(part, 50)} "
                    f"{(sizes or SIZES).get(part, 0)} 0 0")
    path.write_text("\n".join(rows) + "\n")
    return path


def mixed(rng):
    """Loops of three contexts, pages that others want again, pages wanted once, and now
    and then somebody who touches another's pages."""
    at, trace, once = dict.fromkeys(CONTEXTS, 0), [], 1000
    while len(trace) < 4000:
        context = rng.choice([0x101, 0x2002, 0x141, 0x55, 0x77, 0x77, 0])
        for _ in range(rng.randrange(1, 30)):
            part = CONTEXTS.get(context, 0)
            if context and part in SIZES:
                page = 100 * part + at[context] % SIZES[part]
                at[context] += 1
            elif part == amp.ONE_SHOT:
                once += 1
                page = once
            else:
                page = int(80 ** rng.random())
            if rng.random() < 0.02:
                page = rng.choice(trace)[0] if trace else page
            trace.append((page, context))
    return trace


@pytest.mark.parametrize("lru", [0, 1])
@pytest.mark.parametrize("frames", [3, 10, 30, 60, 110])
def test_partitions_are_as_in_the_oracle(lru, frames, tmp_path):
    policy, hits = compiled("amp", {"lru": lru} if lru else {}, tmp_path), 0
    for seed in range(4):
        trace = mixed(random.Random(seed))
        file = tmp_path / "trace"
        file.write_text("".join(f"r {page}" + (f" c={context:x}\n" if context else "\n")
                                for page, context in trace))
        cache = amp.Partitions(frames, CONTEXTS, SIZES, lru)
        wanted = [page for page, context in trace if not cache.access(page, context)]
        got = missed_by_policy(policy, frames, file, tmp_path / "post", "--unguarded",
                               "--hints", hints(tmp_path / "hints"), "--detect-every", str(NEVER))
        same = next((i for i, (a, b) in enumerate(zip(got, wanted)) if a != b), -1)
        assert got == wanted, f"seed {seed}: miss {same + 1} of {len(got)}"
        hits += len(trace) - len(got)
    assert hits
