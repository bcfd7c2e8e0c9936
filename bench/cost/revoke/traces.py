# SPDX-License-Identifier: GPL-2.0-only
"""Traces for table.py: lists of page numbers, in proportion to the frames.

Each maker takes a random.Random, the number of frames and the number of accesses.
"""

import bisect
import itertools


def zipf(rng, pages, skew):
    """A function that draws one of @pages, the r-th most wanted with 1 / r^skew."""
    weights = list(itertools.accumulate((rank + 1) ** -skew for rank in range(pages)))
    order = list(range(pages))
    rng.shuffle(order)
    return lambda: order[bisect.bisect(weights, rng.random() * weights[-1])]


def loop(size):
    """Sweeps over @size pages for each frame."""
    return lambda rng, frames, accesses: [i % int(size * frames) for i in range(accesses)]


def skewed(size, skew):
    """Zipf's law."""
    def make(rng, frames, accesses):
        draw = zipf(rng, size * frames, skew)
        return [draw() for _ in range(accesses)]
    return make


def uniform(size):
    """Any of the pages, alike."""
    def make(rng, frames, accesses):
        return [int(rng.random() * int(size * frames)) for _ in range(accesses)]
    return make


def join(_, frames, accesses):
    """Nested loops: an inner relation of 1.5 times the frames, again and again, 32
    pages for each page of an outer one, which stays for a while."""
    out, step, inner = [], 0, int(1.5 * frames)
    while len(out) < accesses:
        step += 1
        out.append(10 * frames + step // 64 % (4 * frames))
        out += [(step * 32 + i) % inner for i in range(32)]
    return out[:accesses]


def shifting(rng, frames, accesses):
    """Random within a working set that fits, which moves on by half the frames."""
    out, base = [], 0
    while len(out) < accesses:
        out += [base + int(rng.random() * 0.8 * frames) for _ in range(4 * frames)]
        base += frames // 2
    return out[:accesses]


def tree(rng, frames, accesses):
    """Random data retrieval: down an index of 32 ways, numbered level by level, to
    any of its leaves, 1.2 for each frame, and on to a page of data."""
    levels = [1]
    while levels[-1] * 32 < 1.2 * frames:
        levels.append(levels[-1] * 32)
    levels.append(int(1.2 * frames))
    start = [0, *itertools.accumulate(levels)]
    out = []
    while len(out) < accesses:
        where = rng.random()
        out += [first + int(where * size) for first, size in zip(start, levels)]
        out.append(start[-1] + int(rng.random() * 4 * frames))
    return out[:accesses]


def mixture(rng, frames, accesses):
    """Two thirds Zipf's law, one third a long sweep."""
    draw, out, at = zipf(rng, 4 * frames, 0.9), [], 0
    while len(out) < accesses:
        out += [draw() for _ in range(200)]
        out += [100 * frames + (at + i) % (6 * frames) for i in range(100)]
        at += 100
    return out[:accesses]


def phases(rng, frames, accesses):
    """One after the other, on other pages."""
    makers = [loop(1.5), skewed(6, 0.9), shifting, uniform(1.5), loop(0.9), tree]
    out = []
    for number in itertools.count():
        if len(out) >= accesses:
            return out[:accesses]
        out += [number % 3 * 2 * frames + page for page in
                makers[number % len(makers)](rng, frames, 24 * frames)]


def stream(rng, frames, accesses):
    """A working set that fits, and beside it pages that are used once."""
    out, cold = [], 50 * frames
    while len(out) < accesses:
        out += [int(rng.random() * 0.6 * frames) for _ in range(3)] + [cold]
        cold += 1
    return out[:accesses]


def bursts(rng, frames, accesses):
    """Locality: some time in a small part of the pages, then in another."""
    draw, part, out = zipf(rng, 64, 0.7), frames // 12, []
    while len(out) < accesses:
        base = draw() * part
        out += [base + int(rng.random() * part) for _ in range(3 * part)]
    return out[:accesses]


TRACES = {
    "loop 0.8": loop(0.8), "loop 1.02": loop(1.02), "loop 1.25": loop(1.25), "loop 2": loop(2),
    "scan": lambda rng, frames, accesses: list(range(accesses)),
    "join": join, "zipf 0.8": skewed(8, 0.8), "zipf 1.0": skewed(8, 1.0),
    "zipf 1.2": skewed(16, 1.2), "uniform 1.1": uniform(1.1), "uniform 2": uniform(2),
    "shifting": shifting, "tree": tree, "mixture": mixture, "phases": phases,
    "stream": stream, "bursts": bursts,
}
