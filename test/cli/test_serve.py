# SPDX-License-Identifier: GPL-2.0-only
"""hipec top --serve with a stand-in for the module (test_ops.py): what it answers and to whom, what it
refuses, and its page in a browser; and the dashboard for Grafana beside hipec status --metrics."""

import contextlib
import http.client
import json
import re
import signal
import socket
import stat
import subprocess

import pytest

import browser
from conftest import BUILD, ROOT, valid
from ops import prometheus
from test_ops import JOIN, QUERY, SQL, TWO_LOOKS, module, standin  # noqa: F401

pytestmark = [pytest.mark.more, pytest.mark.usefixtures("module")]
HIPEC = BUILD / "hipec"
ENDED = ("log seq=1 time_ns=1700000000000000000 id=9 comm=bad policy=wor%3Cb%3Ese exit.kind=0x42 "
         "message=far%20too%20many%20faults")


# The last look again and again: the stand-in has no more than it is given.
SECOND = TWO_LOOKS[TWO_LOOKS.index("look"):]
LOOKS = (*TWO_LOOKS, *SECOND * 200)


@contextlib.contextmanager
def served(*args):
    """(address or socket, token) of one that runs; it ends with the block, and well."""
    pytest.importorskip("flask", reason="python3-flask is not installed: make packages")
    with subprocess.Popen([HIPEC, "top", "--serve", "--interval", "0.1", *args], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as server:
        try:
            said = server.stdout.readline()
            found = re.fullmatch(r"http://([\w.:]+)/([\w-]{20,})/(?: at (.*))?\n", said)
            assert found, (said, server.stderr.read() if server.poll() is not None else "")
            yield found[3] or found[1], found[2]
        finally:
            server.send_signal(signal.SIGTERM)
            said = server.communicate(timeout=60)
    assert (server.returncode, said) == (0, ("", ""))


class Unix(http.client.HTTPConnection):
    """Through a socket that has a name."""

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.host)


def ask(where, path, method="GET"):
    """(status, headers, body)"""
    connection = (Unix if where.startswith("/") else http.client.HTTPConnection)(where, timeout=60)
    with contextlib.closing(connection):
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()


def pictures(where, token, since=0):
    """Once there is one."""
    while True:
        status, _, body = ask(where, f"/{token}/pictures?since={since}")
        assert status == 200
        found = json.loads(body)
        if found["pictures"] or found["problem"]:
            return found


def test_the_page_and_its_numbers_are_below_the_token(module):  # noqa: F811
    module(ENDED, *LOOKS)
    with served("--port", "0") as (where, token):
        assert where.startswith("127.0.0.1:")
        found = pictures(where, token)
        assert found["problem"] is None
        for number, picture in enumerate(found["pictures"], 1):
            assert picture.pop("number") == number and picture.pop("time") > 1.7e9
            valid("top", picture)
        join = found["pictures"][0]["containers"][0]
        assert (join["id"], join["comm"], round(join["gain_percent"])) == (3, "join", 25)
        valid("log", found["log"])
        assert [one["container"]["id"] for one in found["log"]] == [9]
        more = pictures(where, token, 1)["pictures"]
        assert more[0]["number"] == 2
        for path, kind in [("", "text/html"), ("page.js", "text/javascript"),
                           ("plotly.js", "text/javascript")]:
            status, headers, body = ask(where, f"/{token}/{path}")
            assert status == 200 and headers["Content-Type"].startswith(kind) and body
            assert headers["Referrer-Policy"] == "no-referrer"
            assert "default-src 'none'" in headers["Content-Security-Policy"]


def test_nothing_is_told_without_the_token_and_nothing_can_be_written(module):  # noqa: F811
    module(QUERY, JOIN)
    with served("--port", "0") as (where, token):
        for path in ("/", f"/{token[:-1]}/", f"/{token}x/pictures", "/pictures", "/x/page.js",
                     f"/{token}/../serve.py", f"/{token}/serve.py", f"/{token}"):
            status, headers, body = ask(where, path)
            assert status in (404, 308) and b"join" not in body, path
            assert token not in headers.get("Location", "") or token in path
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            assert ask(where, f"/{token}/pictures", method)[0] == 405
        for since in ("-1", "x", "9" * 16, "%C2%B2"):
            assert ask(where, f"/{token}/pictures?since={since}")[0] == 400


def test_a_token_is_new_at_each_start(module):  # noqa: F811
    module(QUERY, JOIN)
    tokens = set()
    for _ in range(2):
        with served("--port", "0") as (_, token):
            tokens.add(token)
    assert len(tokens) == 2


