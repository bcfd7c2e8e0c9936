# SPDX-License-Identifier: GPL-2.0-only
"""docs/policy/language.md, docs/policy/events.md and the other documents with source in them: each
example compiles, or gives the errors that stand in it, and what they list is what
the compiler and the module have.

A block ```c is a whole policy but for the events that it needs beside; ```c Init are
declarations, ```c PageFault statements with those of docs/policy/language.md, and ```c values
lines of `expression // value`. `// error: text` is what ampc says of the line, and
`// warning: text`."""

import itertools
import re
import subprocess

import pytest

from conftest import ROOT
from test_compiler import EMPTY, HPT, assembled, built, commands, operands, run  # noqa: F401

pytestmark = pytest.mark.usefixtures("quick_start")

LANGUAGE = (ROOT / "docs/policy/language.md").read_text()
PROSE = " ".join(LANGUAGE.split())
EVENTS = (ROOT / "docs/policy/events.md").read_text()
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.M | re.S)
# test_tutorial.py has the tutorial.
DOCUMENTS = ["README.md", *sorted(str(path.relative_to(ROOT))
                                  for path in (ROOT / "docs").rglob("*.md")
                                  if path.name != "tutorial.md")]
EXAMPLES = [(name, number, info, text) for name in DOCUMENTS for number, (info, text)
            in enumerate(BLOCK.findall((ROOT / name).read_text())) if info.split()[:1] == ["c"]]
DECLARED = next(text for name, _, info, text in EXAMPLES
                if name == "docs/policy/language.md" and info == "c Init")


def source(path):
    return (ROOT / path).read_text()


def constant(path, name):
    """The value of a #define or of a static variable."""
    match = re.search(rf"{name}(?: =)? \(?(\d+)u?(?: << (\d+)\))?", source(path))
    return int(match[1]) << int(match[2] or 0)


def table(text, head):
    """Rows of the table below that head, as lists of cells."""
    lines = text[text.index(f"| {head}"):].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            for line in lines]


def whole(info, text, name="docs/policy/language.md"):
    """A policy of an example; no line of it moves."""
    if info == "c Init":
        others = (DECLARED.replace("\n", " ")
                  if name == "docs/policy/language.md" and text != DECLARED else "")
        text = f"Event Init() {{ {others}{text}}}\n"
    elif info == "c PageFault":
        text = f"Event Init() {{ {DECLARED} }} Event PageFault() {{ ".replace("\n", " ") + text + "}\n"
    else:
        assert info == "c", f"there is no {info}"
    for event in ("PageFault", "Replace", *(["Timer"] if re.search(r"\bTimer \d", text) else [])):
        if f"Event {event}(" not in text:
            text += f"Event {event}() {{ }}\n"
    return text


def marked(text):
    """[(line, what is said)] of the marks in an example."""
    return [(number, mark) for number, line in enumerate(text.splitlines(), 1)
            for mark in re.findall(r"// ((?:error|warning): .*)", line)]


def test_blocks_are_of_a_known_kind():
    for name in DOCUMENTS:
        for info, _ in BLOCK.findall(source(name)):
            assert info in ("", "ebnf", "python", "c", "c Init", "c PageFault", "c values"), f"{name}: {info}"
    assert len(EXAMPLES) > 20


@pytest.mark.parametrize(("name", "number", "info", "text"),
                         [example for example in EXAMPLES if example[2] != "c values"],
                         ids=[f"{name}-{number}" for name, number, info, _ in EXAMPLES if info != "c values"])
def test_example_compiles_or_says_what_stands_there(name, number, info, text):
    elsewhere = ["-Wno-victim", "-Wno-empty-event", "-Wno-unqueued-page",
                 *(["-Wno-unset-page"] if info == "c PageFault" else [])]
    result = run("-S", *elsewhere, "-", source=whole(info, text, name))
    found = [(int(line), said) for line, said in re.findall(
        r"^<stdin>:(\d+):\d+: ((?:error|warning): .*?)(?: \[-W\S+\])?$", result.stderr, re.M)]
    assert found == marked(text), result.stderr
    assert result.returncode == any(said.startswith("error") for _, said in found)


