# SPDX-License-Identifier: GPL-2.0-only
"""The page that was used least often since it came in goes; among equals, the one that
was used longest ago."""


class Cache:
    def __init__(self, frames):
        self.frames, self.used, self.now = frames, {}, 0

    def access(self, page, write, hint):
        self.now += 1
        hit = page in self.used
        if not hit:
            if len(self.used) == self.frames:
                del self.used[min(self.used, key=lambda p: (len(self.used[p]), self.used[p][-1]))]
            self.used[page] = []
        self.used[page].append(self.now)
        return hit
