# SPDX-License-Identifier: GPL-2.0-only
"""What came in first is kept, last in first out; the rest passes through a FIFO of 2 % of
the frames; who was used there is hot, a clock of 25 % at most. One kept page in turn is
looked at for each that goes, and goes itself if none of these looks found it used for
as long as 16 times as many pages came in as there are frames. Touches of a page are
counted from the next fault on."""

PARAMETERS = {"passes": 30, "hots": 10, "patience": 1}


class Cache:
    def __init__(self, frames, passes=2, hots=25, patience=16):
        self.frames, self.room = frames, max(1, frames * passes // 100)
        self.hots, self.patience = frames * hots // 100, patience * frames
        self.kept, self.passing, self.hot = [], [], []
        self.used, self.seen, self.faults, self.newcomer = set(), {}, 0, None

    def access(self, page, write, hint):
        if page in self.seen:
            if page != self.newcomer:
                self.used.add(page)
            return True
        if len(self.seen) == self.frames:
            gone = self.evict()
            del self.seen[gone]
            self.used.discard(gone)
        full = len(self.kept) + len(self.hot) >= self.frames - self.room
        (self.passing if full else self.kept).append(page)
        self.faults += 1
        self.seen[page] = self.faults
        self.newcomer = page
        return False

    def evict(self):
        if self.kept:
            first = self.kept.pop(0)
            if first in self.used:
                self.used.remove(first)
                self.seen[first] = self.faults
            elif self.faults - self.seen[first] > self.patience:
                return first
            self.kept.append(first)
        while True:
            if len(self.hot) > self.hots:
                page = self.hot.pop(0)
            elif len(self.passing) < self.room and self.kept:
                return self.kept.pop()
            else:
                page = self.passing.pop(0)
            if page not in self.used:
                return page
            self.used.remove(page)
            self.hot.append(page)
