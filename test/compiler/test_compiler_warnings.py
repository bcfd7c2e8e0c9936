# SPDX-License-Identifier: GPL-2.0-only
"""ampc's warnings, their names and switches, and diagnostics as JSON."""

import json
import re

import pytest

from test_compiler import AMPC, ERR, OK, POLICIES, ROOT, WARN, built, expected, run, said  # noqa: F401

pytestmark = pytest.mark.usefixtures("quick_start")

UNUSED = ("Event Init() { Queue q; }\nEvent PageFault() { EnQueue(FindPA(0), q, TAIL); }\n"
          "Event Replace() { EnQueue(DeQueue(q, HEAD), _free_queue, TAIL); }\nEvent Acess() { }\n")


def table():
    """{row: (name, on without -Wall)} of compiler/diag.h."""
    header = (ROOT / "compiler" / "diag.h").read_text()
    rows = re.findall(r'^\tX\((\w+), "([\w-]+)", ([01]), ', header, re.M)
    return {row: (name, default == "1") for row, name, default in rows}


NAMES = sorted({name for name, _ in table().values()})


@pytest.mark.parametrize("path", WARN, ids=lambda p: p.stem)
def test_warnings_are_the_expected_ones(path, tmp_path):
    out = tmp_path / "x.hpo"
    result = run("-Wall", "-o", out, path)
    assert (result.returncode, result.stdout) == (0, "")
    assert said(result.stderr, path) == expected(path)
    assert out.exists()


@pytest.mark.parametrize("path", WARN, ids=lambda p: p.stem)
def test_a_warning_is_an_error_when_told(path, tmp_path):
    out = tmp_path / "x.hpo"
    result = run("-Wall", f"-Werror={path.stem}", "-o", out, path)
    assert result.returncode == 1 and not out.exists()
    assert f" [-Werror={path.stem}]\n" in result.stderr
    assert f" [-W{path.stem}]\n" not in result.stderr


@pytest.mark.parametrize("path", WARN, ids=lambda p: p.stem)
def test_a_warning_is_silent_when_told(path, tmp_path):
    result = run("-Wall", f"-Wno-{path.stem}", "-o", tmp_path / "x.hpo", path)
    assert result.returncode == 0
    assert f"{path.stem}]" not in result.stderr


def test_every_warning_has_a_name_and_every_name_a_file():
    header = (ROOT / "compiler" / "diag.h").read_text()
    assert set(re.findall(r"^\tX\((\w+), WARNING, ", header, re.M)) == set(table())
    assert set(NAMES) == {path.stem for path in WARN} | {"unused-event"}


@pytest.mark.more
def test_every_warning_names_its_switch(tmp_path):
    for path in [*OK, *ERR, *WARN]:
        for line in run("-Wall", "-o", tmp_path / "x.hpo", path).stderr.splitlines():
            if re.match(r"\S+: warning: ", line):
                assert re.search(r" \[-W([\w-]+)\]$", line)[1] in NAMES, line


def test_help_lists_every_warning():
    lines = run("--help=warnings").stdout.splitlines()
    listed = {line.split()[0]: "(-Wall)" not in line for line in lines}
    assert listed == {f"-W{name}": default for name, default in table().values()}
    assert len(lines) == len(NAMES)


# What -Wall says of the paper's programs, as printed.
SAID = {
    "fifo2": ["'reserve_free_target' is not used [-Wunused-variable]"],
}


def test_policies_are_without_a_word_but_the_papers_own():
    for path in POLICIES:
        said_of = run("-Wall", "-S", path).stderr
        assert re.findall(r"warning: (.*)", said_of) == SAID.get(path.stem, [])


def test_switches_override_one_another():
    def ends(*args):
        result = run(*args, "-S", "-", source=UNUSED)
        return result.returncode, "Acess" in result.stderr

    assert ends() == (0, True)
    assert ends("-Wno-unused-event") == (0, False)
    assert ends("-Wno-unused-event", "-Wunused-event") == (0, True)
    assert ends("-Werror") == (1, True)
    assert ends("-Werror", "-Wno-error") == (0, True)
    assert ends("-Werror", "-Wno-error=unused-event") == (0, True)
    assert ends("-Werror=unused-event") == (1, True)
    assert ends("-Werror", "-Wno-unused-event") == (0, False)
    assert ends("-Wno-unused-event", "-Wall") == (0, False)


