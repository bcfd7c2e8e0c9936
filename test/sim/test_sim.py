# SPDX-License-Identifier: GPL-2.0-only
"""hipec sim: against arithmetic, against models in Python, against what the
module does at a fault; what it refuses; docs/user/sim.md."""

import json
import os
import random
import re
import subprocess

import pytest

from conftest import BUILD, ROOT, without
from sim_models import MODELS, PROGRAMS, harvested_lru

HIPEC = BUILD / "asan" / "hipec"
ENV = {**os.environ, "HIPEC_POLICY_PATH": str(BUILD / "policies")}


@pytest.fixture(autouse=True, scope="module")
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/hipec", "build/asan/ampc"], check=True)


def sim(*args, tool=HIPEC, **kwargs):
    kwargs.setdefault("env", ENV)
    return subprocess.run([tool, "sim", *map(str, args)], text=True, capture_output=True,
                          check=False, **kwargs)


def text_of(trace):
    return "".join(f"{'w' if write else 'r'} {page}\n" for page, write in trace)


def rows(policies, frames, trace, *args, **kwargs):
    """Elements of --json for a trace as text."""
    done = sim("--json", "--policy", ",".join(map(str, policies)), "--frames",
               ",".join(map(str, frames)), *args, "-", input=trace, **kwargs)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def row(policy, frames, trace, *args):
    return rows([policy], [frames], trace, *args)[0]


def source(tmp_path, text):
    path = tmp_path / "policy.hp"
    path.write_text(text)
    return path


def opt_sweep(n, p, f):
    """Faults of Belady's choice on p passes over n pages with f < n frames. Of the
    pages held, the one touched last before a fault is wanted last. So the pages
    that are missing move on by one with each pass: n - f faults in every n - 1
    accesses behind the first f, the faults first."""
    q, r = divmod(p * n - f, n - 1)
    return f + q * (n - f) + min(r, n - f)


@pytest.mark.parametrize("n, p, f", [(10, 5, 2), (10, 5, 7), (10, 5, 9), (16, 4, 3), (100, 10, 50),
                                     (100, 10, 97), (7, 3, 1), (1000, 4, 333)])
def test_sweeps_are_arithmetic(n, p, f):
    trace = f"r 0x40 {n}\n" * p
    # The first pass of MRU by order of faults keeps f - 1 pages for good.
    want = {"lru": p * n, "fifo": p * n, "clock": p * n, "opt": opt_sweep(n, p, f), "fifo2": p * n,
            "mru": n + (p - 1) * (n - f + 1), str(ROOT / "policies" / "fifo.hp"): p * n}
    got = rows(want, [f, n], trace)
    assert [r["faults"] for r in got] == [*want.values(), *[n] * len(want)]
    assert all(r["accesses"] == p * n and r["pages"] == n and r["hits"] == p * n - r["faults"]
               and r["evictions"] == r["faults"] - r["frames"] for r in got)


def test_opt_of_sweeps_is_that_of_independent_programs():
    """papers: 100 pages 10 times; 20 frames 820 faults, 99 frames 109."""
    assert [opt_sweep(100, 10, f) for f in (20, 50, 97, 99)] == [820, 550, 127, 109]


def test_commands_of_a_sweep_are_counted():
    """fifo.hp: 3 commands for each PageFault and for each Replace."""
    r = row("policies/fifo.hp", 4, "r 0 10\n")
    assert (r["commands"], r["events"]) == (3 * 10 + 3 * 6, 16)


def test_shipped_policies_live_with_hardly_a_frame():
    """Two thirds of one page are none: Figure 3 has nothing inactive then."""
    policies = [str(path) for path in sorted((ROOT / "policies").glob("*.hp"))]
    got = rows(policies, [1, 2, 3], "r 0 9\nw 3 5\nr 1\nr 1\n")
    assert len(got) == 3 * len(policies) and not any(r["exit"]["kind"] for r in got)
    assert [r["faults"] for r in got if r["frames"] == 1] == [15] * len(policies)


def random_trace(seed):
    """Skewed, with runs, reads and writes; pages far apart."""
    rng = random.Random(seed)
    far = rng.choice([1, 7, 65537])
    trace = []
    while len(trace) < 2000:
        start = min(int(rng.expovariate(0.05)), 300)
        write = rng.random() < 0.3
        trace += [(far * (start + i), write) for i in range(rng.choice([1, 1, 1, 2, 30]))]
    return trace


