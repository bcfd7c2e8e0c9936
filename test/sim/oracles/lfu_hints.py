# SPDX-License-Identifier: GPL-2.0-only
"""write-hints-2006, 4.3.1; uses are counted while a page is in the cache."""

from oracles._passing import REPLACE, SYNCH, Passing


class Rule:
    def __init__(self, frames):
        self.frames, self.uses = frames, {}     # the page that was used last behind

    def __contains__(self, page):
        return page in self.uses

    def request(self, page, hint):
        if hint not in (SYNCH, REPLACE) and len(self.uses) >= self.frames:
            return page in self.uses
        if page not in self.uses and len(self.uses) >= self.frames:
            if not self.frames:
                return False
            del self.uses[min(self.uses, key=self.uses.get)]
        self.uses[page] = self.uses.pop(page, 0) + 1
        return True


class Cache(Passing):
    rule = Rule
