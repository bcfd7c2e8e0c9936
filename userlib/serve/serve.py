#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""A live page of what hipec top and hipec log print, for one who knows its address: that has a
token which is made anew at each start. Nothing can be written. hipec top --serve runs this.

    serve.py HIPEC SECONDS ADDRESS PORT
    serve.py HIPEC SECONDS unix SOCKET
"""

import collections
import hmac
import json
import os
import pathlib
import secrets
import signal
import subprocess
import sys
import threading
import time

KEPT = 600      # pictures
PICTURES = 10000    # of one hipec top; then another one
HERE = pathlib.Path(__file__).resolve().parent
NEEDS = ("the page is served by Flask and drawn by plotly: apt install python3-flask python3-plotly; "
         "hipec top does without")
HEADERS = {
    "Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    # plotly sets styles of its own.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'; "
                               "img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "
                               "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}


class Pictures:
    """What hipec top said, the last KEPT times; each has a number."""

    def __init__(self, hipec, seconds):
        self.hipec, self.seconds = hipec, seconds
        self.lock = threading.Lock()
        self.kept = collections.deque(maxlen=KEPT)
        self.number, self.top = 0, None
        self.log, self.problem = [], None

    def follow(self):
        """Until this program ends; what fails is shown, and tried again."""
        while True:
            with subprocess.Popen(
                    [self.hipec, "top", "--json", "-n", str(PICTURES), "-i", str(self.seconds)],
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    text=True) as top:
                self.top = top
                for line in top.stdout:
                    self.take(json.loads(line))
                said = top.stderr.read().strip()
            if top.returncode:
                with self.lock:
                    self.problem = said or f"hipec top ended with {top.returncode}"
                time.sleep(self.seconds)

    def take(self, picture):
        """One more."""
        done = subprocess.run([self.hipec, "log", "--json"], capture_output=True, text=True,
                              check=False, stdin=subprocess.DEVNULL)
        with self.lock:
            self.number += 1
            self.kept.append({"number": self.number, "time": time.time(), **picture})
            self.problem = None
            if not done.returncode:
                self.log = json.loads(done.stdout)

    def since(self, number):
        """What a page does not know yet."""
        with self.lock:
            return {"pictures": [one for one in self.kept if one["number"] > number],
                    "log": self.log, "problem": self.problem, "seconds": self.seconds}


def application(flask, pictures, token, library):
    """What answers: reads only, below the token."""
    app = flask.Flask("hipec", static_folder=None)

    def known(given):
        if not hmac.compare_digest(given.encode(), token.encode()):
            flask.abort(404)

    @app.after_request
    def dress(answer):
        answer.headers.update(HEADERS)
        return answer

    @app.get("/<given>/")
    def page(given):
        known(given)
        return flask.Response((HERE / "page.html").read_bytes(), mimetype="text/html")

    @app.get("/<given>/page.js")
    def script(given):
        known(given)
        return flask.Response((HERE / "page.js").read_bytes(), mimetype="text/javascript")

    @app.get("/<given>/plotly.js")
    def plotly(given):
        known(given)
        return flask.Response(library, mimetype="text/javascript")

    @app.get("/<given>/pictures")
    def data(given):
        known(given)
        since = flask.request.args.get("since", "0")
        if not (since.isascii() and since.isdigit() and len(since) < 16):
            flask.abort(400)
        return flask.jsonify(pictures.since(int(since)))

    return app


def main(hipec, seconds, address, place):
    """Serve until Ctrl-C."""
    try:
        import flask
        import plotly.offline
        from werkzeug.serving import WSGIRequestHandler, make_server
    except ImportError as error:
        sys.exit(f"hipec top: {NEEDS} ({error})")

    class Quiet(WSGIRequestHandler):
        """Its log would have the token."""

        def log(self, *_):
            pass

    pictures = Pictures(hipec, float(seconds))
    token = secrets.token_urlsafe(16)
    app = application(flask, pictures, token, plotly.offline.get_plotlyjs().encode())
    unix = address == "unix"
    mask = os.umask(0o177)      # a socket is its owner's
    try:
        server = make_server(f"unix://{place}" if unix else address, 0 if unix else int(place), app,
                             threaded=True, request_handler=Quiet)
    except (OSError, SystemExit) as error:
        sys.exit(f"hipec top: {place if unix else f'{address}:{place}'}: {error}")
    os.umask(mask)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    threading.Thread(target=pictures.follow, daemon=True).start()
    host = f"[{address}]" if ":" in address else address
    print(f"http://localhost/{token}/ at {place}" if unix else
          f"http://{host}:{server.server_port}/{token}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        if pictures.top:
            pictures.top.terminate()
        if unix:
            os.unlink(place)


if __name__ == "__main__":
    main(*sys.argv[1:])
