# SPDX-License-Identifier: GPL-2.0-only
"""What the module decides on a stock Debian kernel, by records that the host replays; what
commands say of it; data on other file systems. One boot runs test/guest/decisions.sh; each test
here looks at one part of what it brought back. The engine decides the same on all kernels, so
ring vm looks at one of them. What arithmetic and the simulator know is in test_counts.py."""

import json
import re
import subprocess

import pytest

from one_boot import boot, names_of_tests, replay, result, verdict_on
from test_counts import BY_NUMBER, PLACE, SHIPPED, place_line, simulate
from conftest import BUILD, KERNELS, NIGHT_ON_SECOND, ROOT, need, valid

pytestmark = pytest.mark.guest

RANDOM_PROGRAMS = 24  # whose records are replayed


@pytest.fixture(scope="session", params=NIGHT_ON_SECOND)
def kernel(request):
    """A stock kernel."""
    need(request.param)
    return request.param


JUDGED = [policy for policy in SHIPPED if policy not in BY_NUMBER]


def judged_script():
    """Lines of shell that read in place under each policy while the contract's judge looks on."""
    return "".join(f"echo judged-{name}= $(hipec-guest-test --judged {name} "
                   f"{' '.join(map(str, PLACE))})\n" for name in JUDGED)


@pytest.fixture(scope="session")
def simulated(tmp_path_factory):
    """{policy: its row}, as the simulator has them."""
    return simulate(tmp_path_factory.mktemp("judged"))


def random_policies(where):
    """Programs that nobody wrote."""
    where.mkdir()
    subprocess.run([BUILD / "asan/record-test", "images", where, "1", str(RANDOM_PROGRAMS)],
                   check=True)


@pytest.fixture(scope="session")
def guest(kernel, tmp_path_factory):
    """One boot of @kernel that ran decisions.sh: a Result of run.py."""
    return boot(kernel, tmp_path_factory.mktemp(f"decisions-{kernel}"), "sh /hipec/decisions.sh",
                "decisions", {"random": random_policies, "judged.sh": judged_script()})


def test_kernel_has_nothing_to_complain_about(guest):
    """No oops, warning, hang; and the run came to its end."""
    assert (guest.verdict, guest.status) == ("ok", 0), guest.output


@pytest.mark.parametrize("type_of_data,name", [
    (file_system, name) for file_system in ("xfs", "btrfs", "tmpfs")
    for name in names_of_tests(KERNELS[0], "--list-data")
    if file_system != "tmpfs" or not name.startswith("cache_")])
def test_module_on_other_file_systems(guest, kernel, type_of_data, name):
    """The tests of data and of locks, of which the others are on ext4."""
    if (kernel, type_of_data) == ("6.1", "tmpfs"):
        pytest.skip("tmpfs has no direct I/O there")
    verdict_on(guest, f"tests-{type_of_data}.txt", name)


@pytest.mark.parametrize("policy", JUDGED)
def test_the_contract_in_place_says_what_the_simulator_says(guest, simulated, policy):
    """All pages are sampled of so few: to the fault. And no policy notices the judge."""
    name, missed, _, refused, end, late, *judged = \
        place_line(result(guest, "judged.txt"), "judged", policy)
    assert (name, refused, end, late) == (policy, "0", "0", "0")
    row = simulated[policy]
    assert int(missed) == row["faults"]
    windows = row["contract"]["windows"]
    assert windows >= 3
    assert list(map(int, judged)) == [windows, 2 * PLACE[1] * windows,
                                      row["contract"]["estimated_in_windows"]]


def objects(text):
    """JSON objects, one behind the other."""
    found, decoder = [], json.JSONDecoder()
    while text.strip():
        value, end = decoder.raw_decode(text.lstrip())
        found.append(value)
        text = text.lstrip()[end:]
    return found


def test_files_are_attached_by_the_command(guest):
    """Three sweeps in 256 of 400 pages: MRU by order of faults misses a window of read-ahead
    or two more than it must in each, 400 + 2 x 144."""
    lines = result(guest, "attach.txt").split("\n")
    number = lines[0]
    row, = json.loads(result(guest, "attach.json"))
    assert (str(row["id"]), row["policy"], row["in_place"], row["regions"]) == \
        (number, "mru", True, 1)
    assert 688 <= row["counters"]["read_pages"] <= 688 + 2 * 64
    assert row["counters"]["hits"] + row["counters"]["pages_in"] == 1200
    assert row["resident"] == row["frames"] == 256
    assert lines[1:] == [
        f"hipec attach: outer: container {number} has it",
        "hipec attach: /dev/null: it is no regular file and no directory",
        "hipec attach: /proc/version: its file system is none of ext4, XFS and btrfs",
        f"hipec detach: inner: container {number} does not have it",
        f"hipec detach: container {number}: there is none, or it is not yours", ""]
    assert json.loads(result(guest, "detach.json")) == []


