# SPDX-License-Identifier: GPL-2.0-only
"""AMP's detector by its definition: lists that are searched, in time that grows with
their length. The same numbers in the same order, so that doubles are the same."""

import math

MASK = (1 << 64) - 1
ALL = 1 << 32


def amp_hash(page):
    """As userlib/amp/list.h."""
    page = (page ^ page >> 33) * 0xff51afd7ed558ccd & MASK
    page = (page ^ page >> 33) * 0xc4ceb9fe1a85ec53 & MASK
    return page ^ page >> 33


def sampled(page, limit):
    return amp_hash(page) >> 32 < limit


class Mean:
    """Of all values; with a horizon, beyond it of the later ones."""

    def __init__(self, horizon=None):
        self.sum, self.mean, self.nr, self.horizon = 0.0, 0.0, 0, horizon

    def add(self, value):
        self.nr += 1
        if self.horizon is None or self.nr <= self.horizon:
            self.sum += value
            self.mean = self.sum / self.nr
        else:
            self.mean += (value - self.mean) / self.horizon


def recencies(stream):
    """(R_i, |L_i|) of each access that has one, from the definition."""
    listed = []
    for block in stream:
        if block in listed:
            at = listed.index(block)
            yield (at / (len(listed) - 1) if len(listed) > 1 else 0.5), len(listed)
            listed.remove(block)
        listed.append(block)


def detect(stream, horizon=None, most=0, limit=ALL, period=None, fresh=False):
    """@stream of one context that is all of the trace: r, loop_time, loop_deviation,
    loop_size, sampled_blocks, rate, and the longest list there was."""
    listed, last, q = [], {}, limit
    r, time, square = Mean(horizon), Mean(horizon), Mean(horizon)
    longest = 0
    for seq, block in enumerate(stream, 1):
        if sampled(block, q):
            if block in last:
                at = listed.index(block)
                r.add(at / (len(listed) - 1) if len(listed) > 1 else 0.5)
                gap = float(seq - last[block])
                time.add(gap)
                square.add(gap * gap)
                listed.remove(block)
            listed.append(block)
            last[block] = seq
            if most and len(listed) > most:
                q //= 2
                listed = [one for one in listed if sampled(one, q)]
                last = {one: last[one] for one in listed}
            longest = max(longest, len(listed))
        if period and not seq % period and seq != len(stream):
            if fresh:
                listed, last = [], {}
                r, time, square = Mean(horizon), Mean(horizon), Mean(horizon)
            if len(listed) < most // 2 and q < limit:
                q *= 2
    out = {"r": r.mean if r.nr else None, "sampled_blocks": len(listed), "rate": q / ALL,
           "loop_time": None, "loop_deviation": None, "loop_size": None}
    if time.nr:
        deviation = math.sqrt(max(0.0, square.mean - time.mean * time.mean))
        near = sum(len(stream) - last[one] <= time.mean + deviation for one in listed)
        out.update(loop_time=time.mean, loop_deviation=deviation,
                   loop_size=float(math.floor(near / (q / ALL) + 0.5)))
    return out, longest
