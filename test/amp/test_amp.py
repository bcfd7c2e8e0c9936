# SPDX-License-Identifier: GPL-2.0-only
"""What hipec amp detect says of streams: average reference recency by its definition,
its closed forms, Table 1 of the paper, sampling, and what each kind is; docs/user/amp.md."""

import json
import random
import subprocess
import sys

import pytest

import amp_models
from conftest import BUILD, ROOT

sys.path.insert(0, str(ROOT))
from bench.amp import table1  # noqa: E402

HIPEC = BUILD / "asan" / "hipec"

pytestmark = [pytest.mark.user, pytest.mark.usefixtures("quick_start")]


@pytest.fixture(autouse=True, scope="module")
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/hipec", "build/hipec"], check=True)


def detect(stream, *options):
    return table1.detect(stream, *map(str, options), hipec=HIPEC)


def recency(stream, *options):
    return detect(stream, *options)["r"]


def contexts(lines, *options):
    """{context: what is said of it} of lines of a trace."""
    done = subprocess.run([HIPEC, "amp", "detect", "--json", *map(str, options), "-"], text=True,
                          input="\n".join(lines) + "\n", check=True, stdout=subprocess.PIPE)
    return {int(one["context"], 16): one for one in json.loads(done.stdout)["contexts"]}


# Average reference recency.

def test_the_worked_examples_are_exact():
    assert recency([1, 2, 3, 1, 2, 3]) == 0
    second = [1, 2, 3, 4, 4, 3, 4, 5, 6, 5, 6]
    assert [r for r, _ in amp_models.recencies(second)] == [1, 2 / 3, 2 / 3, 4 / 5, 4 / 5]
    assert recency(second) == (1 + 2 / 3 + 2 / 3 + 4 / 5 + 4 / 5) / 5
    assert f"{recency(second):.6f}" == "0.786667"


def test_a_list_of_one_block_gives_a_half_and_a_repetition_one():
    assert recency([1]) is None
    assert recency([1, 1]) == 0.5
    assert recency([1, 2, 2]) == 1


def test_loops_of_any_length_have_none():
    for blocks in (2, 63, 64, 65, 1000):
        assert recency(list(range(blocks)) * 3) == 0


def test_random_blocks_have_a_half():
    rng = random.Random(1)
    assert abs(recency([rng.randrange(500) for _ in range(40000)]) - 0.5) < 0.01


def test_permutations_have_a_quarter():
    rng = random.Random(2)
    stream = [block for _ in range(60) for block in rng.sample(range(500), 500)]
    assert abs(recency(stream) - 0.25) < 0.01


@pytest.mark.parametrize("p", [0.3, 0.6, 0.9])
def test_loops_that_leave_blocks_out_are_as_their_formula(p):
    """(1-p)/(2-p), after a while; so the first accesses are few."""
    rng = random.Random(3)
    stream = [block for _ in range(200) for block in range(300) if rng.random() < p]
    assert abs(recency(stream) - (1 - p) / (2 - p)) < 0.01


@pytest.mark.parametrize("w,times", [(16, 2), (16, 5), (7, 3)])
def test_windows_are_as_their_formula(w, times):
    """1 - (w-1)/(m*w-1) in window m, however often each is looped."""
    stream = [m * w + i for m in range(40) for _ in range(times) for i in range(w)]
    expected = sum(1 - (w - 1) / (m * w - 1) for m in range(1, 41)) / 40
    assert abs(recency(stream) - expected) < 1e-9


def streams():
    """Of all kinds, and long enough for lists to be written anew."""
    rng = random.Random(4)
    for pages in (1, 2, 5, 40, 64, 65, 300):
        yield [rng.randrange(pages) for _ in range(900)]
        yield [int(rng.paretovariate(0.7)) % pages for _ in range(900)]
        yield [block for _ in range(4) for block in rng.sample(range(pages), pages)]
    yield [1 << 31 | i * 4096 % 65521 for i in range(2000)]


