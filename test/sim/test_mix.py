# SPDX-License-Identifier: GPL-2.0-only
"""hipec mix: time by arithmetic, shared frames as the tests in the guest have them
(test/guest/program/pool.c), and one application alone as hipec sim; docs/user/sim.md."""

import itertools
import json
import os
import re
import shlex
import subprocess

import pytest

from conftest import BUILD, ROOT, chapter

HIPEC = BUILD / "asan" / "hipec"
POLICIES = sorted(path.stem for path in (ROOT / "policies").glob("*.hp"))
MOST = 64   # applications of a mix
ENV = {**os.environ, "HIPEC_POLICY_PATH": str(BUILD / "policies")}
DOC = chapter("docs/user/sim.md", "Several applications")

pytestmark = [pytest.mark.user, pytest.mark.usefixtures("quick_start")]


@pytest.fixture(autouse=True, scope="module")
def built():
    hpo = [f"build/policies/{name}.hpo" for name in POLICIES]
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/hipec", "build/asan/ampc", *hpo],
                   check=True)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def hipec(*args, text=None):
    return subprocess.run([HIPEC, *map(str, args)], text=True, capture_output=True, check=False,
                          input=text, env={**os.environ, **ENV})


def trace(folder, name, text):
    (folder / name).write_text(text)
    return name


def mixes(apps, *args):
    done = hipec("mix", "--json", *args, "-", text="\n".join(apps) + "\n")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def mix(apps, *args):
    """{name: what came of it}, and the whole."""
    got, = mixes(apps, *args)
    return {app["app"]: app for app in got["apps"]}, got


def ms(ns):
    """Whole ones."""
    assert ns % 1_000_000 == 0
    return ns // 1_000_000


def ends(apps, *args):
    """When each ends, ms."""
    return {name: ms(app["ended_ns"]) for name, app in mix(apps, *args)[0].items()}


@pytest.mark.parametrize("slice_ms, want", [(10, (50, 60)), (20, (50, 60)), (25, (30, 60)),
                                            (30, (30, 60))])
def test_slices_end_with_the_access_that_uses_them_up(folder, slice_ms, want):
    """Three accesses of 10 ms each, and no disk: A B A B A B; AA BB A B; AAA BBB."""
    one = trace(folder, "one", "r 0 3\n")
    apps = [f"{name} privileged=3 cpu=10ms : {one}" for name in "AB"]
    assert ends(apps, "-f", 6, "-d", 0, "-s", f"{slice_ms}ms") == dict(zip("AB", want))


def test_who_starts_comes_before_who_is_preempted(folder):
    """B at 10 ms, when A's slice ends, runs next; C, 25 ms, behind both: A B A C A C C."""
    one = trace(folder, "one", "r 0 3\n")
    apps = [f"A privileged=3 cpu=10ms : {one}", f"B privileged=3 cpu=10ms start=10ms : {one}",
            f"C privileged=3 cpu=10ms start=25ms : {one}"]
    # A 0, B 10, A 20, B 30, C 40 (25), A 50 (30), B 60 (40), C 70, C 80
    assert ends(apps, "-f", 9, "-d", 0, "-s", "10ms") == {"A": 60, "B": 70, "C": 90}
    gap = mix([f"{name} privileged=3 cpu=10ms : {one}" for name in "ABC"], "-f", 9, "-d", 0,
              "-s", "10ms", "--gap", "4ms")[0]
    assert [app["began_ns"] for app in gap.values()] == [0, 4_000_000, 8_000_000]


def test_one_disk_serves_in_the_order_of_asking(folder):
    """5 ms a page, 1 ms an access. A asks at 0, B behind it: A's page 0 is there at 5, B's at 10;
    A's next, asked for at 6, at 15, B's, asked for at 11, at 20."""
    one = trace(folder, "one", "r 0 2\n")
    apps, whole = mix([f"{name} privileged=2 cpu=1ms : {one}" for name in "AB"], "-f", 4,
                      "-d", "5ms")
    assert [ms(app["ended_ns"]) for app in apps.values()] == [16, 21]
    assert [ms(app["disk_wait_ns"]) for app in apps.values()] == [5 + 9, 10 + 9]
    assert [ms(app["cpu_wait_ns"]) for app in apps.values()] == [0, 0]
    assert (ms(whole["disk_busy_ns"]), ms(whole["elapsed_ns"]), ms(whole["idle_ns"])) == (20, 21, 17)
    assert (whole["disk_reads"], whole["disk_writes"]) == (4, 0)


