# SPDX-License-Identifier: GPL-2.0-only
"""Forms of traces, the generator and the statistics of docs/user/traces.md, plainly.

An access is (page, written, hint, context); a region (page, pages, name)."""

import bisect
import struct
import subprocess

MAGIC = b"\x93hptrace" + struct.pack("<II", 1, 0)


def zstd(data, *args):
    return subprocess.run(["zstd", "-qc", *args], input=data, capture_output=True, check=True).stdout


def read_text(text):
    """(accesses, regions)"""
    accesses, regions = [], []
    for line in text.splitlines():
        words = line.split("#")[0].split() if not line.startswith("f ") else line.split(" ", 3)
        if not words:
            continue
        if words[0] == "f":
            regions.append((int(words[1], 0), int(words[2], 0), words[3]))
            continue
        tags = {word[0]: word[2:] for word in words[2:] if "=" in word}
        first, count = int(words[1], 0), [*(word for word in words[2:] if "=" not in word), "1"][0]
        accesses += [(page, words[0] == "w", int(tags.get("h", "0")), int(tags.get("c", "0"), 16))
                     for page in range(first, first + int(count, 0))]
    return accesses, regions


def write_text(accesses, regions=()):
    """A line for each access."""
    return "".join([f"f {page} {pages} {name}\n" for page, pages, name in regions] + [
        f"{'w' if write else 'r'} {page}" + f" h={hint}" * bool(hint)
        + f" c={context:x}" * bool(context) + "\n" for page, write, hint, context in accesses])


def plain(accesses, tags=(0, 0)):
    """Of (page, written)."""
    return [(page, bool(write), *tags) for page, write in accesses]


def number(value):
    """7 bits in a byte."""
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def runs(accesses):
    """(page, pages, written, hint, context) of what follows each other, at most 2^26."""
    out = []
    for page, *rest in accesses:
        if out and out[-1][0] + out[-1][1] == page and out[-1][2:] == rest and out[-1][1] < 1 << 26:
            out[-1][1] += 1
        else:
            out.append([page, 1, *rest])
    return out


def write_records(accesses, regions=()):
    """What is in the frame of a .trace."""
    out = b""
    for page, pages, name in regions:
        out += number(9) + number(page) + number(pages) + number(len(name)) + name.encode()
    after, tag = 0, [0, 0]
    for page, pages, write, *new in runs(accesses):
        delta = page - after
        zigzag = 2 * delta if delta >= 0 else -2 * delta - 1
        out += number(zigzag << 4 | write | 2 * (pages > 1) | 4 * (new != tag))
        out += number(pages - 2) if pages > 1 else b""
        out += number(new[0]) + number(new[1]) if new != tag else b""
        after, tag = page + pages, new
    return out + number(8) + number(len(accesses))


def as_binary(records):
    """A .trace."""
    return MAGIC + zstd(records, "--check")


def sector_page(sector):
    """C's arithmetic: towards zero."""
    address = sector * 512
    return address // 4096 if address >= 0 else -(-address // 4096)


def write_oracle(accesses, base=1):
    """Next accesses are counted from @base."""
    out, after = [], {}
    for i in reversed(range(len(accesses))):
        page = accesses[i][0]
        out.append(struct.pack("<IQIq", i, page, 4096, after.get(page, -1 - base) + base))
        after[page] = i
    return b"".join(reversed(out))