@pytest.mark.parametrize("seed", range(6))
def test_random_traces_are_those_of_the_models(seed):
    trace = random_trace(seed)
    frames = [1, 2, 5, 33, 100, 250]
    names = {**{name: name for name in ("lru", "fifo", "clock", "opt", "mru", "fifo2")},
             "default": "fifo2", "builtin": "fifo2", str(ROOT / "policies" / "fifo.hp"): "fifo"}
    mapped, exact = (rows(names, frames, text_of(trace), "--mode", mode)
                     for mode in ("mapped", "exact"))
    for r, same in zip(mapped, exact):
        assert (r["faults"], r["written_pages"]) == (same["faults"], same["written_pages"]) == \
            MODELS[names[r["policy"]]](trace, r["frames"]), (r["policy"], r["frames"])


@pytest.mark.parametrize("name", sorted(PROGRAMS))
@pytest.mark.parametrize("seed", range(4))
def test_programs_are_what_their_models_say(name, seed, tmp_path):
    text, mode, model = PROGRAMS[name]
    trace = random_trace(seed)
    for r in rows([source(tmp_path, text)], [1, 3, 16, 40, 120], text_of(trace), "--mode", mode):
        got = (r["faults"], r["written_pages"], r["policy_counters"])
        assert got == model(trace, r["frames"]), r["frames"]


@pytest.mark.parametrize("seed", range(4))
def test_access_is_harvested_before_replace(seed, tmp_path):
    """Mapped: 32 entries of the page table each time, going on where it left off."""
    text, _, _ = PROGRAMS["lru"]
    trace = random_trace(seed)
    differs = 0
    for r in rows([source(tmp_path, text)], [1, 5, 32, 33, 100, 200], text_of(trace)):
        got = (r["faults"], r["written_pages"], r["policy_counters"])
        assert got == harvested_lru(trace, r["frames"])
        differs += got[:2] != MODELS["lru"](trace, r["frames"])
    assert differs


BASE = "Event Init() { Queue q; Page page; counter Int n; }\n"
FAULT = "Event PageFault() { page = FindPA(FaultedAddress); EnQueue(page, q, TAIL); }\n"


def ahead(r):
    return r["ahead_faults"], r["ahead_pages"], r["ahead_dropped"]


def test_prefetch_of_a_stride_serves_three_faults_of_four():
    """As test/guest/program/ahead.c has it of the module, to the page."""
    policy = ROOT / "test/guest/policies/stride.hp"
    trace = "".join(f"r {9 * i}\n" for i in range(32))
    r = row(policy, 64, trace)
    assert (r["faults"], ahead(r), r["evictions"]) == (32, (24, 24, 0), 0)
    assert r["read_pages"] == r["read_misses"] == 32
    r = row(policy, 64, trace.replace("r", "w"), "--whole-writes")
    assert (ahead(r), r["read_pages"]) == ((24, 24, 0), 24)
    assert r["policy_counters"] == {"begun": 24}
    r = row(policy, 1, trace)
    assert (r["faults"], ahead(r), r["evictions"]) == (32, (0, 0, 0), 31)


def test_prefetch_is_bounded_and_goes_stale():
    """32 pages, and when 64 others came since, 32 others: at faults 1, 66, 131, 196
    and 261. With half as few frames to hold them sooner, with none to spare never."""
    policy = ROOT / "test/guest/policies/prefetch-all.hp"
    trace = "".join(f"r {3 * i}\n" for i in range(261))
    r = row(policy, 400, trace)
    assert (r["faults"], ahead(r), r["evictions"]) == (261, (0, 160, 128), 0)
    assert r["read_pages"] == 261 + 160
    assert r["policy_counters"] == {"in_replace": 0} and r["exit"]["kind"] == 0
    r = row(policy, 60, "".join(f"r {3 * i}\n" for i in range(28)))
    assert (ahead(r), r["evictions"]) == ((0, 32, 0), 0)
    # From the 29th on no frame is free, and each takes a page's. When the 32nd is
    # shown, 31 came since the first, over half of 60: 32 go, and 32 are asked for.
    r = row(policy, 60, "".join(f"r {3 * i}\n" for i in range(31)))
    assert (ahead(r), r["evictions"]) == ((0, 32, 0), 3)
    r = row(policy, 60, "".join(f"r {3 * i}\n" for i in range(32)))
    assert (ahead(r), r["evictions"]) == ((0, 64, 32), 4)
    assert row(policy, 1, trace)["ahead_pages"] == 0


