# SPDX-License-Identifier: GPL-2.0-only
"""Zhang et al., NSDI 2024, Algorithm 1: new pages at the head; the hand goes from the
tail to the head, and on from the tail, to the first page that was not visited."""


class Cache:
    def __init__(self, frames):
        self.frames, self.queue, self.visited, self.hand = frames, [], set(), None

    def access(self, page, write, hint):
        if page in self.queue:
            self.visited.add(page)
            return True
        if len(self.queue) == self.frames:
            self.evict()
        self.queue.insert(0, page)
        return False

    def evict(self):
        here = self.queue.index(self.hand) if self.hand is not None else self.frames - 1
        while self.queue[here] in self.visited:
            self.visited.remove(self.queue[here])
            here = (here - 1) % self.frames
        self.hand = self.queue[here - 1] if here else None
        del self.queue[here]
