#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""An example of a program that searches policies: genetic programming, by DEAP, evolves the priority
by which an ordered queue gives pages up. hipec judge answers what a candidate is worth.

    evolve.py [--generations N] [--population N] [--seed N] [--sample 1/N] [--output FILE]
              [--accesses N] [--beside LIST]

The best one of the training traces is judged once on the held-out ones, beside all policies that are
shipped; the table says who is better. It runs on a Python with DEAP (make packages-sweep installs
one into the cache).
"""

import argparse
import json
import lzma
import operator
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time

from deap import algorithms, base, creator, gp, tools

ROOT = pathlib.Path(__file__).resolve().parents[2]
HIPEC = ROOT / "build/hipec"
FRAMES = "5%,10%,25%,50%"
PARTS = 9           # of the published trace
MADE = {"zipf": "--pages 20000 --skew 0.9", "mixed": "--pages 20000 --scan 40 --run 200",
        "shift": "--pages 20000 --set 2000 --phase 10000", "btree": "--pages 20000 --skew 0.8 --fanout 40",
        "loop": "--pages 12000"}
SEEDS = 4           # of each

TEMPLATE = """// SPDX-License-Identifier: GPL-2.0-only
// Evolved: the page with the lowest key goes, which is
//     %s
// of its uses, the accesses since the last one and since the first, and the frames. As many pages as
// there are frames are remembered, those used last.
Event Init()
{
	Ghosts 100;
	Field used, last, born, key;
	Queue pages by key, gone by last;
	Page page, other;
	Int now, uses, gap, age, frames;
}

Event Rank()
{
	uses = page.used++;
	gap = now - page.last;
	age = now - page.born;
	frames = FrameBudget;
	page.key = %s;
	page.last = now;
	EnQueue(page, pages, TAIL);
}

Event PageFault()
{
	now++;
	page = FindPA(FaultedAddress);
	if (!page.born)
		page.born = now;
	Rank();
}

Event Access()
{
	now++;
	page = FindPA(FaultedAddress);
	Rank();
}

Event Replace()
{
	for (page = Peek(pages, HEAD); page; page = Next(page, TAIL))
		if (EnQueue(page, _free_queue, TAIL)) {
			Remember();
			return;
		}
}