def test_a_policy_that_queues_nothing_is_first_come(tmp_path):
    """Pages on no queue go first, and Remove says so."""
    policy = source(tmp_path, BASE + "Event PageFault() { }\nEvent Remove() { n++; }\n"
                    "Event Replace() { page = DeQueue(q, HEAD); EnQueue(page, _free_queue, TAIL); }\n")
    trace = random_trace(1)
    r = row(policy, 20, text_of(trace))
    assert (r["faults"], r["written_pages"]) == MODELS["fifo"](trace, 20)
    assert r["forgotten"] == r["evictions"] == r["policy_counters"]["n"] == r["faults"] - 20
    assert r["exit"]["kind"] == 0


def test_a_policy_that_gives_nothing_is_helped_and_revoked(tmp_path):
    """The built-in choice, a second chance on the policy's queues, and then FIFO2."""
    policy = source(tmp_path, BASE + FAULT + "Event Remove() { n++; }\n"
                    "Event Replace() { if (EmptyQ(q)) page = DeQueue(q, HEAD); }\n")
    trace = random_trace(2)
    r = row(policy, 20, text_of(trace))
    assert (r["faults"], r["written_pages"]) == MODELS["helped"](trace, 20)
    assert r["evictions"] == r["faults"] - 20 and r["helped"] == 1024
    sweep = "r 0 100\n" * 20
    r = row(policy, 50, sweep)
    assert (r["faults"], r["helped"], r["policy_counters"]["n"]) == (2000, 1024, 1023)
    assert r["exit"]["access"] == 50 + 1024 and r["exit"]["text"] in r["exit"]["message"]
    done = sim("--policy", policy, "--frames", 50, "-", input=sweep)
    assert "  ended at access 1074: Replace put no page on _free_queue too many times in a row\n" in done.stdout
    done = sim("--policy", policy, "--frames", 50, "-", input="r 0 60\n")
    assert "  runs, helped 10 times\n" in done.stdout and done.returncode == 0


def test_a_policy_that_keeps_no_page_is_said_to(tmp_path):
    """Its pages go without Replace being asked: as FIFO has them, and "runs" is not all."""
    policy = source(tmp_path, BASE + "Event PageFault() { n++; }\nEvent Replace() { n++;"
                    " page = DeQueue(q, HEAD); EnQueue(page, _free_queue, TAIL); }\n")
    r = row(policy, 50, "r 0 60\nr 9\n")
    assert (r["faults"], r["forgotten"], r["policy_counters"]["n"]) == (61, 11, 61)
    done = sim("--policy", policy, "--frames", 50, "-", input="r 0 60\n")
    assert "  runs, left 10 pages on no queue\n" in done.stdout and done.returncode == 0
    done = sim("--policy", policy, "--frames", 50, "-", input="r 0 51\n")
    assert "  runs, left 1 page on no queue\n" in done.stdout


def test_only_helps_in_a_row_count(tmp_path):
    policy = source(tmp_path, BASE + FAULT + "Event Replace() { n++; if (n % 2) return;"
                    " page = DeQueue(q, HEAD); EnQueue(page, _free_queue, TAIL); }\n")
    r = row(policy, 50, "r 0 100\n" * 40)
    assert (r["faults"], r["helped"], r["exit"]["kind"]) == (4000, 3950 / 2, 0)


@pytest.mark.parametrize("replace, message", [
    ("page = NONE; EnQueue(page, _free_queue, TAIL);", "a command was given no page in Replace"),
    ("while (TRUE) n++;", "an event ran more commands than it may in Replace"),
])
def test_a_policy_that_ends_leaves_a_second_chance(replace, message, tmp_path):
    policy = source(tmp_path, BASE + FAULT + "Event Replace() { %s }\n" % replace)
    trace = random_trace(3)
    r = row(policy, 20, text_of(trace))
    assert (r["faults"], r["written_pages"]) == MODELS["fifo2"](trace, 20)
    assert message in r["exit"]["message"] and r["exit"]["line"] == 3
    seen = set()
    first = next(i for i, (page, _) in enumerate(trace, 1) if seen.add(page) or len(seen) == 21)
    assert r["exit"]["access"] == first


