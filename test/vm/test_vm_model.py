# SPDX-License-Identifier: GPL-2.0-only
"""The VM's pages and queues against a model of them in Python: random cases, in
which pages come, go, are remembered and forgotten, must end as the model does.

`python3 -B test/vm/test_vm_model.py FIRST LAST` runs more of them."""

import copy
import pathlib
import random
import subprocess
import sys
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HPT = ROOT / "build" / "asan" / "hpt"

PAGES = range(1, 11)                    # page numbers
KEYS = range(-3, 4)
PLAIN, ORDERED, ARRAY = ["a", "c"], ["b"], ["o[0]", "o[1]"]     # o is ordered, r refers to it
QUEUES = ["a", "b", "c", *ARRAY]
VARIABLES = ["p", "t", "u"]
FIELDS = ["key", "x"]


class Exit(Exception):
    """The policy makes a mistake: (kind, operand)."""


class Page:
    """An entry of the page table, unused at first."""

    def __init__(self, pgno=None):
        self.pgno = pgno
        self.frame = self.live = self.gone = self.ghost = False
        self.modified = self.pinned = self.hidden = self.kept = False
        self.queue = None
        self.place = 0          # its key when it was put on an ordered queue
        self.field = dict.fromkeys(FIELDS, 0)

    named = property(lambda self: self.live or self.gone or self.ghost)
    used = property(lambda self: self.named or self.frame)


