# SPDX-License-Identifier: GPL-2.0-only
"""The AMP report's simulation study: what its scripts compute, by hand; its programs'
scripts; and a program traced into a cache of its own."""

import json
import pathlib
import re
import subprocess
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT))
from bench.amp import study as ampstudy    # noqa: E402
from bench.amp import traces as amptraces  # noqa: E402

pytestmark = pytest.mark.more


@pytest.fixture(scope="module", name="built")
def build():
    subprocess.run(["make", "-s", "-C", ROOT, "build/hipec", "build/libhipectrace.so",
                    *(f"build/policies/{p}.hpo" for p in ampstudy.PLAIN
                      if p not in ampstudy.BUILT_IN)], check=True)


@pytest.fixture(name="cache")
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HIPEC_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "traces"


def study(**misses):
    return {"accesses": 100, "pages": 10, "misses": misses}


# Two traces: amp has half, and then all and a tenth more of arc's misses.
ONE = study(arc={5: 90, 10: 80, 20: 40}, amp={5: 99, 10: 40, 20: 40}, opt={5: 60, 10: 20, 20: 10})
TWO = study(arc={5: 10, 10: 10, 20: 10}, amp={5: 10, 10: 5, 20: 20}, opt={5: 5, 10: 5, 20: 5})


# bench/amp/traces.py

def test_accesses_of_a_text_trace_are_counted_by_context():
    lines = ["f 0 20 /a name with c=1 in it\n", "r 5 3 c=ab\n", "w 6 c=ab\n", "r 7 2 h=9 c=1\n",
             "r 5\n", "# r 99\n"]
    total, unique, contexts = amptraces.count(lines)
    assert (total, unique) == (7, 4)    # pages 5 to 8
    assert contexts == {"ab": 4, "1": 2, "0": 1}


def test_a_row_has_the_shares_of_the_largest_contexts():
    row = amptraces.row("x", (200, 10, amptraces.collections.Counter(
        {"a": 100, "b": 60, "c": 30, "d": 10})), "claims")
    assert row.split() == ["x", "200", "10", "4", "50", "%,", "30", "%,", "15", "%", "claims"]


def test_facts_are_lines_of_a_script_that_say_so():
    text = "#!/bin/sh\n# hipec: packages a b\n# hipec: user\n# hipec: claim one, two\n#hipec: x y\n"
    assert amptraces.facts(text) == {"packages": "a b", "user": "", "claim": "one, two"}


