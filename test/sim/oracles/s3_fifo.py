# SPDX-License-Identifier: GPL-2.0-only
"""Yang et al., SOSP 2023, Algorithm 1, with a tenth of the frames for S and as many
ghosts as M has room for. One page is evicted for one that comes in: where evictS has
made M too long, evictM's page is that one."""

import math


PARAMETERS = {"share": 40}


class Cache:
    def __init__(self, frames, share=10):
        self.small, self.main = frames * share / 100, frames * (100 - share) / 100
        self.frames, self.S, self.M, self.G, self.freq = frames, [], [], [], {}

    def access(self, page, write, hint):
        if page in self.S or page in self.M:
            self.freq[page] = min(self.freq[page] + 1, 3)
            return True
        if len(self.S) + len(self.M) == self.frames:
            self.evict()
        if page in self.G:
            self.G.remove(page)
            self.M.insert(0, page)
        else:
            self.S.insert(0, page)
        self.freq[page] = 0
        return False

    def evict(self):
        if len(self.S) >= self.small:
            self.evict_small()
        else:
            self.evict_main()

    def evict_small(self):
        while self.S:
            page = self.S.pop()
            if self.freq[page] <= 1:
                self.G.insert(0, page)
                del self.G[math.ceil(self.main):]
                return
            self.M.insert(0, page)
            self.freq[page] = 0
            if len(self.M) > self.main:
                break
        self.evict_main()

    def evict_main(self):
        while self.freq[self.M[-1]]:
            page = self.M.pop()
            self.freq[page] -= 1
            self.M.insert(0, page)
        self.M.pop()
