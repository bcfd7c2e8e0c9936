# SPDX-License-Identifier: GPL-2.0-only
"""ampc against an evaluator of its own language in Python: random programs must
compute what C would."""

import pathlib
import random
import re
import subprocess

import pytest

from test_compiler import HPT, assembled, run

pytestmark = [pytest.mark.user, pytest.mark.usefixtures("quick_start")]


class Undefined(Exception):
    """The program divides by zero or does not end: nothing to compare."""


def wrap(n):
    return (n + 2**63) % 2**64 - 2**63


def divide(a, b, remainder=False):
    if b == 0 or (a == -2**63 and b == -1):
        raise Undefined
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return a - b * quotient if remainder else quotient


BINARY = {
    "+": lambda a, b: wrap(a + b), "-": lambda a, b: wrap(a - b), "*": lambda a, b: wrap(a * b),
    "/": divide, "%": lambda a, b: divide(a, b, True),
    "&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b,
    "<<": lambda a, b: wrap(a << (b & 63)), ">>": lambda a, b: a >> (b & 63),
    "<": lambda a, b: int(a < b), ">": lambda a, b: int(a > b), "<=": lambda a, b: int(a <= b),
    ">=": lambda a, b: int(a >= b), "==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b),
}
LEVELS = ["?", "||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %"]
LEVEL = {op: level for level, ops in enumerate(LEVELS) for op in ops.split()}
UNARY, PRIMARY = len(LEVELS), len(LEVELS) + 1
CONSTANTS = [0, 1, 2, 3, 7, -1, 100, 2**40, 2**63 - 1]
VARIABLES = "abcdef"
ARRAYS = {"few": 4, "many": 16}
FIELDS = ("age", "uses")
PAGES = {"page": 1, "other": 2}     # and the number of what it names at first
QUEUES = 4


