#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The stress run in a guest, for a long time: `make soak`.

    stress.py [--kernel 6.12]... [--seconds 1800] [--seed N] [--inject]

One boot after the other for each kernel, each with a seed of its own, printed.
Ends with status 0 if no write was lost, every frame came back, the module could
be unloaded, no memory was lost and the kernel had nothing to complain about. Else
build/soak-KERNEL has the console and, in results/, stress.txt, roomy.txt or place-*.txt with
the reason.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "test"))

from conftest import BUILD, KUNIT_KERNELS, guest_image, guest_tree, vm  # noqa: E402


# A pool too small for who shares it, and one with room.
PARTS = ("stress", "roomy")


def place_systems(kernel):
    """File systems on which files are taken in place; our own kernel has one of them, and
    overlays."""
    return ("ext4", *(() if kernel in KUNIT_KERNELS else ("xfs", "btrfs")), "overlay")


def counts(text):
    """{operation: (tried, worked)} and {act of the keeper: times} of stress.txt."""
    return ({name: (int(tried), int(worked)) for name, tried, worked in
             re.findall(r"^op (\w+) tried (\d+) worked (\d+)$", text, re.M)},
            {name: int(times) for name, times in re.findall(r"^act (\w+) (\d+)$", text, re.M)})


def slots(text):
    """The counters of each slot of stress.txt: [{name: number}]."""
    return [dict(zip(words[::2], map(int, words[1::2]))) for words in
            (line.split()[2:] for line in re.findall(r"^slot .*$", text, re.M))]


def complaints(results, name="stress"):
    """What is wrong with the results of test/guest/stress.sh."""
    path = results / f"{name}.txt"
    if not path.exists():
        return ["stress.sh did not come to its end"]
    text = path.read_text()
    found = [] if text.endswith("\nok\n") else [text.rstrip().rpartition("\n")[2]]
    for part, want in ((f"{name}-frames.txt", "0\n"), ("kmemleak.txt", "")):
        path = results / part
        if path.exists() and path.read_text() != want:
            found.append(f"{part}: {path.read_text()}")
    return found


def soak(kernel, seconds, seed, inject):
    """One boot. Return: what was wrong."""
    ours = kernel in KUNIT_KERNELS
    slower = int(vm.fact(kernel, "slower", "1"))
    roomy = place = seconds // 4
    systems = place_systems(kernel)
    parts = [*PARTS, *(f"place-{fs}" for fs in systems)]
    options = f"--seed {seed}{' --inject' if inject and ours else ''}"
    script = (f"sh /hipec/stress.sh stress --seconds {seconds - roomy - place} {options} &&"
              f" sh /hipec/stress.sh roomy --seconds {roomy} --roomy {options}")
    for fs in systems:
        script += (f" && sh /hipec/place.sh place-{fs} {fs} --seconds {place // len(systems)}"
                   f" --seed {seed}")
    if ours:
        script += " && sh /hipec/last.sh"
    with tempfile.TemporaryDirectory(prefix="hipec-soak-") as name:
        tmp = pathlib.Path(name)
        (tmp / "data").mkdir()
        subprocess.run([ROOT / "vm-images/mkdisk.sh", tmp / "data", tmp / "disk", "64M"],
                       check=True)
        # boot() gives slower kernels more of all.
        result = vm.boot(kernel, guest_image(tmp, kernel, guest_tree(tmp)),
                         BUILD / f"soak-{kernel}",
                         ["env", f"HIPEC_SLOWER={slower}", "sh", "-c", script],
                         disk=tmp / "disk", timeout=300 + 1.2 * seconds / slower)
    found = [f"{name}: {text}" for name in parts for text in complaints(result.results, name)]
    if result.verdict != "ok":
        found.insert(0, result.verdict)
    elif result.status:
        found.append(f"status {result.status}")
    for name in parts:
        path = result.results / f"{name}.txt"
        if path.exists():
            print(path.read_text()[-6000:], end="", flush=True)
    return found


def main():
    """A run for each kernel."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--kernel", action="append", help="again for another")
    parser.add_argument("--seconds", type=int, default=1800, help="of guest time, each")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--inject", action="store_true", help="on a kernel that can")
    args = parser.parse_args()

    wrong = 0
    for number, kernel in enumerate(args.kernel or ["6.12", "debug"]):
        print(f"{kernel}, seed {args.seed + number}", flush=True)
        found = soak(kernel, args.seconds, args.seed + number, args.inject)
        print("\n".join(["not ok"] + found) if found else "ok: nothing lost", flush=True)
        wrong += bool(found)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
