# SPDX-License-Identifier: GPL-2.0-only
"""ampc against an evaluator of its own language in Python: random programs must
compute what C would."""

import pathlib
import random
import re
import subprocess

from test_compiler import HPT, assembled, run


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
    "<": lambda a, b: int(a < b), ">": lambda a, b: int(a > b), "<=": lambda a, b: int(a <= b),
    ">=": lambda a, b: int(a >= b), "==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b),
}
LEVEL = {"*": 10, "/": 10, "%": 10, "+": 9, "-": 9, "<": 8, ">": 8, "<=": 8, ">=": 8, "==": 7,
         "!=": 7, "&&": 6, "||": 5, "?": 4}
CONSTANTS = [0, 1, 2, 3, 7, -1, 100, 2**40, 2**63 - 1]
VARIABLES = "abcdef"


class Program:
    """A random program: its text, and a Python function for each statement. An
    expression is (text, precedence, value, constant); C leaves the order open in
    which operands are evaluated, so only whole statements have side effects."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.loops = 0
        self.steps = 0
        self.vars = {name: self.random.choice(CONSTANTS) for name in VARIABLES}
        self.init = dict(self.vars)
        body = self.block(3)
        loops = "".join(f", i{n}" for n in range(self.loops))
        self.vars.update((f"i{n}", 0) for n in range(self.loops))
        declared = ", ".join(f"{name} = {value}" for name, value in self.init.items())
        self.text = (f"Event Init()\n{{\nInt {declared}{loops};\n}}\n"
                     f"Event PageFault()\n{{\n{body[0]}}}\nEvent Replace() {{ }}\n")
        self.body = body[1]

    def expr(self, depth):
        kind = self.random.random()
        if depth == 0 or kind < 0.15:
            if self.random.random() < 0.3:
                value = self.random.choice(CONSTANTS)
                return (str(value), 11 if value < 0 else 12, lambda: value, True)
            name = self.random.choice(VARIABLES)
            return (name, 12, lambda: self.vars[name], False)
        if kind < 0.25:
            op = self.random.choice("-!")
            text, level, value, constant = self.expr(depth - 1)
            if constant:
                return self.expr(depth)
            text = f"{op} {text}" if level >= 11 else f"{op}({text})"
            return (text, 11, lambda: wrap(-value()) if op == "-" else int(not value()), False)
        if kind < 0.32:
            return self.choice(depth)
        op = self.random.choice([*BINARY, "&&", "||"])
        left, right = self.expr(depth - 1), self.expr(depth - 1)
        if left[3] and right[3]:
            return self.expr(depth)
        if op in "/%":
            right = self.divisor()
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
            ("7", 12, lambda: 7, True), ("-100", 11, lambda: -100, True),
            (f"{name} ? {name} : 3", 4, lambda: self.vars[name] or 3, False)])

    def choice(self, depth):
        test, yes, no = (self.expr(depth - 1) for _ in range(3))
        if test[3]:
            return self.expr(depth)
        text = f"{test[0] if test[1] > 4 else f'({test[0]})'} ? ({yes[0]}) : ({no[0]})"
        return (text, 4, lambda: yes[2]() if test[2]() else no[2](), False)

    def assignment(self):
        name, other = self.random.sample(VARIABLES, 2)
        text, _, value, _ = self.expr(self.random.randrange(4))
        kind = self.random.randrange(6)

        def store(target, new):
            self.vars[target] = new

        if kind == 0:
            op = self.random.choice(["++", "--"])
            one = 1 if op == "++" else -1
            text = self.random.choice([f"{name}{op}", f"{op}{name}"])
            return text, lambda: store(name, wrap(self.vars[name] + one))
        if kind == 1:
            op = self.random.choice("+-*/%")
            if op in "/%":
                text, _, value, _ = self.divisor()
            return (f"{name} {op}= {text}",
                    lambda: store(name, BINARY[op](self.vars[name], value())))
        if kind == 2:
            pre = self.random.choice([True, False])

            def both():
                old = self.vars[other]
                store(other, wrap(old + 1))
                store(name, self.vars[other] if pre else old)
            return (f"{name} = ++{other}" if pre else f"{name} = {other}++"), both
        if kind == 3:
            def chain():
                store(other, value())
                store(name, self.vars[other])
            return f"{name} = {other} = {text}", chain
        return f"{name} = {text}", lambda: store(name, value())

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


def test_random_programs_compute_what_c_would(tmp_path):
    cases = {}
    for seed in range(50):
        program = Program(seed)
        try:
            program.body()
        except Undefined:
            continue
        result = run("-S", "-", source=program.text)
        if "does not fit" in result.stderr:
            continue
        assert result.returncode == 0, program.text + result.stderr
        case = tmp_path / f"{seed}.hpt"
        case.write_text(assembled(result.stdout, program.vars))
        cases[case] = program.text
    assert len(cases) > 40
    result = subprocess.run([HPT, *cases], capture_output=True, text=True, check=False)
    wrong = re.search(r"^(\S+\.hpt).*", result.stdout + result.stderr, re.M)
    assert result.returncode == 0, result.stdout + result.stderr + (
        cases.get(pathlib.Path(wrong[1].split(":")[0]), "") if wrong else "")