Event Remember()
{
	while (Length(gone) >= FrameBudget) {
		other = Peek(gone, HEAD);
		if (other.last > page.last)
			return;
		Release(other);
	}
	EnQueue(page, gone, TAIL);
}
"""
TEXT = {"add": "(%s + %s)", "sub": "(%s - %s)", "mul": "(%s * %s)", "over": "(%s / (%s | 1))",
        "less": "(%s < %s ? %s : %s)"}
# What the search begins with, beside chance: ages, counts, and both.
KNOWN = ["now", "uses", "sub(now, gap)", "add(now, mul(uses, 64))", "over(now, gap)",
         "sub(now, mul(gap, 2))", "less(gap, frames, now, sub(now, frames))",
         "sub(now, over(gap, 2))", "add(now, over(mul(frames, uses), 4))"]


def over(a, b):
    """Division by what is never 0. Of this and the next only the names are used."""
    return a // (b | 1)


def less(a, b, yes, no):
    """A choice."""
    return yes if a < b else no


def primitives():
    """What a priority may be made of."""
    found = gp.PrimitiveSet("MAIN", 5)
    found.renameArguments(ARG0="now", ARG1="uses", ARG2="gap", ARG3="age", ARG4="frames")
    for function in (operator.add, operator.sub, operator.mul, over):
        found.addPrimitive(function, 2)
    found.addPrimitive(less, 4)
    for number in (1, 2, 4, 16, 64):
        found.addTerminal(number)
    return found


def expression(tree):
    """A tree as an expression of the language."""
    nodes = iter(tree)

    def text():
        node = next(nodes)
        if node.arity:
            return TEXT[node.name] % tuple(text() for _ in range(node.arity))
        return str(node.value)
    return text()


def make(folder, accesses):
    """The traces; published ones are as long as they are."""
    packed = (ROOT / "test/trace/published/web-office.lzma").read_bytes()
    lines = [line for line in lzma.decompress(packed).decode().split("\n")
             if line[:2] in ("r ", "w ") and line[2] != "-"]
    for part in range(PARTS):
        some = lines[len(lines) * part // PARTS:len(lines) * (part + 1) // PARTS]
        (folder / "sectors").write_text("\n".join(some) + "\n")
        subprocess.run([HIPEC, "trace", "convert", "--from", "sectors", folder / "sectors",
                        folder / f"office-{part}.trace"], check=True)
    for kind, words in MADE.items():
        for seed in range(SEEDS):
            # The same kind with different numbers of pages: a loop has no other chance.
            pages = int(words.split()[1]) * (4 + seed) // 4
            subprocess.run([HIPEC, "trace", "make", kind, "--pages", str(pages), *words.split()[2:],
                            "--accesses", str(accesses), "--seed", str(seed),
                            folder / f"{kind}-{seed}.trace"], check=True)
    return sorted(folder.glob("*.trace"))


class Judge:
    """hipec judge."""

    def __init__(self, traces, sample):
        self.process = subprocess.Popen(
            [HIPEC, "judge", "--mode", "exact", "-f", FRAMES, "--sample", sample, *traces], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.known = {}

    def ask(self, lines):
        """Answers to some lines, in their order; a few are under way at a time."""
        for start in range(0, len(lines), 8):
            some = lines[start:start + 8]
            self.process.stdin.write("".join(json.dumps(line) + "\n" for line in some))
            self.process.stdin.flush()
            for _ in some:
                yield json.loads(self.process.stdout.readline())

    def rate(self, trees):
        """Misses by those of lru on the training traces; longer ones a little worse."""
        texts = {expression(tree) for tree in trees} - self.known.keys()
        lines = [{"id": text, "source": TEMPLATE % (text, text), "held_out": False}
                 for text in sorted(texts)]
        for line, answer in zip(lines, self.ask(lines)):
            self.known[line["id"]] = answer["training"]["to_lru"] if answer["verdict"] == "ok" else 99.0
        return [(self.known[expression(tree)] + 1e-4 * len(tree),) for tree in trees]

    def end(self):
        """Nothing more is asked."""
        self.process.stdin.close()
        self.process.wait()


def evolve(args, judge):
    """The expression that is best on the training traces."""
    random.seed(args.seed)
    creator.create("Least", base.Fitness, weights=(-1.0,))
    creator.create("Tree", gp.PrimitiveTree, fitness=creator.Least)
    parts = primitives()
    box = base.Toolbox()
    box.register("expr", gp.genHalfAndHalf, pset=parts, min_=1, max_=3)
    box.register("individual", tools.initIterate, creator.Tree, box.expr)
    box.register("select", tools.selTournament, tournsize=4)
    box.register("mate", gp.cxOnePoint)
    box.register("grow", gp.genFull, min_=0, max_=2)
    box.register("mutate", gp.mutUniform, expr=box.grow, pset=parts)
    for name in ("mate", "mutate"):
        box.decorate(name, gp.staticLimit(key=operator.attrgetter("height"), max_value=5))
    people = [creator.Tree.from_string(known, parts) for known in KNOWN]
    people += [box.individual() for _ in range(args.population - len(KNOWN))]
    best = tools.HallOfFame(1)
    for generation in range(args.generations + 1):
        if generation:
            people = algorithms.varAnd(box_select(box, people), box, 0.6, 0.3) + list(best)
        for tree, fitness in zip(people, judge.rate(people)):
            tree.fitness.values = fitness
        best.update(people)
        print(f"generation {generation}: {judge.known[expression(best[0])]:.4f} of lru's misses: "
              f"{expression(best[0])}", flush=True)
    return expression(best[0])


def box_select(box, people):
    """Parents."""
    return [box.clone(one) for one in box.select(people, len(people) - 1)]


def table(judge, text, others):
    """All pages of all traces: the best one, and others that are shipped."""
    lines = [{"id": "evolved", "source": TEMPLATE % (text, text)}]
    lines += [{"id": name, "file": str(ROOT / f"policies/{name}.hp")} for name in others]
    answers = list(judge.ask(lines))
    rows = [(one["id"], one["training"]["to_lru"], one["held_out"]["to_lru"], one["held_out"]["gain"])
            for one in answers if one["verdict"] == "ok"]
    rows.sort(key=lambda row: row[2])
    print(f"\n{'policy':16}{'training':>10}{'held out':>10}   misses by those of lru, mode exact, {FRAMES}")
    for name, training, held_out, gain in rows:
        print(f"{name:16}{training:10.4f}{held_out:10.4f}   {gain['percent']:.1f} % fewer than lru "
              f"({gain['least']:.1f} to {gain['most']:.1f})")
    place = [row[0] for row in rows].index("evolved") + 1
    print(f"\nThe evolved one is number {place} of {len(rows)} on held-out traces: "
          + ("better than all that are shipped" if place == 1 else
             f"{rows[0][0]} is better, so it is not shipped"))


def main():
    """Search, then the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--generations", type=int, default=20)
    parser.add_argument("--population", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    # Of the search; the table is of all pages.
    parser.add_argument("--sample", default="1/16")
    parser.add_argument("--output", type=pathlib.Path, help="the best one's source")
    parser.add_argument("--accesses", type=int, default=100_000)
    parser.add_argument("--beside", default=",".join(
        sorted(path.stem for path in (ROOT / "policies").glob("*.hp"))))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        traces = make(pathlib.Path(folder), args.accesses)
        judge = Judge(traces, args.sample)
        next(judge.ask([{"source": TEMPLATE % ("now", "now"), "held_out": False}]))     # it is ready
        start, before = time.monotonic(), used()
        text = evolve(args, judge)
        seconds = time.monotonic() - start
        judge.end()
        say_speed(len(judge.known), seconds, used() - before)
        if args.output:
            args.output.write_text(TEMPLATE % (text, text))
        judge = Judge(traces, "1/1")
        table(judge, text, args.beside.split(","))
        judge.end()


def say_speed(candidates, seconds, cpu):
    """How many a minute."""
    processors = len(os.sched_getaffinity(0))
    print(f"{candidates} different candidates in {seconds:.0f} s, {60 * candidates / seconds:,.0f} a "
          f"minute; by their processor time, {1000 * cpu / candidates:.0f} ms each, {processors} idle "
          f"processors have {60 * processors * candidates / cpu:,.0f} a minute")


def used():
    """Of children that have ended, s."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    sys.exit(main())