@pytest.mark.parametrize("options,model", [
    ([], {}),
    (["--blocks", 50], {"most": 50}),
    (["--blocks", 7, "--every", 100], {"most": 7, "period": 100}),
    (["--rate", 0.3], {"limit": int(0.3 * amp_models.ALL)}),
    (["--form", "periodic", "--every", 250], {"period": 250, "fresh": True}),
    (["--form", "exponential"], {"horizon": 1024}),
])
def test_all_numbers_are_those_of_the_definition(options, model):
    for stream in streams():
        if "horizon" in model:
            stream = stream * 2
        expected, _ = amp_models.detect(stream, **model)
        found = detect(stream, *options)
        assert {key: found[key] for key in expected} == expected


# Kinds.

@pytest.mark.parametrize("name", list(table1.STREAMS))
def test_table_1_has_the_verdicts_of_amp_and_pcc(name):
    _, printed, amp, _, pcc = table1.STREAMS[name]
    rs, verdicts = table1.of_stream(name, "amp", 5, HIPEC)
    assert set(verdicts) == {amp}
    assert set(table1.of_stream(name, "pcc", 5, HIPEC)[1]) == {pcc}
    # Of random streams, five seeds are off by a few standard errors at most.
    off = {"a": 0.02, "c": 0.03, "g": 0.035}.get(name, 0.0006)
    assert abs(sum(rs) / len(rs) - printed) < off


def test_dear_has_the_verdicts_of_table_1_but_f():
    """No reading of it that was tried tells e and f apart."""
    for name, (_, _, _, dear, _) in table1.STREAMS.items():
        verdicts = set(table1.of_stream(name, "dear", 5, HIPEC)[1])
        assert verdicts == {"loop" if name == "f" else dear}, name


def test_kinds_are_what_their_streams_are():
    rng = random.Random(5)
    lines = []
    for i in range(3000):
        lines += [f"r {i} c=1", f"r {10000 + i % 500} c=2", f"r {20000 + rng.randrange(400)} c=4"]
        lines += [f"r {30000 + i // 4 + rng.randrange(8)} c=3"]
    found = contexts(lines)
    assert {context: one["kind"] for context, one in found.items()} == {
        1: "one-shot", 2: "looping", 3: "clustered", 4: "other"}


def test_two_percent_accessed_again_are_not_one_shot():
    stream = list(range(1000))
    assert detect(stream + list(range(19)))["kind"] == "one-shot"
    assert detect(stream + list(range(20)))["kind"] == "looping"


def test_what_another_context_accesses_again_is_not_one_shot():
    first = [f"r {i} c=1" for i in range(1000)]
    alone = contexts(first + [f"r {2000 + i} c=2" for i in range(1000)])
    again = contexts(first + [f"r {i} c=2" for i in range(1000)])
    assert alone[1]["kind"] == alone[2]["kind"] == "one-shot"
    # The last one's blocks are nobody's yet.
    assert again[1]["kind"] == "other" and again[2]["kind"] == "one-shot"


def test_what_others_do_is_not_in_a_contexts_recency():
    rng = random.Random(6)
    lines = []
    for i in range(4000):
        lines += [f"r {i % 300} c=1"] + [f"r {rng.randrange(600)} c=2"] * rng.randrange(3)
    found = contexts(lines)[1]
    assert found["r"] == 0 and found["loop_size"] == 300


def test_accesses_without_a_context_count_as_time_alone():
    lines = [line for i in range(900) for line in (f"r {i % 100} c=1", f"r {5000 + i}")]
    found = contexts(lines)
    assert list(found) == [1]
    assert found[1]["loop_time"] == 200 and found[1]["loop_deviation"] == 0


# Estimates.

def test_loop_estimates_are_the_loops():
    found = detect(list(range(700)) * 5)
    assert (found["loop_size"], found["loop_time"], found["loop_deviation"]) == (700, 700, 0)
    rng = random.Random(7)
    found = detect([block for _ in range(30) for block in rng.sample(range(700), 700)])
    assert abs(found["loop_size"] - 700) < 70 and abs(found["loop_time"] - 700) < 20
    assert abs(found["loop_deviation"] - 700 / 6 ** 0.5) < 30


def test_loop_size_follows_a_loop_that_has_moved():
    """What the context once looped over is not in its loops any more."""
    found = detect(list(range(5000)) * 2 + list(range(9000, 9500)) * 40, "--form", "exponential")
    assert found["loop_size"] == 500


