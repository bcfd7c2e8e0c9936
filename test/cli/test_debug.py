# SPDX-License-Identifier: GPL-2.0-only
"""hipec sim: sessions whose text was worked out by hand, beside what the simulator
counts; why a page left; what it refuses; on a terminal; docs/policy/tutorial.md."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import termios

import pytest

from conftest import BUILD, ROOT, chapter

HIPEC = BUILD / "asan" / "hipec"
ENV = {**os.environ, "HIPEC_POLICY_PATH": str(BUILD / "policies")}
PROMPT = "(hipec) "


@pytest.fixture(autouse=True, scope="module")
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/hipec", "build/asan/ampc", "build/hipec",
                    "build/hpt"], check=True)


@pytest.fixture
def look(tmp_path, quick_start):  # pylint: disable=unused-argument
    """A session: commands on standard input; what it printed at first, and behind each."""
    def session(policy, frames, trace, *commands, code=0, errors="", args=()):
        (tmp_path / "trace").write_text(trace)
        if "\n" in policy:
            (tmp_path / "p.hp").write_text(policy)
            policy = tmp_path / "p.hp"
        done = subprocess.run(
            [HIPEC, "sim", "--step", "-p", policy, "-f", str(frames), *args, tmp_path / "trace"],
            input="".join(f"{c}\n" for c in commands), text=True, capture_output=True, check=False,
            cwd=ROOT, env={**os.environ, **ENV})
        assert done.returncode == code, done.stdout + done.stderr
        assert errors is None or done.stderr == errors
        first, *rest = done.stdout.split(PROMPT)
        answers = [r.partition("\n") for r in rest]
        assert [echo for echo, _, _ in answers] == list(commands)
        return [first, *[answer for _, _, answer in answers]]
    return session


SIX = "w 1\nr 2\nr 3\nr 1\nr 4\nr 1\n"
FIFO = "build/policies/fifo.hpo"


def place(event, number, command, line, text, file="fifo.hp"):
    return f"{f'{event}+{number}':<13} {command:<40} {file}:{line}: {text}\n"


FIND = place("PageFault", 1, "findpa page, FaultedAddress", 22, "page = FindPA(FaultedAddress);")
PUT = place("PageFault", 2, "enqueue page, fifo, tail", 23, "EnQueue(page, fifo, TAIL);")
PUT_END = place("PageFault", 3, "return", 24, "}")
TAKE = place("Replace", 1, "dequeue page, fifo, head", 28, "page = DeQueue(fifo, HEAD);")
GIVE = place("Replace", 2, "enqueue page, _free_queue, tail", 29, "EnQueue(page, _free_queue, TAIL);")
GIVE_END = place("Replace", 3, "return", 30, "}")
OVER = "the trace is over: 6 accesses, 5 misses, 2 evictions, 1 written, 21 commands\n"


def test_a_session_of_fifo(look):
    """Five misses of 3 commands, and two Replace of 3: 1 goes for 4, dirty, 2 for 1."""
    got = look(FIFO, 3, SIX, "step", "s 2", "step", "access", "queues", "access", "access", "step",
               "queues", "s", "queues", "s", "s", "s 2", "s", "queues", "run", "queues", "run",
               "quit")
    assert got == [
        "access 1 of 6: write page 1, a miss\n", "PageFault for page 1\n" + FIND, PUT_END,
        "access 2 of 6: read page 2, a miss\nPageFault for page 2\n" + FIND,
        "access 3 of 6: read page 3, a miss\n",
        "_free_queue         1  free frames\n"
        "fifo                2  head | 1 rd | 2 r | tail\n",
        "access 4 of 6: read page 1, a hit\n", "access 5 of 6: read page 4, a miss\n",
        "Replace for page 4\n" + TAKE,
        "_free_queue         0  free frames\n"
        "fifo                3  head | 1 rd | 2 r | 3 r | tail\n",
        GIVE,
        "_free_queue         0  free frames\n"
        "fifo                2  head | 2 r | 3 r | tail\n"
        "(no queue)          1  head | 1 rd | tail\n",
        GIVE_END, "PageFault for page 4\n" + FIND, PUT_END,
        "access 6 of 6: read page 1, a miss\nReplace for page 1\n" + TAKE,
        "_free_queue         0  free frames\n"
        "fifo                3  head | 2 r | 3 r | 4 r | tail\n",
        OVER,
        "_free_queue         0  free frames\n"
        "fifo                3  head | 3 r | 4 r | 1 r | tail\n",
        "the trace is over; 'back' and 'goto N' go back\n", ""]


def test_lines_and_events(look):
    """next, event and finish; a line has a second command where an event begins."""
    got = look(FIFO, 3, SIX, "next", "n", "finish", "event 2", "next 2", "next", "finish", "where",
               "finish")
    assert got[1:] == [
        "PageFault for page 1\n" + FIND, PUT, "access 2 of 6: read page 2, a miss\n",
        "access 3 of 6: read page 3, a miss\nPageFault for page 3\n" + FIND, PUT_END,
        "access 5 of 6: read page 4, a miss\nReplace for page 4\n" + TAKE,
        "PageFault for page 4\n" + FIND,
        "access 5 of 6: read page 4, a miss\nPageFault for page 4\n" + FIND,
        "access 6 of 6: read page 1, a miss\n"]


def test_going_back(look):
    """Moments: 4 of each of the first three accesses, 1 of the hit, 7, and 7 of 1."""
    got = look(FIFO, 3, SIX, "goto 5", "back", "back", "back 2", "goto 4", "goto 4", "run", "back",
               "back 99", "back", "goto 7", "goto", "goto 5", "step", "goto 5", code=1)
    assert got[1:] == [
        "access 5 of 6: read page 4, a miss\n", "access 4 of 6: read page 1, a hit\n",
        "access 3 of 6: read page 3, a miss\nPageFault for page 3\n" + PUT_END,
        "access 3 of 6: read page 3, a miss\nPageFault for page 3\n" + FIND,
        "access 4 of 6: read page 1, a hit\n", "", OVER,
        "access 6 of 6: read page 1, a miss\nPageFault for page 1\n" + PUT_END,
        "access 1 of 6: write page 1, a miss\n", "this is where it begins\n",
        "goto: want the number of an access, 1 to 6\n",
        "goto: want the number of an access, 1 to 6\n", "access 5 of 6: read page 4, a miss\n",
        "Replace for page 4\n" + TAKE, "access 5 of 6: read page 4, a miss\n"]


@pytest.mark.parametrize("policy, mode", [("fifo2", "mapped"), ("lru", "exact"),
                                          ("mpfifo2", "mapped")])
def test_steps_are_the_commands_of_the_simulator(policy, mode, look):
    """As many, and going back from the end is the same way."""
    trace = "".join(f"{'w' if i % 3 else 'r'} {i * i % 7}\n" for i in range(16))
    path = f"build/policies/{policy}.hpo"
    done = subprocess.run([HIPEC, "sim", "--json", "-m", mode, "-p", path, "-f", "4", "-"],
                          input=trace, text=True, capture_output=True, check=True, cwd=ROOT)
    row = json.loads(done.stdout)[0]
    n = row["commands"]
    args = ("--mode", mode)
    there = look(path, 4, trace, *["step"] * (n + 1), args=args)[1:]
    steps = [answer.split("\n")[-2] for answer in there]
    assert all(re.match(r"[A-Z]\w+\+\d+ ", step) for step in steps[:-1])
    assert steps[-1] == (f"the trace is over: 16 accesses, {row['faults']} misses, "
                         f"{row['evictions']} evictions, {row['written_pages']} written, "
                         f"{n} commands")
    back = look(path, 4, trace, "run", *["back"] * (n + 16), args=args)[2:]
    places = [answer.split("\n")[-2] for answer in back]
    assert [p for p in places if not p.startswith("access ")] == steps[-2::-1]
    assert places[-1] == "access 1 of 16: read page 0, a miss"


def test_why_names_the_line_that_chose(look):
    """Of fifo2: the bit of page 1 is reset where it becomes inactive, and nobody
    touches it there."""
    got = look("build/policies/fifo2.hpo", 3, SIX, "why 1", "stop line fifo2.hp:62", "run",
               "why 1 3", "access", "why 1 6", "why 3", "why 7", "why 1 all")
    active, took = "PageFault+3, fifo2.hp:37", "Replace+16, fifo2.hp:53"
    came = ["  access 1       write: a miss", "  access 1       came in",
            f"  access 1       put at the tail of active_queue: {active}",
            "  access 4       read: a hit"]
    moved = ["  access 5       taken off the head of active_queue: Replace+8, fifo2.hp:46",
             "  access 5       referenced bit reset: Replace+10, fifo2.hp:48",
             "  access 5       put at the tail of inactive_queue: Replace+11, fifo2.hp:49"]
    left = [f"  access 5       taken off the head of inactive_queue: {took}",
            "  access 5       handed over to be written: Replace+27, fifo2.hp:61",
            "  access 5       given up: Replace+28, fifo2.hp:62",
            "  access 5       written back", "  access 6       read: a miss"]
    chosen = (f"page 1 left in access 5, when page 4 was wanted, chosen by {took}: "
              "if (!(page = DeQueue(inactive_queue, HEAD)))")
    answers = [answer.splitlines() for answer in got]
    assert answers[1] == [came[0], "page 1 is not here; 'why 1' says since when"]
    assert answers[4] == ["  6 more before: 'why 1 all'", moved[2], *left[:2],
                          "page 1, resident, dirty, on no queue"]
    assert answers[6] == ["  6 more before: 'why 1 all'", moved[2], *left, chosen]
    assert answers[7][-1] == "page 3, resident, referenced, on active_queue"
    assert answers[8] == ["page 7 was not touched so far"]
    assert answers[9] == [*came, *moved, *left, chosen]


CHOOSES = """Event Init() { Queue q; Page page, first, other; }
Event PageFault() {
    page = FindPA(FaultedAddress);
    EnQueue(page, q, TAIL);
    other = page;
}
Event Replace() {
    first = Peek(q, HEAD);
    page = first;
    first = Peek(q, TAIL);
    if (FaultedAddress > 4 << 12)
        page = other;
    other = FindPA(1 << 12);
    EnQueue(page, _free_queue, TAIL);
}
"""


def test_why_goes_by_the_operand_that_was_given_up(look):
    """Whatever else had the page, through copies and in other events: 1 was the head
    when 4 came, and 4 was what had come last when 5 did."""
    got = look(CHOOSES, 3, "r 1 5\n", "run", "why 1", "why 4")
    assert got[2].endswith("page 1 left in access 4, when page 4 was wanted, chosen by Replace+1, "
                           "p.hp:8: first = Peek(q, HEAD);\n")
    assert got[3].endswith("page 4 left in access 5, when page 5 was wanted, chosen by "
                           "PageFault+1, p.hp:3: page = FindPA(FaultedAddress);\n")


def test_why_when_no_line_chose(look):
    policy = """Event Init() { Int n; Page page; }