def test_the_page_of_an_event_is_pinned(tmp_path):
    """A policy that gives up what has just come in is refused, each time."""
    policy = source(tmp_path, BASE + "Event PageFault() { page = FindPA(FaultedAddress);"
                    " EnQueue(page, _free_queue, TAIL); EnQueue(page, q, TAIL); }\n"
                    "Event Access() { page = FindPA(FaultedAddress); Release(page); n++; }\n"
                    "Event Replace() { page = DeQueue(q, HEAD); EnQueue(page, _free_queue, TAIL); }\n")
    r = row(policy, 5, "r 0 10\nr 9\n" * 2, "--mode", "exact")
    assert (r["faults"], r["policy_counters"]["n"], r["refused"]) == (20, 2, 22)


def test_a_reservation_shrinks_to_its_last_frame_and_grows_back(tmp_path):
    """Release in Replace: 4 frames become 1, which is refused from then on."""
    text = BASE + FAULT + ("Event Replace() { n = FrameBudget; page = DeQueue(q, HEAD);"
                           " Release(page); }\n")
    r = row(source(tmp_path, text), 4, "r 0 10\n" * 2)
    assert (r["faults"], r["helped"], r["refused"]) == (20, 16, 16)
    assert r["policy_counters"] == {"n": 1} and r["evictions"] == 3 + 16
    text = text.replace("Release(page);", "Release(page); n = Request(10);")
    r = row(source(tmp_path, text), 4, "r 0 10\n" * 2)
    assert (r["faults"], r["helped"], r["evictions"]) == (20, 0, 16)
    assert r["policy_counters"] == {"n": 1}


def test_a_page_that_was_unmapped_is_a_soft_fault(tmp_path):
    """The touch runs Access, once, with the access's kind."""
    policy = source(tmp_path, "Event Init() { Queue q; Page page, last; counter Int n, w, m; }\n"
                    "Event PageFault() { if (last != NONE && UnMap(last)) m++;"
                    " last = FindPA(FaultedAddress); EnQueue(last, q, TAIL); }\n"
                    "Event Access() { n++; w += FaultKind; }\n"
                    "Event Replace() { page = DeQueue(q, HEAD); EnQueue(page, _free_queue, TAIL); }\n")
    r = row(policy, 4, "r 1\nr 2\nw 1\nr 1\nr 2\nr 3\nr 2\nr 2\n")
    assert r["faults"] == 3 and r["policy_counters"] == {"n": 2, "w": 1, "m": 2}


def test_flush_writes_a_page_that_stays(tmp_path):
    policy = source(tmp_path, "Event Init() { Queue q; Page page, last; counter Int n; }\n"
                    "Event PageFault() { if (last != NONE && Mod(last)) n += Flush(last);"
                    " last = FindPA(FaultedAddress); EnQueue(last, q, TAIL); }\n"
                    "Event Replace() { page = DeQueue(q, HEAD); EnQueue(page, _free_queue, TAIL); }\n")
    r = row(policy, 3, "w 1\nr 2\nr 3\n")
    assert (r["written_pages"], r["policy_counters"]["n"]) == (1, 1)
    # Again dirty; then it is given up, and what is dirty at the end stays.
    r = row(policy, 3, "w 1\nr 2\nw 1\nr 3\nr 4\nw 5\n")
    assert (r["written_pages"], r["policy_counters"]["n"]) == (2, 1)


def test_a_million_frames_and_pages_far_apart():
    got = rows(["mru", "lru", "opt"], [1 << 20], f"r 0 {1 << 20}\nr 0xffffffff\nw 4294967294 2\n",
               tool=BUILD / "hipec")
    # The one page that mru gives up before its last access is the one wanted.
    assert [r["faults"] for r in got] == [(1 << 20) + 3, (1 << 20) + 2, (1 << 20) + 2]
    assert {r["pages"] for r in got} == {(1 << 20) + 2}