class Program:
    """A random program: its text, and a Python function for each statement. An
    expression is (text, precedence, value, constant), a place (text, get, set);
    C leaves the order open in which operands are evaluated, so only whole
    statements have side effects."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.loops = 0
        self.steps = 0
        self.vars = {name: self.random.choice(CONSTANTS) for name in VARIABLES}
        self.init = dict(self.vars)
        self.arrays = {name: [0] * length for name, length in ARRAYS.items()}
        self.pages = dict(PAGES)
        self.queues = [[] for _ in range(QUEUES)]
        self.fields = {(page, name): 0 for page in PAGES.values() for name in FIELDS}
        body = self.block(3)
        loops = "".join(f", i{n}" for n in range(self.loops))
        self.vars.update((f"i{n}", 0) for n in range(self.loops))
        declared = ", ".join(f"{name} = {value}" for name, value in self.init.items())
        arrays = ", ".join(f"{name}[{length}]" for name, length in ARRAYS.items())
        self.text = (f"Event Init()\n{{\nInt {declared}{loops}, {arrays};\n"
                     f"Page {', '.join(PAGES)};\nField {', '.join(FIELDS)};\n"
                     f"Queue q, queues[{QUEUES}];\n}}\n"
                     "Event PageFault()\n{\npage = Peek(q, HEAD);\nother = Peek(q, TAIL);\n"
                     f"{body[0]}}}\nEvent Replace() {{ }}\n")
        self.body = body[1]

    def index(self, depth, last):
        """An index that is inside."""
        if self.random.random() < 0.4:
            at = self.random.randint(0, last)
            return str(at), lambda: at
        inner, level, value, _ = self.expr(depth)
        return (f"{inner if level > LEVEL['&'] else f'({inner})'} & {last}",
                lambda: value() & last)

    def queue_test(self):
        """What a command says about a queue of an array."""
        page, (at, index) = self.random.choice([*PAGES]), self.index(0, QUEUES - 1)
        text, value = self.random.choice([
            (f"Length(queues[{at}])", lambda: len(self.queues[index()])),
            (f"EmptyQ(queues[{at}])", lambda: int(not self.queues[index()])),
            (f"InQ({page}, queues[{at}])", lambda: int(self.pages[page] in self.queues[index()])),
            (f"(Peek(queues[{at}], HEAD) == {page})",
             lambda: int(self.queues[index()][:1] == [self.pages[page]]))])
        return text, PRIMARY, value, False

    def queue_statement(self):
        """A page moves to a queue of an array, and perhaps on to another."""
        def move(page, index, end):
            to = index()
            for queue in self.queues:
                if self.pages[page] in queue:
                    queue.remove(self.pages[page])
            self.queues[to].insert(0 if end == "HEAD" else len(self.queues[to]), self.pages[page])

        moves = []
        for _ in range(self.random.randint(1, 3)):
            at = moves[-1][2] if moves and self.random.random() < 0.5 else self.index(1, QUEUES - 1)
            moves.append((self.random.choice([*PAGES]), self.random.choice(["HEAD", "TAIL"]), at))
        text = "; ".join(f"EnQueue({page}, queues[{at[0]}], {end})" for page, end, at in moves)

        def execute():
            for page, end, at in moves:
                move(page, at[1], end)
        return text, execute

    def element(self, depth):
        """A place in an array."""
        name = self.random.choice([*ARRAYS])
        values = self.arrays[name]
        text, index = self.index(depth, ARRAYS[name] - 1)

        def store(new):
            values[index()] = new
        return f"{name}[{text}]", lambda: values[index()], store

    def field(self):
        page, name = self.random.choice([*PAGES]), self.random.choice(FIELDS)

        def store(new):
            self.fields[self.pages[page], name] = new
        return f"{page}.{name}", lambda: self.fields[self.pages[page], name], store

    def variable(self, name):
        def store(new):
            self.vars[name] = new
        return name, lambda: self.vars[name], store

    def place(self, name):
        kind = self.random.random()
        if kind < 0.2:
            return self.element(1)
        return self.field() if kind < 0.4 else self.variable(name)

    def page_test(self):
        one, two = (self.random.choice([*PAGES, "NONE"]) for _ in range(2))
        get = lambda name: self.pages.get(name, 0)
        return self.random.choice([
            (f"{one} == {two}", LEVEL["=="], lambda: int(get(one) == get(two)), False),
            (f"{one} != {two}", LEVEL["!="], lambda: int(get(one) != get(two)), False),
            (f"!{one}", UNARY, lambda: int(not get(one)), False)])

    def page_statement(self):
        name, other = self.random.choice([*PAGES]), self.random.choice([*PAGES])
        test, value = self.condition()
        mine = self.random.random() < 0.5

        def execute():
            if mine or value():
                self.pages[name] = self.pages[other]
        return (f"{name} = {other}" if mine else f"{name} = ({test}) ? {other} : {name}"), execute

    def expr(self, depth):
        kind = self.random.random()
        if depth == 0 or kind < 0.15:
            if self.random.random() < 0.3:
                value = self.random.choice(CONSTANTS)
                return (str(value), UNARY if value < 0 else PRIMARY, lambda: value, True)
            text, get, _ = self.place(self.random.choice(VARIABLES))
            return (text, PRIMARY, get, False)
        if kind < 0.25:
            op = self.random.choice("-!~")
            text, level, value, constant = self.expr(depth - 1)
            if constant:
                return self.expr(depth)
            text = f"{op} {text}" if level >= UNARY else f"{op}({text})"
            return (text, UNARY, {"-": lambda: wrap(-value()), "!": lambda: int(not value()),
                                  "~": lambda: ~value()}[op], False)
        if kind < 0.32:
            return self.choice(depth)
        if kind < 0.37:
            return self.page_test()
        if kind < 0.42:
            return self.queue_test()
        op = self.random.choice([*BINARY, "&&", "||"])
        left, right = self.expr(depth - 1), self.expr(depth - 1)
        if left[3] and right[3]:
            return self.expr(depth)
        if op in "/%":
            right = self.divisor()
        elif op in ("<<", ">>") and right[3]:
            right = self.distance()
        level = LEVEL[op]
        text = (f"{left[0] if left[1] >= level else f'({left[0]})'} {op} "
                f"{right[0] if right[1] > level else f'({right[0]})'}")
        a, b = left[2], right[2]
        if op == "&&":
            return (text, level, lambda: int(bool(a()) and bool(b())), False)
        if op == "||":
            return (text, level, lambda: int(bool(a()) or bool(b())), False)
        return (text, level, lambda: BINARY[op](a(), b()), False)

    def divisor(self):
        """Not 0, and seldom -1."""
        name = self.random.choice(VARIABLES)
        return self.random.choice([
            ("7", PRIMARY, lambda: 7, True), ("-100", UNARY, lambda: -100, True),
            (f"{name} ? {name} : 3", LEVEL["?"], lambda: self.vars[name] or 3, False)])

    def distance(self):
        bits = self.random.choice([0, 1, 5, 31, 63])
        return (str(bits), PRIMARY, lambda: bits, True)

    def choice(self, depth):
        test, yes, no = (self.expr(depth - 1) for _ in range(3))
        if test[3]:
            return self.expr(depth)
        text = f"{test[0] if test[1] > LEVEL['?'] else f'({test[0]})'} ? ({yes[0]}) : ({no[0]})"
        return (text, LEVEL["?"], lambda: yes[2]() if test[2]() else no[2](), False)

    def assignment(self):
        name, other = self.random.sample(VARIABLES, 2)
        text, _, value, constant = self.expr(self.random.randrange(4))
        kind = self.random.randrange(9)
        target, get, store = self.place(name)
        second, get_second, store_second = self.place(other)

        if kind == 0:
            op = self.random.choice(["++", "--"])
            one = 1 if op == "++" else -1
            text = self.random.choice([f"{target}{op}", f"{op}{target}"])
            return text, lambda: store(wrap(get() + one))
        if kind == 1:
            op = self.random.choice(["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"])
            if op in "/%":
                text, _, value, _ = self.divisor()
            elif op in ("<<", ">>") and constant:
                text, _, value, _ = self.distance()
            return f"{target} {op}= {text}", lambda: store(BINARY[op](get(), value()))
        if kind == 2:
            pre = self.random.choice([True, False])

            def both():
                old = get_second()
                store_second(wrap(old + 1))
                self.vars[name] = wrap(old + 1) if pre else old
            return (f"{name} = ++{second}" if pre else f"{name} = {second}++"), both
        if kind == 3:
            def chain():
                new = value()
                store_second(new)
                self.vars[name] = new
            return f"{name} = {second} = {text}", chain
        if kind == 4:
            return self.page_statement()
        if kind < 7:
            return self.queue_statement()
        return f"{target} = {text}", lambda: store(value())

    def block(self, depth, in_loop=False):
        parts = [self.statement(depth, in_loop) for _ in range(self.random.randint(1, 5))]

        def execute():
            for _, part in parts:
                if left := part():
                    return left
            return None
        return "".join(text + "\n" for text, _ in parts), execute

    def condition(self):
        while True:
            text, _, value, constant = self.expr(3)
            if not constant:
                return text, value

    def statement(self, depth, in_loop):
        kind = self.random.random()
        if depth == 0 or kind < 0.5:
            text, execute = self.assignment()
            return text + ";", execute
        if in_loop and kind < 0.6:
            word = self.random.choice(["break", "continue"])
            text, value = self.condition()
            return f"if ({text}) {word};", lambda: word if value() else None
        if kind < 0.8:
            text, value = self.condition()
            yes, no = self.block(depth - 1, in_loop), self.block(depth - 1, in_loop)
            return (f"if ({text}) {{\n{yes[0]}}} else {{\n{no[0]}}}",
                    lambda: yes[1]() if value() else no[1]())
        return self.loop(depth)

    def loop(self, depth):
        name, count = f"i{self.loops}", self.random.randint(0, 4)
        self.loops += 1
        text, value = self.condition()
        body = self.block(depth - 1, True)
        kind = self.random.choice(["for", "while", "do"])

        def execute():
            self.vars[name] = 0
            first = True
            while True:
                self.steps += 1
                if self.steps > 2000:
                    raise Undefined
                if kind != "do" or not first:
                    if kind == "for" and not first:
                        self.vars[name] += 1
                    if kind == "for" and not (self.vars[name] < count and value()):
                        return
                    if kind != "for":
                        self.vars[name] += 1
                        if not (self.vars[name] <= count and value()):
                            return
                first = False
                if body[1]() == "break":
                    return
        if kind == "for":
            head = f"for ({name} = 0; {name} < {count} && ({text}); {name}++) {{\n{body[0]}}}"
        elif kind == "while":
            head = f"{name} = 0;\nwhile (++{name} <= {count} && ({text})) {{\n{body[0]}}}"
        else:
            head = f"{name} = 0;\ndo {{\n{body[0]}}} while (++{name} <= {count} && ({text}));"
        return f"{{ {head} }}", execute


def case_of(program, text):
    """A .hpt file of a listing: it has to end as the program in Python did."""
    more = ["-- fields"]
    more += [f"{name} {page} {value}" for (page, name), value in program.fields.items()]
    more.append("-- queues")
    more += [f"queues[{i}] {' '.join(map(str, queue))}"
             for i, queue in enumerate(program.queues)]
    return assembled(text, program.vars, program.arrays, more, ["1 q", "2 q"])


def is_refused(stderr):
    """Whether a constant is to blame that only the compiler's eye has seen."""
    return "does not fit" in stderr or "error: a shift by" in stderr


