# SPDX-License-Identifier: GPL-2.0-only
"""The image format: what ampc writes into the header about its source and its host."""

import hashlib
import struct

import pytest

from test_compiler import EMPTY, POLICIES, built, run  # noqa: F401

NEEDS = {"context": 1, "hint": 2, "access": 4, "time": 8, "shared": 16}


def image(source, tmp_path):
    out = tmp_path / "x.hpo"
    result = run("-o", out, "-", source=source)
    assert result.returncode == 0, result.stderr
    return out.read_bytes()


def source_hash(data):
    return data[80:112]


def needs(data):
    bits, = struct.unpack_from("<I", data, 44)
    return {word for word, bit in NEEDS.items() if bits & bit}


def test_source_hash_is_sha_256_of_the_text(tmp_path):
    """At all lengths around the ends of blocks, and of a long text."""
    for size in [*range(len(EMPTY), 200), 1 << 16, (1 << 20) - 1, 1 << 20]:
        text = EMPTY + "\n" * (size - len(EMPTY))
        assert source_hash(image(text, tmp_path)) == hashlib.sha256(text.encode()).digest(), size
    for path in POLICIES:
        assert run("-o", tmp_path / "x.hpo", path).returncode == 0
        assert source_hash((tmp_path / "x.hpo").read_bytes()) == hashlib.sha256(
            path.read_bytes()).digest()


def test_source_hash_does_not_depend_on_the_level(tmp_path):
    hashes = set()
    for level in ("-O0", "-O1"):
        assert run(level, "-o", tmp_path / "x.hpo", POLICIES[0]).returncode == 0
        hashes.add(source_hash((tmp_path / "x.hpo").read_bytes()))
    assert len(hashes) == 1


@pytest.mark.parametrize("declared, body, more, wanted", [
    ("Int n;", "n = FaultKind + FrameBudget + ResidentCount + PageEntries;", "", set()),
    ("Int n;", "n = Context;", "", {"context"}),
    ("Int n;", "if (Hint > n) n++;", "", {"hint"}),
    ("Int n;", "n = Time;", "", {"time"}),
    ("Int n; Timer 50;", "n++;", "Event Timer() { n++; }\n", {"time"}),
    ("Int n;", "n++;", "Event Access() { n++; }\n", {"access"}),
    ("shared Int level[4];", "", "", {"shared"}),
    ("Int n; Ghosts 100;", "n++;", "", set()),
    ("Int n; shared Int level[4];", "n = level[Hint & 3] + Time + Context;",
     "Event Access() { n++; }\n", set(NEEDS)),
    # What is left out is not needed.
    ("Int n;", "return; n = Hint;", "", set()),
])
def test_needs_are_what_the_policy_uses(declared, body, more, wanted, tmp_path):
    source = f"Event Init() {{ {declared} }}\nEvent PageFault() {{ {body} }}\n" \
             f"Event Replace() {{ }}\n{more}"
    data = image(source, tmp_path)
    assert needs(data) == wanted
    line = [line for line in run("-S", "-", source=source).stdout.split("\n")
            if line.startswith("needs ")]
    assert line == ([f"needs {', '.join(word for word in NEEDS if word in wanted)}"]
                    if wanted else [])
