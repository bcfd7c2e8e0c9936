# SPDX-License-Identifier: GPL-2.0-only
"""Two queues: hipec-1997, Figure 3. The touch that brings a page in sets its bit."""


class Cache:
    def __init__(self, frames):
        self.frames, self.active, self.inactive, self.bit = frames, [], [], {}

    def access(self, page, write, hint):
        hit = page in self.bit
        if not hit:
            if len(self.bit) == self.frames:
                self.replace()
            self.active.append(page)
        self.bit[page] = True
        return hit

    def replace(self):
        self.deactivate()
        while self.inactive and self.bit[self.inactive[0]]:
            self.active.append(self.inactive.pop(0))
            self.deactivate()
        if self.inactive:
            del self.bit[self.inactive.pop(0)]
            self.deactivate()
        else:   # a single page: none is inactive, and the host takes it
            del self.bit[self.active.pop(0)]

    def deactivate(self):
        while len(self.inactive) < (len(self.active) + len(self.inactive)) * 2 // 3:
            self.inactive.append(self.active.pop(0))
            self.bit[self.inactive[-1]] = False
