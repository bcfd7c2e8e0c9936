# SPDX-License-Identifier: GPL-2.0-only
"""Lines of the compiler that no other test reaches (`make coverage`)."""

import json

import pytest

from test_compiler import built, run  # noqa: F401

pytestmark = [pytest.mark.more, pytest.mark.usefixtures("quick_start")]

REST = "Event Replace() { EnQueue(page, _free_queue, TAIL); }\n"
INIT = "Event Init() { Int v; Queue q; Page page; }\n"


def messages(body, *options, init=INIT):
    """What is said about a PageFault."""
    result = run("-S", *options, "-", source=f"{init}Event PageFault() {{\npage = FindPA(0);\n{body}\n}}\n{REST}")
    return [line.split(": ", 1)[1] for line in result.stderr.splitlines() if line.startswith("<stdin>:")]


CHARACTERS = [
    ("é€𝄞".encode(), "é€𝄞"), (b"\xf4\x8f\xbf\xbf", "\U0010ffff"),
    # Too long, a surrogate, beyond the last character, cut short, no start of one.
    (b"\xc0\x80", "\ufffd" * 2), (b"\xe0\x80\x80", "\ufffd" * 3), (b"\xed\xa0\x80", "\ufffd" * 3),
    (b"\xf0\x80\x80\x80", "\ufffd" * 4), (b"\xf4\x90\x80\x80", "\ufffd" * 4),
    (b"\xf5\x80\x80\x80", "\ufffd" * 4), (b"\xe2\x82", "\ufffd" * 2), (b"\xff", "\ufffd"),
    (b"\xc3\xa9\x80", "é\ufffd"),
]


@pytest.mark.parametrize("raw, shown", CHARACTERS)
def test_json_is_utf8_whatever_the_source_is(raw, shown, tmp_path):
    source = tmp_path / "x.hp"
    source.write_bytes(b"Event PageFault() {\n" + raw + b";\n}\n" + b"Event Replace() { }\n")
    result = run("--diagnostics=json", "-o", tmp_path / "x.hpo", source)
    result.stderr.encode("utf-8", "strict")     # bytes that are none would be surrogates here
    assert [diag["message"] for diag in json.loads(result.stderr)] == [
        f"character '{shown}' is not used in this language"]


def test_json_escapes_what_strings_cannot_hold(tmp_path):
    source = tmp_path / 'quote"back\\tab\tdel\x7f.hp'
    source.write_text("Event PageFault() { }\nEvent Replace() { }\n")
    result = run("--diagnostics=json", "-o", tmp_path / "x.hpo", source)
    assert '\\"back\\\\tab\\u0009del\\u007f' in result.stderr
    diag, = (diag for diag in json.loads(result.stderr) if diag["severity"] == "error")
    assert diag["file"] == str(source)


def test_a_name_that_is_too_long_gets_no_suggestion():
    long = "v" * 64
    assert messages(f"{long} = 1;") == ["error: the name is longer than 63 bytes",
                                        f"error: undeclared name '{long}'"]


def test_a_count_on_the_right_is_compared_like_one_on_the_left():
    assert messages("if (0 <= Length(q)) v++;") == ["warning: this comparison is always true [-Wconstant-comparison]"]
    assert messages("if (-1 >= Length(q)) v++;") == ["warning: this comparison is always false [-Wconstant-comparison]"]
    assert messages("if (0 >= Length(q)) v++;") == []


def test_what_an_error_swallowed_is_not_missed():
    lost = INIT.replace("Page page;", "Page page; Field 3;")
    assert len(messages("page.age = nothing;", init=lost)) == 1
    assert messages("v = nothing.age;") == ["error: undeclared name 'nothing'"]
    assert messages("v = nothing ? 1 : 2;") == ["error: undeclared name 'nothing'"]


def test_a_long_expression_is_cut_and_one_of_two_lines_is_this():
    first = "error: 'v + v + v + v + v + v + v + v + v + v + ...' is an integer, argument 1 of 'Ref' must be a page"
    assert messages("Ref(v" + " + v" * 30 + ");") == [first]
    assert messages("Ref(v +\nv);")[0].startswith("error: this is an integer, ")


def test_a_long_line_is_cut_between_characters():
    for pad in range(3):
        source = "Event PageFault() { /*" + "x" * pad + "é" * 200 + "*/ oops++; }\nEvent Replace() { }\n"
        line = run("-S", "-", source=source).stderr.splitlines()[1]
        assert "\ufffd" not in line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def test_more_temporaries_than_the_optimiser_follows_are_too_many_operands():
    deep = "v = " + "v - (" * 400 + "v * v" + ")" * 400 + ";"
    assert messages(deep) == messages(deep, "-O0")
    assert messages(deep)[0] == "error: the policy needs more than 240 operands"


def test_usage_of_a_command_without_a_result_has_no_left_side():
    assert messages("Ref();")[1:] == ["note: use it as 'Ref(page)'"]
