#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""All shipped policies, and the optimum, on traces that come with the project: how many
faults less than LRU each has, in percent, told of every access and as of a mapping.

--docs puts what each policy is and costs into docs/policies.md; `make docs` runs it.
"""

import json
import lzma
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench.lib import twotier  # noqa: E402

HIPEC = ROOT / "build" / "hipec"
DOCUMENT = ROOT / "docs/policies.md"
MARKS = ("<!-- policies: make docs -->\n", "<!-- end of policies -->\n")
BUILT_IN = ("lru", "opt")

# name: (frames, what makes it)
TRACES = {
    "desktop": (256, None),
    "loop": (700, "loop --pages 1000 --accesses 20000"),
    "zipf": (200, "zipf --pages 2000 --accesses 40000 --writes 20 --seed 1"),
    "scans": (500, "mixed --pages 2000 --accesses 40000 --scan 40 --run 300 --writes 10 --seed 2"),
    "shift": (150, "shift --pages 2000 --accesses 40000 --set 200 --phase 4000 --seed 3"),
    "index": (100, "btree --pages 2000 --accesses 40000 --fanout 20 --skew 0.8 --seed 4"),
    "hints": (600, twotier),
}


def desktop():
    """The published trace, page by page; what had no place is page 0."""
    packed = (ROOT / "test/trace/published/web-office.lzma").read_bytes()
    pages = [(line[0], max(int(line[2:]), 0) // 8)
             for line in lzma.decompress(packed).decode().split("\n") if line[:2] in ("r ", "w ")]
    return "".join(f"{kind} {page}\n" for i, (kind, page) in enumerate(pages)
                   if not i or pages[i - 1][1] != page)


def make(folder):
    """{name: file}"""
    files = {}
    for name, (_, recipe) in TRACES.items():
        files[name] = folder / name
        if recipe is None:
            files[name].write_text(desktop())
        elif recipe is twotier:
            asked = twotier.requests(3000, 1500, 400, False, 60_000, 1)
            files[name].write_text("".join(f"r {page}\n" if hint is None else f"w {page} h={hint}\n"
                                           for page, hint in asked))
        else:
            subprocess.run([HIPEC, "trace", "make", *recipe.split(), files[name]], check=True)
    return files


class Policy:
    """A .hp file: what its header says, and what it declares."""

    def __init__(self, path):
        text = path.read_text(encoding="utf-8")
        head = text[:text.index("Event Init")]
        self.name, self.file = path.stem, ROOT / "build" / "policies" / f"{path.stem}.hpo"
        self.grade = re.search(r"^// Grade: (\w+)", head, re.M)[1]
        modes = re.search(r"^// Modes: (.+)", head, re.M)
        self.modes = modes[1] if modes else "exact, mapped"
        assert re.search(r"^// Source: .", head, re.M), path
        numbers = dict(re.findall(r"\b(\w+) = (\d+)\b", text))
        ghosts = re.search(r"^\s*Ghosts (\w+);", text, re.M)
        self.ghosts = int(numbers.get(ghosts[1], ghosts[1])) if ghosts else 0
        fields = re.findall(r"^\s*Field\s+([^;]*);", text, re.M)
        nr_fields = sum(len(names.split(",")) for names in fields)
        ordered = re.search(r"\bQueue\b[^;]*\bby\b", text) is not None
        # docs/user/sim.md: of each entry of the page table.
        self.bytes = (29 + 8 * nr_fields + 24 * ordered) * (100 + self.ghosts) // 100


def policies():
    """The shipped ones, in order of their names."""
    return [Policy(path) for path in sorted((ROOT / "policies").glob("*.hp"))]


def run(mode, some, files):
    """{trace: {policy: row of hipec sim --json}}"""
    rows = {}
    for name, file in files.items():
        done = subprocess.run(
            [HIPEC, "sim", "--json", "--mode", mode, "--frames", str(TRACES[name][0]), "--policy",
             ",".join([*BUILT_IN, *(str(p.file) for p in some)]), file],
            check=True, stdout=subprocess.PIPE)
        rows[name] = dict(zip([*(f"built in {b}" for b in BUILT_IN), *(p.name for p in some)],
                              json.loads(done.stdout), strict=True))
        for policy, row in rows[name].items():
            assert row["built_in"] or not row["exit"]["kind"], f"{policy} on {name}: {row['exit']}"
    return rows


def gain(rows, trace, policy):
    """Percent of LRU's faults that a policy saves."""
    return 100 - 100 * rows[trace][policy]["faults"] / rows[trace]["built in lru"]["faults"]


def print_league(mode, rows):
    """Those first that save most, all traces alike."""
    names = list(next(iter(rows.values())))
    mean = {policy: sum(gain(rows, trace, policy) for trace in rows) / len(rows) for policy in names}
    print(f"\nFaults saved over LRU, percent; mode {mode}")
    print(f"{'':16}{'mean':>8}" + "".join(f"{trace:>9}" for trace in rows))
    print(f"{'frames':16}{'':8}" + "".join(f"{TRACES[trace][0]:9}" for trace in rows))
    for policy in sorted(names, key=mean.get, reverse=True):
        print(f"{policy:16}{mean[policy]:8.1f}"
              + "".join(f"{gain(rows, trace, policy):9.1f}" for trace in rows))


def table(some, rows):
    """What stands in docs/policies.md."""
    lines = ["| policy | grade | good in | commands a fault, mean | most of an access | bytes a frame "
             "| ghosts |", "|---|---|---|---|---|---|---|"]
    for p in some:
        mine = [rows[trace][p.name] for trace in rows]
        mean = sum(r["commands"] for r in mine) / sum(r["faults"] for r in mine)
        most = max(r["most_commands"] for r in mine)
        lines.append(f"| [`{p.name}`](../policies/{p.name}.hp) | {p.grade} | {p.modes} | {mean:.0f} | "
                     f"{most:,} | {p.bytes} | {f'{p.ghosts} %' if p.ghosts else ''} |")
    return "\n".join(lines) + "\n"


def main():
    """The league, or with --docs the table of docs/policies.md."""
    some = policies()
    with tempfile.TemporaryDirectory() as folder:
        files = make(pathlib.Path(folder))
        rows = run("exact", some, files)
        if sys.argv[1:] == ["--docs"]:
            before, rest = DOCUMENT.read_text(encoding="utf-8").split(MARKS[0])
            DOCUMENT.write_text(before + MARKS[0] + table(some, rows) + MARKS[1]
                              + rest.split(MARKS[1])[1], encoding="utf-8")
            return
        print_league("exact", rows)
        print_league("mapped", run("mapped", [p for p in some if "mapped" in p.modes], files))


if __name__ == "__main__":
    main()
