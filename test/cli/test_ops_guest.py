# SPDX-License-Identifier: GPL-2.0-only
"""hipec status, top, log and metrics on stock Debian kernels, and docs/user/operations.md: what
it shows is what they print, and where it says that something is, it is. One boot for each
kernel runs test/cli/ops/guest.sh."""

import json
import re
import shutil
import subprocess

import pytest

from conftest import BUILD, NIGHT_ON_SECOND, ROOT, limit, modules, need, vm
from ops import prometheus
from test_ops import COUNTERS, PARAMETERS, RUNBOOK, SESSIONS, TRACEPOINTS, table, valid

pytestmark = pytest.mark.guest

# Frames that a container of 320 may have beside those, for pages that have just gone.
SPARE = 320 // 64


@pytest.fixture(scope="session", params=NIGHT_ON_SECOND)
def guest(request, tmp_path_factory):
    """One boot of a stock kernel: a Result of run.py."""
    kernel = request.param
    need(kernel)
    tmp = tmp_path_factory.mktemp(f"ops-{kernel}")
    tree = tmp / "tree/hipec"
    shutil.copytree(BUILD / "policies", tree / "policies")
    shutil.copy(ROOT / "test/cli/ops/guest.sh", tree)
    (tree / "page").mkdir()
    for number, (command, _) in enumerate(SESSIONS):
        (tree / f"page/{number:02}").write_text(command + "\n")
    (tree / "runbook").mkdir()
    for number, command in enumerate(RUNBOOK):
        for word, here in (("ID", "$ID"), ("FILE.hp", "/hipec/mended.hp"), ("30s", "2s"),
                           ("hipec top", "hipec top --once")):
            command = command.replace(word, here)
        (tree / f"runbook/{number:02}").write_text(command + "\n")
    shutil.copy(ROOT / "policies/fifo.hp", tree / "mended.hp")
    data = tmp / "data"
    data.mkdir()
    subprocess.run([BUILD / "ampc", "-o", data / "draft.hpo", ROOT / "test/cli/ops/draft.hp"],
                   check=True)
    for name in ("outer", "books"):
        subprocess.run([BUILD / "bench/lib/mkdata", data / name, "400"], check=True)
    subprocess.run([ROOT / "vm-images/mkdisk.sh", data, tmp / "data.img", "64M"], check=True)
    subprocess.run(["gcc", "-O1", "-I", ROOT / "module/include/uapi", "-o", tmp / "search",
                    ROOT / "test/cli/ops/search.c", ROOT / "userlib/lib/libhipec.c"], check=True)
    command = [ROOT / "vm-images/initramfs.sh", "--kernel", kernel, "--out", tmp / "guest.img",
               "--tree", tmp / "tree", "--module", modules(kernel)[0]]
    for program in ("static/hipec", "ampc", "bench/paper/sweep"):
        command += ["--bin", BUILD / program]
    subprocess.run([*command, "--bin", tmp / "search"], check=True)
    return vm.boot(kernel, tmp / "guest.img", BUILD / f"ops-{kernel}", ["sh", "/hipec/guest.sh"],
                   disk=tmp / "data.img", timeout=limit(kernel))


def text(guest, name):
    path = guest.results / name
    assert path.exists(), f"no {name}: {guest.verdict}"
    return path.read_text()


def test_kernel_has_nothing_to_complain_about(guest):
    assert (guest.verdict, guest.status) == ("ok", 0), guest.output


def masked(lines):
    """Without numbers, how wide columns are for them, and units of time."""
    numbers = re.sub(r"[+-]?\d+(\.\d+)?", "N", re.sub(r" +", " ", re.sub(r"(?m)^ +", "", lines)))
    return re.sub(r"\bN (ms|min|h)\b", "N s", numbers)


@pytest.mark.parametrize("number", range(len(SESSIONS)),
                         ids=[command.replace("/", "_") for command, _ in SESSIONS])
def test_the_page_shows_what_commands_print(guest, number):
    """But for the numbers."""
    got, _, status = text(guest, f"page/{number:02}").rpartition("status ")
    assert status == "0\n" and masked(got) == masked(SESSIONS[number][1])


@pytest.mark.parametrize("number", range(len(RUNBOOK)),
                         ids=[command.replace("/", "_") for command in RUNBOOK])
def test_the_runbook_can_be_followed(guest, number):
    """Of a program in a share. A trial may find the new policy worse."""
    got, _, status = text(guest, f"runbook/{number:02}").rpartition("status ")
    command = RUNBOOK[number]
    if command == "rmmod hipec":
        assert "Resource temporarily unavailable" in got or "in use" in got
    else:
        assert status in (("0\n", "3\n") if "--trial" in command else ("0\n",)), got
    if command.startswith("cat "):
        assert int(got) > 0


def test_the_runbook_changes_what_it_says(guest):
    """What was in charge after each swap; what may be set any time."""
    after = text(guest, "runbook.txt").splitlines()
    swaps = [command for command in RUNBOOK if command.startswith("hipec swap ID")]
    assert swaps == ["hipec swap ID builtin", "hipec swap ID FILE.hp"]
    assert [after[RUNBOOK.index(command)].split()[0] for command in swaps] == ["builtin", "mended"]
    assert after[-1].split()[1:] == ["512", "N"]


