# SPDX-License-Identifier: GPL-2.0-only
"""write-hints-2006, 4.4: ARC by Megiddo and Modha, FAST 2003, with integer steps."""

from oracles._passing import REPLACE, SYNCH, Passing


class Rule:
    def __init__(self, frames):
        self.c, self.p = frames, 0
        self.t1, self.t2, self.b1, self.b2 = [], [], [], []     # least recent first

    def __contains__(self, page):
        return page in self.t1 or page in self.t2

    def request(self, page, hint):
        if hint in (SYNCH, REPLACE) or len(self.t1) + len(self.t2) < self.c:
            if self.c:
                self.arc(page)
        return page in self

    def arc(self, x):
        if x in self:
            (self.t1 if x in self.t1 else self.t2).remove(x)
            self.t2.append(x)
        elif x in self.b1:
            self.p = min(self.c, self.p + max(len(self.b2) // len(self.b1), 1))
            self.replace(x)
            self.b1.remove(x)
            self.t2.append(x)
        elif x in self.b2:
            self.p = max(0, self.p - max(len(self.b1) // len(self.b2), 1))
            self.replace(x)
            self.b2.remove(x)
            self.t2.append(x)
        else:
            self.miss(x)
            self.t1.append(x)

    def miss(self, x):
        first = len(self.t1) + len(self.b1)
        total = first + len(self.t2) + len(self.b2)
        if first == self.c:
            if len(self.t1) < self.c:
                self.b1.pop(0)
                self.replace(x)
            else:
                self.t1.pop(0)
        elif total >= self.c:
            if total == 2 * self.c:
                self.b2.pop(0)
            self.replace(x)

    def replace(self, x):
        if self.t1 and (len(self.t1) > self.p or (x in self.b2 and len(self.t1) == self.p)):
            self.b1.append(self.t1.pop(0))
        else:
            self.b2.append(self.t2.pop(0))


class Cache(Passing):
    rule = Rule
