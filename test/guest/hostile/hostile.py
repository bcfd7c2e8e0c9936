#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Hostile clients in a guest, for a long time: `make hostile`.

    hostile.py [--kernel debug] [--seconds 600] [--seed 1]

Ends with status 0 if the kernel had nothing to complain about, every frame came
back, nothing holds the module but that files were taken, no memory was lost,
nobody was killed for lack of it, and nearly each operation had worked at least
once. Else the console in build/hostile-KERNEL has the last operations of all
workers before the kernel died, and hostile.txt in results/ there those before
something else went wrong.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "test"))

from conftest import BUILD, KUNIT_KERNELS, guest_image, guest_tree, vm  # noqa: E402


def operations(text):
    """{name: (tried, worked)} of hostile.txt."""
    return {name: (int(tried), int(worked)) for name, tried, worked in
            re.findall(r"^op (\w+) tried (\d+) worked (\d+)$", text, re.M)}


def complaints(results, least=1.0):
    """What is wrong with the results of test/guest/hostile.sh; @least: the part
    of all operations that must have worked."""
    path = results / "hostile.txt"
    if not path.exists():
        return ["hostile.sh did not come to its end"]
    text = path.read_text()
    found = [] if text.endswith("\nok\n") else [text.rstrip().rpartition("\n")[2]]
    idle = [name for name, (_, worked) in operations(text).items() if not worked]
    if not operations(text) or len(idle) > (1 - least) * len(operations(text)):
        found.append(f"nothing worked of: {' '.join(idle)}")
    for name, want in (("hostile-frames.txt", "0\n"), ("kmemleak.txt", "")):
        path = results / name
        if path.exists() and path.read_text() != want:
            found.append(f"{name}: {path.read_text()}")
    return found


def main():
    """One run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--kernel", default="debug")
    parser.add_argument("--seconds", type=int, default=600, help="of guest time")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    ours = args.kernel in KUNIT_KERNELS
    script = f"HOSTILE_LOG=1 sh /hipec/hostile.sh {args.seconds} {args.seed}"
    if ours:
        script += " && sh /hipec/last.sh"
    # The guest has time for the end; boot() gives slower kernels more of all.
    timeout = 120 + args.seconds / int(vm.fact(args.kernel, "slower", "1"))
    with tempfile.TemporaryDirectory(prefix="hipec-hostile-") as name:
        tmp = pathlib.Path(name)
        (tmp / "data").mkdir()
        subprocess.run([ROOT / "vm-images/mkdisk.sh", tmp / "data", tmp / "disk", "64M"],
                       check=True)
        result = vm.boot(args.kernel, guest_image(tmp, args.kernel, guest_tree(tmp)),
                         BUILD / f"hostile-{args.kernel}", ["sh", "-c", script],
                         disk=tmp / "disk", timeout=timeout,
                         append="panic_print=32 log_buf_len=1M")
    # What is odd by design works once in a blue moon.
    found = complaints(result.results, least=0.95)
    if result.verdict != "ok":
        found.insert(0, result.verdict)
    elif result.status:
        found.append(f"status {result.status}")
    if (result.results / "hostile.txt").exists():
        print((result.results / "hostile.txt").read_text(), end="")
    print("\n".join(["not ok"] + found) if found else "the kernel has no complaint")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