def test_a_warning_that_does_not_exist_is_a_usage_error():
    for arg in ("-Wnothing", "-Werror=nothing", "-Wno-", "-W", "--help=nothing",
                "--diagnostics=xml"):
        result = run(arg, "x.hp")
        assert (result.returncode, result.stdout) == (2, ""), arg


# What is said of a policy that is not one file of warn/.

PAGES = """Event Init() { %s Queue q, r; Field age; Page page; Int n; }
Event PageFault() { page = FindPA(FaultedAddress); EnQueue(page, q, TAIL); }
Event Replace() { page = DeQueue(q, HEAD); %s }
%s
"""
GONE = "page 'page' is used after it gave up its frame [-Wreleased-page]"
LOST = "pages are put on 'r' and nothing takes them off [-Wunemptied-queue]"


def warnings(*parts):
    result = run("-Wall", "-Wno-unused-variable", "-Wno-victim-path", "-S", "-",
                 source=PAGES % parts)
    assert result.returncode == 0, result.stderr
    return re.findall(r"warning: (.*)", result.stderr)


@pytest.mark.parametrize("use, needs_frame", [
    ("EnQueue(page, q, TAIL);", False), ("Release(page);", False), ("page.age++;", False),
    ("n = page.age;", False), ("FindVA(page);", False), ("Next(page, HEAD);", False),
    ("Ref(page);", True), ("Mod(page);", True), ("Flush(page);", True), ("Map(page);", True),
    ("UnMap(page);", True), ("Set(page, REFERENCE, SET);", True)])
def test_a_page_without_a_frame_can_be_named_with_ghosts(use, needs_frame):
    """Until the event ends; but its frame is gone."""
    give = "EnQueue(page, _free_queue, TAIL); "
    assert warnings("", give + use, "") == [GONE]
    assert warnings("Ghosts 0;", give + use, "") == [GONE]
    assert warnings("Ghosts 50;", give + use, "") == [GONE] * needs_frame


def test_what_has_an_answer_for_no_page_has_one_for_a_page_that_is_gone():
    for use in ("n = Resident(page);", "n = InQ(page, q);", "n = page == NONE;", "Copy(page);",
                "if (page) n = 1;"):
        assert warnings("", f"EnQueue(page, _free_queue, TAIL); {use}", "") == []


PUT = "if (n) EnQueue(page, r, TAIL); else EnQueue(page, _free_queue, TAIL);"


@pytest.mark.parametrize("more, lost", [
    ("", True),
    ("Event Timer() { page = DeQueue(q, HEAD); Release(page); }", True),
    ("Event Timer() { page = Peek(q, HEAD); EnQueue(page, r, TAIL); }", True),
    ("Event Access() { EnQueue(FindPA(FaultedAddress), r, TAIL); }", True),
    ("Event Timer() { page = FindPA(4096); if (page) n = 1; }", True),
    ("Event Timer() { page = Peek(q, HEAD); Release(page); }", True),
    ("Event Timer() { page = DeQueue(r, HEAD); }", False),
    ("Event Timer() { n = Length(r); }", False),
    # What moves a page of any queue moves those of this one.
    ("Event Access() { EnQueue(FindPA(FaultedAddress), q, TAIL); }", False),
    ("Event Access() { page = FindPA(FaultedAddress); EnQueue(page, q, TAIL); }", False),
    ("Event Access() { if (page = FindPA(FaultedAddress)) EnQueue(page, q, TAIL); }", False),
    ("Event Timer() { Release(PageAt(n++)); }", False),
    ("Event Timer() { Release(page); }", False),
    ("Event Timer() { page = Next(Peek(q, HEAD), TAIL); Release(page); }", False),
    ("Event Timer() { page = DeQueue(q, HEAD); EnQueue(page, r, TAIL); Release(page); }", False),
    ("Event Timer() { page = DeQueue(q, HEAD); Other(); Release(page); }\n"
     "Event Other() { page = PageAt(n++); }", False),
    ("Event Access() { EnQueue(FindPA(FaultedAddress), q, TAIL); }\n"
     "Event Timer() { EnQueue(PageAt(n++), r, TAIL); }", False),
])
def test_a_queue_is_emptied_by_what_moves_pages(more, lost):
    assert warnings("", PUT, more) == [LOST] * lost


