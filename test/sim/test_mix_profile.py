# SPDX-License-Identifier: GPL-2.0-only
"""hipec mix --profile: time and frames by arithmetic, counts and samples as hipec mix --json has
them, and time on the axes; docs/user/sim.md, docs/user/profile.md."""

import json
import os
import re
import subprocess

import pytest

import browser
from conftest import BUILD, ROOT

pytestmark = pytest.mark.user

HIPEC = BUILD / "asan" / "hipec"
ENV = {**os.environ, "HIPEC_POLICY_PATH": str(BUILD / "policies"), "PYTHONDONTWRITEBYTECODE": "1"}
TWO = ["A policy=fifo privileged=2 cpu=1ms : one", "B policy=fifo privileged=2 cpu=1ms : one"]


@pytest.fixture(autouse=True, scope="module")
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/hipec", "build/policies/fifo.hpo",
                    "build/policies/mru.hpo"], check=True)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one").write_text("r 0 2\nr 1\n")
    return tmp_path


def mix(apps, *args):
    return subprocess.run([HIPEC, "mix", *map(str, args), "-"], text=True, check=False, env=ENV,
                          input="\n".join(apps) + "\n", capture_output=True)


def told(apps, *args):
    done = mix(apps, *args)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_two_share_one_time():
    """5 ms a page, 1 ms an access. A's pages are asked for at 0 and 6, there at 5 and 15, B's at 0
    and 11, there at 10 and 20; their last accesses are from 16 to 17 and from 21 to 22 ms. A moment
    within an access shows what is there behind it."""
    got = told(TWO, "-f", 4, "-d", "5ms", "--profile", "json")
    width = 22_000_000 // 240 + 1
    ends = [width * (number + 1) for number in range(240)]
    assert [trace["bands"] for trace in got["traces"]] == [[
        {"first": page, "last": page, "pages": 1, "region": None, "region_first": 0, "spans": None}
        for page in (0, 1)]] * 2
    for run, asked, there, last in zip(got["runs"], [(0, 6), (0, 11)], [(5, 15), (10, 20)],
                                       (16, 21)):
        assert (run["unit"], run["per_bin"], run["group"]) == ("ns", width, 0)
        faults = [[0, 0] for _ in ends]
        for page, at in enumerate(asked):
            faults[at * 1_000_000 // width][page] += 1
        assert run["faults"] == faults
        alive = [end <= last * 1_000_000 for end in ends]
        resident = [[int(live and at * 1_000_000 < end) for at in there]
                    for end, live in zip(ends, alive)]
        assert run["resident"] == resident
        assert run["held"] == [2 * live for live in alive]
        assert run["queues"][1] == {"name": "fifo", "length": list(map(sum, resident))}
    assert [run["application"] for run in got["runs"]] == ["A", "B"]


def test_a_bin_has_its_first_nanosecond(folder):
    """239 pages, 240 ns each: so wide are bins, and each access is at the beginning of one."""
    (folder / "many").write_text("r 0 239\n")
    run, = told(["A cpu=240ns : many"], "-f", 300, "-d", 0, "--profile", "json")["runs"]
    assert run["per_bin"] == 240
    assert list(map(sum, run["faults"])) == [1] * 239 + [0]
    assert list(map(sum, run["resident"])) == [*range(1, 239), 0, 0]


@pytest.mark.parametrize("way", ["fifo2-mr", "awst"])
def test_counts_and_samples_are_those_of_the_mix(way):
    """In both orders, with writes, frames that go from one to the other, and a late start."""
    apps = ["J policy=mru start=2ms : nlj --pages 40 --passes 3",
            "M policy=fifo : mixed --pages 60 --accesses 400 --writes 30"]
    args = ["-f", 48, "-d", "ssd", "-g", way]
    got = told(apps, *args, "-o", "all", "--profile", "json")
    assert [run["application"] for run in got["runs"]] == ["J", "M", "M", "J"]
    assert [run["group"] for run in got["runs"]] == [0, 0, 1, 1]
    for order, runs in (("J,M", got["runs"][:2]), ("M,J", got["runs"][2:])):
        width = runs[0]["per_bin"]
        want, = told(apps, *args, "-o", order, "--json", "--sample", f"{width}ns")
        assert want["elapsed_ns"] // width + 1 == 240 == len(runs[0]["faults"])
        assert [sample["at_ns"] for sample in want["samples"]] == [width * n for n in range(240)]
        held = [list(frames) for frames in zip(*(run["held"] for run in runs))]
        assert held == [sample["frames"] for sample in want["samples"][1:]] + [[0, 0]]
        assert max(map(sum, held)) == 48
        for run, app in zip(runs, want["apps"]):
            row = got["rows"][run["row"]]
            assert sum(map(sum, run["faults"])) == row["faults"] == app["faults"]
            assert (row["written_pages"], row["frames"]) == (app["written_pages"],
                                                             app["most_frames"])
            assert app["given"] and sum(run["lines"].values()) == app["commands"]
            pages = list(map(sum, run["resident"]))
            assert all(0 <= nr <= frames for nr, frames in zip(pages, run["held"]))
            # A page that was given up ahead is resident, and on no queue.
            queued = [sum(bin) for bin in zip(*(queue["length"] for queue in run["queues"]))]
            assert all(0 <= nr - on <= 8 for nr, on in zip(pages, queued))


def test_text_and_page_say_time(folder):
    done = mix(TWO, "-f", 4, "-d", "5ms", "--profile", "text")
    lines = done.stdout.split("\n")
    assert lines[0] == "A, B: 4 frames, fifo2-mr"
    # Four bins of 91667 ns; one fault in the first column of each.
    assert "Page faults over time; a column is 0.367 ms, full at 2,727.3 faults per second" in lines
    at = lines.index("Frames held over time; full at 4")
    assert lines[at + 1].startswith("A (fifo) |" + 43 * "\u2584" + " ")
    pytest.importorskip("plotly", reason="python3-plotly is not installed: make packages")
    done = mix(TWO, "-f", 4, "-d", "5ms", "--profile", "x.html")
    assert (done.returncode, done.stdout[:8]) == (0, "x.html: "), done.stderr
    text = (folder / "x.html").read_text()
    section, = json.loads(re.search(r'id="charts">(.*?)</script>', text)[1])
    charts = section["charts"]
    assert [chart["layout"]["xaxis"]["title"]["text"] for chart in charts.values()] == [
        "time (ms)", "region (pages of 4 KiB, by their number)"] + ["time (ms)"] * 3
    assert (section["unit"], section["end"]) == ("ms", 240 * 91667 / 1e6)
    held = charts["held"]["data"]
    assert [line["name"] for line in held] == ["A (fifo)", "B (fifo)"]
    assert all(line["stackgroup"] and line["x"][1] == 0.091667 for line in held)
    assert "On one machine of 4 frames, under fifo2-mr" in text


@pytest.mark.browser
@pytest.mark.skipif(not browser.program(), reason="no chromedriver: make packages-browser")
def test_browser_windows_are_of_time(folder):
    """From 5.5 to 10 ms A faults on its second page, B on none."""
    done = mix(TWO, "-f", 4, "-d", "5ms", "-o", "all", "--profile", "x.html")
    assert done.returncode == 0, done.stderr
    with browser.browser() as tab:
        tab.open(folder / "x.html")
        tab.wait_until("document.body.dataset.drawn")
        assert tab.run("[...document.querySelectorAll('h2')].map(h => h.textContent)") == [
            "A, B", "B, A"]
        tab.run("Plotly.relayout('s0-time', {'xaxis.range': [5.5, 10]}).then(() => 0)")
        tab.wait_until("document.getElementById('s0-region-title').textContent == "
                       "'Page faults by region, from 5.5 to 10 ms'")
        assert tab.run("document.getElementById('s0-region').data.map(bars => bars.y)") == [
            [0, 1], [0, 0]]
        assert tab.run("document.getElementById('s0-held').layout.xaxis.range") == [5.5, 10]
        assert not tab.errors


@pytest.mark.parametrize("args, apps, code, words", [
    (["--json", "--profile", "text"], 2, 2, "want one of --profile and --json"),
    (["--profile", "text", "-o", "all"], 5, 2,
     "--profile: want at most 4 applications for all orders\n"),
    (["--profile", "no/folder/x.html"], 1, 1, "no/folder/x.html: its folder cannot be written\n"),
])
def test_mistakes_are_said(args, apps, code, words):
    pytest.importorskip("plotly", reason="python3-plotly is not installed: make packages")
    done = mix([f"{name} min=1 : one" for name in "ABCDE"[:apps]], "-f", 9, *args)
    assert (done.returncode, done.stdout) == (code, "")
    assert re.sub("^hipec (mix|profile): ", "", done.stderr).startswith(words)