def test_who_has_its_page_waits_for_the_processor(folder):
    """B computes 30 ms an access; A's page is there at 5 ms and waits until 30."""
    trace(folder, "one", "r 0 1\n")
    apps, _ = mix(["A privileged=1 cpu=1ms : one", "B privileged=1 cpu=30ms start=1ms : one"],
                  "-f", 2, "-d", "4ms")
    # B's page: asked for at 1, behind A's, there at 8. A runs 4 to 5. No wait but B's own.
    assert [ms(app["ended_ns"]) for app in apps.values()] == [5, 38]
    apps, _ = mix(["B privileged=1 cpu=30ms : one", "A privileged=1 cpu=1ms : one"],
                  "-f", 2, "-d", "4ms")
    # B's at 4, runs to 34; A's at 8, runs from 34.
    assert [ms(app["ended_ns"]) for app in apps.values()] == [34, 35]
    assert ms(apps["A"]["cpu_wait_ns"]) == 26


def test_the_page_behind_the_last_one_may_take_less(folder):
    """5 ms for the first of each, 2 for those behind; with two by turns, 5 for all."""
    trace(folder, "one", "r 0 3\n")
    apps, whole = mix(["A privileged=3 cpu=1ms : one"], "-f", 3, "-d", "5ms,2ms")
    assert (ms(apps["A"]["ended_ns"]), whole["disk_sequential"]) == (5 + 2 + 2 + 3, 2)
    _, whole = mix([f"{name} privileged=3 cpu=1ms : one" for name in "AB"], "-f", 6,
                   "-d", "5ms,2ms")
    assert (ms(whole["disk_busy_ns"]), whole["disk_sequential"]) == (30, 0)


def test_a_fault_waits_for_its_victims_write(folder):
    """One frame: page 0 is read (5) and written to (1), page 9 waits for its write (7) and for its
    own read (5)."""
    trace(folder, "one", "w 0\nr 9\n")
    apps, whole = mix(["A policy=fifo privileged=1 cpu=1ms : one"], "-f", 1, "-d", "5ms",
                      "--write", "7ms")
    assert ms(apps["A"]["ended_ns"]) == 5 + 1 + 7 + 5 + 1
    assert (apps["A"]["written_pages"], whole["disk_writes"]) == (1, 1)


def test_what_prefetch_asked_for_is_waited_for_at_its_touch(folder):
    """At the fault on page 0, 5 ms, page 1 is asked for, at 5, there at 10; page 0 is used up to
    6, page 1 waited for from then on."""
    (folder / "next.hp").write_text(
        "Event Init() { Queue q; Page page; }\n"
        "Event PageFault() { page = FindPA(FaultedAddress); EnQueue(page, q, TAIL);\n"
        "    if (!FaultedAddress) Prefetch(4096, 1); }\n"
        "Event Replace() { page = DeQueue(q, HEAD); EnQueue(page, _free_queue, TAIL); }\n")
    trace(folder, "one", "r 0 2\n")
    apps, whole = mix(["A policy=next.hp privileged=2 cpu=1ms : one"], "-f", 2, "-d", "5ms")
    assert (ms(apps["A"]["ended_ns"]), apps["A"]["faults"], apps["A"]["read_pages"]) == (11, 2, 2)
    assert (ms(apps["A"]["disk_wait_ns"]), whole["disk_reads"]) == (9, 2)


def patterns(folder):
    """Some of each, with writes: name -> text."""
    mixed = hipec("trace", "make", "mixed", "--pages", 120, "--accesses", 1500, "--writes", 30).stdout
    return {"a-sweep": "r 0 100\n" * 5, "a-mix": mixed,
            "lookups": hipec("trace", "make", "rdr", "--pages", 100, "--lookups", 200).stdout}


