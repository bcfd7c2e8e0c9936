# SPDX-License-Identifier: GPL-2.0-only
"""ARC: Megiddo and Modha, FAST 2003, Figure 4, with whole numbers. Lists begin with
what was used longest ago."""


class Cache:
    def __init__(self, frames):
        self.c, self.p = frames, 0
        self.t1, self.t2, self.b1, self.b2 = [], [], [], []

    def access(self, x, write, hint):
        t1, t2, b1, b2, c = self.t1, self.t2, self.b1, self.b2, self.c
        if x in t1 + t2:                                        # case I
            (t1 if x in t1 else t2).remove(x)
            t2.append(x)
            return True
        if x in b1:                                             # case II
            self.p = min(self.p + max(len(b2) // len(b1), 1), c)
            self.replace(x)
            b1.remove(x)
            t2.append(x)
        elif x in b2:                                           # case III
            self.p = max(self.p - max(len(b1) // len(b2), 1), 0)
            self.replace(x)
            b2.remove(x)
            t2.append(x)
        else:                                                   # case IV
            if len(t1) + len(b1) == c:
                if len(t1) < c:
                    b1.pop(0)
                    self.replace(x)
                else:
                    t1.pop(0)
            elif len(t1) + len(t2) + len(b1) + len(b2) >= c:
                if len(t1) + len(t2) + len(b1) + len(b2) == 2 * c:
                    b2.pop(0)
                self.replace(x)
            t1.append(x)
        return False

    def replace(self, x):
        if self.t1 and (len(self.t1) > self.p or x in self.b2 and len(self.t1) == self.p):
            self.b1.append(self.t1.pop(0))
        else:
            self.b2.append(self.t2.pop(0))
