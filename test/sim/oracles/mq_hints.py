# SPDX-License-Identifier: GPL-2.0-only
"""write-hints-2006, 4.3.2."""

from oracles import mq
from oracles._passing import REPLACE, SYNCH, Passing


class Rule(mq.Rule):
    def request(self, page, hint):
        if hint in (SYNCH, REPLACE) or not self.full():
            if self.frames:
                super().request(page)
        return page in self


class Cache(Passing):
    rule = Rule
