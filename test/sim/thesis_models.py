# SPDX-License-Identifier: GPL-2.0-only
"""What the thesis's own program did where that is not what the defining paper says. With
these rules its published counts of Test 4 come out, so they are what makes the
difference. (Not CLOCK-Pro, whose program used what it had freed.)"""

import bisect


class Model:
    """Its accounting: a write brings a page in without reading it."""

    def __init__(self, frames):
        self.frames, self.held, self.bit = frames, [], {}

    def run(self, trace):
        dirty, read, written = set(), 0, 0
        for page, write in trace:
            if page in self.held:
                self.hit(page, write)
            else:
                read += not write
                if len(self.held) == self.frames:
                    victim = self.evict(page)
                    written += victim in dirty
                    dirty.discard(victim)
                    self.held.remove(victim)
                self.bring(page)
            if write:
                dirty.add(page)
        return read, written

    def hit(self, page, write):
        """Only reads set the bit."""
        self.bit[page] = self.bit[page] or not write

    def bring(self, page):
        self.held.append(page)
        self.bit[page] = False


class TwoQueues(Model):
    """An id stays in A1out when its page comes back."""

    def __init__(self, frames):
        super().__init__(frames)
        self.a1in, self.a1out, self.am, self.known = [], [], [], False

    def hit(self, page, write):
        if page in self.am:
            self.am.append(self.am.pop(self.am.index(page)))

    def evict(self, page):
        self.known = page in self.a1out
        if len(self.a1in) <= self.frames // 4:
            return self.am.pop(0)
        self.a1out = (self.a1out + self.a1in[:1])[-(self.frames // 2):]
        return self.a1in.pop(0)

    def bring(self, page):
        super().bring(page)
        (self.am if self.known else self.a1in).append(page)


class Clock(Model):
    """Who comes in is in front, and the hand goes from there to the back."""

    hand = 0

    def evict(self, page):
        self.hand %= self.frames
        while self.bit[self.held[self.hand]]:
            self.bit[self.held[self.hand]] = False
            self.hand = (self.hand + 1) % self.frames
        self.hand += 1      # the same one, when bring() has put a page in front
        return self.held[self.hand - 1]

    def bring(self, page):
        self.held.insert(0, page)
        self.bit[page] = False


class SpatialClock(Clock):
    """The hand is an index, which skips a page when one goes, and does not heed who comes."""

    def bring(self, page):
        bisect.insort(self.held, page)
        self.bit[page] = False


class Car(Model):
    """Whole numbers, and B2 loses a page for each new one that B1 does not pay for."""

    def __init__(self, frames):
        super().__init__(frames)
        self.t1, self.t2, self.b1, self.b2, self.p = [], [], [], [], 0

    def evict(self, page):
        while True:
            clock, ghosts = (self.t1, self.b1) if len(self.t1) >= max(1, self.p) \
                else (self.t2, self.b2)
            victim = clock.pop(0)
            if not self.bit[victim]:
                break
            self.bit[victim] = False
            self.t2.append(victim)
        ghosts.append(victim)
        if page not in self.b1 + self.b2:
            if len(self.t1) + len(self.b1) == self.frames:
                self.b1.pop(0)
            elif self.b2:
                self.b2.pop(0)
        return victim

    def bring(self, page):
        super().bring(page)
        b1, b2 = self.b1, self.b2
        if page in b1:
            self.p = min(self.p + max(1, len(b2) // len(b1)), self.frames)
            b1.remove(page)
        elif page in b2:
            self.p = max(self.p - max(1, len(b1) // len(b2)), 0)
            b2.remove(page)
        else:
            self.t1.append(page)
            return
        self.t2.append(page)


class Random:
    """C++'s minstd_rand0, from 1, as libstdc++ makes it one of so many."""

    state = 1

    def below(self, limit):
        share = 2147483645 // limit
        while True:
            self.state = self.state * 16807 % 2147483647
            if self.state - 1 < share * limit:
                return (self.state - 1) // share


class Random2(Model):
    """Of the two the one that was used last goes."""

    def __init__(self, frames):
        super().__init__(frames)
        self.random, self.now, self.used = Random(), 0, {}

    def hit(self, page, write):
        self.now += 1
        self.used[page] = self.now

    def bring(self, page):
        super().bring(page)
        self.hit(page, False)

    def evict(self, page):
        first = second = self.random.below(self.frames)
        while second == first:
            second = self.random.below(self.frames)
        return max(self.held[first], self.held[second], key=self.used.get)


class Brrip(Model):
    """No duel, and 95 of 100 come in with 3."""

    def __init__(self, frames):
        super().__init__(frames)
        self.random, self.place = Random(), frames

    def hit(self, page, write):
        self.bit[page] = 0

    def evict(self, page):
        while 3 not in (self.bit[page] for page in self.held):
            for held in self.held:
                self.bit[held] += 1
        victim = next(page for page in self.held if self.bit[page] == 3)
        self.place = self.held.index(victim)
        return victim

    def bring(self, page):
        self.held.insert(self.place, page)
        self.bit[page] = 3 if self.random.below(100) < 95 else 2


MODELS = {"2q": TwoQueues, "clock": Clock, "spatial-clock": SpatialClock, "car": Car,
          "random2": Random2, "brrip": Brrip}
