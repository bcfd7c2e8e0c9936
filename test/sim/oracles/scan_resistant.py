# SPDX-License-Identifier: GPL-2.0-only
"""Two lists, a quarter for who came in and was not used again; from there those that
were go on to the other one, which is a clock."""


PARAMETERS = {"share": 60}


class Cache:
    def __init__(self, frames, share=25):
        self.share = frames * share / 100
        self.frames, self.new, self.kept, self.used = frames, [], [], set()

    def access(self, page, write, hint):
        if page in self.new or page in self.kept:
            self.used.add(page)
            return True
        if len(self.new) + len(self.kept) == self.frames:
            self.evict()
        self.new.append(page)
        return False

    def evict(self):
        while True:
            too_many = len(self.new) >= self.share or not self.kept
            first = (self.new if too_many else self.kept).pop(0)
            if first not in self.used:
                return
            self.used.remove(first)
            self.kept.append(first)
