# SPDX-License-Identifier: GPL-2.0-only
"""docs/policy/tutorial.md: each command prints what it shows, each source is in the
files that it names, and the policy at its end is as good as it says."""

import json
import pathlib
import re
import subprocess

import pytest

import session
from conftest import BUILD, ROOT, without

pytestmark = pytest.mark.more

TEXT = without("docs/policy/tutorial.md", "Five exercises", "The debugger")
BLOCKS = re.findall(r"^```(c?)\n(.*?)^```", TEXT, re.M | re.S)
SOURCES = [block for language, block in BLOCKS if language]
SESSION = "".join(block for language, block in BLOCKS if not language)
COMMANDS = session.commands(SESSION)


@pytest.fixture(autouse=True, scope="module")
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "all", "build/asan/hipec", "build/asan/ampc"],
                   check=True)


@pytest.mark.skipif(pathlib.Path("/dev/hipec").exists(), reason="the module is loaded")
def test_commands_print_what_they_show(tmp_path):
    """One shell session, with the sanitized tools first in PATH."""
    assert len(COMMANDS) == 19
    list(session.run(COMMANDS, "first", tmp_path, (BUILD / "asan", BUILD),
                     env={"HIPEC_POLICY_PATH": str(BUILD / "policies")}))


def test_sources_are_those_of_the_files():
    """Whole events and whole lines, in the order of the text."""
    files = [ROOT / "policies" / "fifo.hp",
             *(ROOT / "docs/policy/tutorial" / name
               for name in ("second.hp", "search.hp", "load.c", "load.c"))]
    assert len(SOURCES) == len(files)
    for block, path in zip(SOURCES, files):
        assert f"\n{block}" in f"\n{path.read_text()}", path
    rest = (ROOT / "policies" / "fifo.hp").read_text().partition("Event Init()")[2]
    assert SOURCES[0] == "Event Init()" + rest
    assert SOURCES[2] == (ROOT / "docs/policy/tutorial" / "search.hp").read_text()


def test_numbers_in_the_prose_are_those_of_the_tables():
    faults = dict(re.findall(r"^(lru|opt|search\.hpo) +250 +(\d+)", SESSION, re.M))
    lru, opt, search = (int(faults[name]) for name in ("lru", "opt", "search.hpo"))
    assert f"{search:,} faults instead of {lru:,}, and {opt:,} is the least" in TEXT
    assert f"can save {lru - opt:,} faults at most" in " ".join(TEXT.split())
    assert search < 0.6 * lru


def test_it_is_read_in_ten_minutes():
    """Prose and sources; what commands print is not read word by word."""
    prose = re.sub(r"^```.*?^```", "", TEXT, flags=re.M | re.S)
    assert len(" ".join([prose, *SOURCES]).split()) <= 1200


def test_load_program_has_no_warnings(tmp_path):
    subprocess.run(["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'userlib/lib'}",
                    ROOT / "docs/policy/tutorial" / "load.c", BUILD / "libhipec.a", "-o",
                    tmp_path / "load"], check=True)


PITFALL = """
Event Init() {{ Queue levels[16], q; Queue gone; Page page; Int i = 16; counter Int n; Field uses; Ghosts 50; }}
Event PageFault() {{
page = FindPA(FaultedAddress); n += InQ(page, gone); page.uses++; EnQueue(page, q, TAIL);
}}
Event Replace() {{ {} }}
"""


@pytest.mark.parametrize("body, state", [
    ("page = DeQueue(levels[0], HEAD); EnQueue(page, _free_queue, TAIL);",
     "a command was given no page in Replace+3, line 6"),
    ("page = DeQueue(levels[i], HEAD); EnQueue(page, _free_queue, TAIL);",
     "an index outside its array, or an empty range in Replace+1, line 6"),
])
def test_what_goes_wrong_ends_the_policy_with_its_line(body, state, tmp_path):
    (tmp_path / "p.hp").write_text(PITFALL.format(body))
    done = subprocess.run([BUILD / "asan" / "hipec", "sim", "-p", "p.hp", "-f", "4", "-"], text=True,
                          cwd=tmp_path, input="r 0 10\n", capture_output=True, check=False)
    assert state in done.stdout


def test_ghosts_have_room_for_so_many(tmp_path):
    """Without the DeQueue only the first two are ever remembered."""
    give = ("page = DeQueue(q, HEAD); EnQueue(page, _free_queue, TAIL);"
            " if (!EnQueue(page, gone, TAIL)) {{ {} }}")
    seen = []
    for more in ("", "DeQueue(gone, HEAD); EnQueue(page, gone, TAIL);"):
        (tmp_path / "p.hp").write_text(PITFALL.format(give.format(more)))
        done = subprocess.run([BUILD / "asan" / "hipec", "sim", "--json", "-p", "p.hp", "-f", "4",
                               "-"], text=True, cwd=tmp_path, input="r 0 4\nr 10 4\nr 3\n",
                              capture_output=True, check=True)
        seen.append(json.loads(done.stdout)[0]["policy_counters"]["n"])
    assert seen == [0, 1]
