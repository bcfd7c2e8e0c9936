# SPDX-License-Identifier: GPL-2.0-only
"""Durability (docs/user/regions.md): what an fsync promised is on the disk, whatever
becomes of the machine.

A guest stamps pages and syncs (test/guest/program/stamp.c), first on a raw disk, then in
a file of ext4, and is killed in the middle of it. Its disk logs all requests in
order, and a record of what was promised is one of them; so every moment at which
power could have gone is looked at, not only the one at which the guest died.
"""

import array
import dataclasses
import os
import pathlib
import random
import struct
import subprocess

import pytest

import blklog
from conftest import BUILD, NIGHT_ON_SECOND, guest_image, guest_tree, need, vm

pytestmark = pytest.mark.guest

SEED = int(os.environ.get("HIPEC_SEED", "1"))

# As test/guest/program/stamp.c has them.
PAGE = 4096
STAMPED = 256
RAW_OFFSET = 16 << 20
RECORDS_OFFSET = 18 << 20
RECORD = struct.Struct(f"<3Q{STAMPED}Q")
MAGIC = 0x64726f6365726870
RAW, EXT4 = 1, 2    # phases

DISK_BYTES = 20 << 20
RAW_ROUNDS = 40
EXT4_ROUNDS = (15, 30)      # it is killed after one of these


@dataclasses.dataclass
class Crash:
    """What is left of a guest that was killed."""
    result: object
    log: list           # Entries, the last being a record
    empty: pathlib.Path     # the disk as it was before
    left: pathlib.Path      # and after
    image: pathlib.Path     # for another guest


@dataclasses.dataclass(frozen=True)
class Record:
    """What was promised: at least that stamp on each page; 0: nothing."""
    phase: int
    promised: tuple


def record_of(entry):
    """The record that an entry of the log writes, or None."""
    if entry.is_flush or entry.offset < RECORDS_OFFSET:
        return None
    magic, phase, _, *promised = RECORD.unpack_from(entry.data)
    assert magic == MAGIC
    return Record(phase, tuple(promised))


def oldest_stamp(phase, page, data):
    """The oldest stamp on a page, all of whose bytes were written by its writer:
    word after word, so that there are two stamps at most, the newer first."""
    words = array.array("Q", data)
    stamp = words[0] >> 16
    newer = words.count(words[0])
    older = (stamp - 1) << 16 | phase << 12 | page if stamp > 1 else 0
    assert stamp and words[0] == stamp << 16 | phase << 12 | page or not any(words), \
        f"page {page} holds {words[0]:#x}"
    assert words == array.array("Q", [words[0]] * newer + [older] * (len(words) - newer)), \
        f"page {page} is torn at word {newer}"
    return stamp if newer == len(words) else stamp - 1


