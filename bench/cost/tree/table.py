# SPDX-License-Identifier: GPL-2.0-only
"""What hipec attach takes of a directory tree with very many files, how long that and hipec
detach take, in instructions of a stock kernel, and the kernel's memory meanwhile.

One guest with run.py's deterministic flags, in which a nanosecond is an instruction. Each file
has one page. Exit status 1 if a run fails.
"""

import json

from bench.lib.guests import Failed, run_guest, stock

# Small files that a container takes: module/include/uapi/hipec_cache.h.
MOST_FILES = 557_055

OPTIONS = {"--files": {"type": int, "required": True}}


def script(files):
    """For guest.sh: a tree of files of one page, each a hole, that hipec attach takes and hipec
    detach lets go. The lines are what scale prints of both."""
    return f"""
make_ram_disk none {files // 2000 + 160} $MAX_SECTORS
mkfs.ext4 -q -O ^has_journal -E lazy_itable_init=0 -N {files + files // 500 + 1000} /dev/none
mount /dev/none /mnt
mkdir /mnt/files
scale holes /mnt/files {files}
insmod /hipec/hipec.ko
mkdir $group
sync
echo 3 >/proc/sys/vm/drop_caches
echo 0 >$group/cgroup.procs
scale run hipec attach --policy /policies/fifo.hpo --budget 64M /mnt/files \\
	>/results/attach 2>/results/words
grep what= /results/attach >/results/runs
id=$(grep -v what= /results/attach)
hipec status --json >/results/status
dmesg | grep "hipec: " | grep -v "module" >/results/log || true
scale run hipec detach "$id" >>/results/runs
"""


def bench(args):
    """What the Makefile calls."""
    args.memory = "6G"
    attach, detach = run_guest(args, 7200, script(args.files), []).lines(2)
    status = json.loads((args.out / "results/status").read_text())
    taken = (status[0] if isinstance(status, list) else status)["regions"]
    if taken != min(args.files, MOST_FILES):
        raise Failed(f"{taken:,} files are taken of {args.files:,}, at most {MOST_FILES:,} are")
    print(f"{stock(args.out)}\n")
    print(f"{args.files:,} files of one page, {taken:,} taken; at 1 instruction a cycle and 3 GHz:")
    for name, got in (("attach", attach), ("detach", detach)):
        print(f"{name}: {got['each'] / 3e9:.1f} s, {got['each'] // taken:,} instructions a file taken")
    print(f"the kernel's memory: {attach['bytes'] / 1e6:,.0f} MB more after attach, "
          f"{attach['bytes'] / taken:,.0f} bytes a file taken; {-int(detach['bytes']) / 1e6:,.0f} MB less after detach")
    print((args.out / "results/words").read_text() + (args.out / "results/log").read_text(), end="")
