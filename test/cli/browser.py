#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A headless Chromium that is told what to do through a pipe, by its DevTools protocol.

    browser.py PAGE PICTURE [CHART]     a picture of a page of hipec profile, or of one chart

CHART is an id in the page: s0-time, s0-map.
"""

import base64
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

SECONDS = 300       # then it hangs

FLAGS = ["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
         "--disable-extensions", "--disable-background-networking", "--disable-sync",
         "--disable-component-update", "--no-first-run", "--hide-scrollbars",
         "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
         "about:blank"]


class Page:
    """A page, and what it said and asked for so far."""

    def __init__(self, commands, answers):
        self.commands, self.answers = commands, answers
        self.number = 0
        self.session = None
        self.errors = []        # exceptions, and what console.error() and the browser say
        self.requests = []      # addresses
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        """Have a command done. Return: its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.commands.write(json.dumps(message).encode() + b"\0")
        self.commands.flush()
        return self.wait(lambda answer: answer.get("id") == self.number)["result"]

    def wait(self, wanted):
        """Read until there is an answer that is @wanted."""
        while True:
            answer = json.loads(self.read())
            self.note(answer.get("method"), answer.get("params"))
            if "error" in answer:
                raise RuntimeError(answer["error"])
            if wanted(answer):
                return answer

    def read(self):
        """One message."""
        text = bytearray()
        while (byte := self.answers.read(1)) != b"\0":
            if not byte:
                raise EOFError("the browser has ended")
            text += byte
        return text

    def note(self, method, parameters):
        """Keep what a test asks for."""
        if method == "Runtime.exceptionThrown":
            self.errors.append(parameters["exceptionDetails"])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
            self.errors.append(parameters["args"])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(parameters["entry"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def open(self, path, width=1200, height=900):
        """Load a file; then it is there, though scripts may not have ended."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        self.wait(lambda answer: answer.get("method") == "Page.loadEventFired")

    def run(self, script):
        """The value of an expression; of a promise, what it comes to."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True,
                           returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def wait_until(self, condition):
        """Until an expression of the page holds."""
        self.run("new Promise(done => { const look = () => "
                 f"({condition}) ? done() : requestAnimationFrame(look); look(); }})")

    def picture(self, path, **clip):
        """All of the page, or a part of it, as PNG."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1,
                **clip}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                         clip=clip)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))


AXE = pathlib.Path(__file__).resolve().parents[2] / "build/axe/axe.min.js"


def accessible(page):
    """What axe, which checks accessibility, finds wrong: [(rule, impact, the first place)]."""
    page.run(AXE.read_text() + "; 0")
    return page.run("""axe.run().then(found => {
        if (!found.passes.length) throw new Error("axe looked at nothing");
        return found.violations.map(one => [one.id, one.impact, one.nodes[0].html]); })""")


def program():
    """Its path, or None."""
    return shutil.which("chromium")


@contextlib.contextmanager
def browser():
    """A Page of a browser that ends with the block."""
    (read_commands, write_commands), (read_answers, write_answers) = os.pipe(), os.pipe()
    # A child of the browser may write there still when it has ended.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3</dev/fd/{read_commands} 4>/dev/fd/{write_answers}', "sh",
             program(), *FLAGS[:-1], f"--user-data-dir={profile}", FLAGS[-1]],
            pass_fds=[read_commands, write_answers], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env={**os.environ, "HOME": profile})
        os.close(read_commands)
        os.close(write_answers)
        hangs = threading.Timer(SECONDS, process.kill)
        hangs.start()
        with open(write_commands, "wb") as commands, open(read_answers, "rb") as answers:
            try:
                page = Page(commands, answers)
                yield page
                page.session = None
                page.call("Browser.close")
            finally:
                hangs.cancel()
                process.terminate()
                process.wait()


def main(path, picture, chart=None):
    """Take a picture."""
    with browser() as page:
        page.open(path, width=900)
        page.wait_until('document.body.dataset.drawn')
        box = page.run(f"document.getElementById('{chart}').getBoundingClientRect().toJSON()") \
            if chart else {}
        page.picture(picture, **{key: box[key] for key in ("x", "y", "width", "height") if box})
        for error in page.errors:
            print(json.dumps(error), file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
