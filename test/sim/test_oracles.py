# SPDX-License-Identifier: GPL-2.0-only
"""Each shipped policy beside its oracle (test/sim/oracles): the same accesses hit and
the same miss, in exact mode, on five kinds of traces at five sizes."""

import importlib
import json
import math
import os
import random
import re
import subprocess

import pytest

from conftest import BUILD, ROOT

pytestmark = pytest.mark.user

HIPEC = BUILD / "asan" / "hipec"
POLICIES = sorted(path.stem for path in (ROOT / "policies").glob("*.hp"))
SIZES = (3, 10, 25, 60, 110)
PAGES, ACCESSES = 150, 2500


def zipf(rng, pages):
    return min(int(pages ** rng.random()) - 1, pages - 1)


def random_pages(rng):
    return [rng.randrange(PAGES) for _ in range(ACCESSES)]


def loop_pages(rng):
    """A loop that changes its length, so that it fits some of the sizes."""
    lengths = [12, 40, 70, 130]
    return [i % lengths[i * len(lengths) // ACCESSES] for i in range(ACCESSES)]


def zipf_pages(rng):
    place = list(range(PAGES))
    rng.shuffle(place)
    return [place[zipf(rng, PAGES)] for _ in range(ACCESSES)]


def mixed_pages(rng):
    """Zipf, now and then a scan, or a page touched several times in a row."""
    pages = []
    while len(pages) < ACCESSES:
        kind = rng.random()
        if kind < 0.02:
            first = rng.randrange(PAGES)
            pages += [(first + i) % PAGES for i in range(rng.randrange(5, 80))]
        elif kind < 0.2:
            pages += [rng.randrange(PAGES)] * rng.randrange(2, 5)
        else:
            pages.append(zipf(rng, PAGES))
    return pages[:ACCESSES]


def few_pages(rng):
    """Now these, now those: lists run empty, and ghosts come back soon."""
    return [rng.randrange(6 + i // 50 % 12) for i in range(ACCESSES)]


KINDS = {"random": random_pages, "loop": loop_pages, "zipf": zipf_pages, "mixed": mixed_pages,
         "few": few_pages}


def make_trace(kind):
    """(page, whether it is written, hint), a third written. Hints: 0 for none to 3."""
    rng = random.Random(kind)
    return [(page, rng.random() < 0.33, rng.choice((0, 1, 2, 3))) for page in KINDS[kind](rng)]


@pytest.fixture(scope="module", name="traces")
def make_traces(tmp_path_factory):
    """kind -> (accesses, file)"""
    folder = tmp_path_factory.mktemp("traces")
    hpo = [f"build/policies/{name}.hpo" for name in POLICIES]
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/hipec", *hpo], check=True)
    traces = {}
    for kind in KINDS:
        traces[kind] = make_trace(kind), folder / kind
        traces[kind][1].write_text("".join(
            f"{'w' if write else 'r'} {page} h={hint}\n" for page, write, hint in traces[kind][0]))
    return traces


def oracle_name(policy):
    return ("_" if policy[0].isdigit() else "") + policy.replace("-", "_")


def oracle_of(policy):
    return importlib.import_module(f"oracles.{oracle_name(policy)}")


def cases():
    """Each policy with its defaults; and with the PARAMETERS of its oracle."""
    for name in POLICIES:
        yield pytest.param(name, {}, id=name)
        parameters = getattr(oracle_of(name), "PARAMETERS", None)
        if parameters:
            words = "-".join(f"{key}={value}" for key, value in parameters.items())
            yield pytest.param(name, parameters, id=f"{name}-{words}")


def compiled(name, parameters, folder):
    """The policy as it is shipped, or with other values at load."""
    if not parameters:
        return BUILD / "policies" / f"{name}.hpo"
    text = (ROOT / "policies" / f"{name}.hp").read_text()
    for key, value in parameters.items():
        text, found = re.subn(rf"(\bparam\s+Int\s+{key}\s*=\s*)\d+", rf"\g<1>{value}", text)
        assert found == 1, key
    source = folder / f"{name}.hp"
    source.write_text(text)
    subprocess.run([BUILD / "ampc", "-o", folder / f"{name}.hpo", source], check=True)
    return folder / f"{name}.hpo"


def missed_by_policy(policy, frames, trace, out, *options):
    """Pages in the order in which they missed. Since a page that is missed comes in,
    and none leaves but at a miss, that says which accesses these were."""
    done = subprocess.run(
        [HIPEC, "sim", "--mode", "exact", "--policy", policy, "--columns", "state",
         "--frames", str(frames), "--post-cache", out, *options, trace],
        text=True, check=False, capture_output=True, env={**os.environ, "PATH": str(BUILD)})
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "runs", done.stdout
    missed = []
    for page, count in re.findall(r"^r (\d+)(?: (\d+))?$", out.read_text(), re.M):
        missed += range(int(page), int(page) + int(count or 1))
    return missed


def test_every_oracle_has_its_policy():
    files = {path.stem for path in (ROOT / "test/sim/oracles").glob("*.py")}
    helpers = {name for name in files if re.match("_[^0-9]", name)}
    assert files - helpers == {oracle_name(name) for name in POLICIES}


@pytest.mark.parametrize("name, parameters", cases())
def test_policy_hits_where_its_oracle_does(name, parameters, traces, tmp_path):
    policy, hits = compiled(name, parameters, tmp_path), 0
    for kind, (trace, file) in traces.items():
        for frames in SIZES:
            cache = oracle_of(name).Cache(frames, **parameters)
            wanted = [page for page, write, hint in trace if not cache.access(page, write, hint)]
            got = missed_by_policy(policy, frames, file, tmp_path / "post")
            same = next((i for i, (a, b) in enumerate(zip(got, wanted)) if a != b),
                        min(len(got), len(wanted)))
            assert got == wanted, \
                f"{kind}, {frames} frames: miss {same + 1} of {len(got)}, {len(wanted)} wanted"
            hits += len(trace) - len(got)
    assert hits


@pytest.mark.parametrize("name, params, other", [
    ("2q", {"kin": 100, "kout": 0}, "fifo"),
    ("cflru", {"window": 0}, "lru"),
    ("fab", {"block_pages": 1}, "lru"),
    ("brrip", {"duel": 0, "rare": 1}, "rrip"),
])
def test_parameters_at_their_ends_make_it_another(name, params, other, traces, tmp_path):
    it = compiled(name, params, tmp_path)
    for _, file in traces.values():
        faults = []
        for policy in it, BUILD / "policies" / f"{other}.hpo":
            done = subprocess.run(
                [HIPEC, "sim", "-m", "exact", "-p", policy, "--columns", "faults", "-f",
                 ",".join(map(str, SIZES)), file],
                text=True, check=True, capture_output=True, env={**os.environ, "PATH": str(BUILD)})
            faults.append(done.stdout.split()[-len(SIZES):])
        assert faults[0] == faults[1]


def test_lrfu_keys_are_as_exact_as_its_header_says(traces, tmp_path):
    """A page that is used again after so many other uses, at lambda 1/16: what that
    adds to its key is within 2^-15 of log2(1 + 2^-d)."""
    text = (ROOT / "policies" / "lrfu.hp").read_text()
    text = text.replace("lambda = 1049", "lambda = 65536").replace("Int now, ", "counter Int now, ")
    (tmp_path / "lrfu.hp").write_text(text)
    gaps = range(0, 440, 7)
    for gap in gaps:
        (tmp_path / str(gap)).write_text(f"r 0\nr 1 {gap}\nr 0\n" if gap else "r 0\nr 0\n")
    done = subprocess.run(
        [HIPEC, "sim", "--json", "--mode", "exact", "--policy", tmp_path / "lrfu.hp", "--frames",
         "500", *(tmp_path / str(gap) for gap in gaps)], text=True, check=True,
        capture_output=True, env={**os.environ, "PATH": str(BUILD)})
    for gap, row in zip(gaps, json.loads(done.stdout), strict=True):
        got = row["policy_counters"]["log"] / 2**28
        assert abs(got - math.log2(1 + 2 ** (-(gap + 1) / 16))) < 2**-15, gap
