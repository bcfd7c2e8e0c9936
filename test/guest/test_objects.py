# SPDX-License-Identifier: GPL-2.0-only
"""What the text of module/ says of calls (test/docs/test_layers.py), its objects say as well."""

import re

import pytest

import ctext
import test_layers
import test_lint
from conftest import BUILD

pytestmark = pytest.mark.guest


# Kbuild leaves it out: the simulator's.
USERSPACE = {"module/core/awst.c"}

# module/base/exit.c has the tracepoints' own code, for all who include trace.h.
TRACEPOINT = re.compile("__(tracepoint|traceiter|SC[KT]__tp_func)_")


def arrows(folder):
    """{file: files whose functions or data it uses}, by the symbols of a kernel's objects."""
    objects = {path: path.relative_to(folder) for path in folder.rglob("*.o")
               if ".mod" not in path.name and path.name != "hipec.o"}
    home = {name: f"module/{test_layers.unit(str(file))}" for path, file in objects.items()
            for name in test_lint.symbols(path, "--defined-only") if not TRACEPOINT.match(name)}
    found = {}
    for path, file in objects.items():
        file = f"module/{test_layers.unit(str(file))}"
        found.setdefault(file, set()).update(
            home[name] for name in test_lint.symbols(path, "-u")
            if home.get(name, file) != file)
    return found


def test_text_and_objects_agree(kernel):
    """Each arrow of one is the other's."""
    text = {path: body for path, body in test_layers.texts().items()
            if not path.startswith("module/tests/") and path not in USERSPACE}
    said = ctext.needs(*test_layers.parsed(text), test_layers.includes(text))
    built = arrows(BUILD / f"kmod-{kernel}")
    assert sum(map(len, built.values())) > 300
    assert built == said
