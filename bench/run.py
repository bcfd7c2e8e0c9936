#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Run a benchmark in guests, and print its table.

    run.py cost.fault.table --kernel 6.12 --guest IMG --out DIR [OPTION...]

The first word is a module's name, below this folder. Its bench() does it; OPTIONS are those that
it has of its own.
"""

import argparse
import importlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from bench.lib.guests import call  # noqa: E402


def benchmark(name):
    """(a module, the parser of its command line)"""
    module = importlib.import_module(f"bench.{name}")
    parser = argparse.ArgumentParser(f"run.py {name}", description=module.__doc__.split("\n\n")[0])
    parser.add_argument("--kernel", required=True, metavar="KEY", help="a key of kernels.sh")
    parser.add_argument("--guest", required=True, metavar="IMG", help="made by initramfs.sh")
    parser.add_argument("--out", required=True, metavar="DIR", type=pathlib.Path)
    for option, settings in getattr(module, "OPTIONS", {}).items():
        parser.add_argument(option, **settings)
    return module, parser


def main(name, *words):
    """The command line."""
    module, parser = benchmark(name)
    return call(module.bench, name.removesuffix(".table").rpartition(".")[2],
                parser.parse_args(words))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
