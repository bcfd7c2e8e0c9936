# SPDX-License-Identifier: GPL-2.0-only
"""How hipec sim feeds a policy that declares AMP's arrays: what is in them when, which
partition a context has, and the file that the next run begins with; docs/user/amp.md."""

import json
import os
import random
import re
import subprocess

import pytest

from conftest import BUILD, ROOT

HIPEC = BUILD / "asan" / "hipec"
ENV = {**os.environ, "HIPEC_POLICY_PATH": str(BUILD / "policies")}
HEADER = "hipec-amp 1\n"

pytestmark = [pytest.mark.user, pytest.mark.usefixtures("quick_start")]

# Shows entry @index of the arrays; how often a context has changed from one looping
# partition to another one; and how many were in the table at most.
POLICY = """
Event Init()
{
	Queue q;
	Page page;
	Int i, n, was[64];
	param Int index = 0;
	shared Int amp_context[64], amp_part[64], amp_size[12], amp_sweep[12], amp_keep[4097];
	counter Int context, part, size, sweep, changed, used, parts;
}
Event Look()
{
	context = amp_context[index];
	part = amp_part[index];
	if (index < 12) {
		size = amp_size[index];
		sweep = amp_sweep[index];
	}
	i = Context & 63;
	while (amp_context[i] != 0 && amp_context[i] != Context)
		i = (i + 1) & 63;
	parts += amp_part[i];
	if (amp_part[i] != was[Context & 63]) {
		if (amp_part[i] % 11 != 0 && was[Context & 63] % 11 != 0)
			changed++;
		was[Context & 63] = amp_part[i];
	}
	n = 0;
	for (i = 0; i < 64; i++)
		if (amp_context[i] != 0)
			n++;
	if (n > used)
		used = n;
}
Event PageFault()
{
	page = FindPA(FaultedAddress);
	EnQueue(page, q, TAIL);
	Look();
}
Event Access()
{
	Look();
}
Event Replace()
{
	page = DeQueue(q, HEAD);
	EnQueue(page, _free_queue, TAIL);
}
"""


@pytest.fixture(autouse=True, scope="module")
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/hipec", "build/asan/ampc"], check=True)


@pytest.fixture(scope="module", name="policy")
def compiled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fed")
    (folder / "fed.hp").write_text(POLICY)
    subprocess.run([BUILD / "asan/ampc", "-o", folder / "fed.hpo", folder / "fed.hp"], check=True)
    return folder / "fed.hpo"


def hipec(*args, text="", code=0):
    done = subprocess.run([HIPEC, *map(str, args)], text=True, capture_output=True, check=False,
                          input=text, env=ENV)
    assert done.returncode == code, done.stderr
    return done


def counters(policy, text, *options):
    row, = json.loads(hipec("sim", "--json", "-p", policy, "-f", 8, "-m", "exact", "--unguarded", *options, "-",
                            text=text).stdout)
    assert row["exit"]["kind"] == 0, row["exit"]
    return row["policy_counters"]


def line(context, kind, size=0, time=0.0, deviation=0.0, accesses=1000):
    return f"{context:x} {kind} 0.1 0.9 {accesses} {size} {size} {time} {deviation}\n"


def tables(policy, folder, patterns):
    """(context -> partition, sizes, sweeps) after one feed of these patterns."""
    hints = folder / "hints"
    found, sizes, sweeps = {}, [], []
    for index in range(64):
        hints.write_text(HEADER + "".join(patterns))
        got = counters(policy, "r 1\n", "--hints", hints, "--param", f"index={index}")
        if got["context"]:
            found[got["context"]] = got["part"]
        if index < 12:
            sizes.append(got["size"])
            sweeps.append(got["sweep"])
    return found, sizes, sweeps


# The arrays.

def test_loops_and_one_shot_contexts_are_in_the_arrays_and_others_are_not(policy, tmp_path):
    found, sizes, sweeps = tables(policy, tmp_path, [
        line(1, "looping", 500, 800, 10.5), line(2, "one-shot", 900), line(3, "clustered", 50),
        line(0x41, "looping", 700, 701, 0), line(4, "other", 20)])
    # 1 and 0x41 want the same entry.
    assert found == {0x41: 1, 1: 2, 2: 11}
    assert sizes == [0, 700, 500] + [0] * 9
    assert sweeps == [0, 701, 832] + [0] * 9


def test_the_ten_largest_loops_have_partitions(policy, tmp_path):
    found, sizes, _ = tables(policy, tmp_path,
                             [line(c, "looping", 100 + c, 50, 1) for c in range(1, 15)])
    assert found == {c: 15 - c for c in range(5, 15)}
    assert sizes == [0] + [114 - i for i in range(10)] + [0]