def test_random_programs_compute_what_c_would(tmp_path):
    cases = {}
    for seed in range(50):
        program = Program(seed)
        try:
            program.body()
        except Undefined:
            continue
        result = run("-S", "-", source=program.text)
        if is_refused(result.stderr):
            continue
        assert result.returncode == 0, program.text + result.stderr
        case = tmp_path / f"{seed}.hpt"
        case.write_text(case_of(program, result.stdout))
        cases[case] = program.text
    assert len(cases) > 35
    result = subprocess.run([HPT, *cases], capture_output=True, text=True, check=False)
    wrong = re.search(r"^(\S+\.hpt).*", result.stdout + result.stderr, re.M)
    assert result.returncode == 0, result.stdout + result.stderr + (
        cases.get(pathlib.Path(wrong[1].split(":")[0]), "") if wrong else "")


def parts(rng, total, most):
    """@total as a sum of a few numbers from 1 to @most."""
    while total > 0:
        part = min(total, rng.choice([1, 2, rng.randint(1, total), total]), most)
        yield part
        total -= part


def declarations(seed):
    """Random declarations near the limits of the image: (source, limits exceeded)."""
    rng = random.Random(seed)
    near = lambda limit: limit + rng.choice([-3, -1, 0, 0, 0, 1, 2])
    elements, queues, fields = near(2**20), near(4093), near(8)
    ghosts, timer, slots = near(1000), near(10), near(238)
    lines = [f"{rng.choice(['', 'shared '])}Int a{i}[{n}];"
             for i, n in enumerate(parts(rng, elements, 2**20))]
    lines += [f"Queue q{i}{'' if n == 1 and rng.random() < 0.5 else f'[{n}]'}"
              f"{rng.choice(['', ' by f0'])};" for i, n in enumerate(parts(rng, queues, 4093))]
    lines += [f"Field f{i};" for i in range(fields)]
    lines += [f"{rng.choice(['', 'counter ', 'param '])}Int v{i} = {i};"
              for i in range(slots - len(lines))]
    slots = len(lines)
    lines += [f"Ghosts {ghosts};", f"Timer {timer};"]
    rng.shuffle(lines)
    exceeded = {name for name, is_over in {
        "HIPEC_MAX_ELEMENTS": elements > 2**20, "HIPEC_MAX_QUEUES": queues > 4093,
        "HIPEC_MAX_FIELDS": fields > 8, "HIPEC_MAX_GHOSTS": ghosts > 1000,
        "HIPEC_MIN_TIMER": timer < 10, "238 variables": slots > 238}.items() if is_over}
    return ("Event Init()\n{\n" + "\n".join(lines) + "\n}\nEvent PageFault() { }\n"
            "Event Replace() { }\nEvent Timer() { }\n"), exceeded


