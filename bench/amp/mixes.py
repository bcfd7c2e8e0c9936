#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""What AMP loses at worst: sixty random mixes of contexts that loop, shuffle, have
favourites, read on, or change from one to another, with five sizes of cache each.

    mixes.py [--first N] [--mixes N] [--unguarded]

Mixes 0 to 59 were looked at when the trial's numbers were chosen; --first 1000 has others.
Prints each mix with misses over ARC's by size, and in the end the worst and how many
lose over 2 %. Nothing is random twice: a mix is made from its number.
"""

import argparse
import json
import math
import os
import pathlib
import random
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HIPEC = ROOT / "build" / "hipec"
KINDS = ["loop", "favourites", "shuffle", "scan", "skip", "local", "drift"]
ACCESSES, SIZES = 60000, "5%,20%,40%,60%,80%"


class Context:
    """Pages from 0 on, as its kind has them; None: this turn it passes."""

    def __init__(self, rng, pages):
        self.rng, self.kind, self.at, self.order = rng, rng.choice(KINDS), 0, None
        self.size = rng.randrange(pages // 10, pages)

    def page(self):
        """The next one."""
        rng, n, size = self.rng, self.at, self.size
        self.at += 1
        if self.kind == "favourites":
            return int(size ** rng.random())
        if self.kind == "scan":
            return 2_000_000 + n
        if self.kind == "local":
            return (n // 8 * 2 + rng.randrange(16)) % size
        if self.kind == "drift":
            return n % size + n // (4 * size) * size // 2
        if self.kind == "skip" and rng.random() < 0.5:
            return None
        if self.kind == "shuffle":
            if n % size == 0 or self.order is None:
                self.order = rng.sample(range(size), size)
            return self.order[n % size]
        return n % size


def mix(number):
    """[(page, context)], and the kinds that it began with."""
    rng = random.Random(number)
    pages = rng.choice([600, 2000, 5000])
    contexts = [Context(rng, pages) for _ in range(rng.randrange(2, 7))]
    kinds = [context.kind for context in contexts]
    first = [i * 10_000_000 if rng.random() < 0.8 else 0 for i in range(len(contexts))]
    trace = []
    while len(trace) < ACCESSES:
        i = rng.randrange(len(contexts))
        if rng.random() < 0.0005:
            contexts[i].kind = rng.choice(KINDS)
        for _ in range(rng.choice([1, 10, 200, contexts[i].size])):
            page = contexts[i].page()
            if page is not None:
                trace.append((first[i] + page, i + 1))
    return trace[:ACCESSES], kinds


def ratios(trace, options):
    """Misses of amp over ARC's, by size."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("".join(f"r {page} c={context:x}\n" for page, context in trace))
        file.flush()
        done = subprocess.run(
            [HIPEC, "sim", "--json", "--mode", "exact", "--policy", "arc,amp", "--frames", SIZES,
             *options, file.name], check=True, stdout=subprocess.PIPE,
            env={**os.environ, "HIPEC_POLICY_PATH": str(ROOT / "build" / "policies")})
    misses = {}
    for row in json.loads(done.stdout):
        misses.setdefault(row["frames"], {})[row["policy"]] = row["faults"]
    return [misses[frames]["amp"] / misses[frames]["arc"] for frames in sorted(misses)]


def main():
    """All mixes."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--mixes", type=int, default=60)
    parser.add_argument("--unguarded", action="store_true", help="AMP as in the paper")
    args = parser.parse_args()

    found = []
    for number in range(args.first, args.first + args.mixes):
        trace, kinds = mix(number)
        row = ratios(trace, ["--unguarded"] if args.unguarded else [])
        found += row
        print(f"{number:3}  {'  '.join(f'{r:.3f}' for r in row)}  {' '.join(kinds)}", flush=True)
    mean = math.exp(sum(map(math.log, found)) / len(found))
    print(f"{len(found)} runs: worst {max(found):.3f}, best {min(found):.3f}, "
          f"{sum(r > 1.02 for r in found)} lose over 2 %, {sum(r < 0.98 for r in found)} gain over 2 %, "
          f"geometric mean {mean:.3f}")


if __name__ == "__main__":
    main()