def test_at_most_half_of_the_table_is_used(policy, tmp_path):
    found, _, _ = tables(policy, tmp_path, [line(c * 64, "one-shot", 9) for c in range(1, 60)] +
                         [line(c, "looping", 9, 9, 9) for c in range(1, 12)])
    assert len(found) == 32
    assert sorted(found.values()) == list(range(1, 11)) + [11] * 22


def loops(spans, accesses):
    """Contexts that loop by turns; {context: pages}."""
    at, lines = {context: 0 for context in spans}, []
    while len(lines) < accesses:
        for context, pages in spans.items():
            lines.append(f"r {context * 100000 + at[context] % pages} c={context:x}\n")
            at[context] += 1
    return lines


def test_arrays_are_zero_until_the_first_period_ends(policy):
    lines = loops({5: 100}, 3000)
    before = "".join(lines[:1000])
    assert counters(policy, before, "--detect-every", 1000, "--param", "index=5")["context"] == 0
    # The access behind the period's last sees them.
    after = counters(policy, "".join(lines[:1001]), "--detect-every", 1000, "--param", "index=5")
    assert (after["context"], after["part"]) == (5, 1)


def test_each_period_ends_with_a_feed(policy):
    """The second one's loop is there behind the second one, and not before."""
    lines = loops({3: 100}, 1000) + loops({5: 100}, 1000) + ["r 1\n"]
    used = [counters(policy, "".join(lines[:n]), "--detect-every", 1000)["used"]
            for n in (1000, 1001, 2000, 2001)]
    assert used == [0, 1, 1, 2]


def test_a_loop_longer_than_a_period_is_found(policy):
    """Ten periods a loop."""
    got = counters(policy, "".join(loops({5: 2000}, 5000)), "--detect-every", 200,
                   "--param", "index=1")
    assert got["size"] == 2000 and got["sweep"] == 2000 and got["parts"]


def test_a_context_keeps_its_partition_while_it_loops(policy):
    """Larger ones come, smaller ones go: 3 stays where it was."""
    first, second = {3: 200, 4: 100}, {3: 200, 5: 900, 6: 1000}
    text = "".join(loops(first, 6000) + loops(second, 20000))
    got = counters(policy, text, "--detect-every", 500)
    assert got["changed"] == 0 and got["used"] == 4 and got["parts"]


def test_a_context_that_loops_no_more_is_default_again(policy):
    rng = random.Random(1)
    text = "".join(loops({3: 300}, 3000) +
                   [f"r {300000 + rng.randrange(300)} c=3\n" for _ in range(9000)])
    assert counters(policy, text, "--detect-every", 500)["context"] == 0


def test_blocks_must_be_old_before_a_context_is_one_shot(policy):
    """5,000 accesses; the paper says "after a long time"."""
    lines = [f"r {i} c=9\n" for i in range(10000)]
    assert counters(policy, "".join(lines[:5000]), "--detect-every", 500)["used"] == 0
    assert counters(policy, "".join(lines), "--detect-every", 500)["used"] == 1


def test_a_context_is_one_shot_no_more_when_others_read_its_pages(policy):
    """Though it does nothing itself any more."""
    first = [f"r {i} c=9\n" for i in range(2000)] + ["r 1000000\n"] * 6000
    again = [f"r {i} c=a\n" for i in range(2000)] + ["r 1000000\n"] * 500
    for lines, part in ((first, 11), (first + again, 0)):
        got = counters(policy, "".join(lines), "--detect-every", 500, "--param", "index=9")
        assert got["part"] == part


def test_pages_that_are_touched_by_parts_are_in_loops(policy):
    """A page that is read in four pieces, as programs do that read 1 KB at a time."""
    text = "".join(f"r {i % 300} c=3\n" * 4 for i in range(1500))
    assert counters(policy, text, "--detect-every", 500, "--param", "index=3")["part"] == 1


def test_a_policy_without_all_arrays_is_not_fed(policy, tmp_path):
    part = tmp_path / "part.hp"
    part.write_text(POLICY.replace("amp_sweep", "my_sweep"))
    small = tmp_path / "small.hp"
    small.write_text(POLICY.replace("amp_context[64]", "amp_context[65]")
                     .replace("amp_sweep[12]", "amp_sweep[11]").replace("index < 12", "index < 11"))
    text = "".join(loops({3: 300}, 3000))
    for other in (part, small):
        assert counters(other, text, "--detect-every", 500)["used"] == 0
    assert counters(policy, text, "--detect-every", 500)["used"] == 1
    assert counters(policy, text, "--detect-every", 500, "--detector", "none")["used"] == 0


