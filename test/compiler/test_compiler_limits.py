# SPDX-License-Identifier: GPL-2.0-only
"""Limits of ampc and of the image: what is right at one compiles, the verifier takes it
and the machine runs it; what is one beyond is refused by an error that names the limit
and what exceeds it."""

import subprocess

import pytest

from test_compiler import HPT, assembled, built, run, said  # noqa: F401

pytestmark = [pytest.mark.more, pytest.mark.usefixtures("quick_start")]

REPLACE = "Event Replace() { }\n"


def init(declarations, body=""):
    """A policy with these declarations and this PageFault."""
    return (f"Event Init()\n{{\n{declarations}}}\nEvent PageFault()\n{{\n{body}}}\n" + REPLACE)


def many(text, nr):
    """@text with the numbers from 0 to @nr - 1, or just as often."""
    return "".join(text.replace("#", str(i)) for i in range(nr))


def chain(nr):
    """Calls @nr deep."""
    return ("Event PageFault() { e0(); }\n" + REPLACE
            + "".join(f"Event e{i}() {{ e{i + 1}(); }}\n" for i in range(nr - 1))
            + f"Event e{nr - 1}() {{ }}\n")


def names(nr):
    """Each kind of name, @nr bytes long."""
    v, f, q, p, e, label = (letter * nr for letter in "vfqpeL")
    return (f"Event Init() {{ Int {v}; Field {f}; Queue {q} by {f}; Page {p}; }}\n"
            f"Event PageFault() {{ {label}: {e}(); if ({p} = Peek({q}, HEAD)) {{ {v} = {p}.{f}; "
            f"goto {label}; }} }}\n" + REPLACE + f"Event {e}() {{ }}\n")


# name: (what makes a source, the limit, what is said one beyond)
LIMITS = {
    "variables": (lambda n: init(many("Int v#;\n", n)), 238, "more than 238 variables"),
    "operands": (lambda n: init(many("Int v#;\n", 120), many("v# = 1#;\n", n)), 118,
                 "the policy needs more than 240 operands"),
    "temporaries": (lambda n: init(many("Int v#;\n", n), "v0 = -(v1 + v2) * (v3 - v4);\n"), 235,
                    "the policy needs more than 240 operands"),
    "commands": (lambda n: "Event Init() { Int v; }\n" + REPLACE
                 + "Event PageFault() {" + "v++;" * n + "}\n", 65532,
                 "the commands of event 'PageFault' and those before it take more than 65536 words"),
    "calls": (chain, 8, "this call is more than 8 calls deep"),
    "events": (lambda n: init("") + many("Event e#() { }\n", n), 48,
               "more than 48 events of the policy's own"),
    "names": (names, 63, "the name is longer than 63 bytes"),
    "one array": (lambda n: init(f"Int a[{n}];\n"), 2**20,
                  "'a' has a length of 1048577, it must be 1 to 1048576 (HIPEC_MAX_ELEMENTS)"),
    "elements": (lambda n: init(f"Int a[1000000], b[{n - 1000000}];\n"), 2**20,
                 "'b' makes it 1048577 elements of integer arrays, there may be 1048576"
                 " (HIPEC_MAX_ELEMENTS)"),
    "queues": (lambda n: init(f"Queue q, g[{n - 1}];\n"), 4093,
               "'g' makes it 4094 queues, there may be 4093 (HIPEC_MAX_QUEUES, less the machine's own)"),
    "one queue array": (lambda n: init(f"Queue g[{n}];\n"), 4093,
                        "'g' has a length of 4094, it must be 1 to 4093 (HIPEC_MAX_QUEUES, less"
                        " the machine's own)"),
    "fields": (lambda n: init(many("Field f#;\n", n)), 8,
               "'f8' makes it 9 page fields, there may be 8 (HIPEC_MAX_FIELDS)"),
    "ghosts": (lambda n: init(f"Ghosts {n};\n"), 1000,
               "1001 percent of ghosts, there may be 0 to 1000 (HIPEC_MAX_GHOSTS)"),
    "timer": (lambda n: init(f"Timer {n};\n") + "Event Timer() { }\n", 2**32 - 1,
              "a timer of 4294967296 ms, it must be 10 ms (HIPEC_MIN_TIMER) to 4294967295 ms"),
    "number": (lambda n: init("Int v;\n", f"v = {n};\n"), 2**63 - 1,
               "number '9223372036854775808' is larger than 9223372036854775807"),
    "constant": (lambda n: init("Int v;\n", f"v = {n - 5} + 5;\n"), 2**63 - 1,
                 "the constant does not fit in 64 bits"),
    "shift": (lambda n: init("Int v;\n", f"v <<= {n};\n"), 63, "a shift by 64, it must be 0 to 63"),
    "index": (lambda n: init("Int a[7];\n", f"a[{n}] = 1;\n"), 6, "index 7 is outside 'a', whose elements are 0 to 6"),
    "unary": (lambda n: init("Int v;\n", f"v = {'!' * n}v;\n"), 498, "nested deeper than 500 levels"),
    "sum": (lambda n: init("Int v;\n", f"v = v{' + v' * n};\n"), 498, "nested deeper than 500 levels"),
    "blocks": (lambda n: init("", "{" * n + "}" * n), 499, "nested deeper than 500 levels"),
    "ifs": (lambda n: init("Int v;\n", "if (v) " * n + "v++;"), 498, "nested deeper than 500 levels"),
    "source": (lambda n: (EMPTY := init(""))[:-1] + " " * (n - len(EMPTY)) + "\n", 2**20,
               "the file is larger than 1048576 bytes"),
}


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("level", ["-O0", "-O1"])
def test_right_at_the_limit_it_compiles_and_runs(name, level, tmp_path):
    make, limit, _ = LIMITS[name]
    source = tmp_path / "x.hp"
    source.write_text(make(limit))
    result = run(level, "-S", source)
    assert result.returncode == 0, result.stderr
    case = tmp_path / "x.hpt"
    case.write_text(assembled(result.stdout, {}))
    done = subprocess.run([HPT, case], capture_output=True, text=True, check=False)
    assert done.stdout == "ok x\n", done.stdout + done.stderr


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("level", ["-O0", "-O1"])
def test_one_beyond_it_is_refused_by_name(name, level, tmp_path):
    make, limit, message = LIMITS[name]
    source = tmp_path / "x.hp"
    source.write_text(make(limit + 1))
    result = run(level, "-o", tmp_path / "x.hpo", source)
    assert result.returncode == 1
    assert f"error: {message}" in [text for _, text in said(result.stderr, source)], result.stderr
    assert not (tmp_path / "x.hpo").exists()


