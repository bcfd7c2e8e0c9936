#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What hipec attach takes of a directory tree with very many files, how long that and hipec
detach take, in instructions of a stock kernel, and the kernel's memory meanwhile.

    table.py --kernel 6.12 --guest IMG --files N --out DIR

One guest with run.py's deterministic flags, in which a nanosecond is an instruction. Each file
has one page. Exit status 1 if a run fails.
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from bench.lib.guests import Failed, Guest, call, options, run_guest  # noqa: E402

# Small files that a container takes: module/include/uapi/hipec_cache.h.
MOST_FILES = 557_055


def bench(args):
    """What the Makefile calls."""
    args.memory = "6G"
    guest = run_guest(args, 7200, "sh", "/guest.sh", str(args.files))
    attach, detach = guest.lines(2)
    status = json.loads((args.out / "results/status").read_text())
    taken = (status[0] if isinstance(status, list) else status)["regions"]
    if taken != min(args.files, MOST_FILES):
        raise Failed(f"{taken:,} files are taken of {args.files:,}, at most {MOST_FILES:,} are")
    print(f"Stock Debian kernel {Guest(args.out).release()}, one emulated CPU\n")
    print(f"{args.files:,} files of one page, {taken:,} taken; at 1 instruction a cycle and 3 GHz:")
    for name, got in (("attach", attach), ("detach", detach)):
        print(f"{name}: {got['each'] / 3e9:.1f} s, {got['each'] // taken:,} instructions a file taken")
    print(f"the kernel's memory: {attach['bytes'] / 1e6:,.0f} MB more after attach, "
          f"{attach['bytes'] / taken:,.0f} bytes a file taken; {-int(detach['bytes']) / 1e6:,.0f} MB less after detach")
    print((args.out / "results/words").read_text() + (args.out / "results/log").read_text(), end="")


def parser():
    """Of the command line."""
    found = options(__doc__.split("\n", maxsplit=1)[0])
    found.add_argument("--files", type=int, required=True)
    return found


if __name__ == "__main__":
    sys.exit(call(bench, "tree", parser().parse_args()))
