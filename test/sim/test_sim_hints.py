# SPDX-License-Identifier: GPL-2.0-only
"""What accesses bring along, hints and program contexts, reaches the policy at their
events, and at no other."""

import json
import os
import subprocess

import pytest

from conftest import BUILD, ROOT

HIPEC = BUILD / "asan" / "hipec"
ENV = {**os.environ, "HIPEC_POLICY_PATH": str(BUILD / "policies")}

pytestmark = [pytest.mark.more, pytest.mark.usefixtures("quick_start")]

# Each event adds up what it sees; @replace gives a page up, or not.
POLICY = """
Event Init()
{{
	Queue q;
	Page page;
	counter Int fault, faults, access, accesses, replace, replaces, remove, removes, context;
	{extra}
}}
Event PageFault()
{{
	fault += Hint;
	faults++;
	context += Context;
	page = FindPA(FaultedAddress);
	EnQueue(page, q, TAIL);
	{fault}
}}
Event Access()
{{
	access += Hint;
	accesses++;
	context += Context;
}}
Event Replace()
{{
	replace += Hint;
	replaces++;
	{replace}
}}
Event Remove()
{{
	remove += Hint;
	removes++;
}}
"""
GIVE = "page = DeQueue(q, HEAD); EnQueue(page, _free_queue, TAIL);"


@pytest.fixture(autouse=True, scope="module")
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/hipec", "build/asan/ampc"], check=True)


def hipec(*args, text=None):
    done = subprocess.run([HIPEC, *map(str, args)], text=True, capture_output=True, check=False,
                          input=text, env=ENV)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def policy(folder, extra="", fault="", replace=GIVE):
    path = folder / "policy.hp"
    path.write_text(POLICY.format(extra=extra, fault=fault, replace=replace))
    return path


def counters(path, frames, mode, text):
    row, = hipec("sim", "--json", "-p", path, "-f", frames, "-m", mode, "-", text=text)
    return row["policy_counters"]


def told(got, *events):
    """(sum of hints, number of events) of each."""
    return [(got[event], got[{"access": "accesses"}.get(event, event + "s")]) for event in events]


def test_each_event_is_told_of_its_own_access(tmp_path):
    """Page 3 has no frame of two: Replace and PageFault have its hint; page 4 has none."""
    got = counters(policy(tmp_path), 2, "exact",
                   "r 1 h=1 c=f0\nr 2 h=10 c=f00\nr 1 h=100 c=1\nr 3 h=1000\nr 4 c=2\n")
    assert told(got, "fault", "access", "replace", "remove") == [(1011, 4), (100, 1), (1000, 2),
                                                                 (0, 0)]
    assert got["context"] == 0xf0 + 0xf00 + 1 + 2


def test_a_run_has_one_hint_and_a_context_all_its_bits(tmp_path):
    got = counters(policy(tmp_path), 9, "mapped", "r 0 3 h=4294967295 c=ffffffffffffffff\nr 3 2\n")
    assert told(got, "fault") == [(3 * 0xffffffff, 5)]
    assert got["context"] == -3


def test_pages_found_referenced_have_no_hint_of_another_access(tmp_path):
    """Before Replace, for page 3, both others are told as accessed."""
    got = counters(policy(tmp_path), 2, "mapped", "r 1 h=1\nr 2 h=10\nr 3 h=1000 c=5\n")
    assert told(got, "access", "replace", "fault") == [(0, 2), (1000, 1), (1011, 3)]
    assert got["context"] == 5


def test_a_page_that_was_taken_has_none_and_the_fault_keeps_its_own(tmp_path):
    """Replace gives nothing: Remove tells of page 1, then PageFault of page 2."""
    got = counters(policy(tmp_path, replace=""), 1, "mapped", "r 1 h=1\nr 2 h=10 c=3\n")
    assert told(got, "replace", "remove", "fault") == [(10, 1), (0, 1), (11, 2)]
    assert got["context"] == 3


def test_the_first_touch_of_a_prefetched_page_brings_its_hint(tmp_path):
    got = counters(policy(tmp_path, fault="if (!FaultedAddress) Prefetch(4096, 1);"), 4, "mapped",
                   "r 0 h=1\nr 1 h=10\n")
    assert told(got, "fault") == [(11, 2)]


def test_replace_for_another_container_has_none(tmp_path):
    """A has all frames but B's first; B's faults, with hints of its own, take A's pages, which A
    named without one."""
    path = policy(tmp_path)
    (tmp_path / "a").write_text("r 0 20 h=7\n" + "r 19 h=9\n")
    (tmp_path / "b").write_text("r 0 10 h=100\n")
    one, = hipec("mix", "--json", "-f", 21, "-d", 0, "-s", "20s", "-", text=(
        f"A policy={path} min=1 cpu=1s : {tmp_path}/a\nB policy={path} min=1 cpu=1s : {tmp_path}/b\n"))
    a, b = (app["policy_counters"] for app in one["apps"])
    # B took 9. Of the 11 that A has, 10 may go: of these it has named an eighth ahead, 2.
    assert told(a, "replace", "fault") == [(0, 9 + 2), (140, 20)]
    # B, which has 9 at its last fault, has named one, at a fault of its own.
    assert told(b, "replace", "fault") == [(100, 1), (1000, 10)]
    assert a["access"] == 0
