# SPDX-License-Identifier: GPL-2.0-only
"""AMP: Zhou, von Behren and Brewer, UCB/CSD-05-1379, Figure 4, with ARC (FAST 2003)
or LRU as the default partition, and the readings of policies/amp.hp's header. Lists
begin with what was used longest ago. Sweeps of old pages are not modelled: a table
says 0 for them.

A table is {context: partition}, and loop sizes {partition: pages}."""

from oracles import _prng, arc, lru as lru_oracle

PARAMETERS = {"lru": 1}
LOOPS, ONE_SHOT = range(1, 11), 11


class Cache:
    """Without contexts: the default partition has all frames."""

    def __init__(self, frames, lru=0):
        self.all = (lru_oracle if lru else arc).Cache(frames)

    def access(self, page, write, hint):
        return self.all.access(page, write, hint)


class Partitions:
    def __init__(self, frames, table, sizes, lru=0):
        self.frames, self.table, self.sizes, self.lru = frames, table, sizes, lru
        self.t, self.b, self.p = ([], []), ([], []), 0
        self.mru = {part: [] for part in (*LOOPS, ONE_SHOT)}
        self.coupons = dict.fromkeys(self.mru, 0)
        self.random = _prng.Random()
        self.user = {}      # context that used a page last, as far as it is known

    def queue_of(self, page):
        return next((q for q in (*self.t, *self.mru.values()) if page in q), None)

    def others(self):
        """Pages of all partitions but the default one."""
        return sum(map(len, self.mru.values()))

    def access(self, page, context):
        queue = self.queue_of(page)
        if context or queue is None:
            self.user[page] = context
        own = self.table.get(self.user[page], 0)
        if queue is not None:
            if not context and own and queue is self.mru[own]:
                self.earn(own)      # nobody knows when, so it stays where it is
                return True
            queue.remove(page)
            if own:
                self.earn(own)
            (self.mru[own] if own else self.t[0 if self.lru else 1]).append(page)
            return True
        ghost = next((b for b in self.b if page in b), None)
        if len(self.t[0] + self.t[1]) + self.others() == self.frames:
            self.make_room(page, own, ghost)
        if own:
            self.earn(own)
            self.mru[own].append(page)
        else:
            self.t[1 if ghost is not None and not self.lru else 0].append(page)
        return False

    def earn(self, own):
        self.coupons[own] += max(len(self.b[0]) + len(self.b[1]), 1)

    def adapt(self, ghost):
        if self.lru:
            return
        often = ghost is self.b[1]
        delta = max(len(self.b[0 if often else 1]) // len(ghost), 1)
        share = self.frames - self.held
        self.p = min(max(self.p - delta if often else self.p + delta, 0), share)

    held = 0    # pages of other partitions, when a frame was wanted last

    def draw(self, own, otherwise):
        """A partition that is not empty, and not `own`: each as likely."""
        drawn, found = otherwise, 0
        for part in range(11) if self.held else ():
            if part != own and (self.mru[part] if part else self.t[0] + self.t[1]):
                found += 1
                if self.random.below(found) == 0:
                    drawn = part
        return drawn

    def claim(self):
        """Pages that a loop brought in before it had a partition, some at a time."""
        old = 0
        for _ in range(32):
            queue = self.t[old]
            part = self.table.get(self.user[queue[0]], 0) if queue else 0
            if part in LOOPS:
                self.mru[part].insert(0, queue.pop(0))
            elif old:
                return
            else:
                old = 1

    def make_room(self, page, own, ghost):
        if self.others():
            self.claim()
        self.held, other, wanted, keep = self.others(), own, False, True
        if ghost is None:
            keep = self.trim()
        else:
            if not own:
                self.adapt(ghost)
                wanted, other = ghost is self.b[1], self.draw(own, own)
            ghost.remove(page)
        if own in LOOPS and self.coupons[own] >= self.sizes[own]:
            other = self.draw(own, other)
            self.coupons[own] -= self.sizes[own] if other != own else 0
        if not self.held:
            other = 0
        elif self.mru[ONE_SHOT]:
            self.mru[ONE_SHOT].pop(0)
            return
        elif not (self.mru[other] if other else self.t[0] + self.t[1]):
            other = self.draw(own, other)
        if other:
            self.mru[other].pop()
            return
        often = len(self.t[0]) + wanted <= self.p
        often = often if self.t[often] else not often
        gone = self.t[often].pop(0)
        if keep:
            self.b[often].append(gone)

    def trim(self):
        """Fewer ghosts. Return: whether the page that goes is to be one."""
        share, (once, often) = self.frames - self.held, self.b
        most = 2 * share if self.lru else share
        if len(self.t[0]) + len(once) >= most:
            keep = bool(once)
            while once and len(self.t[0]) + len(once) >= most:
                once.pop(0)
            return keep
        while often and len(self.t[0] + self.t[1] + once + often) >= 2 * share:
            often.pop(0)
        return True