@pytest.mark.parametrize("rate", [0.5, 0.1])
def test_sampling_keeps_verdict_and_estimates(rate):
    rng = random.Random(8)
    for stream, kind in ((list(range(6000)) * 4, "looping"),
                         ([i // 4 + rng.randrange(900) for i in range(24000)], "clustered"),
                         ([rng.randrange(6000) for _ in range(24000)], "other"),
                         (list(range(24000)), "one-shot")):
        whole, part = detect(stream), detect(stream, "--rate", rate)
        assert whole["kind"] == part["kind"] == kind
        assert part["sampled_blocks"] < 1.2 * rate * whole["sampled_blocks"]
        assert abs(part["pages"] / whole["pages"] - 1) < 0.1
        if kind != "one-shot":
            assert abs(part["r"] - whole["r"]) < 0.03
            assert abs(part["loop_time"] / whole["loop_time"] - 1) < 0.1
            assert abs(part["loop_size"] / whole["loop_size"] - 1) < 0.15


def test_a_list_is_never_longer_than_its_bound():
    """Halved at once; the numbers are the model's, which looks at each access."""
    rng = random.Random(9)
    for stream in (list(range(3000)) * 2, [rng.randrange(4000) for _ in range(6000)]):
        expected, longest = amp_models.detect(stream, most=100, period=500)
        found = detect(stream, "--blocks", 100, "--every", 500)
        assert longest <= 100 and expected["rate"] < 0.1
        assert {key: found[key] for key in expected} == expected


def test_q_comes_back_when_its_blocks_are_fewer():
    """A period of many blocks halves Q; one of few doubles it, up to Q_0 and no more."""
    many, few = list(range(4000)), [i % 20 for i in range(4000)]
    options = ["--form", "periodic", "--every", 1000, "--blocks", 128]
    assert detect(many, *options)["rate"] <= 1 / 8
    assert detect(many + few * 3, *options)["rate"] == 1
    assert detect(many + few * 3, *options, "--rate", 0.5)["rate"] == 0.5


# A program begins with the memory of the one that started it, as far as its peak goes.
PEAK = """import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"""


def peak(*options, trace):
    """The most memory that a run takes, in bytes; without the sanitizer."""
    done = subprocess.run([sys.executable, "-c", PEAK, BUILD / "hipec", "amp", "detect",
                           *map(str, options), trace], check=True, text=True, capture_output=True)
    return int(done.stdout) * 1024


def test_memory_is_bounded_however_many_pages_there_are(tmp_path):
    trace = tmp_path / "pages"
    trace.write_text("r 0 1000000 c=1\n")
    nothing = peak("--rate", "0.000001", trace=trace)
    assert peak("--blocks", 1024, trace=trace) - nothing < 5 << 20
    assert peak(trace=trace) - nothing > 40 << 20


# What is refused.

@pytest.mark.parametrize("arguments,message", [
    (["detect", "--detector", "arc", "-"], "--detector: want amp, pcc or dear, not 'arc'"),
    (["detect", "--form", "old", "-"], "--form: want all, periodic or exponential, not 'old'"),
    (["detect", "--every", "0", "-"], "--every: want a number from 1 to 1000000000, not '0'"),
    (["detect", "--blocks", "-1", "-"], "--blocks: want a number from 1 to 67108864, not '-1'"),
    (["detect", "--rate", "0", "-"], "--rate: want a share of the pages, above 0 and up to 1, "
                                     "not '0'"),
    (["detect", "--rate", "nan", "-"], "--rate: want a share of the pages, above 0 and up to 1, "
                                       "not 'nan'"),
    (["find"], "want detect, feed or report, not 'find'"),
    (["detect"], "usage: hipec amp detect"),
    ([], "usage: hipec amp detect"),
])
def test_wrong_arguments_are_said(arguments, message):
    done = subprocess.run([HIPEC, "amp", *arguments], text=True, input="", capture_output=True,
                          check=False)
    assert done.returncode == 2 and message in done.stderr and not done.stdout


def test_a_trace_without_contexts_says_what_is_missing():
    done = subprocess.run([HIPEC, "amp", "detect", "-"], text=True, input="r 1 5\n", check=True,
                          capture_output=True)
    assert "5 accesses have no context" in done.stdout and "0 contexts" in done.stdout
