# SPDX-License-Identifier: GPL-2.0-only
"""The log of a disk (blklog.py) is read as it was written, and a crash keeps what
was flushed, and any part of the rest."""

import random

import pytest

import blklog

SECTOR = 512


def log_of(path, *requests):
    """A log as QEMU writes it; a request is None, a flush, or (sector, text)."""
    log = blklog.SUPER.pack(blklog.MAGIC, 1, 0, SECTOR).ljust(SECTOR, b"\0")
    for request in requests:
        first, text = request or (0, b"")
        data = text.ljust(-(-len(text) // SECTOR) * SECTOR, b".")
        log += blklog.ENTRY.pack(first, len(data) // SECTOR, 0 if request else blklog.FLUSH,
                                 0).ljust(SECTOR, b"\0") + data
    path.write_bytes(log + bytes(4 * SECTOR))
    return path


def test_entries_come_back_in_order(tmp_path):
    path = log_of(tmp_path / "log", (3, b"three"), None, (5, b"x" * 700))
    first, flush, last = blklog.read(path)
    assert first.offset == 3 * SECTOR and first.data == b"three".ljust(SECTOR, b".")
    assert flush.is_flush and not first.is_flush
    assert last.offset == 5 * SECTOR and len(last.data) == 2 * SECTOR


def test_other_files_and_unknown_requests_are_refused(tmp_path):
    (tmp_path / "other").write_bytes(bytes(4096))
    with pytest.raises(ValueError, match="not a log"):
        list(blklog.read(tmp_path / "other"))
    path = log_of(tmp_path / "log", None)
    data = bytearray(path.read_bytes())
    data[SECTOR + 16] = 4       # a discard
    path.write_bytes(data)
    with pytest.raises(ValueError, match="flags 4"):
        list(blklog.read(path))


def test_crash_keeps_what_was_flushed_and_any_part_of_the_rest(tmp_path):
    image = tmp_path / "image"
    image.write_bytes(bytes(3 * SECTOR))
    disk = blklog.Disk(image)
    for entry in blklog.read(log_of(tmp_path / "log", (0, b"sure"), None, (1, b"one"),
                                    (2, b"two"))):
        disk.add(entry)
    chance, seen = random.Random(1), set()
    for _ in range(40):
        disk.crash(chance, tmp_path / "lost")
        lost = (tmp_path / "lost").read_bytes()
        assert lost.startswith(b"sure")
        seen.add((lost[SECTOR:SECTOR + 3] == b"one", lost[2 * SECTOR:2 * SECTOR + 3] == b"two"))
    assert len(seen) == 4
