# SPDX-License-Identifier: GPL-2.0-only
"""SpatialClock: Kim, Ryu and Ramachandran, SIGMETRICS 2012. The ring is a sorted list.
The hand rests on the place of the page that it took, until a page comes in there."""


class Cache:
    def __init__(self, frames):
        self.frames, self.bit, self.hand = frames, {}, -1

    def access(self, page, write, hint):
        hit = page in self.bit
        if not hit and len(self.bit) == self.frames:
            self.evict()
        self.bit[page] = hit
        return hit

    def evict(self):
        """The hand points behind the last page that it saw."""
        while True:
            ring = sorted(self.bit)
            self.hand = next((page for page in ring if page > self.hand), ring[0])
            if not self.bit[self.hand]:
                del self.bit[self.hand]
                return
            self.bit[self.hand] = False
