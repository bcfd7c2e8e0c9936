# SPDX-License-Identifier: GPL-2.0-only
"""Einziger, Friedman, Manes, ACM TOS 2017: a window (LRU) of 1 % and a segmented LRU, 80 %
of it protected; who comes from the window stays if a count-min sketch with four rows of
counters to 15 has more for it than for whom it would displace. A row has four counters in each
of 16,383 elements; where a page's are, four rounds of a hash say. In a period of ten uses for
each frame the elements are halved in turn, at most 64 with a use."""

import collections


PARAMETERS = {"windows": 20, "protects": 50, "period": 3}


WIDTH = 16383


class Cache:
    def __init__(self, frames, windows=1, protects=80, period=10):
        self.frames, self.uses = frames, 0
        self.period = max(period * frames, WIDTH // 64 + 1)
        self.element = [collections.Counter() for _ in range(WIDTH)]
        self.window, self.probation, self.protected = [], [], []     # first to go first
        self.room = max(1, frames * windows // 100)
        self.protects = (frames - self.room) * protects // 100

    def counters(self, page):
        mixed = page << 12
        for row in range(4):
            mixed = (mixed ^ mixed >> 31) * 0x9E3779B97F4A7C15 % 2**64
            yield self.element[(mixed >> 32) * WIDTH >> 32], (row, mixed >> 30 & 3)

    def count(self, page):
        for element, place in self.counters(page):
            element[place] = min(15, element[place] + 1)
        self.uses %= self.period
        for number in range(self.uses * WIDTH // self.period,
                            (self.uses + 1) * WIDTH // self.period):
            for place in self.element[number]:
                self.element[number][place] //= 2
        self.uses += 1

    def used(self, page):
        return min(element[place] for element, place in self.counters(page))

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