@pytest.mark.parametrize("level", ["-O0", "-O1"])
def test_values_are_what_they_say(level, tmp_path):
    """On the VM, with the variables of the document."""
    lines = [line for _, _, info, text in EXAMPLES if info == "c values" for line in text.splitlines()]
    pairs = [re.fullmatch(r"(.*?) +// (-?\d+)", line).groups() for line in lines]
    assert len(pairs) > 15
    body = "".join(f"\tr{i} = {expr};\n\ta = 7; b = -2;\n" for i, (expr, _) in enumerate(pairs))
    text = (f"Event Init() {{ {DECLARED} Int " + ", ".join(f"r{i}" for i in range(len(pairs)))
            + f"; }}\nEvent PageFault() {{\n{body}}}\nEvent Replace() {{ }}\n")
    result = run(level, "-S", "-Wno-victim", "-Wno-parentheses", "-Wno-constant-overflow", "-",
                 source=text)
    assert result.stderr == ""
    case = tmp_path / "values.hpt"
    case.write_text(assembled(result.stdout, {f"r{i}": value for i, (_, value) in enumerate(pairs)}))
    done = subprocess.run([HPT, case], capture_output=True, text=True, check=False)
    assert done.stdout == "ok values\n", done.stdout + str(pairs)


# What it lists


def keywords():
    """The lexer's, lower case, and the words of types."""
    words = set(re.findall(r'^\t\{ "(\w+)", TOK_', source("compiler/lexer.l"), re.M))
    types = re.search(r"define AMPC_TYPE_WORDS\(X\)(.*)", source("compiler/ampc.h"))[1]
    return words | {word.lower() for word in re.findall(r"X\((\w+)\)", types)}


def test_keywords_are_the_lexers():
    words = {word.lower() for row in table(LANGUAGE, "keywords") for word in re.findall(r"`(\w+)`", row[1])}
    assert words == keywords() and len(words) > 20


def operators():
    """Rows of the table of precedence: the binary ones by level, all of them."""
    rows = [re.findall(r"`([^`]+)`", row[1]) for row in table(LANGUAGE, "precedence")]
    assert len(rows) == 14
    return rows[2:12], [op for row in rows for op in row]


def test_operators_are_the_compilers():
    have = set(re.findall(r'^\tX\(\w+, "([^"]+)", \w+, \w+\)', source("compiler/ampc.h"), re.M))
    _, listed = operators()
    listed = {{"list[i]": "[]", "page.age": "."}.get(op, re.sub(r"^a(?=[-+]{2})|(?<=.)a$", "", op))
              for op in listed} - {"Command(...)"}
    assert listed == have


def test_precedence_is_that_of_the_table():
    """`a op b op c` for each pair of operators makes the commands that it makes with the
    parentheses that the table says; so does an operator beside ?: and =."""
    levels, _ = operators()
    level = {op: number for number, ops in enumerate(levels) for op in ops}
    assert len(level) == 18
    plain, explicit = [], []
    for first, second in itertools.product(level, level):
        plain.append(f"n = a {first} b {second} c;")
        explicit.append(f"n = (a {first} b) {second} c;" if level[first] <= level[second] else
                        f"n = a {first} (b {second} c);")
    for op in level:
        plain.append(f"n = a {op} b ? b {op} c : c {op} a;")
        explicit.append(f"n = ((a {op} b) ? (b {op} c) : (c {op} a));")
        plain.append(f"n = -a {op} !b; n = a++ {op} ~c; n = a {op} list[i] {op} page.age;")
        explicit.append(f"n = (-a) {op} (!b); n = (a++) {op} (~c); n = (a {op} (list[i])) {op} (page.age);")
    plain.append("n = a ? b : c ? a : b; n = a = b += c; n = -a++; n = !-~a; a = b ? c = 1 : 2;")
    explicit.append("n = a ? b : (c ? a : b); n = (a = (b += c)); n = -(a++); n = !(-(~a)); a = (b ? (c = 1) : 2);")
    made = []
    for statements in (plain, explicit):
        text = whole("c PageFault", "\n".join(statements) + "\n")
        result = run("-O0", "-S", "-Wno-victim", "-Wno-constant-comparison", "-", source=text)
        assert result.returncode == 0, result.stderr
        made.append([text for text in commands(result.stdout)["PageFault"]])
    assert made[0] == made[1] and len(made[0]) > 1000


