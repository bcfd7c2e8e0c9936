# SPDX-License-Identifier: GPL-2.0-only
"""Lee et al., IEEE Transactions on Computers 2001, section 2: F(x) = (1/2)^(lambda x);
the page with the least CRF goes, among equals the one that was used longest ago. In
floating point, with lambda x 2^20 as the policy has it."""

PARAMETERS = {"lambda": 65536}


class Cache:
    def __init__(self, frames, **parameters):
        self.decay = parameters.get("lambda", 1049) / 2 ** 20
        self.frames, self.now, self.crf, self.last = frames, 0, {}, {}

    def worth(self, page):
        return self.crf[page] * 0.5 ** (self.decay * (self.now - self.last[page]))

    def access(self, page, write, hint):
        self.now += 1
        hit = page in self.crf
        if not hit:
            if len(self.crf) == self.frames:
                del self.crf[min(self.crf, key=lambda p: (self.worth(p), self.last[p]))]
            self.crf[page] = self.last[page] = 0
        self.crf[page] = 1 + self.worth(page)
        self.last[page] = self.now
        return hit
