# SPDX-License-Identifier: GPL-2.0-only
"""The page of hipec profile in a browser: all of it is drawn, its controls work, and it suits light
and dark, narrow and wide, and readers of screens. test_profile.py has the rest."""

import re

import pytest

import browser
from test_profile import built, page  # noqa: F401

pytestmark = pytest.mark.user


@pytest.mark.browser
@pytest.mark.skipif(not browser.program(), reason="no chromedriver: make packages-browser")
def test_the_browser_tells_of_errors_and_requests(tmp_path):
    """Else the tests below could not fail by them."""
    (tmp_path / "page.html").write_text("<script>console.error('said here'); "
                                        "fetch('http://127.0.0.1:9/there'); null.x</script>")
    with browser.browser() as tab:
        tab.open(tmp_path / "page.html")
        words = " ".join(error["message"] for error in tab.errors)
        assert "said here" in words and "TypeError" in words
        assert "http://127.0.0.1:9/there" in tab.requests
        with pytest.raises(RuntimeError, match="nowhere is not defined"):
            tab.run("nowhere.x")


@pytest.mark.skipif(not browser.program(), reason="no chromedriver: make packages-browser")
def test_browser_draws_all_and_controls_work(page):  # noqa: F811
    path, got = page
    run = got["runs"][0]
    with browser.browser() as tab:
        tab.open(path)
        tab.wait_until("document.body.dataset.drawn")
        charts = ["curve", "time", "region", "map", "beside", "held", "queues"]
        assert tab.run("[...document.querySelectorAll('.chart')].map(c => c.id)") == [
            *(f"s0-{key}" for key in [*charts, "reuse", "popularity"]),
            *(f"s1-{key}" for key in charts)]
        # Beside the first policy's map is the best one's of those that do not know the future.
        shown = [tab.run(f"document.getElementById('s0-{key}').data.find(map => map.visible).name")
                 for key in ("map", "beside")]
        rows = [got["rows"][one["row"]] for one in got["runs"][:4]]
        best = min((row for row in rows if row["policy"] != "opt"), key=lambda row: row["faults"])
        assert shown == ["lru", best["policy"]]
        # Each has marks of its own kind, and they are of some size.
        for key, marks in [("curve", ".scatterlayer .point"), ("time", ".scatterlayer .js-fill"),
                           ("region", ".barlayer .point path"), ("map", ".heatmaplayer image"),
                           ("held", ".scatterlayer .js-line"), ("queues", ".scatterlayer .js-line"),
                           ("reuse", ".heatmaplayer image"), ("popularity", ".scatterlayer .js-line")]:
            box = tab.run(f"(b => [b.width, b.height])(document.querySelector('#s0-{key} {marks}')"
                          ".getBoundingClientRect())")
            assert box[0] > 1 and (box[1] > 1 or key == "popularity"), (key, box)   # all pages are alike
        bars = "document.getElementById('s0-region').data[0].y"
        assert sum(tab.run(bars)) == sum(map(sum, run["faults"])) == 600
        # The button "2/4": accesses 150 to 300, of bins of 3.
        before = tab.run("document.querySelector('#s0-region .barlayer').innerHTML")
        click(tab, "#s0-time .updatemenu-button", 2)
        title = "document.getElementById('s0-region-title').textContent"
        tab.wait_until(f"{title} != 'Page faults by region'")
        assert tab.run(title) == "Page faults by region, from access 150 to 300"
        assert tab.run(bars) == [sum(column) for column in zip(*run["faults"][50:100])]
        assert tab.run("document.querySelector('#s0-region .barlayer').innerHTML") != before
        # Of each access there is a step now, and around the window one of each bin, as before.
        x, y = (tab.run(f"document.getElementById('s0-time').data[0].{axis}") for axis in "xy")
        inside = [(at, rate) for at, rate in zip(x, y) if 150 <= at < 300]
        assert inside == [(at, 100 * run["fine"][at]) for at in range(150, 300)]
        assert x == [*range(0, 150, 3), *range(150, 300), *range(300, x[-1], 3), x[-1]]
        for key in ("map", "beside", "held", "reuse"):
            assert tab.run(f"document.getElementById('s0-{key}').layout.xaxis.range") == [150, 300]
        # The slider below: its left end is dragged to the middle.
        place(tab, "#s0-time .rangeslider-bg", 0)
        slider = tab.run("(b => [b.x, b.y, b.width, b.height])(document.querySelector("
                         "'#s0-time .rangeslider-bg').getBoundingClientRect())")
        y = slider[1] + slider[3] / 2
        drag(tab, (slider[0] + slider[2] / 4, y), (slider[0] + slider[2] * 3 / 8, y))
        tab.wait_until(f"{bars}.reduce((a, b) => a + b) < 120")
        click(tab, "#s0-time .updatemenu-button", 0)
        tab.wait_until(f"{title} == 'Page faults by region'")
        assert tab.run("document.getElementById('s0-time').data[0].x.length") == 201
        # The list of queues: another policy's are shown.
        shown = "document.getElementById('s0-queues').data.map(line => line.visible)"
        assert tab.run(shown) == [True, False, False]
        click(tab, "#s0-queues .updatemenu-header", 0)
        tab.wait_until("document.querySelectorAll('#s0-queues .updatemenu-dropdown-button').length")
        click(tab, "#s0-queues .updatemenu-dropdown-button", 1)
        tab.wait_until(f"{shown}[1] === true")
        assert tab.run(shown) == [False, True, True]
        assert not tab.errors
        assert all(url.startswith(("file:", "data:", "blob:")) for url in tab.requests)


