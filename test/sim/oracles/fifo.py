# SPDX-License-Identifier: GPL-2.0-only
"""What came in first goes."""


class Cache:
    goes = 0    # place in the order of coming in

    def __init__(self, frames):
        self.frames, self.order = frames, []

    def access(self, page, write, hint):
        hit = page in self.order
        if not hit:
            if len(self.order) == self.frames:
                self.order.pop(self.goes)
            self.order.append(page)
        return hit
