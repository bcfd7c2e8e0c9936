# SPDX-License-Identifier: GPL-2.0-only
"""What came in last goes."""

from oracles import fifo


class Cache(fifo.Cache):
    goes = -1