def test_frames_nobody_gave_are_a_quarter_and_a_half():
    done = sim("--json", "-", input="r 0 10\n")
    assert [(r["policy"], r["frames"]) for r in json.loads(done.stdout)] == \
        [(name, f) for f in (3, 5) for name in ("lru", "fifo", "clock", "opt")]
    done = sim("--json", "-", input="r 0\n")
    assert [r["frames"] for r in json.loads(done.stdout)] == [1] * 4


def test_each_trace_is_run_by_itself(tmp_path):
    for name, text in (("a", "r 1 3\n"), ("b", "w 7 # seven\n\n\t# none\nr\t7\r\n")):
        (tmp_path / name).write_text(text)
    done = sim("--json", "--policy", "lru", "--frames", "2", "a", "b", cwd=tmp_path)
    assert [(r["trace"], r["faults"], r["accesses"]) for r in json.loads(done.stdout)] == \
        [("a", 3, 3), ("b", 1, 2)]
    done = sim("--policy", "lru", "--frames", "2", "a", "b", cwd=tmp_path)
    assert done.stdout.startswith("a: 3 accesses to 3 pages, mapped\nPOLICY")
    assert "\n\nb: 2 accesses to 1 page, mapped\nPOLICY" in done.stdout


BAD_LINES = {
    "x 1": "want 'r PAGE [COUNT]' or 'w PAGE [COUNT]', not 'x'",
    "r1": "want 'r PAGE [COUNT]' or 'w PAGE [COUNT]', not 'r1'",
    "r": "want a page number behind 'r'",
    "w # 1": "want a page number behind 'w'",
    "r -1": "want a page number, 0 to 4294967295, not '-1'",
    "r 0x": "want a page number, 0 to 4294967295, not '0x'",
    "r 1e3": "want a page number, 0 to 4294967295, not '1e3'",
    "r 4294967296": "want a page number, 0 to 4294967295, not '4294967296'",
    "r 99999999999999999999999": "want a page number, 0 to 4294967295, not '99999999999999999999999'",
    "r 1 0": "want a number of pages, 1 to 67108864, not '0'",
    "r 1 67108865": "want a number of pages, 1 to 67108864, not '67108865'",
    "r 0xffffffff 2": "want no page above 4294967295, but 2 pages start at 4294967295",
    "r 1 2 3": "want the end of the line, not '3'",
    "r \x1b[1m\0": "want a page number, 0 to 4294967295, not '?[1m?'",
}