def test_system_variables_are_those_of_the_table():
    rows = [(row[0].strip("`"), row[1].strip("`")) for row in table(LANGUAGE, "slot | name")]
    assert rows == re.findall(r'X\(\w+, 0x(f\w), "(\w+)"', source("module/include/uapi/hipec_ops.h"))


def test_kinds_of_ends_are_those_of_a_policys_own():
    header = source("module/include/uapi/hipec.h")
    rows = [row[0].strip("`") for row in table(LANGUAGE, "kind | what the source did")]
    assert rows == [*re.findall(r"X\((\w+), +0x2\d,", header), "FUEL"]


def test_limits_are_those_of_the_sources():
    uapi, ops, ampc = "module/include/uapi/hipec.h", "module/include/uapi/hipec_ops.h", "compiler/ampc.h"
    slots = int(re.search(r"HIPEC_SLOT_SYSTEM (0x\w+)", source(ops))[1], 16)
    assert [int(row[1]) for row in table(LANGUAGE, "limit | | |")] == [
        constant(ampc, "AMPC_MAX_SOURCE"), constant(ampc, "AMPC_MAX_NAME"),
        constant(uapi, "HIPEC_NAME_MAX") - 1, slots, constant(uapi, "HIPEC_MAX_ELEMENTS"),
        constant(uapi, "HIPEC_MAX_QUEUES") - constant("module/vm/vm.h", "HIPEC_QUEUE_POLICY"),
        constant(uapi, "HIPEC_MAX_FIELDS"),
        constant(ops, "HIPEC_NR_EVENTS") - constant(ops, "HIPEC_EVENT_USER"),
        constant(uapi, "HIPEC_MAX_CALL_DEPTH"), constant(uapi, "HIPEC_MAX_WORDS"),
        constant(ampc, "AMPC_MAX_DEPTH")]
    assert f"{constant(uapi, 'HIPEC_MIN_TIMER')} to {2**32 - 1}, else " \
        f"{constant('compiler/declare.c', 'AMPC_TIMER_MS')}." in PROSE
    assert f"0 to {constant(uapi, 'HIPEC_MAX_GHOSTS')}, else 0." in PROSE


def test_grammar_has_the_tokens_of_the_parser():
    """Each token that parser.y declares or quotes stands in the grammar, and no other."""
    grammar = next(text for info, text in BLOCK.findall(LANGUAGE) if info == "ebnf")
    ours = {word.lower() for word in re.findall(r'"([^"]+)"', grammar)}
    parser = source("compiler/parser.y")
    declared = "".join(line for line in parser.splitlines() if line.startswith("%token"))
    theirs = {word.lower() for word in re.findall(r"\"'([^']+)'\"", declared)}
    theirs |= set(re.findall(r"'([^'\w\\])'", parser[parser.index("\n%%\n"):parser.rindex("\n%%\n")]))
    types = {"int", "queue", "page", "field"}
    assert ours == theirs | types and len(ours) > 60
    defined = set(re.findall(r"^(\w+) +=", grammar, re.M))
    used = set(re.findall(r"\b[a-z]+\b", re.sub(r'"[^"]*"', "", grammar)))
    assert used == defined


