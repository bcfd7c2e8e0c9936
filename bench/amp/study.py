#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""The AMP report's simulation study: miss ratios of policies on real programs' traces
with caches of 5 to 90 % of a trace's pages, and what AMP gains and loses beside ARC.

    study.py [--quick] [--depth N] [--json | --docs] [NAME | FILE]...

Traces are those of traces.py, which takes what is not there yet, or any FILE. What is
fed by a detector is left out as long as hipec sim has none. Ends with 1 if a goal
is missed. --docs writes the summary into docs/papers.md.
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench.amp import traces  # noqa: E402

HIPEC = traces.HIPEC
DOCS = ROOT / "docs/papers.md"
MARKS = ("<!-- summary: bench/amp/study.py --docs -->\n", "<!-- end of summary -->\n")

# Percent of the pages. Means are over TENS: small caches are mostly misses, and
# the third is there for the goal on it.
SIZES = (5, 10, 20, 30, 33, 40, 50, 60, 70, 80, 90)
TENS = tuple(range(10, 91, 10))
QUICK = (10, 33, 50, 90)
BASE = "arc"
PLAIN = ("lru", "arc", "mru", "lfu", "2q", "opt")
BUILT_IN = ("lru", "opt")
# Column: options of hipec sim. pcc* is PCC's detector with AMP's partitions.
FED = {
    "amp": ["--detector", "amp"],
    "amp-lru": ["--detector", "amp", "--param", "lru=1"],
    "pcc*": ["--detector", "pcc"],
    "dear": ["--detector", "dear"],
}

# Misses of AMP, ARC's are 1. Over DEFECT nobody would want it.
WORST_GOAL, DEFECT = 1.02, 1.10
# Trace: (size, or None for the best of all; at most so many of ARC's misses)
GOALS = {"cscope": (None, 0.60), "gnuplot": (None, 0.60), "postgres": (33, 0.55)}


