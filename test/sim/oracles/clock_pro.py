# SPDX-License-Identifier: GPL-2.0-only
"""CLOCK-Pro, adaptive: Jiang, Chen and Zhang, USENIX 2005, sections 4.3 and 4.4.

The ring is a list: it begins where the hand for hot pages is, the paper's tail, and
ends with the paper's head. The hands for cold pages and for test periods are where
the paper says that they point to: at the resident cold page, and the cold page in its
test period, that are farthest from the head. All memory is for cold pages at first."""


class Page:
    def __init__(self, page):
        self.page, self.hot, self.resident, self.test, self.bit = page, False, True, True, False


class Cache:
    def __init__(self, frames):
        self.m = self.mc = frames
        self.ring = []

    def access(self, page, write, hint):
        entry = self.find(page)
        if entry and entry.resident:
            entry.bit = True
            return True
        if sum(entry.resident for entry in self.ring) == self.m:
            self.run_cold()
        entry = self.find(page)     # a hand may have removed it
        if entry:
            entry.resident = entry.hot = True
            self.access_in_test(entry)
        else:
            self.ring.append(Page(page))
        return False

    def find(self, page):
        return next((entry for entry in self.ring if entry.page == page), None)

    def to_head(self, entry):
        self.ring.remove(entry)
        self.ring.append(entry)

    def access_in_test(self, entry):
        """It turns hot, and so another may have to turn cold."""
        entry.hot, entry.test = True, False
        self.to_head(entry)
        self.mc = min(self.mc + 1, self.m)
        self.run_hot()

    def end_test(self, entry):
        entry.test = False
        self.mc = min(self.mc + 1, self.m) if entry.bit else max(self.mc - 1, 1)
        if not entry.resident:
            self.ring.remove(entry)

    def run_cold(self):
        while True:
            entry = next(entry for entry in self.ring if entry.resident and not entry.hot)
            if not entry.bit:
                entry.resident = False
                if not entry.test:
                    self.ring.remove(entry)
                while sum(not entry.resident for entry in self.ring) > self.m:
                    self.run_test()
                return
            entry.bit = False
            self.to_head(entry)
            if entry.test:
                self.access_in_test(entry)

    def run_test(self):
        self.end_test(next(entry for entry in self.ring if not entry.hot and entry.test))

    def run_hot(self):
        ran = False
        while sum(entry.hot for entry in self.ring) > self.m - self.mc:
            self.pass_cold()
            entry = self.ring[0]
            entry.hot, entry.bit = entry.bit, False
            self.to_head(entry)
            ran = True
        if ran:
            self.pass_cold()

    def pass_cold(self):
        while any(entry.hot for entry in self.ring) and not self.ring[0].hot:
            entry = self.ring[0]
            if entry.test:
                self.end_test(entry)
            if entry.resident:
                self.to_head(entry)
