# SPDX-License-Identifier: GPL-2.0-only
"""The league of policies, the table of docs/policies.md, and the requests that a cache behind
a buffer pool gets."""

import json
import re
import subprocess
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT))
from bench.cost import league            # noqa: E402
from bench.hints import figures as hints  # noqa: E402
from bench.lib import twotier            # noqa: E402

pytestmark = pytest.mark.more


@pytest.fixture(autouse=True, scope="module")
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "build/hipec",
                    *(f"build/policies/{p.name}.hpo" for p in league.policies())], check=True)


@pytest.fixture(scope="module", name="rows")
def run_league(tmp_path_factory):
    return league.run("exact", league.policies(), league.make(tmp_path_factory.mktemp("league")))


def test_the_document_has_what_is_measured(rows):
    """Else run `make docs`."""
    text = league.DOCUMENT.read_text(encoding="utf-8")
    shown = text.split(league.MARKS[0])[1].split(league.MARKS[1])[0]
    assert shown == league.table(league.policies(), rows)


def test_the_league_knows_all_and_nobody_beats_the_optimum(rows, capsys):
    league.print_league("exact", rows)
    lines = capsys.readouterr().out.strip().split("\n")[3:]
    order = [line[:16].strip() for line in lines]
    assert sorted(order) == sorted(["built in lru", "built in opt", *(p.name for p in league.policies())])
    assert order[0] == "built in opt"
    for row in rows.values():
        assert all(r["faults"] >= row["built in opt"]["faults"] for r in row.values())
        assert row["lru"]["faults"] == row["built in lru"]["faults"]
    # A loop over 1,000 pages with 700 frames, 20 times: by arithmetic
    # (docs/papers.md).
    assert rows["loop"]["mru"]["faults"] == 1000 + 19 * (1000 - 700 + 1)
    assert rows["loop"]["lru"]["faults"] == 20 * 1000


def test_who_costs_much_says_so(rows):
    """Over 60 commands in the mean fault, or 400 in one access: the header has its reason."""
    for p in league.policies():
        mine = [rows[trace][p.name] for trace in rows]
        mean = sum(r["commands"] for r in mine) / sum(r["faults"] for r in mine)
        if mean > 60 or max(r["most_commands"] for r in mine) > 400:
            head = (ROOT / "policies" / f"{p.name}.hp").read_text().split("Event Init")[0]
            assert "commands" in head, p.name


@pytest.mark.parametrize("name, most", [("mru", 12), ("sieve", 30), ("s3-fifo", 60), ("arc", 70),
                                        ("lfu", 30), ("mglru", 150)])
def test_how_long_they_are(name, most):
    """Lines of code, without comments and blank ones."""
    text = (ROOT / "policies" / f"{name}.hp").read_text()
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    assert 5 < sum(bool(line.strip()) for line in text.split("\n")) <= most


# A workload that each policy for mappings is meant for, as its header says.
MEANT_FOR = {
    "loop": ["2q", "lhd", "lirs", "mru", "random2", "s3-fifo", "w-tinylfu", "weights"],
    "zipf": ["clock", "fifo2", "lru", "lru-k", "lru-wsr", "lfu", "mq", "scan-resistant", "sieve",
             "spatial-clock", "mglru", "cflru", "amp"],
    "shift": ["fifo", "mpfifo2"],
}