@pytest.mark.parametrize("mode", ["mapped", "exact"])
def test_alone_it_is_what_sim_counts(folder, mode):
    """With frames of its own, whatever the neighbours, and with the whole pool under FIFO2-MR."""
    keys = ("faults", "read_pages", "written_pages", "evictions", "commands", "events", "refused",
            "helped", "forgotten", "exit", "policy_counters")
    traces = [trace(folder, name, text) for name, text in patterns(folder).items()]
    files = {str(BUILD / f"policies/{name}.hpo"): name for name in POLICIES}
    done = hipec("sim", "--json", "-m", mode, "-p", ",".join(["builtin", *files]), "-f", "17,60",
                 *traces)
    want = {(files.get(row["policy"], row["policy"]), row["frames"], row["trace"]):
            {key: row[key] for key in keys} for row in json.loads(done.stdout)}
    assert len(want) == 2 * len(traces) * (len(files) + 1)
    for frames in (17, 60):
        names = {f"{policy}.{name}": want[policy, frames, name]
                 for policy, size, name in want if size == frames}
        lines = [f"{name} policy={name.split('.')[0]} privileged={frames} : {name.split('.')[1]}"
                 for name in names]
        apps = {}
        for i in range(0, len(lines), MOST):
            some = lines[i:i + MOST]
            apps |= mix(some, "-f", frames * len(some), "-m", mode)[0]
        assert {name: {key: app[key] for key in keys} for name, app in apps.items()} == names
    for policy in ("builtin", *POLICIES):
        apps, _ = mix([f"A policy={policy} : a-mix"], "-f", 60, "-m", mode)
        # smpeg releases frames: the pool has them free, so no Replace is needed.
        same = [key for key in keys if policy != "smpeg" or key not in ("commands", "events")]
        assert all(apps["A"][key] == want[policy, 60, "a-mix"][key] for key in same), policy
        # What it gives up for itself is no gift. fab gives the rest of a block, tq the page
        # that goes for one that has come in already.
        assert (apps["A"]["given"] > 0) == (policy in ("fab", "smpeg", "tq")), policy


@pytest.mark.parametrize("mode", ["mapped", "exact"])
def test_shipped_policies_share(folder, mode):
    """The manager takes their pages for neighbours that come and go: FrameBudget changes, pages
    that are ghosts come in while frames are free, and always a page is found to give up."""
    for name, text in patterns(folder).items():
        trace(folder, name, text)
    for policy, name in itertools.product(POLICIES, patterns(folder)):
        apps, _ = mix([f"A policy={policy} min=4 cpu=1ms : {name}",
                       "B policy=fifo cpu=1ms : a-sweep",
                       "C policy=fifo cpu=1ms start=300ms : a-sweep"],
                      "-f", 100, "-d", 0, "-s", "40ms", "-m", mode)
        a = apps["A"]
        assert (a["exit"]["kind"], a["helped"], a["forgotten"]) == (0, 0, 0), (policy, name)
        assert a["given"] and a["most_frames"] > 16, (policy, name)


@pytest.mark.parametrize("policy, ghost, again", [("arc", 25, 0), ("car", 25, 0), ("2q", 5, 0),
                                                  ("lru", 5, 10)])
def test_ghosts_are_known_when_frames_are_free(folder, policy, ghost, again):
    """B takes ten of A's 40 frames and ends. So A's pages come back without a Replace, and are
    known all the same: a scan leaves them alone, where lru loses them."""
    trace(folder, "a", f"r 0 20\nr 0 45\nr {ghost} 10\nr 100 50\nr {ghost} 10\n")
    trace(folder, "b", "r 0 30\n")
    apps, _ = mix([f"A policy={policy} max=40 cpu=1s : a", "B policy=fifo cpu=1s : b"],
                  "-f", 60, "-d", 0, "-s", "65s", "-m", "exact")
    assert (apps["A"]["faults"], apps["A"]["given"]) == (45 + 10 + 50 + again, 10)