Event PageFault() { n++; page = FindPA(FaultedAddress); EnQueue(page, _free_queue, TAIL); }
Event Replace() { n++; }
"""
    got = look(policy, 1, "r 7\nr 7\nw 7\nr 8\n", "run", "why 7", errors=None)
    assert got[2] == (
        "  access 1       read: a miss\n"
        "  access 1       came in\n"
        "  access 1       not given up: it cannot go now: PageFault+3, p.hp:2\n"
        "  access 2 to 3, 2 hits, 1 of them writes\n"
        "  access 4       taken: it was on no queue\n"
        "  access 4       written back\n"
        "page 7 left in access 4, when page 8 was wanted, and no line chose it\n")


GHOSTS = """Event Init() {
    Queue q, gone; Page page; Field uses; Ghosts 100;
    param Int keep = 2; Int hist[40]; Queue level[3];
}
Event Note() {
    hist[3]++;
    page.uses++;
}
Event PageFault() { page = FindPA(FaultedAddress); Note(); EnQueue(page, q, TAIL); }
Event Replace() {
    page = DeQueue(q, HEAD);
    Release(page);
    EnQueue(page, gone, TAIL);
    Request(1);
}
"""


def test_ghosts_fields_arrays_and_calls(look):
    got = look(GHOSTS, 2, "w 1\nr 2\nr 3\n", "stop in Note", "run", "where", "print", "print page",
               "print hist[3]", "delete 1", "stop line 14", "run", "queues", "page 1", "print",
               "access", "queues gone", "queues level", "queues level[2]", "page 1", "why 1",
               "print .t0", "goto 1", "event", "event")
    source = {line: text.strip() for line, text in enumerate(GHOSTS.split("\n"), 1)}
    note = place("Note", 1, "load .t0, hist, 3", 6, source[6], "p.hp")
    called = place("PageFault", 2, "call Note", 9, source[9], "p.hp")
    fault = "PageFault for page 1\n"
    zeroes = "0 0 0 0 0 ... 30 more ... 0 0 0 0 0"
    entry = "page 1, resident, not mapped, pinned, on no queue, uses 0"
    assert got[2] == "stop 1: in Note\n" + fault + note
    assert got[3] == "access 1 of 3: write page 1, a miss\n" + fault + note + called
    assert got[4] == (f"_free_count = 1\npage = {entry}\nkeep = 2\nhist[40] = {zeroes}\n"
                      "FaultedAddress = 0x1000, page 1\n")
    assert got[5:7] == [f"page = {entry}\n", "hist[3] = 0\n"]
    assert got[9].startswith("stop 2: at line 14\naccess 3 of 3: read page 3, a miss\n")
    assert got[10] == ("_free_queue         0  free frames\n"
                       "q                   1  head | 2 r | tail\n"
                       "gone                1  head | 1 dwg | tail\n"
                       "level[3]            3  empty queues\n")
    assert got[11] == "page 1, a ghost, on gone, uses 1\n"
    assert "hist[40] = 0 0 0 2 0 ... 30 more" in got[12]
    assert got[14:18] == ["gone                1  head | 1 g | tail\n",
                          "level[3]            3  empty queues\n", "level[2]            0\n",
                          "page 1, a ghost, on gone, uses 1\n"]
    assert got[18].endswith(
        "  access 3       released: Replace+2, p.hp:12\n"
        "  access 3       put at the tail of gone: Replace+3, p.hp:13\n"
        "  access 3       written back\n"
        "page 1 left in access 3, when page 3 was wanted, chosen by Replace+1, p.hp:11: "
        "page = DeQueue(q, HEAD);\npage 1, a ghost, on gone, uses 1\n")
    assert re.fullmatch(r"\.t0 = \d+\n", got[19])
    assert got[21].startswith("PageFault for page 1\n")
    assert got[22].startswith("access 2 of 3: read page 2, a miss\nPageFault for page 2\n")


def test_stops(look):
    got = look(FIFO, 3, SIX, "stop at 2", "break in Replace", "stop fifo.hp:23", "stop page 1",
               "stop miss", "stop", "run", "run", "delete 5", "delete 3", "run", "delete 4", "run",
               "delete all", "stop", "stop page 1", "run", "continue", "run")
    stops = ["stop 1: at access 2\n", "stop 2: in Replace\n", "stop 3: at line 23\n",
             "stop 4: at page 1\n", "stop 5: at a miss\n"]
    assert got[1:6] == stops and got[6] == "".join(stops)
    assert got[7] == "stop 4: page 1 came in\nPageFault for page 1\n" + FIND
    assert got[8] == "stop 3: at line 23\n" + PUT
    assert got[9:12] == ["", "", "stop 1: at access 2\naccess 2 of 6: read page 2, a miss\n"]
    assert got[13] == ("stop 2: in Replace\naccess 5 of 6: read page 4, a miss\n"
                       "Replace for page 4\n" + TAKE)
    assert got[15] == "no stops; 'stop in Replace' makes one\n"
    assert got[17] == "stop 6: page 1 given up, Replace+2, fifo.hp:29\n" + GIVE_END
    assert got[18].startswith("stop 6: page 1 written back\nPageFault for page 4\n")
    assert got[19] == "stop 6: at page 1\naccess 6 of 6: read page 1, a miss\n"


def test_stops_at_misses_and_where_events_begin(look):
    """Not at hits, nor where an event goes back to its first command."""
    got = look("build/policies/fifo2.hpo", 3, SIX, "stop miss", "run", "run", "run", "delete all",
               "goto 1", "stop in Replace", "run", "run", "run")
    assert [re.search(r"access \d|over", answer).group() for answer in got[2:5] + got[8:]] == [
        "access 2", "access 3", "access 5", "access 5", "access 6", "over"]


def test_long_queues_are_drawn_by_their_ends(look):
    twelve = " | ".join(f"{i} r" for i in range(12))
    got = look(FIFO, 20, "r 0 15\n", "goto 13", "queues fifo", "goto 14", "queues fifo")
    assert got[2] == f"fifo               12  head | {twelve} | tail\n"
    ends = [" | ".join(f"{i} r" for i in part) for part in (range(5), range(8, 13))]
    assert got[4] == f"fifo               13  head | {ends[0]} | ... 3 more ... | {ends[1]} | tail\n"


def test_arrays_of_queues_are_drawn_by_what_is_not_empty(look):
    """IndexLevel, a shared array, is zero: all pages are of level 0."""
    got = look("build/policies/mpfifo2.hpo", 3, SIX, "goto 3", "queues level", "queues level[1]",
               "page 1", "print IndexLevel[65535]", "why 2")
    assert got[2] == ("level[0]            2  head | 1 rd | 2 r | tail\n"
                      "level[26]          25  empty queues\n")
    assert got[3:6] == ["level[1]            0\n",
                        "page 1, resident, referenced, dirty, on level[0]\n",
                        "IndexLevel[65535] = 0\n"]
    assert "  access 2       put at the tail of level[0]: PageFault+" in got[6]


WRONG = [
    ("stp", "there is no 'stp'; did you mean 'step'?"),
    ("frobnicate", "there is no 'frobnicate'; 'help' says what there is"),
    ("step 0", "step: want a number from 1 on, not '0'"),
    ("step x", "step: want a number from 1 on, not 'x'"),
    ("step 1 2", "usage: step [N]"),
    ("finish", "finish: no event runs"),
    ("goto 7", "goto: want the number of an access, 1 to 6"),
    ("stop in Replcae", "stop: the policy has no event 'Replcae'; did you mean 'Replace'?"),
    ("stop in Timer", "stop: the policy has no event 'Timer'"),
    ("stop line 25", "stop: line 25 has no commands; the next that has is 28"),
    ("stop line 31", "stop: no line from 31 on has commands"),
    ("stop lru.hp:28", "stop: there is no 'lru.hp' here, the policy is of fifo.hp"),
    ("stop line x", "stop: want a line, as 7 or FILE:7, not 'x'"),
    ("stop 5", "stop: want at N (an access, 1 to 6), in EVENT, line [FILE:]N, page N, or miss"),
    ("stop at 7", "stop: want at N (an access, 1 to 6), in EVENT, line [FILE:]N, page N, or miss"),
    ("delete 1", "delete: there is no stop '1'"),
    ("delete", "delete: want the number of a stop, or all"),
    ("queues fif", "queues: the policy has no 'fif'; did you mean 'fifo'?"),
    ("queues page", "queues: 'page' is no queue"),
    ("queues fifo[0]", "queues: 'fifo[0]' is no queue"),
    ("print pge", "print: the policy has no 'pge'; did you mean 'page'?"),
    ("print page[0]", "print: 'page[0]' is no element of an array"),
    ("page x", "page: want the number of a page"),
    ("why", "why: want the number of a page"),
    ("why 1 x", "why: want how many lines, or all, not 'x'"),
    ("list x", "list: want the number of a line, not 'x'"),
    ("list 32", "list: fifo.hp has 30 lines"),
    ("dis", "dis: no event runs; want the name of one"),
    ("dis PageFalt", "dis: the policy has no event 'PageFalt'; did you mean 'PageFault'?"),
]


def test_wrong_commands_are_said_and_change_nothing(look):
    commands, answers = zip(*WRONG)
    got = look(FIFO, 3, SIX, *commands, "", "# nothing", "step # one", code=1)
    assert got[1:-3] == [answer + "\n" for answer in answers]
    assert got[-3:] == ["", "", "PageFault for page 1\n" + FIND]


def test_elements_outside_of_arrays_are_refused(look):
    got = look(GHOSTS, 2, "r 1\n", "print hist[40]", "print hist[x]", "queues level[3]", code=1)
    assert got[1:] == ["print: 'hist[40]' is not in the array, which has 40 elements\n",
                       "print: the policy has no 'hist[x]'; did you mean 'hist'?\n",
                       "queues: 'level[3]' is no queue\n"]


def test_it_begins_in_init(look):
    policy = """Event Init() { Queue q; Page page; Int n; n = 7; }
