#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""What a cache behind a database's buffer pool is asked for: reads that miss in the
pool, and writes with the reason as hint (1 SYNCH, 2 REPLACE, 3 RECOV).

An order-entry workload like TPC-C's goes through a pool with a clock, page cleaners
and a bound on the log to be replayed: write-hints-2006, section 2 and Tables 1 to 3,
with all sizes scaled down. docs/papers.md says what is modelled.
"""

import argparse
import random
import sys

SYNCH, REPLACE, RECOV = 1, 2, 3
TICK = 256              # pages touched between two looks of the cleaners
DIRTY = 50              # percent of the pool: chngpgs_thresh
APC_AHEAD = 20          # APC looks at this part of the pool before the hand
APC_WRITES = 10         # and writes so many pages at a look, for either reason
PAGES_PER_WAREHOUSE = 24253     # 606,317 of 25
LOG_FILE = 50000        # updates that a log file holds


class Pool:
    """The first tier. emit(page, hint): a write; emit(page, None): a read."""

    def __init__(self, frames, softmax, apc, emit):
        self.frames, self.apc, self.emit = frames, apc, emit
        self.most_log = softmax * LOG_FILE // 100
        self.page, self.used, self.where = [], bytearray(frames), {}
        self.dirty = {}         # page -> log position of its first change, oldest first
        self.hand = self.log = self.touched = 0

    def touch(self, page, write=False):
        """An agent reads @page, or changes it."""
        if page not in self.where:
            self.bring(page)
        self.used[self.where[page]] = 1
        if write:
            self.log += 1
            self.dirty.setdefault(page, self.log)
        self.touched += 1
        if self.touched % TICK == 0:
            self.clean()

    def bring(self, page):
        """Into a frame of its own: of a page that was not used, a clean one if there is any."""
        if len(self.page) < self.frames:
            self.page.append(page)
            self.where[page] = len(self.page) - 1
        else:
            frame = self.victim()
            old = self.page[frame]
            if old in self.dirty:
                self.write(old, SYNCH)
            del self.where[old]
            self.page[frame], self.where[page] = page, frame
        self.emit(page, None)

    def victim(self):
        """Once round the clock for a clean page, then any."""
        step = 0
        while True:
            frame, self.hand = self.hand, (self.hand + 1) % self.frames
            step += 1
            if self.used[frame]:
                self.used[frame] = 0
            elif self.apc or step > self.frames or self.page[frame] not in self.dirty:
                return frame

    def write(self, page, hint):
        """It is clean now."""
        del self.dirty[page]
        self.emit(page, hint)

    def clean(self):
        """A look of the page cleaners."""
        self.clean_old(self.most_log, len(self.dirty))
        if self.apc:
            self.clean_old(self.most_log * 3 // 4, APC_WRITES)
            self.clean_ahead(self.frames // APC_AHEAD, APC_WRITES)
        elif len(self.dirty) * 100 > self.frames * DIRTY:
            self.clean_ahead(self.frames, len(self.dirty) // 10)

    def clean_old(self, most_log, most):
        """Pages whose first change lies so far back in the log."""
        while most and self.dirty:
            oldest = next(iter(self.dirty))
            if self.log - self.dirty[oldest] < most_log:
                break
            self.write(oldest, RECOV)
            most -= 1

    def clean_ahead(self, frames, most):
        """The next pages that the clock would like to take."""
        for i in range(min(frames, len(self.page))):
            frame = (self.hand + i) % len(self.page)
            if not self.used[frame] and self.page[frame] in self.dirty and most:
                self.write(self.page[frame], REPLACE)
                most -= 1


class Table:
    """@rows on consecutive pages from @first on, a warehouse's together."""

    def __init__(self, first, pages, rows_per_page, warehouses):
        self.first, self.pages, self.rows_per_page = first, pages, rows_per_page
        self.rows = max(1, pages * rows_per_page // warehouses)     # of a warehouse

    def at(self, warehouse, row):
        """Its page."""
        return self.first + (warehouse * self.rows + row) // self.rows_per_page % self.pages


class Orders:
    """The workload: five kinds of transactions, in TPC-C's shares."""

    def __init__(self, pages, rng):
        self.rng = rng
        self.warehouses = max(1, round(pages / PAGES_PER_WAREHOUSE))
        shares = (("district", 0.001, 10), ("item", 0.01, 49), ("customer", 0.22, 6),
                  ("stock", 0.33, 13), ("order", 0.3, 75), ("customer_index", 0.07, 60),
                  ("stock_index", 0.069, 120))
        first = 0
        for name, share, rows in shares:
            n = max(1, int(pages * share))
            setattr(self, name, Table(first, n, rows, 1 if name == "order" else self.warehouses))
            first += n
        self.next_order = self.order.rows // 2

    def skewed(self, rows, part):
        """TPC-C's NURand: some rows are wanted far more often than others."""
        a = (1 << max(0, (rows // part).bit_length())) - 1
        return ((self.rng.randrange(a + 1) | self.rng.randrange(rows)) + rows // 7) % rows

    def customer_of(self, warehouse, write):
        """One customer's row, through its index."""
        district = max(1, self.customer.rows // 10)
        row = self.rng.randrange(10) * district + self.skewed(district, 3)
        yield self.customer_index.at(warehouse, row * self.customer_index.rows
                                     // self.customer.rows), False
        yield self.customer.at(warehouse, row), write

    def stock_of(self, warehouse, write):
        """One item in stock, through its index."""
        row = self.skewed(self.stock.rows, 12)
        yield self.item.at(0, row * self.item.rows // self.stock.rows), False
        yield self.stock_index.at(warehouse, row * self.stock_index.rows
                                  // self.stock.rows), False
        yield self.stock.at(warehouse, row), write

    def ordered(self, ago, lines, write):
        """Lines of an order, so many rows ago."""
        for line in range(0, lines, self.order.rows_per_page):
            yield self.order.at(0, (self.next_order - ago + line) % self.order.rows), write

    def transaction(self):
        """(page, whether it is changed)"""
        kind, warehouse = self.rng.randrange(100), self.rng.randrange(self.warehouses)
        if kind < 45:           # a new order
            yield self.district.at(warehouse, self.rng.randrange(10)), True
            yield from self.customer_of(warehouse, False)
            for _ in range(10):
                away = self.rng.randrange(100) == 0
                yield from self.stock_of(self.rng.randrange(self.warehouses) if away
                                         else warehouse, True)
            yield from self.ordered(0, 10, True)
            self.next_order += 10
        elif kind < 88:         # a payment
            yield self.district.at(warehouse, self.rng.randrange(10)), True
            yield from self.customer_of(warehouse, True)
            yield from self.ordered(0, 1, True)
            self.next_order += 1
        elif kind < 92:         # what became of an order
            yield from self.customer_of(warehouse, False)
            yield from self.ordered(self.rng.randrange(self.order.rows), 10, False)
        elif kind < 96:         # delivery of ten that wait
            for district in range(10):
                yield from self.ordered(self.order.rows // 4 - 10 * district, 10, True)
                yield from self.customer_of(warehouse, True)
        else:                   # what is low in stock
            yield self.district.at(warehouse, self.rng.randrange(10)), False
            yield from self.ordered(200, 200, False)
            for _ in range(20):
                yield from self.stock_of(warehouse, False)


def requests(pages, pool, softmax, apc, accesses, seed):
    """(page, hint; None: a read), as many as @accesses."""
    asked = []
    first = Pool(pool, softmax, apc, lambda page, hint: asked.append((page, hint)))
    orders = Orders(pages, random.Random(seed))
    while len(asked) < accesses:
        for page, write in orders.transaction():
            first.touch(page, write)
    return asked[:accesses]


def main():
    """The trace on standard output."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--pages", type=int, default=30316, help="of the database")
    parser.add_argument("--pool", type=int, default=15000, help="pages of the buffer pool")
    parser.add_argument("--softmax", type=int, default=400,
                        help="bound on the log, in percent of a log file")
    parser.add_argument("--apc", action="store_true",
                        help="proactive page cleaning: less at a time, and sooner")
    parser.add_argument("--accesses", type=int, default=600000, help="requests of the trace")
    parser.add_argument("--seed", type=int, default=2006)
    args = parser.parse_args()
    if min(args.pages, args.pool, args.accesses) < 1 or args.softmax < 0:
        parser.error("want at least one page, frame and request, and a softmax of 0 or more")
    for page, hint in requests(**vars(args)):
        sys.stdout.write(f"r {page}\n" if hint is None else f"w {page} h={hint}\n")


if __name__ == "__main__":
    main()
