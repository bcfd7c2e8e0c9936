# SPDX-License-Identifier: GPL-2.0-only
"""What the tables' programs touch, and what policies make of it, page by page.

Written from the paper's figures, not from the policies' sources: the guest's
counts must equal these.
"""

from collections import deque

RECORDS_PER_PAGE = 64
TUPLES_PER_PAGE = 64
TUPLES_PER_RECORD = 4
DATA_LEVEL = 25


def draws():
    """xorshift64*, as in rdr.c."""
    x, mask = 1997, (1 << 64) - 1
    while True:
        x ^= x >> 12
        x = x ^ x << 25 & mask
        x ^= x >> 27
        yield x * 0x2545f4914f6cdd1d & mask


def keys_of(nr):
    """The keys of a tree's records, numbered by level: they rise from left to right."""
    keys, above, record, key = [0] * nr, [], 0, 0
    while above or record < nr:
        while record < nr:
            above.append(record)
            record = 2 * record + 1
        record = above.pop()
        keys[record] = key
        key += 1
        record = 2 * record + 2
    return keys


def level_of(page):
    """Of the tree, of the first record of an index page."""
    return (page * RECORDS_PER_PAGE + 1).bit_length() - 1


class Retrieval:
    """The pages that rdr touches, index first, then data."""

    def __init__(self, index_pages):
        self.index_pages = index_pages
        self.nr = index_pages * RECORDS_PER_PAGE
        self.keys = keys_of(self.nr)
        self.paths = {}

    def path(self, key):
        """Index pages from the root to the record with @key."""
        if key not in self.paths:
            record, pages = 0, [0]
            while self.keys[record] != key:
                record = 2 * record + (1 if key < self.keys[record] else 2)
                if record // RECORDS_PER_PAGE != pages[-1]:
                    pages.append(record // RECORDS_PER_PAGE)
            self.paths[key] = pages
        return self.paths[key]

    def lookups(self, nr):
        """The pages of each of @nr lookups."""
        draw = draws()
        for _ in range(nr):
            number = (next(draw) >> 32) % (self.nr * TUPLES_PER_RECORD)
            yield [*self.path(number // TUPLES_PER_RECORD),
                   self.index_pages + number // TUPLES_PER_PAGE]

    def level(self, page):
        """What rdr tells the policy of a page."""
        return level_of(page) if page < self.index_pages else DATA_LEVEL


class Mpfifo2:
    """A queue for each level, each with a second chance; the last level goes first."""

    def __init__(self, level):
        self.level = level
        self.queues = [deque() for _ in range(DATA_LEVEL + 1)]

    def bring(self, page):
        """@page came in."""
        self.queues[self.level(page)].append(page)

    def victim(self, touched):
        """The page that goes; @touched is the set of pages whose bit is set."""
        queue = next(queue for queue in reversed(self.queues) if queue)
        while queue[0] in touched:
            touched.remove(queue[0])
            queue.rotate(-1)
        return queue.popleft()


class Fifo2:
    """A second chance on two queues: hipec-1997, Figure 3."""

    def __init__(self):
        self.active, self.inactive = deque(), deque()

    def bring(self, page):
        """@page came in."""
        self.active.append(page)

    def balance(self):
        """Two thirds of the pages are inactive, with their bit reset; pages that
        lose it are returned."""
        moved = []
        both = len(self.active) + len(self.inactive)
        while len(self.inactive) < both * 2 // 3:
            moved.append(self.active.popleft())
            self.inactive.append(moved[-1])
        return moved

    def victim(self, touched):
        """As of Mpfifo2."""
        touched.difference_update(self.balance())
        while self.inactive[0] in touched:
            self.active.append(self.inactive.popleft())
            touched.difference_update(self.balance())
        page = self.inactive.popleft()
        touched.difference_update(self.balance())
        return page


def faults(lookups, frames, policy, marks):
    """Of @lookups, lists of pages: {mark: faults until so many lookups}."""
    held, touched, count, at = set(), set(), 0, {}
    for done, pages in enumerate(lookups, 1):
        for page in pages:
            if page not in held:
                if len(held) == frames:
                    victim = policy.victim(touched)
                    held.remove(victim)
                    touched.discard(victim)
                held.add(page)
                policy.bring(page)
                count += 1
            touched.add(page)
        if done in marks:
            at[done] = count
    return at
