# SPDX-License-Identifier: GPL-2.0-only
"""LRU-WSR: Jung et al., 2008. The list begins with what is used."""


class Cache:
    def __init__(self, frames):
        self.frames, self.order, self.dirty, self.cold = frames, [], set(), set()

    def access(self, page, write, hint):
        hit = page in self.order
        if hit:
            self.order.remove(page)
        elif len(self.order) == self.frames:
            self.evict()
        self.order.insert(0, page)
        self.cold.discard(page)
        if write:
            self.dirty.add(page)
        return hit

    def evict(self):
        while self.order[-1] in self.dirty - self.cold:
            self.cold.add(self.order[-1])
            self.order.insert(0, self.order.pop())
        self.dirty.discard(self.order.pop())
