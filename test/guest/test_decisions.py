# SPDX-License-Identifier: GPL-2.0-only
"""What the module decides on a stock Debian kernel, by arithmetic, by the simulator and by
records that the host replays; what commands say of it; data on other file systems. One boot runs
test/guest/decisions.sh; each test here looks at one part of what it brought back. The engine
decides the same on all kernels, so ring vm looks at one of them."""

import json
import re
import subprocess
import sys

import pytest

from one_boot import INDEX, boot, lists_of_tests, names_of_tests, replay, result, verdict_on
from conftest import BUILD, KERNELS, LONG_ON_SECOND, ROOT, need, valid
from on_debug import COUNTS

sys.path.append(str(ROOT))

from bench.lib import models  # noqa: E402

pytestmark = pytest.mark.guest

# Cyclic sweeps whose faults are known by arithmetic: N pages, P passes, F
# frames, clusters of C.
SWEEPS = [(policy, program, n, p, f, c)
          for policy in ("mru", "fifo", "fifo2")
          for program in ("sweep", "join")
          for n, p, f, c in [(400, 4, 300, 1), (400, 4, 100, 1), (400, 3, 400, 1),
                             (400, 3, 399, 1), (400, 4, 320, 16), (400, 4, 300, 32),
                             (400, 4, 100, 8)]]

# module/frames/readahead.c: clusters of a run of misses after which two are on the move.
LONG_RUN = 32


def pages_in(policy, n, p, f, c):
    """(least, most) pages that @p sweeps over @n pages bring in.

    MRU by order of faults: the first pass brings all, each later one what the
    first F-C pages of the stack do not hold; with clusters, one cluster's frames
    are always on the move, and up to two of them in a long run of misses. (A run
    begins with smaller batches; each here is long enough to come to clusters of C.)
    Recency policies hit nothing unless all fits.
    """
    if f >= n:
        return n, n
    if policy != "mru":
        return p * n, p * n
    moving = 2 * c if c > 1 and n > LONG_RUN * c else c
    return n + (p - 1) * (n - f + c), n + (p - 1) * (n - f + moving)


def sweeps_script():
    """Lines of shell that run SWEEPS."""
    script = "cd /data\n"
    for number, (policy, program, _, p, f, c) in enumerate(SWEEPS):
        script += (f"echo number={number} $({program} --policy /hipec/policies/{policy}.hpo "
                   f"--frames {f} --cluster {c} --passes {p} --disk vda "
                   f"{'inner ' if program == 'join' else ''}outer && echo status=0)\n")
    return script


# Random retrieval, whose faults a model knows: index pages, lookups, policy, frames.
LOOKUPS = 1000
RETRIEVALS = [(policy, frames) for policy in ("mpfifo2", "fifo2") for frames in (60, 200)]
DATABASE = 64


def programs_script():
    """Lines of shell that run each of the paper's other programs: rdr, smpeg, dbg."""
    script = ""
    for policy, frames in RETRIEVALS:
        script += (f"echo rdr={policy}-{frames} $(rdr --policy /hipec/policies/{policy}.hpo "
                   f"--frames {frames} --cluster 1 --lookups {LOOKUPS} index outer "
                   f"&& echo status=0)\n")
    script += ("echo smpeg=fifo $(smpeg --policy /hipec/policies/fifo.hpo --frames 16 --cluster 1 "
               "--rate 1000000 outer && echo status=0)\n"
               "for policy in fifo fifo2; do\n"
               f"truncate -s $(({DATABASE} * 4096)) database\n"
               "echo dbg=$policy $(dbg --policy /hipec/policies/$policy.hpo --frames 16 database "
               "&& sweep --passes 1 database >/dev/null && echo status=0)\n"
               "rm database\ndone\n")
    return script


# Reads in place that the simulator knows: pages of the file, budget, reads; cache.c's.
PLACE = (512, 256, 6000)
SHIPPED = sorted(path.stem for path in (ROOT / "policies").glob("*.hp"))
# They go through the page table by number, and in place that has entries to spare.
BY_NUMBER = {"lhd", "mglru", "random2"}


