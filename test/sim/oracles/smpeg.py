# SPDX-License-Identifier: GPL-2.0-only
"""First in, first out, in 16 frames at most: hipec-1997, Table VII."""

from oracles import fifo

PARAMETERS = {"frames": 40}


class Cache(fifo.Cache):
    def __init__(self, room, frames=16):
        super().__init__(min(room, frames))