def test_detectors_are_pcc_and_dear_too(policy):
    """Small windows: a loop for PCC, and not for AMP; a loop that both see, and DEAR."""
    text = "".join(f"r {m * 8 + i} c=7\n" for m in range(400) for _ in range(3) for i in range(8))
    used = {name: counters(policy, text, "--detect-every", 4000, "--detector", name)["used"]
            for name in ("amp", "pcc", "dear")}
    assert used == {"amp": 0, "pcc": 1, "dear": 0}
    text = "".join(loops({7: 900}, 9000))
    assert counters(policy, text, "--detect-every", 2000, "--detector", "dear")["used"] == 1


def test_modes_and_frames_change_nothing_that_is_fed(policy, tmp_path):
    """The detector sees each access, hit or not."""
    text, files = "".join(loops({3: 300, 4: 20}, 9000)), []
    for i, options in enumerate((["-f", 4], ["-f", 400], ["-f", 400, "-m", "exact"])):
        files.append(tmp_path / str(i))
        hipec("sim", "-p", policy, "--unguarded", *options, "--hints", files[-1], "-", text=text)
    assert files[0].read_text() == files[1].read_text() == files[2].read_text()


# The file.

def test_the_next_run_begins_with_what_this_one_found(policy, tmp_path):
    hints = tmp_path / "hints"
    text = "".join(loops({5: 700}, 30000))
    first = counters(policy, text, "--hints", hints, "--param", "index=5")
    assert hints.read_text().startswith(HEADER)
    second = counters(policy, "r 1 c=5\n", "--hints", hints, "--param", "index=5")
    assert first["context"] == second["context"] == 5 and second["part"] == 1
    # A run that has seen too little for a verdict leaves them as they are.
    third = counters(policy, "r 1 c=6\n", "--hints", hints, "--param", "index=5")
    assert third["context"] == 5


def test_what_is_seen_wins_over_what_was_hinted(policy, tmp_path):
    hints = tmp_path / "hints"
    hints.write_text(HEADER + line(3, "looping", 300, 300, 0))
    rng = random.Random(2)
    text = "".join(f"r {rng.randrange(300)} c=3\n" for _ in range(4000))
    got = counters(policy, text, "--hints", hints, "--detect-every", 1000, "--param", "index=3")
    assert got["used"] == 1 and got["context"] == 0
    assert "looping" not in hints.read_text()


def test_a_file_is_read_as_it_was_written(policy, tmp_path):
    hints = tmp_path / "hints"
    rng = random.Random(3)
    text = "".join(f"r {context * 5000 + rng.randrange(10 ** rng.randrange(1, 4))} c={context:x}\n"
                   for context in rng.choices(range(1, 30), k=5000))
    counters(policy, text, "--hints", hints)
    written = hints.read_text()
    # Accesses without a context: nothing is learnt.
    counters(policy, "r 1\n", "--hints", hints)
    assert hints.read_text() == written and len(written.split("\n")) == 2 + 29 + 1


GOOD = "1 looping 0.1 0.9 1000 10 10 12.5 1.5"


@pytest.mark.parametrize("text,where,message", [
    ("", 1, "want 'hipec-amp 1', and the file is empty"),
    ("\x7fELF\n", 1, "want 'hipec-amp 1': this is no file of patterns, or of another version"),
    ("hipec-amp 2\n", 1, "want 'hipec-amp 1'"),
    (HEADER + "\n# fine\n" + GOOD + "\n1 loop\n", 5, "want nine words"),
    (HEADER + GOOD + " 7\n", 2, "want nine words"),
    (HEADER + GOOD.replace("1 ", "0 ", 1), 2, "want a context, 1 to 16 hexadecimal digits"),
    (HEADER + GOOD.replace("1 ", "10000000000000000 ", 1), 2, "want a context"),
    (HEADER + GOOD.replace("looping", "loopy"), 2, "want a kind: other, one-shot, looping or"),
    (HEADER + GOOD.replace("0.1", "1.1"), 2, "want r, 0 to 1"),
    (HEADER + GOOD.replace("0.1", "nan"), 2, "want r, 0 to 1"),
    (HEADER + GOOD.replace("0.9", "-0.9"), 2, "want a confidence"),
    (HEADER + GOOD.replace("1000", "-1000"), 2, "want accesses, pages and a loop size"),
    (HEADER + GOOD.replace("1000", "99999999999999999999"), 2, "want accesses, pages"),
    (HEADER + GOOD.replace("12.5", "inf"), 2, "want a loop time and a deviation"),
    (HEADER + GOOD.replace("12.5", "1e300"), 2, "want a loop time and a deviation"),
    (HEADER + GOOD + "\n" + GOOD + "\n", 3, "this context has a line already"),
    (HEADER + GOOD + "\0\n", 2, "want text, not a zero byte"),
    (HEADER + "".join(GOOD.replace("1 ", f"{c:x} ", 1) + "\n" for c in range(1, 1026)), 1026,
     "want at most 1024 contexts"),
])
def test_what_is_wrong_in_a_file_is_said_with_its_line(policy, tmp_path, text, where, message):
    hints = tmp_path / "hints"
    hints.write_text(text)
    done = hipec("sim", "-p", policy, "-f", 8, "--hints", hints, "-", text="r 1\n", code=1)
    assert done.stderr.startswith(f"hipec sim: {hints}:{where}: {message}") and not done.stdout
    assert hints.read_text() == text


