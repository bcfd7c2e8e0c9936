# SPDX-License-Identifier: GPL-2.0-only
"""SpatialClock: Kim, Ryu and Ramachandran, SIGMETRICS 2012. The hand points to a page,
at first to the one that came in first; which is the next one says a sorted list."""


class Cache:
    def __init__(self, frames):
        self.frames, self.bit, self.hand = frames, {}, None

    def access(self, page, write, hint):
        hit = page in self.bit
        if not hit and len(self.bit) == self.frames:
            self.evict()
        if not self.bit:
            self.hand = page
        self.bit[page] = hit
        return hit

    def evict(self):
        while self.bit[self.hand]:
            self.bit[self.hand] = False
            self.advance()
        victim = self.hand
        self.advance()
        del self.bit[victim]

    def advance(self):
        ring = sorted(self.bit)
        self.hand = next((page for page in ring if page > self.hand), ring[0])
