# SPDX-License-Identifier: GPL-2.0-only
"""Calls and includes point down, in module/ and in userlib/; no two files of module/ need each
other (those of userlib/: test_lint.py).

The order of the folders is that of the first table in docs/internals/design.md. What a file
defines, calls and includes is read from its text (ctext.py), and held against the symbols of
objects: here of what user space has as well, in test/guest/test_objects.py of all.
"""

import copy
import functools
import pathlib
import re

import pytest

import ctext
import test_lint
from conftest import ROOT, chapter
from test_lint import circles, tracked

MAP = "docs/internals/design.md"
source = functools.cache(ctext.Source)


def texts():
    """{path: text} of module/."""
    return {str(path): (ROOT / path).read_text() for path in tracked()
            if path.is_relative_to("module") and path.suffix in {".c", ".h", ".S"}}


def ranks(page):
    """{folder or file: (its row from below, what it is)} of the map; siblings share a row."""
    rows = re.findall(r"^\| ([^|]*)\| `([^`]+)`", page.split("\nBeside the layers")[0], re.M)
    rank, number, before = {}, 0, None
    for layer, path in reversed(rows):
        kind = layer.split(":")[0].strip()
        number += kind != before or kind != "host"
        before = kind
        rank[path.rstrip("/")] = number
    return rank


def place(path, rank):
    """The row's folder, or file, that a file belongs to."""
    path = pathlib.PurePath(path)
    return next(str(part) for part in (path, *path.parents) if str(part) in rank)


def parsed(text):
    """Sources and headers. A file in assembler language is a part of the one in C whose name
    it begins with: one function in two languages."""
    sources = {path: source(body) for path, body in text.items() if path.endswith(".c")}
    headers = {path: source(body) for path, body in text.items() if path.endswith(".h")}
    for path in (path for path in text if path.endswith(".S")):
        part, whole = ctext.Assembler(text[path]), copy.copy(sources[unit(path)])
        whole.external = whole.external | part.external
        whole.uses = whole.uses | part.uses
        sources[unit(path)] = whole
    return sources, headers


def unit(path):
    """The source in C that an object, or a file in assembler language, is of."""
    return re.sub(r"_entry\.\w$|\.\w$", ".c", path)


def includes(text):
    """{file: headers of ours that it includes}."""
    return {path: {str(pathlib.Path(ROOT / path).parent.joinpath(name).resolve().relative_to(ROOT))
                   for name in source(body).includes}
            for path, body in text.items()}


def upward(arrows, rank):
    """(a, b) of arrows from a file to one of a folder above it, or beside it."""
    found = set()
    for file, others in arrows.items():
        for other in others:
            here, there = place(file, rank), place(other, rank)
            if here != there and rank[here] <= rank[there]:
                found.add((file, other))
    return found


@pytest.fixture(scope="module")
def module():
    return texts()


@pytest.fixture(scope="module")
def rank():
    return ranks(chapter(MAP, "The map"))


def wrong(text, rank):
    """All that this page forbids: calls upward, circles of files, includes upward, circles of
    headers."""
    paths = includes(text)
    calls = ctext.needs(*parsed(text), paths)
    return {"call": upward(calls, rank), "circle": circles(calls),
            "include": upward(paths, rank),
            "headers": circles({path: others for path, others in paths.items()
                                if path.endswith(".h")})}


def test_all_arrows_point_down(module, rank):
    """Pairs: a file, and what it calls or includes that is above it; sets: files in a circle."""
    assert wrong(module, rank) == {"call": set(), "circle": set(), "include": set(),
                                   "headers": set()}


def test_the_text_was_understood(module, rank):
    """Arrows that are known, of each way in which a file can name another's."""
    calls = ctext.needs(*parsed(module), includes(module))
    assert sum(map(len, calls.values())) > 300
    for file, other in (("base/exit.c", "base/log.c"),          # a call
                        ("cache/bits.c", "base/event.c"),       # by a macro of a header
                        ("vm/run.c", "vm/ops_page.c"),          # by a name that is pasted
                        ("frames/host.c", "frames/hint.c"),     # in a table
                        ("base/volume.c", "base/work.c")):    # data
        assert f"module/{other}" in calls[f"module/{file}"]
    for folder in ("module", "module/base", "module/frames", "module/cache", "module/context",
                   "module/core", "module/vm", "module/compat.h"):
        assert folder in rank
    assert rank["module/frames"] == rank["module/cache"] < rank["module"]


@pytest.mark.more
def test_objects_of_user_space_say_the_same(module):
    built = test_lint.needs(test_lint.portable("vm", "core"))
    calls = ctext.needs(*parsed(module), includes(module))
    assert len(built) > 25 and sum(map(len, built.values())) > 60
    assert {file: others & built.keys() for file, others in calls.items()
            if file in built} == built


