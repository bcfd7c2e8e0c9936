#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""How long ampc takes, and how short its code is.

    ampc.py            compile time and code of each shipped policy, and how the
                       time grows with the length of a source
    ampc.py --docs     write the code sizes into docs/policy/ampc.md

A time is that of the whole process, from its start to its end, in milliseconds.
"""

import argparse
import pathlib
import re
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
AMPC = ROOT / "build" / "ampc"
DOCS = ROOT / "docs/policy/ampc.md"
MARKS = ("<!-- sizes: make docs -->\n", "<!-- end of sizes -->\n")
LINES = (1000, 5000, 10000, 25000, 50000)
RUNS = 20


def policies():
    """The shipped ones, in order of their names."""
    return sorted((ROOT / "policies").glob("*.hp"))


def compiled(path, level, ampc=AMPC):
    """({event: commands}, bytes of the image)."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "x.hpo"
        text = subprocess.run([ampc, level, "-S", "-o", out, path], capture_output=True,
                              text=True, check=True).stdout
        size = out.stat().st_size
    events = {}
    for event, body in re.findall(r"^event \d+ (\w+).*\n((?: .*\n)*)", text, re.M):
        events[event] = len(re.findall(r"^ +\d+  [0-9A-F]{2} ", body, re.M))
    return events, size


def sizes(ampc=AMPC):
    """The table of code sizes, as it stands in docs/policy/ampc.md."""
    rows = ["| policy | commands at `-O0` | at `-O1` | bytes of the image |", "|---|---|---|---|"]
    for path in policies():
        plain, _ = compiled(path, "-O0", ampc)
        short, size = compiled(path, "-O1", ampc)
        rows.append(f"| {path.stem} | {sum(plain.values())} | {sum(short.values())} | {size} |")
    return "\n".join(rows) + "\n"


def write_docs():
    """Put the sizes between the marks."""
    before, rest = DOCS.read_text(encoding="utf-8").split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    DOCS.write_text(before + MARKS[0] + sizes() + MARKS[1] + after, encoding="utf-8")


def generated(lines):
    """A policy of about so many lines: conditions, arithmetic, arrays, queues, calls."""
    head = ("Event Init()\n{\n\tInt a, b, c, d, e = 1;\n\tInt seen[64];\n\tField age;\n"
            "\tQueue plain, level[4];\n\tQueue sorted by age;\n\tPage page;\n}\n\n")
    tail = ("Event PageFault()\n{\n\tpage = FindPA(FaultedAddress);\n\tEnQueue(page, plain, TAIL);\n"
            + "".join(f"\tStep{i}();\n" for i in range(40)) + "}\n\nEvent Replace()\n{\n"
            "\tif (page = DeQueue(plain, HEAD))\n\t\tRelease(page);\n}\n")
    blocks = [
        "\tif (a < {n}) {{\n\t\tb += {n};\n\t\tc = b;\n\t}} else {{\n\t\td--;\n\t}}\n\n",
        "\twhile (d > {n}) {{\n\t\td -= e;\n\t\tif (d == b)\n\t\t\tbreak;\n\t}}\n\n",
        "\t/* {n} */\n\tseen[a & 63] = c;\n\tc = seen[{n}];\n\n",
        "\tif (page = Peek(sorted, HEAD)) {{\n\t\tpage.age++;\n\t\tEnQueue(page, level[{m}], TAIL);\n\t}}\n\n",
        "\ta = b > c && d != {n} ? e : c;\n\n",
        "\tfor (b = 0; b < {n}; b++)\n\t\tc++;\n\n",
    ]
    left = lines - head.count("\n") - tail.count("\n") - 40 * 4
    steps, number = [[] for _ in range(40)], 0
    while left > 0:
        block = blocks[number % len(blocks)].format(n=number % 60, m=number % 4)
        steps[number * 7 % 40].append(block)
        left -= block.count("\n")
        number += 1
    return head + "".join(f"Event Step{i}()\n{{\n{''.join(body)}}}\n\n"
                          for i, body in enumerate(steps)) + tail


def times(path, runs):
    """Milliseconds of each run."""
    with tempfile.TemporaryDirectory() as folder:
        command = [AMPC, "-o", pathlib.Path(folder) / "x.hpo", path]
        found = []
        for _ in range(runs):
            start = time.perf_counter()
            subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
            found.append(1000 * (time.perf_counter() - start))
    return found


def print_policies():
    """Time and code of what is shipped."""
    print(f"{'policy':12} {'best ms':>8} {'median':>8}  {'-O0':>5} {'-O1':>5}  {'bytes':>6}  events at -O1")
    for path in policies():
        took = times(path, RUNS)
        plain, _ = compiled(path, "-O0")
        short, size = compiled(path, "-O1")
        print(f"{path.stem:12} {min(took):8.1f} {sorted(took)[RUNS // 2]:8.1f}  "
              f"{sum(plain.values()):5} {sum(short.values()):5}  {size:6}  {each}")


def print_growth():
    """Time of longer and longer sources."""
    print(f"\n{'lines':>7} {'bytes':>8} {'commands':>9} {'best ms':>8} {'us a line':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for lines in LINES:
            path = pathlib.Path(folder) / f"lines-{lines}.hp"
            path.write_text(generated(lines), encoding="utf-8")
            events, _ = compiled(path, "-O1")
            best = min(times(path, 5))
            print(f"{lines:7} {path.stat().st_size:8} {sum(events.values()):9} {best:8.1f} "
                  f"{1000 * best / lines:10.2f}")


def main():
    """What make bench-ampc and make docs call."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", action="store_true",
                        help="write docs/policy/ampc.md, print nothing")
    if parser.parse_args().docs:
        write_docs()
        return
    print_policies()
    print_growth()


if __name__ == "__main__":
    main()