def test_garbage_never_does_more_than_be_refused(policy, tmp_path):
    """With the sanitizers: a good file with some of its bytes changed, or cut."""
    rng = random.Random(4)
    good = (HEADER + GOOD + "\n" + GOOD.replace("1 ", "2 ", 1) + "\n").encode()
    for i in range(150):
        bad = bytearray(good[:rng.randrange(len(good) + 1)] if i % 3 == 0 else good)
        for _ in range(rng.randrange(1, 4)):
            if bad:
                bad[rng.randrange(len(bad))] = rng.choice(b" \n0129afzx-.#\0\xff")
        (tmp_path / "hints").write_bytes(bad)
        done = subprocess.run([HIPEC, "sim", "-p", policy, "-f", "8", "--hints", tmp_path / "hints",
                               "-"], input=b"r 1\n", capture_output=True, check=False, env=ENV)
        assert done.returncode in (0, 1), done.stderr
        assert done.returncode == 0 or done.stderr.startswith(
            b"hipec sim: " + bytes(tmp_path / "hints") + b":")


@pytest.mark.parametrize("arguments,message", [
    (["--detector", "lru"], "--detector: want amp, pcc, dear or none, not 'lru'"),
    (["--detect-every", "0"], "--detect-every: want a number of accesses, 1 to 1000000000"),
    (["--detect-every", "5k"], "--detect-every: want a number of accesses"),
    (["--hints", "x", "--detector", "none"], "--hints: no policy here is fed"),
])
def test_wrong_options_are_said(policy, arguments, message):
    done = hipec("sim", "-p", policy, "-f", 8, *arguments, "-", text="r 1\n", code=2)
    assert f"hipec sim: {message}" in done.stderr and not done.stdout


def test_hints_are_refused_where_nobody_reads_them(policy, tmp_path):
    done = hipec("sim", "-p", "fifo2,lru", "-f", 8, "--hints", "x", "-", text="r 1\n", code=2)
    assert "--hints: no policy here is fed; docs/user/amp.md says which are" in done.stderr
    trace = tmp_path / "trace"
    trace.write_text("r 1\n")
    done = hipec("sim", "-p", policy, "-f", 8, "--hints", "x", trace, trace, code=2)
    assert "--hints: want one trace" in done.stderr


def test_a_file_that_cannot_be_written_is_said(policy, tmp_path):
    done = hipec("sim", "-p", policy, "-f", 8, "--hints", tmp_path / "none" / "hints", "-",
                 text="r 1\n", code=1)
    assert "No such file or directory" in done.stderr and not done.stdout


# The page.

def test_the_examples_of_the_page_print_what_it_shows(tmp_path, policy):
    """docs/user/amp.md; a policy that is fed stands in for one that is not there."""
    if not (BUILD / "policies" / "amp.hpo").exists():
        (tmp_path / "amp.hpo").write_bytes(policy.read_bytes())
    env = {**ENV, "PATH": f"{BUILD / 'asan'}:{ENV['PATH']}",
           "HIPEC_POLICY_PATH": f"{BUILD / 'policies'}:{tmp_path}"}
    text = (ROOT / "docs/user/amp.md").read_text()
    blocks = re.findall(r"^```(c Init)?\n(.*?)^```", text, re.M | re.S)
    session = "".join(block for language, block in blocks if not language)
    commands = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, re.M)
    assert len(commands) == 7
    for command, output in commands:
        if command.startswith("bench/"):
            command = f"{ROOT}/{command}"
        done = subprocess.run(["sh", "-c", f"{{ {command}; }} 2>&1"], text=True, cwd=tmp_path,
                              stdout=subprocess.PIPE, check=False, env=env)
        assert done.stdout == output, command


def test_the_page_names_the_arrays_that_are_fed():
    text = (ROOT / "docs/user/amp.md").read_text()
    header = (ROOT / "userlib/amp/amp.h").read_text()
    sizes = {"AMP_TABLE": "64", "AMP_PARTS": "12", "AMP_KEEP": "4097"}
    for name, size in re.findall(r'X\(\w+, "(\w+)", (\w+)\)', header):
        assert f"shared Int {name}[{sizes[size]}];" in text
        assert re.search(rf"#define {size} {sizes[size]}\b", header)
