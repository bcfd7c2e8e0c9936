# SPDX-License-Identifier: GPL-2.0-only
"""All pairs of a LevelDB, three times: pairs.py FOLDER."""

import sys
import zlib

import plyvel

db = plyvel.DB(sys.argv[1], lru_cache_size=1 << 16)
for _ in range(3):
    state, count = 1, 0
    for key, value in db.iterator(fill_cache=False):
        state = zlib.crc32(value, zlib.crc32(key, state))
        count += 1
    print(count, state)