@pytest.mark.browser
@pytest.mark.skipif(not browser.program(), reason="no chromedriver: make packages-browser")
@pytest.mark.parametrize("scheme, back", [("light", "rgb(255, 255, 255)"), ("dark", "rgb(22, 24, 28)")])
@pytest.mark.parametrize("width", [480, 1200])
def test_page_suits_schemes_and_widths(page, scheme, back, width):  # noqa: F811
    """No wider than the window, in the scheme's colours, and without what axe finds."""
    with browser.browser() as tab:
        tab.call("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": scheme}])
        tab.open(page[0], width=width)
        tab.wait_until(f"document.body.dataset.drawn === '{scheme}'")
        assert tab.run("document.documentElement.scrollWidth") <= width
        assert tab.run("getComputedStyle(document.body).backgroundColor") == back
        maps = [tab.run(f"document.getElementById('s0-{key}').getBoundingClientRect().y")
                for key in ("map", "beside")]
        assert (maps[0] == maps[1]) == (width == 1200)
        # All policies at the pointer, in the middle of the chart.
        at = place(tab, "#s0-time .bglayer rect, #s0-time .bg", 0)
        tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=at[0], y=at[1])
        tab.wait_until("document.getElementById('s0-moment').textContent")
        said = tab.run("document.getElementById('s0-moment').textContent")
        assert re.fullmatch(r"At access \d+: lru [\d.]+, mru [\d.]+, fifo2 [\d.]+, opt [\d.]+ "
                            "faults per 100 accesses", said)
        assert browser.accessible(tab) == []
        assert not tab.errors


def place(tab, selector, number):
    """The middle of an element, which is brought into view."""
    return tab.run(f"(e => {{ e.scrollIntoView({{block: 'center'}}); const b = "
                   "e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })"
                   f"(document.querySelectorAll('{selector}')[{number}])")


def mouse(tab, kind, at):
    tab.call("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], button="left", clickCount=1)


def click(tab, selector, number):
    at = place(tab, selector, number)
    mouse(tab, "mousePressed", at)
    mouse(tab, "mouseReleased", at)


def drag(tab, start, end):
    mouse(tab, "mousePressed", start)
    for step in range(1, 5):
        mouse(tab, "mouseMoved", [a + (b - a) * step / 4 for a, b in zip(start, end)])
    mouse(tab, "mouseReleased", end)
