# SPDX-License-Identifier: GPL-2.0-only
"""FAB: Jo et al., 2006, with blocks of four pages. Blocks are in the order of use, the
list begins with what was used longest ago."""


class Cache:
    def __init__(self, frames):
        self.frames, self.blocks = frames, []   # (number, pages of it that are here)

    def access(self, page, write, hint):
        number = page // 4
        hit = any(page in pages for _, pages in self.blocks)
        if not hit and sum(len(pages) for _, pages in self.blocks) == self.frames:
            most = max(len(pages) for _, pages in self.blocks)
            self.blocks.remove(next(block for block in self.blocks if len(block[1]) == most))
        block = next((block for block in self.blocks if block[0] == number), (number, set()))
        if block in self.blocks:
            self.blocks.remove(block)
        block[1].add(page)
        self.blocks.append(block)
        return hit
