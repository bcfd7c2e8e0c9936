# SPDX-License-Identifier: GPL-2.0-only
"""Caches that need not keep what they are asked for. A page has to come in all the
same: so one frame is not the cache's, and has the last page that it did not want,
until another page misses."""

SYNCH, REPLACE, RECOV = 1, 2, 3


class Passing:
    """Of Cache.rule(frames), which has request(page, hint) -> whether it is kept, and
    `in` for what it keeps."""

    def __init__(self, frames):
        self.kept, self.passing = self.rule(frames - 1), None

    def access(self, page, write, hint):
        hit = page in self.kept or page == self.passing
        if not hit or page == self.passing:
            self.passing = None
        if not self.kept.request(page, hint):
            self.passing = page
        return hit