@pytest.mark.parametrize("line", BAD_LINES)
def test_what_is_malformed_is_said_with_its_line(line, tmp_path):
    (tmp_path / "good").write_text("r 1\n")
    for end in ("\n", ""):
        (tmp_path / "bad.txt").write_text(f"# a comment\nr 1\n{line}{end}")
        done = sim("good", "bad.txt", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == f"hipec sim: bad.txt:3: {BAD_LINES[line]}\n"


def test_what_is_missing_is_said(tmp_path):
    (tmp_path / "t").write_text("r 1\n")
    (tmp_path / "x.hpo").write_text("oops")
    (tmp_path / "x.hp").write_text("oops")
    (tmp_path / "empty").write_text("# nothing\n")
    for args, words in {
        ("none",): "hipec sim: none: No such file or directory\n",
        (".",): "hipec sim: .: Is a directory\n",
        ("empty",): "hipec sim: empty: want an access, but there is none\n",
        ("-p", "none", "t"): "hipec sim: none: want a .hp or .hpo file, lru, fifo, clock, opt, opt-reads, default, auto, builtin, or a shipped policy\n",
        ("-p", "lru,", "t"): "hipec sim: : want a .hp or .hpo file,",
        ("-p", "../policies/mru", "t"): "hipec sim: ../policies/mru: want a .hp or",
        ("-p", "none.hpo", "t"): "hipec sim: none.hpo: No such file or directory\n",
        ("-p", "x.hpo", "t"): "hipec sim: x.hpo: ",
        ("-p", "x.hp", "t"): "x.hp:1:1: error: ",
    }.items():
        done = sim(*args, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (1, ""), args
        assert done.stderr.startswith(words), done.stderr
    assert done.stderr.endswith("hipec sim: x.hp: it was not compiled\n")


@pytest.mark.parametrize("args, words", [
    ((), "hipec sim: want a trace\n"),
    (("--contract=x", "t"), "hipec sim: --contract: want a number from 0 to 4294967295, not 'x'\n"),
    (("--contract=4294967296", "t"), "hipec sim: --contract: want a number from 0 to 4294967295, not "),
    (("--mode", "fast", "t"), "hipec sim: --mode: want mapped or exact, not 'fast'\n"),
    (("--xyzzy", "t"), "hipec sim: there is no option '--xyzzy'; 'hipec help sim' lists them\n"),
])
def test_a_wrong_command_line_is_usage(args, words):
    done = sim(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(words) and "usage: hipec sim [OPTION...] TRACE...\n" in done.stderr


def test_ampc_is_found_in_path_and_leaves_nothing_behind(tmp_path):
    """A hipec that has no ampc beside it; its folder for temporary files."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "tmp").mkdir()
    os.link(HIPEC, tmp_path / "bin" / "hipec") if HIPEC.stat().st_dev == tmp_path.stat().st_dev \
        else (tmp_path / "bin" / "hipec").write_bytes(HIPEC.read_bytes())
    (tmp_path / "bin" / "hipec").chmod(0o755)
    env = {**os.environ, "TMPDIR": str(tmp_path / "tmp"), "PATH": str(BUILD / "asan")}
    args = ["-p", ROOT / "policies" / "mru.hp", "-f", 2, "-"]
    done = sim(*args, tool=tmp_path / "bin" / "hipec", env=env, input="r 1\n")
    assert done.returncode == 0, done.stderr
    assert not list((tmp_path / "tmp").iterdir())
    done = sim(*args, tool=tmp_path / "bin" / "hipec", env={**env, "PATH": ""}, input="r 1\n")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "hipec sim: ampc: No such file or directory\n"


def test_a_timer_that_does_not_run_is_said(tmp_path):
    policy = source(tmp_path, "Event Init() { Queue q; Page page; counter Int n; Timer 10; }\n"
                    + FAULT + "Event Timer() { n = 1; }\n"
                    "Event Replace() { n = Time; page = DeQueue(q, HEAD);"
                    " EnQueue(page, _free_queue, TAIL); }\n")
    done = sim("--json", "-p", policy, "-f", 2, "-", input="r 0 7\n")
    assert done.stderr == f"hipec sim: {policy}: its Timer does not run: there is no clock here\n"
    assert json.loads(done.stdout)[0]["policy_counters"] == {"n": 7}


def test_the_contract_knows_what_the_default_costs():
    """Sampled as a whole; fifo2.hp is the default, so there it knows to the fault."""
    for seed in range(4):
        trace = random_trace(seed) + random_trace(seed + 10)
        for r in rows(["fifo2", "mru", "mpfifo2", ROOT / "policies" / "fifo.hp"], [5, 40, 90],
                      text_of(trace), "--contract"):
            told = r["contract"]
            assert told["default_faults"] == MODELS["fifo2"](trace, r["frames"])[0]
            assert told["watched_faults"] == r["faults"]
            assert told["windows"] == r["faults"] // 512
            exact = r["policy"] == "fifo2"
            assert abs(told["estimated_faults"] - told["default_faults"]) <= \
                (0 if exact else 0.1 * told["default_faults"])


MOVED = "r 0 500\n" + "r 1000 50\n" * 60


def test_a_policy_is_revoked_when_four_windows_were_bad():
    """mru keeps 99 pages that nobody wants any more and faults on each access; the
    default on each page once. The first window, of 512 faults, has 12 of the 50 pages,
    the second the other 38: +1247 %. From then on the default has none."""
    r = row("mru", 100, MOVED, "--contract")
    assert r["faults"] == 500 + 50 * 60
    assert r["contract"] == {
        "default_faults": 550, "windows": 6, "watched_faults": 3500, "estimated_faults": 550,
        "estimated_in_windows": 550,
        "least_faults": 547, "most_faults": 553,
        "worst_percent": 9999, "looks": r["contract"]["looks"], "revoked_at": 5 * 512,
        "revoked_in": 5}
    r = row("mru", 100, "r 0 500\n" + "r 1000 50\n" * 42, "--contract")
    assert r["contract"]["revoked_at"] == 5 * 512
    assert r["contract"]["worst_percent"] == pytest.approx(100 * 512 / 38 - 100)
    r = row("mru", 100, "r 0 500\n" + "r 1000 50\n" * 41, "--contract")
    assert r["contract"]["windows"] == 4 and r["contract"]["revoked_at"] == 0


def test_the_contract_needs_enough_windows_for_a_verdict():
    done = sim("--contract", "--policy", "lru,fifo2", "--frames", "50", "-", input="r 0 2000\n")
    assert "  too short to say, 3 windows\n" in done.stdout
    assert done.stdout.splitlines()[2].split() == ["lru", "50", "2000", "2000", "-", "-", "built",
                                                   "in"]


def test_salts_are_other_samples_of_the_same():
    rng = random.Random(1)
    trace = "".join(f"r {int(rng.random() ** 2 * 6000)}\n" for _ in range(30000))
    told = [rows(["mru"], [1600], trace, f"--contract={salt}")[0]["contract"]
            for salt in (0, 1 << 31, 77777)]
    assert len({t["estimated_faults"] for t in told}) == 3
    assert all(abs(t["estimated_faults"] / t["default_faults"] - 1) < 0.1 for t in told)
    told.append(rows(["mru"], [1600], trace, "--contract")[0]["contract"])
    assert told[0] == told[-1]


DOC = without("docs/user/sim.md", "Several applications")


def test_examples_print_what_they_show(tmp_path):
    blocks = re.findall(r"^```\n(\$ .*?)^```", DOC, re.M | re.S)
    assert len(blocks) == 6
    shown = 0
    for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", "".join(blocks), re.M):
        done = subprocess.run(["sh", "-c", command.replace("hipec ", f"{HIPEC} ")], text=True,
                              cwd=tmp_path, capture_output=True, check=False, env=ENV)
        assert done.stdout + done.stderr == output, command
        shown += 1
    assert shown == 6


def test_json_has_the_keys_of_the_document():
    table = DOC[DOC.index("| key | holds |"):]
    keys = [key for line in re.findall(r"^\| ([a-z_, ]+) \|", table, re.M)[1:]
            for key in line.split(", ")]
    assert list(row("mru", 2, "r 1\n", "--sample", "1/2")) == [key for key in keys
                                                              if key not in ("contract", "league")]
    keys.remove("sample")
    keys.remove("league")
    auto = row("auto", 2, "r 1\n", "--mode", "exact")
    assert list(auto) == [*keys[:keys.index("commands")], "league"]
    built_in, policy = rows(["lru", "mru"], [2], "r 1\n", "--contract")
    assert list(policy) == keys
    assert list(row("mru", 2, "r 1\n")) == [key for key in keys if key != "contract"]
    assert list(built_in) == keys[:keys.index("commands")]


def test_columns_are_those_of_the_document():
    found = re.findall(r"^\| ([A-Z%/'-]+) \| ([a-z-]+) \|", DOC, re.M)
    assert len(found) == 23

    def shown(*args):
        return sim("-p", "lru", *args, "-", input="r 1\n").stdout.split("\n")[1].split()
    assert shown("--columns", "all") == [title for title, _ in found]
    for title, name in found:
        assert shown("--columns", name) == [title]
    usual = " ".join(re.search(r"^Shown are (.*?);", DOC, re.M | re.S)[1].split())
    usual = usual.replace(" and ", ", ").split(", ")
    assert shown() == [title for title, name in found if name in usual]


def test_help_names_every_option():
    done = sim("--help")
    assert done.returncode == 0 and done.stdout.startswith("usage: hipec sim [OPTION...] TRACE...\n")
    assert set(re.findall(r"--([a-z-]+)", done.stdout.partition("\n      --grade ")[0])) == {
        "grade", "list", "policy", "frames", "mode", "contract", "json", "whole-writes", "verdict", "over",
        "columns", "jobs", "step", "post-cache", "warm-up", "param", "detector", "detect-every",
        "hints", "unguarded", "sample", "curve", "native", "among", "from", "ops", "format"}
