# SPDX-License-Identifier: GPL-2.0-only
"""Ring 3: the module on stock Debian kernels; and in ring 2, on the kernel that
finds bugs. One boot for each kernel runs everything (test/guest/run.sh); each
test here looks at one part of what it brought back."""

import json
import re
import subprocess
import sys

import pytest

import ktap
from conftest import BUILD, KUNIT_KERNELS, ROOT, TEST_SECONDS, guest_image, guest_tree, vm
from hostile.hostile import complaints
from stress import stress
from test_differ import check_sum
from test_kunit import check_case, check_whole, kunit_cases

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


# One of each kind will do for a kernel on which they take ten times as long.
QUICK_SWEEPS = [number for number, (policy, program, n, p, f, c) in enumerate(SWEEPS)
                if (policy, program) in (("mru", "sweep"), ("fifo2", "join"))
                and (f, c) in ((300, 1), (320, 16), (100, 8))]


def sweeps_script(numbers):
    """Lines of shell that run some of SWEEPS."""
    script = "cd /data\n"
    for number in numbers:
        policy, program, _, p, f, c = SWEEPS[number]
        script += (f"echo number={number} $({program} --policy /hipec/policies/{policy}.hpo "
                   f"--frames {f} --cluster {c} --passes {p} --disk vda "
                   f"{'inner ' if program == 'join' else ''}outer && echo status=0)\n")
    return script


# Random retrieval, whose faults a model knows: index pages, lookups, policy, frames.
INDEX, LOOKUPS = 100, 1000
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


RANDOM_PROGRAMS = 24  # whose records are replayed


@pytest.fixture(scope="session")
def guest(kernel, boots, tmp_path_factory):
    """One boot of @kernel that ran everything: a Result of run.py."""
    if kernel in boots:
        return boots[kernel]
    tmp = tmp_path_factory.mktemp(f"guest-{kernel}")
    tree = guest_tree(tmp)
    data = tmp / "data"
    data.mkdir()
    for name, pages in (("inner", 1), ("outer", 400)):
        subprocess.run([BUILD / "bench/lib/mkdata", data / name, str(pages)], check=True)
    subprocess.run([BUILD / "bench/lib/mkindex", data / "index", str(INDEX)], check=True)
    image = tmp / "data.img"
    subprocess.run([ROOT / "vm-images/mkdisk.sh", data, image, "64M"], check=True)
    (tree / "hipec/random").mkdir()
    subprocess.run([BUILD / "asan/record-test", "images", tree / "hipec/random", "1",
                    str(RANDOM_PROGRAMS)], check=True)
    ours = kernel in KUNIT_KERNELS
    (tree / "hipec/counts.sh").write_text(
        sweeps_script(QUICK_SWEEPS if ours else range(len(SWEEPS))) + programs_script())
    (tree / "hipec/tests").write_text("\n".join(
        name for name in names_of_tests() if not name.startswith("awst_")))
    boots[kernel] = vm.boot(
        kernel, guest_image(tmp, kernel, tree), BUILD / f"guest-{kernel}",
        ["env", f"HIPEC_SLOWER={vm.fact(kernel, 'slower', '1')}", "sh", "-c",
         "sh /hipec/kunit.sh && sh /hipec/run.sh && sh /hipec/last.sh" if ours else
         "sh /hipec/run.sh"],
        disk=image, timeout=TEST_SECONDS if ours else 1500)
    return boots[kernel]


def result(guest, name):
    """The text of a result file."""
    path = guest.results / name
    assert path.exists(), f"no {name}: {guest.verdict}"
    return path.read_text()


def verdict_on(guest, part, name):
    """Assert that line `ok NAME` is in @part; show its comments if not."""
    lines = result(guest, part).split("\n")
    for number, line in enumerate(lines):
        if re.match(rf"(not )?ok {re.escape(name)}(:|$| )", line):
            assert line.startswith("ok"), "\n".join(lines[max(0, number - 5):number + 1])
            return
    pytest.fail(f"{part} does not tell of {name}: {lines[-3:]}")


def names_of_tests():
    """The guest program's own list, asked on the host; empty until it is built,
    when only `make check-fast` collects these files."""
    program = BUILD / "guest/hipec-guest-test"
    if not program.exists():
        return []
    return subprocess.run([program, "--list"], text=True, check=True,
                          capture_output=True).stdout.split()


def test_kernel_has_nothing_to_complain_about(guest):
    """No oops, warning, lockdep report, hang; and the run came to its end."""
    assert guest.verdict == "ok"
    assert guest.status == 0, guest.output


@pytest.mark.parametrize("name", names_of_tests())
def test_module(guest, name):
    """One test of test/guest/program/."""
    verdict_on(guest, "tests.txt", name)


