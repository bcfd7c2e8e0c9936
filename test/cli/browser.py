#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A headless Chromium, driven by Selenium.

    browser.py PAGE PICTURE [CHART]     a picture of a page of hipec profile, or of one chart

CHART is an id in the page: s0-time, s0-map.
"""

import base64
import contextlib
import json
import pathlib
import shutil
import sys

SECONDS = 300       # that a page may take for what it was asked

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-extensions",
         "--disable-background-networking", "--disable-sync", "--disable-component-update",
         "--no-first-run", "--hide-scrollbars", "--disable-dev-shm-usage",
         "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]

AXE = pathlib.Path(__file__).resolve().parents[2] / "build/axe/axe.min.js"


class Page:
    """A page, what it complained of, and which addresses it asked for."""

    def __init__(self, driver):
        self.driver = driver
        driver.set_script_timeout(SECONDS)

    def call(self, method, **parameters):
        """A command of the DevTools protocol, where the driver has no word for it."""
        return self.driver.execute_cdp_cmd(method, parameters)

    @property
    def errors(self):
        """Exceptions, and what console.error() and the browser said, since the last look."""
        return self.driver.get_log("browser")

    @property
    def requests(self):
        """Addresses, since the last look."""
        messages = [json.loads(entry["message"])["message"]
                    for entry in self.driver.get_log("performance")]
        return [message["params"]["request"]["url"] for message in messages
                if message["method"] == "Network.requestWillBeSent"]

    def open(self, page, width=1200, height=900):
        """Load a file, or an address; then it is there, though scripts may not have ended."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.driver.get(page if "://" in str(page) else pathlib.Path(page).resolve().as_uri())

    def run(self, script):
        """The value of an expression; of a promise, what it comes to."""
        value, error = self.driver.execute_async_script(
            "const done = arguments[1]; Promise.resolve().then(() => (0, eval)(arguments[0]))"
            ".then(value => done([value, null]), error => done([null, String(error.stack)]))",
            script)
        if error:
            raise RuntimeError(error)
        return value

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


def accessible(page):
    """What axe, which checks accessibility, finds wrong: [(rule, impact, the first place)]."""
    page.run(AXE.read_text() + "; 0")
    return page.run("""axe.run().then(found => {
        if (!found.passes.length) throw new Error("axe looked at nothing");
        return found.violations.map(one => [one.id, one.impact, one.nodes[0].html]); })""")


def program():
    """The driver's path, or None."""
    return shutil.which("chromedriver")


@contextlib.contextmanager
def browser():
    """A Page of a browser that ends with the block."""
    from selenium import webdriver      # only where there is a browser
    from selenium.webdriver.chrome.service import Service
    options = webdriver.ChromeOptions()
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(service=Service(program()), options=options)
    try:
        yield Page(driver)
    finally:
        driver.quit()


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
