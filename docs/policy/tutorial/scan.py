#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A search engine's afternoon as a trace for `hipec sim`. Pages 0 to 99 are an
index: a root, 9 inner pages, 90 leaves. Pages 100 to 499 are the documents. A
query reads all documents; after each ten it looks four words up in the index.
Each query has its own 30 words."""

DOCUMENTS, QUERIES, WORDS = 100, 6, 30

for query in range(QUERIES):
    for part in range(40):
        for lookup in range(4):
            word = (WORDS * query + 7 * (4 * part + lookup) % WORDS) % 90
            print(f"r 0\nr {1 + word // 10}\nr {10 + word}")
        print("r", DOCUMENTS + 10 * part, 10)
