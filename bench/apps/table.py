#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Programs that nobody here wrote, unmodified: the page cache beside policies in place, in
a memory cgroup of the same size.

    table.py --kernel 6.12 --out DIR [--rows NAME,...] [--list] [--fast] [--again]

One guest for each row (rows.py), with run.py's deterministic flags and a modelled SSD. The
page cache is run with its classic LRU, with MGLRU, and under MGLRU with all advice that a
program could give for its files, or has as options; hipec under the row's policies, and under
auto, which is told of none. Before that, hipec try looks at the same
run on this machine. DIR/ROW.json gets the numbers. Exit status 1 if a run fails, if an output
differs, or if the kernel killed a process for memory; goals that are missed are said.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
sys.path.insert(0, str(ROOT))

from bench.apps.rows import POLICIES, ROWS  # noqa: E402
from bench.lib.guests import DISKS, MB, PAGE, Boot, Failed, call, side_by_side  # noqa: E402

SSD = DISKS[0]
PLAIN = ("lru", "mglru")
COLUMNS = (*POLICIES, "fifo")
AUTO = "auto"
TRIED = (0, 3, 4)       # what hipec try ends with: worth it; not with these; not at all


@dataclasses.dataclass
class Run:
    """A line for guest.sh, and what it gave."""
    row: object
    how: str
    gen: str = "y"
    advice: str = "-"
    variant: str = "-"
    policy: str = "-"
    attach: str = ""            # none: the row's
    beside: int = 0             # bytes of memory for the command, if that is in the cgroup
    got: dict = dataclasses.field(default_factory=dict)

    @property
    def name(self):
        """For who waits."""
        return f"{self.row.name}: {self.how}"

    def line(self, memory, passes):
        """For guest.sh; @memory in bytes, the budget in pages."""
        row = self.row
        return (f"{row.name} {self.how} {self.gen} {self.advice} {self.variant} {self.policy} "
                f"{memory + self.beside} {(row.budget or memory) // PAGE} {passes} "
                f"{self.attach or row.attach}")


def runs_of(row, small=False):
    """What the row is run as; the small form shows that it runs."""
    if small:
        return [Run(row, "mglru"), *(Run(row, policy, policy=policy)
                                     for policy in row.in_small or row.policies[:1])]
    return [Run(row, "lru", gen="n"), Run(row, "mglru"),
            *(Run(row, advice, advice=advice) for advice in row.advice),
            *(Run(row, f"own{nr}", variant=variant) for nr, variant in enumerate(row.variants)),
            *(Run(row, policy, policy=policy) for policy in (*row.policies, AUTO))]


