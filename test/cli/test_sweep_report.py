# SPDX-License-Identifier: GPL-2.0-only
"""hipec sweep report: its league is what the table says, counted here in another way; and its page
in a browser: all of it is drawn, lists work, it suits light and dark, narrow and wide, and readers
of screens."""

import json
import statistics
import subprocess

import pytest

import browser
from conftest import valid
from test_sweep import ENV, HIPEC, VENV, arrow, table  # noqa: F401

pytestmark = pytest.mark.user

PLAN = """traces = ["*.trace"]
policies = ["lru", "s3-fifo", "mru", "opt", "fifo2"]
frames = ["5%", "10%", "50%"]
[params.fifo2]
free_target = [1, 9]
"""
POLICIES = ["lru", "s3-fifo", "mru", "opt", "fifo2 free_target=1", "fifo2 free_target=9"]


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A folder with the results of a sweep: two families, and a trace that cannot be read."""
    if not (VENV / "ready").exists():
        pytest.skip("no pyarrow in the cache; make packages-sweep installs it from PyPI")
    here = tmp_path_factory.mktemp("swept")
    for number in (1, 2):
        for kind in ("zipf", "loop"):
            subprocess.run([HIPEC, "trace", "make", kind, "--pages", "700", "--accesses", "6000",
                            "--seed", str(number), f"{kind}-{number}.trace"], check=True, cwd=here)
    (here / "bad.trace").write_text("r five\n")
    (here / "p.toml").write_text(PLAN)
    done = subprocess.run([HIPEC, "sweep", "p.toml"], cwd=here, env=ENV, check=False,
                          capture_output=True, text=True)
    assert done.returncode == 3, done.stderr
    return here


def report(here, *args, env=None):
    return subprocess.run([HIPEC, "sweep", "report", *args], cwd=here, env=env or ENV, text=True,
                          capture_output=True, check=False)


def label(row):
    params = json.loads(row["params"])
    return " ".join([row["policy"], *(f"{name}={value}" for name, value in params.items())])


def test_the_league_is_what_the_rows_say(swept):
    found = valid("sweep-report", json.loads(report(swept, "--json", "p.sweep").stdout))["mapped"]
    rows = [row for row in table(swept) if not row["error"]]
    misses = {(label(row), row["trace"], row["size"]): row["faults"] / row["accesses"] for row in rows}
    cells = sorted({key[1:] for key in misses})
    assert (found["cells"], found["errors"]) == (len(cells), 18) == (12, 18)
    assert found["families"] == ["loop", "zipf"] and found["sizes"] == ["5%", "10%", "50%"]
    assert {one["policy"] for one in found["policies"]} == set(POLICIES)
    for one in found["policies"]:
        mine = [misses[one["policy"], *cell] for cell in cells]
        lru = [misses["lru", *cell] for cell in cells]
        opt = [misses["opt", *cell] for cell in cells]
        near = pytest.approx
        assert one["misses"] == near(statistics.geometric_mean(mine))
        over = [a / b for a, b in zip(mine, lru)]
        assert one["to_lru"] == near(statistics.geometric_mean(over))
        assert one["to_opt"] == near(statistics.geometric_mean(a / b for a, b in zip(mine, opt)))
        deciles = statistics.quantiles(over, n=10, method="inclusive")
        assert [one["percentiles"][p] for p in ("10", "50", "90")] == near(
            [deciles[0], deciles[4], deciles[8]])
        wins = sum(misses[one["policy"], *cell] == min(
            misses[name, *cell] for name in POLICIES if name != "opt") for cell in cells)
        assert one["wins"] == (0 if one["policy"] == "opt" else wins)
        loops = [misses[one["policy"], *cell] / misses["lru", *cell] for cell in cells
                 if cell[0].startswith("loop")]
        assert found["by_family"]["loop"][one["policy"]]["to_lru"] == near(
            statistics.geometric_mean(loops))
        line = found["curves"]["zipf"][one["policy"]]
        assert line == near([statistics.geometric_mean(
            misses[one["policy"], f"zipf-{n}.trace", size] for n in (1, 2))
            for size in found["sizes"]])
    assert found["curves"].keys() == {"all traces", "loop", "zipf"}


def test_nobody_beats_those_on_the_front_in_both(swept):
    found = json.loads(report(swept, "--json", "p.sweep").stdout)["mapped"]
    costed = {one["policy"]: (one["misses"], one["commands"]) for one in found["policies"]
              if one["commands"] is not None}
    assert costed.keys() == {"s3-fifo", "mru", "fifo2 free_target=1", "fifo2 free_target=9"}
    beaten = {name for name, mine in costed.items()
              if any(all(a <= b for a, b in zip(other, mine)) and other != mine
                     for other in costed.values())}
    assert set(found["front"]) == costed.keys() - beaten


def test_it_says_what_is_missing(swept, tmp_path):
    assert report(swept, "none.parquet").returncode == 1
    (tmp_path / "pyarrow.py").write_text("raise ImportError\n")
    env = {**ENV, "PYTHONPATH": str(tmp_path)}
    assert "it needs the Python package pyarrow" in report(swept, "p.sweep", env=env).stderr
    (tmp_path / "pyarrow.py").unlink()
    (tmp_path / "plotly").mkdir()
    (tmp_path / "plotly/__init__.py").write_text("raise ImportError('no plotly')\n")
    done = report(swept, "p.sweep", env=env)
    assert done.returncode == 1 and "apt install python3-plotly" in done.stderr
    assert report(swept, "--json", "p.sweep", env=env).returncode == 0


@pytest.fixture(scope="module")
def page(swept):
    """The page."""
    done = report(swept, "p.sweep")
    assert done.returncode == 0 and done.stdout.startswith("p.sweep/report.html: "), done.stderr
    return swept / "p.sweep/report.html"


@pytest.mark.browser
@pytest.mark.skipif(not browser.program(), reason="no chromedriver: make packages-browser")
def test_browser_draws_all_and_the_list_works(page):
    with browser.browser() as tab:
        tab.open(page)
        tab.wait_until("document.body.dataset.drawn")
        charts = ["mapped-curve", "mapped-spread", "mapped-pareto"]
        assert tab.run("[...document.querySelectorAll('.chart')].map(c => c.id)") == charts
        for chart in charts:
            box = tab.run(f"(b => [b.width, b.height])(document.querySelector('#{chart} "
                          ".scatterlayer').getBoundingClientRect())")
            assert box[0] > 200 and box[1] > 50, (chart, box)
        assert tab.run("document.querySelectorAll('table').length") == 2
        assert tab.run("document.querySelectorAll('table')[0].rows.length") == 1 + len(POLICIES)
        # A family's lines in the place of all traces'.
        shown = "document.getElementById('mapped-curve').data.map(line => line.visible)"
        count = len(POLICIES)
        assert tab.run(shown) == [True] * count + [False] * 2 * count
        for selector, number in [("header", 0), ("dropdown-button", 1)]:
            tab.wait_until(f"document.querySelectorAll('.updatemenu-{selector}').length > {number}")
            at = tab.run("(e => { e.scrollIntoView({block: 'center'}); const b = "
                         "e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; "
                         f"}})(document.querySelectorAll('.updatemenu-{selector}')[{number}])")
            for kind in ("mousePressed", "mouseReleased"):
                tab.call("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], button="left",
                         clickCount=1)
        tab.wait_until(f"{shown}[{count}] === true")
        assert tab.run(shown) == [False] * count + [True] * count + [False] * count
        assert not tab.errors
        assert all(url.startswith(("file:", "data:", "blob:")) for url in tab.requests)


@pytest.mark.browser
@pytest.mark.skipif(not browser.program(), reason="no chromedriver: make packages-browser")
@pytest.mark.parametrize("scheme, back", [("light", "rgb(255, 255, 255)"), ("dark", "rgb(22, 24, 28)")])
@pytest.mark.parametrize("width", [480, 1200])
def test_page_suits_schemes_and_widths(page, scheme, back, width):
    """No wider than the window, in the scheme's colours, and without what axe finds."""
    with browser.browser() as tab:
        tab.call("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": scheme}])
        tab.open(page, width=width)
        tab.wait_until(f"document.body.dataset.drawn === '{scheme}'")
        assert tab.run("document.documentElement.scrollWidth") <= width
        assert tab.run("getComputedStyle(document.body).backgroundColor") == back
        assert browser.accessible(tab) == []
        assert not tab.errors