@pytest.mark.parametrize("file, line, kind, found", [
    ("base/work.c", "int planted(void) { return hipec_swap_policy(0, 0, 0, 0); }", "call",
     ("base/work.c", "swap.c")),
    ("vm/page.c", "int planted(void) { return hipec_core_end(0, 0); }", "call",
     ("vm/page.c", "core/core.c")),
    ("cache/bits.c", "const void *planted = &hipec_frame_host;", "call",
     ("cache/bits.c", "frames/host.c")),
    ("frames/frame.c", "#define PLANTED hipec_writeback_start", "circle",
     ("frames/frame.c", "frames/writeback.c")),
    ("context/context.c", '#include "../base/base.h"', "include",
     ("context/context.c", "base/base.h")),
    ("base/user.h", '#include "base.h"', "headers", ("base/base.h", "base/user.h")),
])
def test_what_points_up_is_found(module, rank, file, line, kind, found):
    """Planted in a source of the module: it is found, and nothing else of its kind."""
    path = f"module/{file}"
    other = wrong({**module, path: module[path] + line + "\n"}, rank)[kind]
    pair = tuple(f"module/{name}" for name in found)
    assert other == ({pair} if kind in ("call", "include") else {frozenset(pair)})


# What the files of a folder may include of other folders; userlib/README.md says what is in each.
# cli/ is above all of these: it is in no row.
BELOW = {
    "compiler": {"module/vm", "userlib/image", "userlib/option"},
    "userlib/lib": {"module/include/uapi"},
    "userlib/image": {"module/include/uapi", "module/vm"},
    "userlib/record": {"module/vm"},
    "userlib/amp": {"module/vm"},
    "userlib/program": {"module/vm"},
    "userlib/trace": {"module/vm", "userlib/record"},
    "userlib/trace/inject": {"module/context", "userlib/trace"},
    "userlib/say": {"userlib/lib", "userlib/option", "userlib/trace"},
    "userlib/policy": {"module/vm", "userlib/image", "userlib/lib", "userlib/option",
                       "userlib/program", "userlib/say"},
    "userlib/sim": {"module/core", "module/vm", "userlib/amp", "userlib/policy", "userlib/trace"},
    "userlib/native": {"module/vm", "userlib/image", "userlib/program"},
    "userlib/play": {"userlib/trace"},
    "userlib/job": {"module/vm", "userlib/native", "userlib/option", "userlib/say", "userlib/sim",
                    "userlib/trace"},
    "userlib/debug": {"userlib/option", "userlib/program", "userlib/say", "userlib/sim"},
    "userlib/profile": {"userlib/job", "userlib/say", "userlib/sim", "userlib/trace"},
}
GENERATED_WITH = "userlib/native/policy.h"      # C that image/emitc.c writes, not ours, includes it


def folder_of(path):
    return str(pathlib.PurePath(path).parent)


def below(folder):
    """All that a folder may call: what is below those below it, too."""
    return {folder}.union(*map(below, BELOW.get(folder, ())))


@pytest.fixture(scope="module")
def user():
    """{path: text} of what is compiled for user space, and of headers of the module."""
    return {str(path): (ROOT / path).read_text() for path in tracked()
            if path.suffix in {".c", ".h", ".l", ".y"} and str(path) != GENERATED_WITH and
            path.parts[0] in {"compiler", "module", "userlib"} and not path.is_relative_to("module/tests")}


def includes_of(text, folder):
    """(file of a folder, the folder of a header of ours that it includes by a path)."""
    return {(file, folder_of(other)) for file, others in
            includes({path: body for path, body in text.items() if folder_of(path) == folder}).items()
            for other in others} - {(file, folder) for file in text}


def upward_of(text):
    """What goes to a folder that is not below: {"include": (file, folder), "call": (file, file)}."""
    sources = {path: source(body) for path, body in text.items() if path.endswith(".c")}
    headers = {path: source(body) for path, body in text.items() if path.endswith(".h")}
    calls = ctext.needs(sources, headers, includes(text))
    return {"include": {(file, other) for folder in BELOW for file, other in
                        includes_of(text, folder) if other not in BELOW[folder]},
            "call": {(file, other) for file, others in calls.items() for other in others
                     if folder_of(file) in BELOW and folder_of(other) not in below(folder_of(file))}}


@pytest.mark.parametrize("folder", BELOW)
def test_a_folder_includes_all_that_it_may(user, folder):
    """The table is not wider than the code."""
    assert {other for _, other in includes_of(user, folder)} == BELOW[folder]


def test_all_arrows_of_user_space_point_down(user):
    """Else a file includes a folder that is not in its folder's row of BELOW, or calls above it."""
    assert upward_of(user) == {"include": set(), "call": set()}


@pytest.mark.parametrize("file, line, kind, found", [
    ("policy/param.c", '#include "../job/job.h"', "include", "userlib/job"),
    ("job/rows.c", '#include "../cli/sim/sim.h"', "include", "userlib/cli/sim"),
    ("debug/go.c", '#include "../cli/cli.h"', "include", "userlib/cli"),
    ("profile/zipf.c", '#include "../cli/sim/sim.h"', "include", "userlib/cli/sim"),
    ("trace/keep.c", 'void planted(void) { cli_error("no"); }', "call", "userlib/say/say.c"),
    ("policy/policy.c", "int planted(void) { return sim_job_open(0, 0, 0); }", "call",
     "userlib/job/job.c"),
    ("job/rows.c", "int planted(void) { return sim_args_fill(0); }", "call",
     "userlib/cli/sim/args.c"),
])
def test_what_points_up_in_user_space_is_found(user, file, line, kind, found):
    path = f"userlib/{file}"
    before, after = upward_of(user), upward_of({**user, path: user[path] + line + "\n"})
    assert {way: after[way] - before[way] for way in after} == \
        {"include": set(), "call": set(), kind: {(path, found)}}