Event PageFault() { page = FindPA(FaultedAddress); EnQueue(page, q, TAIL); }
Event Replace() { page = DeQueue(q, HEAD); EnQueue(page, _free_queue, TAIL); }
"""
    got = look(policy, 3, "r 5\n", "print n", "why 5", "step", "print n", "back", "back", "access",
               "back 9", "run", "why 5")
    init = place("Init", 1, "arith n, 7, set", 1, policy.split("\n")[0], "p.hp")
    assert got[:7] == ["Init, before the first access\n" + init, "n = 0\n",
                       "page 5 was not touched so far\n",
                       place("Init", 2, "return", 1, policy.split("\n")[0], "p.hp"), "n = 7\n",
                       "Init, before the first access\n" + init, "this is where it begins\n"]
    assert got[7] == "access 1 of 1: read page 5, a miss\n"
    assert got[8] == "Init, before the first access\n" + init
    assert got[9] == ("the trace is over: 1 accesses, 1 misses, 0 evictions, 0 written, "
                      "5 commands\n")


DIES = """Event Init() { Queue q; Page page; Int zero; }
Event PageFault() { page = FindPA(FaultedAddress); EnQueue(page, q, TAIL); }
Event Replace() {
    page = DeQueue(q, HEAD);
    zero = 1 / zero;
}
"""


def test_a_policy_that_dies_is_shown_as_it_was(look):
    end = "the policy has ended: division by zero in Replace+3, line 5: arith .t0, zero, div\n"
    at = place("Replace", 3, "arith .t0, zero, div", 5, "zero = 1 / zero;", "p.hp")
    got = look(DIES, 2, "r 1\nr 2\nr 3\nr 3\n", "run", "where", "queues", "run", "queues", "why 1",
               errors=None)
    here = "access 3 of 4: read page 3, a miss\nReplace for page 3\n"
    assert got[1:3] == [here + end, here + end + at]
    assert got[3] == ("_free_queue         0  free frames\n"
                      "q                   1  head | 2 r | tail\n"
                      "(no queue)          1  head | 1 r | tail\n")
    # FIFO2: of 1, on no queue, and 2 the former is looked at first, and its bit reset.
    assert got[4].startswith("the trace is over: 4 accesses, 3 misses, 1 evictions, ")
    assert got[5] == ("_free_queue         0  free frames\n"
                      "q                   0\n"
                      "(active)            2  head | 2 r | 3 r | tail\n"
                      "(inactive)          0\n")
    assert got[6].endswith("  access 3       taken by the built-in replacement\npage 1 left in "
                           "access 3, when page 3 was wanted, and no line chose it\n")


def test_without_a_source_there_are_commands(look, tmp_path):
    copy = tmp_path / "other.hpo"
    source = tmp_path / "mine.hp"
    source.write_text(DIES)
    subprocess.run([BUILD / "asan" / "ampc", "-Wno-victim", "-o", copy, source], check=True)
    none = f"hipec sim: {copy} has no source here, but commands; --source FILE names it\n"
    got = look(str(copy), 2, "r 1\n", "step", "list", "stop line 2", code=1, errors=none)
    assert got[1:] == [f"PageFault for page 1\n{'PageFault+1':<13} "
                       f"{'findpa page, FaultedAddress':<40} line 2\n",
                       "list: there is no source; 'dis' shows commands\n", "stop 1: at line 2\n"]
    other = ROOT / "policies" / "fifo.hp"
    wrong = f"hipec sim: {other} is not what the policy was compiled from: there are commands, " \
            "no source\n"
    look(str(copy), 2, "r 1\n", errors=wrong, args=("--source", other))
    got = look(str(copy), 2, "r 1\n", "step", args=("--source", source))
    assert got[1].endswith(" mine.hp:2: Event PageFault() { page = FindPA(FaultedAddress); "
                           "EnQueue(page, q, TAIL); }\n")
    (tmp_path / "other.hp").write_text(DIES)
    assert " other.hp:2: " in look(str(copy), 2, "r 1\n", "step")[1]


def test_without_line_numbers_it_goes_by_commands(look, tmp_path):
    image = tmp_path / "ghosts.hpo"
    subprocess.run([BUILD / "hpt", "--output", image, "test/guest/policies/ghosts.hpt"], check=True,
                   cwd=ROOT, capture_output=True)
    none = f"hipec sim: {image} has no source here, but commands; --source FILE names it\n"
    got = look(str(image), 2, "r 1\n", "step", "next", "stop line 3", "why 1", code=1, errors=none)
    assert got[1] == f"PageFault for page 1\n{'PageFault+1':<13} findpa p, FaultedAddress\n"
    assert got[2:4] == ["next: the policy has no line numbers; 'step' goes by commands\n",
                        "stop: the policy has no line numbers\n"]


def hipec(*args, **kwargs):
    return subprocess.run([HIPEC, *map(str, args)], text=True, capture_output=True, check=False,
                          cwd=ROOT, env=ENV, **kwargs)


@pytest.mark.parametrize("args, code, says", [
    (["t"], 2, "--policy: want one policy"),
    (["-p", "mru,fifo2", "-f", "3", "t"], 2, "--policy: want one policy"),
    (["-p", "mru", "t"], 2, "--frames: want one size, in frames (3, 4k) or memory (64M)"),
    (["-p", "mru", "-f", "10%", "t"], 2,
     "--frames: want one size, in frames (3, 4k) or memory (64M)"),
    (["-p", "mru", "-f", "3", "-"], 2,
     "standard input is for commands: want the trace as a file, or --command"),
    (["-p", "mru", "-f", "3"], 2, None),
    (["-p", "lru", "-f", "3", "-c", "run", "-"], 1,
     "lru is built in and has no commands: want a .hp, a .hpo or a shipped policy"),
    (["-p", "builtin", "-f", "3", "-c", "run", "-"], 1,
     "builtin is built in and has no commands: want a .hp, a .hpo or a shipped policy"),
    (["-p", "mru", "-f", "3", "no/such"], 1, "no/such: No such file or directory"),
    (["-p", "mru", "-f", "3", "/dev/null"], 1, None),
])
def test_what_it_refuses(args, code, says):
    done = hipec("sim", "--step", *args, input="r 1\n")
    wanted, empty = "want a trace", "/dev/null: want an access, but there is none"
    assert done.returncode == code and not done.stdout
    assert done.stderr.split("\n")[0] == \
        f"hipec sim: {says or (wanted if code == 2 else empty)}"


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, *argv):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ["TERM"] = "xterm"
            os.execv(argv[0], [str(arg) for arg in argv])
        self.text = b""

    def read(self, seconds):
        """More text, or none in that time, or at the end."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        try:
            more = os.read(self.fd, 65536)
        except OSError:
            more = b""
        self.text += more
        return bool(more)

    def expect(self, mark, signals=0):
        """Everything up to @mark; until it comes, @signals go out now and then."""
        while mark not in self.text:
            if not self.read(0.02 if signals else 30):
                assert signals, self.text
                os.kill(self.pid, signals)
        before, _, self.text = self.text.partition(mark)
        return before.decode()

    def say(self, keys):
        """Behind the prompt; libedit prints it and then takes the terminal over."""
        self.expect(b"(hipec) ")
        while termios.tcgetattr(self.fd)[3] & termios.ICANON:
            self.read(0.01)
        os.write(self.fd, keys)

    def end(self):
        while self.read(30):
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_on_a_terminal_lines_are_edited_and_repeated(tmp_path):
    """Ctrl-A goes to the begin, Ctrl-D deletes there, an empty line steps again; wrong
    commands are no failure there."""
    (tmp_path / "trace").write_text(SIX)
    t = Terminal(BUILD / "hipec", "sim", "--step", "-p", ROOT / "policies" / "fifo.hp", "-f", "3",
                 tmp_path / "trace")
    t.say(b"xstep\x01\x04\n")
    t.expect(b"PageFault+1 ")
    t.say(b"\n")
    t.expect(b"PageFault+2 ")
    t.say(b"stp\n")
    t.expect(b"did you mean")
    t.say(b"\x04")
    assert t.end() == 0


