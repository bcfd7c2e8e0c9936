# SPDX-License-Identifier: GPL-2.0-only
"""The clock, as an array and a hand: a page comes in with its bit 0."""


class Cache:
    def __init__(self, frames):
        self.frames, self.ring, self.bits, self.hand = frames, [], [], 0

    def access(self, page, write, hint):
        if page in self.ring:
            self.bits[self.ring.index(page)] = 1
            return True
        if len(self.ring) < self.frames:
            self.ring.append(page)
            self.bits.append(0)
            return False
        while self.bits[self.hand]:
            self.bits[self.hand] = 0
            self.hand = (self.hand + 1) % self.frames
        self.ring[self.hand] = page
        self.hand = (self.hand + 1) % self.frames
        return False
