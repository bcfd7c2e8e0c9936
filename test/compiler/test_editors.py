# SPDX-License-Identifier: GPL-2.0-only
"""editors/: generated files are what the documents say, and the words in them what the
compiler has; the TextMate grammar, read as an editor reads it, names what it sees."""

import json
import re
import subprocess

from conftest import ROOT
from test_compiler import POLICIES
from test_compiler_reference import keywords, source

GENERATED = ["vim/syntax/hp.vim", "hp.tmLanguage.json"]
GRAMMAR = ROOT / "editors" / "hp.tmLanguage.json"


def test_files_are_what_the_documents_say(tmp_path):
    """Else run `make editors`."""
    subprocess.run([ROOT / "editors" / "generate.py", tmp_path], check=True)
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*")) == sorted(GENERATED)
    for name in GENERATED:
        assert (ROOT / "editors" / name).read_text() == (tmp_path / name).read_text()


def known():
    """Words that the compiler's own tables have."""
    ops = source("module/include/uapi/hipec_ops.h")
    rows = re.findall(r'X\(\w+, \w+, "(\w+)", 0x\w+, (\w+), (\w+), (\w+),', ops)
    plain = set("NONE INT INT_W PAGE PAGE_W QUEUE QUEUE_OUT SKETCH END BIT ACTION".split())
    builtins = {word for word, *kinds in rows if set(kinds) <= plain and word != "Return"}
    selectors = {word.upper() for table in ("ENDS", "BITS", "ACTIONS") for word in re.findall(
        r'"(\w+)"\)', re.search(rf"define HIPEC_{table}\(X\)((?:.*\\\n)*.*)", ops)[1])}
    system = set(re.findall(r'X\(\w+, 0xf\w, "(\w+)"', ops)) | {"_free_queue", "_free_count"}
    events = set(re.findall(r'X\(\w+, \d+, "(\w+)", [01], ', ops))
    assert len(builtins) > 20 and len(selectors) == 6 and len(system) > 8 and len(events) == 7
    return builtins, selectors | {"NONE"}, system, events


def test_words_are_the_compilers():
    """Each list as a whole: none is forgotten, and none is made up."""
    builtins, constants, system, events = known()
    constants |= {"TRUE", "FALSE"}
    for name in GENERATED:
        lists = [set(words.replace("\\", "").split("|")) for words in re.findall(
            r"\((?:\?:)?((?:\w+\\{0,2}\|)+\w+)\\{0,2}\)", (ROOT / "editors" / name).read_text())]
        for wanted in (builtins, constants, system, events):
            assert wanted in lists, f"{name}: {wanted}"
        others = {word.lower() for words in lists if words not in (builtins, constants, system, events)
                  for word in words}
        assert others | {"true", "false"} == keywords()


def scopes(text):
    """[(word, scope)] of a text, by the rules of TextMate: the first of the patterns
    that match nearest. One block, the comment's, has a begin and an end."""
    patterns = json.loads(GRAMMAR.read_text())["patterns"]
    found, at, block = [], 0, False
    for line in text.splitlines(keepends=True):
        at = 0
        while at < len(line):
            if block:
                end = line.find("*/", at)
                block, at = end < 0, len(line) if end < 0 else end + 2
                continue
            tries = [(match.start(), n, match) for n, pattern in enumerate(patterns)
                     if (match := re.compile(pattern.get("begin") or pattern["match"]).search(line, at))]
            if not tries:
                break
            _, n, match = min(tries, key=lambda t: t[:2])
            at = match.end()
            block = "begin" in patterns[n]
            if "captures" in patterns[n]:
                found += [(match[int(i)], patterns[n]["captures"][i]["name"])
                          for i in patterns[n]["captures"]]
            else:
                found.append((match[0].strip(), patterns[n]["name"]))
    return found


def test_grammar_names_what_it_sees():
    found = scopes("""// Int
EVENT Timer() { /* Page
Queue */ Page page; *Queue *queue; Timer 10; Int timer = 0x1F, z = 017; }
Event Own() {
again: page = enqueue(page, _free_queue, tail) ? NONE : page;
	For (;;) Set(page, REFERENCE, SET); faultedaddress = FaultedAddress; Goto again; }
""")
    assert [(word, scope[:-3]) for word, scope in found if re.match(r"\w", word)] == [
        ("EVENT", "storage.type.event"), ("Timer", "entity.name.function.host"),
        ("Page", "storage.type"), ("page", "variable.other"), ("Queue", "storage.type"),
        ("queue", "variable.other"), ("Timer", "keyword.other.setting"), ("10", "constant.numeric"),
        ("Int", "storage.type"), ("timer", "variable.other"), ("0x1F", "constant.numeric"),
        ("z", "variable.other"), ("017", "invalid.illegal.octal"),
        ("Event", "storage.type.event"), ("Own", "entity.name.function"),
        ("again", "entity.name.label"), ("page", "variable.other"), ("enqueue", "support.function"),
        ("page", "variable.other"), ("_free_queue", "variable.language"), ("tail", "constant.language"),
        ("NONE", "constant.language"), ("page", "variable.other"),
        ("For", "keyword.control"), ("Set", "support.function"), ("page", "variable.other"),
        ("REFERENCE", "constant.language"), ("SET", "constant.language"),
        ("faultedaddress", "variable.other"), ("FaultedAddress", "variable.language"),
        ("Goto", "keyword.control"), ("again", "variable.other")]
    assert all(scope.endswith(".hp") for _, scope in found)


def test_the_policies_are_named_throughout():
    """No keyword, command or system variable of a shipped policy is a variable there."""
    builtins, _, system, _ = known()
    words = {word.lower() for word in builtins} | keywords() - {"page", "queue", "field", "int"}
    for path in POLICIES:
        for word, scope in scopes(path.read_text(encoding="utf-8")):
            if scope == "variable.other.hp":
                assert word.lower() not in words and word not in system, f"{path}: {word}"


def test_vscode_finds_the_grammar():
    package = json.loads((ROOT / "editors" / "package.json").read_text())
    grammar, = package["contributes"]["grammars"]
    language, = package["contributes"]["languages"]
    assert (ROOT / "editors" / grammar["path"]) == GRAMMAR
    assert grammar["scopeName"] == json.loads(GRAMMAR.read_text())["scopeName"]
    assert grammar["language"] == language["id"] and language["extensions"] == [".hp"]
    json.loads((ROOT / "editors" / language["configuration"]).read_text())
    assert package["version"] == re.search(r"^VERSION := (.*)$", source("Makefile"), re.M)[1]