def test_a_league_is_told_by_the_command(guest):
    """Six sweeps in 256 of 400 pages, each of which the default and lru miss. While a worker has
    another team take over, the reader goes on; what it touches meanwhile and the new policy evicts
    is heard of by nobody, half of a CPU's 256 notes at most."""
    lines = result(guest, "league.txt").split("\n")
    row, = json.loads(result(guest, "league.json"))
    league = row["league"]
    assert valid("status", [row]) and (row["policy"], league["runs"]) == ("mru", "mru")
    teams = {team["policy"]: team for team in league["teams"]}
    played = league["sampled_accesses"]
    assert league["switches"] >= 1 and 2400 - 128 * league["switches"] <= played <= 2400
    assert teams["builtin"]["sampled_misses"] == teams["lru"]["sampled_misses"] == played
    assert lines[0].split() == ["POLICY", "MISSES", "SAVES%", "STATE"]
    assert [line.split()[0] for line in lines[1:4]] == ["builtin", "mru", "lru"]
    assert [line.split()[-1] for line in lines[1:4]] == ["plays", "runs", "plays"]
    assert lines[4].startswith(f"{played} accesses played, to one page in 1; the container missed ")
    assert lines[5].endswith("has no curve; hipec run --curve makes one")
    assert "lru.hpo has taken over, with " in lines[6]
    assert lines[7].endswith("has no league; hipec run --policy auto makes one")
    assert lines[8:] == ["hipec attach: --among: want --policy auto beside it", lines[9],
                         lines[10], ""]
    assert "none" in lines[9]
    assert lines[10].split()[0] == "ID"     # and no container
    samples = metrics(guest, "league.metrics")
    assert samples["hipec_league_sampled_total"] == {None: played}
    assert samples["hipec_league_misses_total"] == {
        name: team["sampled_misses"] for name, team in teams.items()}
    assert samples["hipec_league_runs"] == {"builtin": 0, "mru": 1, "lru": 0}
    assert samples["hipec_league_missed_total"] == {None: league["sampled_misses"]}
    assert samples["hipec_league_takeovers_total"] == {None: league["switches"]}
    top = result(guest, "league.top").split("\n")
    assert f"{row['id']}: auto: mru runs, after " in top[-2]


def metrics(guest, name):
    """{metric: {its label name, or None: value}}, of one container."""
    samples = {}
    for line in result(guest, name).splitlines():
        got = re.fullmatch(r'(\w+)\{.*?(?:,name="(.*?)")?\} (\S+)', line)
        if got:
            samples.setdefault(got[1], {})[got[2]] = float(got[3])
    return samples


def test_a_curve_is_told_by_the_command(guest):
    """Six sweeps of 400 pages: mru with F of them misses 400 - F + 1 in each but the first; and so
    does the container."""
    want = {pages: 400 + 5 * max(0, 400 - pages + 1) if pages < 400 else 400
            for pages in (64, 128, 256, 512, 1024)}
    row, = json.loads(result(guest, "curve.json"))
    assert valid("status", [row]) and row["league"] is None
    assert {point["pages"]: point["sampled_misses"] for point in row["curve"]["points"]} == \
        {pages: misses for pages, misses in want.items() if pages != 256}
    assert {point["budget_misses"] for point in row["curve"]["points"]} == {want[256]}
    assert row["counters"]["pages_in"] == want[256]
    lines = result(guest, "curve.txt").split("\n")
    assert lines[0] == "mru, 2400 accesses, to one page in 1"
    assert lines[1].split() == ["BUDGET", "PAGES", "MISSES", "SAVES%"]
    assert [line.split()[2:] for line in lines[2:7]] == [
        [str(pages), str(misses), *(["has", "it"] if pages == 256 else ["not", "full"] if misses < pages
                                    else [f"{100 - 100 * misses / want[256]:+.1f}"])]
        for pages, misses in want.items()]
    assert lines[7].endswith("has no league; hipec run --policy auto makes one")
    assert lines[8:] == [""]
    shared, = json.loads(result(guest, "curve-shared.json"))
    assert valid("status", [shared]) and shared["frames"] <= 256
    assert {team["policy"] for team in shared["league"]["teams"]} == {"builtin", "mru"}
    assert [point["pages"] for point in shared["curve"]["points"]] == [64, 128, 512, 1024]
    samples = metrics(guest, "curve.metrics")
    assert "hipec_league_runs" not in samples
    assert samples["hipec_curve_saves"] == {
        f"{pages / 256:g}": pytest.approx(1 - want[pages] / want[256], abs=1e-5)
        for pages in want if pages != 256 and want[pages] >= pages}
    assert set(samples["hipec_curve_error"].values()) == {0}
    less = abs(100 - 100 * want[128] / want[256])
    assert result(guest, "curve.top").split("\n")[-2] == (
        f"{row['id']}: 512 KiB less: {less:.1f} % ± 0.0 % more misses; "
        "1.0 MiB more: not full yet")
    picture = json.loads(result(guest, "curve-top.json"))
    assert valid("top", picture)["containers"][0]["curve"] == row["curve"]


