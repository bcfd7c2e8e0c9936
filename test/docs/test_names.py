# SPDX-License-Identifier: GPL-2.0-only
"""module/: names that say their room.

An oops says `name+0xa4 [hipec]`: so no static function has one bare word as its name, and no
name stands in two files. An exported function has the name of its file, or of its folder; the
guard of a header is its path. tests/ and the ABI (include/uapi/) have rules of their own.

userlib/trace/: an exported function begins with trace_.
"""

import collections
import pathlib
import re

import pytest

import ctext
from conftest import ROOT
from test_lint import tracked

# Commands of policies: hipec_ops.h has their names.
COMMANDS = re.compile(r"module/vm/ops_\w+\.c")
ATTRIBUTE = re.compile(r"__(?!hipec_)\w+")


def texts():
    """{path: text} of module/."""
    return {str(path): (ROOT / path).read_text() for path in tracked()
            if path.is_relative_to("module") and path.suffix in {".c", ".h"}
            and not path.is_relative_to("module/tests")
            and not path.is_relative_to("module/include")}


def function(head):
    """The name of a function by what stands before its body; None: it is something else."""
    name, depth = None, 0
    for before, token in zip(["", *head], head):
        if token == "(" and not depth and ctext.NAME.fullmatch(before) and \
                not ATTRIBUTE.fullmatch(before):
            name = before
        depth += (token == "(") - (token == ")")
    return name if "=" not in head and "typedef" not in head else None


def functions(text):
    """(its name, whether it is static) of each function that is defined."""
    text = ctext.DIRECTIVE.sub("", ctext.without_comments(text))
    for head, body in ctext.outside(ctext.tokens(text)):
        name = function(head) if body else None
        if name:
            yield name, "static" in head


def defined(text):
    """({name: files} of static functions, {name: file} of exported ones)."""
    local, exported = collections.defaultdict(set), {}
    for path, body in text.items():
        for name, is_static in functions(body):
            if is_static:
                local[name].add(path)
            else:
                exported[name] = path
    return local, exported


def prefixes(path):
    """What an exported function's name may begin with. Of several a name may say one."""
    path = pathlib.PurePath(path)
    rooms = {path.stem} | ({path.parent.name} if path.parent.name != "module" else set())
    if COMMANDS.fullmatch(str(path)):
        rooms.add("op")
    return tuple(f"hipec_{name}" for room in rooms for name in (room, re.sub("(ie)?s$", lambda m:
                 "y" if m[1] else "", room)))


def says_its_room(name, path):
    return any(name.removeprefix("__") == prefix or name.removeprefix("__").startswith(prefix + "_")
               for prefix in prefixes(path))


def guard(path):
    return "HIPEC_" + re.sub(r"\W", "_", path.removeprefix("module/")).upper()


def has_guard(text, name):
    """A header of trace points is read again."""
    return re.search(rf"^#(ifndef {name}|if !defined\({name}\) \|\| defined\(TRACE_HEADER_\w+\))\n"
                     rf"#define {name}\n(?s:.*)^#endif /\* {name} \*/$", text, re.M)


def wrong(text):
    """All that this page forbids."""
    local, exported = defined(text)
    strange = {(path, name) for name, path in exported.items() if not says_its_room(name, path)}
    return {"bare": {(path, name) for name, paths in local.items() for path in paths
                     if "_" not in name},
            "twice": {(path, name) for name, paths in local.items() for path in
                      paths | ({exported[name]} if name in exported else set())
                      if len(paths) > 1 or name in exported},
            "room": strange,
            "guard": {(path, guard(path)) for path, body in text.items()
                      if path.endswith(".h") and not has_guard(body, guard(path))}}


@pytest.fixture(scope="module")
def module():
    return texts()


def test_names_say_their_room(module):
    """bare: one word; twice: in two files; room: not its file's or folder's; guard: not the
    path."""
    assert wrong(module) == {"bare": set(), "twice": set(), "room": set(), "guard": set()}


def test_the_text_was_understood(module):
    """Functions that are known, of each way in which one is written."""
    local, exported = defined(module)
    assert len(local) > 700 and len(exported) > 500
    assert "module/vm/run.c" in local["check_limit"]            # __always_inline
    assert "module/vm/tracer.c" in local["trace_set_ref"]       # behind a macro
    assert "module/core/queue.h" in local["hipec_mr_link"]      # of a header
    assert exported["hipec_core_end"] == "module/core/core.c"


@pytest.mark.parametrize("file, line, kind, found", [
    ("core/pool.c", "static int look(void) { return 0; }", "bare", [("core/pool.c", "look")]),
    ("base/log.c", "static noinline u32 look_at_isolated(void) { return 0; }", "twice",
     [("base/log.c", "look_at_isolated"), ("core/pool.c", "look_at_isolated")]),
    ("vm/queue.h", "static inline int hipec_core_end(void) { return 0; }", "twice",
     [("vm/queue.h", "hipec_core_end"), ("core/core.c", "hipec_core_end")]),
    ("cache/bits.c", "int hipec_pressure_room(void) { return 0; }", "room",
     [("cache/bits.c", "hipec_pressure_room")]),
    ("cache/bits.c", "int hipec_bit_room(void) { return 0; }", "room", []),
])
def test_a_function_that_does_not_is_found(module, file, line, kind, found):
    path = f"module/{file}"
    assert wrong({**module, path: module[path] + line + "\n"})[kind] == \
        {(f"module/{other}", name) for other, name in found}


def test_a_guard_that_does_not_is_found(module):
    path = "module/cache/cache.h"
    text = module[path].replace("HIPEC_CACHE_CACHE_H", "HIPEC_CACHE_H")
    assert wrong({**module, path: text})["guard"] == {(path, "HIPEC_CACHE_CACHE_H")}


def strange_in_trace(text):
    """Exported functions of userlib/trace/ that do not say so. @text: {path: text}."""
    return {(path, name) for path, body in text.items() for name, is_static in functions(body)
            if not is_static and not name.startswith("trace_")}


@pytest.fixture(scope="module")
def trace():
    return {str(path.relative_to(ROOT)): path.read_text()
            for path in (ROOT / "userlib/trace").glob("*.c")}


def test_names_of_traces_say_so(trace):
    """Exported functions of userlib/trace/ begin with trace_."""
    assert sum(not is_static for body in trace.values() for _, is_static in functions(body)) > 100
    assert strange_in_trace(trace) == set()


def test_a_name_of_traces_that_does_not_is_found(trace):
    path = "userlib/trace/keep.c"
    assert strange_in_trace({**trace, path: trace[path] + "int keep(void) { return 0; }\n"}) == \
        {(path, "keep")}
