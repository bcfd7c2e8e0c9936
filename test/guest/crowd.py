#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Many containers, files and threads in place, in a guest, for a long time: `make soak-size`.

    crowd.py [--kernel 6.12] [--seconds 3600] [--seed N] [--plain]

Ends with status 0 if no write was lost, no frame was left, the module could be unloaded, no
memory was lost and the kernel had nothing to complain about. Else build/soak-size-KERNEL has
the console and, in results/, crowd.txt with the reason. --plain: nothing is taken.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test"))

from conftest import BUILD, KUNIT_KERNELS, guest_image, guest_tree, vm  # noqa: E402
from stress import stress  # noqa: E402

# Options of hipec-crowd, MB of the pool, and of the disk.
LARGE = ("--containers 200 --files 20000 --processes 16 --threads 4", 32, "1500M")
SMALL = ("--containers 20 --files 1000 --processes 8 --threads 2", 2, "64M")


def run(kernel, size, seconds, seed, out, timeout, options=""):
    """One boot of @kernel. Return: a Result of run.py."""
    numbers, pool_mb, disk = size
    slower = int(vm.fact(kernel, "slower", "1"))
    script = (f"sh /hipec/crowd.sh crowd {pool_mb} {numbers} --seconds {seconds}"
              f" --seed {seed} {options}")
    if kernel in KUNIT_KERNELS:
        script += " --inject && sh /hipec/last.sh"
    with tempfile.TemporaryDirectory(prefix="hipec-crowd-") as name:
        tmp = pathlib.Path(name)
        (tmp / "data").mkdir()
        subprocess.run([ROOT / "vm-images/mkdisk.sh", tmp / "data", tmp / "disk", disk],
                       check=True)
        return vm.boot(kernel, guest_image(tmp, kernel, guest_tree(tmp)), BUILD / out,
                       ["env", f"HIPEC_SLOWER={slower}", "sh", "-c", script],
                       disk=tmp / "disk", timeout=timeout)


def complaints(result):
    """What was wrong with @result of run()."""
    found = stress.complaints(result.results, "crowd")
    if result.verdict != "ok":
        found.insert(0, result.verdict)
    elif result.status:
        found.append(f"status {result.status}")
    return found


def counts(text):
    """{"reads": number, ..., "p99.9": us, ...} of crowd.txt."""
    words = re.search(r"^(reads .*)\npread us (.*)$", text, re.M)
    words = f"{words[1]} {words[2]}".split()
    return dict(zip(words[::2], map(float, words[1::2])))


def main():
    """A run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--kernel", default="6.12")
    parser.add_argument("--seconds", type=int, default=3600, help="of guest time")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--plain", action="store_true", help="nothing is taken")
    args = parser.parse_args()

    print(f"{args.kernel}, seed {args.seed}", flush=True)
    # boot() gives slower kernels more of all. Making and comparing files takes minutes.
    slower = int(vm.fact(args.kernel, "slower", "1"))
    result = run(args.kernel, LARGE, args.seconds, args.seed, f"soak-size-{args.kernel}",
                 1800 + 1.2 * args.seconds / slower, "--plain" if args.plain else "")
    path = result.results / "crowd.txt"
    if path.exists():
        print(path.read_text()[-6000:], end="", flush=True)
    found = complaints(result)
    print("\n".join(["not ok"] + found) if found else "ok: nothing lost", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