class Model:
    """A machine and its host. Handles count from 1, as in the VM, since a page
    variable may outlive its page and then name what has its entry."""

    def __init__(self, frames, ghosts):
        self.frames, self.max_ghosts = frames, frames * ghosts // 100
        self.page = [Page() for _ in range(1 + frames + self.max_ghosts)]
        self.unused = list(range(1, len(self.page)))
        self.queue = {name: [] for name in [*QUEUES, "fallback", "gone"]}
        self.var = dict.fromkeys(VARIABLES, 0)
        self.ref = ARRAY[0]
        self.n = self.free = self.commands = self.faulted = 0
        self.condition = False
        self.given = []
        self.exit = None

    # the page table

    def find(self, pgno, wanted):
        return next((h for h, page in enumerate(self.page)
                     if page.pgno == pgno and getattr(page, wanted)), 0)

    def take(self, pgno):
        h = self.unused.pop(0)
        self.page[h] = Page(pgno)
        return h

    def unuse(self, h):
        self.page[h] = Page()
        self.unused.insert(0, h)

    def link(self, name, h, end):
        queue, page = self.queue[name], self.page[h]
        page.queue = name
        at = len(queue) if end == "tail" else 0
        if name in ORDERED or name in ARRAY:
            page.place = page.field["key"]
            places = [self.page[other].place for other in queue]
            at = sum(other < page.place or (other == page.place and end == "tail")
                     for other in places)
        queue.insert(at, h)

    def unlink(self, h):
        self.queue[self.page[h].queue].remove(h)
        self.page[h].queue = None

    def move(self, name, h, end):
        self.unlink(h)
        self.link(name, h, end)

    def let_go(self, h):
        page = self.page[h]
        if page.ghost or self.max_ghosts:
            self.move("gone", h, "tail")
            page.gone, page.ghost = True, False
            return
        self.unlink(h)
        if not page.used:
            self.unuse(h)

    def forget(self, h):
        page = self.page[h]
        self.unlink(h)
        page.ghost = page.gone = False
        if not page.frame:
            self.unuse(h)

    def forget_gone(self):
        while self.queue["gone"]:
            self.forget(self.queue["gone"][0])

    def show(self, h):
        page = self.page[h]
        if not page.ghost:
            self.link("fallback", h, "tail")
        page.ghost, page.live, page.frame = False, True, True

    # steps of the host; whether it can do them

    def fault(self, pgno):
        h = self.find(pgno, "frame")
        if h and self.page[h].live:
            return False
        if h:
            self.page[h].hidden = self.page[h].kept = False
        else:
            if sum(page.frame for page in self.page) == self.frames:
                return False
            self.forget_gone()
            h = self.find(pgno, "named") or self.take(pgno)
            self.free -= self.free > 0
        self.faulted = pgno
        self.show(h)
        return True

    def lose(self, pgno):
        h = self.find(pgno, "live")
        if not h:
            return False
        self.faulted = pgno
        self.free += 1
        page = self.page[h]
        page.live = page.frame = page.modified = page.pinned = False
        self.let_go(h)
        return True

    def forget_ghost(self, pgno):
        h = self.find(pgno, "ghost")
        if h:
            self.forget(h)
        return True

    def clean(self, _):
        for h, page in enumerate(self.page):
            if page.hidden:
                self.free += page.kept
                page.hidden = page.kept = page.modified = page.frame = False
                if not page.used:
                    self.unuse(h)
        return True

    STEPS = {"fault": fault, "lose": lose, "forget": forget_ghost, "clean": clean}

    # commands

    def operand(self, name, number, *wanted):
        h = self.var[name]
        if not h:
            raise Exit("NO_PAGE", number)
        if not any(getattr(self.page[h], what) for what in wanted):
            raise Exit("STALE_PAGE", number)
        return h

    def name_of(self, queue):
        return self.ref if queue == "r" else queue

    def answer(self, name, h):
        self.var[name] = h
        self.condition = bool(h)

    def end_of(self, queue, end):
        handles = self.queue[self.name_of(queue)]
        return handles[0 if end == "head" else -1] if handles else 0

    def evict(self, name, keep):
        h = self.operand(name, "a", "named")
        page = self.page[h]
        self.condition = not (page.live and page.pinned)
        if not self.condition or page.gone:
            return
        if page.live:
            self.given.append((page.pgno, keep, page.modified))
            page.live, page.frame = False, page.modified
            page.hidden, page.kept = page.modified, page.modified and keep
            self.free += keep and not page.modified
        self.let_go(h)

    def enqueue(self, name, queue, end):
        if queue == "_free_queue":
            self.evict(name, True)
            return
        h = self.operand(name, "a", "named")
        page = self.page[h]
        if not page.live and not page.ghost:
            if sum(other.ghost for other in self.page) == self.max_ghosts:
                self.condition = False
                return
            page.ghost = True
        page.gone = False
        self.condition = True
        self.move(self.name_of(queue), h, end)

    def dequeue(self, name, queue, end):
        self.answer(name, self.end_of(queue, end))
        h = self.var[name]
        if h and self.page[h].live:
            self.move("fallback", h, "tail")
        elif h:
            self.let_go(h)

    def next(self, name, of, end):
        h = self.operand(of, "b", "named")
        handles = self.queue[self.page[h].queue]
        at = handles.index(h) + (1 if end == "tail" else -1)
        inside = self.page[h].queue in QUEUES and 0 <= at < len(handles)
        self.answer(name, handles[at] if inside else 0)

    def put(self, name, field, value):
        self.page[self.operand(name, "a", "named")].field[field] = value

    def get(self, name, field):
        self.n = self.page[self.operand(name, "b", "named")].field[field]

    def inq(self, name, queue):
        self.condition = self.page[self.var[name]].queue == self.name_of(queue)

    def prefetch(self, pgno, nr):
        """Absent pages get free frames, until one does not."""
        self.n = 0
        for pgno in range(pgno, pgno + min(nr, 32)):
            if self.find(pgno, "frame"):
                continue
            h = self.find(pgno, "named")
            if not self.free or sum(page.frame for page in self.page) == self.frames or \
                    not (h or self.unused):
                break
            h = h or self.take(pgno)
            self.page[h].frame = self.page[h].hidden = self.page[h].kept = True
            self.free -= 1
            self.n += 1
        self.condition = self.n > 0

    def resident(self, name):
        self.condition = self.page[self.var[name]].live

    def same(self, name, other):
        self.condition = self.var[name] == self.var[other]

    def length(self, queue):
        self.n = len(self.queue[self.name_of(queue)])

    def pageat(self, name, n):
        self.answer(name, n + 1 if self.page[n + 1].live else 0)

    def modify(self, name):
        self.page[self.operand(name, "a", "live")].modified = True
        self.condition = True

    # The text form of each command, and what it does.
    COMMANDS = {
        "findpa {0}, a{1}": lambda m, v, pgno: m.answer(v, m.find(pgno, "named")),
        "findpa {0}, FaultedAddress": lambda m, v: m.answer(v, m.find(m.faulted, "named")),
        "enqueue {0}, {1}, {2}": enqueue,
        "release {0}": lambda m, v: m.evict(v, False),
        "dequeue {0}, {1}, {2}": dequeue,
        "peek {0}, {1}, {2}": lambda m, v, q, end: m.answer(v, m.end_of(q, end)),
        "next {0}, {1}, {2}": next,
        "put {0}, {1}, k{2}": put,
        "get n, {0}, {1}": get,
        "inq {0}, {1}": inq,
        "prefetch a{0}, i{1}, n": prefetch,
        "resident {0}": resident,
        "copy {0}, {1}": lambda m, v, w: m.var.update({v: m.var[w]}),
        "same {0}, {1}": same,
        "length n, {0}": length,
        "select r, o, i{0}": lambda m, i: setattr(m, "ref", ARRAY[i]),
        "pageat {0}, i{1}": pageat,
        "set {0}, modified, set": modify,
    }

    def run(self, event, code):
        """One event, up to its end or its mistake."""
        self.condition = False
        for number, (text, *args) in enumerate(code, 1):
            self.commands += 1
            try:
                self.COMMANDS[text](self, *args)
            except Exit as mistake:
                kind, operand = mistake.args
                self.exit = f"exit {kind} {event}+{number} operand {operand}"
                break
        else:
            self.commands += 1
        self.forget_gone()

    def at(self, page):
        bits = [word for word, on in [("mod", page.modified), ("pinned", page.pinned),
                                      ("hidden", page.hidden), ("ghost", page.ghost)] if on]
        return " ".join(["at", str(page.pgno), page.queue or "none", *bits])

    def outcome(self):
        """What hpt -v prints, in its order."""
        def linked(name):
            return "".join(f" {self.page[h].pgno}" for h in self.queue[name])

        lines = [f"result {self.exit or 'ok'}", f"condition {int(self.condition)}",
                 f"commands {self.commands}", f"free {self.free}"]
        lines += [f"queue {name}{linked(name)}" for name in QUEUES]
        lines += [f"fallback{linked('fallback')}", f"int n {self.n}"]
        for name, h in self.var.items():
            page = self.page[h]
            lines.append(f"page {name} {(page.pgno if page.named else 'stale') if h else 'none'}")
        for page in filter(lambda page: page.used, self.page):
            lines.append(self.at(page))
            lines += [f"field {name} {page.pgno} {page.field[name]}" for name in FIELDS]
        lines += [f"given {pgno} {'kept' if keep else 'released'}{' dirty' if dirty else ''}"
                  for pgno, keep, dirty in self.given[:len(self.page)]]     # the host keeps no more
        return lines