def guest(folder, policy, a, *args):
    """As the guest's tests: a pool of 512, A and B have up to 400 frames; A touches its 400 pages,
    then B its own, then A what it wants. A second is an access, and a slice is 400."""
    trace(folder, "a", "r 0 400\n" + a)
    trace(folder, "b", "r 0 400\nr 399\n")      # and B is still there
    return mix([f"A policy={policy} max=400 cpu=1s : a", "B policy=fifo max=400 cpu=1s : b"],
               "-f", 512, "-d", 0, "-s", "400s", *args)[0]


@pytest.mark.parametrize("way", ["fifo2-mr", "awst"])
def test_shared_frames_are_those_of_the_guest(folder, way):
    """test/guest/program/pool.c: the_oldest_go, the_policy_names_others, bad_advice_is_reversed,
    good_advice_stands; with AWST as well."""
    def counts(policy, a, *args):
        got = guest(folder, policy, a, "-g", way, *args)
        assert got["B"]["faults"] == 400 and got["B"]["recovered"] == 0
        return [got["A"][key] for key in ("faults", "given", "moved", "recovered")]

    assert counts("fifo", "r 288 112\n") == [400, 288, 0, 0]
    assert counts("mru", "r 0 112\n") == [400, 288, 200, 0]
    bad = "".join(f"r {page}\n" for page in range(399, 287, -1))
    assert counts("mru", bad + "r 288 112\n") == [400 + 112, 288, 200, 112]
    assert counts("mru", bad, "--no-recovery")[3] == 0
    good = guest(folder, "mru", "r 0 112\nr 399\n", "-g", way)["A"]
    assert (good["faults"], good["recovered"]) == (401, 0)


@pytest.mark.parametrize("least", [16, 100])
def test_a_hoarder_loses_all_but_its_min(folder, least):
    """Its Replace gives nothing: the manager takes its own choice. B comes when A has touched 600
    pages, and A is still there."""
    (folder / "hoard.hp").write_text((ROOT / "test/guest/policies/hoard.hp").read_text())
    trace(folder, "a", "r 0 512\n" + "r 511\n" * 89)
    trace(folder, "b", "r 0 600\n")
    apps, _ = mix([f"A policy=hoard.hp min={least} cpu=1s : a", "B policy=fifo cpu=1s : b"],
                  "-f", 512, "-d", 0, "-s", "600s")
    assert (apps["A"]["given"], apps["A"]["most_frames"]) == (512 - least, 512)
    assert (apps["B"]["faults"], apps["B"]["most_frames"]) == (600, 512 - least)


def test_who_starts_comes_before_who_has_its_page(folder):
    """A's page is there at 4 ms, when B starts: B runs first, to 7."""
    trace(folder, "one", "r 0 1\n")
    trace(folder, "two", "r 0 1\nr 0\n")
    apps, _ = mix(["C privileged=1 cpu=3ms : two", "A privileged=1 cpu=1ms : one",
                   "B privileged=1 cpu=3ms start=4ms : one"], "-f", 3, "-d", "2ms")
    # C's page at 2, A's at 4. C runs 2 to 8. Both are ready at 4: B first, which asks for its page
    # (8 to 10), then A, 8 to 9.
    assert [ms(app["ended_ns"]) for app in apps.values()] == [8, 9, 13]


def test_gifts_go_to_the_pool_down_to_the_min(folder):
    """Its Replace gives up all that it has: the first page answers, the others are gifts, but for
    the last frames."""
    (folder / "all.hp").write_text(
        "Event Init() { Queue q; Page page; }\n"
        "Event PageFault() { page = FindPA(FaultedAddress); EnQueue(page, q, TAIL); }\n"
        "Event Replace() { while (!EmptyQ(q)) { page = DeQueue(q, HEAD);\n"
        "    if (!EnQueue(page, _free_queue, TAIL)) return; } }\n")
    trace(folder, "a", "r 0 31\n")
    apps, _ = mix(["A policy=all.hp max=30 min=10 : a"], "-f", 50)
    # One of 30 answers; 20 are gifts, and 10 frames are left, one of them free.
    assert [apps["A"][key] for key in ("faults", "evictions", "given", "refused")] == [31, 21, 20, 1]