def test_all_names_may_be_as_long_as_one_may_be(tmp_path):
    """The strings of the image have room for them (HIPEC_MAX_STRINGS)."""
    name = lambda letter, i: letter * 60 + f"{i:03}"
    source = tmp_path / ("p" * 31 + ".hp")
    source.write_text(init("".join(f"Int {name('v', i)};\n" for i in range(238)))
                      + "".join(f"Event {name('e', i)}() {{ }}\n" for i in range(48)))
    result = run("-S", source)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(f"policy {'p' * 31}\n")
    case = tmp_path / "x.hpt"
    case.write_text(assembled(result.stdout, {}))
    done = subprocess.run([HPT, case], capture_output=True, text=True, check=False)
    assert done.stdout == "ok x\n", done.stdout + done.stderr


@pytest.mark.parametrize("level", ["(", "!", "-", "{", "if (1) ", "do ", "a[", "a = ", "1 ? ", "L: ",
                                   "Ref(", "1 + ", "1 && "])
def test_however_deep_it_is_the_parser_has_an_answer(level):
    """Its own stack is bounded as well; neither bound is a crash, nor is what stands open."""
    for nr in (1000, 20000):
        for rest in ("1;", ""):
            result = run("-S", "-", source=init("Int a;\n", level * nr + rest))
            assert result.returncode == 1
            errors = [line for line in result.stderr.splitlines() if " error: " in line]
            assert errors and len(errors) <= 20, level
            if nr == 20000 and rest:
                assert any("nested deeper than 500 levels" in line for line in errors), errors[:3]


ASSEMBLER = """policy x
operands
    00  queue  _free_queue
    01  int    _free_count
{operands}event 1 PageFault
{commands}    return
event 2 Replace
    return
{events}"""

# name: (what makes a text, the limit, what is said one beyond)
IN_ASSEMBLER = {
    "operands": (lambda n: dict(operands="".join(f"    {i + 2:02X}  int  v{i}\n" for i in range(n))),
                 238, "expected an event, found 'F0'"),
    "names": (lambda n: dict(operands=f"    02  int  {'v' * n}\n", events=f"event 16 {'e' * n}\n return\n"),
              63, "the name is longer than 63 bytes"),
    "events": (lambda n: dict(events="".join(f"event {16 + i} e{i}\n    return\n" for i in range(n))),
               48, "expected the number of an event, found '64'"),
    "commands": (lambda n: dict(operands="    02  int  v\n", commands="  arith v, -, inc\n" * n), 65532,
                 "the commands of event 'Replace' and those before it take more than 65536 words"),
    "queues": (lambda n: dict(operands=f"    02  queues  g[{n}]\n"), 4093,
               "the declarations ask for more queues, elements or fields than there may be"),
    "elements": (lambda n: dict(operands=f"    02  ints  a[{n}]\n"), 2**20,
                 "declared with a type, flag, key, value or range that does not exist"),
    "fields": (lambda n: dict(operands="".join(f"    {i + 2:02X}  field  f{i}\n" for i in range(n))), 8,
               "the declarations ask for more queues, elements or fields than there may be"),
}


def assembler(name, nr):
    """The text that a row of the table makes."""
    parts = {"operands": "", "commands": "", "events": "", **IN_ASSEMBLER[name][0](nr)}
    return ASSEMBLER.format(**parts)


@pytest.mark.parametrize("name", IN_ASSEMBLER)
def test_assembler_text_has_the_same_limits(name, tmp_path):
    _, limit, message = IN_ASSEMBLER[name]
    text = tmp_path / "x.hps"
    text.write_text(assembler(name, limit))
    result = run(text, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    text.write_text(assembler(name, limit + 1))
    result = run("-o", tmp_path / "y.hpo", text)
    assert result.returncode == 1
    assert any(message in text for _, text in said(result.stderr, text)), result.stderr
    assert not (tmp_path / "y.hpo").exists()


def test_the_listing_of_the_longest_policy_reads_back(tmp_path):
    """Assembler text may be longer than a source."""
    source, text = tmp_path / "x.hp", tmp_path / "x.hps"
    source.write_text(LIMITS["commands"][0](65532))
    text.write_text(run("-S", "-o", tmp_path / "x.hpo", source).stdout.replace("v++;" * 65532, "v++;"))
    assert text.stat().st_size > 2**20
    assert run("-o", tmp_path / "y.hpo", text).returncode == 0
    assert (tmp_path / "x.hpo").read_bytes() == (tmp_path / "y.hpo").read_bytes()
    text.write_text(" " * (2**24 + 1))
    assert "error: the file is larger than 16777216 bytes" in run(text, cwd=tmp_path).stderr
