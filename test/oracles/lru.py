# SPDX-License-Identifier: GPL-2.0-only
"""What was touched longest ago goes."""


class Cache:
    def __init__(self, frames):
        self.frames, self.order = frames, []

    def access(self, page, write, hint):
        hit = page in self.order
        if hit:
            self.order.remove(page)
        elif len(self.order) == self.frames:
            self.order.pop(0)
        self.order.append(page)
        return hit