def test_a_key_changes_with_all_that_decides_what_is_in_a_trace(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("ab")
    two.write_text("c")
    key = amptraces.key([one, two], ["p 1", "q 2"], 8)
    assert re.fullmatch(r"[0-9a-f]{12}", key)
    assert amptraces.key([one, two], ["q 2", "p 1"], 8) == key
    assert amptraces.key([one, two], ["p 1", "q 3"], 8) != key
    assert amptraces.key([one, two], ["p 1", "q 2"], 4) != key
    assert amptraces.key([one], ["p 1", "q 2"], 8) != key
    one.write_text("a")     # nor does a byte that moves go unseen
    two.write_text("bc")
    assert amptraces.key([one, two], ["p 1", "q 2"], 8) != key


def test_packages_that_are_missing_are_named_with_the_command():
    with pytest.raises(amptraces.Missing, match=r"x: run vm-images/packages.sh no-such-package$"):
        amptraces.versions_of("x", ["dpkg", "no-such-package"])
    assert [v.split()[0] for v in amptraces.versions_of("x", ["dpkg"])] == ["dpkg"]
    assert not amptraces.versions_of("x", [])


def test_the_cache_is_where_the_kernels_are(monkeypatch):
    monkeypatch.setenv("HIPEC_CACHE", "/a")
    assert amptraces.cache() == pathlib.Path("/a/traces")
    monkeypatch.delenv("HIPEC_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/b")
    assert amptraces.cache() == pathlib.Path("/b/hipec/traces")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/c")
    assert amptraces.cache() == pathlib.Path("/c/.cache/hipec/traces")


def test_each_program_says_what_it_needs_and_is_a_script():
    scripts = {p.stem for p in amptraces.SCRIPTS.glob("*.sh")} - {"source"}
    assert scripts == set(amptraces.ORDER)
    for name in scripts:
        path = amptraces.SCRIPTS / f"{name}.sh"
        said = amptraces.facts(path.read_text())
        assert set(said) - {"user"} == {"packages", "claim"}, name
        subprocess.run(["sh", "-n", path], check=True)


@pytest.fixture(name="programs")
def own_programs(tmp_path, monkeypatch):
    """Scripts of the test's own: write(name, prepare, run)."""
    monkeypatch.setattr(amptraces, "SCRIPTS", tmp_path)

    def write(name, prepare, run, said=""):
        path = tmp_path / f"{name}.sh"
        path.write_text(f"#!/bin/sh\n# hipec: packages coreutils\n{said}# hipec: claim none\nset -e\n"
                        f"prepare() {{ {prepare}; }}\nrun() {{ {run}; }}\n\"$1\"\n")
        path.chmod(0o755)
    return write


@pytest.mark.usefixtures("built")
def test_a_program_is_traced_once_and_what_it_did_before_is_not_in_it(programs, cache):
    programs("two", "head -c 8192 /dev/zero >data; cat data data >/dev/null", "cat data data data")
    said = []
    files, skipped = amptraces.traces(["two"], say=said.append)
    assert list(files) == ["two"] and not skipped and len(said) == 1
    total, _, contexts = amptraces.count_file(files["two"])
    # The shell reads its script, of one page, once or more.
    inner = contexts.most_common(1)[0][1]
    assert inner == 6 and total > 6
    assert [files["two"]] == list(cache.iterdir())
    amptraces.traces(["two"], say=said.append)
    assert len(said) == 1
    amptraces.traces(["two"], depth=2, say=said.append)
    assert len(said) == 2 and len(list(cache.iterdir())) == 2


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize("prepare, run", [("exit 3", ":"), (":", "echo no >&2; exit 3")])
def test_a_program_that_fails_leaves_no_trace(programs, cache, prepare, run):
    programs("bad", prepare, run)
    with pytest.raises(amptraces.Failed, match="exit 3"):
        amptraces.traces(["bad"])
    assert not cache.exists()


def test_a_trace_with_records_missing_is_none():
    done = "hipec trace: 3 accesses to 2 pages of 1 files are in /x\n"
    assert amptraces.complete(done)
    assert amptraces.complete("x.c:1: warning: unused\n" + done)
    assert not amptraces.complete("hipec trace: 2 records are missing: no room\n" + done)
    assert not amptraces.complete(done + "hipec trace: x was not seen: static\n")
    assert not amptraces.complete("something else\n")


def test_a_program_without_its_package_is_passed_over(programs, cache):
    programs("none", ":", ":")
    path = amptraces.SCRIPTS / "none.sh"
    path.write_text(path.read_text().replace("coreutils", "no-such-package"))
    said = []
    assert amptraces.traces(["none"], say=said.append) == ({}, 1)
    assert said == ["SKIP none: run vm-images/packages.sh no-such-package"]
    assert not cache.exists()


# bench/amp/study.py

def test_means_are_geometric_and_over_tens_alone():
    assert ampstudy.geomean([1, 4]) == pytest.approx(2)
    assert ampstudy.mean_ratio([ONE], "amp") == pytest.approx((0.5 * 1) ** 0.5)
    assert ampstudy.mean_ratio([ONE, TWO], "amp") == pytest.approx((0.5 * 1 * 0.5 * 2) ** 0.25)
    assert ampstudy.mean_ratio([TWO], "arc") == pytest.approx(1)


def test_extremes_are_over_all_sizes_and_name_the_place():
    worst, best = ampstudy.extremes({"one": ONE, "two": TWO}, "amp")
    assert worst == (2.0, "two", 20)
    assert best == (0.5, "one", 10)
    assert ampstudy.extremes({"one": ONE}, "amp")[0] == (1.1, "one", 5)
    assert [ampstudy.change(v) for v in (1.1, 0.5, 1)] == ["+10.0 %", "-50.0 %", "+0.0 %"]


def test_goals_are_the_issue_s_and_only_of_traces_that_are_there():
    cscope = study(arc={10: 100, 33: 100}, amp={10: 101, 33: 60}, opt={10: 90, 33: 50})
    told = ampstudy.goals({"cscope": cscope})
    assert [met for met, _ in told] == [True, True]
    assert told[1][1] == "cscope at 33 %: -40.0 %, opt -50.0 %; goal -40.0 %"
    cscope["misses"]["amp"] = {10: 103, 33: 61}
    told = ampstudy.goals({"cscope": cscope})
    assert [met for met, _ in told] == [False, False] and "DEFECT" not in told[0][1]
    cscope["misses"]["amp"][10] = 111
    assert "DEFECT" in ampstudy.goals({"cscope": cscope})[0][1]
    # The database's is at a third alone.
    postgres = study(arc={33: 100, 50: 100}, amp={33: 56, 50: 10}, opt={33: 9, 50: 9})
    assert [met for met, _ in ampstudy.goals({"postgres": postgres})] == [True, False]
    del postgres["misses"]["amp"][33]
    assert len(ampstudy.goals({"postgres": postgres})) == 1


def test_rows_are_sorted_by_policy_and_size():
    rows = [{"policy": p, "trace": "t", "pages": 7, "frames": f, "faults": n, "built_in": b,
             "exit": {"kind": 0}}
            for p, f, n, b in (("lru", 1, 70, True), ("lru", 4, 40, True),
                               ("build/policies/amp.hpo", 1, 60, False),
                               ("build/policies/amp.hpo", 4, 30, False))]
    # 10 % of 7 pages are a frame, 50 % are four; 5 % a frame as well.
    assert ampstudy.by_size(rows, ["lru"], (5, 10, 50)) == {"lru": {5: 70, 10: 70, 50: 40}}
    assert ampstudy.by_size(rows, ["pcc*"], (10, 50)) == {"pcc*": {10: 60, 50: 30}}
    rows[2]["exit"] = {"kind": 5, "text": "ended"}
    with pytest.raises(amptraces.Failed, match="amp.hpo on t: ended"):
        ampstudy.by_size(rows, ["amp"], (10, 50))


def test_the_summary_has_each_trace_and_each_policy_beside_arc():
    text = ampstudy.summary({"one": ONE, "two": TWO})
    assert "| one | 100 | 10 | 0.707 | 0.250 |" in text     # sqrt(1/4 * 1/4)
    assert "| amp | +100.0 %, two at 20 % | -50.0 %, one at 10 % |" in text
    assert "- **missed**: worst loss +100.0 %, two at 20 %" in text
    assert "goal" not in ampstudy.summary({"x": study(arc={10: 1}, lru={10: 1})})


def test_docs_are_written_between_their_marks(tmp_path):
    path = tmp_path / "x.md"
    path.write_text("before\n" + ampstudy.MARKS[0] + "old\n" + ampstudy.MARKS[1] + "after\n")
    ampstudy.write_docs(path, "new\n")
    assert path.read_text() == "before\n" + ampstudy.MARKS[0] + "new\n" + ampstudy.MARKS[1] + "after\n"
    assert ampstudy.DOCS.read_text().count(ampstudy.MARKS[0]) == 1


@pytest.mark.usefixtures("built")
def test_a_loop_counts_as_arithmetic_has_it(tmp_path, monkeypatch, capsys):
    """1,000 pages ten times with 500 frames: LRU never hits, MRU keeps all frames but one."""
    monkeypatch.setattr(ampstudy, "can_feed", lambda: False)
    loop = tmp_path / "loop.trace"
    subprocess.run([ampstudy.HIPEC, "trace", "make", "loop", "--pages", "1000", "--accesses",
                    "10000", loop], check=True)
    monkeypatch.setattr(sys, "argv", ["study.py", "--quick", "--json", str(loop)])
    assert ampstudy.main() == 0
    misses = json.loads(capsys.readouterr().out)["loop"]["misses"]
    assert list(misses) == list(ampstudy.PLAIN)
    assert misses["lru"]["50"] == 10000
    assert misses["mru"]["50"] == 1000 + 9 * (1000 - 500 + 1)


@pytest.mark.parametrize("more", [["--quick"], ["--depth", "4"], ["x.trace"]])
def test_docs_are_of_all_there_is(more, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["study.py", "--docs", *more])
    with pytest.raises(SystemExit):
        ampstudy.main()
    assert "--docs is of all sizes and traces" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["study.py", str(tmp_path / "none")])
    assert ampstudy.main() == 1
    assert f"{tmp_path}/none is neither a file nor one of cscope" in capsys.readouterr().err
