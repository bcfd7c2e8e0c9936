# SPDX-License-Identifier: GPL-2.0-only
"""Two random choices: Mitzenmacher et al., 2000. Two different frames are drawn, the
second by its distance from the first; the page that was used longer ago goes."""

from oracles import _prng


class Cache:
    def __init__(self, frames):
        self.frames, self.random, self.now = frames, _prng.Random(), 0
        self.held, self.used = [], {}

    def access(self, page, write, hint):
        hit = page in self.held
        if not hit and len(self.held) < self.frames:
            self.held.append(page)
        elif not hit:
            self.held[self.choose()] = page
        self.now += 1
        self.used[page] = self.now
        return hit

    def choose(self):
        first = self.random.below(self.frames)
        second = (first + 1 + self.random.below(self.frames - 1)) % self.frames
        return min(first, second, key=lambda frame: self.used[self.held[frame]])