class Case:
    """A random case: its .hpt text, and its model behind it."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.frames, ghosts = self.random.choice([(6, 50), (3, 67), (4, 25), (8, 100), (5, 0)])
        self.model = Model(self.frames, ghosts)
        pages = [self.page(pgno) for pgno in
                 self.random.sample(PAGES, self.random.randint(1, self.frames))]
        events, runs = [], []
        for number in range(self.random.randint(2, 8)):
            runs += self.steps()
            code = self.code()
            if not self.model.exit:
                self.model.run(f"e{number}", code)
            runs.append(f"e{number}")
            events.append(f"-- code e{number}")
            events += ["\t" + text.format(*args) for text, *args in code] + ["\treturn"]
        self.text = "\n".join([
            "# A random life of pages.", "-- operands", "key field", "x field", "a queue",
            "b queue by key", "c queue", "o queues 2 by key", "r queueref o",
            *[f"{name} page" for name in VARIABLES], "n int",
            *[f"a{pgno} const int {pgno << 12}" for pgno in PAGES],
            *[f"k{key} const int {key}" for key in KEYS],
            *[f"i{i} const int {i}" for i in range(len(self.model.page) - 1)],
            "-- pages", *pages, f"-- set\ntable {self.frames}\nghosts {ghosts}", *events,
            "-- run " + " ".join(runs), "-- result ok\n"])

    def page(self, pgno):
        queue = self.random.choice([*QUEUES, "fallback"])
        h = self.model.take(pgno)
        page = self.model.page[h]
        page.modified = self.random.random() < 0.2
        page.pinned = self.random.random() < 0.1
        page.live = page.frame = True
        self.model.link(queue, h, "tail")
        return f"{pgno} {queue}{' mod' * page.modified}{' pinned' * page.pinned}"

    def steps(self):
        done = []
        for _ in range(self.random.randrange(4)):
            step = self.random.choice(["fault"] * 5 + ["lose", "forget", "clean", "clean"])
            pgno = self.random.choice(PAGES)
            if not self.model.exit and self.model.STEPS[step](self.model, pgno):
                done.append(step if step == "clean" else f"{step} {pgno}")
        return done

    def command(self):
        """One or a few commands that belong together."""
        choice = self.random.choice
        v, w, end = choice(VARIABLES), choice(VARIABLES), choice(["head", "tail"])
        queue, pgno, key = choice(["a", "b", "c", "r"]), choice(PAGES), choice(KEYS)
        find = choice([("findpa {0}, a{1}", v, pgno), ("findpa {0}, FaultedAddress", v),
                       ("peek {0}, {1}, {2}", v, queue, end),
                       ("dequeue {0}, {1}, {2}", v, queue, end),
                       ("pageat {0}, i{1}", v, choice(range(len(self.model.page) - 1)))])
        go = choice([("enqueue {0}, {1}, {2}", v, "_free_queue", end), ("release {0}", v)])
        enqueue = ("enqueue {0}, {1}, {2}", v, choice(["a", "b", "c", "r"]), end)
        put = ("put {0}, {1}, k{2}", v, choice(FIELDS), key)
        order = ("put {0}, {1}, k{2}", v, "key", key)
        return choice([
            [find], [enqueue], [order, enqueue], [order, enqueue], [find, order, enqueue],
            [find, go], *[[find, go, enqueue]] * 4, *[[find, go, order, enqueue]] * 3, [find, put],
            [("next {0}, {1}, {2}", v, w, end)], [("get n, {0}, {1}", v, choice(FIELDS))],
            [("inq {0}, {1}", v, queue)], [("resident {0}", v)], [("copy {0}, {1}", v, w)],
            [("same {0}, {1}", v, w)], [("length n, {0}", queue)],
            *[[("prefetch a{0}, i{1}, n", pgno, choice(range(len(self.model.page) - 1)))]] * 2,
            [("select r, o, i{0}", choice([0, 1]))], [("set {0}, modified, set", v)]])

    def code(self):
        """An event. Mistakes are rare: a command that would be one is kept seldom."""
        code = []
        if self.model.exit:
            return code
        for _ in range(self.random.randint(1, 12)):
            for command in self.command():
                trial = copy.deepcopy(self.model)
                trial.run("", [*code, command])
                if trial.exit and self.random.random() < 0.99:
                    break
                code.append(command)
                if trial.exit:
                    return code
        return code


def different(first, last, where):
    """Run cases; the seeds whose outcome is not the model's, with the first difference."""
    cases = {}
    for seed in range(first, last):
        cases[seed] = Case(seed)
        (where / f"{seed}.hpt").write_text(cases[seed].text)
    run = subprocess.run([HPT, "-v", *[where / f"{seed}.hpt" for seed in cases]],
                         capture_output=True, text=True, check=False)
    assert not run.stderr, run.stderr
    bad, lines, seeds = [], [], iter(cases)
    known = ("#", "int a", "int k", "int i", "int _")
    for line in run.stdout.splitlines():
        if not line.startswith(("ok ", "not ok ")):
            lines += [] if line.startswith(known) else [line]
            continue
        seed = next(seeds)
        wanted = cases[seed].model.outcome()
        if wanted != lines:
            bad.append((seed, set(wanted) ^ set(lines) or "order", line))
        lines = []
    assert next(seeds, None) is None
    return bad


@pytest.mark.more
@pytest.mark.parametrize("first", range(0, 400, 200))
def test_random_lives_of_pages_end_as_the_model_says(first, tmp_path):
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/hpt"], check=True)
    assert different(first, first + 200, tmp_path) == []


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        print(different(int(sys.argv[1]), int(sys.argv[2]), pathlib.Path(place)))