@pytest.mark.parametrize("name", sorted(p.stem for p in (ROOT / "test/vm/cases").glob("*.hpt")))
def test_vm_file(guest, name):
    """The VM core gives the same answers in the kernel."""
    verdict_on(guest, "hpt.txt", name)


def test_random_policies_do_the_same_in_the_kernel(guest, kernel):
    """Thousands of them, on random pages: the same text, byte for byte."""
    check_sum(result(guest, "differ.txt"), 6000 // int(vm.fact(kernel, "slower", "1")))


@pytest.mark.parametrize("number", [
    pytest.param(number, id="-".join(map(str, sweep)),
                 marks=[] if number in QUICK_SWEEPS else pytest.mark.slow)
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


def test_status_shows_the_container(guest):
    """`hipec status` in both forms."""
    text = result(guest, "status.txt")
    assert re.search(r"\bmru\b", text) and "sweep" in text
    containers = json.loads(result(guest, "status.json"))
    containers = containers.get("containers", containers) \
        if isinstance(containers, dict) else containers
    assert len(containers) == 1
    assert containers[0]["policy"] == "mru"
    assert containers[0]["frames"] == 64


def objects(text):
    """JSON objects, one behind the other."""
    found, decoder = [], json.JSONDecoder()
    while text.strip():
        value, end = decoder.raw_decode(text.lstrip())
        found.append(value)
        text = text.lstrip()[end:]
    return found


def test_why_tells_of_a_page(guest):
    """The sweep in 64 frames keeps its first 63 pages, and its stack is their queue."""
    why = json.loads(result(guest, "why.json"))
    assert (why["page"], why["file"], why["file_offset"]) == (3, "/data/outer", 12288)
    assert "resident" in why["state"] and "dirty" not in why["state"]
    assert why["queue"] == {"of": "policy", "name": "stack", "index": 0, "place": 3,
                            "pages": why["queue"]["pages"]}
    assert 3 < why["queue"]["pages"] <= 64
    text = result(guest, "why.txt")
    assert "page 3, byte 12288 of /data/outer\n  resident: " in text
    assert re.search(r"on queue stack, place 4 of \d+ from the head", text)
    assert text.endswith("none of its regions has this page\n")


def test_policies_are_swapped_by_hand_and_on_trial(guest, kernel):
    """A sweep of 400 pages in 300 frames: 101 pages come in by MRU, 400 by FIFO, for the
    same work. What is worse goes back, what is better or the same stays."""
    if kernel in KUNIT_KERNELS:
        pytest.skip("this kernel is too slow for a trial of seconds to see enough")
    lines = result(guest, "swap.txt").split("\n")
    status = [int(line.split()[1]) for line in lines if line.startswith("status")]
    now = [line.split()[1] for line in lines if line.startswith("now")]
    assert status == [3, 0, 0, 0, 3, 1, 0], lines
    assert now == ["mru", "builtin", "fifo", "mru", "mru", "mru", "ends"], lines
    assert any("division by zero in Adopt+" in line for line in lines)
    worse, plain, _, better, ended, other = objects(result(guest, "swap.json"))
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
    values = {param["name"]: param["value"] for param in json.loads(result(guest, "set.json"))}
    assert values == {"youngest": 1, "any": -9, "fixed": 3}
    text = result(guest, "set.txt")
    assert "youngest may be 0 to 1" in text
    assert "its policy has ended before" in text
    assert "it was revoked by hand" in text.split("\n")[-2]


@pytest.mark.parametrize("program", ["touches-frames", "touches-scan"])
def test_traces_have_the_contexts_of_faults(guest, kernel, program):
    """A program with the C library, at other addresses in each run."""
    if kernel in KUNIT_KERNELS:
        pytest.skip("this kernel has no process_vm_readv(), which --stack frames wants")
    served = re.findall(r"^(\d+) ([0-9a-f]+)$", result(guest, f"{program}.txt"), re.M)
    traced = re.findall(r"^r (\d+) c=([0-9a-f]+)$", result(guest, f"{program}.trace.txt"), re.M)
    assert len(served) == 8, result(guest, f"{program}.txt")
    assert traced == served
    contexts = dict(served)
    assert contexts["0"] == contexts.pop("5")
    assert len(set(contexts.values())) == 7 and "0" not in contexts.values()


def replay(record):
    """(exit code, lines) of `hipec replay`."""
    done = subprocess.run([BUILD / "hipec", "replay", record], capture_output=True, text=True,
                          check=False)
    return done.returncode, (done.stdout + done.stderr).splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("policy", sorted(p.stem for p in (ROOT / "policies").glob("*.hp")))
def test_a_policy_decides_the_same_again(guest, policy):
    """What a shipped policy did in the kernel, replayed here: byte for byte."""
    code, lines = replay(guest.results / "records" / policy)
    assert (code, len(lines)) == (0, 1), lines
    got = re.fullmatch(rf"container 1, {policy} of hipec-guest-tes: (\d+) events, "
                       r"(\d+) decisions, all the same", lines[0])
    assert got and int(got[1]) > 1200 and int(got[2]) > 800, lines


@pytest.mark.slow
def test_random_programs_decide_the_same_again(guest):
    """And the policies of test/guest/policies, which do what they should not."""
    records = sorted((guest.results / "records").iterdir())
    assert len([r for r in records if r.name.startswith("random-")]) == RANDOM_PROGRAMS
    assert len(records) > RANDOM_PROGRAMS + 25
    assert [lines for code, lines in map(replay, records) if code] == []
    text = guest.results / "records.txt"
    assert not text.exists() or "failed" not in text.read_text()


@pytest.mark.slow
def test_the_command_records_what_lives(guest):
    """A container that is there, and one that a command makes."""
    for name, policy in (("live", "mru"), ("command", "lru")):
        code, lines = replay(guest.results / "records" / name)
        assert code == 0 and f", {policy} of sweep: " in lines[0], lines
        assert int(lines[0].split(": ")[1].split()[0]) > 100


def test_debugfs_shows_counters_and_commands(guest):
    """debugfs has the counters and the commands of a live container."""
    assert re.search(r"^pages_in \d+$", result(guest, "debugfs-status.txt"), re.M)
    assert "findpa page, FaultedAddress" in result(guest, "policy.txt")


def test_nothing_is_left_behind(guest):
    """After kill -9 no frame is held; after rmmod nothing of ours exists."""
    assert result(guest, "frames.txt") == "0\n"
    assert result(guest, "left.txt") == ""
    gone = result(guest, "status-gone.txt")
    assert "/dev/hipec" in gone and gone.endswith("\n1\n")


def test_the_global_policy_is_a_parameter(guest):
    """The awst tests ran with it; a name that nobody knows is refused (left.txt)."""
    assert result(guest, "global.txt") == "awst\n"


def test_hostile_clients_do_no_harm(guest):
    """For a short while; `make hostile` is longer. Rare operations may not have
    had their luck yet."""
    assert complaints(guest.results, least=0.5) == []


def test_no_write_is_lost_under_stress(guest):
    """Everything at once: 8 threads, 4 processes, 3 containers."""
    assert stress.complaints(guest.results) == []


def test_no_write_is_lost_where_there_is_room(guest):
    """The same in a pool that has room, where frames come in blocks."""
    assert stress.complaints(guest.results, "roomy") == []


def test_the_stress_run_had_something_to_do(guest, kernel):
    """Operations worked, containers replaced and wrote pages, and met what is wrong
    with their disks. Our own kernel is too slow for all of it in a minute."""
    text = result(guest, "stress.txt")
    operations, acts = stress.counts(text)
    own, bad, good = stress.slots(text)
    idle = [name for name, (_, worked) in operations.items() if not worked]
    least = 1 if kernel in KUNIT_KERNELS else 50
    assert own["evictions"] + bad["evictions"] + good["evictions"] >= least
    assert own["written_pages"] + bad["written_pages"] + good["written_pages"] >= least
    if kernel in KUNIT_KERNELS:
        assert len(idle) <= len(operations) // 2, idle
        return
    # What is rare may not have had its luck on a busy host.
    assert len(idle) <= 3, idle
    assert len([name for name, times in acts.items() if not times]) <= 3, acts
    assert bad["read_errors"] + bad["write_errors"]
    assert good["sigbus"] == good["read_errors"] == good["write_errors"] == 0


# Ring 2 alone.

ON_DEBUG = pytest.mark.parametrize("kernel", ["debug"], indirect=True)


@pytest.mark.kunit
@ON_DEBUG
@pytest.mark.parametrize("case", kunit_cases(), ids=str)
def test_kunit(guest, case):
    """One case of the KUnit suites, with page tables and two CPUs."""
    check_case(ktap.read(guest.console), case)


@pytest.mark.kunit
@ON_DEBUG
def test_nothing_else_failed_in_the_log(guest):
    """No KTAP document is torn, and none tells of a case that no source has."""
    check_whole(ktap.read(guest.console), kunit_cases())


@pytest.mark.kunit
@ON_DEBUG
def test_no_memory_is_lost(guest):
    """When the modules are gone, all that they had allocated is free."""
    assert result(guest, "kmemleak.txt") == ""