def test_nobody_is_revoked_for_what_it_is_meant_for(tmp_path):
    """fab wants writes of whole blocks, and smpeg what is read once."""
    meant = {name: trace for trace, names in MEANT_FOR.items() for name in names}
    mapped = {p.name for p in league.policies() if "mapped" in p.modes}
    assert mapped - set(meant) == {"fab", "smpeg"} and not set(meant) - mapped
    files = league.make(tmp_path)
    files["blocks"], files["stream"] = tmp_path / "blocks", tmp_path / "stream"
    files["blocks"].write_text("".join(f"w {i * 7919 % 500 * 4} 4\n" for i in range(20000)))
    files["stream"].write_text("r 0 40000\n")
    for trace, names in [*MEANT_FOR.items(), ("blocks", ["fab"]), ("stream", ["smpeg"])]:
        frames = league.TRACES[trace][0] if trace in league.TRACES else 400
        done = subprocess.run(
            [league.HIPEC, "sim", "--json", "--contract", "--frames", str(frames), "--policy",
             ",".join(str(ROOT / "build" / "policies" / f"{name}.hpo") for name in names),
             files[trace]], check=True, stdout=subprocess.PIPE)
        for name, row in zip(names, json.loads(done.stdout), strict=True):
            assert row["contract"]["windows"] >= 4, (trace, name)
            assert row["contract"]["revoked_at"] == 0, (trace, name)


def asked(pool, softmax, apc=False, pages=600, accesses=8000):
    return twotier.requests(pages, pool, softmax, apc, accesses, 1)


@pytest.mark.parametrize("apc", [False, True])
@pytest.mark.parametrize("pool, softmax", [(50, 400), (200, 400), (200, 1), (400, 5)])
def test_a_pool_asks_for_what_it_has_not_and_writes_what_it_has(apc, pool, softmax):
    """Page by page, as who stands behind it sees it."""
    here, reads = set(), 0
    requests = asked(pool, softmax, apc)
    for i, (page, hint) in enumerate(requests):
        if hint is None:
            reads += 1
            here.add(page)
            continue
        assert page in here
        if hint == twotier.SYNCH:       # it goes, for the page that is read next
            here.remove(page)
            assert i + 1 == len(requests) or requests[i + 1][1] is None
    assert 0 < reads < len(requests)


def test_each_write_has_its_reason():
    def kinds(*args, **more):
        return {hint for _, hint in asked(*args, **more)}

    lazy = kinds(200, 10 ** 6)
    assert twotier.REPLACE in lazy and twotier.RECOV not in lazy
    assert kinds(200, 0) - {twotier.SYNCH} == {None, twotier.RECOV}
    assert twotier.SYNCH in kinds(50, 10 ** 6, apc=True)
    # All of it fits: each page is read once.
    pages = [page for page, hint in asked(600, 10, accesses=3000) if hint is None]
    assert len(pages) == len(set(pages))


def test_the_script_prints_a_trace():
    script = ROOT / "bench/lib/twotier.py"
    args = ["--pages", "600", "--pool", "50", "--accesses", "300", "--seed", "1"]
    out = subprocess.run([script, *args], check=True, text=True, capture_output=True).stdout
    want = twotier.requests(600, 50, 400, False, 300, 1)
    assert out == "".join(f"r {page}\n" if hint is None else f"w {page} h={hint}\n"
                          for page, hint in want)
    done = subprocess.run([script, "--pool", "0"], check=False, text=True, capture_output=True)
    assert done.returncode == 2 and "want at least one page" in done.stderr


def test_the_figures_small(monkeypatch, capsys):
    """The optimum leads each column, and all columns are there."""
    monkeypatch.setattr(hints, "SCALE", 400)
    monkeypatch.setattr(hints, "PAGES", 606317 // 400)
    monkeypatch.setattr(hints, "REQUESTS", 8000)
    hits, shares = hints.read_hits(300, 400, True, (60, 120))
    assert sorted(hits) == [60, 120] and abs(sum(shares) - 100) < 1e-9
    for column in hits.values():
        assert sorted(column) == sorted([*hints.POLICIES, "opt"])
        assert all(0 <= percent <= column["opt"] for percent in column.values())
    hints.print_figure("Figure 7", (60, 120), [hits[60], hits[120]])
    lines = capsys.readouterr().out.strip().split("\n")
    assert lines[1].split() == ["60", "120"] and lines[-1].split()[0] == "opt"
    assert len(lines) == 2 + len(hints.POLICIES) + 1