def test_what_a_policy_forgot_goes_to_who_asks(folder):
    """A keeps its pages on no queue. B's 10 faults beyond the frames that are free take them, and
    their frames leave A. Two more wait for who asks next: an eighth of A's, less what went since."""
    (folder / "forget.hp").write_text(
        "Event Init() { Queue q; Page page; }\nEvent PageFault() { }\n"
        "Event Replace() { page = DeQueue(q, HEAD); EnQueue(page, _free_queue, TAIL); }\n")
    trace(folder, "a", "r 0 30\nr 29\n")
    trace(folder, "b", "r 0 30\n")
    apps, _ = mix(["A policy=forget.hp min=1 cpu=1s : a", "B policy=fifo min=1 cpu=1s : b"], "-f", 50,
                  "-d", 0, "-s", "30s")
    assert (apps["A"]["forgotten"], apps["A"]["given"], apps["B"]["most_frames"]) == (12, 10, 30)


def test_bits_are_reset_before_there_is_need(folder):
    """At A's 32nd page its 21 oldest are to show whether they are used. Page 0 is, so B's first page
    takes page 1's frame, and page 0 is still there."""
    trace(folder, "a", "r 0 32\nr 0\nr 0\n")
    trace(folder, "b", "r 0 2\n")
    apps, _ = mix(["A min=1 cpu=1s : a", "B min=1 cpu=1s : b"], "-f", 32, "-d", 0, "-s", "33s")
    assert (apps["A"]["faults"], apps["A"]["given"]) == (32, 2)


@pytest.mark.parametrize("limit, want", [("", 50), ("max=30", 30), ("max=9", 9)])
def test_the_frame_budget_is_what_it_can_have(folder, limit, want):
    (folder / "budget.hp").write_text(
        "Event Init() { Queue q; Page page; counter Int budget; }\n"
        "Event PageFault() { budget = FrameBudget; page = FindPA(FaultedAddress);\n"
        "    EnQueue(page, q, TAIL); }\n"
        "Event Replace() { page = DeQueue(q, HEAD); EnQueue(page, _free_queue, TAIL); }\n")
    trace(folder, "a", "r 0 5\n")
    apps, _ = mix([f"A policy=budget.hp {limit} : a"], "-f", 50)
    assert apps["A"]["policy_counters"]["budget"] == want


def test_privileged_frames_are_nobody_elses(folder):
    """A's counts are those of sim with its reservation, B's with what is left."""
    trace(folder, "sweep", "r 0 100\n" * 4)
    apps, _ = mix(["A policy=mru privileged=60 : sweep", "B policy=mru : sweep"], "-f", 100)
    assert apps["A"]["faults"] == 100 + 3 * (100 - 60 + 1)
    assert apps["B"]["faults"] == 100 + 3 * (100 - 40 + 1)


def test_awst_keeps_each_between_its_min_and_max(folder):
    """A, in use by B's side, keeps its min of 40 of 100 frames; at its max of 30 C replaces its
    own oldest, though frames are free."""
    trace(folder, "a", "r 0 40\n" * 3)
    trace(folder, "b", "r 0 300\n")
    apps, _ = mix(["A min=40 cpu=1ms : a", "B cpu=1ms : b"], "-f", 100, "-g", "awst", "-d", 0,
                  "-s", "40ms")
    assert (apps["A"]["faults"], apps["A"]["given"]) == (40, 0)
    apps, _ = mix(["A cpu=1ms : a", "B cpu=1ms : b"], "-f", 100, "-g", "awst", "-d", 0, "-s", "80ms")
    assert apps["A"]["given"] > 0
    apps, _ = mix(["C max=30 : a"], "-f", 100, "-g", "awst")
    assert (apps["C"]["faults"], apps["C"]["most_frames"]) == (120, 30)


BAD = "Event Init() { Queue q; Page page; }\n" \
    "Event PageFault() { page = FindPA(FaultedAddress); EnQueue(page, q, TAIL); }\n" \
    "Event Replace() { page = DeQueue(q, TAIL); EnQueue(page, _free_queue, TAIL); }\n"