def test_an_interrupt_stops_a_run(tmp_path):
    """40 million hits are to come; then it can be asked, and ends when told to."""
    (tmp_path / "trace").write_text("r 0 100000\n" * 400)
    t = Terminal(BUILD / "hipec", "sim", "--step", "-p", ROOT / "policies" / "fifo.hp", "-f", "100000",
                 tmp_path / "trace")
    t.say(b"run\n")
    t.expect(b"\n")
    t.expect(b"interrupted", signals=signal.SIGINT)
    at = t.expect(b" of 40000000: read page ")
    assert 1 <= int(at.split("access ")[1]) < 40000000
    t.say(b"quit\n")
    assert t.end() == 0


DOC = chapter("docs/policy/tutorial.md", "The debugger")


def test_examples_print_what_they_show(tmp_path):
    (tmp_path / "policies").symlink_to(ROOT / "policies")
    blocks = re.findall(r"^```\n(\$ .*?)^```", DOC, re.M | re.S)
    commands = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", "".join(blocks), re.M)
    assert len(commands) == 3
    for command, output in commands:
        said = "".join(f"{c}\n" for c in re.findall(r"^\(hipec\) (.*)", output, re.M))
        done = subprocess.run(["sh", "-c", command.replace("hipec sim --step", f"{HIPEC} sim --step")],
                              input=said, text=True, cwd=tmp_path, capture_output=True, check=False)
        assert done.stdout + done.stderr == output, command


def test_help_lists_the_commands_of_the_document(look):
    helped = look(FIFO, 3, SIX, "help")[1]
    listed = dict.fromkeys(re.findall(r"^([a-z]+) ", helped, re.M))
    documented = dict.fromkeys(c.split()[0] for row in re.findall(r"^\| (`.*?) \|", DOC, re.M)
                               for c in re.findall(r"`(.*?)`", row))
    assert list(listed) == list(documented)


def test_help_names_every_option():
    text = hipec("sim", "--help").stdout.partition("\n      --step ")[2].partition("\nExamples")[0]
    assert set(re.findall(r"--([a-z-]+)", text)) == {"policy", "frames", "mode", "command", "source",
                                                     "param", "from", "columns", "ops", "format"}