def test_ghosts_leave_a_queue_when_they_come_back():
    put = "EnQueue(page, _free_queue, TAIL); EnQueue(page, r, TAIL);"
    assert warnings("Ghosts 50;", put, "") == []
    assert LOST in warnings("", put, "")


def test_a_frame_may_be_given_by_what_replace_calls():
    """And by what that calls, defined before or behind it, as often as it likes."""
    loop = "for (n = 0; n < 3; n++) Give();"
    for call in ("Give();", loop, "Two();"):
        source = ("Event Init() { Queue q; Int n; }\nEvent PageFault() { EnQueue(FindPA(FaultedAddress),"
                  f" q, TAIL); }}\nEvent One() {{ Give(); }}\nEvent Replace() {{ {call} One(); }}\n"
                  "Event Two() { One(); }\nEvent Give() { EnQueue(DeQueue(q, HEAD), _free_queue, TAIL); }\n")
        for text in (source, source.replace("} One();", "}").replace("; One();", ";")):
            assert "victim" not in run("-Wall", "-S", "-", source=text).stderr
    assert "victim" in run("-S", "-", source=source.replace("_free_queue", "q")).stderr


def test_where_a_page_was_given_up_is_said_of_the_first_pages():
    """Of sixteen; the warning itself of all."""
    names = [f"p{i}" for i in range(20)]
    body = "".join(f"{name} = DeQueue(q, HEAD); Release({name});\nRef({name});\n" for name in names)
    text = run("-Wno-unset-page", "-S", "-", source=(
        f"Event Init() {{ Queue q; Page {', '.join(names)}; }}\nEvent PageFault() {{ }}\n"
        f"Event Replace() {{\n{body}}}\n")).stderr
    assert len(re.findall("is used after", text)) == 20
    assert re.findall("note: page '(p\\d+)' gives up", text) == names[:16]


# JSON


def flat(diags):
    for diag in diags:
        yield diag
        yield from diag.get("notes", [])


@pytest.mark.more
@pytest.mark.parametrize("path", [*ERR, *WARN], ids=lambda p: p.stem)
def test_json_says_what_the_text_says(path, tmp_path):
    result = run("-Wall", "--diagnostics=json", "-o", tmp_path / "x.hpo", path)
    text = run("-Wall", "-o", tmp_path / "x.hpo", path)
    diags = json.loads(result.stderr)
    assert result.returncode == text.returncode
    lines = [f"{diag['file']}:" + (f"{diag['line']}:{diag['column']}:" if diag["line"] else "")
             + f" {diag['severity']}: {diag['message']}" for diag in flat(diags)]
    wanted = [re.sub(r" \[-W\S+\]$", "", line) for line in text.stderr.splitlines()
              if re.match(r"\S+?:(\d+:\d+:)? (error|warning|note): ", line)]
    assert lines == [re.sub("[\udc80-\udcff]", "\ufffd", line) for line in wanted]


@pytest.mark.parametrize("path", ERR, ids=lambda p: p.stem)
def test_json_places_are_in_the_file(path, tmp_path):
    source = path.read_bytes().split(b"\n")
    for diag in flat(json.loads(run("--diagnostics=json", "-o", tmp_path / "x.hpo", path).stderr)):
        assert set(diag) - {"notes"} == {"file", "line", "column", "end_line", "end_column",
                                         "severity", "name", "message"}
        assert re.fullmatch(r"[a-z][a-z0-9-]*", diag["name"])
        if diag["line"]:
            assert 1 <= diag["column"] <= len(source[diag["line"] - 1]) + 1
            assert (diag["line"], diag["column"]) <= (diag["end_line"], diag["end_column"])


def test_json_of_a_good_source_is_an_empty_array():
    result = run("--diagnostics=json", "-S", ROOT / "policies" / "mru.hp")
    assert (result.returncode, json.loads(result.stderr)) == (0, [])


def test_json_names_a_warning_by_its_switch():
    (diag,) = json.loads(run("--diagnostics=json", "-S", "-", source=UNUSED).stderr)
    assert diag["name"] == "unused-event" and diag["severity"] == "warning"
    assert [note["message"] for note in diag["notes"]] == ["did you mean 'Access'?"]
    place = ("line", "column", "end_line", "end_column")
    assert [diag[key] for key in place] == [4, 7, 4, 12]
