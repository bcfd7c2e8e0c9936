# SPDX-License-Identifier: GPL-2.0-only
"""What a watcher of a simulation is told: in its order, for policies short enough
to be followed by hand; as often as the simulator counts; and nothing else changes."""

import collections
import json
import os
import re
import subprocess

import pytest

from conftest import BUILD, ROOT

pytestmark = pytest.mark.more

DUMP = BUILD / "asan" / "watchdump"
HIPEC = BUILD / "asan" / "hipec"
ENV = {**os.environ, "HIPEC_POLICY_PATH": str(BUILD / "policies")}


@pytest.fixture(autouse=True, scope="module")
def built():
    subprocess.run(["make", "-s", "-C", ROOT, DUMP.relative_to(ROOT), HIPEC.relative_to(ROOT),
                    "build/asan/ampc"], check=True)


def dump(policy, frames, trace, mode="mapped", stop=()):
    """Lines, and what the run returned and how many commands it counted."""
    done = subprocess.run([DUMP, policy, str(frames), mode, *map(str, stop)], input=trace,
                          text=True, capture_output=True, check=False, env=ENV)
    assert done.returncode == 0, done.stderr
    *lines, last = done.stdout.splitlines()
    ret, commands = re.fullmatch(r"(-?\d+): (\d+) commands", last).groups()
    return lines, int(ret), int(commands)


def source(tmp_path, text):
    path = tmp_path / "policy.hp"
    path.write_text(text)
    return path


def pagefault(page):
    return [f"   page {page} came in", f" begin PageFault {page}",
            "  0:PageFault+1 22 findpa page, FaultedAddress",
            "  0:PageFault+2 23 enqueue page, fifo, tail", "  0:PageFault+3 24 return",
            f" end PageFault {page}"]


def replace(page, victim):
    return [f" begin Replace {page}", "  0:Replace+1 28 dequeue page, fifo, head",
            "  0:Replace+2 29 enqueue page, _free_queue, tail", f"   page {victim} given up",
            "  0:Replace+3 30 return", f" end Replace {page}"]


def test_fifo_is_told_step_by_step():
    """Two frames: 8 takes 5's, which is dirty; 5 takes 6's, which is clean."""
    lines, ret, commands = dump("policies/fifo.hp", 2, "r 5\nr 6\nw 5\nr 8\nr 5\n")
    assert lines == ["1 read 5 fault", *pagefault(5), "2 read 6 fault", *pagefault(6),
                     "3 write 5 hit", "4 read 8 fault", *replace(8, 5), "   page 5 written back",
                     *pagefault(8), "5 read 5 fault", *replace(5, 6), *pagefault(5),
                     "over: 5 accesses"]
    assert (ret, commands) == (0, 4 * 3 + 2 * 3)


def test_a_watcher_can_stop():
    """At access 2, which is not served."""
    lines, ret, commands = dump("policies/fifo.hp", 2, "r 5 1000\n", stop=[2])
    assert lines == ["1 read 5 fault", *pagefault(5), "2 read 6 fault"]
    assert (ret, commands) == (-125, 3)  # ECANCELED


CALLS = """Event Init() { Queue q; Page page; Int n; }
Event Third() { n++; }
Event Second() { Third(); }
Event PageFault() {
    page = FindPA(FaultedAddress);
    if (n > 5) UnMap(page);
    EnQueue(page, q, TAIL);
}
Event Access() { page = FindPA(FaultedAddress); UnMap(page); Second(); }
Event Replace() {
    page = DeQueue(q, HEAD);
    if (Mod(page)) Flush(page);
    Release(page);
    Request(1);
}
"""


def test_calls_tell_their_depth_and_tests_their_jumps(tmp_path):
    """A test and the jump behind it, one step of the interpreter, are two commands."""
    policy = source(tmp_path, CALLS)
    lines, _, commands = dump(policy, 2, "w 7\nr 7\nr 8\nw 9\n", "exact")
    told = [re.match(r"  (\d):(\w+)\+(\d+) (\d+) (\w+)", line).groups() for line in lines
            if re.match(r"  \d", line)]
    assert len(told) == commands
    access = [t for t in told if t[3] in ("9", "3", "2")]
    assert [(int(d), e) for d, e, *_ in access] == [
        (0, "Access"), (0, "Access"), (0, "Access"), (1, "Second"), (2, "Third"), (2, "Third"),
        (1, "Second"), (0, "Access")]
    first = [t[4] for t in told[:told.index(access[0])]]
    assert first[:3] == ["findpa", "comp", "jump"]
    gone = [line.strip() for line in lines if line.startswith("   ")]
    assert gone == ["page 7 came in", "page 8 came in", "page 7 handed over to be written",
                    "page 7 released", "page 7 written back", "page 9 came in"]