def test_policies_are_swapped_by_hand_and_on_trial(guest):
    """A sweep of 400 pages in 300 frames: 101 pages come in by MRU, 400 by FIFO, for the
    same work. What is worse goes back, what is better or the same stays."""
    lines = result(guest, "swap.txt").split("\n")
    status = [int(line.split()[1]) for line in lines if line.startswith("status")]
    now = [line.split()[1] for line in lines if line.startswith("now")]
    assert status == [3, 0, 0, 0, 3, 1, 0], lines
    assert now == ["mru", "builtin", "fifo", "mru", "mru", "mru", "ends"], lines
    assert any("division by zero in Adopt+" in line for line in lines)
    worse, plain, _, better, ended, other = (
        valid("swap", one) for one in objects(result(guest, "swap.json")))
    for trial, kept in ((worse, False), (better, True)):
        assert trial["kept"] == kept, trial
        assert "for each of the default policy's" in trial["why"]
        ratio = [trial[side]["judged_faults"] / trial[side]["default_faults"]
                 for side in ("before", "after")]
        assert max(ratio) > 1.2 * min(ratio), trial
        assert (ratio[0] > ratio[1]) == kept
    assert min(plain["adopted"], other["adopted"]) > 250
    assert not ended["kept"] and "it ended: " in ended["why"]
    assert ended["after"]["seconds"] < 3


def test_params_are_set_and_policies_end_by_hand(guest):
    """All of a command's params, or none."""
    params = valid("swap-param", json.loads(result(guest, "set.json")))
    values = {param["name"]: param["value"] for param in params}
    assert values == {"youngest": 1, "any": -9, "fixed": 3}
    text = result(guest, "set.txt")
    assert "youngest may be 0 to 1" in text
    assert "its policy has ended before" in text
    assert "it was revoked by hand" in text.split("\n")[-2]


@pytest.mark.parametrize("program", ["touches-frames", "touches-scan"])
def test_traces_have_the_contexts_of_faults(guest, program):
    """A program with the C library, at other addresses in each run."""
    served = re.findall(r"^(\d+) ([0-9a-f]+)$", result(guest, f"{program}.txt"), re.M)
    traced = re.findall(r"^r (\d+) c=([0-9a-f]+)$", result(guest, f"{program}.trace.txt"), re.M)
    assert len(served) == 8, result(guest, f"{program}.txt")
    assert traced == served
    contexts = dict(served)
    assert contexts["0"] == contexts.pop("5")
    assert len(set(contexts.values())) == 7 and "0" not in contexts.values()


@pytest.mark.parametrize("policy", sorted(p.stem for p in (ROOT / "policies").glob("*.hp")))
def test_a_policy_decides_the_same_again(guest, policy):
    """What a shipped policy did in the kernel, replayed here: byte for byte."""
    code, lines = replay(guest.results / "records" / policy)
    assert (code, len(lines)) == (0, 1), lines
    got = re.fullmatch(rf"container 1, {policy} of hipec-guest-tes: (\d+) events, "
                       r"(\d+) decisions, all the same", lines[0])
    assert got and int(got[1]) > 1200 and int(got[2]) > 800, lines


def test_random_programs_decide_the_same_again(guest):
    """And the policies of test/guest/policies, which do what they should not."""
    records = sorted((guest.results / "records").iterdir())
    assert len([r for r in records if r.name.startswith("random-")]) == RANDOM_PROGRAMS
    assert len(records) > RANDOM_PROGRAMS + 25
    assert [lines for code, lines in map(replay, records) if code] == []
    text = guest.results / "records.txt"
    assert not text.exists() or "failed" not in text.read_text()


def test_the_command_records_what_it_runs(guest):
    """A container that a command makes."""
    code, lines = replay(guest.results / "records/command")
    assert code == 0 and ", lru of sweep: " in lines[0], lines
    assert int(lines[0].split(": ")[1].split()[0]) > 100


def test_a_record_has_the_policies_that_took_over(guest):
    """One of a league, and one that a user swapped in: each decides the same again."""
    code, lines = replay(guest.results / "records/league")
    assert code == 0, lines
    policies = [line.split(", ")[1].split()[0] for line in lines]
    assert policies[0] == "builtin" and policies[-2:] == ["mru", "lru"]
    row, = json.loads(result(guest, "league.json"))
    assert len(lines) == row["league"]["switches"] + 2
