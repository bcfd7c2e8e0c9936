#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Random policies in C, compiled, against the interpreter: batches of new seeds.

    inc.py --seconds N [--first SEED] [--batch N] [--cc COMMAND]

Prints one line of sums. The exit status is 1 if a program's ends are not the same both ways; its
seed is printed, and `build/asan/differ --verbose SEED 1` shows it.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
DIFFER = ROOT / "build/asan/differ"


def compile_c(source, library, cc=("tcc",)):
    """@library of the C in @source. Another linker than tcc's own, whose libraries do not say
    that they can do without an executable stack: glibc 2.41 then loads none."""
    made = f"{library}.o"
    subprocess.run([*cc, "-w", "-fPIC", "-c", f"-I{ROOT / 'build/native'}", "-o", made, source],
                   check=True)
    subprocess.run(["cc", "-shared", "-Wl,-z,noexecstack", "-o", library, made], check=True)
    pathlib.Path(made).unlink()


def batch(first, count, cc=("tcc",), image=()):
    """What differ prints of some seeds, interpreted and compiled; and whether all is well."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = pathlib.Path(folder, "p.c"), pathlib.Path(folder, "p.so")
        subprocess.run([DIFFER, "--emit-c", source, *image, str(first), str(count)], check=True)
        compile_c(source, library, cc)
        done = subprocess.run([DIFFER, "--c", library, *image, str(first), str(count)],
                              capture_output=True, text=True, check=False)
    return done.stdout + done.stderr, done.returncode == 0


def sums(text):
    """{word: number} of differ's last line."""
    words = text.rstrip("\n").rpartition("\n")[2].split()
    return dict(zip(words[::2], map(int, words[1::2])))


def main():
    """What the Makefile calls."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=int, required=True)
    parser.add_argument("--first", type=int, default=int(time.time()) * 1000)
    parser.add_argument("--batch", type=int, default=200)
    parser.add_argument("--cc", default="tcc")
    args = parser.parse_args()
    end, seed, total, well = time.monotonic() + args.seconds, args.first, {}, True
    while well and time.monotonic() < end:
        text, well = batch(seed, args.batch, args.cc.split())
        seed += args.batch
        for word, number in sums(text).items():
            total[word] = total.get(word, 0) + number
    if not well:
        print(text)
    print(f"seeds {args.first} to {seed - 1}:", *(f"{word} {n}" for word, n in total.items()))
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
