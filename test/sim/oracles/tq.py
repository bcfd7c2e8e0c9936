# SPDX-License-Identifier: GPL-2.0-only
"""write-hints-2006, Algorithm 2, as papers/README.md reads it. RECOV counts once:
when it brings a page into a cache that is not full."""

from oracles._passing import RECOV, REPLACE, SYNCH, Passing


class Rule:
    def __init__(self, frames):
        self.frames, self.count = frames, {}
        # Low and high with the page that was referenced last behind; so is out.
        self.low, self.high, self.out = [], [], []

    def __contains__(self, page):
        return page in self.low or page in self.high

    def least(self, queue):
        """Of those that were used least, the one that was used longest ago."""
        return min(queue, key=lambda page: self.count[page])

    def put_out(self, page):
        self.out.append(page)
        if len(self.out) > self.frames:
            del self.count[self.out.pop(0)]

    def swap(self, queue, page):
        victim = self.least(queue)
        queue.remove(victim)
        if page in self.out:
            self.out.remove(page)
        self.put_out(victim)

    def request(self, page, hint):
        if hint == RECOV:
            if page in self or len(self.low) + len(self.high) >= self.frames:
                return page in self
        self.count[page] = self.count.get(page, 0) + 1
        wanted = hint in (SYNCH, REPLACE)
        mine = self.high if wanted else self.low
        if page in self:
            (self.low if page in self.low else self.high).remove(page)
        elif len(self.low) + len(self.high) >= self.frames:
            if not self.is_better(page, wanted):
                if page in self.out:
                    self.out.remove(page)
                self.put_out(page)
                return False
            self.swap(self.low or self.high, page)
        mine.append(page)
        return True

    def is_better(self, page, wanted):
        if wanted and self.low:
            return True
        queue = self.high if wanted else self.low
        if not queue or not (wanted or page in self.out):
            return False
        return self.count[page] >= self.count[self.least(queue)]


class Cache(Passing):
    rule = Rule