def place_script():
    """Lines of shell that read in place under each policy that comes with hipec, and under
    each while the contract's shadow looks on."""
    switch = "/sys/module/hipec/parameters/revocation"
    runs = {how: "".join(f"echo {how}-{policy}= $(hipec-guest-test --{how} {policy} "
                         f"{' '.join(map(str, PLACE))})\n" for policy in SHIPPED)
            for how in ("reads", "judged")}
    runs["reads"] += "".join(
        f"echo reads-{name}= $(hipec-guest-test --reads {name} {' '.join(map(str, PLACE))})\n"
        for name in LEAGUES)
    return f"{runs['reads']}echo N >{switch}\n{runs['judged']}echo Y >{switch}\n"


# What a league is shown (cache_reads() knows these names): the page of read @i of @reads,
# where a skewed reader would take page @low.
LEAGUES = {
    "auto": lambda i, reads, low, pages: i % pages if i // 512 % 4 == 3 else low,
    "auto-join": lambda i, reads, low, pages: 0 if i % 2 else 1 + i // 2 % (pages - 1),
    "auto-skewed": lambda i, reads, low, pages: low,
    "auto-changing": lambda i, reads, low, pages:
        LEAGUES["auto-join" if i < reads // 2 else "auto-skewed"](i, reads, low, pages),
}


def place_reads(page=LEAGUES["auto"]):
    """The pages that cache_reads() reads, in their order."""
    pages, _, reads = PLACE
    numbers, seed = [], 1
    for i in range(reads):
        pair = []
        for _ in range(2):
            seed = (seed * 1664525 + 1013904223) % 2 ** 32
            pair.append((seed >> 8) % pages)
        numbers.append(page(i, reads, pair[0] * pair[1] // pages, pages))
    return numbers


RANDOM_PROGRAMS = 24  # whose records are replayed


@pytest.fixture(scope="session", params=LONG_ON_SECOND)
def kernel(request):
    """A stock kernel."""
    need(request.param)
    return request.param


def counting(kernel):
    """Names of the tests that prove counts, if @kernel leaves them out of test_guest.py."""
    return [name for name in names_of_tests(KERNELS[0]) if name in COUNTS and
            name not in names_of_tests(kernel)]


def random_policies(where):
    """Programs that nobody wrote."""
    where.mkdir()
    subprocess.run([BUILD / "asan/record-test", "images", where, "1", str(RANDOM_PROGRAMS)],
                   check=True)


@pytest.fixture(scope="session")
def guest(kernel, tmp_path_factory):
    """One boot of @kernel that ran decisions.sh: a Result of run.py."""
    return boot(kernel, tmp_path_factory.mktemp(f"decisions-{kernel}"), "sh /hipec/decisions.sh",
                "decisions", {
                    "counts.sh": sweeps_script() + programs_script() + place_script(),
                    "random": random_policies, **lists_of_tests(counting(kernel))})


def test_kernel_has_nothing_to_complain_about(guest):
    """No oops, warning, hang; and the run came to its end."""
    assert (guest.verdict, guest.status) == ("ok", 0), guest.output


@pytest.mark.parametrize("kernel", LONG_ON_SECOND[1:], indirect=True)
def test_counts_on_the_second_kernel(guest, kernel):
    """Tests of test/guest/program/ that test_guest.py left out there."""
    names = counting(kernel)
    assert names
    for name in names:
        verdict_on(guest, "tests.txt", name)


@pytest.mark.parametrize("type_of_data,name", [
    (file_system, name) for file_system in ("xfs", "btrfs", "tmpfs")
    for name in names_of_tests(KERNELS[0], "--list-data")
    if file_system != "tmpfs" or not name.startswith("cache_")])
def test_module_on_other_file_systems(guest, kernel, type_of_data, name):
    """The tests of data and of locks, of which the others are on ext4."""
    if (kernel, type_of_data) == ("6.1", "tmpfs"):
        pytest.skip("tmpfs has no direct I/O there")
    verdict_on(guest, f"tests-{type_of_data}.txt", name)


@pytest.mark.parametrize("number", [pytest.param(number, id="-".join(map(str, sweep)))
                                    for number, sweep in enumerate(SWEEPS)])
def test_faults_equal_arithmetic(guest, number):
    """Faults, pages and block reads of a sweep, exactly."""
    policy, _, n, p, f, c = SWEEPS[number]
    line = [line for line in result(guest, "counts.txt").split("\n")
            if line.startswith(f"number={number} ")][0]
    assert line.endswith(" status=0"), line
    got = dict(word.split("=", 1) for word in line.split())
    least, most = pages_in(policy, n, p, f, c)
    want = int(got["pages_in"])
    assert least <= want <= most
    assert int(got["read_pages"]) == want
    assert int(got["evictions"]) == max(0, want - f)
    assert int(got["helped"]) == int(got["refused"]) == int(got["exit"]) == 0
    assert int(got["soft_faults"]) == 0
    if c == 1:
        assert int(got["faults"]) == want
        assert int(got["read_ios"]) == want
    # The disk agrees, but for the join's inner page and file-system metadata.
    assert want <= int(got["disk_pages"]) <= want + 8


def counts_of(guest, name):
    """What a program of programs_script() printed."""
    line = [line for line in result(guest, "counts.txt").split("\n")
            if line.startswith(f"{name} ")][0]
    assert line.endswith(" status=0"), line
    got = dict(word.split("=", 1) for word in line.split())
    assert int(got["refused"]) == int(got["exit"]) == 0
    return {key: int(value) for key, value in got.items() if value.isdigit()}


@pytest.fixture(scope="session")
def simulated(tmp_path_factory):
    """{policy: its row} of the reads of place_reads(), as the simulator has them."""
    trace = tmp_path_factory.mktemp("place") / "trace"
    trace.write_text("".join(f"r {page}\n" for page in place_reads()))
    out = subprocess.run(
        [BUILD / "hipec", "sim", "--mode", "exact", "--frames", str(PLACE[1]), "--json",
         "--contract", "--policy",
         ",".join(str(BUILD / f"policies/{policy}.hpo") for policy in SHIPPED), trace],
        text=True, check=True, capture_output=True).stdout
    return {row["policy"].split("/")[-1].removesuffix(".hpo"): row for row in json.loads(out)}


def place_line(guest, how, policy):
    """What cache_reads() printed."""
    line, = [line for line in result(guest, "counts.txt").split("\n")
             if line.startswith(f"{how}-{policy}= ")]
    return line.split()[1:]


@pytest.mark.parametrize("policy", SHIPPED)
def test_misses_in_place_are_the_simulator_s(guest, simulated, policy):
    """To the miss, for one thread that reads pages by read(), in no order."""
    name, missed, _, refused, end, *judged = place_line(guest, "reads", policy)
    assert (name, refused, end, judged) == (policy, "0", "0", ["0", "0", "0"])
    faults = simulated[policy]["faults"]
    if policy in BY_NUMBER:
        assert abs(int(missed) - faults) < faults / 20
    else:
        assert int(missed) == faults


@pytest.mark.parametrize("policy", [policy for policy in SHIPPED if policy not in BY_NUMBER])
def test_the_contract_in_place_says_what_the_simulator_says(guest, simulated, policy):
    """All pages are sampled of so few: to the fault. And no policy notices the shadow."""
    name, missed, _, refused, end, *judged = place_line(guest, "judged", policy)
    assert (name, refused, end) == (policy, "0", "0")
    row = simulated[policy]
    assert int(missed) == row["faults"]
    windows = row["contract"]["windows"]
    assert windows >= 3
    assert list(map(int, judged)) == [windows, 2 * PLACE[1] * windows,
                                      row["contract"]["estimated_in_windows"]]


@pytest.mark.parametrize("name", LEAGUES)
def test_a_league_in_place_reads_as_in_the_simulator(guest, tmp_path, name):
    """But for who takes over some accesses later, in a worker."""
    trace = tmp_path / "trace"
    trace.write_text("".join(f"r {page}\n" for page in place_reads(LEAGUES[name])))
    row, = json.loads(subprocess.run(
        [BUILD / "hipec", "sim", "--mode", "exact", "--frames", str(PLACE[1]), "--json",
         "--policy", "auto", trace], text=True, check=True, capture_output=True).stdout)
    told, read, helped, _, ended = place_line(guest, "reads", name)[:5]
    assert (told, helped, ended) == (name, "0", "0")
    # On a busy machine one that changed sides later read 11 % less.
    assert 0.8 * row["faults"] <= int(read) <= 1.1 * row["faults"]


@pytest.mark.parametrize("policy, frames", RETRIEVALS)
def test_retrieval_equals_its_model(guest, policy, frames):
    """The faults of random look-ups, with levels told through a shared array."""
    got = counts_of(guest, f"rdr={policy}-{frames}")
    retrieval = models.Retrieval(INDEX)
    model = models.Mpfifo2(retrieval.level) if policy == "mpfifo2" else models.Fifo2()
    want = models.faults(retrieval.lookups(LOOKUPS), frames, model, {100, LOOKUPS})
    assert got["helped"] == 0
    assert got["at_100_pages_in"] == want[100]
    assert got["pages_in"] == got["faults"] == got["read_ios"] == want[LOOKUPS]
    assert got["evictions"] == want[LOOKUPS] - frames


def test_player_reads_each_page_once(guest):
    """In 16 frames."""
    got = counts_of(guest, "smpeg=fifo")
    assert (got["pages_in"], got["read_pages"], got["evictions"]) == (400, 400, 384)


@pytest.mark.parametrize("policy", ["fifo", "fifo2"])
def test_generator_writes_each_page_once(guest, policy):
    """Sequentially, in a quarter of the frames, nothing is written twice. Most frames
    are on their way to or from the disk, and of one page none is inactive."""
    got = counts_of(guest, f"dbg={policy}")
    assert got["pages_in"] == got["written_pages"] == DATABASE


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
    """Six sweeps in 256 of 400 pages, each of which the default and lru miss."""
    lines = result(guest, "league.txt").split("\n")
    row, = json.loads(result(guest, "league.json"))
    league = row["league"]
    assert valid("status", [row]) and (row["policy"], league["runs"]) == ("mru", "mru")
    teams = {team["policy"]: team for team in league["teams"]}
    assert teams["builtin"]["sampled_misses"] == teams["lru"]["sampled_misses"] == 2400
    assert league["sampled_accesses"] == 2400 and league["switches"] >= 1
    assert lines[0].split() == ["POLICY", "MISSES", "SAVES%", "STATE"]
    assert [line.split()[0] for line in lines[1:4]] == ["builtin", "mru", "lru"]
    assert [line.split()[-1] for line in lines[1:4]] == ["plays", "runs", "plays"]
    assert lines[4].startswith("2400 accesses played, to one page in 1; the container missed ")
    assert lines[5].endswith("has no curve; hipec run --curve makes one")
    assert "lru.hpo has taken over, with " in lines[6]
    assert lines[7].endswith("has no league; hipec run --policy auto makes one")
    assert lines[8:] == ["hipec attach: --among: want --policy auto beside it", lines[9],
                         lines[10], ""]
    assert "none" in lines[9]
    assert lines[10].split()[0] == "ID"     # and no container
    samples = metrics(guest, "league.metrics")
    assert samples["hipec_league_sampled_total"] == {None: 2400}
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
        [str(pages), str(misses), *(["has", "it"] if pages == 256 else
                                    [f"{100 - 100 * misses / want[256]:+.1f}"])]
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
        for pages in want if pages != 256}
    assert set(samples["hipec_curve_error"].values()) == {0}
    more, less = (abs(100 - 100 * want[pages] / want[256]) for pages in (512, 128))
    assert result(guest, "curve.top").split("\n")[-2] == (
        f"{row['id']}: 512 KiB less: {less:.1f} % ± 0.0 % more misses; "
        f"1.0 MiB more: {more:.1f} % ± 0.0 % fewer misses")
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
    params = valid("set", json.loads(result(guest, "set.json")))
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
