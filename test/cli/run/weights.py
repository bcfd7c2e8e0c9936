# SPDX-License-Identifier: GPL-2.0-only
"""A model's weights as numpy has them, layer by layer, eight times: weights.py FILE."""

import sys

import numpy

weights = numpy.memmap(sys.argv[1], dtype=numpy.uint32, mode="r").reshape(-1, 1 << 18)
for token in range(8):
    state = 1
    for layer in weights:
        state = (31 * state + int(layer.sum(dtype=numpy.uint64))) % (1 << 64)
    print(token, state)
