# SPDX-License-Identifier: GPL-2.0-only
"""hipec profile: what it counts is what hipec sim and models count; the text and the page show it,
and the page needs nothing but itself."""

import base64
import json
import os
import random
import re
import shutil
import subprocess
import zlib

import pytest

import sim_models
from conftest import BUILD, ROOT

pytestmark = pytest.mark.more

HIPEC = BUILD / "asan" / "hipec"
ENV = {**os.environ, "HIPEC_POLICY_PATH": f"{BUILD / 'policies'}:{ROOT / 'policies'}",
       "PYTHONDONTWRITEBYTECODE": "1"}
ODD = ["div-zero", "prefetch-all", "stride", "breathe", "ghosts", "spill", "no-page", "decline"]


@pytest.fixture(autouse=True, scope="module")
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "all", "build/asan/hipec", "build/asan/ampc",
                    *(f"build/guest/policies/{name}.hpo" for name in ODD)], check=True)


def profile(*args, trace="", env=None, verb="profile", cwd=None):
    return subprocess.run([HIPEC, verb, *map(str, args)], text=True, check=False, cwd=cwd,
                          env=env or ENV, input=trace, capture_output=True)


def counted(*args, trace, verb="profile"):
    done = profile("--json", *args, "-", trace=trace, verb=verb)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def some_trace(accesses):
    """[(page, whether it is written)]: sweeps and chance, in three pieces of pages."""
    dice = random.Random(6)
    pages = [*range(60), *range(200, 230), 5000]
    trace = []
    while len(trace) < accesses:
        first, nr = dice.randrange(60), dice.randrange(1, 40)
        trace += [(page, False) for page in range(first, min(first + nr, 60))]
        trace += [(dice.choice(pages), dice.random() < .3) for _ in range(5)]
    return trace[:accesses]


def text_of(trace):
    return "".join(f"{'w' if write else 'r'} {page}\n" for page, write in trace)


class Noted:
    """A model that notes (access, page) as pages come and go."""

    def __init__(self, model):
        self.model, self.came, self.went = model, [], []

    def hit(self, page, i):
        self.model.hit(page, i)

    def bring(self, page, i):
        self.came.append((i, page))
        self.model.bring(page, i)

    def victim(self, i):
        page = self.model.victim(i)
        self.went.append((i, page))
        return page


@pytest.mark.parametrize("policy, model", [("lru", sim_models.Lru), ("fifo", sim_models.Fifo),
                                           ("clock", sim_models.Clock), ("opt", sim_models.Opt),
                                           (ROOT / "policies/fifo.hp", sim_models.Fifo),
                                           ("mru", sim_models.Mru)])
