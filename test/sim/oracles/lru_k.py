# SPDX-License-Identifier: GPL-2.0-only
"""O'Neil et al., SIGMOD 1993, Figure 2.1 with K = 2; among pages used once the one that
was touched longest ago goes. Retained are as many pages that left as there are frames,
those that were touched last."""

PARAMETERS = {"crp": 7}


class Cache:
    def __init__(self, frames, crp=0):
        self.frames, self.crp, self.now = frames, crp, 0
        self.hist, self.last, self.buffer = {}, {}, []

    def access(self, page, write, hint):
        self.now += 1
        hit = page in self.buffer
        if hit:
            if self.now - self.last[page] > self.crp:
                correlated = self.last[page] - self.hist[page][0]
                self.hist[page] = [self.now, self.hist[page][0] + correlated]
        else:
            if len(self.buffer) == self.frames:
                self.evict()
            self.hist[page] = [self.now, self.hist.get(page, [0])[0]]
            self.buffer.append(page)
        self.last[page] = self.now
        return hit

    def evict(self):
        eligible = [page for page in self.buffer if self.now - self.last[page] > self.crp]
        victim = min(eligible or self.buffer, key=lambda p: (self.hist[p][1], self.last[p]))
        self.buffer.remove(victim)
        gone = sorted(set(self.hist) - set(self.buffer), key=self.last.get)
        for page in gone[:-self.frames]:
            del self.hist[page], self.last[page]
