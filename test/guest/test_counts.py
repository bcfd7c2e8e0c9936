# SPDX-License-Identifier: GPL-2.0-only
"""What the module decides on a stock Debian kernel: faults of regions by arithmetic and by models,
misses in place to the simulator's, for every policy that comes with hipec. One boot runs them all;
each test here looks at one part of what it brought back."""

import json
import subprocess
import sys

import pytest

from one_boot import INDEX, boot, result
from conftest import BUILD, CORE_KERNELS, ROOT, need

sys.path.append(str(ROOT))

from bench.lib import models  # noqa: E402

pytestmark = pytest.mark.core

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
    """Lines of shell that read in place under each policy that comes with hipec, and in leagues."""
    return "".join(f"echo reads-{name}= $(hipec-guest-test --reads {name} {' '.join(map(str, PLACE))})\n"
                   for name in [*SHIPPED, *LEAGUES])


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


SCRIPT = """
. /hipec/module.sh
# The host may leave a guest's CPU without time for more than the 10 ms of an event.
load_module pool_mb=2 backoff_ms=0 others_us=10000 quantum_us=10000000 || exit 1
cd /data || exit 1
sh /hipec/counts.sh >/results/counts.txt 2>&1
cd /
module_is_idle
"""


@pytest.fixture(scope="session", params=CORE_KERNELS)
def guest(request, tmp_path_factory):
    """One boot of a stock kernel: a Result of run.py."""
    need(request.param)
    return boot(request.param, tmp_path_factory.mktemp(f"counts-{request.param}"), SCRIPT, "counts",
                {"counts.sh": sweeps_script() + programs_script() + place_script()})


def test_kernel_has_nothing_to_complain_about(guest):
    """No oops, warning, hang; and the run came to its end."""
    assert (guest.verdict, guest.status) == ("ok", 0), guest.output


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


def simulate(tmp):
    """{policy: its row} of the reads of place_reads(), as the simulator has them."""
    trace = tmp / "trace"
    trace.write_text("".join(f"r {page}\n" for page in place_reads()))
    out = subprocess.run(
        [BUILD / "hipec", "sim", "--mode", "exact", "--frames", str(PLACE[1]), "--json",
         "--contract", "--policy",
         ",".join(str(BUILD / f"policies/{policy}.hpo") for policy in SHIPPED), trace],
        text=True, check=True, capture_output=True).stdout
    return {row["policy"].split("/")[-1].removesuffix(".hpo"): row for row in json.loads(out)}


@pytest.fixture(scope="session")
def simulated(tmp_path_factory):
    """Likewise, once."""
    return simulate(tmp_path_factory.mktemp("place"))


def place_line(text, how, policy):
    """What cache_reads() printed."""
    line, = [line for line in text.split("\n") if line.startswith(f"{how}-{policy}= ")]
    return line.split()[1:]


@pytest.mark.parametrize("policy", SHIPPED)
def test_misses_in_place_are_the_simulator_s(guest, simulated, policy):
    """To the miss, for one thread that reads pages by read(), in no order."""
    name, missed, _, refused, end, late, *judged = \
        place_line(result(guest, "counts.txt"), "reads", policy)
    assert (name, refused, end, late, judged) == (policy, "0", "0", "0", ["0", "0", "0"])
    faults = simulated[policy]["faults"]
    if policy in BY_NUMBER:
        assert abs(int(missed) - faults) < faults / 20
    else:
        assert int(missed) == faults


@pytest.mark.parametrize("name", LEAGUES)
def test_a_league_in_place_reads_as_in_the_simulator(guest, tmp_path, name):
    """But for who takes over some accesses later, in a worker."""
    trace = tmp_path / "trace"
    trace.write_text("".join(f"r {page}\n" for page in place_reads(LEAGUES[name])))
    row, = json.loads(subprocess.run(
        [BUILD / "hipec", "sim", "--mode", "exact", "--frames", str(PLACE[1]), "--json",
         "--policy", "auto", trace], text=True, check=True, capture_output=True).stdout)
    told, read, helped, _, ended = place_line(result(guest, "counts.txt"), "reads", name)[:5]
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
