# SPDX-License-Identifier: GPL-2.0-only
"""Models of replacement in a few lines each, for test_sim.py. A trace is a list
of (page, whether it is written); each model gives (faults, pages written)."""

from collections import OrderedDict, deque


def run(trace, frames, policy):
    """@policy: an object with bring(page), hit(page, i), victim(i)."""
    dirty, held = set(), set()
    faults = written = 0
    for i, (page, write) in enumerate(trace):
        if page in held:
            policy.hit(page, i)
        else:
            faults += 1
            if len(held) == frames:
                victim = policy.victim(i)
                held.remove(victim)
                written += victim in dirty
                dirty.discard(victim)
            held.add(page)
            policy.bring(page, i)
        if write:
            dirty.add(page)
    return faults, written


class Fifo:
    def __init__(self, trace):
        self.queue = deque()

    def bring(self, page, i):
        self.queue.append(page)

    def hit(self, page, i):
        pass

    def victim(self, i):
        return self.queue.popleft()


class Mru(Fifo):
    """By order of faults."""

    def victim(self, i):
        return self.queue.pop()


class Lru:
    def __init__(self, trace):
        self.order = OrderedDict()

    def bring(self, page, i):
        self.order[page] = True

    def hit(self, page, i):
        self.order.move_to_end(page)

    def victim(self, i):
        return self.order.popitem(last=False)[0]


class Clock(Fifo):
    first = False   # the bit of a page that comes in

    def __init__(self, trace):
        super().__init__(trace)
        self.bit = {}

    def bring(self, page, i):
        super().bring(page, i)
        self.bit[page] = self.first

    def hit(self, page, i):
        self.bit[page] = True

    def victim(self, i):
        while self.bit[self.queue[0]]:
            self.bit[self.queue[0]] = False
            self.queue.rotate(-1)
        return self.queue.popleft()


class ClockBitSet(Clock):
    first = True


class Fifo2(Fifo):
    """A second chance on two queues: hipec-1997, Figure 3."""

    def __init__(self, trace):
        super().__init__(trace)
        self.inactive, self.bit = deque(), {}

    def bring(self, page, i):
        super().bring(page, i)
        self.bit[page] = True

    def hit(self, page, i):
        self.bit[page] = True

    def deactivate(self):
        while len(self.inactive) < (len(self.queue) + len(self.inactive)) * 2 // 3:
            self.inactive.append(self.queue.popleft())
            self.bit[self.inactive[-1]] = False

    def victim(self, i):
        self.deactivate()
        while self.inactive and self.bit[self.inactive[0]]:
            self.queue.append(self.inactive.popleft())
            self.deactivate()
        page = (self.inactive or self.queue).popleft()
        self.deactivate()
        return page


class Helped(Fifo2):
    """A second chance on one queue for a policy that gives nothing; it is revoked at
    its 1024th failure, and from then on FIFO2 is in charge."""
    asked = 0

    def victim(self, i):
        self.asked += 1
        if self.asked >= 1024:
            return super().victim(i)
        while self.bit[self.queue[0]]:
            self.bit[self.queue[0]] = False
            self.queue.rotate(-1)
        return self.queue.popleft()


class Opt:
    def __init__(self, trace):
        self.held = set()
        self.first = {}
        self.uses = {}
        for i, (page, _) in enumerate(trace):
            self.first.setdefault(page, i)
            self.uses.setdefault(page, deque()).append(i)

    def bring(self, page, i):
        self.held.add(page)
        self.uses[page].popleft()

    def hit(self, page, i):
        self.uses[page].popleft()

    def victim(self, i):
        never = float("inf")
        victim = max(self.held, key=lambda page: (self.uses[page][0] if self.uses[page] else never,
                                                  -self.first[page]))
        self.held.remove(victim)
        return victim


class OptReads:
    """What is not read for the longest time goes, also if it is what comes in."""
    printed = False     # as in write-hints-2006, OPT

    def __init__(self, trace):
        self.trace = trace
        self.uses = {}
        for i, (page, write) in enumerate(trace):
            self.uses.setdefault(page, []).append((i, write))

    def next_read(self, page, now):
        """Of pages that are not read again the one that the trace has first. What
        is written first need not be held until then."""
        later = [(i, write) for i, write in self.uses[page] if i > now]
        if self.printed:
            later = [(i, write) for i, write in later if not write]
        wanted = later and not later[0][1]
        return (0, later[0][0], 0) if wanted else (1, 0, -self.uses[page][0][0])

    def run(self, frames):
        """(faults, pages written, reads among the faults)"""
        held, dirty = set(), set()
        faults = written = reads = 0
        for i, (page, write) in enumerate(self.trace):
            if page not in held:
                faults += 1
                reads += not write
                if len(held) == frames:
                    victim = max(held, key=lambda page, i=i: self.next_read(page, i))
                    if self.next_read(victim, i)[:2] <= self.next_read(page, i)[:2]:
                        written += write
                        continue
                    held.remove(victim)
                    written += victim in dirty
                    dirty.discard(victim)
                held.add(page)
            if write:
                dirty.add(page)
        return faults, written, reads


