# SPDX-License-Identifier: GPL-2.0-only
"""BRRIP with set dueling (DRRIP): Jaleel et al., ISCA 2010. The cache is one row of
frames, which three sets share: of those that lead none has more than a sixteenth."""

from oracles import _prng

STATIC, BIMODAL, FOLLOWERS = 0, 1, 2


class Cache:
    def __init__(self, frames):
        self.ways = [None] * frames     # [page, its prediction, its set]
        self.share, self.random, self.counter = frames // 16, _prng.Random(), 512

    def access(self, page, write, hint):
        for held in self.ways:
            if held and held[0] == page:
                held[1] = 0
                return True
        place = page * 2654435761 % 2 ** 32 // 2 ** 28
        group = place if self.share and place < FOLLOWERS else FOLLOWERS
        way = self.victim(group)
        if group == STATIC:
            self.counter = min(self.counter + 1, 1023)
        elif group == BIMODAL:
            self.counter = max(self.counter - 1, 0)
        bimodal = group == BIMODAL or group == FOLLOWERS and self.counter >= 512
        distant = bimodal and self.random.below(32)
        self.ways[way] = [page, 3 if distant else 2, group]
        return False

    def victim(self, group):
        if None in self.ways:
            return self.ways.index(None)
        full = sum(held[2] == group for held in self.ways) >= self.share
        which = group if full else FOLLOWERS
        mine = [held for held in self.ways if held[2] == which]
        while not any(held[1] == 3 for held in mine):
            for held in mine:
                held[1] += 1
        return next(way for way, held in enumerate(self.ways) if held[2] == which and held[1] == 3)
