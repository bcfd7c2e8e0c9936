# SPDX-License-Identifier: GPL-2.0-only
"""SRRIP-HP with two bits: Jaleel et al., ISCA 2010, Figure 4. The cache is one set."""


class Cache:
    def __init__(self, frames):
        self.ways = [None] * frames     # (page, its prediction)

    def insert(self):
        return 2

    def access(self, page, write, hint):
        for way, held in enumerate(self.ways):
            if held and held[0] == page:
                self.ways[way] = page, 0
                return True
        way = self.victim()
        self.ways[way] = page, self.insert()
        return False

    def victim(self):
        if None in self.ways:
            return self.ways.index(None)
        while True:
            for way, (_, prediction) in enumerate(self.ways):
                if prediction == 3:
                    return way
            self.ways = [(page, prediction + 1) for page, prediction in self.ways]
