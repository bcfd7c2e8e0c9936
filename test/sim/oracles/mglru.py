# SPDX-License-Identifier: GPL-2.0-only
"""Linux, Documentation/mm/multigen_lru.rst, with four generations of which the youngest
two are spared. Pages are walked by their places in memory; who comes in takes the place
of who went. Touches of a page are counted from the next fault on."""


PARAMETERS = {"spared": 1}


class Cache:
    def __init__(self, frames, spared=2):
        self.spared = spared
        self.frames, self.places = frames, []
        self.born, self.touched, self.now = {}, set(), 0    # page: (generation, order)
        self.youngest, self.newcomer = 0, None

    def access(self, page, write, hint):
        if page in self.places:
            if page != self.newcomer:
                self.touched.add(page)
            return True
        if len(self.places) == self.frames:
            self.places[self.places.index(self.evict())] = page
        else:
            self.places.append(page)
        self.newcomer = page
        self.join(page)
        return False

    def join(self, page):
        self.touched.discard(page)
        self.now += 1
        self.born[page] = self.youngest, self.now

    def evict(self):
        while True:
            generations = [generation for generation, _ in self.born.values()]
            oldest = min(generations)
            if oldest > self.youngest - self.spared:
                self.age(oldest + self.spared)
            elif oldest > self.youngest - 3 and \
                    2 * generations.count(self.youngest) > self.frames:
                self.age(self.youngest + 1)
            page = min(self.born, key=self.born.get)
            if self.born[page][0] > oldest:
                continue    # all of the oldest were touched: how many are left now?
            if page not in self.touched:
                del self.born[page]
                return page
            self.join(page)

    def age(self, youngest):
        self.youngest = youngest
        for page in self.places:
            if page in self.touched:
                self.join(page)
