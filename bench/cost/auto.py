#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""--policy auto in the simulator, beside the policies of its league, each from the first
access on: the traces of league.py, random mixes of access patterns (bench/amp/mixes.py) and
traces that change phase, at several sizes.

    auto.py [--mixes N] [--phases N] [--all]

Prints the goals with met or missed, and the worst cells; --all prints every cell.
Nothing is random twice: a trace is made from its number.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench.amp import mixes  # noqa: E402
from bench.cost import league  # noqa: E402

HIPEC = ROOT / "build" / "hipec"
AMONG = ["mru", "arc", "2q", "s3-fifo", "w-tinylfu", "lirs", "lru"]
SIZES = "5%,10%,25%,50%,90%"


def a_loop(_, base, pages, nr):
    """Over and over."""
    return [base + i % pages for i in range(nr)]


def favourites(rng, base, pages, nr):
    """Few pages have most accesses."""
    return [base + int(pages ** rng.random()) - 1 for _ in range(nr)]


def scan_beside(rng, base, pages, nr):
    """A third are of pages that are read once."""
    return [base + (5_000_000 + i if i % 3 == 0 else rng.randrange(pages // 3)) for i in range(nr)]


def drift(rng, base, pages, nr):
    """A working set that moves."""
    return [base + (i // 8 * 2 + rng.randrange(200)) % pages for i in range(nr)]


def phases(number):
    """Six of these, one after the other."""
    rng = random.Random(number)
    pages, trace = rng.choice([1000, 3000, 6000]), []
    for _ in range(6):
        kind = rng.choice([a_loop, favourites, scan_beside, drift])
        size = rng.randrange(pages // 2, pages)
        trace += kind(rng, rng.choice([0, 10_000_000]), size, rng.randrange(8 * pages, 20 * pages))
    return trace


def write(path, pages):
    """A trace of reads."""
    path.write_text("".join(f"r {page}\n" for page in pages), encoding="utf-8")
    return path


def traces(folder, args):
    """{name: file}"""
    made = dict(league.make(folder))
    for i in range(args.mixes):
        made[f"mix {i}"] = write(folder / f"mix{i}", [page for page, _ in mixes.mix(i)[0]])
    for i in range(args.phases):
        made[f"phases {i}"] = write(folder / f"phases{i}", phases(i))
    return made


def cells(name, file):
    """[(trace, frames, {policy: faults}, take-overs)]"""
    done = subprocess.run(
        [HIPEC, "sim", "--json", "--mode", "exact", "--among", ",".join(AMONG),
         "--policy", ",".join(["builtin", *AMONG, "auto"]), "--frames", SIZES, file],
        check=True, stdout=subprocess.PIPE,
        env={**os.environ, "HIPEC_POLICY_PATH": str(ROOT / "build" / "policies")})
    found = {}
    for row in json.loads(done.stdout):
        cell = found.setdefault(row["frames"], [name, row["frames"], {}, 0])
        cell[2][row["policy"]] = row["faults"]
        if row["policy"] == "auto":
            cell[3] = row["league"]["nr_switches"]
    return list(found.values())


def over(cell):
    """How many percent more auto misses than the default, and than the best."""
    faults = dict(cell[2])
    auto = faults.pop("auto")
    return 100 * auto / faults["builtin"] - 100, 100 * auto / min(faults.values()) - 100


def goal(what, cases, least):
    """Print whether at least @least percent of @cases hold."""
    part = 100 * sum(cases) / len(cases)
    print(f"{'met' if part >= least else 'missed'}: {what}: {part:.1f} % of {len(cases)} "
          f"(goal {least} %)")


def print_cell(cell):
    """One line."""
    faults = dict(cell[2])
    auto = faults.pop("auto")
    best = min(faults, key=faults.get)
    to_default, to_best = over(cell)
    print(f"{cell[0]:12}{cell[1]:8}{faults['builtin']:10}{auto:10}{to_default:+8.1f}"
          f"{faults[best]:10}{to_best:+8.1f}  {best}, {cell[3]} take-overs")


def main():
    """All traces."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--mixes", type=int, default=60)
    parser.add_argument("--phases", type=int, default=20)
    parser.add_argument("--all", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = [cell for name, file in traces(pathlib.Path(folder), args).items()
                 for cell in cells(name, file)]
    pairs = [over(cell) for cell in found]
    order = sorted(found, key=lambda cell: over(cell)[1], reverse=True)
    print(f"{'trace':12}{'frames':>8}{'default':>10}{'auto':>10}{'%':>8}{'best':>10}{'%':>8}")
    for cell in order if args.all else order[:12]:
        print_cell(cell)
    goal("at most 3 % over the default", [d <= 3 for d, _ in pairs], 100)
    goal("at most 2 % over the default", [d <= 2 for d, _ in pairs], 99)
    goal("within 5 % of the best single policy", [b <= 5 for _, b in pairs], 90)
    goal("within 10 % of the best single policy", [b <= 10 for _, b in pairs], 98)
    changing = [over(cell)[1] < 0 for cell in found if cell[0].startswith("phases")]
    if changing:
        goal("fewer misses than every single policy, where phases change", changing, 50)
    print(f"mean over the best: {sum(b for _, b in pairs) / len(pairs):+.1f} %, "
          f"over the default: {sum(d for d, _ in pairs) / len(pairs):+.1f} %")


if __name__ == "__main__":
    main()
