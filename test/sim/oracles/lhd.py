# SPDX-License-Identifier: GPL-2.0-only
"""Beckmann, Chen, Cidon, NSDI 2018, as policies/lhd.hp says it is simplified: hits and
evictions by age, in 32 classes, and by earlier hits; the density at an age is all hits
at that age and later, by the sum of the times that all lived on from there. Who has the
least of the next eight places of memory goes; the newcomer takes its place."""


PARAMETERS = {"samples": 3, "period": 4}


class Cache:
    def __init__(self, frames, samples=8, period=16):
        self.samples, self.period = samples, period * frames
        self.frames, self.now, self.hand, self.uses = frames, 0, 0, 0
        self.places, self.last, self.earlier = [], {}, {}
        self.events = {(kind, age): [0, 0] for kind in range(3) for age in range(32)}
        self.density = {(kind, age): 2**20 * (kind + 1) // (age + 1) for kind, age in self.events}

    def group(self, page):
        age = (self.now - self.last[page]) * 8 // self.frames
        return min(self.earlier[page], 2), min(age, 31)

    def access(self, page, write, hint):
        hit = page in self.last
        if hit:
            self.events[self.group(page)][0] += 1
            self.earlier[page] += 1
        else:
            if len(self.places) == self.frames:
                place = self.choose()
                victim = self.places[place]
                self.events[self.group(victim)][1] += 1
                del self.last[victim]
                self.places[place] = page
            else:
                self.places.append(page)
            self.earlier[page] = 0
        self.now += 1
        self.last[page] = self.now
        self.uses += 1
        if self.uses == self.period:
            self.learn()
        return hit

    def choose(self):
        sample = [(self.hand + i) % self.frames for i in range(self.samples)]
        self.hand += self.samples
        return min(sample, key=lambda place: (self.density[self.group(self.places[place])],
                                              self.last[self.places[place]]))

    def learn(self):
        self.uses = 0
        for kind, age in self.events:
            later = [(a, *self.events[kind, a]) for a in range(age, 32)]
            hits = sum(hit for _, hit, _ in later)
            # Who lived to the end of class a from the start of this one lived a - age + 1.
            time = sum((hit + gone) * (a - age + 1) for a, hit, gone in later)
            self.density[kind, age] = 2**20 * hits // time if time else 0
        for counts in self.events.values():
            counts[:] = [9 * count // 10 for count in counts]