def test_faults_and_residence_are_those_of_the_models(policy, model):
    """In each bin of 3 accesses and each band of 2 pages: 482 accesses end in the 161st bin."""
    trace = some_trace(482)
    noted = Noted(model(trace))
    sim_models.run(trace, 40, noted)
    got = counted("-p", policy, "-f", 40, trace=text_of(trace))
    bands, run = got["traces"][0]["bands"], got["runs"][0]
    assert (run["per_bin"], len(run["faults"])) == (3, 161)

    def band_of(page):
        return next(i for i, band in enumerate(bands) if band["first"] <= page <= band["last"])

    faults = [[0] * len(bands) for _ in range(161)]
    resident = [[0] * len(bands) for _ in range(161)]
    for changes, sign in ((noted.came, 1), (noted.went, -1)):
        for i, page in changes:
            if sign == 1:
                faults[i // 3][band_of(page)] += 1
            for row in resident[i // 3:]:
                row[band_of(page)] += sign
    assert run["faults"] == faults
    assert run["resident"] == resident
    came = [i for i, _ in noted.came]
    assert (run["per_fine"], run["fine"]) == (1, [came.count(i) for i in range(482)])


def test_parts_of_bins_are_bins_seen_closer():
    """Of 9,000 accesses a bin has 38 and a part 3: three bins are as long as 38 parts."""
    for policy in ("lru", "mru"):
        run, = counted("-p", policy, "-f", 40, trace=text_of(some_trace(9000)))["runs"]
        assert (run["per_bin"], run["per_fine"], len(run["fine"])) == (38, 3, 3000)
        bins = [sum(bands) for bands in run["faults"]]
        assert [sum(bins[at:at + 3]) for at in range(0, len(bins), 3)] == [
            sum(run["fine"][at:at + 38]) for at in range(0, 3000, 38)]


def test_bands_end_at_gaps_and_between_files():
    """103 pages: 48 bands would need a width over 2, so it is 4. Gaps of 64 pages are none."""
    got = counted("-p", "lru", "-f", "1,2", trace="f 0 7 /data/one\nf 7 7 /data/two\n"
                  "r 0 13\nr 76 5\nr 200 85\n")
    bands = [(band["first"], band["last"], band["pages"], band["region"])
             for band in got["traces"][0]["bands"]]
    assert bands[:7] == [(0, 3, 4, "/data/one"), (4, 6, 3, "/data/one"), (7, 10, 4, "/data/two"),
                         (11, 77, 4, None), (78, 80, 3, None), (200, 203, 4, None),
                         (204, 207, 4, None)]
    assert bands[-1] == (284, 284, 1, None)
    assert [band["region_first"] for band in got["traces"][0]["bands"][:4]] == [0, 0, 7, 0]
    assert [band["spans"] for band in got["traces"][0]["bands"][2:5]] == [
        None, ["/data/two", None], None]


def test_bands_of_several_files_name_none_of_them():
    """40 files of 10 pages: 17 bands begin with one, and the others are cut every 16 pages."""
    trace = "".join(f"f {i * 10} 10 /data/file{i}\n" for i in range(40)) + "r 0 400\n"
    bands = counted("-p", "lru", "-f", "1,2", trace=trace)["traces"][0]["bands"]
    for band in bands:
        first, last = (f"/data/file{band[end] // 10}" for end in ("first", "last"))
        one = first if first == last else None
        assert (band["region"], band["spans"]) == (one, None if one else [first, last])
    assert sum(band["region"] is None for band in bands) > 10
    done = profile("--text", "-p", "lru", "-f", "1,2", "-", trace=trace)
    table = done.stdout.partition("by region (pages)\n")[2].partition("\n\n")[0]
    rows = [line.split("  ")[0].strip() for line in table.split("\n")[1:]]
    step = -(-len(bands) // 12)
    assert rows == [f"file{bands[i]['first'] // 10} ... file{group[-1]['last'] // 10}"
                    for i in range(0, len(bands), step) for group in [bands[i:i + step]]]


def test_files_of_one_name_are_told_apart():
    """Bars with the same name would be drawn as one."""
    trace = "f 0 60 /a/data\nf 60 60 /b/data\nr 0 120\n"
    done = profile("--text", "-p", "lru", "-f", "7,8", "-", trace=trace)
    assert "/a/data: 48\N{EN DASH}59 " in done.stdout and "/b/data: 0\N{EN DASH}" in done.stdout


def test_many_gaps_make_few_bands():
    """2000 pages, each by itself: 64 a band, and the 16 largest gaps are cuts."""
    pages = [i * 100 + (i // 100) * 10000 for i in range(2000)]
    got = counted("-p", "lru", "-f", "1,2", trace="".join(f"r {page}\n" for page in pages))
    bands = got["traces"][0]["bands"]
    assert len(bands) <= 48 + 17 and sum(band["pages"] for band in bands) == 2000
    firsts = {band["first"] for band in bands}
    assert len(firsts & {pages[i] for i in range(100, 2000, 100)}) >= 16


@pytest.mark.parametrize("mode", ["mapped", "exact"])
def test_sums_are_what_hipec_sim_counts(mode):
    """Faults over bins, pages in queues and frames at the end, commands of lines and events."""
    args = ["-m", mode, "-p", f"lru,fifo2,mru,opt-reads,default,builtin,clock,{BUILD}/policies/lru.hpo",
            "-f", "30,7,90"]
    trace = text_of(some_trace(3000))
    got = counted(*args, trace=trace)
    assert got["rows"] == counted(*args, trace=trace, verb="sim")
    assert [run["row"] for run in got["runs"]] == list(range(8))
    for run in got["runs"]:
        row = got["rows"][run["row"]]
        assert (row["frames"], len(run["faults"])) == (30, 231)     # 3000 / 13, rounded up
        assert sum(map(sum, run["faults"])) == row["faults"] == sum(run["fine"])
        held = sum(run["resident"][-1])
        if row["policy"] != "opt-reads":        # which does not keep all that it reads
            assert held == row["faults"] - row["evictions"] == 30
        if row["built_in"]:
            assert "queues" not in run and "lines" not in run
            continue
        assert sum(queue["length"][-1] for queue in run["queues"]) == held
        assert sum(event["commands"] for event in run["events"]) == row["commands"]
        assert sum(event["runs"] for event in run["events"]) == row["events"]
        if row["policy"] != "builtin":
            assert sum(run["lines"].values()) == row["commands"]


@pytest.mark.parametrize("name", ODD)
def test_odd_policies_are_counted_all_the_same(name):
    """They end, prefetch, release, remember, leave pages on no queue."""
    hpo = BUILD / "guest" / "policies" / f"{name}.hpo"
    got = counted("-p", hpo, "-f", 20, "-m", "exact", trace=text_of(some_trace(600)))
    run, row = got["runs"][0], got["rows"][got["runs"][0]["row"]]
    assert sum(map(sum, run["faults"])) == row["faults"]
    came = row["faults"] - row["ahead_faults"] + row["ahead_pages"]
    assert sum(run["resident"][-1]) == came - row["evictions"] - row["ahead_dropped"]
    assert all(count >= 0 for bands in run["resident"] for count in bands)
    assert sum(event["commands"] for event in run["events"]) == row["commands"]


def test_lines_are_counted_where_they_are():
    """mru.hp: three commands a fault, three a victim; ten pages five times, 7 frames: 26 faults."""
    got = counted("-p", "mru", "-f", "7", trace="r 0 10\n" * 5)
    run = got["runs"][0]
    lines = {int(line): count for line, count in run["lines"].items() if count}
    assert lines == {26: 26, 27: 26, 28: 26, 32: 19, 33: 19, 34: 19}
    assert [(event["name"], event["runs"]) for event in run["events"]] == [
        ("PageFault", 26), ("Replace", 19), ("Adopt", 0)]


MOVES = """
Event Init() { Queue cold; Queue warm; Page page; }
Event PageFault() { page = FindPA(FaultedAddress); EnQueue(page, cold, TAIL); }
Event Access() { page = FindPA(FaultedAddress); EnQueue(page, warm, TAIL); }
Event Replace() { page = DeQueue(cold, HEAD); EnQueue(page, _free_queue, TAIL); }
"""


def test_the_last_access_is_looked_at(tmp_path):
    """Though nobody tells of what comes behind it: by its fault, and by its Access."""
    run = counted("-p", "mru", "-f", "2", trace="r 1 2\n")["runs"][0]
    assert [(queue["name"], queue["length"]) for queue in run["queues"]] == [
        (None, [0, 0]), ("stack", [1, 2])]
    # What the module does without a policy has no events.
    run = counted("-p", "builtin", "-f", "2", trace="r 1 2\n")["runs"][0]
    assert [queue["length"] for queue in run["queues"]] == [[1, 2], [0, 0]]
    (tmp_path / "moves.hp").write_text(MOVES)
    run = counted("-p", tmp_path / "moves.hp", "-f", "2", "-m", "exact",
                  trace="r 1 2\nr 1\n")["runs"][0]
    assert [queue["length"] for queue in run["queues"]] == [[0, 0, 0], [1, 2, 1], [0, 0, 1]]


def test_long_traces_make_no_longer_profiles():
    small, large = (profile("--json", "-p", "lru", "-f", "10,20", "-", trace="r 0 1000\n" * n).stdout
                    for n in (3, 300))
    for text in small, large:
        run = json.loads(text)["runs"][0]
        assert len(run["faults"]) == 231 + 9 * (text is large) and len(run["faults"][0]) == 32
    assert len(large) < 1.5 * len(small)


def test_each_trace_is_drawn_by_itself(tmp_path):
    (tmp_path / "a").write_text("r 0 10\n")
    (tmp_path / "b").write_text("r 0 20\n" * 2)
    done = profile("--json", "-p", "lru,mru", tmp_path / "a", tmp_path / "b")
    got = json.loads(done.stdout)
    assert [(run["trace"], got["rows"][run["row"]]["policy"], got["rows"][run["row"]]["frames"],
             sum(map(sum, run["faults"]))) for run in got["runs"]] == [
        (0, "lru", 5, 10), (0, "mru", 5, 10), (1, "lru", 10, 40), (1, "mru", 10, 20 + 11)]
    sizes = [row["frames"] for row in got["rows"] if row["trace"].endswith("b")][::2]
    assert sizes == [10, 1, 2, 3, 4, 6, 8, 12, 16, 20]
    done = profile("--text", "-p", "lru", tmp_path / "a", tmp_path / "b")
    assert re.findall(r"(\w): \d+ accesses to (\d+) pages", done.stdout) == [("a", "10"),
                                                                           ("b", "20")]


# ------------------------------------------------------------------ text

def test_text_says_what_was_counted():
    """Five passes over ten pages; 7 frames: lru 50 faults, mru 26."""
    done = profile("--text", "-p", "lru,mru", "-f", "7,5,10", "-", trace="r 0 10\n" * 5)
    assert done.returncode == 0 and not done.stderr
    lines = done.stdout.split("\n")
    assert all(len(line) <= 80 for line in lines)
    assert lines[0] == "-: 50 accesses to 10 pages"
    assert [line.split() for line in lines[2:4]] == [
        ["lru", "7", "50", "0.00", "0", "-", "built", "in"],
        ["mru", "7", "26", "48.00", "0", "135", "runs"]]
    assert lines[4] == "7 frames: mru gains 48.0 % over lru"
    at = lines.index("Faults per 100 accesses, by frames of memory")
    assert [line.split() for line in lines[at + 1:at + 5]] == [
        ["frames", "lru", "mru"], ["5", "100.00", "68.00"], ["7", "100.00", "52.00"],
        ["10", "20.00", "20.00"]]
    assert "lru |" + 50 * "\u2588" + "|" in lines
    # 10 and 4 a pass: the second to fifth pass fault on 4 pages, one of them another each time.
    mru = next(line for line in lines if line.startswith("mru |"))
    assert mru.count("\u2588") == 26 and mru[5:15] == 10 * "\u2588"
    at = next(i for i, line in enumerate(lines) if line.startswith("Page faults by region"))
    region = [line.split() for line in lines[at + 2:at + 12]]
    assert [(cells[0], cells[1]) for cells in region] == [(str(page), "5") for page in range(10)]
    assert sum(int(cells[3]) for cells in region) == 26
    at = lines.index("Hottest lines of mru, of 135 commands")
    assert lines[at + 1] == "          26  19.3%    26  page = FindPA(FaultedAddress);"


def test_text_is_plain_where_the_terminal_is():
    env = {**ENV, "PYTHONIOENCODING": "ascii"}
    done = profile("--text", "-p", "mru", "-f", "50%", "-", trace="r 0 100\n", env=env)
    assert done.returncode == 0 and done.stdout.isascii()
    assert "mru |@@@" in done.stdout and "0-11" in done.stdout


def test_text_fits_whatever_names_are_long(tmp_path):
    policy = tmp_path / ("a" * 31 + ".hp")
    policy.write_bytes((ROOT / "policies/mru.hp").read_bytes())
    trace = f"f 0 50 /{'b' * 200}\nf 50 50 /x\x7f\n".replace("\x7f", "~") + "r 0 100\n" * 2
    done = profile("--text", "-p", f"{policy},lru,fifo,clock,opt,mru", "-", trace=trace)
    assert done.returncode == 0, done.stderr
    assert all(len(line) <= 80 for line in done.stdout.split("\n"))


def test_source_that_is_another_is_not_shown(tmp_path):
    """The hash tells; a text that was changed is none of this policy."""
    source, image = tmp_path / "my.hp", tmp_path / "my.hpo"
    source.write_bytes((ROOT / "policies/mru.hp").read_bytes())
    subprocess.run([BUILD / "ampc", "-o", image, source], check=True)
    assert "FindPA" in profile("-t", "-p", image, "-f", "7", "-", trace="r 0 10\n").stdout
    source.write_bytes(source.read_bytes() + b"// other\n")
    text = profile("-t", "-p", image, "-f", "7", "-", trace="r 0 10\n").stdout
    assert "FindPA" not in text and "26  (its source was not found)" in text


# ------------------------------------------------------------------ mistakes

@pytest.mark.parametrize("args, code, words", [
    ([], 2, "hipec profile: want a trace\n"),
    (["--text", "--json", "-"], 2, "hipec profile: want one of --output, --text and --json\n"),
    (["-o", "x", "--text", "-"], 2, "hipec profile: want one of --output, --text and --json\n"),
    (["-f", "0", "-"], 2, "hipec profile: --frames: want a page, 4 KiB, at least, not '0'"),
    (["-o", "no/such/folder/x.html", "-"], 1,
     "hipec profile: no/such/folder/x.html: its folder cannot be written\n"),
    (["-o", "old.html", "none.txt"], 1, "hipec profile: none.txt: No such file or directory\n"),
    (["-o", "old.html", "-"], 1, "hipec profile: -:1: want 'r PAGE [COUNT]'"),
])
def test_mistakes_are_said_and_nothing_is_written(args, code, words, tmp_path):
    (tmp_path / "old.html").write_text("old")
    done = profile(*args, trace="x\n", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith(words)
    assert (tmp_path / "old.html").read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_the_command_alone_counts(tmp_path):
    """In a guest, say."""
    alone = shutil.copy(BUILD / "hipec", tmp_path)
    args = [alone, "profile", "-p", "lru", "-f", "5", "-"]
    done = subprocess.run(args, input="r 0 10\n", text=True, capture_output=True, check=False)
    assert done.returncode == 1 and done.stderr == (
        "hipec profile: want profile/report.py beside this command or in ../share/hipec; "
        "--json does without\n")
    done = subprocess.run([*args, "--json"], input="r 0 10\n", text=True, capture_output=True,
                          check=True)
    assert json.loads(done.stdout)["rows"][0]["faults"] == 10


def test_names_may_be_any_bytes(tmp_path):
    trace = os.fsencode(tmp_path) + b"/\xff<b>\x1b"
    with open(trace, "w", encoding="ascii") as file:
        file.write("r 0 10\n")
    done = subprocess.run([HIPEC, "profile", "--text", "-p", "lru", trace], env=ENV, check=True,
                          capture_output=True, text=True)
    assert "\ufffd<b>?: 10 accesses to 10 pages\n" in done.stdout


def test_without_plotly_the_page_alone_is_missing(tmp_path):
    (tmp_path / "plotly").mkdir()
    (tmp_path / "plotly/__init__.py").write_text("raise ImportError('not there')\n")
    env = {**ENV, "PYTHONPATH": str(tmp_path)}
    done = profile("-o", tmp_path / "x.html", "-", trace="r 0 10\n", env=env)
    assert done.returncode == 1 and not (tmp_path / "x.html").exists()
    assert done.stderr == ("hipec profile: the page is drawn by plotly, which is not there: apt "
                           "install python3-plotly; --text and --json do without\n")
    for what in "--text", "--json":
        done = profile(what, "-", trace="r 0 10\n", env=env)
        assert done.returncode == 0 and done.stdout and not done.stderr


# ------------------------------------------------------------------ the page

TRACE = "f 0 100 /data/<i>outer</i>\nf 1024 20 /data/inner\n" + "r 0 100\nw 1024 20\n" * 5


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Its path, and the profile that it draws: one of hipec's, and two runs once more, as of
    programs that shared memory. docs/user/first-steps.md has hipec make a page."""
    pytest.importorskip("plotly", reason="python3-plotly is not installed: make packages")
    path = tmp_path_factory.mktemp("profile") / "report.html"
    got = counted("-p", "lru,mru,fifo2,opt", "-f", "60", trace=TRACE)
    got["runs"] += [{**run, "group": 0, "application": name}
                    for run, name in zip(got["runs"], ("join", "player"))]
    done = subprocess.run([BUILD / "profile" / "report.py", "--output", path], check=True, text=True,
                          input=json.dumps(got), capture_output=True, env=ENV)
    size = path.stat().st_size
    assert done.stdout == f"{path}: {size / 2**20:.1f} MiB, for a browser\n" and size < 6e6
    return path, got


def script(text, ident):
    return re.search(rf'<script type="[^"]*" id="{ident}">(.*?)</script>', text, re.S)[1]


def test_page_needs_nothing_else(page):
    """No address to load from, but in the library's own text, which is whole."""
    text = page[0].read_text()
    library = script(text, "library")
    assert b"Plotly" in zlib.decompress(base64.b64decode(library))
    rest = text.replace(library, "")
    assert not re.search(r"https?:|//\w|\bsrc\s*=|\bhref\s*=\"?[^\"#]|url\(|@import|<link", rest)
    assert rest.count("<script") == 3


def test_contents_lead_to_headings_and_charts_are_told_in_words(page):
    """Each link has its place; each chart is a figure under a heading, with a text of its own."""
    path, got = page
    text = path.read_text()
    text = text.replace(script(text, "library"), "")
    links = re.findall(r'<a href="#([\w-]+)">', text)
    places = re.findall(r'<h[23] id="([\w-]+)"', text)
    assert links == places and len(links) == len(set(links)) == 18
    assert text.count("<figure>") == text.count("<figcaption") == 14
    charts = re.findall(r'<div class="chart" id="([\w-]+)" role="img" aria-label="([^"]*)">', text)
    assert len(charts) == 16    # maps come in pairs
    rows = got["rows"]
    for run in got["runs"][:4]:
        row = rows[run["row"]]
        assert f"{row['policy']}: {row['faults']} faults of 600 accesses with 60 frames" in charts[0][1]
    assert "<details>" in text and "<details open" not in text
    assert "<td>60<td>240 KiB<td>600" in text


def test_page_has_the_numbers(page):
    path, got = page
    text = path.read_text()
    section, _ = json.loads(script(text, "charts"))
    assert [run["faults"] for run in section["runs"]] == [run["faults"] for run in got["runs"][:4]]
    assert list(section["charts"]) == ["curve", "time", "region", "map", "held", "queues",
                                       "reuse", "popularity"]
    curve = section["charts"]["curve"]["data"]
    rows = {(row["policy"], row["frames"]): row for row in got["rows"]}
    for line in curve:
        assert len(line["x"]) > 10
        for frames, percent in zip(line["x"], line["y"]):
            assert percent == 100 * rows[line["name"], frames]["faults"] / 600
    for bars, run in zip(section["charts"]["region"]["data"], got["runs"]):
        assert sum(bars["y"]) == got["rows"][run["row"]]["faults"]
    assert f"<b>60 frames: {got['verdicts'][0]['text']}.</b>" in text
    assert "<i>outer" not in text and "page = DeQueue(stack, TAIL);" in text


def test_programs_that_ran_side_by_side_are_drawn_together(page):
    """The form is ready for them: runs of one group share their frames."""
    path, got = page
    _, section = json.loads(script(path.read_text(), "charts"))
    held = section["charts"]["held"]["data"]
    assert [line["name"] for line in held] == ["join (lru)", "player (mru)"]
    assert all(line["stackgroup"] for line in held)
    assert len({name for bars in section["charts"]["region"]["data"] for name in bars["x"]}) == \
        2 * len(got["traces"][0]["bands"])


COUNTS = """
Event Init() { Queue q; Page page; counter Int frames_even, frames_odd, seen; }
Event PageFault()
{
	page = FindPA(FaultedAddress);
	EnQueue(page, q, TAIL);
	seen++;
	if ((FaultedAddress >> 12 & 1) == 0)
		frames_even++;
	else
		frames_odd++;
}
Event Replace() { page = DeQueue(q, HEAD); EnQueue(page, _free_queue, TAIL); }
"""


def test_counters_are_noted_over_time(tmp_path):
    """Those that are named, behind the access that a bin ends with."""
    (tmp_path / "counts.hp").write_text(COUNTS)

    def values(*options):
        run = counted("-p", tmp_path / "counts.hp", "-f", "9", *options, trace="r 2\nr 4\nr 5\n")
        return {one["name"]: one["value"] for one in run["runs"][0]["counters"]}
    assert values() == {"frames_even": [1, 2, 2], "frames_odd": [0, 0, 1]}
    assert values("--counters", "seen") == {"seen": [1, 2, 3]}
    assert list(values("--counters", "none,*d,s?en")) == ["frames_odd", "seen"]
    assert not values("--counters", "none")
    assert counted("-p", "lru,mru", "-f", "2", trace="r 1\n")["runs"][1]["counters"] == []


def test_counters_are_drawn_on_top_of_each_other(tmp_path):
    (tmp_path / "counts.hp").write_text(COUNTS)
    (tmp_path / "trace").write_text("r 2\nr 4\nr 5\n")
    subprocess.run([HIPEC, "profile", "-p", tmp_path / "counts.hp", "-f", "9", "-o",
                    tmp_path / "page.html", tmp_path / "trace"], check=True, env=ENV,
                   stdout=subprocess.DEVNULL)
    section, = json.loads(script((tmp_path / "page.html").read_text(), "charts"))
    data = section["charts"]["counters"]["data"]
    assert [(one["name"], one["y"], one["stackgroup"]) for one in data] == [
        ("frames_even", [0, 1, 2, 2], "0"), ("frames_odd", [0, 0, 0, 1], "0")]
    assert section["charts"]["counters"]["layout"]["yaxis"]["title"]["text"] == \
        "frames (of 4 KiB) of counts.hp"
    assert ">Counters over time: counts.hp</h3>" in (tmp_path / "page.html").read_text()


def test_counters_that_never_count_are_not_drawn(tmp_path):
    """As partitions of AMP that were never used."""
    (tmp_path / "counts.hp").write_text(COUNTS)
    (tmp_path / "trace").write_text("r 2\nr 4\n")
    subprocess.run([HIPEC, "profile", "-p", tmp_path / "counts.hp", "-f", "9", "--counters", "*",
                    "-o", tmp_path / "page.html", tmp_path / "trace"], check=True, env=ENV,
                   stdout=subprocess.DEVNULL)
    section, = json.loads(script((tmp_path / "page.html").read_text(), "charts"))
    chart = section["charts"]["counters"]
    assert [one["name"] for one in chart["data"]] == ["frames_even", "seen"]
    assert chart["layout"]["yaxis"]["title"]["text"] == "counts of counts.hp"
