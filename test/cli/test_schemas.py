# SPDX-License-Identifier: GPL-2.0-only
"""What the command prints for programs about traces, policies and this machine is as
build/schemas says: all of it, with each option that adds something. Of containers:
test_ops.py and test_guest.py; of sweeps: test_tune.py and test_sweep_report.py."""

import json
import os
import subprocess

import jsonschema
import pytest

from conftest import BUILD, valid

pytestmark = pytest.mark.more

ENV = {**os.environ, "HIPEC_POLICY_PATH": str(BUILD / "policies")}
TRACE = "f 0 100 /lib/a\nf 100 60 /lib/b\n" + "r 0 120 c=a h=1\nw 3 2 c=b\nr 150\n" * 12
ENDS = "Event Init() { Int i; }\nEvent PageFault() { i = 1 / i; }\nEvent Replace() { i = 1; }\n"


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    path = tmp_path_factory.mktemp("schemas")
    (path / "t").write_text(TRACE)
    (path / "plain").write_text("r 5\n")
    (path / "ends.hp").write_text(ENDS)
    (path / "apps").write_text("a policy=mru privileged=32 : t\nb policy=amp : t\nc : t\n")
    (path / "disk").write_bytes(bytes(160 * 4096))
    return path


def printed(name, *args, cwd, code=0):
    """What it prints, which is as the schema says."""
    done = subprocess.run([BUILD / "hipec", *args], cwd=cwd, env=ENV, capture_output=True,
                          text=True, check=False)
    assert done.returncode == code, done.stderr
    return valid(name, json.loads(done.stdout))


@pytest.mark.parametrize("more", [[], ["--contract"], ["--verdict"], ["--mode", "exact"],
                                  ["--warm-up", "25%"], ["--whole-writes"],
                                  ["--sample", "1/4", "--detector", "none"]])
def test_sim(here, more):
    """Of references, policies, one that is fed and one that ends."""
    found = printed("sim", "sim", "--json", "-p", "lru,mru,amp,opt,opt-reads,builtin,ends.hp", "-f",
                  "8,50%", *more, "t", "plain", cwd=here)
    assert {row["policy"] for row in found} >= {"lru", "amp", "ends.hp"}
    assert any(row.get("exit", {}).get("kind") for row in found)
    assert ("contract" in found[1]) == ("--contract" in more)


def test_sim_of_a_league(here):
    row, = printed("sim", "sim", "--json", "-p", "auto", "--mode", "exact", "-f", "40", "t", cwd=here)
    assert row["league"]


def test_profile(here):
    found = printed("profile", "profile", "--json", "-p", "lru,mru,amp,ends.hp", "-f", "20", "t",
                  "plain", cwd=here)
    assert len(found["runs"]) == 8 and found["verdicts"]
    assert any(band["region"] == "/lib/a" for band in found["traces"][0]["bands"])


def test_mix(here):
    found = printed("mix", "mix", "--json", "-f", "96", "--sample", "100ms", "--orders", "all", "apps",
                  cwd=here)
    assert len(found) == 6 and all(order["samples"] for order in found)
    found = printed("mix", "mix", "--json", "-f", "96", "apps", cwd=here)
    assert "samples" not in found[0]


def test_profile_of_a_mix(here):
    found = printed("profile", "mix", "-f", "96", "--profile", "json", "apps", cwd=here)
    assert found["machine"]["frames"] == 96 and all("held" in run for run in found["runs"])


def test_trace_info(here):
    found = printed("trace-info", "trace", "info", "--json", "t", "plain", cwd=here)
    assert [one["accesses"] for one in found] == [12 * 123, 1] and len(found[0]["regions"]) == 2


def test_amp_detect(here):
    for detector in ("amp", "pcc", "dear"):
        found = printed("amp-detect", "amp", "detect", "--json", "--detector", detector, "t", cwd=here)
        assert found["detector"] == detector and found["contexts"]


def test_grade(here):
    found = printed("sim-grade", "sim", "--grade", "--json", "-f", "8,50%,200", "mru", "t", "plain", cwd=here)
    assert len(found) == 6 and found[-1]["grade_percent"] is None
    found = printed("sim-grade", "sim", "--grade", "--json", "-f", "8", "ends.hp", "t", cwd=here, code=3)
    assert found[0]["exit"]["kind"] and found[0]["grade_percent"] == 0


def test_play(here):
    assert printed("trace-play", "trace", "play", "--json", "--dry-run", "plain", "disk", cwd=here)["dry_run"]


def test_doctor(here):
    """Of an empty machine, where something is wrong."""
    (here / "root").mkdir()
    found = printed("doctor", "doctor", "--json", "--root", "root", cwd=here, code=1)
    assert {"ok", "note", "wrong"} & {one["state"] for one in found}


@pytest.mark.parametrize("path, member", [((0,), "mystery"), ((0, "exit"), "mystery")])
def test_a_member_that_the_schema_does_not_know_is_refused(here, path, member):
    """So a new one is written down, or this fails."""
    found = printed("sim", "sim", "--json", "-p", "mru", "-f", "8", "t", cwd=here)
    place = found
    for key in path:
        place = place[key]
    place[member] = 1
    with pytest.raises(jsonschema.ValidationError):
        valid("sim", found)
