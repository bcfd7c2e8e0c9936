#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What policies cost interpreted and in native code, in instructions of a stock kernel.

    table.py --kernel 6.12 --guest IMG --out DIR

One guest with run.py's deterministic flags, in which a nanosecond is an instruction. As in
bench/cost/fault, a page is replaced and read alone from a disk that answers where it is asked: by
the built-in FIFO2, and under each policy both ways. What a policy adds is its own fault less the
built-in one's; divided by its commands, that is not a command alone: events, and what the host does
for their commands, are in it. The second table has what a load takes: the bytes of native code, by
those of the commands, and the time to make it. Exit status 1 if a run fails, or if a policy's faults or commands are
not the same both ways.
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "bench/cost/fault"))

import table as fault  # noqa: E402
from bench.lib.guests import Failed, Guest, call, options, run_guest  # noqa: E402

POLICIES = sorted(path.stem for path in (ROOT / "policies").glob("*.hp"))
TOUCHES = 4 * fault.PAGES
SAME = ("pages_in", "commands")     # both ways


def run(policy, jit="off"):
    """A line for guest.sh."""
    return fault.Run("scattered", policy, "none" if policy == "built-in" else
                     f"/policies/{policy}.hpo", parameters=f"jit={jit}", touches=TOUCHES)


def measure(runs, args):
    """Boot, and fill in what the runs gave."""
    guest = run_guest(args, 3600, "sh", "/guest.sh", str(fault.PAGES),
                      "\n".join(one.line() for one in runs))
    for one, got in zip(runs, guest.lines(len(runs))):
        one.got.update(got)
        if one.complaint():
            raise Failed(f"{one.name}, {one.parameters}: {one.complaint()}")


def row(name, builtin, interpreted, native):
    """One policy's."""
    if any(interpreted.got[key] != native.got[key] for key in SAME):
        raise Failed(f"{name}: not the same both ways: {interpreted.got}, {native.got}")
    commands = native.got["commands"] / native.got["pages_in"]
    both = [one.each() - builtin for one in (interpreted, native)]
    return (f"{name:16}{commands:10.1f}{both[0]:13,.0f}{both[1]:9,.0f}"
            f"{both[0] / commands:13.1f}{both[1] / commands:9.1f}"
            f"{both[0] / builtin:+13.1%}{both[1] / builtin:+9.1%}")


def load_row(name, got):
    """What the native code of a policy is, and took."""
    return (f"{name:16}{got['command_bytes'] // 4:10,}{got['native_bytes']:10,}"
            f"{got['native_bytes'] / got['command_bytes']:16.1f}{got['native_ns'] / 1e6:10.3f}")


def bench(args):
    """What the Makefile calls."""
    base = run("built-in")
    pairs = {policy: (run(policy), run(policy, "on")) for policy in POLICIES}
    measure([fault.WARM_UP, base, *(one for pair in pairs.values() for one in pair)], args)
    builtin = base.each()
    print(f"Stock Debian kernel {Guest(args.out).release()}, one emulated CPU; {fault.PAGES:,} "
          f"pages, {fault.FRAMES:,} frames; {builtin:,.0f} instructions for a page under the "
          f"built-in FIFO2\n")
    print(f"{'':16}{'commands':>10}{'added, for a page':>22}{'for a command':>22}"
          f"{'over built-in':>22}")
    print(f"{'policy':16}{'a page':>10}" + f"{'interpreted':>13}{'native':>9}" * 3)
    for policy, (interpreted, native) in pairs.items():
        print(row(policy, builtin, interpreted, native))
    print(f"\n{'policy':16}{'words':>10}{'bytes':>10}{'a command byte':>16}{'made, ms':>10}")
    loads = {policy: native.got for policy, (_, native) in pairs.items()}
    for policy, got in loads.items():
        print(load_row(policy, got))
    print()
    slowest = max(got["native_ns"] / (got["command_bytes"] / 4) for got in loads.values()) * 400
    fault.goal("native code for 400 words made in 0.3 ms at most, by the slowest policy",
               slowest, f"{slowest / 1e6:.3f} ms", 300_000)
    largest = max(got["native_bytes"] / got["command_bytes"] for got in loads.values())
    fault.goal("at most 12 bytes of native code for a byte of commands", largest,
               f"{largest:.1f}", 12)
    fifo2 = pairs["fifo2"][1]
    fault.goal("fifo2 in native code at most 1.5 % over built-in", fifo2.each() / builtin,
               f"{fifo2.each() / builtin - 1:+.1%}", 1.015)


if __name__ == "__main__":
    sys.exit(call(bench, "jit", options(__doc__.split("\n", maxsplit=1)[0]).parse_args()))
