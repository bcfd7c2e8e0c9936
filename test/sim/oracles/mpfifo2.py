# SPDX-License-Identifier: GPL-2.0-only
"""Nobody says a level: one queue with a second chance. The touch that brings a
page in sets its bit. hipec-1997, Figure 9."""


class Cache:
    def __init__(self, frames):
        self.frames, self.order, self.bit = frames, [], {}

    def access(self, page, write, hint):
        hit = page in self.bit
        if not hit:
            if len(self.bit) == self.frames:
                while self.bit[self.order[0]]:
                    self.bit[self.order[0]] = False
                    self.order.append(self.order.pop(0))
                del self.bit[self.order.pop(0)]
            self.order.append(page)
        self.bit[page] = True
        return hit