def test_a_socket_is_its_owner_s(module, tmp_path):  # noqa: F811
    module(*(QUERY, SQL, "look") * 200)
    path = tmp_path / "page.socket"
    with served("--socket", str(path)) as (where, token):
        assert where == str(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        found = pictures(where, token)
        assert found["problem"] is None
        assert found["pictures"][0]["containers"][0]["id"] == 5
    assert not path.exists()


@pytest.mark.parametrize("args, says", [
    (["--listen", "0.0.0.0"], "--listen 0.0.0.0 lets other machines ask; if that is meant, say it "
     "twice"),
    (["--listen", "::1", "--listen", "0.0.0.0"], "want one address, not '::1' and '0.0.0.0'"),
    (["--listen", "::1", "--listen", "::1", "--socket", "x"], "want --listen or --socket, not both"),
    (["--port", "65536"], "--port: want a number from 0 to 65535, not '65536'"),
    (["--port", "1.5"], "--port: want a number from 0 to 65535, not '1.5'"),
    (["--interval", "0"], "--interval wants seconds, 0.1 to 3600, not '0'"),
    (["now"], "'now' is one word too many")])
def test_wrong_arguments_are_said(args, says):
    done = subprocess.run([HIPEC, "top", "--serve", *args], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [f"hipec top: {says}", "usage: hipec top --serve [OPTION...]"]


def test_another_address_is_had_when_it_is_said_twice(module):  # noqa: F811
    module(QUERY, JOIN)
    with served("--port", "0", "--listen", "127.0.0.2", "--listen", "127.0.0.2") as (where, token):
        assert where.startswith("127.0.0.2:")
        assert ask(where, f"/{token}/")[0] == 200


def test_a_port_that_is_taken_is_said(module):  # noqa: F811
    pytest.importorskip("flask", reason="python3-flask is not installed: make packages")
    module(QUERY, JOIN)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = subprocess.run([HIPEC, "top", "--serve", "--port", str(port)], capture_output=True, text=True,
                              check=False)
    assert done.returncode == 1 and f"127.0.0.1:{port}" in done.stderr


@pytest.mark.browser
@pytest.mark.skipif(not browser.program(), reason="no chromedriver: make packages-browser")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [480, 1200])
def test_browser_draws_what_is_so(module, scheme, width):  # noqa: F811
    """By rising loss; names are text, not marks; and axe finds nothing."""
    module(ENDED, *(line.replace("comm=bad", "comm=%3Cb%3Ebad%3C/b%3E") for line in LOOKS))
    with served("--port", "0") as (where, token):
        pictures(where, token, 2)
        # The browser is not to have the stand-in.
        with pytest.MonkeyPatch.context() as here:
            here.delenv("LD_PRELOAD")
            with browser.browser() as tab:
                tab.call("Emulation.setEmulatedMedia",
                         features=[{"name": "prefers-color-scheme", "value": scheme}])
                tab.open(f"http://{where}/{token}/", width=width)
                tab.wait_until("document.body && document.body.dataset.drawn > 2")
                rows = tab.run("[...document.querySelectorAll('#league tbody tr')].map("
                               "row => [...row.cells].map(cell => cell.textContent))")
                assert [row[:3] for row in rows] == [
                    ["3", "join", "mru"], ["9", "<b>bad</b>", "worse"],
                    ["5", "sql-of-everyone", "lru"]]
                assert re.fullmatch(r"[\d.]+ ± [\d.]+ %", rows[0][9]) and rows[2][9] == "-"
                assert rows[1][10] == "far too many faults" or rows[1][10]
                log = tab.run("document.querySelector('#log tbody tr').cells[3].textContent")
                assert log == "wor<b>se"
                for chart, marks in [("frames", ".js-fill"), ("faults", ".js-line"),
                                     ("gain", ".barlayer .point")]:
                    assert tab.run(f"document.querySelectorAll('#{chart} {marks}').length") >= 1
                assert tab.run("document.documentElement.scrollWidth") <= width
                assert not tab.errors
                assert [one for one in browser.accessible(tab) if one[1] != "minor"] == []
                assert all(url.startswith((f"http://{where}/", "data:", "blob:"))
                           for url in tab.requests)


def test_the_dashboard_asks_for_metrics_that_there_are(module):  # noqa: F811
    """Each panel has a place of its own, and names what hipec status --metrics prints."""
    module(*TWO_LOOKS)
    done = subprocess.run([HIPEC, "status", "--metrics"], capture_output=True, text=True, check=True)
    metrics = set(prometheus.read(done.stdout))
    names = {f"{name}{end}" for name in metrics for end in ("", "_total")}
    dashboard = json.loads((ROOT / "packaging/grafana.json").read_text())
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    found = {name for text in asked for name in re.findall(r"hipec_\w+", text)}
    assert len(found) > 10 and found <= names, found - names
    places = [(place["x"], place["y"]) for place in
              (panel["gridPos"] for panel in dashboard["panels"])]
    assert len(places) == len(set(places)) == 8
    assert {panel["datasource"]["uid"] for panel in dashboard["panels"]} == {"${source}"}