UNMAPS = """Event Init() { Queue q; Page page; Page last; Int n; }
Event PageFault() {
    if (n) UnMap(last);
    page = FindPA(FaultedAddress);
    last = page;
    n = 1;
    EnQueue(page, q, TAIL);
}
Event Replace() { page = DeQueue(q, HEAD); EnQueue(page, _free_queue, TAIL); }
"""


@pytest.mark.parametrize("mode, kind", [("mapped", "soft"), ("exact", "hit")])
def test_a_touch_of_what_is_not_mapped_is_soft(mode, kind, tmp_path):
    """The fault on 8 takes the mapping of 7 away, the touch gives it back."""
    trace = "r 7\nr 7\nr 8\nr 7\nr 7\n"
    lines, _, _ = dump(source(tmp_path, UNMAPS), 2, trace, mode)
    kinds = [line.split()[3] for line in lines if line[0].isdigit()]
    assert kinds == ["fault", "hit", "fault", kind, "hit"]


ENDS = """Event Init() { Queue q; Page page; Page none; }
Event PageFault() { page = FindPA(FaultedAddress); EnQueue(page, q, TAIL); }
Event Replace() { EnQueue(none, q, HEAD); }
"""
FORGETS = """Event Init() { Int n; }
Event PageFault() { n++; }
Event Replace() { n++; }
"""
FETCHES = """Event Init() { Queue q; Page page; Int got; }
Event PageFault() {
    page = FindPA(FaultedAddress);
    EnQueue(page, q, TAIL);
    Prefetch(FaultedAddress + 4096, 2);
}
Event Replace() { page = DeQueue(q, HEAD); EnQueue(page, _free_queue, TAIL); }
"""


def test_the_end_of_a_policy_is_told_before_it_is_taken_away(tmp_path):
    lines, ret, _ = dump(source(tmp_path, ENDS), 1, "r 7\nr 8\n")
    at = lines.index(" ended: a command was given no page in Replace+1, line 3: "
                     "enqueue none, q, head")
    assert lines[at - 1].startswith("  0:Replace+1 3 ")
    assert lines[at + 1:] == [" end Replace 8", "   page 7 taken by the built-in replacement",
                              "   page 8 came in", "over: 2 accesses"]
    assert ret == 0


def test_what_a_policy_leaves_on_no_queue_is_told(tmp_path):
    lines, _, _ = dump(source(tmp_path, FORGETS), 1, "r 7\nr 8\n")
    assert "   page 7 taken: it was on no queue" in lines
    assert not [line for line in lines if "Replace" in line]


def test_prefetched_pages_come_in_are_touched_or_dropped(tmp_path):
    """Three frames. 7 brings 8 and 9 along; 9 waits for three faults, which is more
    than half of the frames; the frame of 9 is then that of 30."""
    lines, _, _ = dump(source(tmp_path, FETCHES), 3, "r 7\nr 8\nr 20\nr 30\nr 40\n")
    told = [line.strip() for line in lines if line.startswith("   ") or line[0].isdigit()]
    assert told == [
        "1 read 7 fault", "page 7 came in", "page 8 fetched by Prefetch",
        "page 9 fetched by Prefetch", "2 read 8 first", "page 8 came in", "3 read 20 fault",
        "page 7 given up", "page 20 came in", "4 read 30 fault",
        "page 9 dropped: Prefetch brought it in for nothing", "page 30 came in",
        "5 read 40 fault", "page 8 given up", "page 40 came in"]


def every_policy():
    return sorted(f"policies/{p.name}" for p in (ROOT / "policies").glob("*.hp"))


@pytest.mark.parametrize("name", every_policy())
def test_what_is_told_adds_up(name):
    """To what hipec sim counts of the same run when nobody watches."""
    trace = "".join(f"{'w' if i % 3 else 'r'} {i * i % 23} {1 + i % 3}\n" for i in range(60))
    lines, ret, commands = dump(name, 9, trace)
    done = subprocess.run([HIPEC, "sim", "--json", "-p", name, "-f", "9", "-"], input=trace,
                          text=True, capture_output=True, check=True, env=ENV)
    row = json.loads(done.stdout)[0]
    told = collections.Counter()
    for line in lines:
        told["commands"] += bool(re.match(r"  \d", line))
        told["events"] += line.startswith(" begin")
        told["accesses"] += line[0].isdigit()
        told["faults"] += line[0].isdigit() and line.endswith(("fault", "first"))
        told["written_pages"] += line.endswith("written back")
        told["evictions"] += line.endswith((" given up", "released", "no queue", "replacement"))
    assert ret == 0 and commands == row["commands"]
    assert told == collections.Counter({key: row[key] for key in told})
    assert told["evictions"] > 0 and told["written_pages"] > 0
