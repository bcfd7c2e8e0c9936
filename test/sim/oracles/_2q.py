# SPDX-License-Identifier: GPL-2.0-only
"""2Q, full version: Johnson and Shasha, VLDB 1994, with Kin a quarter and Kout a half
of the frames. Lists begin with what came last, as the paper's do. An id leaves A1out
when its page is wanted."""


class Cache:
    def __init__(self, frames):
        self.frames, self.kin, self.kout = frames, frames // 4, frames // 2
        self.a1in, self.a1out, self.am = [], [], []

    def access(self, x, write, hint):
        if x in self.am:
            self.am.remove(x)
            self.am.insert(0, x)
        elif x in self.a1out:
            self.a1out.remove(x)
            self.reclaim()
            self.am.insert(0, x)
            return False
        elif x not in self.a1in:
            self.reclaim()
            self.a1in.insert(0, x)
            return False
        return True

    def reclaim(self):
        if len(self.a1in) + len(self.am) < self.frames:
            return
        if len(self.a1in) > self.kin:
            self.a1out.insert(0, self.a1in.pop())
            if len(self.a1out) > self.kout:
                self.a1out.pop()
        else:
            self.am.pop()
