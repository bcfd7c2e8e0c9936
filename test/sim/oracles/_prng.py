# SPDX-License-Identifier: GPL-2.0-only
"""The machine's Random: SplitMix64 of the seed 1, which `hipec sim` leaves."""

GAMMA, FIRST, SECOND = 0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb
BITS = (1 << 64) - 1


class Random:
    def __init__(self):
        self.state = 1

    def below(self, limit):
        self.state = self.state + GAMMA & BITS
        x = self.state
        x = (x ^ x >> 30) * FIRST & BITS
        x = (x ^ x >> 27) * SECOND & BITS
        return (x ^ x >> 31) % limit
