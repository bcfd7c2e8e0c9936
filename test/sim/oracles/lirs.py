# SPDX-License-Identifier: GPL-2.0-only
"""Jiang and Zhang, SIGMETRICS 2002, section 3: stack S of LIR pages, and of HIR pages,
resident or not, that were used later than its bottom; Q of resident HIR pages. Of the
others twice as many as frames stay on S."""


PARAMETERS = {"hirs": 30}


class Cache:
    def __init__(self, frames, hirs=1):
        self.frames, self.hirs = frames, max(1, frames * hirs // 100)
        self.S, self.Q, self.lir = [], [], set()    # bottom and front first

    def access(self, page, write, hint):
        hit = page in self.lir or page in self.Q
        if not hit and len(self.lir) + len(self.Q) == self.frames:
            self.Q.pop(0)
            self.bound()
        on_stack = page in self.S
        if on_stack:
            self.S.remove(page)
        if not hit and len(self.lir) < self.frames - self.hirs:
            self.lir.add(page)
        elif page not in self.lir:
            if page in self.Q:
                self.Q.remove(page)
            if on_stack:
                self.lir.add(page)
                self.demote()
            else:
                self.Q.append(page)
        self.S.append(page)
        self.prune()
        return hit

    def demote(self):
        bottom = next(page for page in self.S if page in self.lir)
        self.S.remove(bottom)
        self.lir.remove(bottom)
        self.Q.append(bottom)

    def prune(self):
        while self.S and self.S[0] not in self.lir:
            self.S.pop(0)

    def bound(self):
        gone = [page for page in self.S if page not in self.lir and page not in self.Q]
        for page in gone[:max(0, len(gone) - 2 * self.frames)]:
            self.S.remove(page)
