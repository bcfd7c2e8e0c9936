# SPDX-License-Identifier: GPL-2.0-only
"""CFLRU: Park et al., CASES 2006, with a window of a quarter of the frames."""


class Cache:
    def __init__(self, frames):
        self.frames, self.window = frames, max(frames // 4, 1)
        self.order, self.dirty = [], set()      # the list begins with what is used

    def access(self, page, write, hint):
        hit = page in self.order
        if hit:
            self.order.remove(page)
        elif len(self.order) == self.frames:
            region = self.order[-self.window:][::-1]
            victim = next((page for page in region if page not in self.dirty), region[0])
            self.order.remove(victim)
            self.dirty.discard(victim)
        self.order.insert(0, page)
        if write:
            self.dirty.add(page)
        return hit
