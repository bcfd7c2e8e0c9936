#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""write-hints-2006, Figures 5 to 12: read hit ratios behind a buffer pool, by policy,
with and without write hints. Requests come from twotier.py; everything is a
twentieth of the paper's size. docs/papers.md explains what comes out.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench.lib import twotier  # noqa: E402

BUILD = ROOT / "build"
SCALE = 20
PAGES = 606317 // SCALE
WARM_UP = "40%"                 # of the requests; by then each cache is full
REQUESTS = 600_000
POLICIES = ("lru", "lfu", "mq", "arc", "lru-hints", "lfu-hints", "mq-hints", "arc-hints", "tq")
SERVER = (60, 120, 180, 240, 300)       # K pages of the paper
CLIENT = (60, 300, 540)
SOFTMAX = (50, 400, 4000)
USUAL = (300, 400)              # client, softmax


def read_hits(client, softmax, apc, servers):
    """{server: {policy: percent}}, and the shares of (reads, SYNCH, REPLACE, RECOV)."""
    asked = twotier.requests(PAGES, client * 1000 // SCALE, softmax, apc, REQUESTS, 2006)
    kinds = [hint for _, hint in asked]
    shares = [100 * kinds.count(kind) / len(kinds)
              for kind in (None, twotier.SYNCH, twotier.REPLACE, twotier.RECOV)]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as trace:
        trace.writelines(f"r {page}\n" if hint is None else f"w {page} h={hint}\n"
                         for page, hint in asked)
        trace.flush()
        files = [str(BUILD / "policies" / f"{name}.hpo") for name in POLICIES]
        done = subprocess.run(
            [BUILD / "hipec", "sim", "--json", "--mode", "exact", "--jobs", "1", "--warm-up", WARM_UP,
             "--policy", ",".join([*files, "opt-reads"]), "--frames",
             ",".join(str(k * 1000 // SCALE) for k in servers), trace.name],
            check=True, stdout=subprocess.PIPE)
    rows = iter(json.loads(done.stdout))
    hits = {}
    for server in servers:
        row = {name: next(rows) for name in (*POLICIES, "opt")}
        assert all(r["built_in"] or not (r["exit"]["kind"] or r["helped"]) for r in row.values())
        hits[server] = {name: 100 * r["read_hit_ratio"] for name, r in row.items()}
    return hits, shares


def print_figure(title, columns, values):
    """@values: a {policy: percent} for each of @columns."""
    print(f"\n{title}\n" + " " * 12 + "".join(f"{c:>11}" for c in columns))
    for name in (*POLICIES, "opt"):
        print(f"{name:12}" + "".join(f"{value[name]:11.1f}" for value in values))


def main():
    """Ten traces, as many at a time as there are processors."""
    cases = {(client, softmax, apc): SERVER if (client, softmax) == USUAL else (120,)
             for apc in (False, True)
             for client, softmax in ((60, 400), USUAL, (540, 400), (300, 50), (300, 4000))}
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as workers:
        jobs = {case: workers.submit(read_hits, *case, servers) for case, servers in cases.items()}
        hits = {case: job.result()[0] for case, job in jobs.items()}
        shares = {case: job.result()[1] for case, job in jobs.items()}

    print(f"Read hits in percent, a twentieth of the paper's sizes: a database of {PAGES:,} pages,\n"
          f"{REQUESTS:,} requests, the first {WARM_UP} not counted. Sizes are the paper's, in K pages.")
    print("\nTables 2 and 3: client_softmax  reads   SYNCH  REPLACE   RECOV")
    for (client, softmax, apc), share in shares.items():
        print(f"{'APC' if apc else 'non-APC':>14}  {client:>7}_{softmax:<4}"
              + "".join(f"{percent:8.2f}" for percent in share))
    for n, apc in ((0, False), (1, True)):
        way = "APC" if apc else "non-APC"
        usual = hits[(*USUAL, apc)]
        print_figure(f"Figure {5 + n}: {way}, client 300, server 120", ["300_400"], [usual[120]])
        print_figure(f"Figure {7 + n}: {way}, client 300, by server", SERVER,
                     [usual[server] for server in SERVER])
        print_figure(f"Figure {9 + n}: {way}, server 120, by client", CLIENT,
                     [hits[client, 400, apc][120] for client in CLIENT])
        print_figure(f"Figure {11 + n}: {way}, client 300, server 120, by softmax", SOFTMAX,
                     [hits[300, softmax, apc][120] for softmax in SOFTMAX])


if __name__ == "__main__":
    sys.exit(main())