class OptPrinted(OptReads):
    printed = True


MODELS = {name: lambda trace, frames, kind=kind: run(trace, frames, kind(trace))
          for name, kind in {"fifo": Fifo, "mru": Mru, "lru": Lru, "clock": Clock,
                             "clock_bit_set": ClockBitSet, "fifo2": Fifo2, "opt": Opt,
                             "helped": Helped}.items()}


def counting(model):
    """Of a policy that counts nothing."""
    return lambda trace, frames: (*MODELS[model](trace, frames), {})


class Ghosts(Fifo):
    """FIFO that remembers as many pages as it has frames; one that comes back
    while it is remembered goes to a second queue, which is asked last."""

    def __init__(self, trace, frames):
        super().__init__(trace)
        self.frames, self.again, self.ghosts, self.back = frames, deque(), deque(), 0

    def bring(self, page, i):
        if page in self.ghosts:
            self.ghosts.remove(page)
            self.again.append(page)
            self.back += 1
        else:
            self.queue.append(page)

    def victim(self, i):
        if not self.queue:
            return self.again.popleft()
        if len(self.ghosts) == self.frames:
            self.ghosts.popleft()
        self.ghosts.append(self.queue.popleft())
        return self.ghosts[-1]


def ghosts(trace, frames):
    policy = Ghosts(trace, frames)
    return (*run(trace, frames, policy), {"back": policy.back})


def harvested_lru(trace, frames):
    """The `lru` program in mapped mode: Access comes before each Replace, for the
    pages that were referenced, of 32 entries of the page table at a time. A page
    takes the entry that was given back last, or the first that never was used."""
    entries = [None] * frames
    unused = list(range(frames))
    order, referenced, dirty = OrderedDict(), set(), set()
    at = faults = written = 0
    for page, write in trace:
        if page not in order:
            faults += 1
            if len(order) == frames:
                found = []
                for _ in range(min(32, frames)):
                    if entries[at] in referenced:
                        referenced.remove(entries[at])
                        found.append(entries[at])
                    at = (at + 1) % frames
                for seen in found:
                    order.move_to_end(seen)
                victim = order.popitem(last=False)[0]
                written += victim in dirty
                dirty.discard(victim)
                referenced.discard(victim)
                unused.insert(0, entries.index(victim))
                entries[unused[0]] = None
            entries[unused.pop(0)] = page
            order[page] = True
        referenced.add(page)
        if write:
            dirty.add(page)
    return faults, written, {}


LRU = """
Event Init() { Queue q; Page page; }
Event PageFault() { page = FindPA(FaultedAddress); EnQueue(page, q, TAIL); }
Event Access() { page = FindPA(FaultedAddress); EnQueue(page, q, TAIL); }
Event Replace() { page = DeQueue(q, HEAD); EnQueue(page, _free_queue, TAIL); }
"""

SECOND_CHANCE = """
Event Init() { Queue q; Page page; }
Event PageFault() { page = FindPA(FaultedAddress); EnQueue(page, q, TAIL); }
Event Replace() {
	while (!EmptyQ(q)) {
		page = DeQueue(q, HEAD);
		if (!Ref(page)) { EnQueue(page, _free_queue, TAIL); return; }
		Set(page, REFERENCE, RESET);
		EnQueue(page, q, TAIL);
	}
}
"""

GHOSTS = """
Event Init() { Queue once, again, gone; Page page, old; counter Int back; Ghosts 100; }
Event PageFault() {
	page = FindPA(FaultedAddress);
	if (InQ(page, gone)) { back++; EnQueue(page, again, TAIL); }
	else EnQueue(page, once, TAIL);
}
Event Replace() {
	if (EmptyQ(once)) {
		page = DeQueue(again, HEAD);
		EnQueue(page, _free_queue, TAIL);
		return;
	}
	page = DeQueue(once, HEAD);
	EnQueue(page, _free_queue, TAIL);
	if (!EnQueue(page, gone, TAIL)) {
		old = DeQueue(gone, HEAD);
		EnQueue(page, gone, TAIL);
	}
}
"""

# name: (source, mode, model of faults, pages written, counters)
PROGRAMS = {
    "lru": (LRU, "exact", counting("lru")),
    "second chance": (SECOND_CHANCE, "mapped", counting("clock_bit_set")),
    "second chance, told": (SECOND_CHANCE, "exact", counting("clock_bit_set")),
    "ghosts": (GHOSTS, "mapped", ghosts),
}
