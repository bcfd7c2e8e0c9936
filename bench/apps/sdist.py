#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A source package of PyPI's, checked.

    sdist.py NAME VERSION SHA256 DIR

Unpacks it in DIR, and prints where. Not by pip download, which prepares to build all of it
first; from the index that pip is told of.
"""

import hashlib
import io
import re
import subprocess
import sys
import tarfile
import urllib.parse
import urllib.request

from pip._internal.models.index import PyPI


def index():
    """The address of the index."""
    told = subprocess.run([sys.executable, "-m", "pip", "config", "get", "global.index-url"],
                          capture_output=True, text=True, check=False)
    return (told.stdout.strip() or PyPI.simple_url).rstrip("/")


def main(name, version, digest, where):
    """See above."""
    page = f"{index()}/{name.replace('_', '-')}/"
    with urllib.request.urlopen(page, timeout=60) as answer:
        links = re.findall(r'href="([^"]+)"', answer.read().decode())
    wanted = f"/{name}-{version}.tar.gz"
    link = next((link for link in links if urllib.parse.urlparse(link).path.endswith(wanted)), None)
    if not link:
        sys.exit(f"sdist.py: the index has no {wanted[1:]}")
    with urllib.request.urlopen(urllib.parse.urljoin(page, link), timeout=300) as answer:
        archive = answer.read()
    if hashlib.sha256(archive).hexdigest() != digest:
        sys.exit(f"sdist.py: {wanted[1:]} is not what it was: its SHA-256 differs")
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        packed.extractall(where)
    print(f"{where}/{name}-{version}")


if __name__ == "__main__":
    main(*sys.argv[1:])