def pages_of(directory):
    """Of the page cache, for all files there."""
    return sum(-(-path.stat().st_size // PAGE) for path in directory.rglob("*")
               if path.is_file() and not path.is_symlink())


def memory_of(row, pages):
    """Of the cgroup, in bytes."""
    return round(row.share * pages) * PAGE + row.beside


def program(word):
    """(path, name in the guest) of an entry of Row.programs."""
    path, _, name = word.partition(":")
    return path, name or pathlib.Path(path).name


def stage(row, small, tree):
    """The row's part of a guest, in @tree; pages of its data."""
    where = tree / "apps" / row.name
    (where / "data").mkdir(parents=True)
    (where / "run.sh").write_text(row.script)
    row.make(where / "data", small)
    for name in row.files:
        shutil.copytree(pathlib.Path("/usr") / name, tree / name, dirs_exist_ok=True)
    for name in ("writes", "afresh"):
        if getattr(row, name):
            (where / name).touch()
    return pages_of(where / "data" / row.counted)


def build_image(kernel, rows, tree, image):
    """What @tree has for @rows, made a guest of."""
    (tree / "hipec/policies").mkdir(parents=True)
    shutil.copy(ROOT / "bench/apps/guest.sh", tree)
    shutil.copy(ROOT / "bench/lib/disk.sh", tree)
    shutil.copy(BUILD / "bench/apps/advice.so", tree / "hipec")
    # All: auto has a league of them.
    for path in BUILD.glob("policies/*.hpo"):
        shutil.copy(path, tree / "hipec/policies")
    command = [ROOT / "vm-images/initramfs.sh", "--kernel", kernel, "--out", image,
               "--tree", tree, "--module", BUILD / f"kmod-{kernel}/hipec.ko",
               "--bin", BUILD / "static/hipec", "--stock", "overlay"]
    for word in sorted({word for row in rows for word in row.programs}):
        command += ["--bin", word]
    subprocess.run(command, check=True)


def on_this_machine(row, data, memory, out):
    """What hipec try says of the same run, with as many frames as memory is meant for the
    data, and how long that took: a dictionary. The trace stays in @out."""
    names = out / "bin"
    names.mkdir()
    for path, name in map(program, row.programs):
        (names / name).symlink_to(path)
    script = next(one.script for one in ROWS if one.name == (row.alike or row.name))
    (out / "run.sh").write_text(script)
    frames = (memory - row.beside) // PAGE
    env = {**os.environ, "PATH": f"{names}:{os.environ['PATH']}", "LC_ALL": "C",
           "PASSES": str(row.passes), "VARIANT": "-",
           "HIPEC_POLICY_PATH": str(BUILD / "policies")}
    begin = time.monotonic()
    tried = subprocess.run(
        [BUILD / "hipec", "try", "--only", f"{data}/*", "--frames", str(frames),
         "-o", out / "trace", "--", "sh", out / "run.sh", "main"],
        cwd=data, env=env, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True)
    seconds = time.monotonic() - begin
    # A program that gives its rights up may not write the trace: PostgreSQL, where root runs this.
    if tried.returncode not in TRIED:
        (out / "trace").unlink(missing_ok=True)
    return {"said": tried.stderr.splitlines(), "seconds": seconds}


def simulated(row, runs, trace):
    """The simulator's cells for the trace, if there is one, with as many frames as the data
    had in the guest at the end of the run that read least."""
    if not trace.exists():
        return []
    best = min((run for run in runs if "container" in run.got), key=lambda run: run.got["read"])
    frames = container_of(best.got)["resident"]
    return json.loads(subprocess.run(
        [BUILD / "hipec", "sim", "--mode", "exact", "--json", "-p",
         ",".join(["lru", "opt", *row.policies, AUTO]), "--frames", str(frames), trace],
        env={**os.environ, "HIPEC_POLICY_PATH": str(BUILD / "policies")}, check=True,
        capture_output=True, text=True).stdout)


def container_of(got):
    """What hipec status had of it."""
    return got["container"][0] if isinstance(got["container"], list) else got["container"]


def measure(row, args):
    """Make the row's data, ask hipec try, boot, and keep all of it in DIR/ROW.json."""
    out = args.out / row.name
    shutil.rmtree(out, ignore_errors=True)
    (out / "made").mkdir(parents=True)
    tree = out / "made/tree"
    pages = stage(row, False, tree)
    memory = memory_of(row, pages)
    host = on_this_machine(row, tree / "apps" / row.name / "data", memory, out / "made")
    build_image(args.kernel, [row], tree, out / "made/guest.img")
    runs = runs_of(row)
    boot = Boot(SSD, runs, out / "boot")
    side_by_side([boot], lambda boot: boot.start(
        args.kernel, out / "made/guest.img",
        ["sh", "/guest.sh", str(SSD.completion_ns), str(SSD.mbps),
         "\n".join(run.line(memory, row.passes) for run in runs)], 3600, det=not args.fast))
    for run, run.got in zip(runs, boot.lines(len(runs))):
        counts = boot.out / "results/counts" / f"{row.name}.{run.how}"
        if counts.exists():
            run.got["container"] = json.loads(counts.read_text())
    host["sim"] = simulated(row, runs, out / "made/trace")
    shutil.rmtree(out / "made")
    kept = {"row": row.name, "fast": args.fast, "kernel": boot.release(), "pages": pages,
            "memory": memory, "host": host, "runs": {run.how: run.got for run in runs}}
    (args.out / f"{row.name}.json").write_text(json.dumps(kept, indent=1))


def complaints(kept):
    """What is wrong with a row's runs."""
    sums = {run["sum"] for run in kept["runs"].values()}
    if len(sums) != 1:
        yield "the outputs differ: " + ", ".join(
            f"{how} {run['sum'][:8]}" for how, run in kept["runs"].items())
    for how, run in kept["runs"].items():
        if run["oom"]:
            yield f"{how}: the kernel killed {run['oom']} processes for memory"
        if "container" in run:
            container = container_of(run)
            if (container["exit"] or {}).get("kind"):
                yield f"{how}: the policy ended: {container['exit']}"
            if not container["counters"]["pages_in"]:
                yield f"{how}: the policy saw no page"


def saved(kept, how, over):
    """By how much less @how reads than @over, in percent."""
    return 100 * (1 - kept["runs"][how]["read"] / kept["runs"][over]["read"])


def least(kept, hows):
    """Which of them reads least."""
    return min((how for how in hows if how in kept["runs"]), default="",
               key=lambda how: (kept["runs"][how]["read"], kept["runs"][how]["ms"]))


def advised(row):
    """The runs with advice, or options of the program's own."""
    return [*row.advice, *(f"own{nr}" for nr in range(len(row.variants)))]


def spelled(row, how):
    """What a run with advice was given."""
    return row.variants[int(how[3:])].strip("-") if how.startswith("own") else how


def predicted(kept):
    """{policy: pages} of the simulator."""
    return {cell["policy"]: cell["faults"] for cell in kept["host"]["sim"]}


def pages_line(row, kept, columns):
    """A row of the first table: pages read."""
    runs = kept["runs"]
    cells = [f"{runs[how]['read']:,}" if how in runs else "" for how in PLAIN]
    advice = least(kept, advised(row))
    cells.append(f"{runs[advice]['read']:,} ({spelled(row, advice)})" if advice else "")
    cells += [f"{runs[policy]['read']:,}" if policy in runs else ""
              for policy in (*columns, AUTO)]
    best = least(kept, row.policies)
    plain = least(kept, (*PLAIN, *advised(row)))
    sim = predicted(kept)
    cells += [f"{best} {-saved(kept, best, plain):+.1f} %",
              f"{100 * (sim['opt'] / sim['lru'] - 1):+.1f} %" if sim else "no trace"]
    return [f"`{row.name}`", f"{kept['pages'] * PAGE / MB:.1f}", f"{kept['memory'] / MB:.1f}",
            *cells]


def other_line(row, kept):
    """A row of the second table: what it took, and what hipec try said."""
    runs, host = kept["runs"], kept["host"]
    advice, best = least(kept, advised(row)), least(kept, row.policies)
    seconds = [f"{runs[how]['ms'] / 1000:.1f}" if how and not kept.get("fast") else ""
               for how in ("mglru", advice, best)]
    sim = predicted(kept).get(best)
    off = f"{100 * (runs[best]['read'] / sim - 1):+.1f} %" if sim else ""
    again = "" if not any(run["again"] for run in runs.values()) else \
        ", ".join(f"{how} {runs[how]['again']:,}" for how in (*PLAIN, best))
    return [f"`{row.name}`", *seconds, best, off, again, verdict(host["said"]),
            f"{host['seconds']:.1f} s"]


def verdict(lines):
    """hipec try's answer, in short."""
    for line in lines:
        if line.startswith("worth it: with "):
            rest = line.split(", ", 1)[1]
            return f"{rest.split()[0]}, {rest[rest.index('(') + 1:rest.index(')')]}"
        if line.startswith("not worth it"):
            return "not worth it"
    return "no trace"


def goal_lines(row, kept):
    """What the project wants of a row."""
    if not row.goal:
        return
    best = least(kept, row.policies) if row.goal > 0 else \
        max(row.policies, key=lambda how: kept["runs"][how]["read"])
    got = saved(kept, best, "mglru")
    wanted = f"at least {row.goal} % fewer" if row.goal > 0 else f"at most {-row.goal} % more"
    yield (f"{'met    ' if got >= row.goal else 'NOT met'}  {row.name}: {wanted} pages read than "
           f"MGLRU, under {best}: {-got:+.1f} %")


def table(head, lines):
    """In Markdown."""
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    print("\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n")


def show(rows, kept):
    """Both tables, and the goals."""
    print(f"Stock Debian kernel {kept[rows[0].name]['kernel']}, one emulated CPU, an SSD of "
          f"{SSD.completion_ns // 1000} us and {SSD.mbps} MB/s.\nPages read from the disk:\n")
    columns = [policy for policy in COLUMNS if any(policy in row.policies for row in rows)]
    table(["row", "data, MB", "memory", "LRU", "MGLRU", "best advice",
           *(f"`{policy}`" for policy in (*columns, AUTO)), "saved", "possible"],
          [pages_line(row, kept[row.name], columns) for row in rows])
    print("Guest time in seconds, and what was known before:\n")
    table(["row", "MGLRU", "best advice", "best policy", "which", "over the simulator",
           "neighbour's reads", "`hipec try`", "in"],
          [other_line(row, kept[row.name]) for row in rows])
    for row in rows:
        print("\n".join(goal_lines(row, kept[row.name])))


def rows_named(names):
    """The Rows of those names, all if there is none."""
    known = {row.name: row for row in ROWS}
    wrong = [name for name in names if name not in known]
    if wrong:
        raise Failed(f"no row {wrong[0]}: there are {', '.join(known)}")
    return [known[name] for name in names] or ROWS


def bench(args):
    """What the Makefile calls."""
    args.out = args.out.absolute()
    rows = rows_named([name for name in args.rows.split(",") if name])
    if args.list:
        print("\n".join(f"{row.name:10}{row.what}" for row in rows))
        return
    args.out.mkdir(parents=True, exist_ok=True)
    for row in rows:
        if not args.again:
            measure(row, args)
    kept = {row.name: json.loads(path.read_text()) for row in rows
            if (path := args.out / f"{row.name}.json").exists()}
    if not kept:
        raise Failed("nothing was measured yet")
    show([row for row in rows if row.name in kept], kept)
    wrong = [f"{name}: {complaint}" for name, one in kept.items()
             for complaint in complaints(one)]
    if wrong:
        raise Failed("; ".join(wrong))


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--kernel", required=True, metavar="KEY", help="a key of kernels.sh")
    parser.add_argument("--out", required=True, metavar="DIR", type=pathlib.Path)
    parser.add_argument("--rows", default="", metavar="NAME,...", help="these rows only")
    parser.add_argument("--list", action="store_true", help="name the rows, run nothing")
    parser.add_argument("--fast", action="store_true", help="count reads only: guests take "
                        "as long as this machine does, so their time says nothing")
    parser.add_argument("--again", action="store_true", help="print what DIR has, run nothing")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(call(bench, "apps", arguments()))