def test_random_declarations_are_taken_up_to_the_limits():
    """What ampc takes the verifier takes, which it asks itself; what is too much is
    refused with the name of its limit."""
    taken = 0
    for seed in range(40):
        source, exceeded = declarations(seed)
        result = run("-S", "-", source=source)
        said = {name for name in ("HIPEC_MAX_ELEMENTS", "HIPEC_MAX_QUEUES", "HIPEC_MAX_FIELDS",
                                  "HIPEC_MAX_GHOSTS", "HIPEC_MIN_TIMER", "238 variables")
                if name in result.stderr}
        assert said == exceeded, source + result.stderr
        assert result.returncode == (1 if exceeded else 0), source + result.stderr
        taken += not exceeded
    assert 5 < taken < 35


def levels(program, tmp_path, name):
    """The .hpt files of a program compiled at both levels."""
    cases = []
    for level in ("-O0", "-O1"):
        result = run(level, "-S", "-", source=program.text)
        assert result.returncode == 0, program.text + result.stderr
        case = tmp_path / f"{name}{level}.hpt"
        case.write_text(case_of(program, result.stdout))
        cases.append(case)
    return cases


def test_random_programs_compute_the_same_at_both_levels(tmp_path):
    """Against what Python says, so that they are not wrong alike."""
    cases = []
    for seed in range(1000, 1025):
        program = Program(seed)
        try:
            program.body()
        except Undefined:
            continue
        if is_refused(run("-O0", "-S", "-", source=program.text).stderr):
            continue
        cases += levels(program, tmp_path, seed)
    assert len(cases) > 30
    result = subprocess.run([HPT, *cases], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


PLAIN_QUEUES = ["q0", "q1", "q2"]
PLAIN_PAGES = ["p0", "p1"]


class Policy:
    """A random policy that always has an answer for no page: its decisions are the
    order of its queues and its integers, after each of a few events."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        body = {event: self.block(3) for event in ("PageFault", "Replace", "Step")}
        self.text = (
            "Event Init()\n{\nQueue q0, q1, q2;\nPage p0, p1;\nInt a, b, c = 3, i;\n}\n"
            f"Event PageFault()\n{{\nif (p0 = FindPA(FaultedAddress)) EnQueue(p0, q0, TAIL);\n"
            f"{body['PageFault']}}}\nEvent Replace()\n{{\n{body['Replace']}"
            "if ((p0 = DeQueue(q0, HEAD)) || (p0 = DeQueue(q1, HEAD)) || (p0 = DeQueue(q2, TAIL)))\n"
            f"EnQueue(p0, _free_queue, TAIL);\n}}\nEvent Step()\n{{\n{body['Step']}}}\n")
        self.text = self.text.replace("Event Replace()\n{\n", "Event Replace()\n{\nStep();\n")

    def value(self):
        return self.random.choice([
            "0", "1", "5", "a", "b", "c", "a + 1", "b - c", "a * 2", "c + 0", "b * 1", "-a",
            "Length(q0)", "Length(q1) - Length(q2)", "!a", "a < b", "ResidentCount"])

    def test(self):
        queue, other = self.random.sample(PLAIN_QUEUES, 2)
        page = self.random.choice(PLAIN_PAGES)
        return self.random.choice([
            f"a < {self.value()}", f"b == {self.value()}", f"EmptyQ({queue})", "0", "c",
            f"{page} = DeQueue({queue}, {self.end()})", f"{page} = Peek({queue}, {self.end()})",
            f"InQ({page}, {queue}) && !EmptyQ({other})", f"Length({queue}) > 2 || a",
            f"Resident({page}) && Ref({page})", "Same(p0, p1)"])

    def end(self):
        return self.random.choice(["HEAD", "TAIL"])

    def statement(self, depth):
        kind = self.random.randrange(10 if depth else 7)
        page, queue = self.random.choice(PLAIN_PAGES), self.random.choice(PLAIN_QUEUES)
        if kind < 3:
            return f"{self.random.choice('abc')} {self.random.choice(['=', '=', '+=', '-='])} {self.value()};"
        if kind == 3:
            return f"if (Resident({page})) EnQueue({page}, {queue}, {self.end()});"
        if kind == 4:
            return f"{page} = Peek({queue}, {self.end()});"
        if kind == 5:
            return f"Length({queue});"
        if kind == 6:
            return f"if (Resident({page})) Set({page}, REFERENCE, {self.random.choice(['SET', 'RESET'])});"
        if kind == 7:
            return f"for (i = 0; i < {self.random.randrange(4)}; i++) {{\n{self.block(0)}}}"
        return f"if ({self.test()}) {{\n{self.block(depth - 1)}}} else {{\n{self.block(depth - 1)}}}"

    def block(self, depth):
        return "".join(self.statement(depth) + "\n" for _ in range(self.random.randint(2, 6)))


def decisions(policies, level, tmp_path):
    """What each policy did with the pages of some faults: (its case file, what hpt
    prints of it but for temporaries, constants and the number of commands)."""
    events = "".join(f"fault {page} {'Replace' if page % 4 == 3 else 'PageFault'} "
                     for page in range(1, 12))
    cases = []
    for seed, source in policies.items():
        result = run(level, "-S", "-", source=source)
        assert result.returncode == 0, source + result.stderr
        case = tmp_path / f"policy-{seed}{level}.hpt"
        case.write_text(assembled(result.stdout, {}, event=events).replace(
            "-- set\n", "-- set\nfree 4\ntable 16\n"))
        cases.append(case)
    done = subprocess.run([HPT, "-v", *cases], capture_output=True, text=True, check=False)
    return re.findall(r"^(?:result|free|queue|fallback|int [a-z]|page p|at|given).*", done.stdout, re.M)


def test_random_policies_decide_the_same_at_both_levels(tmp_path):
    policies = {seed: Policy(seed).text for seed in range(40)}
    plain, short = (decisions(policies, level, tmp_path) for level in ("-O0", "-O1"))
    assert plain.count("result ok") > 34
    assert sum(line.startswith("given") for line in plain) > 50
    assert short == plain