class Log:
    """Accesses to bytes of files, and the regions that they become."""

    def __init__(self):
        self.names, self.end, self.accesses = [], {}, []
        self.read_to = {}

    def name(self, name):
        """It was named."""
        if name not in self.names:
            self.names.append(name)

    def access(self, name, offset, length, write):
        """To bytes. A read that goes on within a page does not access it once more."""
        self.name(name)
        first = offset // 4096
        if length and not write:
            first += offset == self.read_to.get(name) and offset % 4096 > 0
            self.read_to[name] = offset + length
        for page in range(first, -(-(offset + length) // 4096)) if length else ():
            self.accesses.append((name, page, write))
            self.end[name] = max(self.end.get(name, 0), page + 1)

    def trace(self):
        """(accesses, regions)"""
        base, regions, after = {}, [], 0
        for name in self.names:
            if name in self.end:
                base[name] = after
                regions.append((after, self.end[name], name))
                after = (after + self.end[name]) // 1024 * 1024 + 1024
        return plain((base[name] + page, write) for name, page, write in self.accesses), regions


class Random:
    """SplitMix64."""

    def __init__(self, seed):
        self.state = seed

    def bits(self):
        """64 of them."""
        mask = (1 << 64) - 1
        self.state = self.state + 0x9E3779B97F4A7C15 & mask
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
        return z ^ z >> 31

    def below(self, n):
        """All with the same chance: what is below 2^64 mod n would have more."""
        while True:
            product = self.bits() * n
            if product % (1 << 64) >= (1 << 64) % n:
                return product >> 64

    def chance(self, percent):
        """No number is drawn where there is no choice."""
        return percent >= 100 or (percent > 0 and self.below(100) < percent)


def root(n):
    """Of integers, by Newton's way."""
    x = 1 << (n.bit_length() + 1) // 2
    while True:
        y = (x + n // x) // 2
        if y >= x:
            return x
        x = y


HALVES = [root(1 << 125)]
while len(HALVES) < 32:
    HALVES.append(root(HALVES[-1] << 63))


def weight(rank, thousandths):
    """rank^-skew in 2^-36, by its logarithm in 2^-32."""
    if not thousandths:
        return 1 << 36
    log, m = rank.bit_length() - 1, rank << 64 - rank.bit_length()
    for _ in range(32):
        m = m * m >> 63
        log = log << 1 | m >> 64
        m >>= m >> 64
    x = log * thousandths // 1000
    w = 1 << 63
    for i in range(32):
        if x >> 31 - i & 1:
            w = w * HALVES[i] >> 63
    return max(w >> 27 >> (x >> 32), 1)


class Zipf:
    """Things by popularity."""

    def __init__(self, rng, n, skew):
        self.rng, self.sums, self.things = rng, [], list(range(n))
        for rank in range(1, n + 1):
            self.sums.append((self.sums[-1] if self.sums else 0) + weight(rank, skew))
        for i in range(n - 1, 0, -1):
            j = rng.below(i + 1)
            self.things[i], self.things[j] = self.things[j], self.things[i]

    def draw(self):
        """The first whose sum is above the number."""
        return self.things[bisect.bisect_right(self.sums, self.rng.below(self.sums[-1]))]


def make(kind, pages, accesses, seed=0, writes=0, skew=None, run=64, fanout=100, scan=50,
         working=None, phase=None):
    """(page, written) of each access. @skew in thousandths; @working is --set."""
    rng, out, at = Random(seed), [], 0
    skew = skew if skew is not None else 0 if kind == "btree" else 1000
    working, phase = working or -(-pages // 10), phase or -(-accesses // 10)
    hot = (pages + 1) // 2 if kind == "mixed" else pages
    zipf = Zipf(rng, hot, skew) if kind in ("zipf", "mixed") else None
    levels = []
    if kind == "btree":
        for leaves in range(1, pages + 1):
            tree = [leaves]
            while tree[0] > 1:
                tree.insert(0, -(-tree[0] // fanout))
            if sum(tree) > pages:
                break
            levels = tree
        zipf = Zipf(rng, levels[-1], skew) if skew else None
    while len(out) < accesses:
        if kind in ("loop", "sequential"):
            at = rng.below(pages) if kind == "sequential" else at
            write = rng.chance(writes)
            out += [((at + i) % pages, write) for i in range(run)]
            at = (at + run) % pages
        elif kind == "btree":
            leaf = zipf.draw() if zipf else rng.below(levels[-1])
            path = [leaf // fanout ** i for i in reversed(range(len(levels)))]
            out += [(sum(levels[:i]) + node, False) for i, node in enumerate(path)]
            if len(out) <= accesses:
                out[-1] = (out[-1][0], rng.chance(writes))
        elif kind == "mixed" and scan and pages > hot and \
                rng.below(scan + (100 - scan) * run) < scan:
            out += [(hot + (at + i) % (pages - hot), False) for i in range(run)]
            at = (at + run) % (pages - hot)
        elif kind == "shift":
            first = len(out) // phase * working
            out.append(((first + rng.below(working)) % pages, rng.chance(writes)))
        else:
            out.append((zipf.draw(), rng.chance(writes)))
    return out[:accesses]


def info(accesses, top=5):
    """What --json says, but for its names."""
    last, counts, distances = {}, {}, []
    pages = [page for page, *_ in accesses]
    for i, page in enumerate(pages):
        if page in last:
            distances.append(len(set(pages[last[page] + 1:i])))
        last[page] = i
        counts[page] = counts.get(page, 0) + 1
    distances.sort()
    pairs = list(zip(pages, pages[1:]))
    return {
        "accesses": len(pages), "reads": sum(not access[1] for access in accesses),
        "writes": sum(access[1] for access in accesses), "pages": len(counts),
        "written_pages": len({page for page, write, *_ in accesses if write}),
        "footprint_bytes": 4096 * len(counts), "first_page": min(pages), "last_page": max(pages),
        "sequential": sum(b == a + 1 for a, b in pairs), "repeated": sum(b == a for a, b in pairs),
        "one_touch_pages": sum(n == 1 for n in counts.values()), "reuses": len(distances),
        "reuse_distance": {str(q): distances[-(-len(distances) * q // 100) - 1]
                           for q in (10, 25, 50, 75, 90, 99, 100) if distances},
        "top_pages": [{"page": page, "accesses": n} for page, n
                      in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:top]],
    }