def test_json_is_as_the_schemas_say(guest):
    sweep, search, draft = valid("status", json.loads(text(guest, "status.json")))
    assert [row["comm"] for row in (sweep, search, draft)] == ["sweep", "search", "sweep"]
    assert [row["shares"] for row in (sweep, search, draft)] == [False, True, False]
    assert draft["exit"]["line"] == 9 and draft["policy_counters"] == {"hits": 0, "rate": 100}
    valid("log", json.loads(text(guest, "log.json")))


def test_top_shows_what_happens(guest):
    """Three pictures; rates that lead from one count to the next."""
    pictures = [valid("top", json.loads(line)) for line in text(guest, "top.json").splitlines()]
    assert len(pictures) == 3
    for before, after in zip(pictures, pictures[1:]):
        assert after["frames"] - SPARE <= 640 <= after["frames"] and after["pool_frames"] == 320
        old = {row["id"]: row for row in before["containers"]}
        assert [row["faults_per_s"] for row in after["containers"]] == sorted(
            (row["faults_per_s"] for row in after["containers"]), reverse=True)
        for row in after["containers"]:
            did = row["counters"]["faults"] - old[row["id"]]["counters"]["faults"]
            assert did > 0 and abs(row["faults_per_s"] * after["seconds"] - did) < 1e-3
            assert row["health"] == ("ended" if row["policy"] == "draft" else "runs")
            assert (row["gain_percent"] or 0) > 30 if row["shares"] else row["gain_percent"] is None


def test_metrics_are_what_status_says(guest):
    """Read by a strict parser; counts have grown since."""
    families = prometheus.read(text(guest, "metrics.txt"))
    for row in json.loads(text(guest, "status.json")):
        labels = (("comm", row["comm"]), ("id", str(row["id"])), ("policy", row["policy"]),
                  ("uid", "0"))
        for name, meaning in COUNTERS:
            now = meaning.startswith("now,")    # it may sink
            value = families[f"hipec_container_{name}{'' if now else '_total'}"][2][labels]
            assert now or value >= row["counters"][name]
        assert families["hipec_container_faults_total"][2][labels] < 100 * row["counters"]["faults"]
        assert families["hipec_container_limit_frames"][2][labels] == row["limit"]
        assert families["hipec_container_exit_kind"][2][labels] == row["exit"]["kind"]
    frames = families["hipec_module_frames"][2][()]
    assert frames - SPARE <= 640 <= frames


def test_ends_are_on_record(guest):
    """Of those that were killed, and of the one with the mistake; with at least the counts that
    they had shortly before."""
    ends = valid("log", json.loads(text(guest, "log-after.json")))
    assert [end["seq"] for end in ends] == sorted(end["seq"] for end in ends)
    last = {end["container"]["id"]: end for end in ends if end["end"] == "container"}
    for row in json.loads(text(guest, "before.json")):
        end = last[row["id"]]
        counters = end["container"]["counters"]
        for name in ("faults", "pages_in", "evictions", "read_pages"):
            assert row["counters"][name] <= counters[name] < 10 * row["counters"][name]
        assert end["container"]["pid"] == row["pid"] and end["lived_ms"] > 1000
        assert end["container"]["exit"]["kind"] == (row["exit"]["kind"] or 16)


def test_parameters_are_as_the_page_says(guest):
    found = dict(line.split() for line in text(guest, "parameters.txt").splitlines())
    assert found == PARAMETERS


def test_tracepoints_are_as_the_page_says(guest):
    names = set(text(guest, "tracepoints.txt").split()) - {"enable", "filter"}
    assert names == set(TRACEPOINTS)
    formats = text(guest, "formats.txt").split("name: ")[1:]
    assert {part.split("\n")[0]: re.findall(r"field:[^;]*?(\w+)(?:\[\w+\])?;",
                                            part.split("\n\n")[1])
            for part in formats} == TRACEPOINTS


def test_places_are_where_the_page_says(guest):
    """And nothing else is in debugfs."""
    lines = text(guest, "places.txt").splitlines()
    assert lines[:3] == ["/dev/hipec", "/sys/class/misc/hipec", "/sys/module/hipec/parameters"]
    assert re.fullmatch(r"/proc/misc:\s*\d+ hipec", lines[3])
    assert lines[4].startswith("/proc/modules:hipec ") and lines[5].endswith(" /hipec (deleted)")
    root = "/sys/kernel/debug/hipec"
    documented = {place.strip("`").replace("ID", "N") for place, _ in table("place")
                  if place.startswith(f"`{root}")}
    found = {re.sub(r"\d+", "N", line) for line in text(guest, "debugfs.txt").splitlines()}
    assert found - {root, f"{root}/N"} == documented
    for row in text(guest, "debugfs-status.txt").split("policy ")[1:]:
        assert [line.split()[0] for line in row.splitlines()[-len(COUNTERS):]] == [
            name for name, _ in COUNTERS]


def test_who_looks_does_not_keep_the_module(guest):
    assert text(guest, "left.txt") == ""
    said, code = text(guest, "top-gone.txt").splitlines()
    assert said.startswith("hipec top: /dev/hipec is missing") and code == "1"