def frames_of(pages, percent):
    """As hipec sim takes a part of a trace's pages."""
    return max(1, -(-pages * percent // 100))


def geomean(values):
    """Of numbers over 0."""
    values = list(values)
    return math.exp(sum(math.log(v) for v in values) / len(values))


def by_size(rows, names, sizes):
    """Rows of hipec sim --json, policies in the order of @names, each with all sizes:
    {name: {percent: misses}}."""
    misses = {}
    rows = iter(rows)
    pages = None
    found = {}
    for r in rows:
        pages = r["pages"]
        if not r["built_in"] and r["exit"]["kind"]:
            raise traces.Failed(f"{r['policy']} on {r['trace']}: {r['exit']['text']}")
        found.setdefault(policy_name(r["policy"]), {})[r["frames"]] = r["faults"]
    for name in names:
        of = found[name if name in found else "amp"]
        misses[name] = {p: of[frames_of(pages, p)] for p in sizes}
    return misses


def policy_name(text):
    """'lru' of 'build/policies/lru.hpo'."""
    return pathlib.PurePath(text).stem


def simulate(file, policies, options, sizes):
    """The rows of one run of hipec sim, which uses all processors."""
    done = subprocess.run(
        [HIPEC, "sim", "--json", "--mode", "exact", "--policy",
         ",".join(p if p in BUILT_IN else str(ROOT / "build" / "policies" / f"{p}.hpo")
                  for p in policies),
         "--frames", ",".join(f"{p}%" for p in sizes), *options, file],
        stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise traces.Failed(f"hipec sim {' '.join(options)} {file}: exit {done.returncode}")
    return json.loads(done.stdout)


def can_feed():
    """Is there a detector, and a policy that is fed?"""
    told = subprocess.run([HIPEC, "sim", "--help"], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    return "--detector" in told and (ROOT / "policies" / "amp.hp").exists()


def study_of(file, sizes, fed):
    """{accesses, pages, misses: {policy: {percent: misses}}} of a trace."""
    rows = simulate(file, PLAIN, [], sizes)
    study = {"accesses": rows[0]["accesses"], "pages": rows[0]["pages"],
             "misses": by_size(rows, PLAIN, sizes)}
    for name, options in FED.items() if fed else ():
        study["misses"].update(by_size(simulate(file, ["amp"], options, sizes), [name], sizes))
    return study


def ratio(study, policy, percent):
    """Its misses, ARC's are 1."""
    return study["misses"][policy][percent] / study["misses"][BASE][percent]


def tens_of(study):
    """The sizes that means are over."""
    return [p for p in study["misses"][BASE] if p in TENS]


def mean_ratio(studies, policy):
    """Geometric mean over sizes, of one trace or more."""
    return geomean(ratio(s, policy, p) for s in studies for p in tens_of(s))


def extremes(studies, policy):
    """The worst loss and the best gain: (ratio, trace, percent) each."""
    all_of = [(ratio(s, policy, p), name, p) for name, s in studies.items()
              for p in s["misses"][policy]]
    return max(all_of), min(all_of)


def change(value):
    """1.02 as '+2.0 %', 0.6 as '-40.0 %'."""
    return f"{100 * value - 100:+.1f} %"


def goals(studies):
    """[(met, text)] of what AMP is held to, as far as its traces are there."""
    (worst, where, size), _ = extremes(studies, "amp")
    said = " DEFECT" if worst > DEFECT else ""
    told = [(worst <= WORST_GOAL, f"worst loss {change(worst)}, {where} at {size} %; "
             f"goal at most {change(WORST_GOAL)}{said}")]
    for name, (size, most) in GOALS.items():
        study = studies.get(name)
        if not study or size and size not in study["misses"]["amp"]:
            continue
        best = min(size and [size] or study["misses"]["amp"], key=lambda p: ratio(study, "amp", p))
        told.append((ratio(study, "amp", best) <= most,
                     f"{name} at {best} %: {change(ratio(study, 'amp', best))}, "
                     f"opt {change(ratio(study, 'opt', best))}; goal {change(most)}"))
    return told


def print_ratios(name, study):
    """Miss ratios of a trace, percent."""
    sizes = list(study["misses"][BASE])
    print(f"\n{name}: {study['accesses']:,} accesses, {study['pages']:,} pages; misses in percent")
    print(f"{'cache, %':10}" + "".join(f"{p:7}" for p in sizes))
    for policy, misses in study["misses"].items():
        print(f"{policy:10}"
              + "".join(f"{100 * misses[p] / study['accesses']:7.1f}" for p in sizes))


def markdown(head, rows):
    """A table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def summary(studies):
    """What stands in docs/papers.md."""
    columns = [p for p in next(iter(studies.values()))["misses"] if p != BASE]
    first = [[name, f"{s['accesses']:,}", f"{s['pages']:,}",
              *(f"{mean_ratio([s], p):.3f}" for p in columns)] for name, s in studies.items()]
    first.append(["**all**", "", "",
                  *(f"{mean_ratio(studies.values(), p):.3f}" for p in columns)])
    text = ("Misses, ARC's are 1; geometric mean over caches of 10 to 90 % of the pages:\n\n"
            + markdown(["trace", "accesses", "pages", *columns], first))
    second = []
    for policy in columns:
        worst, best = extremes(studies, policy)
        second.append([policy, *(f"{change(r)}, {name} at {p} %" for r, name, p in (worst, best))])
    text += ("\nThe most that each loses to ARC and saves of its misses, over all traces and sizes:\n\n"
             + markdown(["policy", "worst", "best"], second))
    if all(33 in s["misses"][BASE] for s in studies.values()):
        third = [[name, *(f"{100 * s['misses'][p][33] / s['accesses']:.1f}" for p in (BASE, *columns))]
                 for name, s in studies.items()]
        text += ("\nMisses in percent of accesses, with a cache of a third of the pages:\n\n"
                 + markdown(["trace", BASE, *columns], third))
    if "amp" in columns:
        text += "\n" + "".join(f"- {'met' if met else '**missed**'}: {told}\n"
                               for met, told in goals(studies))
    return text


def write_docs(path, text):
    """Between the marks."""
    before, rest = path.read_text(encoding="utf-8").split(MARKS[0])
    path.write_text(before + MARKS[0] + text + MARKS[1] + rest.split(MARKS[1])[1],
                    encoding="utf-8")


def files_of(asked, depth=traces.DEPTH):
    """{name: file} of names and files."""
    names = [a for a in asked if a in traces.ORDER] if asked else traces.ORDER
    files, _ = traces.traces(names, depth)
    for path in map(pathlib.Path, asked):
        if str(path) in traces.ORDER:
            continue
        if not path.is_file():
            raise traces.Failed(f"{path} is neither a file nor one of "
                                f"{', '.join(traces.ORDER)}")
        files[path.stem] = path
    if not files:
        raise traces.Failed("no trace is left to run on")
    return files


def main():
    """The study."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer sizes")
    parser.add_argument("--depth", type=int, default=traces.DEPTH,
                        help="of contexts in traces that are taken; 8")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="all misses, for programs")
    form.add_argument("--docs", action="store_true", help=f"into {DOCS.relative_to(ROOT)}")
    parser.add_argument("traces", nargs="*", metavar="NAME|FILE")
    args = parser.parse_args()
    if args.docs and (args.quick or args.traces or args.depth != traces.DEPTH):
        parser.error("--docs is of all sizes and traces, and of the usual depth")
    fed = can_feed()
    if not fed:
        print("study.py: hipec sim has no --detector, or there is no policies/amp.hp: "
              "no column of AMP's", file=sys.stderr)
    studies = {}
    try:
        for name, file in files_of(args.traces, args.depth).items():
            studies[name] = study_of(file, QUICK if args.quick else SIZES, fed)
            if not args.json and not args.docs:
                print_ratios(name, studies[name])
                sys.stdout.flush()
    except traces.Failed as why:
        print(f"study.py: {why}", file=sys.stderr)
        return 1
    if args.json:
        json.dump(studies, sys.stdout, indent=1)
        print()
    elif args.docs:
        write_docs(DOCS, summary(studies))
    else:
        print("\n" + summary(studies), end="")
    return int(fed and not all(met for met, _ in goals(studies)))


if __name__ == "__main__":
    sys.exit(main())
