# SPDX-License-Identifier: GPL-2.0-only
"""Einziger, Friedman, Manes, ACM TOS 2017: a window (LRU) of 1 % and a segmented LRU, 80 %
of it protected; who comes from the window stays if a count-min sketch with four rows of
counters to 15 has more for it than for whom it would displace. Each row has four counters
for each frame, that rounded up to a power of two, and the page's number times a constant
has 16 bits for each row. All are halved after ten uses for each frame."""


PARAMETERS = {"windows": 20, "protects": 50, "period": 3}


class Cache:
    def __init__(self, frames, windows=1, protects=80, period=10):
        self.frames, self.period, self.uses = frames, period * frames, 0
        self.width = 1 << (frames - 1).bit_length()
        self.rows = [{} for _ in range(4)]
        self.window, self.probation, self.protected = [], [], []     # first to go first
        self.room = max(1, frames * windows // 100)
        self.protects = (frames - self.room) * protects // 100

    def counters(self, page):
        for r, row in enumerate(self.rows):
            bits = page * 0x1E3779B97F4A7C15 >> 16 * r & 0xffff
            yield row, (bits % self.width, bits >> 14)

    def count(self, page):
        for row, place in self.counters(page):
            row[place] = min(15, row.get(place, 0) + 1)
        self.uses += 1
        if self.uses == self.period:
            self.uses //= 2
            self.rows = [{place: n // 2 for place, n in row.items()} for row in self.rows]

    def used(self, page):
        return min(row.get(place, 0) for row, place in self.counters(page))

    def access(self, page, write, hint):
        hit = page in self.window + self.probation + self.protected
        if hit:
            self.hit(page)
        else:
            if len(self.window + self.probation + self.protected) == self.frames:
                self.evict()
            self.window.append(page)
            self.probation += self.window[:-self.room]
            self.window = self.window[-self.room:]
        self.count(page)
        return hit

    def hit(self, page):
        if page in self.window:
            self.window.remove(page)
            self.window.append(page)
            return
        (self.probation if page in self.probation else self.protected).remove(page)
        self.protected.append(page)
        while len(self.protected) > self.protects:
            self.probation.append(self.protected.pop(0))

    def evict(self):
        main = self.probation or self.protected
        if main and self.used(self.window[0]) > self.used(main[0]):
            main.pop(0)
        else:
            self.window.pop(0)