def test_revocation_ends_what_costs_too_much(folder):
    """MRU where the same 50 pages are wanted again and again behind 500 others: each faults."""
    (folder / "bad.hp").write_text(BAD)
    trace(folder, "a", "r 0 500\n" + "r 1000 50\n" * 60)
    apps = ["A policy=bad.hp : a"]
    stands, _ = mix(apps, "-f", 100)
    ended, _ = mix(apps, "-f", 100, "--revoke")
    assert stands["A"]["faults"] == 3500 and stands["A"]["exit"]["kind"] == 0
    # docs/user/sim.md: revoked at fault 2560; then 50 pages come in once more.
    assert ended["A"]["exit"]["text"] and ended["A"]["exit"]["kind"] & 0x40
    assert 2560 <= ended["A"]["faults"] <= 2560 + 100


def test_orders_are_all_or_the_one_that_is_named(folder):
    trace(folder, "a", "r 0 30\n" * 3)
    apps = [f"{name} policy={policy} cpu={cpu} : a" for name, policy, cpu in
            (("A", "mru", "1ms"), ("B", "fifo2", "3ms"), ("C", "builtin", "7ms"))]
    got = mixes(apps, "-f", 50, "-o", "all")
    orders = [tuple(app["app"] for app in one["apps"]) for one in got]
    assert orders == list(itertools.permutations("ABC"))
    for order, whole in zip(orders, got):
        lines = [line for name in order for line in apps if line[0] == name]
        assert whole == mix(lines, "-f", 50)[1] == mix(apps, "-f", 50, "-o", ",".join(order))[1]
    assert len({whole["elapsed_ns"] for whole in got}) > 1


def test_all_time_is_the_processors_the_disks_or_a_wait(folder):
    trace(folder, "a", hipec("trace", "make", "mixed", "--pages", 90, "--accesses", 800, "--writes",
                             20).stdout)
    apps, whole = mix([f"{name} policy={policy} cpu=300us : a" for name, policy in
                       (("A", "lru"), ("B", "mru"), ("C", "builtin"))], "-f", 100, "-s", "2ms",
                      "-d", "ssd")
    for app in apps.values():
        assert app["ended_ns"] - app["began_ns"] == \
            app["cpu_ns"] + app["disk_wait_ns"] + app["cpu_wait_ns"]
        assert app["cpu_ns"] == 800 * 300_000
    assert whole["elapsed_ns"] == whole["idle_ns"] + sum(app["cpu_ns"] for app in apps.values())
    assert whole["disk_reads"] == sum(app["read_pages"] for app in apps.values())
    assert whole["disk_writes"] == sum(app["written_pages"] for app in apps.values())
    assert whole["disk_busy_ns"] == 108_192 * (whole["disk_reads"] + whole["disk_writes"])


