# SPDX-License-Identifier: GPL-2.0-only
"""What a disk was asked, in order: a log of QEMU's blklogwrites driver, and the
disks that a loss of power could have left at any moment of it.

A write is on the disk for sure once a flush has come behind it. Until then it is
there or not, whatever came before or after it.
"""

import dataclasses
import mmap
import struct

MAGIC = 0x6a736677736872    # "jsfwshr", of dm-log-writes
SUPER = struct.Struct("<QQQI")
ENTRY = struct.Struct("<4Q")
FLUSH = 1


@dataclasses.dataclass(frozen=True)
class Entry:
    """A request: a flush, or a write of @data at byte @offset."""
    offset: int
    data: bytes

    @property
    def is_flush(self):
        """A write has data."""
        return not self.data


def read(path):
    """The Entries of a log. Their number in its first sector is as of the last
    flush, so the end is where there is no entry."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as log:
        magic, version, _, sector = SUPER.unpack_from(log)
        if (magic, version) != (MAGIC, 1):
            raise ValueError(f"{path}: not a log of writes")
        at = sector
        while at + sector <= len(log):
            first, count, flags, _ = ENTRY.unpack_from(log, at)
            if not count and not flags:
                return
            if flags not in (0, FLUSH) or bool(flags) == bool(count):
                raise ValueError(f"{path}: entry at {at}: flags {flags}, {count} sectors")
            yield Entry(first * sector, log[at + sector:at + sector * (1 + count)])
            at += sector * (1 + count)


class Disk:
    """What is on a disk for sure, in a file, and what may be."""

    def __init__(self, path):
        self.path = path
        self.maybe = []     # writes since the last flush

    def add(self, entry):
        """The next request of the log."""
        if entry.is_flush:
            self.write(self.path, self.maybe)
            self.maybe = []
        else:
            self.maybe.append(entry)

    @staticmethod
    def write(path, entries):
        """Put writes on an image."""
        with open(path, "r+b") as image:
            for entry in entries:
                image.seek(entry.offset)
                image.write(entry.data)

    def crash(self, random, path):
        """Make an image of what a loss of power could leave now."""
        path.write_bytes(self.path.read_bytes())
        self.write(path, [entry for entry in self.maybe if random.random() < 0.5])