def tool(*command):
    """Run one of e2fsprogs; 1 is what e2fsck says when it has replayed a journal."""
    done = subprocess.run(command, check=False, capture_output=True, text=True,
                          env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"})
    assert done.returncode <= 1, f"{command[0]}: {done.stdout}{done.stderr}"


@pytest.fixture(scope="module", params=NIGHT_ON_SECOND)
def crash(request, tmp_path_factory):
    """Run the writer on a kernel, and kill it."""
    kernel = request.param
    need(kernel)
    tmp = tmp_path_factory.mktemp(f"durable-{kernel}")
    empty, left, log = tmp / "empty.img", tmp / "left.img", tmp / "log"
    tool("mke2fs", "-q", "-t", "ext4", "-b", str(PAGE), "-E", "lazy_itable_init=0", empty,
         str(RAW_OFFSET // PAGE))
    os.truncate(empty, DISK_BYTES)
    left.write_bytes(empty.read_bytes())
    log.touch()
    os.truncate(log, 1 << 30)
    image = guest_image(tmp, kernel, guest_tree(tmp))
    last = random.Random(SEED).randint(*EXT4_ROUNDS)
    result = vm.boot(
        kernel, image, BUILD / f"durable-{kernel}",
        ["sh", "-c", "insmod /hipec/hipec.ko && "
         f"hipec-guest-test --stamp /dev/vda {RAW} {RAW_ROUNDS} {SEED} && "
         f"hipec-guest-test --stamp /data/stamped {EXT4} 0 {SEED}"],
        # no-flush: the guest's flushes are logged, and need not outlive this host.
        devices=["-blockdev", f"driver=file,node-name=left,filename={left},cache.no-flush=on",
                 "-blockdev", f"driver=file,node-name=log,filename={log},cache.no-flush=on",
                 "-blockdev", "driver=blklogwrites,node-name=logged,file=left,log=log",
                 "-device", "virtio-blk-pci,drive=logged"],
        kill_when=lambda console: f"record {EXT4} {last}\n" in console, timeout=300)
    entries = list(blklog.read(log)) if result.status == vm.KILLED else []
    # What was under way when it was killed may be torn.
    while entries and not record_of(entries[-1]):
        entries.pop()
    return Crash(result, entries, empty, left, image)


def test_guest_is_killed_while_it_writes(crash):
    """Not earlier, and not because something was wrong."""
    assert (crash.result.status, crash.result.verdict) == (vm.KILLED, "ok"), \
        crash.result.console[-4000:]


def test_raw_disk_holds_what_was_promised_at_any_moment(crash):
    """Every order and every loss of what was not flushed: what is promised was
    flushed, and nothing that was written later, flushed or not, takes it back."""
    flushed, written = [0] * STAMPED, [0] * STAMPED
    promised, records = [0] * STAMPED, 0
    for entry in crash.log:
        record = record_of(entry)
        if entry.is_flush:
            flushed = list(written)
        elif record and record.phase == RAW:
            records += 1
            promised = list(map(max, promised, record.promised))
            assert [page for page in range(STAMPED) if flushed[page] < promised[page]] == []
        elif RAW_OFFSET <= entry.offset < RECORDS_OFFSET:
            assert entry.offset % PAGE == len(entry.data) % PAGE == 0
            for at in range(0, len(entry.data), PAGE):
                page = (entry.offset + at - RAW_OFFSET) // PAGE
                written[page] = oldest_stamp(RAW, page, entry.data[at:at + PAGE])
                assert written[page] >= promised[page]
    assert records == RAW_ROUNDS
    # Of most pages something: which ones a short run comes to is by chance.
    assert sum(stamp > 0 for stamp in promised) > STAMPED * 3 // 4


def file_in(image, name):
    """A file's bytes, after the file system has looked at its journal."""
    tool("e2fsck", "-E", "journal_only", "-y", image)
    dump = image.with_suffix(".dump")
    tool("debugfs", "-R", f"dump /{name} {dump}", image)
    return dump.read_bytes()


def test_ext4_holds_what_was_promised_whenever_power_goes(crash, tmp_path):
    """After each sync: what was flushed until then, and any half of the rest. The
    file began as a hole, so its blocks, and that they are written, count as well."""
    chance = random.Random(SEED)
    sure, lost = tmp_path / "sure.img", tmp_path / "lost.img"
    sure.write_bytes(crash.empty.read_bytes())
    disk = blklog.Disk(sure)
    promised, records = [0] * STAMPED, 0
    for entry in crash.log:
        record = record_of(entry)
        if record and record.phase == EXT4:
            records += 1
            promised = list(map(max, promised, record.promised))
            disk.crash(chance, lost)
            data = file_in(lost, "stamped")
            for page in range(STAMPED):
                held = oldest_stamp(EXT4, page, data[page * PAGE:(page + 1) * PAGE])
                assert held >= promised[page], f"page {page} after sync {records}"
        disk.add(entry)
    assert records >= EXT4_ROUNDS[0]
    assert any(promised)


def test_disk_is_mounted_again(crash, tmp_path):
    """By a kernel: after the kill, all that the last record promised is there."""
    kernel = crash.image.stem.partition("-")[2]
    result = vm.boot(kernel, crash.image, tmp_path / "out",
                     ["hipec-guest-test", "--stamp-check", "/data/stamped", str(EXT4)],
                     disk=crash.left, keep_writes=True)
    assert result.ok, result.verdict + result.output
