# SPDX-License-Identifier: GPL-2.0-only
"""Multi-queue: Zhou, Philbin and Li, USENIX 2001. Eight queues, life time 10 times
the frames."""

LEVELS, LIFE = 8, 10


class Rule:
    def __init__(self, frames):
        self.frames, self.time = frames, 0
        self.queue = [[] for _ in range(LEVELS)]    # least recently used first
        self.uses, self.expires, self.out = {}, {}, []

    def __contains__(self, page):
        return any(page in queue for queue in self.queue)

    def full(self):
        return sum(map(len, self.queue)) >= self.frames

    def request(self, page):
        for queue in self.queue:
            if page in queue:
                queue.remove(page)
                break
        else:
            if self.full():
                self.evict()
            if page in self.out:
                self.out.remove(page)
            else:
                self.uses[page] = 0
        self.uses[page] += 1
        self.queue[min(self.uses[page].bit_length(), LEVELS) - 1].append(page)
        self.expires[page] = self.time + LIFE * self.frames
        self.adjust()

    def adjust(self):
        self.time += 1
        for k in range(1, LEVELS):
            if self.queue[k] and self.expires[self.queue[k][0]] < self.time:
                page = self.queue[k].pop(0)
                self.queue[k - 1].append(page)
                self.expires[page] = self.time + LIFE * self.frames

    def evict(self):
        victim = next(queue for queue in self.queue if queue).pop(0)
        if len(self.out) >= self.frames:
            self.out.pop(0)
        self.out.append(victim)


class Cache:
    def __init__(self, frames):
        self.rule = Rule(frames)

    def access(self, page, write, hint):
        hit = page in self.rule
        self.rule.request(page)
        return hit
