# SPDX-License-Identifier: GPL-2.0-only
"""write-hints-2006, Algorithm 1."""

from oracles._passing import REPLACE, SYNCH, Passing


class Rule:
    def __init__(self, frames):
        self.frames, self.order = frames, []

    def __contains__(self, page):
        return page in self.order

    def request(self, page, hint):
        if hint in (SYNCH, REPLACE):
            if page in self.order:
                self.order.remove(page)
            elif len(self.order) == self.frames:
                if not self.frames:
                    return False
                self.order.pop(0)
            self.order.append(page)
        elif page not in self.order and len(self.order) < self.frames:
            self.order.insert(0, page)
        return page in self.order


class Cache(Passing):
    rule = Rule