def test_every_command_has_an_example():
    """Under its own name, which the example makes; and each builtin is said as it is."""
    text = source("docs/policy/commands.md")
    words = dict(re.findall(r"^\| `(..)` \| \*\*(\w+)\*\*", text, re.M))
    sections = dict(re.findall(r"^### (\w+)\n\n((?:(?!^#).*\n)*)", text, re.M))
    assert set(sections) == set(words.values()) and len(words) > 30
    for code, word in words.items():
        (info, example), = BLOCK.findall(sections[word])
        made = commands(run("-O0", "-S", "-", source=whole(info, example)).stdout)["PageFault"]
        assert any(hexa.startswith(code) for hexa, _ in made), word
        usage = re.match(r"`(?:(\w+) = )?(\w+)\((.*)\)`\n", sections[word])
        if usage:
            assert usage[2] == word and f"{word}(" in example
            wrong = run("-S", "-", source=whole(info, f"{word}({'1, ' * 9}1);\n")).stderr
            assert f"note: use it as '{usage[0][1:-2]}'" in wrong


# Events


def host_events():
    """[(name, number, needed, when)] of the table of events."""
    rows = re.findall(r'X\(\w+, (\d+), "(\w+)", ([01]), "(.*?)"\)', source("module/include/uapi/hipec_ops.h"))
    return [(name, number, "yes" if need == "1" else "no", when) for number, name, need, when in rows]


def test_events_are_those_of_the_table():
    assert [row[:3] for row in table(EVENTS, "event | number")] == [[*row[:3]] for row in host_events()]
    sections = re.findall(r"^## (.*)\n\n((?:.+\n)+)", EVENTS, re.M)
    assert [name for name, _ in sections][:7] == [name for name, *_ in host_events()]
    for (_, text), (*_, when) in zip(sections, host_events()):
        said = " ".join(text.split())
        assert said.startswith(f"Runs {when}") and said[len(f"Runs {when}")] in ".:;,", when


@pytest.mark.parametrize("name", [name for name, *_ in host_events()])
def test_a_policy_without_the_event_is_refused_where_it_is_needed(name):
    needed = {row[0]: row[2] for row in table(EVENTS, "event | number")}[name]
    text = "\n".join(line for line in EMPTY.splitlines() if f" {name}(" not in line) + "\n"
    result = run("-S", "-Wno-victim", "-", source=text)
    assert result.returncode == (needed == "yes")
    assert (f"event '{name}' is missing" in result.stderr) == (needed == "yes")


def test_bounds_are_those_of_the_module():
    fuel = re.search(r"fuel = (\d+) \+ (\d+)ull \* nr_pages;", source("module/vm/machine.c"))
    rows = table(EVENTS, "bound | is |")
    most = constant("module/vm/vm.h", "HIPEC_MAX_FUEL")
    assert rows[0][1] == f"{fuel[1]} commands, and {fuel[2]} for each of `PageEntries`, {most} at most"
    assert [int(row[1].split()[0]) for row in rows[1:]] == [
        constant("module/vm/vm.h", "HIPEC_POLL"), constant("module/base/event.c", "static uint quantum_us"),
        constant("module/base/event.c", "static uint others_us"), constant("module/base/event.c", "HIPEC_OTHERS_POLL"),
        constant("module/core/core.h", "HIPEC_MAX_LATE"), constant("module/core/core.h", "HIPEC_MAX_HELPED"),
        constant("module/core/ops.h", "HIPEC_HARVEST"), constant("module/include/uapi/hipec.h", "HIPEC_MAX_CLUSTER"),
        constant("module/core/core.h", "HIPEC_ADOPT_FUEL")]
    assert f"{fuel[1]}, and {fuel[2]} for each of `PageEntries`, {most} at most" in PROSE


def test_the_words_that_stand_for_nothing_else():
    """A keyword is no name, but for those of types and settings, which are no label, and
    `in`."""
    names = {"int", "queue", "page", "field", "ghosts", "timer", "in"}
    assert names < keywords()
    for word in sorted(keywords()):
        named = run("-S", "-", source=f"Event Init() {{ Queue {word}; }}\n" + EMPTY)
        label = run("-S", "-", source=f"Event Init() {{ {word}: ; }}\n" + EMPTY)
        assert (named.returncode, label.returncode) == (int(word not in names),
                                                         int(word != "in")), word
    assert operands(run("-S", "-", source="Event Init() { Queue Timer; }\n" + EMPTY).stdout)["Timer"][:2] == (2, "queue")