@pytest.mark.parametrize("line, words", [
    ("A", "-:1: want NAME [KEY=VALUE...] : TRACE"),
    (": t", "-:1: want NAME [KEY=VALUE...] : TRACE"),
    ("A/b : t", "-:1: want a name of up to 31 letters, digits, - _ or . in front, not 'A/b'"),
    ("all : t", "-:1: want a name of up to 31 letters"),
    ("A : t\nA : t", "-:2: there is an application 'A' already"),
    ("A x : t", "-:1: want KEY=VALUE, not 'x'"),
    ("A x=1 : t", "-:1: want policy, privileged, min, max, start or cpu, not 'x'"),
    ("A policy=none : t", "-:1: none: want a .hp or .hpo file"),
    ("A policy=opt : t", "-:1: opt: want a .hp or .hpo file"),
    ("A policy=mru policy=mru : t", "-:1: policy: want one"),
    ("A max=10% : t", "-:1: max: want frames, as 512 or 4k, or memory, as 64M, not '10%'"),
    ("A cpu=5 : t", "-:1: cpu: want a time, as 20us or 1.5s, not '5'"),
    ("A start=-1s : t", "-:1: start: want a time"),
    ("A privileged=4 max=5 : t", "-:1: privileged frames are its own: they have no min and max"),
    ("A privileged=51 : t", "-: want at least 51 frames, 51 that are privileged and 0 "),
    ("A min=30 : t\nB min=30 : t", "-: want at least 60 frames, 0 that are privileged "),
    ("A privileged=50 : t\nB : t", "-: want at least "),
    ("A : no-such", "no-such: No such file or directory\nhipec mix: -:1: there is no trace"),
    ("A : loop --pages 1", "make: want --pages and --accesses\nhipec mix: -:1: there is no trace"),
    ("A : loop --pages 1 --accesses 1 x", "want options behind the kind of trace, not 'x'"),
    ("A : t t", "-:1: want a trace's file behind the colon, or a kind and options of hipec trace"),
    ("A : empty", "empty: want an access, but there is none\nhipec mix: -:1: there is no trace"),
    ("A min=9 max=8 : t", "-:1: min: want at most max"),
    ("\n# nothing\n", "-: there are no applications"),
])
def test_what_is_wrong_is_said_with_its_line(folder, line, words):
    trace(folder, "t", "r 0\n")
    trace(folder, "empty", "# nothing\n")
    done = hipec("mix", "-f", 50, "-", text=line + "\n")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("hipec mix: " + words)


@pytest.mark.parametrize("args, words", [
    (["-"], "want --frames, the machine's"),
    (["-f", "0", "-"], "--frames: want a page, 4 KiB, at least, not '0'"),
    (["-f", "8G", "-"], "--frames: want 1,048,576 frames (4 GiB) at most, not '8G'"),
    (["-f", "9"], "want one file of applications"),
    (["-f", "9", "-g", "lru", "-"], "--global: want fifo2-mr or awst, not 'lru'"),
    (["-f", "9", "-s", "0", "-"], "--slice: want a time, as 100ms, not '0'"),
    (["-f", "9", "-d", "fast", "-"], "--disk: want paper, ssd, hdd or a time, 5ms, or two"),
    (["-f", "9", "-d", "5ms,", "-"], "--disk: want paper, ssd, hdd or a time"),
    (["-f", "9", "-m", "x", "-"], "--mode: want mapped or exact, not 'x'"),
    (["-f", "9", "-o", "A", "-"], "--orders: want all, or each of the 2 applications once"),
    (["-f", "9", "-o", "A,A", "-"], "--orders: want all, or each of the 2 applications once"),
    (["-f", "9", "-o", "A,B,", "-"], "--orders: want all, or each of the 2 applications once"),
])
def test_wrong_options_are_usage(folder, args, words):
    trace(folder, "t", "r 0\n")
    done = hipec("mix", *args, text="A min=1 : t\nB min=1 : t\n")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("hipec mix: " + words)


def test_samples_are_bounded(folder):
    trace(folder, "t", "r 0 2\n")
    done = hipec("mix", "-f", 50, "--sample", "1ns", "-", text="A : t\n")
    assert (done.returncode, done.stderr) == \
        (1, "hipec mix: --sample: want a longer time: that would be more than 10000 samples\n")


def test_the_documents_example_is_what_is_printed(folder):
    """Its files, its command, its output."""
    blocks = re.findall(r"^```\n((?:\$ echo [^\n]*\n)+)\$ (hipec mix .*?)\n(.*?)```", DOC, re.M | re.S)
    assert blocks
    for apps, command, output in blocks:
        subprocess.run(["sh", "-ec", apps.replace("$ echo", "echo")], check=True, cwd=folder)
        done = hipec(*shlex.split(command)[1:])
        assert done.stdout == output, done.stderr


def test_json_has_the_keys_of_the_document(folder):
    trace(folder, "t", "r 0\n")
    apps, whole = mix(["A : t"], "-f", 50, "--sample", "1s")
    lines = re.findall(r"^\| ((?!key)[a-z_, ]+) \|", DOC[DOC.index("## JSON"):], re.M)
    named = set(", ".join(lines).split(", "))
    assert named == {*whole, *apps["A"]}
