# SPDX-License-Identifier: GPL-2.0-only
"""CAR: Bansal and Modha, FAST 2004, Figure 2; p in parts of a page. Clocks begin
with what is under the hand, lists with what came first."""

PARTS = 65536


class Cache:
    def __init__(self, frames):
        self.c, self.p, self.bit = frames, 0, {}
        self.t1, self.t2, self.b1, self.b2 = [], [], [], []

    def access(self, x, write, hint):
        t1, t2, b1, b2, c = self.t1, self.t2, self.b1, self.b2, self.c
        if x in t1 + t2:
            self.bit[x] = 1
            return True
        if len(t1) + len(t2) == c:
            self.replace()
            if x not in b1 + b2:
                if len(t1) + len(b1) == c:
                    b1.pop(0)
                elif len(t1) + len(t2) + len(b1) + len(b2) == 2 * c:
                    b2.pop(0)
        if x in b1:
            self.p = min(self.p + max(PARTS, len(b2) * PARTS // len(b1)), c * PARTS)
            b1.remove(x)
            t2.append(x)
        elif x in b2:
            self.p = max(self.p - max(PARTS, len(b1) * PARTS // len(b2)), 0)
            b2.remove(x)
            t2.append(x)
        else:
            t1.append(x)
        self.bit[x] = 0
        return False

    def replace(self):
        while True:
            clock, ghosts = (self.t1, self.b1) if len(self.t1) * PARTS >= max(PARTS, self.p) \
                else (self.t2, self.b2)
            page = clock.pop(0)
            if not self.bit[page]:
                ghosts.append(page)
                return
            self.bit[page] = 0
            self.t2.append(page)
